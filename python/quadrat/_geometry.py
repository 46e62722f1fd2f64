"""Polygons as well-known binary (WKB), from whatever users have."""

from __future__ import annotations

import json
import struct

from . import _arrays, _frames, _quadrat
from ._errors import DataError

_PROJECT = ("project them first, such as geometries.to_crs(geometries.estimate_utm_crs())")
_SAY = "say planar=True or planar=False"


class _Unclear(DataError):
    """What is known of a CRS does not say whether coordinates are longitudes and latitudes."""


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
    degrees = _in_degrees(geometries, planar, data, name)
    return _wkb(geometries), degrees


def planar_regions(geometries, argument):
    """The same where coordinates are taken as they are."""
    try:
        degrees = _is_geographic(geometries, None, None)
    except _Unclear as fact:
        raise DataError(f"{argument}: {fact}; {_PROJECT}") from None
    if degrees:
        raise DataError(f"{argument}: the geometries are in longitudes and latitudes; {_PROJECT}")
    return _wkb(geometries)


def _in_degrees(geometries, planar, data, name):
    """Whether coordinates are longitudes and latitudes, as was said or as the CRS says it."""
    if planar:
        return False
    try:
        is_geographic = _is_geographic(geometries, data, name)
    except _Unclear as fact:
        if planar is None:
            raise DataError(f"{fact}; {_SAY}") from None
        return True
    if planar is False and is_geographic is False:
        raise DataError("planar is False, and the CRS of the geometries is projected; bring them "
                        "to longitudes and latitudes (EPSG:4326), or leave planar out")
    return planar is not None or bool(is_geographic)


def _is_geographic(geometries, data, name):
    """Whether coordinates are longitudes and latitudes; `None` where nothing says it."""
    crs = getattr(geometries, "crs", None)
    return _of_arrow(geometries, data, name) if crs is None else _of_crs(crs)


def _of_crs(crs):
    """The same of a CRS as pyproj has it."""
    if isinstance(crs, str):
        return _of_code(crs)
    if getattr(crs, "is_geocentric", False):
        raise _Unclear("the CRS of the geometries is geocentric")
    if not getattr(crs, "is_geographic", False):
        return False
    # A third axis is the height.
    _check_degrees(axis.unit_name for axis in list(getattr(crs, "axis_info", ()))[:2])
    return True


def _check_degrees(units):
    others = [unit for unit in units if unit != "degree"]
    if others:
        raise DataError(f"the CRS of the geometries has the unit {others[0]!r}; give degrees, "
                        "such as geometries.to_crs(4326)")


def _of_arrow(geometries, data, name):
    """What the metadata of an Arrow column says: of geoarrow.wkb, or of a GeoParquet file."""
    schema = getattr(getattr(data, "table", data), "schema", None)
    file = getattr(schema, "metadata", None)
    if name is not None and isinstance(file, dict) and b"geo" in file:
        columns = _object(_object(file[b"geo"]).get("columns"))
        if name in columns:
            # Where a file says nothing, GeoParquet means longitudes and latitudes.
            return _of_projjson(_object(columns[name]).get("crs", "OGC:CRS84"))
    own = getattr(geometries, "type", None)
    kind = getattr(own, "extension_name", "")
    told = own.__arrow_ext_serialize__() if hasattr(own, "__arrow_ext_serialize__") else b""
    if not told and name is not None and hasattr(schema, "field"):
        field = schema.field(name).metadata or {}
        kind = field.get(b"ARROW:extension:name", b"").decode(errors="replace")
        told = field.get(b"ARROW:extension:metadata", b"")
    if not told or not kind.startswith(("geoarrow.", "ogc.")):
        return None
    return _of_projjson(_object(told).get("crs"))


def _object(told):
    """A JSON object of metadata, which may be its text."""
    try:
        told = json.loads(told) if isinstance(told, (bytes, str)) else told
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise _Unclear("the metadata of the geometries cannot be read, and may name a CRS")
    return told


def _of_projjson(crs):
    """Whether a CRS, in PROJJSON or as a text, is of longitudes and latitudes."""
    if crs is None:
        return None
    if isinstance(crs, str):
        return _of_code(crs)
    crs = _object(crs)
    kind, parts, source = (crs.get(key) for key in ("type", "components", "source_crs"))
    if kind == "CompoundCRS" and isinstance(parts, list) and parts:
        return _of_projjson(_object(parts[0]))
    if kind == "BoundCRS":
        return _of_projjson(_object(source))
    if kind not in ("GeographicCRS", "ProjectedCRS"):
        raise _Unclear(f"the CRS of the geometries has the type {str(kind)[:40]!r}, which is "
                       "neither geographic nor projected")
    if kind == "GeographicCRS":
        _check_degrees(_units(crs))
    return kind == "GeographicCRS"


def _units(crs):
    """The names of the units of the first two axes, where they are named."""
    system = crs.get("coordinate_system")
    axes = system.get("axis") if isinstance(system, dict) else None
    for axis in axes[:2] if isinstance(axes, list) else ():
        unit = axis.get("unit") if isinstance(axis, dict) else None
        unit = unit.get("name") if isinstance(unit, dict) else unit
        if unit is not None:
            yield unit


def _of_code(crs):
    """The same of a code, or of whatever else pyproj reads."""
    if crs in ("OGC:CRS84", "EPSG:4326"):
        return True
    try:
        pyproj = _frames.module("pyproj", "to read the CRS")
    except ImportError:
        raise _Unclear(f"the geometries have the CRS {crs[:40]!r}, which pyproj reads, and it is "
                       "not installed") from None
    try:
        known = pyproj.CRS(crs)
    except pyproj.exceptions.CRSError:
        raise _Unclear(f"pyproj does not know the CRS {crs[:40]!r} of the geometries") from None
    return _of_crs(known)


def _wkb(geometries):
    """WKB, vectorised where that can be had."""
    if hasattr(geometries, "to_wkb"):
        # Of a frame of geopandas this would be a frame.
        geometries = getattr(geometries, "geometry", geometries).to_wkb()
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
        return geometry.wkb
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
