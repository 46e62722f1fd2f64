"""Densities of several groups side by side."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import _arrays, _draw, _groups
from ._density import Density
from ._errors import DataError, FitWarning

if TYPE_CHECKING:
    from typing import Any

    from ._types import Frame


def violins(frame: Frame, column: str | None = None, by: Any = None, ax: Any = None, *,
            horizontal: bool = False, width: float = 0.9, **settings: Any) -> Any:
    """Draws the densities of the groups of a column side by side; needs matplotlib.

    Each is drawn on both sides of its place, the ends of its band within and around it, with the
    quartiles as a line, and the median with its interval. All have one scale: equal areas are
    equal probabilities.

    Parameters
    ----------
    frame : data frame or dict
        Rows; or a dict of a :class:`Density` each by the names of the groups.
    column : str, optional
        The column of values.
    by : str, optional
        The column that tells the groups apart, which are drawn in the order in which they first
        appear; all rows are one group where it is not given.
    ax : matplotlib.axes.Axes, optional
        Where; a new figure where it is not given.
    horizontal : bool
        Whether values run to the right.
    width : float
        The width of the widest band, of the distance between two.
    **settings
        For :class:`Density`, such as ``bounds`` and ``weights``.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> random = np.random.default_rng(1)
    >>> rows = {"town": ["a"] * 50 + ["b"] * 80, "wait": random.gamma(2, size=130)}
    >>> ax = qd.violins(rows, "wait", by="town", bounds=(0, None))
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['a', 'b']
    """
    horizontal, width = _arrays.boolean(horizontal, "horizontal"), _arrays.number(width, "width")
    if not 0 < width < float("inf"):
        raise DataError(f"width is {width:g}; it must be above zero, such as 0.9")
    found = _densities(frame, column, by, settings)
    ax = _draw.axes(ax)
    highest = max(own.upper.max() for own in found.values())
    fill = ax.fill_between if horizontal else ax.fill_betweenx
    for at, own in enumerate(found.values()):
        # Far tails, which are lines on the axes, are left out of sight.
        seen = own.upper > 0.005 * own.density.max()
        middle, lower, upper = (width / 2 / highest * side[seen]
                                for side in (own.density, own.lower, own.upper))
        places, style = own.x[seen], {"color": f"C{at % 10}", "linewidth": 0}
        fill(places, at - upper, at + upper, alpha=0.25, **style)
        fill(places, at - middle, at + middle, alpha=0.45, **style)
        fill(places, at - lower, at + lower, alpha=0.45, **style)
        low, median, high = (own.quantile(p) for p in (0.25, 0.5, 0.75))
        quartiles = [low.value, high.value], [at, at]
        ax.plot(*(quartiles if horizontal else quartiles[::-1]), color="k", linewidth=0.8)
        ends = [[median.value - median.lower], [median.upper - median.value]]
        point = (median.value, at) if horizontal else (at, median.value)
        ax.errorbar([point[0]], [point[1]], fmt="o", color="k", markersize=4,
                    **{"xerr" if horizontal else "yerr": ends})
    names = [str(name) for name in found]
    ticks, limits = (ax.set_yticks, ax.set_ylim) if horizontal else (ax.set_xticks, ax.set_xlim)
    ticks(range(len(names)), names)
    limits(*((len(names) - 0.5, -0.5) if horizontal else (-0.5, len(names) - 0.5)))
    named = {"xlabel" if horizontal else "ylabel": column or "", "ylabel" if horizontal else
             "xlabel": by or ""}
    ax.set(**named)
    return ax


def _densities(frame, column, by, settings):
    """The density of every group."""
    if column is None:
        is_mapping = isinstance(frame, Mapping) and len(frame) > 0
        if not is_mapping or not all(isinstance(own, Density) for own in frame.values()):
            raise DataError("column is missing: name that of the values, or give a dict of "
                            "densities by name")
        if by is not None or settings:
            raise DataError(f"{'by' if by is not None else next(iter(settings))} is for rows, and "
                            "densities were given")
        return dict(frame)
    if by is None:
        return {column: _told(column, column, frame, settings)}
    found = {}
    for key, rows in _groups.groups(frame, by).items():
        found[key] = _told(column, f"{by} {key!r}", rows, settings)
    return found


def _told(column, name, rows, settings):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", FitWarning)
        try:
            found = Density(column, data=rows, **settings)
        except DataError as error:
            raise DataError(f"{name}: {error}", error.problems) from None
    for warning in told:
        text = f"{name}: {warning.message}" if warning.category is FitWarning else warning.message
        warnings.warn(text, warning.category, stacklevel=4)
    return found
