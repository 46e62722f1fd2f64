"""Totals of some areas become totals of others."""

from __future__ import annotations

from collections.abc import Mapping

from ._errors import DataError
from ._study import run

# What the program says of each row, in this order.
_TOLD = ("mean", "sd", "lower", "median", "upper")
_KEY = "quadrat_row"


def areal_interpolate(source, target, *, total=None, average=None, variance=0, kernel=None,
                      link=None, seed=0):
    """Totals or averages of some areas, told for others, with intervals.

    Every area enters as the integral or the average over it that it is; the totals of the sources
    are met.

    Parameters
    ----------
    source, target : GeoDataFrame or feature collection
        The areas that were observed, and those that are asked for. Longitudes and latitudes are
        projected as the program does; coordinates with a projected CRS are taken as they are.
    total, average : str
        The column that holds the total, or the average, of each source.
    variance : float, default 0
        The known variance of these; 0 where they are exact.
    kernel : str, optional
        Over ``x`` and ``y``; a broad and a fine part where it is not given.
    link : {"exp", "softplus"}, optional
        Keeps what is added up above zero.
    seed : int
        Fixes everything random.

    Returns
    -------
    GeoDataFrame or list of dict
        The targets with ``mean``, ``sd``, ``lower``, ``median`` and ``upper``; of a feature
        collection one dict for each feature.
    """
    if (total is None) == (average is None):
        raise DataError("give either total or average: the column of the source")
    value = total or average
    aggregate = "sum" if average is None else "mean"
    planar = _is_planar(source)
    if planar != _is_planar(target):
        raise DataError("source and target have different kinds of coordinates; bring both to one "
                        "CRS, such as target.to_crs(source.crs)")
    support = {"key": _KEY, "dims": ["x", "y"], "planar": True if planar else None}
    part = "se(x, y, shared = true)"
    result = run({
        "title": f"{value} by areal interpolation",
        "latent": {"kernel": str(kernel or f"{part} + {part}")},
        "observe": [{
            "file": _keyed(source), "support": {"region": support}, "aggregate": aggregate,
            "likelihood": {"gaussian": {"value": value, "variance": variance, "link": link}},
        }],
        "predict": [{
            "name": "target", "aggregate": aggregate,
            "support": {"region": {"file": _keyed(target), **support}},
        }],
        "inference": {"seed": seed},
    })
    columns = {name: result["target"][name] for name in _TOLD}
    if hasattr(target, "assign"):
        return target.assign(**columns)
    rows = zip(*columns.values())
    return [dict(zip(columns, map(float, row))) for row in rows]


def _is_planar(areas):
    crs = getattr(areas, "crs", None)
    return bool(crs is not None and not crs.is_geographic)


def _keyed(areas):
    """A feature collection whose features have their place among the rows as a property."""
    found = areas if isinstance(areas, Mapping) else areas.__geo_interface__
    if found.get("type") != "FeatureCollection":
        raise DataError("areas must be a GeoDataFrame or a feature collection")
    features = [{"type": "Feature", "geometry": one["geometry"],
                 "properties": {**(one.get("properties") or {}), _KEY: f"row {at}"}}
                for at, one in enumerate(found["features"])]
    return {"type": "FeatureCollection", "features": features}
