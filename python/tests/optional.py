"""Libraries that not every interpreter has: there is no polars for free-threaded ones."""

try:
    import polars
except ImportError:
    polars = None


def with_polars(kinds, name):
    """Those kinds by name, and what polars has under a name where it is installed."""
    return kinds if polars is None else {**kinds, "polars": getattr(polars, name)}
