"""Noisy counts of areas within areas that add up."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _arrays, _frames, _quadrat
from ._errors import DataError, FitWarning
from ._told import Told, apart

if TYPE_CHECKING:
    from ._types import Column, Floats, Frame


class Gap(NamedTuple):
    """How far a measured area was from the sum of its parts, and the standard deviation of that."""

    area: Any
    difference: float
    sd: float


class Reconciled(Told):
    """Areas of which each is the sum of those within it, with intervals; draws add up too.

    A pickle keeps what was measured, and reconciles it anew.

    Attributes
    ----------
    area : list
        The areas, in the order in which they first appear: a label, or a tuple of the labels of
        `by` and of the area.
    within : list
        The area around each; `None` for those within no other.
    mean, sd, lower, median, upper : numpy.ndarray
        What is told of each; nan where nothing tells it.
    measured, unknown : int
        How many areas were measured, and how many nothing tells.
    chi_square, probability : float
        Before, measured areas and the sums of their parts differed: the sum of squares of these
        differences over their variances, and the probability of as large a one.
    degrees : int
        How many differences there are: the degrees of freedom.
    far : list of Gap
        Areas more than five standard deviations from the sums of their parts, the farthest first.
    """

    _has_rows_of = False

    def __init__(self, asked: Any, area: Any, names: Any) -> None:
        self._asked, self._names = asked, names
        self._told = _quadrat.reconcile(asked)
        self.area, self.level = area, asked["level"]
        self.within = [None if at is None else area[at] for at in asked["within"]]
        for name, own in self._told.columns().items():
            setattr(self, name, _arrays.received(own))
        self.measured, self.unknown = self._told.counts()
        self.chi_square, self.degrees, self.probability = self._told.chi_square()
        self.far = [Gap(area[at], *told) for at, *told in self._told.far()]

    def __reduce__(self):
        return Reconciled, (self._asked, self.area, self._names)

    def __len__(self) -> int:
        return len(self.area)

    def __repr__(self) -> str:
        return (f"<Reconciled: {len(self)} areas, {self.measured} measured, chi-square "
                f"{self.chi_square:.3g} of {self.degrees}>")

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know."""
        return self._told.warnings

    def draws(self, n: int, seed: int = 1) -> Floats:
        """Draws of all areas, shape ``(n, areas)``; each adds up."""
        n, seed = _arrays.whole(n, "n"), _arrays.whole(seed, "seed")
        return _arrays.received(self._told.draws(n, seed), n, len(self))

    def _places(self):
        *by, area, within = self._names
        own = [one if by else (one,) for one in self.area]
        return {**dict(zip([*by, area], map(list, zip(*own)))),
                within: [around[-1] if by and around is not None else around
                         for around in self.within]}


def reconcile(rows: Frame | None = None, *, area: Any, within: Any, value: Column, variance: Column,
              by: Any = None, level: float = 0.95) -> Reconciled:
    """Noisy counts of areas within areas, made to add up by generalised least squares.

    Parameters
    ----------
    rows : data frame, optional
        Where names of columns are looked up.
    area : array_like or str
        The area of each row. One that was measured several times has several rows.
    within : array_like or str
        The area around it, which has a row of its own; missing, or an empty text, for areas within
        no other.
    value : array_like or str
        What was measured; missing where an area was not.
    variance : array_like or str or float
        Variances of the errors; 0 is exact.
    by : str or list of str or dict, optional
        Columns, or labels by name, of which every combination adds up by itself.
    level : float
        Probability of the intervals.

    Returns
    -------
    Reconciled

    Examples
    --------
    >>> import quadrat as qd
    >>> found = qd.reconcile(area=["all", "a", "b"], within=[None, "all", "all"],
    ...                      value=[102, 60, 36], variance=[1, 2, 2])
    >>> found.mean.round(3).tolist()                       # the gap of 6, by variances 1, 2 and 2
    [100.8, 62.4, 38.4]
    >>> found.sd.round(3).tolist()
    [0.894, 1.095, 1.095]
    """
    rows = _frames.held(rows)
    columns, areas = _areas(rows, by, area)
    around = _labels(within, "within", rows, len(areas))
    node, names, parents = _tree(areas, around)
    asked = {
        "names": [", ".join(map(str, own)) for own in names], "within": parents, "node": node,
        "value": _arrays.gappy(value, "value", rows, len(areas)),
        "variance": _arrays.gappy(variance, "variance", rows, len(areas)),
        "level": _arrays.probability(level, "level"),
    }
    columns += [name if isinstance(name, str) else plain
                for name, plain in ((area, "area"), (within, "within"))]
    twice = next((name for at, name in enumerate(columns) if name in columns[:at]), None)
    if twice is not None:
        raise DataError(f"by, area and within name \"{twice}\" twice")
    apart(columns)
    found = Reconciled(asked, [own if by else own[-1] for own in names], columns)
    found._like = rows
    for warning in found.warnings:
        warnings.warn(warning, FitWarning, stacklevel=2)
    return found


def _areas(data, by, area):
    """Names of the columns of `by`; the labels of each row: those of `by`, and its area."""
    by = {} if by is None else by
    if not isinstance(by, Mapping):
        by = [by] if isinstance(by, str) else by
        if not isinstance(by, (list, tuple)) or not all(isinstance(own, str) for own in by):
            raise DataError(f"by is {by!r}; give names of columns, or labels by name")
        if not by:
            raise DataError("by is empty; name columns whose every combination adds up by itself")
        by = {name: name for name in by}
    own = _labels(area, "area", data)
    if not own:
        raise DataError("area has no rows")
    columns = [*(_labels(labels, f"by: {name}", data, len(own)) for name, labels in by.items()),
               own]
    for label, name in zip(columns, [*(f"by: {name}" for name in by), "area"]):
        if None in label:
            raise DataError(f"{name} is missing in row {label.index(None)}; name it, or leave the "
                            "row out")
    return list(by), list(zip(*columns))


def _labels(column, name, data, rows=None):
    """The labels of a column, `None` where there is none."""
    if isinstance(column, str):
        column = _frames.take(data, column, name)
    found = _frames.values(column)
    if not hasattr(found, "__iter__") or isinstance(found, str):
        raise DataError(f"{name} is {found!r}; give a label for each row")
    if any(isinstance(one, (list, dict, set)) for one in found):
        raise DataError(f"{name} has several labels in a row; give one for each")
    found = [None if _frames.is_missing(one) or one == "" else one for one in found]
    if rows is not None and len(found) != rows:
        raise DataError(f"{name} has {len(found)} rows, and area has {rows}")
    return found


def _tree(areas, around):
    """The area of every row, the names of all areas, and which each lies within."""
    at, node, first = {}, [], []
    for row, (name, outer) in enumerate(zip(areas, around)):
        own = at.setdefault(name, len(at))
        if own == len(first):
            first.append(row)
        elif around[first[own]] != outer:
            raise DataError(f"within: {name[-1]!r} lies within {outer!r} in row {row}, and within "
                            f"{around[first[own]]!r} in row {first[own]}; an area lies within one "
                            "other, so give areas of the same name names of their own")
        node.append(own)
    parents = []
    for name, row in zip(at, first):
        outer = None if around[row] is None else (*name[:-1], around[row])
        if outer is not None and outer not in at:
            raise DataError(f"within: no row is of the area {around[row]!r}, which row {row} lies "
                            "within; give it a row, with a missing value where it was not measured")
        parents.append(None if outer is None else at[outer])
    return node, list(at), parents
