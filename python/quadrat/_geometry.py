"""Polygons from GeoJSON-like dicts and anything with ``__geo_interface__``."""

from __future__ import annotations

import struct

import numpy as np

from ._errors import DataError


def regions(geometries):
    """For every region its parts: rings of vertices, the exterior first."""
    crs = getattr(geometries, "crs", None)
    if crs is not None and getattr(crs, "is_geographic", False):
        raise DataError("the geometries are in longitudes and latitudes; project them first, such "
                        "as geometries.to_crs(geometries.estimate_utm_crs())")
    if hasattr(geometries, "__geo_interface__"):
        geometries = geometries.__geo_interface__
    if isinstance(geometries, dict):
        geometries = geometries["features"] if "features" in geometries else [geometries]
    return [_parts(one, row) for row, one in enumerate(geometries)]


def _parts(geometry, row):
    if hasattr(geometry, "__geo_interface__"):
        geometry = geometry.__geo_interface__
    if isinstance(geometry, dict) and geometry.get("type") == "Feature":
        geometry = geometry.get("geometry")
    if not isinstance(geometry, dict) or "type" not in geometry:
        raise DataError(f"region {row} is {type(geometry).__name__}; give polygons as GeoJSON-like "
                        "dicts, or objects with __geo_interface__")
    kind = geometry["type"]
    if kind == "Polygon":
        parts = [geometry["coordinates"]]
    elif kind == "MultiPolygon":
        parts = geometry["coordinates"]
    else:
        raise DataError(f"region {row} is a {kind}; only polygons and multipolygons have an area")
    return [[[_vertex(at, row) for at in ring] for ring in part] for part in parts]


def _vertex(at, row):
    try:
        return [float(at[0]), float(at[1])]
    except (TypeError, ValueError, IndexError):
        raise DataError(f"region {row} has the vertex {at!r}; give two numbers") from None


def ends(regions):
    """Columns of the boxes around regions: left, lower, right and upper ends."""
    vertices = [[at for part in parts for ring in part for at in ring] for parts in regions]
    # One without vertices is refused with its number where polygons are made.
    vertices = [own or [[np.nan, np.nan]] for own in vertices]
    least = [np.min(own, axis=0) for own in vertices]
    most = [np.max(own, axis=0) for own in vertices]
    return [np.array(own, dtype=float) for own in (*zip(*least), *zip(*most))]


def wkb(regions):
    """Every region as the bytes of a multipolygon (WKB), its rings closed."""
    return [_multipolygon(parts) for parts in regions]


def _multipolygon(parts):
    found = struct.pack("<BII", 1, 6, len(parts))
    for part in parts:
        found += struct.pack("<BII", 1, 3, len(part))
        for ring in part:
            closed = ring if ring[0] == ring[-1] else [*ring, ring[0]]
            found += struct.pack("<I", len(closed))
            found += b"".join(struct.pack("<2d", *at) for at in closed)
    return found
