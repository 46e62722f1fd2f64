"""Predictions: the distribution of every row."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _draw, _frames
from ._errors import DataError, FitWarning
from ._told import ToldRows

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ._posterior import Posterior
    from ._placed import Placed
    from ._types import Column, Floats, Frame


class Prediction(ToldRows):
    """The distribution of every row of a support, in the order of the support.

    A pickle keeps the posterior and the support, and predicts anew.

    Attributes
    ----------
    mean, sd : numpy.ndarray
        Means and standard deviations.
    lower, median, upper : numpy.ndarray
        The central interval of probability `level`, and the median.
    scale : str
        The scale that was asked for.
    level : float
        The probability of the interval.
    far : numpy.ndarray
        Rows far outside the data, which say more about the prior.
    """

    def __init__(self, posterior: Posterior, placed: Placed, asked: tuple[Any, ...], level: float,
                 data: Frame | None = None) -> None:
        self.level = _arrays.probability(level, "level")
        self._posterior, self._placed, self._asked, self._like = posterior, placed, asked, data
        scale, *more = asked
        self._told = posterior._posterior.predict(placed.made(), scale, self.level, *more)
        self._columns, self.scale = placed.columns, asked[0]
        self.mean = _arrays.received(self._told.mean)
        self.sd = _arrays.received(self._told.sd)
        self._ends, self._heavy = None, None

    def __reduce__(self):
        return Prediction, (self._posterior, self._placed, self._asked, self.level, self._like)

    def __repr__(self) -> str:
        return f"<Prediction of {len(self)} rows, scale {self.scale}, level {self.level:g}>"

    def _interval(self):
        if self._ends is None:
            *ends, self._heavy = self._told.interval(self.level)
            self._ends = [_arrays.received(end) for end in ends]
            if self._heavy is not None:
                # What is wrong with ends is told to whoever looks at them.
                warnings.warn(self._heavy, FitWarning, stacklevel=3)
        return self._ends

    @property
    def lower(self) -> Floats:
        """Lower ends of the interval."""
        return self._interval()[0]

    @property
    def median(self) -> Floats:
        """Medians."""
        return self._interval()[1]

    @property
    def upper(self) -> Floats:
        """Upper ends of the interval."""
        return self._interval()[2]

    @property
    def far(self) -> NDArray[np.intp]:
        """Rows far outside the data, counted from 0."""
        return np.array(self._told.far, dtype=np.intp)

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know; of the interval, once its ends were looked at."""
        return [*self._told.warnings, *([] if self._heavy is None else [self._heavy])]

    def cdf(self, y: Column) -> Floats:
        """The probability of at most `y`, one for every row or one for all."""
        return _arrays.received(self._told.cdf(self._limits(y, "y")))

    def log_probability(self, lower: Column | None, upper: Column | None) -> Floats:
        """The log probability of more than `lower` and at most `upper` in nats, for every row.

        Of values that are mixtures of normal distributions, as functions and their observations
        with normal noise are, it is right in far tails. Elsewhere it is the difference of two
        values of :meth:`cdf`, and not below -708.4, the log of the smallest number.

        Parameters
        ----------
        lower, upper : array_like, str or None
            One for every row or one for all; `None` or infinite where there is no end.
        """
        least = self._limits(-np.inf if lower is None else lower, "lower")
        most = self._limits(np.inf if upper is None else upper, "upper")
        wrong = np.flatnonzero(~(least <= most))
        if len(wrong):
            row = wrong[0]
            raise DataError(f"lower is {least[row]:g} and upper {most[row]:g} in row {row}; "
                            "lower must be at most upper")
        return _arrays.received(self._told.log_between(least, most))

    def log_density(self, y: Column) -> Floats:
        """The log predictive density of `y` in nats (of counts: log probability)."""
        return _arrays.received(self._told.log_density(self._limits(y, "y")))

    def draws(self, n: int, seed: int = 1) -> Floats:
        """Joint draws of all rows, shape ``(n, rows)``: one function for each draw."""
        n, seed = _arrays.whole(n, "n"), _arrays.whole(seed, "seed")
        return _arrays.received(self._told.draws(n, seed), n, len(self))

    def covariance(self) -> Floats:
        """The joint covariance of the latent values, shape ``(rows, rows)``."""
        return _arrays.received(self._told.covariance(), len(self), len(self))

    def _places(self):
        return self._columns

    def to_geodataframe(self) -> Any:
        """The same as a GeoDataFrame with the geometries, of a prediction of regions."""
        if self._placed.kind != "regions":
            raise DataError(f"the prediction is of {self._placed.kind}, which have no geometries; "
                            "predict at qd.region(..)")
        geopandas = _frames.module("geopandas", "to make a GeoDataFrame", "geo")
        shapes = geopandas.GeoSeries.from_wkb(self._placed.arguments[1],
                                              index=self._placed.index, crs=self._placed.crs)
        return geopandas.GeoDataFrame(self.to_dict(), index=shapes.index, geometry=shapes)

    def to_arviz(self, n: int = 1000, seed: int = 1, *, name: str = "f") -> Any:
        """Joint draws as ArviZ has them: InferenceData, or a DataTree from ArviZ 1 on.

        The draws are independent of each other: one chain, whose effective sample size is its
        length. Hyperparameters are not among them.

        Parameters
        ----------
        n, seed : int
            Number of draws, and their seed.
        name : str
            What the variable is called; its dimensions are ``chain``, ``draw`` and ``row``.
        """
        from . import _arviz
        return _arviz.inference_data(self, n, seed, name)

    def plot(self, ax: Any = None, *, what: str = "mean", **style: Any) -> Any:
        """Draws the prediction; needs matplotlib, maps geopandas too.

        Along one input it is a curve through points and steps over boxes, with its band; totals
        are divided by the lengths of their boxes. In a plane points and boxes are a surface, and
        regions a map; bags are rows of points with intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; a new figure where it is not given.
        what : {"mean", "median", "sd", "lower", "upper"}
            What is drawn, with the interval of `level` beside the first two.
        **style
            For the function of matplotlib or geopandas that draws it.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return _draw.prediction(self, ax, what, style)
