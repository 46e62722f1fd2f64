"""The density of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import _arrays
from .._density import Density
from .._errors import DataError
from . import _reading

if TYPE_CHECKING:
    from typing import Any

    from .._types import Ends, Floats


class DensityEstimator(DensityMixin, BaseEstimator):
    """The density of one column, with the interface of scikit-learn's KernelDensity.

    Parameters
    ----------
    bounds : pair of float or None
        Beyond which no value can lie.
    column : int or str, optional
        Which column of ``X`` the density is of: its number from 0, or its name where ``X`` is a
        data frame; else ``X`` has that column alone.
    cells, log, level, seed
        As for `quadrat.Density`.

    Attributes
    ----------
    density_ : quadrat.Density
        The density with its band.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> waits = np.random.default_rng(1).exponential(size=(200, 1))
    >>> model = qd.sklearn.DensityEstimator(bounds=(0, None)).fit(waits)
    >>> bool(abs(model.score_samples([[1.0]])[0] + 1) < 0.3)     # the log of exp(-1) is -1
    True
    >>> model.sample(3, random_state=1).shape
    (3, 1)
    """

    def __init__(self, *, bounds: Ends = (None, None), column: int | str | None = None,
                 cells: int = 400, log: bool = False, level: float = 0.95, seed: int = 0) -> None:
        self.bounds, self.column, self.cells, self.log = bounds, column, cells, log
        self.level, self.seed = level, seed

    def fit(self, X: Any, y: Any = None) -> DensityEstimator:
        """Estimates the density of the column of `X`."""
        X = self._one(_reading.to_fit(self, X))
        self.density_ = Density(X, bounds=self.bounds, cells=self.cells, log=self.log,
                                level=self.level, seed=self.seed)
        return self

    def score_samples(self, X: Any) -> Floats:
        """Log densities of the rows of `X`."""
        X = self._one(_reading.to_predict(self, X))
        with np.errstate(divide="ignore"):
            return np.log(self.density_.evaluate(X))

    def score(self, X: Any, y: Any = None) -> float:
        """The sum of the log densities."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """New values drawn from the density, shape ``(n_samples, 1)``.

        They are those of `quadrat.Density.sample`; `random_state` gives its seed.
        """
        check_is_fitted(self)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        return self.density_.sample(n_samples, int(seed))[:, None]

    def _one(self, X):
        """The column that the density is of."""
        at, names = self.column, list(getattr(self, "feature_names_in_", ()))
        if at is None:
            if X.shape[1] != 1:
                raise DataError(f"X has {X.shape[1]} features, and a density is of one; say by "
                                "column= which it is")
            return X[:, 0]
        if isinstance(at, str):
            if at not in names:
                there = f"X has the columns {', '.join(names)}" if names else \
                    "X has no names of columns; give its number"
                raise DataError(f"column is {at!r}; {there}")
            return X[:, names.index(at)]
        at = _arrays.whole(at, "column")
        if at >= X.shape[1]:
            raise DataError(f"column is {at}; X has {X.shape[1]} features, numbered from 0")
        return np.ascontiguousarray(X[:, at])
