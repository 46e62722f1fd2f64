"""Estimators of scikit-learn: regressors, an ordinal regressor, a density.

They need scikit-learn (``pip install "quadrat[sklearn]"``) and take part in its pipelines, searches
and cross-validation. Inputs are named ``x0``, ``x1``, .. in kernels, by the columns of ``X``.
"""

from ._aggregate import AggregateRegressor
from ._censored import CensoredRegressor
from ._density import DensityEstimator
from ._ordinal import OrdinalRegressor
from ._regressors import CountRegressor, GPRegressor

__all__ = ["AggregateRegressor", "CensoredRegressor", "CountRegressor", "DensityEstimator"]
__all__ += ["GPRegressor", "OrdinalRegressor"]
