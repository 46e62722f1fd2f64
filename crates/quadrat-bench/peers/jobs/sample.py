"""The density of 200 values with two peaks and heavy tails."""

import numpy as np
import scores

TITLE = "the density of 200 values, two peaks"
ERROR = "area between it and the truth, in percent of the area below"
measure = scores.area_between
AT = np.linspace(-10, 10, 801)


def student(x, at, scale):
    """Student's t with four degrees of freedom."""
    return 0.375 / scale * (1 + ((x - at) / scale) ** 2 / 4) ** -2.5


def draw(rng):
    is_narrow = rng.uniform(size=200) < 1 / 3
    x = rng.standard_t(4, size=200)
    x = np.where(is_narrow, 3 + 0.5 * x, x - 1)
    truth = 2 / 3 * student(AT, -1, 1) + student(AT, 3, 0.5) / 3
    return {"x": x, "at": AT}, truth


def looked_at(truth):
    """Where the bands are looked at: where the density is above a fiftieth of its highest."""
    return truth > truth.max() / 50


def quadrat(x, at):
    import quadrat as qd
    d = qd.Density(x)
    lower, upper = (np.interp(at, d.x, end) for end in d.band())
    return d.evaluate(at), lower, upper


def scipy_kde(x, at):
    from scipy.stats import gaussian_kde
    told = gaussian_kde(x)(at)
    return told


def kdepy(x, at):
    from KDEpy import FFTKDE
    grid, density = FFTKDE(bw="ISJ").fit(x).evaluate(2**12)
    told = np.interp(at, grid, density, left=0, right=0)
    return told


def deft(x, at):
    import suftware
    density = suftware.DensityEstimator(x, num_posterior_samples=200, seed=1)
    draws = density.evaluate_samples(at)
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=1)
    return density.evaluate(at), lower, upper


METHODS = {
    "quadrat": ("quadrat", quadrat),
    "KDEpy, ISJ": ("KDEpy", kdepy),
    "scipy, gaussian_kde": ("scipy", scipy_kde),
    "suftware, DEFT": ("suftware", deft),
}
