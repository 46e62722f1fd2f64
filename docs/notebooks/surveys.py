# %% [markdown]
# # The prevalence of every district, from surveys and clinics
#
# Seventeen of 24 districts were surveyed: so many tested, so many infected. Six villages have a
# clinic that tested, too. In which districts is the share of infected people above 3 in 10? (The
# data are simulated, so that the truth is known.)

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import quadrat as qd

folder = Path(__file__).parent if "__file__" in globals() else Path.cwd()
data = folder.resolve().parents[1] / "examples" / "prevalence"
surveys, clinics, villages, truth = (
    pd.read_csv(data / f"{name}.csv") for name in ("surveys", "clinics", "villages", "truth"))
print(surveys.head(3), villages.head(3), sep="\n")

# %% [markdown]
# The log of the odds of being infected is a function of the place. A survey sees the average of the
# probability over the people of its district, a *bag* of villages; a clinic sees it at its village.

# %%
people = {"key": "district", "weight": "people", "aggregate": "mean"}
surveyed = qd.bag(x="x", y="y", keys=surveys["district"], **people)
model = qd.Model("matern32(x, y, shared = true)")
model.observe(surveyed, qd.Binomial(surveys["infected"], surveys["tested"]), data=villages)
model.observe(qd.point(x="x", y="y"), qd.Binomial("infected", "tested"), data=clinics)
fit = model.fit()

# %% [markdown]
# Every district, surveyed or not, in the order of the villages:

# %%
told = fit.predict(qd.bag(x="x", y="y", **people), data=villages)
table = told.to_frame().set_index("key")
table["above 0.3"] = told.exceed(0.3)
table["tested"] = surveys.set_index("district")["tested"]
table["truth"] = truth.set_index("district")["prevalence"]
print(table[["tested", "mean", "lower", "upper", "above 0.3", "truth"]].round(2))

# %%
sure = table.index[table["above 0.3"] > 0.95]
inside = table["truth"].between(table["lower"], table["upper"])
print(f"above 3 in 10 with 95 % probability: {', '.join(sure)}")
print(f"{inside.sum()} of {len(table)} true shares lie inside their intervals")

# %%
place = fit.predict(qd.point(x="x", y="y"), data=villages)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, what, label in zip(axes, (place.mean, place.upper - place.lower),
                           ("share of infected", "width of its 95 % interval")):
    dots = ax.scatter(villages["x"], villages["y"], c=what, s=villages["people"] / 40)
    ax.plot(clinics["x"], clinics["y"], "r+", ms=10, label="clinic")
    ax.set(xlabel="x, km", aspect="equal")
    fig.colorbar(dots, ax=ax, label=label)
axes[0].set_ylabel("y, km")
axes[0].legend(loc="upper right")
plt.show()

# %% [markdown]
# **What it means.** Districts that nobody surveyed are told by their neighbours and the clinics,
# with intervals that are about twice as wide. **Its limits.** The tested must be drawn at random
# from all people of the district, or of the village; and where a hot spot lies between surveys it
# is missed, as in D09, where the true share is 0.49 and what is told 0.30, 0.17 to 0.45.

# %%
unseen = table["tested"].isna()
width = table["upper"] - table["lower"]
assert unseen.sum() == 7 and 19 <= inside.sum() <= 21 and inside[unseen].sum() == 6
assert 1.5 < width[unseen].mean() / width[~unseen].mean() < 3
assert abs(table.loc["D09", "mean"] - 0.30) < 0.02 and table.loc["D09", "truth"] > 0.48
assert set(sure) <= set(table.index[table["truth"] > 0.3])
