"""Libraries that not every interpreter has, and what stands for some: there is no polars for
free-threaded ones."""

try:
    import polars
except ImportError:
    polars = None


def with_polars(kinds, name):
    """Those kinds by name, and what polars has under a name where it is installed."""
    return kinds if polars is None else {**kinds, "polars": getattr(polars, name)}


class Stream:
    """What hands out rows and nothing else, such as a relation of DuckDB."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)
