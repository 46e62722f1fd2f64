"""Fits and estimates beside draws from their posterior."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import _arrays, _frames, _progress, _quadrat
from ._errors import DataError, FitWarning
from ._told import Unchanging

if TYPE_CHECKING:
    from typing import Any

    from ._types import Floats

# Draws of each chain: fewer tell nothing, and more need not be held.
_DRAWS = 100, 50_000


class CheckedHyperparameter(NamedTuple):
    """A hyperparameter, by the fit and by sampling.

    Means and sds are those of the logarithm where `is_logarithm`; intervals, of 95 %, are in its
    own unit. What the fit does not tell is nan.
    """

    fit_mean: float
    fit_sd: float
    fit_interval: tuple[float, float]
    mean: float
    sd: float
    interval: tuple[float, float]
    is_logarithm: bool
    r_hat: float
    effective_size: float


class Check(Unchanging):
    """What a fit or an estimate approximates, beside draws from the posterior itself.

    The posterior is sampled by the no-U-turn sampler, hyperparameters too. Where `r_hat` is at most
    1.01 and some hundred draws are effective, the draws can be trusted.

    Attributes
    ----------
    chains, draws, divergences : int
        Chains, draws of all of them, and trajectories among these that diverged.
    seconds : float
        What it took.
    hyperparameters : dict of str to CheckedHyperparameter
        Those that were learned.
    fit_mean, fit_sd : numpy.ndarray
        Of every row or cell, by the fit.
    mean, sd : numpy.ndarray
        The same by sampling.
    r_hat, effective_size : numpy.ndarray
        How well these are known.
    warnings : list of str
        Where the fit is wrong by the draws, and why draws cannot tell, if so.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> d = qd.Density(np.random.default_rng(1).normal(size=40), cells=30, draws=2000)
    >>> check = d.check_by_mcmc(draws=400)
    >>> bool(np.median(abs(check.mean_difference)) < 0.2)
    True
    """

    def __init__(self, text: str, warnings: list[str], axes: tuple[str, ...]) -> None:
        told = json.loads(text)
        rows = told.get("log_density", told.get("rows"))
        places = told.get("places", [[row] for row in range(len(rows))])
        self._places = dict(zip(axes, map(np.array, zip(*places))))
        self.chains, self.draws, self.divergences = (
            told[name] for name in ("chains", "draws", "divergences"))
        self.seconds, self.warnings = told["seconds"], warnings
        self.fit_mean, self.fit_sd = (_numbers(row["fit"][of] for row in rows) for of in _SPREAD)
        self.mean, self.sd = (_numbers(row["sampled"][of] for row in rows) for of in _SPREAD)
        self.r_hat = _numbers(row["r_hat"] for row in rows)
        self.effective_size = _numbers(row["effective_size"] for row in rows)
        self.hyperparameters = {own["name"]: _hyperparameter(own)
                                for own in told["hyperparameters"]}

    @property
    def mean_difference(self) -> Floats:
        """By how many sampled sds the means of the fit are off."""
        return (self.fit_mean - self.mean) / self.sd

    @property
    def sd_ratio(self) -> Floats:
        """The sds of the fit over those of the draws."""
        return self.fit_sd / self.sd

    @property
    def worst_r_hat(self) -> float:
        """The largest of all rows and hyperparameters."""
        return float(np.max([*self.r_hat, *(h.r_hat for h in self.hyperparameters.values())]))

    @property
    def smallest_effective_size(self) -> float:
        """The fewest effective draws of all rows and hyperparameters."""
        hypers = (h.effective_size for h in self.hyperparameters.values())
        return float(np.min([*self.effective_size, *hypers]))

    def __len__(self) -> int:
        return len(self.mean)

    def __repr__(self) -> str:
        apart, ratios = abs(self.mean_difference), self.sd_ratio
        return (f"<Check of {len(self)} {'rows' if 'row' in self._places else 'cells'} by "
                f"{self.draws} draws: means apart by {np.median(apart):.2f} sd in the median and "
                f"{np.max(apart):.2f} at worst, sds {np.median(ratios):.2f} of those of the draws; "
                f"R-hat up to {self.worst_r_hat:.3f}, effective draws from "
                f"{self.smallest_effective_size:.0f}>")

    def to_dict(self) -> dict[str, Any]:
        """Where, then ``fit_mean fit_sd mean sd r_hat effective_size``, column by column."""
        names = ("fit_mean", "fit_sd", "mean", "sd", "r_hat", "effective_size")
        return {**self._places, **{name: getattr(self, name) for name in names}}

    def to_frame(self) -> Any:
        """The same as a data frame of pandas."""
        return _frames.make(self.to_dict())


_SPREAD = ("mean", "sd")


def _numbers(values):
    # What JSON has no number for is null there, and nan here.
    return np.array(list(values), dtype=float)


def _hyperparameter(own):
    fit, sampled = (_numbers(own[of][one] for one in _SPREAD) for of in ("fit", "sampled"))
    intervals = (tuple(_numbers(own[of]).tolist()) for of in ("fit_interval", "sampled_interval"))
    fit_interval, interval = intervals
    known = _numbers([own["r_hat"], own["effective_size"]]).tolist()
    return CheckedHyperparameter(*fit.tolist(), fit_interval, *sampled.tolist(), interval,
                                 own["logarithm"], *known)


def beside_draws(told, axes, draws, seed, progress):
    """The check of what the bindings have; what is wrong with it is warned of."""
    draws, seed = _arrays.whole(draws, "draws"), _arrays.whole(seed, "seed")
    if not _DRAWS[0] <= draws <= _DRAWS[1]:
        raise DataError(f"draws is {draws}; it must be {_DRAWS[0]} to {_DRAWS[1]}")
    with _progress.listener(progress) as listen:
        check = Check(*_quadrat.check_by_mcmc(told, draws, seed, listen), axes)
    for warning in check.warnings:
        warnings.warn(warning, FitWarning, stacklevel=3)
    return check
