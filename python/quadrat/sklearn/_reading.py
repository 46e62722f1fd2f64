"""What all estimators read: rows of inputs, with their targets or without."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data


def to_fit(estimator, X):
    """The inputs of a fit: two rows or more of finite doubles, whose columns are remembered."""
    return validate_data(estimator, X, dtype=np.float64, ensure_min_samples=2)


def to_fit_targets(estimator, X, y, *, is_numeric=True):
    """The same with a target for each row: a number, or a label."""
    return validate_data(estimator, X, y, dtype=np.float64, y_numeric=is_numeric,
                         ensure_min_samples=2)


def to_predict(estimator, X):
    """Inputs with the columns of those that were fitted."""
    check_is_fitted(estimator)
    return validate_data(estimator, X, reset=False, dtype=np.float64)
