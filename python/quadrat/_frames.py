"""Data frames of any kind: columns by name in, a frame of the same kind out."""

from __future__ import annotations

import importlib

from ._errors import DataError

# Frames whose columns are in memory; what else hands out an Arrow stream is read once by pyarrow.
_IN_MEMORY = ("geopandas", "narwhals", "pandas", "polars", "pyarrow")


class Held:
    """The columns of a stream, such as a relation of DuckDB, and what they were read from."""

    def __init__(self, stream):
        self.stream = stream
        self.table = module("pyarrow", "to read this data").table(stream)
        self.column_names = self.table.column_names

    def __getitem__(self, name):
        return self.table[name]

    def __reduce__(self):
        # What is read back is a table like any other.
        return _same, (self.table,)


def _same(table):
    return table


def held(data):
    """Data whose columns can be asked for more than once, always in the same order."""
    if hasattr(data, "collect") and not hasattr(data, "__arrow_c_stream__"):
        raise DataError(f"data is a {type(data).__name__}, which has no columns yet; give "
                        "data.collect()")
    is_stream = hasattr(data, "__arrow_c_stream__") and _kind(data) not in _IN_MEMORY
    return Held(data) if is_stream else data


def _kind(data):
    return type(data).__module__.partition(".")[0].lstrip("_")


def take(data, name, argument):
    """A column of a frame, or of any mapping of names to columns.

    A frame that hands out an Arrow stream and no columns (such as a relation of DuckDB) is read
    by pyarrow.
    """
    if data is None:
        raise DataError(f"{argument} is the name \"{name}\", and no data was given: data=...")
    data = held(data)
    known = _names(data)
    if known is None:
        raise DataError(f"data is {type(data).__name__}, which has no columns by name; give a data "
                        "frame or a dict of columns")
    # Names of pandas may be numbers.
    own = [one for one in known if str(one) == str(name)]
    if not own:
        listed = ", ".join(f"\"{one}\"" for one in known)
        raise DataError(f"{argument}: the data has no column \"{name}\"; it has {listed}")
    if len(own) > 1:
        raise DataError(f"{argument}: the data has {len(own)} columns \"{name}\"; give each a "
                        "name of its own")
    return data[own[0]]


def names(data):
    """The names of the columns as texts, where they can be had."""
    found = _names(data)
    return None if found is None else [str(one) for one in found]


def _names(data):
    for attribute in ("column_names", "columns"):
        found = getattr(data, attribute, None)
        if found is not None and not callable(found):
            return list(found)
    return list(data.keys()) if hasattr(data, "keys") else None


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


def make(columns, like=None, has_rows_of=True):
    """A frame of the kind of `like`, or of pandas.

    The index of pandas is kept where its rows are those of `like`.
    """
    like = like.stream if isinstance(like, Held) else like
    kind = _kind(like)
    if kind == "polars":
        return module("polars", "to make a frame").DataFrame(columns)
    if kind == "pyarrow":
        return module("pyarrow", "to make a table").table(columns)
    if kind == "duckdb":
        table = module("pyarrow", "to make a table").table(columns)
        return module("duckdb", "to make a relation").from_arrow(table)
    if kind not in ("builtins", "geopandas", "pandas"):
        made = _by_narwhals(columns, like)
        if made is not None:
            return made
    pandas = module("pandas", "to make a frame; to_dict() does without")
    rows = len(next(iter(columns.values()), ()))
    index = getattr(like, "index", None)
    fits = has_rows_of and kind in ("pandas", "geopandas") and len(index) == rows
    return pandas.DataFrame(columns, index=index if fits else None)


def _by_narwhals(columns, like):
    """A frame of any kind that narwhals knows, where it is installed."""
    try:
        narwhals = importlib.import_module("narwhals")
    except ImportError:
        return None
    known = narwhals.from_native(like, eager_only=True, pass_through=True)
    if not isinstance(known, narwhals.DataFrame):
        return None
    made = narwhals.from_dict(columns, backend=known.implementation)
    return made if known is like else made.to_native()


def module(name, why, extra=None):
    """A library that is not always there, or what to install."""
    try:
        return importlib.import_module(name)
    except ImportError:
        library = name.partition(".")[0]
        place = f"\"quadrat[{extra}]\"" if extra else library
        raise ImportError(f"{library} is needed {why}: pip install {place}") from None
