"""Pictures on axes of matplotlib: curves with bands, steps, surfaces and maps."""

from __future__ import annotations

import numpy as np

from . import _frames
from ._errors import DataError

_BAND = 0.25


def axes(ax=None):
    """The axes that were given, else those of a new figure."""
    if ax is not None:
        return ax
    return _frames.module("matplotlib.pyplot", "to draw", "plot").subplots()[1]


def curve(ax, x, middle, band=None, level=0.95, **style):
    """A curve, within its band where there is one."""
    style.setdefault("label", "mean")
    (line,) = ax.plot(x, middle, **style)
    if band is not None:
        ax.fill_between(x, *band, color=line.get_color(), alpha=_BAND, linewidth=0,
                        label=f"{100 * level:g} % interval")


def steps(ax, first, second, middle, band=None, level=0.95, **style):
    """A step for each cell, within its band where there is one; cells need not adjoin."""
    order = np.argsort(first, kind="stable")
    first, second = first[order], second[order]
    # Between cells that do not adjoin nothing is drawn.
    gaps = 2 * (np.flatnonzero(first[1:] > second[:-1]) + 1)

    def risers(lefts, rights):
        return np.insert(_paired(lefts, rights), gaps, np.nan)

    def level_lines(own):
        return risers(own[order], own[order])

    band = None if band is None else [level_lines(own) for own in band]
    curve(ax, risers(first, second), level_lines(middle), band, level, **style)


def _paired(first, second):
    return np.stack([first, second], axis=1).ravel()


def forest(ax, keys, middle, lower, upper, level, **style):
    """A point within its interval for each key, the first on top."""
    at = np.arange(len(keys))
    style.setdefault("fmt", "o")
    style.setdefault("label", f"mean, {100 * level:g} % interval")
    # A mean may lie outside a narrow interval of a skewed distribution.
    ends = np.maximum([middle - lower, upper - middle], 0)
    ax.errorbar(middle, at, xerr=ends, **style)
    ax.set_yticks(at, [str(key) for key in keys])
    ax.set_ylim(len(keys) - 0.5, -0.5)
    return ax


def surface(ax, x, y, value, label, **style):
    """Values at points of a plane: an image where the points are a grid, else dots."""
    columns, rows = np.unique(x), np.unique(y)
    if len(columns) * len(rows) == len(value) > 1:
        image = np.full((len(rows), len(columns)), np.nan)
        image[np.searchsorted(rows, y), np.searchsorted(columns, x)] = value
        drawn = ax.pcolormesh(columns, rows, image, shading="nearest", **style)
    else:
        drawn = ax.scatter(x, y, c=value, **style)
    ax.figure.colorbar(drawn, ax=ax, label=label)
    return ax


def rectangles(ax, x, y, value, label, **style):
    """A filled rectangle for each box of a plane, coloured by its value."""
    collections = _frames.module("matplotlib.collections", "to draw", "plot")
    corners = np.stack([np.stack([x[0], x[1], x[1], x[0]], axis=1),
                        np.stack([y[0], y[0], y[1], y[1]], axis=1)], axis=2)
    drawn = collections.PolyCollection(corners, array=value, **style)
    ax.add_collection(drawn)
    ax.autoscale_view()
    ax.figure.colorbar(drawn, ax=ax, label=label)
    return ax


def prediction(told, ax, what, style):
    """A prediction as what its support is."""
    numbers = ("mean", "sd", "lower", "median", "upper")
    if what not in numbers:
        raise DataError(f"what is {what!r}; it must be one of {', '.join(numbers)}")
    placed, value = told._placed, getattr(told, what)
    if placed.kind == "regions":
        return _map(told, axes(ax), what, style)
    if placed.kind == "bags":
        return forest(axes(ax), placed.columns["key"], value, told.lower, told.upper,
                      told.level, **style)
    if len(placed.dims) > 2:
        raise DataError(f"a prediction over {len(placed.dims)} inputs has no picture; predict "
                        "along one or two, or draw what to_frame() gives")
    lower, upper, share = sides(placed)
    ax = axes(ax)
    if len(placed.dims) == 2:
        ax.set(xlabel=placed.dims[0], ylabel=placed.dims[1])
        if placed.kind == "points":
            return surface(ax, *lower, value, what, **style)
        label = f"{what} per area" if placed.aggregate == "sum" else what
        return rectangles(ax, *zip(lower, upper), value * share, label, **style)
    (name,) = placed.dims
    ax.set(xlabel=name, ylabel=f"per unit of {name}" if placed.aggregate == "sum" else told.scale)
    band = (told.lower * share, told.upper * share) if what in ("mean", "median") else None
    style.setdefault("label", what)
    if placed.kind == "points":
        order = np.argsort(lower[0], kind="stable")
        band = band and [own[order] for own in band]
        curve(ax, lower[0][order], value[order], band, told.level, **style)
    else:
        steps(ax, lower[0], upper[0], value * share, band, told.level, **style)
    return ax


def sides(placed):
    """Lower and upper edges along every input, and what makes a total a height."""
    if placed.kind == "points":
        return placed.arguments[1], placed.arguments[1], 1.0
    first, second = placed.arguments[1:3]
    ends = [(one, one) if other is None else (np.minimum(one, other), np.maximum(one, other))
            for one, other in zip(first, second)]
    lower, upper = [list(own) for own in zip(*ends)]
    if placed.aggregate != "sum":
        return lower, upper, 1.0
    with np.errstate(divide="ignore"):
        size = np.frombuffer(placed.made().size, dtype=np.float64)
        return lower, upper, np.where(size > 0, 1 / size, np.nan)


def _map(told, ax, what, style):
    geo = told.to_geodataframe()
    style.setdefault("legend", True)
    style.setdefault("legend_kwds", {"label": what})
    x, y = told._placed.dims[:2]
    ax.set(xlabel=x, ylabel=y)
    return geo.plot(column=what, ax=ax, **style)
