# %% [markdown]
# # Measurements below a detection limit
#
# Ammonium in weekly samples of rain, Olympic National Park 2009 to 2011. Of 102 samples 46 are
# below the limit of the laboratory, which changed over the years. What was the level, week by week?

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import quadrat as qd

folder = Path(__file__).parent if "__file__" in globals() else Path.cwd()
examples = folder.resolve().parents[1] / "examples"
samples = pd.read_csv(examples / "ammonium" / "precipitation.csv")
below = samples["censored"] == "left"
samples.head()

# %% [markdown]
# `log10_nh4` is the logarithm of the value, or of the limit where `censored` says `left`. The level
# is a rough curve over the weeks; single samples scatter around it with a spread that is learned.

# %%
model = qd.Model("matern32(week)")
model.observe(qd.point(week="week"), qd.Censored("log10_nh4", side="censored"), data=samples)
fit = model.fit()
weeks = np.arange(2, 156)
level = fit.predict(qd.grid(week=weeks))
fit.summary()

# %% [markdown]
# What would other habits have told of the average? The limit itself in place of what is below it,
# or half of it:

# %%
average = 10 ** level.mean.mean()
limit = 10 ** samples["log10_nh4"].mean()
half = 10 ** (samples["log10_nh4"] - below * np.log10(2)).mean()
print(f"geometric mean in mg/l: {average:.4f} by the model, {limit:.4f} with the limits, "
      f"{half:.4f} with their halves")

# %% [markdown]
# The probability that the level of a week was above 0.02 mg/l:

# %%
above = level.exceed(np.log10(0.02))
top = weeks[above.argmax()]
print(f"most probable in week {top}: {above.max():.2f}; in week 47: {above[weeks == 47][0]:.1e}")

# %%
ax = level.plot()
detected = samples[~below]
ax.plot(detected["week"], detected["log10_nh4"], "k.", ms=4, label="samples")
ax.plot(samples["week"][below], samples["log10_nh4"][below], "v", color="0.5", ms=4, mfc="none",
        label="below this limit")
ax.axhline(np.log10(0.02), color="tab:red", lw=0.8, label="0.02 mg/l")
ax.set(ylabel="log10 of ammonium, mg/l")
ax.legend(frameon=False, ncols=3, fontsize="small")
plt.show()

# %% [markdown]
# **What it means.** From week 42 to 55 not one sample was above its limit, and the curve goes where
# it must: well below, with a wide band. Limits put in place of values overstate the average by two
# thirds. **Its limits.** How low the level was in those weeks nobody measured: there the band comes
# from how the curve moves elsewhere, and from values that are normal in logarithms.

# %%
gap = samples["week"].between(42, 55)
assert below.sum() == 46 and below[gap].all() and gap.sum() == 12
assert abs(average - 0.0082) < 0.0002 and 1.6 < limit / average < 1.75 and average < half
assert top == 122 and 0.5 < above.max() < 0.75 and above[weeks == 47][0] < 1e-4
ends = level.upper - level.lower
assert ends[weeks == 48][0] > 1.3 * np.median(ends)
assert level.mean[weeks == 48][0] < samples["log10_nh4"][gap].min()
