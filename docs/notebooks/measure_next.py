# %% [markdown]
# # Mixed measurements, and what to measure next
#
# The acidity (pH) of a field of 96 plots: seven readings of a meter (12 each), nine answers of a
# kit that tells between which two marks half a unit apart the value lies (5 each), and fourteen
# paper strips of four colours (2 each). Which measurements are worth the next 60? (The field is
# simulated, so that measurements can be made here.)

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import quadrat as qd

folder = Path(__file__).parent if "__file__" in globals() else Path.cwd()
data = folder.resolve().parents[1] / "examples" / "acidity"
meter, kit, strip, plots, truth = (
    pd.read_csv(data / f"{name}.csv") for name in ("meter", "kit", "strip", "plots", "truth"))

# %% [markdown]
# One curve over the field, seen by three instruments, each for what it says.

# %%
at = qd.point(east="east", north="north")
colours = [5.3, 5.9, 6.5]
model = qd.Model("matern52(east, north, shared = true)")
model.observe(at, qd.Gaussian("ph", 0.05**2), data=meter)
model.observe(at, qd.Interval("low", "high", 0.15**2), data=kit)
model.observe(at, qd.Ordinal("grade", colours, variance=0.2**2), data=strip)
fit = model.fit()
before = fit.predict(at, data=plots)

# %% [markdown]
# A campaign chooses by what a measurement would tell for its cost, each beside those before it.

# %%
kinds = {"meter": 0, "kit": {"like": 1, "amount": 0.5}, "strip": 2}
costs = {"meter": 12, "kit": 5, "strip": 2}
campaign = qd.Campaign(fit, plots, kinds=kinds, costs=costs, budget=60)
todo = campaign.ask(budget=60).to_frame()
print(todo[["candidate", "kind", "information_bits", "cost"]].round(2))

# %% [markdown]
# Beside it, what the budget would tell if it all went to one instrument:

# %%
bits = {"chosen": todo["information_bits"].sum()}
for name in kinds:
    alone = qd.Campaign(fit, plots, kinds={name: kinds[name]}, costs={name: costs[name]})
    bits[name] = sum(alone.ask(budget=60)["information_bits"])
print({name: round(float(own), 1) for name, own in bits.items()})

# %% [markdown]
# We go out and measure: here by the true acidity of the plots, with the noise of each instrument.

# %%
random = np.random.default_rng(1)
noise = todo["kind"].map({"meter": 0.05, "strip": 0.2}) * random.normal(size=len(todo))
ph = truth["ph"].to_numpy()[todo["candidate"]] + noise
todo["value"] = np.where(todo["kind"] == "strip", 1 + np.searchsorted(colours, ph), ph)
campaign.tell(todo)
after = campaign.posterior.predict(at, data=plots)


def error(told):
    return np.sqrt(np.mean((told.mean - truth["ph"]) ** 2))


print(f"{len(todo)} measurements for {campaign.spent:g}; mean sd {before.sd.mean():.2f} before, "
      f"{after.sd.mean():.2f} after; error {error(before):.2f} and {error(after):.2f}")

# %%
fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
for ax, told, title in zip(axes, (before, after), ("before", "after")):
    squares = ax.scatter(plots["east"], plots["north"], c=told.sd, s=230, marker="s", vmin=0,
                         vmax=before.sd.max())
    ax.set(xlabel="east, m", title=title, aspect="equal")
    ax.margins(0.06)
for kind, marker in (("meter", "ro"), ("strip", "rx")):
    own = todo[todo["kind"] == kind]
    axes[1].plot(own["east"], own["north"], marker, label=f"{kind}, new")
axes[0].set_ylabel("north, m")
axes[1].legend(loc="upper left", bbox_to_anchor=(0, -0.2), ncols=2, frameon=False)
fig.colorbar(squares, ax=axes, label="standard deviation of the pH")
plt.show()

# %% [markdown]
# **What it means.** Twelve strips and three readings of the meter tell 14 bits, as much as five
# readings alone, at fifteen plots in place of five; kits are not worth their price. The mean
# standard deviation falls by a third. **Its limits.** Each choice is the best beside those before
# it, and all together need not be: five readings would tell a tenth of a bit more. The choice is
# that of the model: hyperparameters stay those of the fit until `campaign.relearn()`.

# %%
assert todo["kind"].value_counts().to_dict() == {"strip": 12, "meter": 3}
assert campaign.spent == 60 and campaign.left == 0
assert abs(bits["meter"] - bits["chosen"] - 0.1) < 0.05 and round(bits["chosen"]) == 14
assert bits["kit"] < bits["strip"] < bits["chosen"]
assert 0.6 < after.sd.mean() / before.sd.mean() < 0.73 and error(after) < error(before)
