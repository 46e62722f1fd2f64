"""Observed rows in pictures, as what they are: points, boxes, intervals, limits."""

from __future__ import annotations

import numpy as np

from . import _draw, _geometry

_GREY = "0.35"


def reach(tables, name):
    """The lowest and the highest place of all rows along an input, or `None` without rows."""
    ends = [end for table in tables if name in table.placed.dims for end in along(table, name)]
    found = np.concatenate(ends) if ends else np.empty(0)
    found = found[np.isfinite(found)]
    return (found.min(), found.max()) if len(found) else None


def along(table, name):
    """Lower and upper ends of every row along an input."""
    placed = table.placed
    at = placed.dims.index(name)
    if placed.kind == "bags":
        points, starts = placed.arguments[1][at], placed.arguments[3][:-1]
        return np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
    if placed.kind == "regions":
        if at < 2:
            ends = _geometry.ends(placed.arguments[1])
            return ends[at], ends[at + 2]
        first, second = (own[at - 2] for own in placed.arguments[2:4])
        return (first, first) if second is None else (first, second)
    lower, upper, _ = _draw.sides(placed)
    return lower[at], upper[at]


def heights(table, number, hyperparameters):
    """The lowest and the highest value that every row tells of the mean, or `None`.

    Totals are divided by the sizes of their supports and counts by exposures; both ends are equal
    where a row tells a value. `number` is the place of the table among those of the model, which
    names what was learned of it.
    """
    given = table.given
    share = 1 / table.size if table.placed.aggregate == "sum" else 1.0
    if table.likelihood == "positive":
        return None
    if table.likelihood == "ordinal":
        return _ranks(given, number, hyperparameters)
    if table.likelihood == "bernoulli":
        yes = (given["value"] > 0).astype(float)
        return yes, yes
    if table.likelihood == "binomial":
        successes = given["successes"] / given["trials"]
        return successes, successes
    if table.likelihood == "censored":
        lower, upper = _beyond(given)
    elif "lower" in given and table.likelihood != "truncated":
        lower, upper = given["lower"], given["upper"]
    else:
        lower = upper = given["count"] if "count" in given else given["value"]
    share = share / given["exposure"] if "exposure" in given else share
    return lower * share, upper * share


def _beyond(given):
    value = given["value"]
    if "side" in given:
        below, above = given["side"] < 0, given["side"] > 0
    else:
        below = value <= given["lower"] if "lower" in given else np.zeros(len(value), bool)
        above = value >= given["upper"] if "upper" in given else np.zeros(len(value), bool)
    return np.where(below, -np.inf, value), np.where(above, np.inf, value)


def _ranks(given, number, hyperparameters):
    thresholds = given.get("thresholds")
    if thresholds is None:
        tag = f"ordinal#{number + 1}" if number else "ordinal"
        first = hyperparameters.get(f"{tag}.threshold")
        if first is None:
            return None
        gaps, rank = [first], 2
        while (gap := hyperparameters.get(f"{tag}.gap.{rank}")) is not None:
            gaps.append(gap)
            rank += 1
        thresholds = np.cumsum(gaps)
    edges = np.concatenate([[-np.inf], thresholds, [np.inf]])
    rank = given["rank"].astype(int)
    return edges[rank - 1], edges[rank]


def draw(ax, table, number, name, hyperparameters, label):
    """The rows of a table along one input; whether there was anything to draw."""
    told = heights(table, number, hyperparameters)
    if told is None:
        return False
    start, end = along(table, name)
    start, end = np.minimum(start, end), np.maximum(start, end)
    low, high = told
    exact, wide = low == high, end > start
    at, style = (start + end) / 2, {"color": _GREY, "zorder": 1.5}
    points, boxes = exact & ~wide, exact & wide
    if points.any():
        ax.plot(at[points], low[points], "o", markersize=4, label=label, **style)
    if boxes.any() and table.placed.aggregate == "sum":
        bars(ax, start[boxes], end[boxes], low[boxes], label)
    elif boxes.any():
        ax.hlines(low[boxes], start[boxes], end[boxes], linewidth=2, label=label, **style)
    both = ~exact & np.isfinite(low) & np.isfinite(high)
    if (both & wide).any():
        own = both & wide
        ax.bar(start[own], (high - low)[own], width=(end - start)[own], bottom=low[own],
               align="edge", label=label, facecolor="none", edgecolor=_GREY, zorder=1.5)
    if (both & ~wide).any():
        own = both & ~wide
        ax.vlines(at[own], low[own], high[own], linewidth=2, alpha=0.6, label=label, **style)
    for own, limit, marker, side in ((np.isneginf(low) & np.isfinite(high), high, "v", "below"),
                                     (np.isposinf(high) & np.isfinite(low), low, "^", "above")):
        if own.any():
            ax.plot(at[own], limit[own], marker, label=f"{label}: {side}", markersize=6,
                    fillstyle="none", **style)
            ax.hlines(limit[own], start[own], end[own], linewidth=1, **style)
    return True


def bars(ax, start, end, height, label):
    """Bars from the foot, behind all else."""
    ax.bar(start, height, width=end - start, align="edge", label=label, facecolor="0.92",
           edgecolor="0.65", zorder=0.5)


def span(values, lower, upper, **rest):
    """The lowest and the highest finite number that was seen of a density."""
    found = np.concatenate([own for own in (values, lower, upper) if own is not None])
    found = found[np.isfinite(found)]
    return (found.min(), found.max()) if len(found) else (np.inf, -np.inf)


def of_density(ax, values, lower, upper, weights):
    """What was seen of a density: ticks of values, bars of bins, else lines of intervals."""
    if values is None:
        exact = lower == upper
        values, bins = lower[exact], ~exact & np.isfinite(lower) & np.isfinite(upper)
        total = len(lower) if weights is None else weights.sum()
        count = np.ones(len(lower)) if weights is None else weights
        order = np.argsort(lower[bins], kind="stable")
        start, end = lower[bins][order], upper[bins][order]
        if np.all(end[:-1] <= start[1:]) and len(start):
            bars(ax, start, end, count[bins][order] / (total * (end - start)), "bins")
        elif len(start):
            # Intervals that overlap have no heights of their own.
            at = np.linspace(0.02, 0.2, len(start))
            ax.hlines(at, start, end, linewidth=0.8, color=_GREY, label="intervals",
                      transform=ax.get_xaxis_transform())
    if len(values):
        ax.plot(values, np.zeros(len(values)), "|", color=_GREY, markersize=8, alpha=0.5,
                label="values", clip_on=False)


def of_plane(ax, x, y, x_upper, y_upper, areas=None):
    """What was seen of two columns: dots of values, outlines of areas and of closed boxes."""
    if areas is not None:
        _rings(ax, areas)
        return
    if x_upper is None:
        ax.plot(x, y, ".", color=_GREY, markersize=3, alpha=0.5, label="values")
        return
    for a, b, c, d in zip(x, x_upper, y, y_upper):
        if np.all(np.isfinite([a, b, c, d])):
            ax.plot([a, b, b, a, a], [c, c, d, d, c], color=_GREY, linewidth=0.7)


def outlines(ax, table, names):
    """Where the rows of a table look, in a plane."""
    placed, style = table.placed, {"color": _GREY, "linewidth": 0.7}
    if not set(names) <= set(placed.dims):
        return
    if placed.kind == "regions" and names == placed.dims[:2]:
        _rings(ax, placed.arguments[1])
        ax.set_aspect("equal")
        return
    if placed.kind == "bags":
        at = [placed.arguments[1][placed.dims.index(name)] for name in names]
        ax.plot(*at, ".", color=_GREY, markersize=2)
        return
    (left, right), (low, high) = (along(table, name) for name in names)
    is_box = (right > left) | (high > low)
    ax.plot(left[~is_box], low[~is_box], ".", color=_GREY, markersize=4)
    for a, b, c, d in zip(left[is_box], right[is_box], low[is_box], high[is_box]):
        ax.plot([a, b, b, a, a], [c, c, d, d, c], **style)


def _rings(ax, regions):
    for ring in (ring for one in regions for ring in _geometry.rings(one)):
        ax.plot(*zip(*ring, ring[0]), color=_GREY, linewidth=0.7)
