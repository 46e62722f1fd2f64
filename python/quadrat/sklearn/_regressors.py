"""Regressors of values and of counts."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import mean_poisson_deviance
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .. import _arrays
from .._errors import DataError, FitWarning
from .._likelihoods import Gaussian, NegativeBinomial, Poisson
from .._model import Model
from .._supports import bag, point
from . import _reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import ArrayLike

    from .._kernels import Kernel
    from .._types import Floats


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

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Means at the rows of `X`, and standard deviations of the function where asked."""
        return self._predicted(X, return_std, "response")

    def predict_interval(self, X: Any, level: float = 0.95) -> Floats:
        """Lower and upper ends of the interval of the response, shape ``(rows, 2)``."""
        level = _arrays.probability(level, "level")
        told = self._told(X, "response")
        tail = (1 - level) / 2
        return np.stack([told.quantile(tail), told.quantile(1 - tail)], axis=1)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Floats:
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

    def __init__(self, kernel: str | Kernel | None = None, *, mean: str | float = "constant",
                 noise: float | None = None, hyperparameters: Mapping[str, Any] | None = None,
                 method: str = "auto", integrate: str | bool = "auto", seed: int = 0) -> None:
        self.kernel, self.mean, self.noise = kernel, mean, noise
        self.hyperparameters, self.method = hyperparameters, method
        self.integrate, self.seed = integrate, seed

    def fit(self, X: Any, y: Any) -> GPRegressor:
        """Fits the model to values `y` at the rows of `X`."""
        X, y = _reading.to_fit_targets(self, X, y)
        return self._fitted(X, Gaussian(y, self.noise))


class CountRegressor(Regressor):
    """Counts whose log rate is a Gaussian process.

    Predictions are rates: expected counts of an exposure of one. In searches and cross-validation
    `exposure` comes by scikit-learn's metadata routing: ``set_fit_request(exposure=True)`` and
    ``set_score_request(exposure=True)``.

    Parameters
    ----------
    kernel, mean, hyperparameters, method, integrate, seed
        As for :class:`GPRegressor`.
    overdispersed : bool
        Whether counts vary by more than chance (negative binomial).
    rounded : bool
        Whether targets that are not whole, such as estimated counts, are rounded to the nearest
        count, halves to the even one. Else they are refused: they may be a wrong column.

    Attributes
    ----------
    posterior_, kernel_, hyperparameters_, log_evidence_
        As of :class:`GPRegressor`.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> people = np.tile([100.0, 400.0, 250.0], 10)
    >>> cases = np.round(people * np.exp(np.sin(X[:, 0]) - 2))
    >>> model = qd.sklearn.CountRegressor("se(x0)").fit(X, cases, exposure=people)
    >>> bool(np.max(np.abs(np.log(model.predict(X)) - np.sin(X[:, 0]) + 2)) < 0.1)
    True
    >>> bool(model.score(X, cases, exposure=people) > 0.99)
    True
    """

    def __init__(self, kernel: str | Kernel | None = None, *, mean: str | float = "constant",
                 overdispersed: bool = False, rounded: bool = False,
                 hyperparameters: Mapping[str, Any] | None = None, method: str = "auto",
                 integrate: str | bool = "auto", seed: int = 0) -> None:
        self.kernel, self.mean, self.overdispersed = kernel, mean, overdispersed
        self.rounded, self.hyperparameters, self.method = rounded, hyperparameters, method
        self.integrate, self.seed = integrate, seed

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: Any, exposure: ArrayLike | None = None,
            **unknown: Any) -> CountRegressor:
        """Fits the model to counts.

        Parameters
        ----------
        X : array_like
            The inputs.
        y : array_like
            The counts of the rows.
        exposure : array_like, optional
            What counts are proportional to, such as people; one each where it is not given.
        **unknown
            Refused; of `sample_weight` it is said what to give in its place.
        """
        if "sample_weight" in unknown:
            raise DataError("sample_weight is not taken by CountRegressor.fit; where it is what "
                            "counts are proportional to, give counts as y and exposure=")
        if unknown:
            raise TypeError(f"fit has no argument {min(unknown)!r}; there are X, y and exposure")
        X, y = _reading.to_fit_targets(self, X, y)
        if _arrays.boolean(self.rounded, "rounded"):
            y = np.round(y)
        is_wide = _arrays.boolean(self.overdispersed, "overdispersed")
        kind = NegativeBinomial if is_wide else Poisson
        self._fitted(X, kind(y, exposure))
        self._has_exposure = exposure is not None
        return self

    def score(self, X: Any, y: Any, exposure: ArrayLike | None = None,
              sample_weight: ArrayLike | None = None) -> float:
        """D² of counts: the share of their Poisson deviance that the rates explain.

        One minus the deviance of `y` from exposure times the predicted rate, by that from the
        exposure times the one rate that all of `y` have together. Without exposures it is
        scikit-learn's ``d2_tweedie_score(.., power=1)``. At best it is 1, and 0 where rates tell no
        more than that one rate. Targets are not rounded.

        Parameters
        ----------
        X, y, exposure : array_like
            As for :meth:`fit`; `exposure` is needed where the fit had one.
        sample_weight : array_like, optional
            How much a row counts in the score.
        """
        rate = self.predict(X)
        if exposure is None and self._has_exposure:
            raise DataError("exposure is missing: the fit had one, and its rates are no counts; "
                            "give exposure=, in searches by set_score_request(exposure=True)")
        X, y = validate_data(self, X, y, reset=False, dtype=np.float64, y_numeric=True)
        known = _arrays.column(1.0 if exposure is None else exposure, "exposure", None, len(y))
        if not np.all(known > 0):
            at = int(np.argmin(known > 0))
            raise DataError(f"exposure: row {at} is {known[at]:g}; an exposure is above zero")
        if np.any(y < 0):
            at = int(np.argmax(y < 0))
            raise DataError(f"y: row {at} is {y[at]:g}; a count is zero or above")
        share = sample_weight if sample_weight is None else _arrays.column(
            sample_weight, "sample_weight", None, len(y))
        total = np.average(y, weights=share)
        one = total / np.average(known, weights=share) * known
        # Rates too small for a double are told apart from none.
        told = np.maximum(rate * known, np.finfo(float).tiny)
        left = mean_poisson_deviance(y, told, sample_weight=share)
        whole = mean_poisson_deviance(y, one, sample_weight=share) if total > 0 else 0.0
        if whole == 0:
            return 1.0 if left == 0 else 0.0
        return float(1 - left / whole)
