# %% [markdown]
# # Disease rates by district, small counts hidden
#
# Sudden infant deaths in the 100 counties of North Carolina, 1974-78, as an office of statistics
# would publish them: 51 cells say `<5`. Where is the rate high, and how sure can we be?

# %%
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import PolyCollection

import quadrat as qd

folder = Path(__file__).parent if "__file__" in globals() else Path.cwd()
examples = folder.resolve().parents[1] / "examples"
table = pd.read_csv(examples / "suppressed" / "published.csv")
table.head()

# %% [markdown]
# A hidden cell says 0 to 4 deaths, and that is what the likelihood is given: nothing is filled in.
# The logarithm of deaths per birth varies smoothly with the place (kilometres).

# %%
hidden = table["deaths"].str.startswith("<")
table["least"] = table["deaths"].where(~hidden, "0").astype(int)
table["most"] = table["deaths"].where(~hidden, "4").astype(int)
counties = qd.point(x="x", y="y")
model = qd.Model("matern32(x, y)")
model.observe(counties, qd.Poisson(lower="least", upper="most", exposure="births"), data=table)
fit = model.fit(method="laplace", hyperparameters="map")
told = fit.predict(counties, data=table)

# %% [markdown]
# The rate of every county with its interval, and the probability of more than 3 in 1,000.

# %%
rates = told.to_frame()[["mean", "lower", "upper"]] * 1000
rates.insert(0, "county", table["county"])
rates["above 3"] = told.exceed(0.003)
rates = rates.set_index("county").sort_values("above 3", ascending=False)
print(rates.head(6).round(2))

# %%
fig, axes = plt.subplots(2, 1, figsize=(8, 6.5), layout="constrained")
features = json.loads((examples / "counties" / "all-counties.geojson").read_text())["features"]
labels = ("deaths per 1,000 births", "P(more than 3 in 1,000)")
for ax, column, label in zip(axes, ("mean", "above 3"), labels):
    outlines, values = [], []
    for feature in features:
        shape = feature["geometry"]
        parts = [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]
        outlines += [np.array(part[0]) for part in parts]
        values += [rates.loc[feature["properties"]["name"], column]] * len(parts)
    areas = PolyCollection(outlines, array=np.array(values), edgecolor="w", linewidth=0.4)
    ax.add_collection(areas)
    ax.autoscale_view()
    ax.set(aspect=1.2, xlabel="longitude", ylabel="latitude")
    fig.colorbar(areas, ax=ax, label=label, shrink=0.7)
plt.show()

# %% [markdown]
# What if the hidden counties were left out? Those that are published are those where more died.

# %%
published = table[~hidden]
without = qd.Model("matern32(x, y)").observe(
    counties, qd.Poisson("least", exposure="births"), data=published)
without = without.fit(method="laplace", hyperparameters="map")
shown = without.predict(counties, data=published).mean.mean() * 1000
every = told.mean[~hidden].mean() * 1000
print(f"mean rate of the published counties: {every:.2f}; {shown:.2f} if they were all there is")

# %% [markdown]
# **What it means.** The rate is high in the north-east, about Northampton (4.9 in 1,000; more than
# 3 with a probability of 0.97), and in the south, about Robeson. **Its limits.** Counties are taken
# as points, and the smooth map draws single counties towards their neighbours: it is no proof of a
# cause, nor of a county that stands out alone.

# %%
assert hidden.sum() == 51 and rates.index[0] == "Northampton"
assert abs(rates.loc["Northampton", "mean"] - 4.87) < 0.05
assert abs(rates.loc["Northampton", "above 3"] - 0.97) < 0.01
assert 0.85 < rates.loc["Robeson", "above 3"] < 0.95
assert shown > every
