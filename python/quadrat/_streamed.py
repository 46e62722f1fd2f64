"""Parquet files in parts of whole bags, by their row groups."""

from __future__ import annotations

import numpy as np

from . import _frames
from ._errors import DataError


class Slice:
    """Rows of a Parquet file from one up to another, which are read when they are needed."""

    def __init__(self, path, first, last):
        self.path, self.first, self.last = path, first, last

    def read(self, columns):
        """These columns of the rows."""
        file = _opened(self.path)
        starts = _starts(file)
        # Groups that hold any of the rows.
        a = int(np.searchsorted(starts, self.first, side="right")) - 1
        b = int(np.searchsorted(starts, self.last, side="left"))
        table = file.read_row_groups(list(range(a, b)), columns=columns)
        return table.slice(self.first - int(starts[a]), self.last - self.first)


def slices(path, key, at_once):
    """The rows of a file in parts of about so many, each of whole bags, in their order.

    A part ends where a row group does, or within the next where the last bag of the group does.
    """
    file = _opened(path)
    if key not in file.schema_arrow.names:
        raise DataError(f"points: {path} has no column \"{key}\"")
    starts, cuts, last = _starts(file), [0], None
    for group, start in enumerate(starts[:-1]):
        own = file.read_row_group(group, columns=[key]).column(0)
        if not len(own):
            continue
        first, end = own[0].as_py(), own[-1].as_py()
        if group and start - cuts[-1] >= at_once:
            over = 0
            if first == last:
                # Rows of the bag that the group before ended with.
                same = np.asarray(own.to_pylist(), dtype=object) == last
                over = len(own) if same.all() else int(np.argmin(same))
            if over < len(own):
                cuts.append(int(start) + over)
        last = end
    ends = [*cuts[1:], int(starts[-1])]
    return [Slice(path, a, b) for a, b in zip(cuts, ends) if b > a]


def _opened(path):
    return _frames.module("pyarrow.parquet", "to read Parquet files").ParquetFile(path)


def _starts(file):
    """The row at which each row group begins, and the number of all rows."""
    told = file.metadata
    rows = [told.row_group(group).num_rows for group in range(told.num_row_groups)]
    return np.cumsum([0, *rows])
