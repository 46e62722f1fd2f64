"""Densities of two columns, with bands, and what those of one given another share with them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import _arrays, _draw, _frames, _geometry, _progress, _quadrat, _rows
from ._density import named, pair
from ._errors import DataError, FitWarning
from ._posterior import write
from ._study import Table
from ._told import Unchanging
from ._ungroup import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ._check import Check
    from ._types import Column, Ends, Floats, Frame, Path, Progress


class Moments(NamedTuple):
    """Means and standard deviations of both columns, their covariance and correlation."""

    mean: tuple[Answer, Answer]
    sd: tuple[Answer, Answer]
    covariance: Answer
    correlation: Answer


class Region(NamedTuple):
    """The smallest density within a region, whether each cell is within, and its probability."""

    density: float
    cells: NDArray[np.bool_]
    probability: Answer


class _Cells(Unchanging):
    """Densities in the cells of a plane."""

    _axes = "x", "y"

    def _estimate(self, estimate, asked, rows, names, stacklevel, progress):
        with _progress.listener(progress) as listen:
            told = estimate({**rows, **asked}, listen)
        self._take(told, asked["level"], rows, asked["log"], names)
        for warning in self._told.warnings:
            warnings.warn(warning, FitWarning, stacklevel=stacklevel)

    def _take(self, told, level, rows, log, names):
        self._told, self.level, self._rows, self._log = told, level, rows, log
        self._names = names
        found = {name: _arrays.received(own) for name, own in told.columns().items()}
        self.edges = found["x_edges"], found["y_edges"]
        self._places = found["x"], found["y"]
        self.density, self.lower, self.upper, self.density_sd = (
            found[name].reshape(self.shape) for name in ("density", "lower", "upper", "sd"))
        return found

    def __reduce__(self):
        return _restored, (type(self), self._told.to_bytes(), self.level, self._rows, self._log,
                           self._names)

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
        return beside_draws(self._told, self._axes, draws, seed, progress)

    def save(self, path: Path) -> None:
        """Writes a model file, which `load` and the program ``quadrat predict`` read.

        It has no rows, which a pickle keeps for plots; draws are made again by their seed.
        """
        write(path, self._told.to_model(self._names))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of cells along both axes."""
        return len(self._places[0]), len(self._places[1])

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know."""
        return self._told.warnings

    def band(self, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends in the cells; of all cells together where `simultaneous`."""
        if not _arrays.boolean(simultaneous, "simultaneous"):
            return self.lower, self.upper
        return tuple(_arrays.received(end, *self.shape) for end in self._told.simultaneous())

    def draws(self, n: int, seed: int = 1) -> Floats:
        """Draws of the density in the cells, shape ``(n, *shape)``."""
        n, seed = _arrays.whole(n, "n"), _arrays.whole(seed, "seed")
        return _arrays.received(self._told.draws(n, seed), n, *self.shape)

    def _evaluated(self, first, second, names):
        at = [_arrays.numbers(own, name) for own, name in zip((first, second), names)]
        try:
            at = np.broadcast_arrays(*at)
        except ValueError:
            raise DataError(f"{names[0]} has the shape {at[0].shape}, and {names[1]} has "
                            f"{at[1].shape}; give one of both for each place") from None
        columns = [np.ascontiguousarray(own.ravel()) for own in at]
        found = _arrays.received(self._told.evaluate(*columns))
        found = np.where(np.isnan(columns[0]) | np.isnan(columns[1]), np.nan, found)
        return found.reshape(at[0].shape) if at[0].ndim else float(found[0])

    def _columns(self, first, second):
        along = np.meshgrid(*self._places, indexing="ij")
        places = {name: own.ravel() for name, own in zip((first, second), along)}
        numbers = ("density", "lower", "upper")
        return {**places, **{name: getattr(self, name).ravel() for name in numbers}}

    def to_dict(self) -> dict[str, Any]:
        """Cells, density and band, column by column, ``y`` running fastest."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The columns of :meth:`to_dict` as a data frame of pandas."""
        return _frames.make(self.to_dict())

    def _surface(self, ax, rows, names, style):
        ax = _draw.axes(ax)
        style.setdefault("shading", "flat")
        drawn = ax.pcolormesh(*self.edges, self.density.T, **style)
        ax.figure.colorbar(drawn, ax=ax, label="density")
        if rows and self._rows is not None:
            _rows.of_plane(ax, **self._rows)
        self._dress(ax, names)
        self._cut(ax)
        return ax

    def _cut(self, ax):
        """Leaves far tails, which are flat, out of sight, but no row."""
        seen = self.density > 0.005 * self.density.max()
        for axis, limit in enumerate((ax.set_xlim, ax.set_ylim)):
            at, edges = np.flatnonzero(seen.any(axis=1 - axis)), self.edges[axis]
            ends = np.empty(0)
            if self._rows is not None:
                own = [self._rows["xy"[axis]], self._rows["xy"[axis] + "_upper"]]
                ends = np.concatenate([one for one in own if one is not None])
                ends = ends[np.isfinite(ends)].clip(edges[0], edges[-1])
            ends = np.append(ends, edges[[at[0], at[-1] + 1]])
            limit(ends.min(), ends.max())

    def _dress(self, ax, names):
        ax.set(xlabel=names[0], ylabel=names[1])
        for log, scale in zip(self._log, (ax.set_xscale, ax.set_yscale)):
            if log:
                scale("log")


class Density2d(_Cells):
    """The density of two columns with its band.

    Arrays over the cells have the shape ``(x cells, y cells)``.

    Parameters
    ----------
    x, y : array_like or str
        Values.
    bounds : pair, optional
        Of each column a pair beyond which no value can lie, or `None`: ``((0, None), None)``.
    inside : geometries, optional
        Polygons outside of which no value can lie, such as land: as for :func:`region`.
    weights : array_like or str, optional
        How many like each row were seen.
    range : pair, optional
        Of each column a pair that the cells cover at open ends, or `None`.
    cells : int or pair of int
        Number of cells along each axis.
    log : bool or pair of bool
        Estimates on logarithmic axes, for positive values of many sizes.
    level : float
        Probability of the bands.
    draws, seed : int
        Number of draws, and their seed.
    data : data frame, optional
        Where names of columns are looked up.
    progress : bool or callable, optional
        As for `Model.fit`.

    Attributes
    ----------
    x, y : numpy.ndarray
        Middles of the cells along each axis.
    edges : pair of numpy.ndarray
        Edges of the cells along each axis.
    density, lower, upper, density_sd : numpy.ndarray
        The density in the cells, its pointwise band and its standard deviation.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> x, noise = np.random.default_rng(1).normal(size=(2, 300))
    >>> d = qd.Density2d(x, 0.8 * x + 0.6 * noise, cells=30, draws=2000)
    >>> told = d.moments().correlation
    >>> bool(told.lower < 0.8 < told.upper)
    True
    >>> quarter = d.probability((0, None), (0, None))    # 1/4 + asin(0.8) / (2 pi) = 0.398
    >>> bool(quarter.lower < 0.398 < quarter.upper)
    True
    """

    def __init__(self, x: Column, y: Column, *, bounds: Any = None, inside: Any = None,
                 weights: Column | None = None, range: Any = None,
                 cells: int | tuple[int, int] = 60, log: bool | tuple[bool, bool] = False,
                 level: float = 0.95, draws: int = 8000, seed: int = 1,
                 data: Frame | None = None, progress: Progress = None) -> None:
        first = _arrays.column(x, "x", data)
        second = _arrays.column(y, "y", data, len(first))
        self._ask(first, second, None, None,
                  _arrays.optional(weights, "weights", data, len(first)),
                  _settings(bounds, inside, range, cells, log, level, draws, seed),
                  (named(x, "x"), named(y, "y")), progress=progress)

    @classmethod
    def from_bins(cls, x: tuple[Column, Column], y: tuple[Column, Column], count: Column, *,
                  bounds: Any = None, inside: Any = None, range: Any = None,
                  cells: int | tuple[int, int] = 60, log: bool | tuple[bool, bool] = False,
                  level: float = 0.95, draws: int = 8000, seed: int = 1,
                  data: Frame | None = None, progress: Progress = None) -> Density2d:
        """From counts in boxes, which may be unequal, overlap, and be open at the ends.

        Parameters
        ----------
        x, y : pair of array_like or str
            Lower and upper ends of the boxes.
        count : array_like or str
            How many lie in each.
        """
        made = cls.__new__(cls)
        ends = []
        for own, name in ((x, "x"), (y, "y")):
            lower, upper = _two(own, name, "(lower, upper)")
            ends.append(_arrays.column(lower, f"lower ends of {name}", data))
            ends.append(_arrays.column(upper, f"upper ends of {name}", data, len(ends[0])))
        if len(ends[2]) != len(ends[0]):
            raise DataError(f"x has {len(ends[0])} boxes, and y has {len(ends[2])}")
        made._ask(ends[0], ends[2], ends[1], ends[3],
                  _arrays.column(count, "count", data, len(ends[0])),
                  _settings(bounds, inside, range, cells, log, level, draws, seed),
                  progress=progress)
        return made

    @classmethod
    def from_areas(cls, areas: Any, count: Column, *, bounds: Any = None, inside: Any = None,
                   range: Any = None, cells: int | tuple[int, int] = 60,
                   log: bool | tuple[bool, bool] = False, level: float = 0.95, draws: int = 8000,
                   seed: int = 1, data: Frame | None = None,
                   progress: Progress = None) -> Density2d:
        """From counts in areas with any outline, such as districts, which may overlap.

        The density is zero outside of all areas, unless `inside` says where else values can be.

        Parameters
        ----------
        areas : geometries
            As for :func:`region`.
        count : array_like or str
            How many lie in each.
        """
        made = cls.__new__(cls)
        areas = _geometry.planar_regions(areas, "areas")
        if not areas:
            raise DataError("areas: give at least two polygons")
        x, y, x_upper, y_upper = _geometry.ends(areas, "areas")
        made._ask(x, y, x_upper, y_upper, _arrays.column(count, "count", data, len(areas)),
                  _settings(bounds, inside, range, cells, log, level, draws, seed), areas=areas,
                  progress=progress)
        return made

    def _ask(self, x, y, x_upper, y_upper, weights, asked, names=("x", "y"), areas=None,
             progress=None):
        rows = {"x": x, "y": y, "x_upper": x_upper, "y_upper": y_upper, "areas": areas}
        self._estimate(_quadrat.density2d, {"weights": weights, **asked}, rows, names,
                       stacklevel=4, progress=progress)

    def _take(self, *told):
        super()._take(*told)
        self.x, self.y = self._places

    def __repr__(self) -> str:
        (a, b), ends = self.shape, [(own[0], own[-1]) for own in self.edges]
        told = " and ".join(f"{first:.4g} to {last:.4g}" for first, last in ends)
        return f"<Density2d on {a} x {b} cells from {told}>"

    def evaluate(self, x: ArrayLike, y: ArrayLike) -> Any:
        """The density at places; zero outside the cells, and nan where one of both is nan."""
        return self._evaluated(x, y, ("x", "y"))

    __call__ = evaluate

    def probability(self, x: Ends | None = None, y: Ends | None = None) -> Answer:
        """The probability of a rectangle, with its interval.

        Parameters
        ----------
        x, y : pair of float or None, optional
            Its sides, whose ends come in either order, `None` where they are open.
        """
        sides = [(-np.inf, np.inf) if own is None else tuple(sorted(pair(own, name)))
                 for own, name in ((x, "x"), (y, "y"))]
        return Answer(*self._told.probability(*sides))

    def marginal(self, axis: str) -> Any:
        """The density of one column with its band: a :class:`Table`.

        Parameters
        ----------
        axis : {"x", "y"}
            Which.
        """
        if axis not in ("x", "y"):
            raise DataError(f"axis is {axis!r}; it must be \"x\" or \"y\"")
        told = self._told.marginal("xy".index(axis))
        names = (axis, "density", "lower", "upper")
        return Table({name: _arrays.received(own) for name, own in zip(names, told)})

    def moments(self) -> Moments:
        """Moments within the range of the cells, with their intervals.

        Returns
        -------
        Moments
            ``mean`` and ``sd``, each of both columns, ``covariance`` and ``correlation``.
        """
        told = [Answer(*one) for one in self._told.moments()]
        return Moments((told[0], told[1]), (told[2], told[3]), told[4], told[5])

    def highest_density_region(self, probability: float) -> Region:
        """The smallest region of cells that holds a probability.

        Returns
        -------
        Region
            ``density``, the smallest within; ``cells``, whether each is within; and
            ``probability`` with its interval.
        """
        probability = _arrays.probability(probability, "probability", with_ends=True)
        density, cells, told = self._told.highest_density_region(probability)
        return Region(density, np.array(cells).reshape(self.shape), Answer(*told))

    def plot(self, ax: Any = None, *, regions: Sequence[float] = (0.5, 0.9), rows: bool = True,
             **style: Any) -> Any:
        """Draws the density as a surface with lines about regions; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; a new figure where it is not given.
        regions : sequence of float
            Probabilities of the regions of highest density that lines are drawn about.
        rows : bool
            Whether what was seen is drawn: dots of values, outlines of boxes and areas.
        **style
            For ``pcolormesh``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = self._surface(ax, _arrays.boolean(rows, "rows"), ("x", "y"), style)
        levels = {self.highest_density_region(one).density: one for one in regions}
        if levels:
            lines = ax.contour(self.x, self.y, self.density.T, levels=sorted(levels), colors="w",
                               linewidths=1)
            ax.clabel(lines, fmt={level: f"{100 * levels[level]:g} %" for level in lines.levels})
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Cells, density and band, column by column, ``y`` running fastest."""
        return self._columns("x", "y")


def __getattr__(name):
    # Pickles written when conditional densities were in this module look for them here.
    if name == "ConditionalDensity":
        from ._conditional import ConditionalDensity
        return ConditionalDensity
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _restored(kind, data, level, rows, log, names=("x", "y")):
    made = kind.__new__(kind)
    binding = _quadrat.PlaneEstimate if kind is Density2d else _quadrat.GivenEstimate
    made._take(binding.from_bytes(data), level, rows, log, names)
    return made


def _settings(bounds, inside, range, cells, log, level, draws, seed):
    bounds = None if bounds is None else [
        (-np.inf, np.inf) if own is None else pair(own, f"bounds of {name}")
        for own, name in zip(_two(bounds, "bounds", "(of x, of y)"), "xy")]
    range = (None, None) if range is None else [
        None if own is None else pair(own, f"range of {name}")
        for own, name in zip(_two(range, "range", "(of x, of y)"), "xy")]
    is_pair = isinstance(cells, (tuple, list, np.ndarray))
    cells = _two(cells, "cells", "(along x, along y)") if is_pair else (cells, cells)
    log = _two(log, "log", "(of x, of y)") if isinstance(log, (tuple, list)) else (log, log)
    return {"bounds": bounds, "range": list(range),
            "inside": None if inside is None else _geometry.planar_regions(inside, "inside"),
            "cells": tuple(_arrays.whole(own, "cells", 1) for own in cells),
            "log": tuple(_arrays.boolean(own, "log") for own in log),
            "level": _arrays.probability(level, "level"),
            "draws": _arrays.whole(draws, "draws"), "seed": _arrays.whole(seed, "seed")}


def _two(ends, name, what):
    try:
        first, second = ends
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a pair {what}") from None
    return first, second
