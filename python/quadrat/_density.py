"""Densities with bands, from values, counts in bins, and intervals."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _draw, _frames, _progress, _quadrat, _rows
from ._errors import DataError, FitWarning
from ._posterior import write
from ._told import Unchanging
from ._ungroup import Answer

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ._check import Check
    from ._types import Column, Ends, Floats, Frame, Path, Progress


class Density(Unchanging):
    """A density with its band.

    Parameters
    ----------
    x : array_like or str
        Values.
    bounds : pair of float or None, optional
        Beyond which no value can lie: ``(0, None)`` for amounts.
    weights : array_like or str, optional
        How many like each row were seen.
    range : pair of float, optional
        What the cells cover at open ends.
    cells : int
        Number of cells.
    log : bool
        Estimates on a logarithmic axis, for positive values of many sizes.
    level : float
        Probability of the bands.
    draws, seed : int
        Number of draws, and their seed.
    data : data frame, optional
        Where names of columns are looked up.
    progress : bool or callable, optional
        As for `Model.fit`.
    given
        Refused: densities given another column are a :class:`ConditionalDensity`.

    Attributes
    ----------
    x, edges : numpy.ndarray
        Middles and edges of the cells.
    density, lower, upper : numpy.ndarray
        The density in the cells, and its pointwise band.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> d = qd.Density(np.random.default_rng(1).exponential(size=200), bounds=(0, None))
    >>> d.quantile(0.5).lower < 0.69 < d.quantile(0.5).upper
    True
    """

    # The frame that the rows were columns of.
    _like = None

    def __init__(self, x: Column, *, bounds: Ends = (None, None), weights: Column | None = None,
                 range: Ends | None = None, cells: int = 400, log: bool = False,
                 level: float = 0.95, draws: int = 8000, seed: int = 1, data: Frame | None = None,
                 progress: Progress = None, given: Any = None) -> None:
        if given is not None:
            raise DataError("given asks for a density at every place of another column; use "
                            "qd.ConditionalDensity(x, given=..)")
        self._like = data = _frames.held(data)
        values = _arrays.column(x, "x", data)
        asked = settings(bounds, range, cells, log, level, draws, seed)
        weights = _arrays.optional(weights, "weights", data, len(values))
        self._estimate({"values": values, "lower": None, "upper": None, "weights": weights,
                        **asked}, named(x, "x"), progress)

    @classmethod
    def from_intervals(cls, lower: Column, upper: Column, *, bounds: Ends = (None, None),
                       weights: Column | None = None, range: Ends | None = None, cells: int = 400,
                       log: bool = False, level: float = 0.95, draws: int = 8000, seed: int = 1,
                       data: Frame | None = None, progress: Progress = None) -> Density:
        """From intervals that values lie in: rounded or censored ones; ends may be infinite."""
        made = cls.__new__(cls)
        made._like = data = _frames.held(data)
        starts = _arrays.column(lower, "lower", data)
        asked = settings(bounds, range, cells, log, level, draws, seed)
        made._estimate({
            "values": None, "lower": starts,
            "upper": _arrays.column(upper, "upper", data, len(starts)),
            "weights": _arrays.optional(weights, "weights", data, len(starts)), **asked}, "value",
            progress)
        return made

    @classmethod
    def from_bins(cls, lower: Column, upper: Column, count: Column, **settings: Any) -> Density:
        """From counts in bins, which may be unequal, overlap, and be open at the ends."""
        if count is None:
            raise DataError("count is missing; give how many lie in each bin")
        return cls.from_intervals(lower, upper, weights=count, **settings)

    def _estimate(self, asked, name, progress):
        rows = {name: asked[name] for name in ("values", "lower", "upper", "weights")}
        with _progress.listener(progress) as listen:
            told = _quadrat.density(asked, listen)
        self._take(told, asked["level"], rows, (name,))
        for warning in self._told.warnings:
            warnings.warn(warning, FitWarning, stacklevel=4)

    def _take(self, told, level, rows, names):
        self._told, self.level, self._rows, self._names = told, level, rows, names
        columns = {name: _arrays.received(own) for name, own in self._told.columns().items()}
        self.edges, self.x, self.density = (columns[n] for n in ("edges", "x", "density"))
        self.lower, self.upper = columns["lower"], columns["upper"]
        self._simultaneous = columns["simultaneous_lower"], columns["simultaneous_upper"]

    def __reduce__(self):
        return _restored, (self._told.to_bytes(), self.level, self._rows, self._names)

    def save(self, path: Path) -> None:
        """Writes a model file, which `load` and the program ``quadrat predict`` read.

        It has no rows, which a pickle keeps for plots; draws are made again by their seed.
        """
        write(path, self._told.to_model(self._names))

    def __repr__(self) -> str:
        return f"<Density on {len(self.x)} cells from {self.edges[0]:.4g} to {self.edges[-1]:.4g}>"

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know."""
        return self._told.warnings

    def evaluate(self, x: ArrayLike) -> Any:
        """The density at places; zero outside the cells, and nan where `x` is nan."""
        at = np.atleast_1d(_arrays.numbers(x, "x"))
        found = _arrays.received(self._told.evaluate(np.ascontiguousarray(at.ravel())))
        found = np.where(np.isnan(at.ravel()), np.nan, found)
        return found.reshape(at.shape) if np.ndim(x) else float(found[0])

    __call__ = evaluate

    def band(self, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends in the cells; of all cells together where `simultaneous`."""
        is_whole = _arrays.boolean(simultaneous, "simultaneous")
        return self._simultaneous if is_whole else (self.lower, self.upper)

    def cdf(self, x: float) -> Answer:
        """The probability of at most `x`, with its interval."""
        return Answer(*self._told.cdf(_arrays.limit(x, "x")))

    def quantile(self, p: float) -> Answer:
        """A quantile, with its interval; of 0 and 1 the ends of the cells."""
        p = _arrays.probability(p, "p", with_ends=True)
        return Answer(*self._told.quantile(p))

    def probability(self, start: float | None, end: float | None) -> Answer:
        """The probability between two places in either order, with its interval.

        `None` or infinite where there is no end.
        """
        return Answer(*self._told.probability(*_arrays.between(start, end)))

    def mean(self) -> Answer:
        """The mean, with its interval."""
        return Answer(*self._told.mean())

    def sd(self) -> Answer:
        """The standard deviation, with its interval."""
        return Answer(*self._told.sd())

    def modes(self) -> list[Any]:
        """Place, density and probability of every maximum."""
        return self._told.modes()

    def highest_density_region(self, probability: float) -> list[Any]:
        """The smallest intervals that hold a probability."""
        probability = _arrays.probability(probability, "probability", with_ends=True)
        return self._told.highest_density_region(probability)

    def draws(self, n: int, seed: int = 1) -> Floats:
        """Draws of the density in the cells, shape ``(n, cells)``."""
        n, seed = _arrays.whole(n, "n"), _arrays.whole(seed, "seed")
        return _arrays.received(self._told.draws(n, seed), n, len(self.x))

    def sample(self, n: int, seed: int = 1) -> Floats:
        """New values drawn from :attr:`density`: evenly within a cell, none outside of the cells.

        Of densities that are posterior means, as they mostly are, these are what the rows let
        expect of new ones: the posterior predictive distribution. How uncertain the density is
        can be told from :meth:`draws`.
        """
        n, seed = _arrays.whole(n, "n"), _arrays.whole(seed, "seed")
        return _arrays.received(self._told.new_values(n, seed))

    def check_by_mcmc(self, draws: int = 2000, seed: int = 1, *,
                      progress: Progress = None) -> Check:
        """The density beside draws from the posterior, as ``--check mcmc`` of the program has it.

        Parameters
        ----------
        draws, seed : int
            Draws of each of four chains, 100 to 50,000, and their seed.
        progress : bool or callable, optional
            As for `Model.fit`.

        Returns
        -------
        Check
            Log densities of the cells that hold 98 % of it.
        """
        from ._check import beside_draws
        return beside_draws(self._told, ("x",), draws, seed, progress)

    def plot(self, ax: Any = None, *, simultaneous: bool = False, rows: bool = True,
             **style: Any) -> Any:
        """Draws the density with its band, and what was seen of it; needs matplotlib.

        Values are ticks at the foot, or bars where they stand in bins that do not overlap.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; a new figure where it is not given.
        simultaneous : bool
            Whether the band is of all cells together.
        rows : bool
            Whether what was seen is drawn; a density that was read from a model file has no rows.
        **style
            For the curve.

        Returns
        -------
        matplotlib.axes.Axes
        """
        rows, band = _arrays.boolean(rows, "rows"), self.band(simultaneous)
        ax = _draw.axes(ax)
        style.setdefault("label", "density")
        _draw.curve(ax, self.x, self.density, band, self.level, **style)
        if rows and self._rows is not None:
            _rows.of_density(ax, **self._rows)
        # Far tails, which are flat on the axis, are left out of sight, but no value is.
        seen = np.flatnonzero(self.upper > 0.005 * self.density.max())
        ends = (np.inf, -np.inf) if self._rows is None else _rows.span(**self._rows)
        ax.set_xlim(min(self.edges[seen[0]], ends[0]), max(self.edges[seen[-1] + 1], ends[1]))
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False)
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Cells, density and band, column by column."""
        return {"x": self.x, "density": self.density, "lower": self.lower, "upper": self.upper}

    def to_frame(self) -> Any:
        """The same as a data frame: of the kind of the rows that were given, else of pandas."""
        return _frames.make(self.to_dict(), self._like, has_rows_of=False)


def _restored(data, level, rows, names=("x",)):
    made = Density.__new__(Density)
    made._take(_quadrat.DensityEstimate.from_bytes(data), level, rows, names)
    return made


def loaded(data):
    """The density of a model file, or those of its groups by name."""
    from . import _conditional, _plane
    kinds = {_quadrat.DensityEstimate: Density, _quadrat.PlaneEstimate: _plane.Density2d,
             _quadrat.GivenEstimate: _conditional.ConditionalDensity}
    parts, names, group, told = _quadrat.load_densities(data)
    found = {}
    for name, own in parts:
        kind = kinds[type(own)]
        made = kind.__new__(kind)
        log = () if kind is Density else (own.log,)
        made._take(own, own.level, None, *log, tuple(names))
        found[name] = made
    for warning in told:
        warnings.warn(warning, FitWarning, stacklevel=3)
    return next(iter(found.values())) if group is None else found


def named(column, name):
    """What a column is called: as in the data, else as the argument is."""
    return column if isinstance(column, str) else name


def settings(bounds, range, cells, log, level, draws, seed):
    """What all estimates are asked for, as the library takes it."""
    return {"bounds": pair(bounds, "bounds"),
            "range": None if range is None else pair(range, "range"),
            "cells": _arrays.whole(cells, "cells"), "log": _arrays.boolean(log, "log"),
            "level": _arrays.probability(level, "level"),
            "draws": _arrays.whole(draws, "draws"), "seed": _arrays.whole(seed, "seed")}


def pair(ends, name):
    """Two ends, infinite where they are open."""
    told = DataError(f"{name} must be a pair (lower, upper), None where there is none")
    try:
        lower, upper = ends
    except (TypeError, ValueError):
        raise told from None
    if np.ndim(lower) or np.ndim(upper):
        # A pair of pairs, as of two columns.
        raise told
    return (-np.inf if lower is None else _arrays.limit(lower, name),
            np.inf if upper is None else _arrays.limit(upper, name))
