"""The density of one column."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._density import Density
from . import _reading


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
        X = self._one(_reading.to_fit(self, X))
        self.density_ = Density(X, bounds=self.bounds, cells=self.cells, log=self.log,
                                level=self.level, seed=self.seed)
        return self

    def score_samples(self, X):
        """Log densities of the rows of `X`."""
        X = self._one(_reading.to_predict(self, X))
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
