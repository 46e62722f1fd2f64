"""Densities of one column given another, with bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _arrays, _draw, _quadrat, _rows
from ._density import named, pair, settings
from ._errors import DataError
from ._plane import _Cells, _two
from ._study import Table
from ._ungroup import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import ArrayLike

    from ._types import Column, Ends, Frame, Progress


class ConditionalDensity(_Cells):
    """The densities of one column given another, with their bands.

    At every place of the given column there is a density of the values; nearby ones are alike.
    Arrays over the cells have the shape ``(slices, cells)``.

    Parameters
    ----------
    y : array_like or str
        Values whose densities are told.
    given : array_like or str
        The column that they are given.
    bounds : pair of float or None, optional
        Beyond which no value of `y` can lie.
    weights : array_like or str, optional
        How many like each row were seen.
    range, given_range : pair of float, optional
        What the cells of the values, and the slices of the given column, cover.
    cells : pair of int, optional
        Numbers of slices and of cells.
    log, given_log : bool
        Estimates on logarithmic axes.
    level, draws, seed, data, progress
        As for :class:`Density2d`.

    Attributes
    ----------
    given, y : numpy.ndarray
        Middles of the slices, and of the cells of the values.
    edges : pair of numpy.ndarray
        Their edges.
    density, lower, upper, density_sd : numpy.ndarray
        The densities in the cells, their pointwise bands and standard deviations.
    totals : numpy.ndarray
        The weight of the rows of each slice; where it is zero the prior fills in.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> random = np.random.default_rng(1)
    >>> t = random.uniform(size=300)
    >>> d = qd.ConditionalDensity(3 * t + 0.5 * random.normal(size=300), given=t,
    ...                           cells=(20, 60), draws=2000)
    >>> median = d.quantile(0.5, given=0.5)
    >>> bool(median.lower < 1.5 < median.upper)
    True
    >>> d.quantile(0.9)
    <Table of 20 rows: given, value, lower, upper>
    """

    _axes = "given", "y"

    def __init__(self, y: Column, given: Column, *, bounds: Ends = (None, None),
                 weights: Column | None = None, range: Ends | None = None,
                 given_range: Ends | None = None, cells: tuple[int, int] | None = None,
                 log: bool = False, given_log: bool = False, level: float = 0.95, draws: int = 8000,
                 seed: int = 1, data: Frame | None = None, progress: Progress = None) -> None:
        values = _arrays.column(y, "y", data)
        known = _arrays.column(given, "given", data, len(values))
        asked = settings(bounds, range, 0, log, level, draws, seed)
        asked["log"] = _arrays.boolean(given_log, "given_log"), asked["log"]
        asked["cells"] = None if cells is None else tuple(
            _arrays.whole(own, "cells", 1) for own in _two(cells, "cells", "(slices, cells)"))
        asked["given_range"] = None if given_range is None else pair(given_range, "given_range")
        asked["weights"] = _arrays.optional(weights, "weights", data, len(values))
        rows = {"x": known, "y": values, "x_upper": None, "y_upper": None}
        asked.update(given=known, values=values)
        names = (named(given, "given"), named(y, "y"))
        self._estimate(_quadrat.density_given, asked, rows, names, stacklevel=3,
                       progress=progress)

    def _take(self, *told):
        found = super()._take(*told)
        self.given, self.y = self._places
        self.totals = found["totals"]

    def __repr__(self) -> str:
        (slices, cells), ends = self.shape, self.edges[0]
        return (f"<ConditionalDensity on {cells} cells in {slices} slices from {ends[0]:.4g} to "
                f"{ends[-1]:.4g}>")

    def evaluate(self, y: ArrayLike, given: ArrayLike) -> Any:
        """The density of `y` given places; zero outside the cells, nan where one of both is."""
        return self._evaluated(given, y, ("given", "y"))

    __call__ = evaluate

    def quantile(self, p: float, given: float | None = None) -> Any:
        """A quantile with its interval: at a place, or of all slices as a :class:`Table`."""
        return self._number("quantile", given, _arrays.probability(p, "p", with_ends=True))

    def mean(self, given: float | None = None) -> Any:
        """The mean with its interval: at a place, or of all slices as a :class:`Table`."""
        return self._number("mean", given)

    def sd(self, given: float | None = None) -> Any:
        """The standard deviation with its interval: at a place, or of all slices."""
        return self._number("sd", given)

    def probability(self, start: float | None, end: float | None,
                    given: float | None = None) -> Any:
        """The probability between two values in either order, with its interval.

        At a place, or of all slices. `None` or infinite where there is no end.
        """
        return self._number("probability", given, _arrays.between(start, end))

    def _number(self, name, given, *asked):
        if given is not None:
            told = getattr(self._told, name)(_arrays.limit(given, "given"), *asked)
            return Answer(*told)
        told = getattr(self._told, f"{name}_curve")(*asked)
        names = ("given", "value", "lower", "upper")
        return Table({name: _arrays.received(own) for name, own in zip(names, told)})

    def highest_density_region(self, probability: float, given: float) -> Any:
        """The smallest intervals of values that hold a probability at a place."""
        given = _arrays.limit(given, "given")
        probability = _arrays.probability(probability, "probability", with_ends=True)
        found = self._told.highest_density_region(given, probability)
        if found is None:
            raise DataError(f"given is {given}, outside of the slices from {self.edges[0][0]} to "
                            f"{self.edges[0][-1]}; widen them by given_range")
        return found

    def plot(self, ax: Any = None, *, quantiles: Sequence[float] = (0.05, 0.5, 0.95),
             surface: bool = False, rows: bool = True, **style: Any) -> Any:
        """Draws quantiles along the given column with their bands; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; a new figure where it is not given.
        quantiles : sequence of float
            Which.
        surface : bool
            Whether the densities are drawn behind them.
        rows : bool
            Whether the rows are drawn, as dots.
        **style
            For the curves; for ``pcolormesh`` where there is a surface.

        Returns
        -------
        matplotlib.axes.Axes
        """
        names, rows = ("given", "y"), _arrays.boolean(rows, "rows")
        surface = _arrays.boolean(surface, "surface")
        ax = self._surface(ax, rows, names, style) if surface else _draw.axes(ax)
        style = {"color": "w"} if surface else style
        for p in quantiles:
            told = self.quantile(p)
            band = None if surface else (told["lower"], told["upper"])
            _draw.curve(ax, told["given"], told["value"], band, self.level,
                        **{"label": f"{100 * p:g} %", **style})
            if band is not None and p != quantiles[0]:
                # One line of the legend for all bands.
                ax.collections[-1].set_label("_band")
        if not surface:
            if rows and self._rows is not None:
                _rows.of_plane(ax, **self._rows)
            self._dress(ax, names)
            ax.legend(frameon=False)
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Slices, cells, density and band, column by column, ``y`` running fastest."""
        return self._columns("given", "y")
