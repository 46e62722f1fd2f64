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
    if not isinstance(by, (str, list, tuple)) or not all(isinstance(own, str) for own in by):
        raise DataError(f"by is {by!r}; give the name of a column, or a list of names")
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise DataError("by is empty; name the column that tells the groups apart")
    frame = columned(frame)
    columns = [values(frame, name, "by") for name in names]
    for name, own in zip(names, columns):
        _check_labels(name, own)
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


def grouped(by, data, rows):
    """The columns that tell groups of rows apart, at the first row of each, and their rows.

    Parameters
    ----------
    by : str, list of str, dict or array_like
        A column of `data`, several, or labels by name.
    """
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
        _check_labels(name, found[name])
    return found


def _check_labels(name, labels):
    for row, label in enumerate(labels):
        if getattr(label, "__hash__", None) is None:
            raise DataError(f"by: {name} is {type(label).__name__} in row {row}; a label is a "
                            "number or a text")
