"""Columns of numbers: whatever users have becomes an array of doubles, or an error by name."""

from __future__ import annotations

import operator

import numpy as np

from . import _frames
from ._errors import DataError

# Objects of Python and of pandas that are places in time, or spans of it.
_TIMES = ("Period", "Timedelta", "Timestamp", "date", "datetime", "time", "timedelta")


def column(value, name, data=None, rows=None):
    """One number for each row, as a contiguous array of doubles.

    Parameters
    ----------
    value : array_like or str
        Numbers, one number for all rows, or the name of a column of `data`.
    name : str
        What the argument is called, for messages.
    data : data frame, optional
        Where names are looked up.
    rows : int, optional
        How many there must be.
    """
    if isinstance(value, str):
        value = _frames.take(data, value, name)
    found = numbers(value, name)
    if found.ndim == 0 and rows is not None:
        return np.full(rows, found[()])
    if found.ndim != 1:
        raise DataError(f"{name} has the shape {found.shape}; give one number for each row")
    if rows is not None and len(found) != rows:
        raise DataError(f"{name} has {_count(len(found))}, and the supports have {rows}")
    return np.ascontiguousarray(found)


def optional(value, name, data=None, rows=None):
    """The same, or `None` where nothing is given."""
    return None if value is None else column(value, name, data, rows)


def gappy(value, name, data=None, rows=None):
    """As :func:`column`, and nan where a row has none."""
    if isinstance(value, str):
        value = _frames.take(data, value, name)
    if not hasattr(value, "__len__") or getattr(value, "shape", None) == ():
        return column(value, name, None, rows)
    cells = [np.nan if _frames.is_missing(cell) else cell for cell in _frames.values(value)]
    return column(cells, name, None, rows)


def number(value, name):
    """One number."""
    found = numbers(value, name)
    if found.ndim != 0:
        raise DataError(f"{name} must be one number, not an array of shape {found.shape}")
    return float(found)


def whole(value, name, least=0):
    """A whole number that is not below the least."""
    try:
        found = operator.index(value)
    except TypeError:
        raise DataError(f"{name} is {value!r}; it must be a whole number") from None
    if not least <= found < 2**63:
        raise DataError(f"{name} is {found}; it must be {least} or more")
    return found


def boolean(value, name):
    """Yes or no: words and numbers are neither, whatever Python takes them for."""
    if not isinstance(value, (bool, np.bool_)):
        raise DataError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def word(value, name, is_needed=False):
    """A text that names something, or `None` where nothing is named."""
    if not isinstance(value, str if is_needed else (str, type(None))):
        raise DataError(f"{name} is {value!r}; it must be a text")
    return value


def probability(value, name, with_ends=False):
    """A probability between 0 and 1; also 0 or 1 where `with_ends`."""
    found = number(value, name)
    if with_ends and 0 <= found <= 1:
        return found
    if not 0 < found < 1:
        ends = "from 0 to 1" if with_ends else "above 0 and below 1"
        raise DataError(f"{name} is {found:g}; it must be a probability {ends}")
    return found


def limit(value, name):
    """One number, which may be infinite, but must be one."""
    found = number(value, name)
    if np.isnan(found):
        raise DataError(f"{name} is nan; it must be a number, which may be infinite")
    return found


def limits(value, name, data=None, rows=None):
    """The same of every row."""
    found = column(value, name, data, rows)
    wrong = np.flatnonzero(np.isnan(found))
    if len(wrong):
        raise DataError(f"{name} is nan in row {wrong[0]}; it must be a number, which may be "
                        "infinite")
    return found


def between(start, end, names=("start", "end")):
    """Two limits in ascending order, whichever was given first; `None` where there is none."""
    first = -np.inf if start is None else limit(start, names[0])
    second = np.inf if end is None else limit(end, names[1])
    return min(first, second), max(first, second)


def received(data, *shape):
    """An array of the doubles that a binding hands out."""
    found = np.frombuffer(data, dtype=np.float64)
    return found.reshape(shape) if shape else found


def _count(rows):
    return "1 row" if rows == 1 else f"{rows} rows"


def numbers(value, name):
    """Doubles in the shape that they have."""
    if np.ma.isMaskedArray(value) and np.ma.is_masked(value):
        raise _missing(name, np.ma.getmaskarray(value))
    if hasattr(value, "to_numpy") and not isinstance(value, np.ndarray):
        value = _plain(value, name)
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise DataError(f"{name} is no column of numbers: {error}") from None
    if found.dtype.kind in "fiub":
        return found.astype(np.float64)
    kinds = {type(one).__name__ for one in found.ravel()} if found.dtype.kind == "O" else ()
    if any(kind in ("NoneType", "NAType", "NaTType") for kind in kinds):
        empty = [type(one).__name__ in ("NoneType", "NAType", "NaTType") for one in found.ravel()]
        raise _missing(name, np.array(empty))
    if found.dtype.kind in "mM" or any(kind in _TIMES for kind in kinds):
        raise DataError(f"{name} holds dates or times; give numbers, such as days since a start")
    try:
        # numpy reads digits in bytes, which are codes or geometries more often.
        if found.dtype.kind in "cS" or "bytes" in kinds:
            raise TypeError("complex numbers" if found.dtype.kind == "c" else "bytes")
        return found.astype(np.float64)
    except OverflowError:
        raise DataError(f"{name} has a whole number of more than 308 digits") from None
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers, not {found.dtype}: {error}") from None


def _plain(value, name):
    """A column of a frame, where a missing value is told and not made a number of."""
    empty = None
    for ask in ("isna", "is_null"):
        if hasattr(value, ask):
            empty = np.asarray(getattr(value, ask)())
            break
    if empty is not None and empty.dtype == bool and empty.any():
        raise _missing(name, empty)
    return value.to_numpy()


def _missing(name, empty):
    rows = np.flatnonzero(np.ravel(empty))
    message = f"{name} is missing in {_count(len(rows))}, first in row {rows[0]}"
    remedy = "leave these rows out"
    raise DataError(f"{message}; {remedy}", [
        {"message": message, "row": int(row), "remedies": [remedy]} for row in rows[:20]
    ])
