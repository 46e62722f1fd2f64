"""Regressors of values and of counts."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state

from .. import _arrays
from .._errors import DataError, FitWarning
from .._likelihoods import Gaussian, NegativeBinomial, Poisson
from .._model import Model
from .._supports import bag, point
from . import _reading


def inputs(X):
    """The columns of `X` by the names that kernels have for them."""
    return {f"x{at}": column for at, column in enumerate(X.T)}


class GaussianProcess(BaseEstimator):
    """What the estimators have in common: a posterior over the columns of ``X``."""

    def _fitted(self, X, likelihood, support=None):
        own = inputs(X)
        kernel = self.kernel or f"matern32({', '.join(own)})"
        model = Model(kernel, mean=self.mean, hyperparameters=self.hyperparameters)
        model.observe(support or point(own), likelihood)
        ways = {"auto": "auto", True: "integrate", False: "map"}
        if self.integrate not in ways:
            raise DataError(f"integrate is {self.integrate!r}; it must be \"auto\", True or False")
        self.posterior_ = model.fit(seed=self.seed, method=self.method,
                                    hyperparameters=ways[self.integrate])
        self.kernel_ = self.posterior_.kernel
        self.log_evidence_ = self.posterior_.log_evidence
        self.hyperparameters_ = self.posterior_.hyperparameters
        return self

    def _told(self, X, scale, groups=None, weight=None, aggregate=None):
        X = _reading.to_predict(self, X)
        at = point(inputs(X))
        if groups is not None:
            at = bag(inputs(X), key=groups, weight=weight, aggregate=aggregate)
        with warnings.catch_warnings():
            # Searches and folds predict hundreds of times: the fit has warned once.
            warnings.simplefilter("ignore", FitWarning)
            return self.posterior_.predict(at, scale)

    def _predicted(self, X, return_std, scale):
        told = self._told(X, scale)
        is_pair = _arrays.boolean(return_std, "return_std")
        return (told.mean, told.sd) if is_pair else told.mean


class Regressor(RegressorMixin, GaussianProcess):
    """A regressor whose response is the function, or its mean behind a link."""

    def predict(self, X, return_std=False):
        """Means at the rows of `X`, and standard deviations of the function where asked."""
        return self._predicted(X, return_std, "response")

    def predict_interval(self, X, level=0.95):
        """Lower and upper ends of the interval of the response, shape ``(rows, 2)``."""
        level = _arrays.probability(level, "level")
        told = self._told(X, "response")
        tail = (1 - level) / 2
        return np.stack([told.quantile(tail), told.quantile(1 - tail)], axis=1)

    def sample_y(self, X, n_samples=1, random_state=0):
        """Joint draws of the function, shape ``(rows, n_samples)``."""
        seed = check_random_state(random_state).randint(2**31 - 1)
        return self._told(X, "response").draws(n_samples, int(seed)).T


class GPRegressor(Regressor):
    """Gaussian-process regression with learned hyperparameters, integrated where data are few.

    Parameters
    ----------
    kernel : str, optional
        Over ``x0``, ``x1``, ..; ``matern32`` of all, a lengthscale each, where it is not given.
    mean : str
        As for `quadrat.Model`.
    noise : float, optional
        The known noise variance; learned where it is not given.
    hyperparameters : dict, optional
        What is said about hyperparameters, as for `quadrat.Model`.
    method : str
        As for `quadrat.Model.fit`.
    integrate : {"auto", True, False}
        Whether predictions are averaged over hyperparameters, or use the most probable ones, which
        is quicker; ``"auto"`` averages where data are few.
    seed : int
        Fixes everything random.

    Attributes
    ----------
    posterior_ : quadrat.Posterior
        The posterior.
    kernel_, hyperparameters_, log_evidence_
        Of the posterior.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> X = np.linspace(0, 6, 25)[:, None]
    >>> model = qd.sklearn.GPRegressor("se(x0)", noise=1e-4).fit(X, np.sin(X[:, 0]))
    >>> mean, sd = model.predict(X, return_std=True)
    >>> bool(np.max(np.abs(mean - np.sin(X[:, 0]))) < 0.01)
    True
    """

    def __init__(self, kernel=None, *, mean="constant", noise=None, hyperparameters=None,
                 method="auto", integrate="auto", seed=0):
        self.kernel, self.mean, self.noise = kernel, mean, noise
        self.hyperparameters, self.method = hyperparameters, method
        self.integrate, self.seed = integrate, seed

    def fit(self, X, y):
        """Fits the model to values `y` at the rows of `X`."""
        X, y = _reading.to_fit_targets(self, X, y)
        return self._fitted(X, Gaussian(y, self.noise))


class CountRegressor(Regressor):
    """Counts whose log rate is a Gaussian process.

    Parameters
    ----------
    kernel, mean, hyperparameters, method, integrate, seed
        As for :class:`GPRegressor`.
    overdispersed : bool
        Whether counts vary by more than chance (negative binomial).
    """

    def __init__(self, kernel=None, *, mean="constant", overdispersed=False,
                 hyperparameters=None, method="auto", integrate="auto", seed=0):
        self.kernel, self.mean, self.overdispersed = kernel, mean, overdispersed
        self.hyperparameters, self.method = hyperparameters, method
        self.integrate, self.seed = integrate, seed

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def fit(self, X, y, exposure=None):
        """Fits the model to counts `y`, which are proportional to `exposure`."""
        X, y = _reading.to_fit_targets(self, X, y)
        is_wide = _arrays.boolean(self.overdispersed, "overdispersed")
        kind = NegativeBinomial if is_wide else Poisson
        return self._fitted(X, kind(y, exposure))
