"""The values behind observed rows, one by one or added up."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from . import _arrays, _frames
from ._errors import DataError


class RowValues:
    """The values that stand behind the rows of a table, or sums of them by group.

    :meth:`Posterior.rows` makes them. Rows come in the order of the table, groups in the order of
    their first rows. What was reported exactly is itself, with an `sd` of 0. A pickle keeps the
    posterior, and asks anew.

    Attributes
    ----------
    mean, sd : numpy.ndarray
        Means and standard deviations.
    lower, median, upper : numpy.ndarray
        The central interval of probability `level`, and the median.
    level : float
        The probability of the interval.
    table : int
        Which table, counted from 0.
    """

    def __init__(self, posterior, table, columns, groups, settings, data=None):
        self._posterior, self.table, self._data = posterior, table, data
        self._columns, self._groups, self._settings = columns, groups, settings
        self.level, non_negative, self._seed = settings
        given = [own.made()[1] for own in posterior._tables]
        self._told = posterior._posterior.rows(table, given, groups, non_negative, self._seed)
        self.mean = _arrays.received(self._told.mean)
        self.sd = _arrays.received(self._told.sd)
        self._ends = {}

    def __reduce__(self):
        return RowValues, (self._posterior, self.table, self._columns, self._groups,
                           self._settings, self._data)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __len__(self):
        return len(self.mean)

    def __repr__(self):
        what = "rows" if self._groups is None else "sums of rows"
        return f"<RowValues of {len(self)} {what} of table {self.table}, level {self.level:g}>"

    def _end(self, p):
        if p not in self._ends:
            self._ends[p] = _arrays.received(self._told.quantile(p))
        return self._ends[p]

    @property
    def lower(self):
        """Lower ends of the interval."""
        return self._end((1 - self.level) / 2)

    @property
    def median(self):
        """Medians."""
        return self._end(0.5)

    @property
    def upper(self):
        """Upper ends of the interval."""
        return self._end(1 - (1 - self.level) / 2)

    def quantile(self, p):
        """Quantiles of every row: shape ``(rows,)``, or ``(len(p), rows)`` for several."""
        if np.ndim(p) == 0:
            return _arrays.received(self._told.quantile(_arrays.probability(p, "p")))
        return np.array([self.quantile(one) for one in _arrays.column(p, "p")])

    def exceed(self, x):
        """The probability of more than `x`, one for every row or one for all."""
        limits = _arrays.limits(x, "x", None if self._groups is not None else self._data, len(self))
        return _arrays.received(self._told.exceedance(limits))

    def draws(self, n, seed=None):
        """Joint draws, shape ``(n, rows)``: multiple imputations.

        Every draw is a complete table as it may have been: what was told exactly is itself, a
        hidden count is one that its cell allows. A draw of a sum is the sum of the same draw of
        its rows, for the same seed.

        Parameters
        ----------
        n : int
            How many; of sums at most 10,000, or fewer where many rows are open.
        seed : int, optional
            That of :meth:`Posterior.rows` where it is not given.
        """
        n = _arrays.whole(n, "n")
        seed = self._seed if seed is None else _arrays.whole(seed, "seed")
        return _arrays.received(self._told.draws(n, seed), n, len(self))

    def to_dict(self):
        """The columns of the place or the group, ``mean``, ``sd``, ``lower``, ``median``, ``upper``."""
        numbers = {name: getattr(self, name) for name in ("mean", "sd", "lower", "median", "upper")}
        return {**self._columns, **numbers}

    def to_frame(self):
        """The same as a data frame: of the kind of the `data` that was given, else of pandas."""
        return _frames.make(self.to_dict(), self._data, has_rows_of=self._groups is None)

    def __arrow_c_stream__(self, requested_schema=None):
        table = _frames.module("pyarrow", "to hand out an Arrow stream").table(self.to_dict())
        return table.__arrow_c_stream__(requested_schema)

    def _repr_html_(self):
        from . import _summary
        return _summary.table(self)


def row_values(posterior, table, by, level, non_negative, seed, data):
    """What :meth:`Posterior.rows` gives."""
    if not posterior._is_whole:
        raise DataError("the points of these bags are in partitions elsewhere, and what stands "
                        "behind single rows is not asked there; predict the response")
    level, seed = _arrays.probability(level, "level"), _arrays.whole(seed, "seed")
    data, settings = _frames.held(data), (level, bool(non_negative), seed)
    tables = posterior._posterior.table_rows
    known = len(posterior._tables) or len(tables)
    if table is None:
        if known != 1:
            raise DataError(f"table is missing: the model has {known} tables, counted from 0; say "
                            "whose rows are meant")
        table = 0
    table = _arrays.whole(table, "table")
    told = posterior._tables[table:table + 1]
    if by is None:
        columns = dict(told[0].placed.columns) if told else {}
        return RowValues(posterior, table, columns, None, settings, data)
    rows = len(told[0]) if told else tables[table] if table < len(tables) else 0
    columns, groups = grouped(by, data, rows)
    return RowValues(posterior, table, columns, groups, settings, data)


def grouped(by, data, rows):
    """The columns that tell groups of rows apart, at the first row of each, and their rows."""
    labels = _labels(by, data, rows)
    keys = zip(*labels.values()) if labels else [()] * rows
    members = {}
    for row, key in enumerate(keys):
        members.setdefault(key, []).append(row)
    columns = {name: [key[at] for key in members] for at, name in enumerate(labels)}
    return columns, list(members.values())


def _labels(by, data, rows):
    """Columns of labels by name: missing ones are `None`."""
    if isinstance(by, str):
        by = [by]
    if isinstance(by, (list, tuple)):
        strange = [name for name in by if not isinstance(name, str)]
        if strange:
            raise DataError(f"by has {strange[0]!r}; give names of columns of data, or labels of "
                            "all rows as by={\"region\": [..]}")
        by = {name: _frames.take(data, name, "by") for name in by}
    elif not isinstance(by, Mapping):
        by = {str(getattr(by, "name", None) or "group"): by}
    found = {}
    for name, own in by.items():
        own = _frames.take(data, own, f"by ({name})") if isinstance(own, str) else own
        own = _frames.values(own)
        if not hasattr(own, "__len__") or len(own) != rows:
            given = f"{len(own)} labels" if hasattr(own, "__len__") else type(own).__name__
            raise DataError(f"by: {name} is {given}, and the table has {rows} rows; give a label "
                            "for each")
        found[name] = [None if _frames.is_missing(label) else label for label in own]
        for row, label in enumerate(found[name]):
            if getattr(label, "__hash__", None) is None:
                raise DataError(f"by: {name} is {type(label).__name__} in row {row}; a label is a "
                                "number or a text")
    return found
