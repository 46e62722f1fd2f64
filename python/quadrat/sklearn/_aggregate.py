"""Totals of bags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .. import _arrays
from .._errors import DataError
from .._likelihoods import Gaussian, NegativeBinomial, Poisson
from .._supports import bag
from . import _reading
from ._regressors import Regressor, inputs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import ArrayLike

    from .._kernels import Kernel

_FAMILIES = ("gaussian", "poisson", "negative_binomial")


class AggregateRegressor(Regressor):
    """Totals or averages of bags of rows, such as districts of pixels, told for single rows.

    `groups` says to which bag each row of ``X`` belongs; without it every row is a bag of its own.
    The target is repeated on all rows of its bag, as pipelines and folds need it, or has one entry
    for each bag in the order in which they first appear. In searches and cross-validation `groups`
    comes by scikit-learn's metadata routing: ``set_fit_request(groups=True)`` and
    ``set_score_request(groups=True)``, with folds of whole bags (``GroupKFold``).

    Parameters
    ----------
    kernel, mean, noise, hyperparameters, method, integrate, seed
        As for :class:`GPRegressor`.
    aggregate : {"sum", "mean"}
        Whether the target is the total of weight times value over the bag, or its average.
    family : {"gaussian", "poisson", "negative_binomial"}
        What the targets are: values, or counts whose log rate is a Gaussian process.

    Attributes
    ----------
    posterior_, kernel_, hyperparameters_, log_evidence_
        As of :class:`GPRegressor`.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> groups = np.repeat(np.arange(15), 4)
    >>> totals = np.sin(X[:, 0]).reshape(15, 4).sum(1)
    >>> model = qd.sklearn.AggregateRegressor("se(x0)", noise=1e-4)
    >>> single = model.fit(X, totals, groups=groups).predict(X)
    >>> bool(np.max(np.abs(single - np.sin(X[:, 0]))) < 0.05)
    True
    """

    def __init__(self, kernel: str | Kernel | None = None, *, mean: str | float = "constant",
                 aggregate: str = "sum", family: str = "gaussian", noise: float | None = None,
                 hyperparameters: Mapping[str, Any] | None = None, method: str = "auto",
                 integrate: str | bool = "auto", seed: int = 0) -> None:
        self.kernel, self.mean, self.aggregate = kernel, mean, aggregate
        self.family, self.noise = family, noise
        self.hyperparameters, self.method = hyperparameters, method
        self.integrate, self.seed = integrate, seed

    def fit(self, X: Any, y: Any, groups: ArrayLike | None = None,
            weight: ArrayLike | None = None) -> AggregateRegressor:
        """Fits the model to the targets of bags.

        Parameters
        ----------
        X : array_like
            The rows.
        y : array_like
            The target of each row's bag, or of each bag.
        groups : array_like, optional
            The bag of each row.
        weight : array_like, optional
            The weight of each row in its bag, such as people; one each where it is not given.
        """
        if self.family not in _FAMILIES:
            raise DataError(f"family is {self.family!r}; it must be one of {', '.join(_FAMILIES)}")
        if groups is None:
            X, y = _reading.to_fit_targets(self, X, y)
        else:
            X = _reading.to_fit(self, X)
        groups = _labels(groups, len(X))
        target = _by_bag(y, groups)
        kinds = {"poisson": Poisson, "negative_binomial": NegativeBinomial}
        likelihood = (kinds[self.family](target) if self.family in kinds
                      else Gaussian(target, self.noise))
        support = bag(inputs(X), key=groups, weight=weight, aggregate=self.aggregate)
        return self._fitted(X, likelihood, support)

    def predict_aggregate(self, X: Any, groups: ArrayLike | None = None,
                          weight: ArrayLike | None = None, return_std: bool = False) -> Any:
        """The mean of each bag in the order in which they first appear, and its deviation."""
        told = self._told(X, "response", _labels(groups, len(X)), weight, self.aggregate)
        is_pair = _arrays.boolean(return_std, "return_std")
        return (told.mean, told.sd) if is_pair else told.mean

    def score(self, X: Any, y: Any, groups: ArrayLike | None = None,
              weight: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """R² of the targets of bags; `sample_weight` is how much a bag counts in it, as `y`."""
        told = self.predict_aggregate(X, groups, weight)
        groups = _labels(groups, len(X))
        share = None if sample_weight is None else _by_bag(sample_weight, groups, "sample_weight")
        return r2_score(_by_bag(y, groups), told, sample_weight=share)


def _labels(groups, rows):
    if groups is None:
        return list(range(rows))
    found = np.asarray(groups)
    if found.ndim != 1 or len(found) != rows:
        raise DataError(f"groups has the shape {found.shape}, and X has {rows} rows; give one "
                        "label for each row")
    return found.tolist()


def _by_bag(y, groups, name="y"):
    """The target of each bag: that of its rows, which must agree, or as it was given."""
    y = column_or_1d(y, warn=True)
    first = {}
    for at, own in enumerate(groups):
        first.setdefault(own, at)
    if len(y) == len(first) and len(y) != len(groups):
        return y
    check_consistent_length(y, groups)
    for at, own in enumerate(groups):
        if y[at] != y[first[own]]:
            raise DataError(f"{name} differs within the bag {own!r}: {y[first[own]]} and {y[at]}; "
                            "repeat that of the bag on each row, or give one for each bag")
    return y[list(first.values())]
