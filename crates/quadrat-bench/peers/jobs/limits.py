"""Concentrations of which a quarter lies below the detection limit."""

import numpy as np

TITLE = "a curve from 80 concentrations, about a quarter below the limit"
ERROR = "RMSE of the logarithm, whose spread is 0.9"
AT = np.linspace(0, 10, 101)


def curve(t):
    return 1.4 * np.sin(0.7 * t) + 0.05 * t


def draw(rng):
    t = np.sort(rng.uniform(0, 10, 80))
    value = np.exp(curve(t) + 0.4 * rng.normal(size=80))
    limit = 0.6
    # What is reported below the limit is the limit.
    return {"t": t, "value": np.maximum(value, limit), "limit": limit, "at": AT}, curve(AT)


def quadrat(t, value, limit, at):
    import quadrat as qd
    rows = qd.Censored(np.log(value), lower=np.log(limit))
    post = qd.Model("se(t)").observe(qd.point(t=t), rows).fit()
    told = post.predict(qd.point(t=at))
    return told.mean, told.lower, told.upper


def half_the_limit(t, value, limit, at):
    """What is below is taken for half the limit, and then all for a normal value."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    y = np.log(np.where(value <= limit, limit / 2, value))
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    gp = GaussianProcessRegressor(kernel, n_restarts_optimizer=9, normalize_y=True, random_state=0)
    gp.fit(t[:, None], y)
    mean, sd = gp.predict(at[:, None], return_std=True)
    noise = gp.kernel_.k2.noise_level * np.std(y) ** 2
    sd = np.sqrt(np.maximum(sd**2 - noise, 0))
    return mean, mean - 1.96 * sd, mean + 1.96 * sd


def lifelines(t, value, limit, at):
    """Log-normal values that are left-censored, along a cubic spline of six functions."""
    import pandas as pd
    from lifelines import LogNormalAFTFitter
    rows = pd.DataFrame({"t": t, "value": value, "seen": value > limit})
    fitter = LogNormalAFTFitter()
    spline = "bs(t, df=6, lower_bound=0, upper_bound=10)"
    fitter.fit_left_censoring(rows, "value", "seen", formula=spline)
    told = np.log(fitter.predict_median(pd.DataFrame({"t": at})))
    return told


METHODS = {
    "quadrat": ("quadrat", quadrat),
    "lifelines": ("lifelines", lifelines),
    "scikit-learn GP, half the limit": ("scikit-learn", half_the_limit),
}
