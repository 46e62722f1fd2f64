"""Estimators of scikit-learn: a regressor, a regressor of counts, a density.

They need scikit-learn (``pip install quadrat[sklearn]``) and take part in its pipelines, searches
and cross-validation. Inputs are named ``x0``, ``x1``, .. in kernels, by the columns of ``X``.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._density import Density
from ._errors import FitWarning
from ._likelihoods import Gaussian, NegativeBinomial, Poisson
from ._model import Model
from ._supports import point

__all__ = ["CountRegressor", "DensityEstimator", "GPRegressor"]


class _Regressor(RegressorMixin, BaseEstimator):
    def _fitted(self, X, likelihood):
        names = [f"x{at}" for at in range(X.shape[1])]
        kernel = self.kernel or f"matern32({', '.join(names)})"
        model = Model(kernel, mean=self.mean, hyperparameters=self.hyperparameters)
        model.observe(point(dict(zip(names, X.T))), likelihood)
        self.posterior_ = model.fit(seed=self.seed, method=self.method)
        self.kernel_ = self.posterior_.kernel
        self.log_evidence_ = self.posterior_.log_evidence
        self.hyperparameters_ = self.posterior_.hyperparameters
        return self

    def _told(self, X, scale):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        at = point({f"x{at}": column for at, column in enumerate(X.T)})
        with warnings.catch_warnings():
            # What is told of places is told of those that were fitted, too.
            warnings.simplefilter("ignore", FitWarning)
            return self.posterior_.predict(at, scale)

    def _predicted(self, X, return_std, scale):
        told = self._told(X, scale)
        return (told.mean, told.sd) if return_std else told.mean

    def predict_interval(self, X, level=0.95):
        """Lower and upper ends of the interval of the response, shape ``(rows, 2)``."""
        told = self._told(X, "response")
        tail = (1 - level) / 2
        return np.stack([told.quantile(tail), told.quantile(1 - tail)], axis=1)


class GPRegressor(_Regressor):
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
                 method="auto", seed=0):
        self.kernel, self.mean, self.noise = kernel, mean, noise
        self.hyperparameters, self.method, self.seed = hyperparameters, method, seed

    def fit(self, X, y):
        """Fits the model to values `y` at the rows of `X`."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        return self._fitted(X, Gaussian(y, self.noise))

    def predict(self, X, return_std=False):
        """Means at the rows of `X`, and standard deviations of the function where asked."""
        return self._predicted(X, return_std, "response")

    def sample_y(self, X, n_samples=1, random_state=0):
        """Joint draws of the function, shape ``(rows, n_samples)``."""
        seed = check_random_state(random_state).randint(2**31 - 1)
        return self._told(X, "response").draws(n_samples, int(seed)).T


class CountRegressor(_Regressor):
    """Counts whose log rate is a Gaussian process.

    Parameters
    ----------
    kernel, mean, hyperparameters, method, seed
        As for :class:`GPRegressor`.
    overdispersed : bool
        Whether counts vary by more than chance (negative binomial).
    """

    def __init__(self, kernel=None, *, mean="constant", overdispersed=False,
                 hyperparameters=None, method="auto", seed=0):
        self.kernel, self.mean, self.overdispersed = kernel, mean, overdispersed
        self.hyperparameters, self.method, self.seed = hyperparameters, method, seed

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def fit(self, X, y, exposure=None):
        """Fits the model to counts `y`, which are proportional to `exposure`."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        kind = NegativeBinomial if self.overdispersed else Poisson
        return self._fitted(X, kind(y, exposure))

    def predict(self, X, return_std=False):
        """Rates at the rows of `X`, and their standard deviations where asked."""
        return self._predicted(X, return_std, "response")


class DensityEstimator(DensityMixin, BaseEstimator):
    """The density of one column, with the interface of scikit-learn's KernelDensity.

    Parameters
    ----------
    bounds : pair of float or None
        Beyond which no value can lie.
    cells, log, level, seed
        As for `quadrat.Density`.

    Attributes
    ----------
    density_ : quadrat.Density
        The density with its band.
    """

    def __init__(self, *, bounds=(None, None), cells=400, log=False, level=0.95, seed=0):
        self.bounds, self.cells, self.log = bounds, cells, log
        self.level, self.seed = level, seed

    def fit(self, X, y=None):
        """Estimates the density of the one column of `X`."""
        X = self._one(validate_data(self, X, dtype=np.float64, ensure_min_samples=2))
        self.density_ = Density(X, bounds=self.bounds, cells=self.cells, log=self.log,
                                level=self.level, seed=self.seed)
        return self

    def score_samples(self, X):
        """Log densities of the rows of `X`."""
        check_is_fitted(self)
        X = self._one(validate_data(self, X, reset=False, dtype=np.float64))
        with np.errstate(divide="ignore"):
            return np.log(self.density_.evaluate(X))

    def score(self, X, y=None):
        """The sum of the log densities."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples=1, random_state=None):
        """Values drawn from the density, shape ``(n_samples, 1)``."""
        check_is_fitted(self)
        random = check_random_state(random_state)
        edges = self.density_.edges
        mass = self.density_.density * np.diff(edges)
        at = random.choice(len(mass), size=n_samples, p=mass / mass.sum())
        return random.uniform(edges[at], edges[at + 1])[:, None]

    @staticmethod
    def _one(X):
        if X.shape[1] != 1:
            raise ValueError(f"X has {X.shape[1]} features; a density is of one")
        return X[:, 0]
