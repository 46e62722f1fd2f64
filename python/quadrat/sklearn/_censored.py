"""Values known within intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_consistent_length

from .._errors import DataError
from .._likelihoods import Interval
from . import _reading
from ._regressors import Regressor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import ArrayLike

    from .._kernels import Kernel


class CensoredRegressor(Regressor):
    """Values known only to lie between two ends: censored, rounded, or exact.

    The target `y` has two columns, or the fields ``lower`` and ``upper`` of a structured array:
    ``-inf`` or ``inf`` where there is no end, both ends equal where the value is known. One column
    is of values that are all known. Scikit-learn's own checks use that form alone, for they take
    two columns for two outputs, and refuse infinite ends.

    Parameters
    ----------
    kernel, mean, noise, hyperparameters, method, integrate, seed
        As for :class:`GPRegressor`.

    Attributes
    ----------
    posterior_, kernel_, hyperparameters_, log_evidence_
        As of :class:`GPRegressor`.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> value = np.sin(X[:, 0])
    >>> known = value < 0.5                              # an instrument that ends at 0.5
    >>> y = np.stack([np.where(known, value, 0.5), np.where(known, value, np.inf)], axis=1)
    >>> model = qd.sklearn.CensoredRegressor("se(x0)", noise=1e-3).fit(X, y)
    >>> bool(model.predict([[1.57]])[0] > 0.7)
    True
    """

    def __init__(self, kernel: str | Kernel | None = None, *, mean: str | float = "constant",
                 noise: float | None = None, hyperparameters: Mapping[str, Any] | None = None,
                 method: str = "auto", integrate: str | bool = "auto", seed: int = 0) -> None:
        self.kernel, self.mean, self.noise = kernel, mean, noise
        self.hyperparameters, self.method = hyperparameters, method
        self.integrate, self.seed = integrate, seed

    def fit(self, X: Any, y: Any) -> CensoredRegressor:
        """Fits the model to the intervals `y` of the rows of `X`."""
        ends = _ends(y)
        if ends is None:
            X, y = _reading.to_fit_targets(self, X, y)
            ends = y, y
        else:
            X = _reading.to_fit(self, X)
            check_consistent_length(X, ends[0])
        lower, upper = ends
        return self._fitted(X, Interval(lower, upper, self.noise))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """How well `y` was told: R² of values, the mean log probability of intervals.

        With two columns the score of a row is the log density of a value that is known, and the
        log probability of an interval.
        """
        ends = _ends(y)
        if ends is None:
            return super().score(X, y, sample_weight)
        told = self._told(X, "observation")
        lower, upper = ends
        check_consistent_length(told.mean, lower)
        is_known = lower == upper
        scores = told.log_probability(lower, upper)
        known = told.log_density(np.where(is_known, lower, told.mean))
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(np.where(is_known, known, scores), weights=weights))


def _ends(y):
    """Lower and upper ends, or `None` of one column of values."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        if set(names) != {"lower", "upper"}:
            raise DataError(f"y has the fields {', '.join(names)}; give lower and upper")
        return np.asarray(y["lower"], dtype=np.float64), np.asarray(y["upper"], dtype=np.float64)
    try:
        shape = np.asarray(y).shape
    except ValueError:
        return None
    if len(shape) != 2 or shape[1] != 2:
        return None
    try:
        lower, upper = np.asarray(y, dtype=np.float64).T
    except (TypeError, ValueError) as error:
        raise DataError(f"y must be numbers, lower and upper: {error}") from None
    return np.ascontiguousarray(lower), np.ascontiguousarray(upper)
