# %% [markdown]
# # A density from binned incomes, the last bin open
#
# Of 3,000 men a table says how many have a wage in each of nine brackets (thousand dollars a year);
# the last is 200 and more. We want the density, quantiles and shares, each with an interval.

# %%
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import quadrat as qd

folder = Path(__file__).parent if "__file__" in globals() else Path.cwd()
data = folder.resolve().parents[1] / "examples" / "wages"
wages = pd.read_csv(data / "wages.csv")
wages["to"] = wages["to"].fillna(np.inf)
wages

# %% [markdown]
# Wages are positive and of many sizes: the density is estimated on a logarithmic axis. What a
# careful reader should know comes as warnings; here both are about the ends, and we print them.

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore", qd.FitWarning)
    density = qd.Density.from_bins("from", "to", "men", log=True, data=wages)
print(*density.warnings, sep="\n")

# %% [markdown]
# Quantiles, also inside of brackets and in the open one, beside those of the wages themselves,
# which the estimate has not seen:

# %%
truth = pd.read_csv(data / "truth.csv")
told = pd.DataFrame([density.quantile(p) for p in truth["quantile"]])
told = truth.join(told).set_index("quantile")
print(told.round(1))

# %%
more = density.probability(150, None)
print(f"more than 150: {100 * more.value:.1f} %, {100 * more.lower:.1f} to {100 * more.upper:.1f}")
mode = density.modes()[0][0]
print(f"the density is highest at {mode:.0f}")

# %%
ax = density.plot()
ax.set(xlim=(0, 320), xlabel="wage, thousand dollars a year", ylabel="density")
plt.show()

# %% [markdown]
# **What it means.** The median is 104, 102 to 106, though its bracket is 20 wide. **Its limits.**
# All above 200 is one bracket of 99 men: the 99 % quantile lies within it and is told with an
# interval of 240 to 340, and a second hump of the wages near 270 cannot be seen.

# %%
inside = told["wage"].between(told["lower"], told["upper"])
assert inside.all()
assert told.loc[0.5, ["value", "lower", "upper"]].round().tolist() == [104, 102, 106]
assert abs(told.loc[0.99, "lower"] - 240) < 5 and abs(told.loc[0.99, "upper"] - 340) < 10
assert more.lower < (244 + 99) / 3000 < more.upper
assert len(density.modes()) == 1 and abs(mode - 93) < 3 and len(density.warnings) == 2
