"""Ordered grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .._likelihoods import Ordinal
from . import _reading
from ._regressors import GaussianProcess

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .._kernels import Kernel
    from .._types import Floats


class OrdinalRegressor(ClassifierMixin, GaussianProcess):
    """Ordered grades, such as ratings: a Gaussian process between learned thresholds.

    To scikit-learn it is a classifier, whose classes have an order: folds are stratified, and
    scores take labels and probabilities.

    Parameters
    ----------
    kernel, mean, hyperparameters, method, integrate, seed
        As for :class:`GPRegressor`.
    grades : sequence, optional
        All labels from the lowest to the highest; those of `y` in sorted order where it is not
        given.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The labels in sorted order, as scikit-learn's scores expect the columns of probabilities.
    grades_ : numpy.ndarray
        The labels from the lowest to the highest.
    posterior_, kernel_, hyperparameters_, log_evidence_
        As of :class:`GPRegressor`.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.array(["low", "middle", "high"])[np.digitize(np.sin(X[:, 0]), [-0.5, 0.5])]
    >>> model = qd.sklearn.OrdinalRegressor("se(x0)", grades=["low", "middle", "high"]).fit(X, y)
    >>> model.predict([[1.5], [4.5]]).tolist()
    ['high', 'low']
    >>> model.predict_proba([[1.5]]).shape
    (1, 3)
    """

    def __init__(self, kernel: str | Kernel | None = None, *, mean: str | float = "constant",
                 grades: Sequence[Any] | None = None,
                 hyperparameters: Mapping[str, Any] | None = None, method: str = "auto",
                 integrate: str | bool = "auto", seed: int = 0) -> None:
        self.kernel, self.mean, self.grades = kernel, mean, grades
        self.hyperparameters, self.method = hyperparameters, method
        self.integrate, self.seed = integrate, seed

    def fit(self, X: Any, y: Any) -> OrdinalRegressor:
        """Fits the model to the grades `y` of the rows of `X`."""
        X, y = _reading.to_fit_targets(self, X, y, is_numeric=False)
        check_classification_targets(y)
        found = np.unique(y)
        self.grades_ = found if self.grades is None else np.asarray(self.grades)
        self.classes_ = np.unique(self.grades_)
        unknown = found[~np.isin(found, self.classes_)]
        if len(unknown):
            raise ValueError(f"y has the grade {unknown.tolist()[0]!r}, which is not among grades: "
                             f"{self.grades_.tolist()}")
        if len(self.classes_) != len(self.grades_):
            raise ValueError(f"grades has a label twice: {self.grades_.tolist()}")
        if len(self.classes_) < 2:
            raise ValueError("y has one class only; ordered grades need two or more")
        # Of every label in sorted order its place among the grades.
        self._rank = np.argsort(self.grades_, kind="stable")
        ranks = self._rank[np.searchsorted(self.classes_, y)] + 1
        return self._fitted(X, Ordinal(ranks, ranks=len(self.classes_)))

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each of `classes_`, shape ``(rows, classes)``."""
        told = self._told(X, "observation")
        up_to = [np.zeros(len(told))]
        up_to += [told.cdf(rank) for rank in range(1, len(self.classes_))]
        by_grade = np.diff(np.stack([*up_to, np.ones(len(told))], axis=1), axis=1)
        return by_grade[:, self._rank]

    def predict(self, X: Any) -> Any:
        """The most probable grade of the rows of `X`."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    def predict_latent(self, X: Any, return_std: bool = False) -> Any:
        """The function that is cut into grades, and its standard deviations where asked."""
        return self._predicted(X, return_std, "latent")
