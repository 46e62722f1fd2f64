"""Rows of a frame by group, in the order in which groups first appear."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from . import _frames
from ._errors import DataError


def groups(frame, by):
    """For every group its key and its rows, as a frame of the same kind.

    The key is the value of the column, or a tuple where `by` is a list of columns.
    """
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise DataError("by is empty; name the column that tells the groups apart")
    frame = columned(frame)
    columns = [values(frame, name, "by") for name in names]
    members = {}
    for row, key in enumerate(columns[0] if isinstance(by, str) else zip(*columns)):
        members.setdefault(key, []).append(row)
    if not members:
        raise DataError("the frame has no rows")
    return {key: take_rows(frame, np.array(rows)) for key, rows in members.items()}


def columned(frame):
    """A frame whose columns can be had by name."""
    if not _frames.is_frame(frame):
        raise DataError(f"the frame is {type(frame).__name__}; give a data frame or a dict of "
                        "columns")
    held = _frames.held(frame)
    return held.table if isinstance(held, _frames.Held) else frame


def values(frame, name, argument):
    """The entries of a column as plain values, none of which is missing."""
    found = list(_frames.values(_frames.take(frame, name, argument)))
    for row, value in enumerate(found):
        if _frames.is_missing(value):
            raise DataError(f"{argument}: {name} is missing in row {row}; leave this row out, or "
                            "give it a name")
    return found


def take_rows(frame, rows):
    """Some rows of a frame, as one of the same kind."""
    if isinstance(frame, Mapping):
        return {name: np.asarray(own)[rows] for name, own in frame.items()}
    if hasattr(frame, "iloc"):
        return frame.iloc[rows]
    if hasattr(frame, "take"):
        return frame.take(rows)
    return frame[rows]
