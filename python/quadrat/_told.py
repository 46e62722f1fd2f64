"""What answers have in common: they do not change, and become dicts and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _frames
from ._errors import DataError

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ._types import Column, Floats

#: What is told of every row, in this order.
NUMBERS = ("mean", "sd", "lower", "median", "upper")

#: What is said to who gives labels a name that is taken.
RENAME = ("rename that column in the data, or give its labels under another name, such as "
          "by={\"area\": labels}")


class Unchanging:
    """What never changes: a copy is the same object."""

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Told(Unchanging):
    """Rows with what is told of each: as a dict, a frame, or an Arrow stream."""

    # The frame that was given, and whether its rows are those that are told.
    _like = None
    _has_rows_of = True

    def _places(self):
        """The columns that say what each row is of."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """What each row is of, then ``mean``, ``sd``, ``lower``, ``median``, ``upper``."""
        return {**self._places(), **{name: getattr(self, name) for name in NUMBERS}}

    def to_frame(self) -> Any:
        """The same as a data frame: of the kind of the `data` that was given, else of pandas."""
        return _frames.make(self.to_dict(), self._like, self._has_rows_of)

    def __arrow_c_stream__(self, requested_schema=None):
        table = _frames.module("pyarrow", "to hand out an Arrow stream").table(self.to_dict())
        return table.__arrow_c_stream__(requested_schema)


class ToldRows(Told):
    """Rows whose distribution the library answers for."""

    mean: Floats
    sd: Floats
    _told: Any

    def __len__(self) -> int:
        return len(self.mean)

    def _limits(self, value, name):
        """A limit for every row."""
        return _arrays.limits(value, name, self._like if self._has_rows_of else None, len(self))

    def quantile(self, p: ArrayLike) -> Floats:
        """Quantiles of every row: shape ``(rows,)``, or ``(len(p), rows)`` for several."""
        if np.ndim(p) == 0:
            return _arrays.received(self._told.quantile(_arrays.probability(p, "p")))
        return np.array([self.quantile(one) for one in _arrays.column(p, "p")])

    def exceed(self, x: Column) -> Floats:
        """The probability of more than `x`, one for every row or one for all."""
        return _arrays.received(self._told.exceedance(self._limits(x, "x")))

    def _repr_html_(self):
        from . import _summary
        return _summary.table(self)


def apart(names, others=NUMBERS, remedy="rename that column in the data"):
    """Refuses names of columns of which the table of answers would have two.

    Parameters
    ----------
    names : iterable of str
        What rows are told by: labels, inputs, edges.
    others : iterable of str
        The other columns.
    """
    seen = set()
    for name in [*others, *names]:
        if name in seen:
            raise DataError(f"the table of answers would have two columns named \"{name}\"; "
                            f"{remedy}")
        seen.add(name)
