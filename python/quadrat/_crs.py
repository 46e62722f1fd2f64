"""What a CRS says of coordinates: longitudes and latitudes, or a plane."""

from __future__ import annotations

import json
import struct

from . import _frames
from ._errors import DataError

# The bit of a type in EWKB that says that an SRID follows.
_HAS_SRID = 0x20000000
_KINDS = "projected", "longitudes and latitudes"


class Unclear(DataError):
    """What is known of a CRS does not say whether coordinates are longitudes and latitudes."""


def is_geographic(geometries, data, name, found):
    """Whether coordinates are longitudes and latitudes; `None` where nothing says it."""
    crs = getattr(geometries, "crs", None)
    if crs is not None:
        return _of_crs(crs)
    row, own = _first_srid(found)
    crs = _crs_of_arrow(geometries, data, name)
    told = _of_projjson(crs)
    if own is None:
        return told
    try:
        degrees = _of_code(f"EPSG:{own}")
    except DataError as error:
        raise type(error)(f"region {row} has the SRID {own}: {error}") from None
    if told is not None and (told != degrees or _epsg(crs) not in (None, own)):
        raise DataError(f"the geometries carry the SRID {own} ({_KINDS[degrees]}), and the "
                        f"CRS of their column is another ({_KINDS[told]}); write them with the CRS "
                        "that they are in")
    return degrees


def _epsg(crs):
    """The number of a CRS in PROJJSON or as a code, where it is one of EPSG."""
    own = _object(crs).get("id") if not isinstance(crs, str) else None
    if isinstance(own, dict) and own.get("authority") == "EPSG":
        crs = f"EPSG:{own.get('code')}"
    number = crs[5:] if isinstance(crs, str) and crs.startswith("EPSG:") else ""
    return int(number) if number.isdecimal() else None


def _of_crs(crs):
    """The same of a CRS as pyproj has it."""
    if isinstance(crs, str):
        return _of_code(crs)
    if getattr(crs, "is_geocentric", False):
        raise Unclear("the CRS of the geometries is geocentric")
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


def _crs_of_arrow(geometries, data, name):
    """The CRS in the metadata of an Arrow column: of geoarrow.wkb, or of a GeoParquet file."""
    schema = getattr(getattr(data, "table", data), "schema", None)
    file = getattr(schema, "metadata", None)
    if name is not None and isinstance(file, dict) and b"geo" in file:
        columns = _object(_object(file[b"geo"]).get("columns"))
        if name in columns:
            # Where a file says nothing, GeoParquet means longitudes and latitudes.
            return _object(columns[name]).get("crs", "OGC:CRS84")
    own = getattr(geometries, "type", None)
    kind = getattr(own, "extension_name", "")
    told = own.__arrow_ext_serialize__() if hasattr(own, "__arrow_ext_serialize__") else b""
    if not told and name is not None and hasattr(schema, "field"):
        field = schema.field(name).metadata or {}
        kind = field.get(b"ARROW:extension:name", b"").decode(errors="replace")
        told = field.get(b"ARROW:extension:metadata", b"")
    if not told or not kind.startswith(("geoarrow.", "ogc.")):
        return None
    return _object(told).get("crs")


def _object(told):
    """A JSON object of metadata, which may be its text."""
    try:
        told = json.loads(told) if isinstance(told, (bytes, str)) else told
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise Unclear("the metadata of the geometries cannot be read, and may name a CRS")
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
        raise Unclear(f"the CRS of the geometries has the type {str(kind)[:40]!r}, which is "
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
        raise Unclear(f"the geometries have the CRS {crs[:40]!r}, which pyproj reads, and it is "
                       "not installed") from None
    try:
        known = pyproj.CRS(crs)
    except pyproj.exceptions.CRSError:
        raise Unclear(f"pyproj does not know the CRS {crs[:40]!r} of the geometries") from None
    return _of_crs(known)


def _first_srid(found):
    """The first row with an SRID, as PostGIS writes them (EWKB), and that SRID, or `None`."""
    first = None
    for row, one in enumerate(found):
        own = _srid(one)
        if own and first is None:
            first = row, own
        elif own and own != first[1]:
            raise DataError(f"region {row} has the SRID {own}, and region {first[0]} has "
                            f"{first[1]}; bring them to one CRS")
    return first or (0, None)


def named(found):
    """The CRS that geometries carry, as a code that pyproj knows, or `None`."""
    _, own = _first_srid(found)
    try:
        return None if own is None or _of_code(f"EPSG:{own}") is None else f"EPSG:{own}"
    except DataError:
        return None


def _srid(one):
    """That of one geometry, 0 where it says none."""
    order = "<" if one[:1] == b"\x01" else ">"
    if len(one) < 9 or not struct.unpack_from(order + "I", one, 1)[0] & _HAS_SRID:
        return 0
    return struct.unpack_from(order + "I", one, 5)[0]
