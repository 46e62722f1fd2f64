"""Data frames of any kind: columns by name in, a frame of the same kind out."""

from __future__ import annotations

import importlib

from ._errors import DataError


def take(data, name, argument):
    """A column of a frame, or of any mapping of names to columns.

    A frame that hands out an Arrow stream and no columns (such as a relation of DuckDB) is read
    by pyarrow.
    """
    if data is None:
        raise DataError(f"{argument} is the name \"{name}\", and no data was given: data=...")
    if not hasattr(data, "__getitem__") and hasattr(data, "__arrow_c_stream__"):
        data = module("pyarrow", "to read this data").table(data)
    known = names(data)
    if known is not None and name not in known:
        listed = ", ".join(f"\"{one}\"" for one in known)
        raise DataError(f"{argument}: the data has no column \"{name}\"; it has {listed}")
    return data[name]


def names(data):
    """The names of the columns, where they can be had."""
    for attribute in ("column_names", "columns"):
        found = getattr(data, attribute, None)
        if found is not None and not callable(found):
            return [str(one) for one in found]
    if hasattr(data, "keys"):
        return [str(one) for one in data.keys()]
    return None


def values(column):
    """The entries of a column as plain values; the value itself where it is one."""
    column = column.to_pylist() if hasattr(column, "to_pylist") else column
    return column.tolist() if hasattr(column, "tolist") else column


def is_missing(value):
    """Whether an entry of a column is none."""
    # Missing values of pandas refuse to say whether they equal themselves.
    return value is None or type(value).__name__ == "NAType" or value != value


def is_frame(data):
    """Whether it has columns by name."""
    return hasattr(data, "__arrow_c_stream__") or (
        hasattr(data, "__getitem__") and names(data) is not None
    )


def make(columns, like=None):
    """A frame of the kind of `like`: polars, pyarrow, else pandas with its index kept."""
    kind = type(like).__module__.partition(".")[0]
    if kind == "polars":
        return module("polars", "to make a frame").DataFrame(columns)
    if kind == "pyarrow":
        return module("pyarrow", "to make a table").table(columns)
    pandas = module("pandas", "to make a frame; to_dict() does without")
    rows = len(next(iter(columns.values()), ()))
    index = getattr(like, "index", None)
    fits = kind in ("pandas", "geopandas") and len(index) == rows
    return pandas.DataFrame(columns, index=index if fits else None)


def module(name, why, extra=None):
    """A library that is not always there, or what to install."""
    try:
        return importlib.import_module(name)
    except ImportError:
        library = name.partition(".")[0]
        place = f"\"quadrat[{extra}]\"" if extra else library
        raise ImportError(f"{library} is needed {why}: pip install {place}") from None
