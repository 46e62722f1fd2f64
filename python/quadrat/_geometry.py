"""Polygons as well-known binary (WKB), from whatever users have."""

from __future__ import annotations

import struct

from . import _arrays, _crs, _frames, _quadrat
from ._errors import DataError

_PROJECT = ("project them first, such as geometries.to_crs(geometries.estimate_utm_crs())")
_SAY = "say planar=True or planar=False"
_GIVE = ("give polygons: a GeoSeries, a list of shapely's or of WKB, GeoJSON-like dicts, or the "
         "name of a column of data")


def regions(geometries, planar=None, data=None):
    """Every region as the bytes of a polygon or a multipolygon, and whether they are in degrees.

    Parameters
    ----------
    geometries
        As for :func:`region`.
    planar : bool, optional
        Whether coordinates are taken as they are; where it is not given the CRS says it.
    data : data frame, optional
        That `geometries` is a column of.
    """
    name = geometries if isinstance(geometries, str) else None
    if name is not None:
        data = _frames.held(data)
        geometries = _frames.take(data, name, "geometries")
    found = _wkb(geometries)
    if not found:
        raise DataError("geometries has no rows; give a polygon for each row")
    return found, _in_degrees(geometries, planar, data, name, found)


def planar_regions(geometries, argument):
    """The same where coordinates are taken as they are."""
    check(geometries, argument)
    found = _wkb(geometries)
    try:
        degrees = _crs.is_geographic(geometries, None, None, found)
    except _crs.Unclear as fact:
        raise DataError(f"{argument}: {fact}; {_PROJECT}") from None
    if degrees:
        raise DataError(f"{argument}: the geometries are in longitudes and latitudes; {_PROJECT}")
    return found


def check(geometries, argument="geometries"):
    """Refuses what can be no geometries, whatever rows it is of."""
    given = type(geometries).__name__
    is_column = hasattr(geometries, "__iter__") or _is_arrow(geometries)
    is_column = is_column and getattr(geometries, "ndim", 1) > 0
    if not is_column and not hasattr(geometries, "__geo_interface__"):
        raise DataError(f"{argument} is {given}; {_GIVE}")
    if isinstance(geometries, (bytes, bytearray)):
        raise DataError(f"{argument} is {given}, one geometry; give a list of them")
    has_columns = isinstance(geometries, dict) and "type" not in geometries
    if has_columns or not hasattr(geometries, "to_wkb") and _is_table(geometries):
        raise DataError(f"{argument} is a {given} of columns; name the one of the geometries, and "
                        "give the table as data")


def _is_table(geometries):
    names = getattr(geometries, "column_names", None) or getattr(geometries, "columns", None)
    return names is not None and not callable(names)


def _in_degrees(geometries, planar, data, name, found):
    """Whether coordinates are longitudes and latitudes, as was said or as the CRS says it."""
    if planar:
        return False
    try:
        is_geographic = _crs.is_geographic(geometries, data, name, found)
    except _crs.Unclear as fact:
        if planar is None:
            raise DataError(f"{fact}; {_SAY}") from None
        return True
    if planar is False and is_geographic is False:
        raise DataError("planar is False, and the CRS of the geometries is projected; bring them "
                        "to longitudes and latitudes (EPSG:4326), or leave planar out")
    return planar is not None or bool(is_geographic)


def _wkb(geometries):
    """WKB, vectorised where that can be had."""
    if hasattr(geometries, "to_wkb"):
        # Of a frame of geopandas this would be a frame.
        geometries = getattr(geometries, "geometry", geometries)
        # Where the frame has no CRS, what the geometries carry says it.
        told = {} if getattr(geometries, "crs", None) is not None else {"include_srid": True}
        geometries = geometries.to_wkb(**told)
    elif _is_arrow(geometries):
        geometries = _storage(geometries)
    elif hasattr(geometries, "__geo_interface__"):
        geometries = geometries.__geo_interface__
    if isinstance(geometries, dict):
        geometries = geometries["features"] if "features" in geometries else [geometries]
    return [_bytes(one, row) for row, one in enumerate(_frames.values(geometries))]


def _is_arrow(column):
    is_capsule = hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__")
    return hasattr(column, "to_pylist") or is_capsule and not hasattr(column, "tolist")


def _storage(column):
    """The bytes of an Arrow column, without the extension type around them."""
    if not hasattr(column, "to_pylist"):
        if hasattr(column, "to_list"):
            return column.to_list()
        pyarrow = _frames.module("pyarrow", "to read geometries")
        is_array = hasattr(column, "__arrow_c_array__")
        column = pyarrow.array(column) if is_array else pyarrow.chunked_array(column)
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    chunks = [getattr(chunk, "storage", chunk) for chunk in chunks]
    strange = [chunk.type for chunk in chunks if "binary" not in str(chunk.type)]
    if strange:
        raise DataError(f"geometries are an Arrow column of {str(strange[0])[:60]}; give WKB "
                        "(geoarrow.wkb, or binary as GeoParquet has it)")
    return [one for chunk in chunks for one in chunk.to_pylist()]


def _bytes(geometry, row):
    if isinstance(geometry, (bytes, bytearray, memoryview)):
        return bytes(geometry)
    if type(geometry).__module__.partition(".")[0] == "shapely":
        # An SRID goes along.
        own = _frames.module("shapely", "to read geometries")
        return own.to_wkb(geometry, include_srid=True)
    if not isinstance(geometry, dict) and _is_none(geometry):
        raise DataError(f"region {row} is missing; give it a geometry, or leave this row out")
    return _multipolygon(_parts(geometry, row), row)


def _is_none(geometry):
    return not hasattr(geometry, "__geo_interface__") and _frames.is_missing(geometry) is True


def _parts(geometry, row):
    if hasattr(geometry, "__geo_interface__"):
        geometry = geometry.__geo_interface__
    if isinstance(geometry, dict) and geometry.get("type") == "Feature":
        geometry = geometry.get("geometry")
        if geometry is None:
            raise DataError(f"region {row} is missing; give it a geometry, or leave this row out")
    if not isinstance(geometry, dict) or "type" not in geometry:
        raise DataError(f"region {row} is {type(geometry).__name__}; give polygons as WKB, as "
                        "GeoJSON-like dicts, or objects with __geo_interface__")
    kind = geometry["type"]
    if kind == "Polygon":
        return [geometry.get("coordinates", ())]
    if kind == "MultiPolygon":
        return geometry.get("coordinates", ())
    raise DataError(f"region {row} is a {kind}; only polygons and multipolygons have an area")


def _multipolygon(parts, row):
    try:
        parts = [[list(ring) for ring in part] for part in parts]
    except TypeError:
        raise DataError(f"region {row} has coordinates that are no rings of vertices; give "
                        "coordinates as GeoJSON has them") from None
    found = [struct.pack("<BII", 1, 6, len(parts))]
    for part in parts:
        found.append(struct.pack("<BII", 1, 3, len(part)))
        for ring in part:
            ring = [_vertex(at, row) for at in ring]
            ring = ring if ring[:1] == ring[-1:] else [*ring, ring[0]]
            found.append(struct.pack("<I", len(ring)))
            found.extend(struct.pack("<2d", *at) for at in ring)
    return b"".join(found)


def _vertex(at, row):
    try:
        return float(at[0]), float(at[1])
    except (TypeError, ValueError, IndexError, KeyError, OverflowError):
        raise DataError(f"region {row} has the vertex {at!r}; give two numbers") from None


def of_text(told):
    """Regions as JSON keeps them: hexadecimal digits."""
    return [bytes.fromhex(one) for one in told]


def ends(geometries, argument=None):
    """Columns of the boxes around regions: left, lower, right and upper ends."""
    try:
        return [_arrays.received(own) for own in _quadrat.wkb_bounds(geometries)]
    except DataError as error:
        raise error if argument is None else DataError(f"{argument}: {error}") from None


def rings(geometry):
    """The rings of a region, whatever part they are of."""
    return [ring for part in _quadrat.wkb_rings(geometry) for ring in part]


def map_of(tables):
    """The map about all regions in degrees of some tables, which name both coordinates alike."""
    dims = tables[0].dims[:2]
    for table in tables:
        if table.dims[:2] != dims:
            raise DataError(f"dims are {table.dims[:2]}, and other regions of the model give "
                            f"longitude and latitude as {dims}; use the same two inputs, in the "
                            "same order")
    if dims[0].lower().startswith("lat") and dims[1].lower().startswith(("lon", "lng")):
        raise DataError(f"dims are {dims}, and geometries have longitude first; write "
                        f"dims={dims[::-1]}")
    return _quadrat.GeographicMap.about(dims, [table.arguments[1] for table in tables])
