"""Counts in bands become counts, or rates, in single years or in any steps."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import _arrays, _draw, _frames, _groups, _progress, _quadrat, _rows
from ._errors import DataError, FitWarning
from ._told import NUMBERS, RENAME, Told, apart

if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
    from typing import Any

    from numpy.typing import ArrayLike

    from ._types import Column, Floats, Frame, Progress


class Answer(NamedTuple):
    """A number with its interval."""

    value: float
    lower: float
    upper: float


# Columns of the edges of steps.
_EDGES = ("from", "to")


class Ungrouped(Told):
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

    _has_rows_of = False

    start: Floats
    end: Floats
    mean: Floats
    sd: Floats
    lower: Floats
    median: Floats
    upper: Floats

    def __init__(self, asked: dict[str, Any], told: Any = None, of: Any = None) -> None:
        self._asked, self._of = asked, of
        self._told = _quadrat.ungroup(asked) if told is None else told
        self.is_rate, self.level = asked["exposure"] is not None, asked["level"]
        columns = {name: _arrays.received(own) for name, own in self._told.columns().items()}
        self.start, self.end = columns.pop("from"), columns.pop("to")
        for name, own in columns.items():
            setattr(self, name, own)

    def __reduce__(self):
        # A year of several is told by all of them.
        if self._of is not None:
            return _year, self._of
        return Ungrouped, (self._asked,)

    def __len__(self) -> int:
        return len(self.mean)

    def __repr__(self) -> str:
        what = "rates" if self.is_rate else "counts"
        return f"<Ungrouped: {what} in {len(self)} steps from {self.start[0]:g}>"

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know."""
        return self._told.warnings

    def draws(self, n: int) -> Floats:
        """Draws of all steps, shape ``(n, steps)``."""
        n = _arrays.whole(n, "n")
        return _arrays.received(self._told.draws(n), n, len(self))

    def quantile(self, share: float) -> Answer:
        """Where a share of all lies below, such as the median age; with its interval."""
        share = _arrays.probability(share, "share", with_ends=True)
        return self._answer(self._told.quantile(share), "a quantile")

    def average(self) -> Answer:
        """The average place, such as the mean age; with its interval."""
        return self._answer(self._told.mean_value(), "an average")

    def between(self, start: float | None, end: float | None) -> Answer:
        """How many are between two places in either order; with its interval.

        `None` or infinite where there is no end.
        """
        ends = _arrays.between(start, end)
        return self._answer(self._told.between(*ends), "a count between places")

    def gini(self) -> Answer:
        """The Gini coefficient of amounts; with its interval."""
        return self._answer(self._told.gini(), "a Gini coefficient")

    def _answer(self, found, what):
        if found is None:
            raise DataError(f"these are {'rates' if self.is_rate else 'places'}, which have not "
                            f"{what}")
        return Answer(*found)

    def plot(self, ax: Any = None, *, rows: bool = True, **style: Any) -> Any:
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
        rows = _arrays.boolean(rows, "rows")
        ax = _draw.axes(ax)
        share = 1.0 if self.is_rate else 1 / (self.end - self.start)
        band = (self.lower * share, self.upper * share)
        _draw.steps(ax, self.start, self.end, self.mean * share, band, self.level, **style)
        if rows:
            start, end = np.clip([self._asked["lower"], self._asked["upper"]], self.start[0],
                                 self.end[-1])
            width = end - start
            size = width if self._asked["exposure"] is None else self._asked["exposure"]
            _rows.bars(ax, start, end, self._asked["count"] / size, "bands")
        ax.set_ylabel("rate" if self.is_rate else "count per unit")
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False)
        return ax

    def _places(self):
        return dict(zip(_EDGES, (self.start, self.end)))


class _Several(Told):
    """A mapping of names to what is told of each."""

    _has_rows_of = False
    _each: dict[Any, Any]

    def _named(self, steps):
        """The columns of names, of which each has so many steps."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._each)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._each)

    def __contains__(self, name: object) -> bool:
        return name in self._each

    def keys(self) -> KeysView[Any]:
        """The names."""
        return self._each.keys()

    def values(self) -> ValuesView[Any]:
        """What is told of each."""
        return self._each.values()

    def items(self) -> ItemsView[Any, Any]:
        """Both."""
        return self._each.items()

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know, each once."""
        told = [warning for one in self.values() for warning in one.warnings]
        return list(dict.fromkeys(told))

    def to_dict(self) -> dict[str, Any]:
        """Names, edges and what is told of the steps, as the program's table has them."""
        each = {name: one.to_dict() for name, one in self.items()}
        steps = [len(one["from"]) for one in each.values()]
        names = next(iter(each.values()))
        return {**self._named(steps),
                **{name: np.concatenate([one[name] for one in each.values()]) for name in names}}


class UngroupedYears(_Several):
    """Several years ungrouped together: a mapping of years to :class:`Ungrouped`.

    Draws of all years belong together: the first of every year is one draw of all.

    Attributes
    ----------
    years : numpy.ndarray
        The years, ascending.
    """

    def __init__(self, asked: dict[str, Any], along: Floats,
                 listen: Callable[..., object] | None = None) -> None:
        self._asked, self._along = asked, along
        self.years = np.unique(along)
        rows = [np.flatnonzero(along == year) for year in self.years]
        years = [(float(year), own.tolist()) for year, own in zip(self.years, rows)]
        told = _quadrat.ungroup_along(asked, years, listen)
        own = [_some(asked, at) for at in rows]
        self._each = {float(year): Ungrouped(part, one, (asked, along, float(year)))
                      for year, part, one in zip(self.years, own, told)}

    def __reduce__(self):
        return UngroupedYears, (self._asked, self._along)

    def __getitem__(self, year: float) -> Ungrouped:
        try:
            return self._each[float(year)]
        except (KeyError, TypeError, ValueError):
            first, last = self.years[0], self.years[-1]
            raise DataError(f"{year!r} is none of the {len(self)} years from {first:g} to "
                            f"{last:g}") from None

    def __repr__(self) -> str:
        first, last = self.years[0], self.years[-1]
        return f"<UngroupedYears: {len(self)} years from {first:g} to {last:g}>"

    def _named(self, steps):
        return {"year": np.repeat(self.years, steps)}


class UngroupedGroups(_Several):
    """Several populations, each ungrouped by itself: a mapping of labels to what is told of each.

    The label is a tuple where several columns tell them apart. Values are :class:`Ungrouped`, or
    :class:`UngroupedYears`. Random numbers depend on the label alone, as in the program.

    Attributes
    ----------
    failures : dict
        The exception of each population that could not be ungrouped, such as one of nobody.
    """

    def __init__(self, asked: dict[str, Any], along: Floats | None, columns: dict[str, list[Any]],
                 members: list[list[int]], listen: Callable[..., object] | None = None) -> None:
        self._told_of, self._columns = (asked, along, columns, members), columns
        names = list(zip(*columns.values()))
        own = [{**_some(asked, rows), "name": _cells(name)}
               for name, rows in zip(names, members)]
        years = [None if along is None else along[rows] for rows in members]
        self._each, self.failures = {}, {}
        for number, (name, *of) in enumerate(zip(names, own, years), 1):
            label = name[0] if len(name) == 1 else name
            try:
                self._each[label] = _one(*of)
            except DataError as error:
                self.failures[label] = error
            if listen is not None:
                listen("ungrouping", number, len(names), None)
        if not self._each:
            raise _nothing(self.failures)

    def __reduce__(self):
        return UngroupedGroups, self._told_of

    def __getitem__(self, label: Any) -> Ungrouped | UngroupedYears:
        try:
            if label in self.failures:
                raise DataError(f"{label!r} was not ungrouped: {self.failures[label]}")
            return self._each[label]
        except (KeyError, TypeError):
            raise DataError(f"{label!r} is none of the {len(self)} groups by "
                            f"{', '.join(self._columns)}") from None

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"<UngroupedGroups by {', '.join(self._columns)}: {len(self)} groups{failed}>"

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know, each once; first which populations failed."""
        told = super().warnings
        if not self.failures:
            return told
        label, error = next(iter(self.failures.items()))
        count, all_of = len(self.failures), len(self) + len(self.failures)
        return [f"{count} of {all_of} populations could not be ungrouped, see failures; the first "
                f"is {_title(label)}: {error}", *told]

    def _named(self, steps):
        rows = [label if len(self._columns) > 1 else (label,) for label in self]
        return {name: [row[at] for row, n in zip(rows, steps) for _ in range(n)]
                for at, name in enumerate(self._columns)}


def _some(asked, rows):
    """What is asked of some of the rows."""
    return {**asked, **{name: None if asked[name] is None else asked[name][rows]
                        for name in ("lower", "upper", "count", "exposure")}}


def _one(asked, along, listen=None):
    return Ungrouped(asked) if along is None else UngroupedYears(asked, along, listen)


def _cells(name):
    """Labels as the cells of a table have them."""
    whole = [int(own) if isinstance(own, float) and own.is_integer() else own for own in name]
    return ["" if own is None else str(own) for own in whole]


def _title(label):
    return ", ".join(_cells(label if isinstance(label, tuple) else (label,)))


def _nothing(failures):
    """The error where no population could be ungrouped."""
    # What is wrong with all of them is said once.
    told = list(dict.fromkeys(map(str, failures.values())))
    if len(told) > 1 or len(failures) == 1:
        told = [f"{_title(label)}: {error}" for label, error in failures.items()]
    rest = f"; and {len(told) - 3} more" if len(told) > 3 else ""
    return DataError("; ".join(told[:3]) + rest, [{"message": one} for one in told])


def _year(asked, along, year):
    """One of several years, for pickles."""
    return UngroupedYears(asked, along)[year]


def _edges(value, name, bands, rows, end):
    """Edges of bands, which are open where none is given."""
    edges = _arrays.gappy(value, name, bands, rows)
    return np.where(np.isnan(edges), end, edges)


def ungroup(bands: Frame | None = None, *, lower: Column, upper: Column, count: Column,
            exposure: Column | None = None, along: Column | None = None, by: Any = None,
            first: float | None = None, last: float | None = None, tail: str | None = None,
            log: bool = False, step: float | None = None, edges: ArrayLike | None = None,
            sampled: float | None = None, expected: bool = False, level: float = 0.95,
            draws: int = 1000, seed: int = 1, progress: Progress = None) -> Any:
    """Counts in bands as counts in steps, with intervals.

    Parameters
    ----------
    bands : data frame, optional
        Where names of columns are looked up.
    lower, upper : array_like or str
        Edges of the bands, which adjoin: ages 0 to 4 are the band from 0 to 5. The last upper edge
        may be infinite or missing: the band is open. So may the first lower one.
    count : array_like or str
        How many are in each.
    exposure : array_like or str, optional
        Of how many; then rates are told.
    along : array_like or str, optional
        The year of each row: all years are ungrouped together and inform each other. Each may have
        bands of its own.
    by : str, list of str, or dict, optional
        What tells populations apart, each of which is ungrouped by itself: a column of `bands`,
        several, or labels by name.
    first, last : float, optional
        Where an open first band begins and an open last one ends.
    tail : str, optional
        How the curve falls off in the last band: ``"gompertz"`` as ages do, ``"pareto"`` as amounts
        of money do, or exponentially by a slope per unit, ``"exponential=0.2"``. Of an open band of
        ages or of money it need not be said.
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
    progress : bool or callable, optional
        As for `Model.fit`: told of every setting that years are tried at, or of every population.
        One population of one year is told in less than a second.

    Returns
    -------
    Ungrouped, UngroupedYears where there are years, or UngroupedGroups by `by`

    Examples
    --------
    >>> import quadrat as qd
    >>> years = qd.ungroup(lower=[0, 20, 40, 60, 80], upper=[20, 40, 60, 80, float("inf")],
    ...                    count=[900, 880, 830, 600, 130], last=105)
    >>> len(years), round(float(years.mean[:20].sum()), 6)
    (105, 900.0)
    """
    bands = _frames.held(bands)
    starts = _edges(lower, "lower", bands, None, -np.inf)
    rows = len(starts)
    optional = {name: None if value is None else _arrays.number(value, name) for name, value in
                {"first": first, "last": last, "step": step, "sampled": sampled}.items()}
    asked = {
        "lower": starts,
        "upper": _edges(upper, "upper", bands, rows, np.inf),
        "count": _arrays.column(count, "count", bands, rows),
        "exposure": _arrays.optional(exposure, "exposure", bands, rows),
        "edges": _arrays.optional(edges, "edges"),
        "log": _arrays.boolean(log, "log"), "expected": _arrays.boolean(expected, "expected"),
        "level": _arrays.probability(level, "level"),
        "draws": _arrays.whole(draws, "draws"), "seed": _arrays.whole(seed, "seed"), **optional,
        "tail": _arrays.word(tail, "tail"), "name": [],
    }
    if along is not None and exposure is not None:
        raise DataError("along is for counts, and an exposure was given: ungroup the rates of each "
                        "year by itself")
    years = _arrays.optional(along, "along", bands, rows)
    columns, members = {}, []
    if by is not None:
        columns, members = _groups.grouped(by, bands, rows)
        if not columns:
            raise DataError("by is empty; name the column that tells the groups apart")
        apart([*columns, *(() if years is None else ("year",))], (*_EDGES, *NUMBERS), RENAME)
    with _progress.listener(progress) as listen:
        found = _one(asked, years, listen) if by is None else \
            UngroupedGroups(asked, years, columns, members, listen)
    found._like = bands
    for warning in found.warnings:
        warnings.warn(warning, FitWarning, stacklevel=2)
    return found
