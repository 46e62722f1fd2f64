"""The values behind observed rows, one by one or added up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _arrays, _frames, _groups
from ._errors import DataError
from ._told import RENAME, ToldRows, apart

if TYPE_CHECKING:
    from typing import Any

    from ._posterior import Posterior
    from ._types import Floats, Frame


class RowValues(ToldRows):
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

    def __init__(self, posterior: Posterior, table: int, columns: dict[str, Any],
                 groups: list[list[int]] | None, settings: tuple[float, bool, int],
                 data: Frame | None = None) -> None:
        self._posterior, self.table, self._like = posterior, table, data
        self._has_rows_of = groups is None
        self._columns, self._groups, self._settings = columns, groups, settings
        self.level, non_negative, self._seed = settings
        given = [own.made()[1] for own in posterior._tables]
        self._told = posterior._posterior.rows(table, given, groups, non_negative, self._seed)
        self.mean = _arrays.received(self._told.mean)
        self.sd = _arrays.received(self._told.sd)
        self._ends: dict[float, Floats] = {}

    def __reduce__(self):
        return RowValues, (self._posterior, self.table, self._columns, self._groups,
                           self._settings, self._like)

    def __repr__(self) -> str:
        what = "rows" if self._groups is None else "sums of rows"
        return f"<RowValues of {len(self)} {what} of table {self.table}, level {self.level:g}>"

    def _end(self, p):
        if p not in self._ends:
            self._ends[p] = _arrays.received(self._told.quantile(p))
        return self._ends[p]

    @property
    def lower(self) -> Floats:
        """Lower ends of the interval."""
        return self._end((1 - self.level) / 2)

    @property
    def median(self) -> Floats:
        """Medians."""
        return self._end(0.5)

    @property
    def upper(self) -> Floats:
        """Upper ends of the interval."""
        return self._end(1 - (1 - self.level) / 2)

    def draws(self, n: int, seed: int | None = None) -> Floats:
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

    def _places(self):
        return self._columns


def row_values(posterior, table, by, level, non_negative, seed, data):
    """What :meth:`Posterior.rows` gives."""
    if not posterior._posterior.is_whole:
        raise DataError("the points of these bags are in partitions elsewhere, and what stands "
                        "behind single rows is not asked there; predict the response")
    level, seed = _arrays.probability(level, "level"), _arrays.whole(seed, "seed")
    data, settings = _frames.held(data), (
        level, _arrays.boolean(non_negative, "non_negative"), seed)
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
        apart(columns)
        return RowValues(posterior, table, columns, None, settings, data)
    rows = len(told[0]) if told else tables[table] if table < len(tables) else 0
    columns, groups = _groups.grouped(by, data, rows)
    apart(columns, remedy=RENAME)
    return RowValues(posterior, table, columns, groups, settings, data)
