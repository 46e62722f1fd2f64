"""People in five-year bands, the last one open, told by single years."""

import numpy as np

TITLE = "18 age bands to 105 single years"
ERROR = "RMSE of a year's people, in percent of their mean"
LAST = 105


def draw(rng):
    """A population of which cohorts differ by steps, and chance by what counts have."""
    age = np.arange(LAST) + 0.5
    alive = np.exp(-0.00008 * (np.exp(0.095 * age) - 1))
    broad = np.exp(0.2 * np.sin(age / rng.uniform(9, 14) + rng.uniform(0, 6)) - 0.004 * age)
    cohorts = np.exp(0.03 * rng.normal(size=LAST))
    people = rng.poisson(2000 * alive * broad * cohorts).astype(float)
    lower = np.arange(0, 90, 5)
    counts = np.add.reduceat(people, lower)
    upper = np.append(lower[1:], np.inf)
    return {"lower": lower, "upper": upper, "counts": counts, "last": LAST}, people


def scale(truth):
    return 100 / np.mean(truth)


def quadrat(lower, upper, counts, last):
    import quadrat as qd
    told = qd.ungroup({"lower": lower, "upper": upper, "people": counts}, lower="lower",
                      upper="upper", count="people", last=last)
    return told.mean, told.lower, told.upper


def monotone(lower, upper, counts, last):
    """A monotone spline of cumulated counts, as `mono` of DemoTools."""
    from scipy.interpolate import PchipInterpolator
    edges = np.append(lower, last)
    cumulated = PchipInterpolator(edges, np.append(0, np.cumsum(counts)))
    told = np.diff(cumulated(np.arange(last + 1)))
    return told


def even(lower, upper, counts, last):
    """The same in every year of a band."""
    width = np.diff(np.append(lower, last))
    told = np.repeat(counts / width, width)
    return told


METHODS = {
    "quadrat": ("quadrat", quadrat),
    "scipy, monotone spline": ("scipy", monotone),
    "numpy, even shares": ("numpy", even),
}
