# %% [markdown]
# # Ten-year age bands to single years
#
# The census office published how many people live in the United States (2020) by ten-year bands of
# age. We want single years, the number of school children, and the median age, each with an
# interval.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import quadrat as qd

# The folder of this file; in Jupyter, that of the notebook.
folder = Path(__file__).parent if "__file__" in globals() else Path.cwd()
data = folder.resolve().parents[1] / "examples" / "ages"
bands = pd.read_csv(data / "ages.csv")
bands

# %% [markdown]
# A band from 0 to 10 holds the ages 0 to 9. One call is all: every draw of the single years adds up
# to the bands exactly.

# %%
years = qd.ungroup(bands, lower="from", upper="to", count="people")
years.to_frame().head()

# %% [markdown]
# Any other grouping follows, with an interval that knows how the years depend on each other.

# %%
school = years.between(5, 18)
median = years.quantile(0.5)
print(f"aged 5 to 17: {school.value / 1e6:.1f} million, "
      f"95 % interval {school.lower / 1e6:.1f} to {school.upper / 1e6:.1f}")
print(f"median age: {median.value:.1f}, {median.lower:.1f} to {median.upper:.1f}")

# %% [markdown]
# Here single years are known, too: how good was it?

# %%
truth = pd.read_csv(data / "truth.csv")["people"].to_numpy()
inside = (years.lower <= truth) & (truth <= years.upper)
error = np.sqrt(np.mean((years.mean - truth) ** 2))
equal_shares = np.sqrt(np.mean((np.repeat(bands["people"] / 10, 10) - truth) ** 2))
print(f"{inside.sum()} of {len(truth)} true counts lie inside their intervals")
print(f"typical error: {error:,.0f} people; of a tenth of each band: {equal_shares:,.0f}")

# %%
ax = years.plot()
ax.plot(np.arange(100) + 0.5, truth, "k.", ms=3, label="truth (not used)")
ax.set(xlabel="age", ylabel="people of one year of age")
ax.legend(frameon=False)
plt.show()

# %% [markdown]
# **What it means.** There are 59 million school children, 55 to 64. The error is less than half of
# that of equal shares. **Its limits.** Bands say nothing of what happens inside them: the steps
# from one birth cohort to the next, such as after 73, are not found, but the intervals are wide
# enough for them. All eight misses are 90 or older, where each year has far fewer people than the
# last.

# %%
assert abs(years.mean[:10].sum() / bands["people"][0] - 1) < 1e-9
assert [round(end / 1e6) for end in school] == [59, 55, 64]
assert school.lower < truth[5:18].sum() < school.upper
# Half of all are younger than some age between 37 and 38.
assert truth[:37].sum() < truth.sum() / 2 < truth[:38].sum() and 37 < median.value < 38
assert error < 0.5 * equal_shares and inside[73] and inside[:90].all() and inside.sum() == 92
