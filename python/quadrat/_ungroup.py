"""Counts in bands become counts, or rates, in single years or in any steps."""

from __future__ import annotations

import warnings
from collections import namedtuple

import numpy as np

from . import _arrays, _draw, _frames, _quadrat, _rows
from ._errors import DataError, FitWarning

#: A number with its interval.
Answer = namedtuple("Answer", ["value", "lower", "upper"])


class Ungrouped:
    """Counts or rates in steps, with intervals; every draw of counts adds up to the bands.

    A pickle keeps the bands, and ungroups them anew.

    Attributes
    ----------
    start, end : numpy.ndarray
        Edges of the steps.
    mean, sd, lower, median, upper : numpy.ndarray
        What is told of each.
    is_rate : bool
        Whether these are rates.
    """

    def __init__(self, asked):
        self._asked, self._told = asked, _quadrat.ungroup(asked)
        self.is_rate, self.level = asked["exposure"] is not None, asked["level"]
        columns = {name: _arrays.received(own) for name, own in self._told.columns().items()}
        self.start, self.end = columns.pop("from"), columns.pop("to")
        for name, own in columns.items():
            setattr(self, name, own)

    def __reduce__(self):
        return Ungrouped, (self._asked,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __len__(self):
        return len(self.mean)

    def __repr__(self):
        what = "rates" if self.is_rate else "counts"
        return f"<Ungrouped: {what} in {len(self)} steps from {self.start[0]:g}>"

    @property
    def warnings(self):
        """What a careful reader should know."""
        return self._told.warnings

    def draws(self, n):
        """Draws of all steps, shape ``(n, steps)``."""
        n = _arrays.whole(n, "n")
        return _arrays.received(self._told.draws(n), n, len(self))

    def quantile(self, share):
        """Where a share of all lies below, such as the median age; with its interval."""
        return self._answer(self._told.quantile(_arrays.number(share, "share")), "a quantile")

    def average(self):
        """The average place, such as the mean age; with its interval."""
        return self._answer(self._told.mean_value(), "an average")

    def between(self, start, end):
        """How many are between two places; with its interval."""
        start, end = _arrays.number(start, "start"), _arrays.number(end, "end")
        return self._answer(self._told.between(start, end), "a count between places")

    def gini(self):
        """The Gini coefficient of amounts; with its interval."""
        return self._answer(self._told.gini(), "a Gini coefficient")

    def _answer(self, found, what):
        if found is None:
            raise DataError(f"these are {'rates' if self.is_rate else 'places'}, which have not "
                            f"{what}")
        return Answer(*found)

    def plot(self, ax=None, *, rows=True, **style):
        """Draws counts per unit, or rates, with their band, and the bands; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; a new figure where it is not given.
        rows : bool
            Whether the bands are drawn: bars of count by width, or of rates.
        **style
            For the steps.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = _draw.axes(ax)
        share = 1.0 if self.is_rate else 1 / (self.end - self.start)
        band = (self.lower * share, self.upper * share)
        _draw.steps(ax, self.start, self.end, self.mean * share, band, self.level, **style)
        if rows:
            ends = np.clip([self._asked["lower"], self._asked["upper"]], self.start[0],
                           self.end[-1])
            width = ends[1] - ends[0]
            size = width if self._asked["exposure"] is None else self._asked["exposure"]
            _rows.bars(ax, *ends, self._asked["count"] / size, "bands")
        ax.set_ylabel("rate" if self.is_rate else "count per unit")
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False)
        return ax

    def to_dict(self):
        """Edges and what is told of the steps, as the program's table has them."""
        told = ("mean", "sd", "lower", "median", "upper")
        return {"from": self.start, "to": self.end,
                **{name: getattr(self, name) for name in told}}

    def to_frame(self):
        """The same as a data frame of pandas."""
        return _frames.make(self.to_dict())


def ungroup(bands=None, *, lower, upper, count, exposure=None, first=None, last=None, log=False,
            step=None, edges=None, sampled=None, expected=False, level=0.95, draws=1000, seed=1):
    """Counts in bands as counts in steps, with intervals.

    Parameters
    ----------
    bands : data frame, optional
        Where names of columns are looked up.
    lower, upper : array_like or str
        Edges of the bands, which adjoin: ages 0 to 4 are the band from 0 to 5. The last upper edge
        may be infinite.
    count : array_like or str
        How many are in each.
    exposure : array_like or str, optional
        Of how many; then rates are told.
    first, last : float, optional
        Where an open first band begins and an open last one ends.
    log : bool
        Whether the bands are of money.
    step : float, optional
        Width of the steps; single years where it is not given.
    edges : array_like, optional
        Edges of the steps, in place of a width.
    sampled : float, optional
        How many were asked per one counted.
    expected : bool
        Tells the curve itself, without the chance of single people.
    level : float
        Probability of the intervals.
    draws : int
        Number of draws.
    seed : int
        Seed of the draws.

    Returns
    -------
    Ungrouped

    Examples
    --------
    >>> import quadrat as qd
    >>> years = qd.ungroup(lower=[0, 20, 40, 60, 80], upper=[20, 40, 60, 80, float("inf")],
    ...                    count=[900, 880, 830, 600, 130], last=105)
    >>> len(years), round(float(years.mean[:20].sum()), 6)
    (105, 900.0)
    """
    lower = _arrays.column(lower, "lower", bands)
    rows = len(lower)
    optional = {name: None if value is None else _arrays.number(value, name) for name, value in
                {"first": first, "last": last, "step": step, "sampled": sampled}.items()}
    found = Ungrouped({
        "lower": lower,
        "upper": _arrays.column(upper, "upper", bands, rows),
        "count": _arrays.column(count, "count", bands, rows),
        "exposure": _arrays.optional(exposure, "exposure", bands, rows),
        "edges": _arrays.optional(edges, "edges"),
        "log": bool(log), "expected": bool(expected), "level": _arrays.number(level, "level"),
        "draws": _arrays.whole(draws, "draws"), "seed": _arrays.whole(seed, "seed"), **optional,
    })
    for warning in found.warnings:
        warnings.warn(warning, FitWarning, stacklevel=2)
    return found
