"""Geometries as well-known binary: every way in gives the same polygons; broken bytes are named."""

import json
import struct
import sys
import types

import numpy as np
import pytest

import quadrat as qd

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")


def ring(x, side, turned=False):
    corners = [(x, 0.1), (x + side, 0.1), (x + side, 0.1 + side), (x, 0.1 + side), (x, 0.1)]
    return corners[::-1] if turned else corners


# A third of a unit is no short decimal.
SHAPES = [[[ring(0, 1 / 3)]], [[ring(1, 1.0), ring(1.25, 0.5, True)]],
          [[ring(2.5, 0.5)], [ring(3.5, 0.7)]]]
DICTS = [{"type": "MultiPolygon", "coordinates": parts} for parts in SHAPES]
VALUES = [0.4, 1.0, 0.8]


def wkb(parts, order="<", more=0, code=lambda kind: kind, srid=False):
    """A multipolygon in some dialect."""
    def head(kind):
        return struct.pack(order + "BI", order == "<", code(kind)) + (
            struct.pack(order + "I", 3035) if srid else b"")

    found = head(6) + struct.pack(order + "I", len(parts))
    for part in parts:
        found += head(3) + struct.pack(order + "I", len(part))
        for own in part:
            found += struct.pack(order + "I", len(own))
            for at in own:
                found += struct.pack(f"{order}{2 + more}d", *at, *[9.5] * more)
    return found


DIALECTS = {
    "little": {}, "big": {"order": ">"},
    "ISO Z": {"more": 1, "code": lambda kind: kind + 1000},
    "ISO M": {"more": 1, "code": lambda kind: kind + 2000},
    "ISO ZM": {"more": 2, "code": lambda kind: kind + 3000, "order": ">"},
    "EWKB Z": {"more": 1, "code": lambda kind: kind | 0x80000000},
    "EWKB M and SRID": {"more": 1, "code": lambda kind: kind | 0x60000000, "srid": True},
}


def told(geometries, **said):
    """Areas and totals, to the last bit."""
    at = qd.region(geometries, aggregate="sum", **said)
    post = qd.Model("se(x, y)", hyperparameters={
        name: {"value": 1.0, "fixed": True} for name in
        ("se.variance", "se.lengthscale.x", "se.lengthscale.y")}).observe(
            at, value=VALUES, noise=0.01).fit()
    return post.predict(at).mean


EXPECTED = told(DICTS)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_the_same_polygon(dialect):
    column = [wkb(parts, **DIALECTS[dialect]) for parts in SHAPES]
    np.testing.assert_array_equal(told(column), EXPECTED)
    np.testing.assert_array_equal(told(list(map(bytearray, column))), EXPECTED)
    np.testing.assert_array_equal(told(np.array(column, dtype=object)), EXPECTED)


def test_frames_and_arrow_columns_go_in_as_their_bytes():
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    column = list(map(wkb, SHAPES))
    kinds = [pa.array(column), pa.chunked_array([column[:1], column[1:]]),
             pa.array(column, pa.large_binary()), pd.Series(column, index=list("abc"))]
    kinds += [pytest.importorskip("polars").Series(column)]
    for kind in kinds:
        np.testing.assert_array_equal(told(kind), EXPECTED)
    frame = pa.table({"where": column})
    at = qd.region("where", aggregate="sum").place(frame)
    assert len(at.made()) == 3 and not at.in_degrees

    class Foreign:
        """A column that hands out an Arrow array and nothing else."""

        def __arrow_c_array__(self, requested_schema=None):
            return pa.array(column).__arrow_c_array__(requested_schema)

    np.testing.assert_array_equal(told(Foreign()), EXPECTED)
    with pytest.raises(qd.DataError, match="an Arrow column of int64; give WKB"):
        told(pa.array([1, 2, 3]))
    with pytest.raises(qd.DataError, match="region 1 is missing"):
        told(pa.array([column[0], None, column[2]]))


def test_metadata_of_arrow_says_whether_coordinates_are_degrees():
    pa = pytest.importorskip("pyarrow")
    column = pa.array(list(map(wkb, SHAPES)))

    def place(file=None, own=None):
        field = pa.field("shape", pa.binary(), metadata=None if own is None else {
            "ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": json.dumps(own)})
        metadata = None if file is None else {"geo": json.dumps({"columns": {"shape": file}})}
        data = pa.table([column], schema=pa.schema([field], metadata=metadata))
        return qd.region("shape", aggregate="sum").place(data).in_degrees

    geographic, projected = {"type": "GeographicCRS"}, {"type": "ProjectedCRS"}
    assert not place() and not place(own={})
    # A GeoParquet file without a CRS is in longitudes and latitudes.
    assert place(file={}) and not place(file={"crs": None})
    for said, expected in ((geographic, True), (projected, False), ("EPSG:4326", True)):
        assert place(file={"crs": said}) == place(own={"crs": said}) == expected


class Crs:
    """What is asked of a CRS of pyproj."""

    def __init__(self, *units, is_geographic=True, is_geocentric=False):
        self.is_geographic, self.is_geocentric = is_geographic, is_geocentric
        self.axis_info = [types.SimpleNamespace(unit_name=unit) for unit in units]


class Column(list):
    """Geometries with a CRS."""

    def __init__(self, crs):
        super().__init__(DICTS)
        self.crs = crs


def axes(*units):
    return {"axis": [{"name": "one", "unit": unit} for unit in units]}


GEOGRAPHIC = {"type": "GeographicCRS", "coordinate_system": axes("degree", "degree")}
PROJECTED = {"type": "ProjectedCRS", "base_crs": GEOGRAPHIC}
VERTICAL = {"type": "VerticalCRS", "coordinate_system": axes("metre")}
GRADS = axes({"type": "AngularUnit", "name": "grad"}, {"type": "AngularUnit", "name": "grad"})
UNCLEAR = [
    ({"type": "GeodeticCRS"}, "has the type 'GeodeticCRS', which is neither"), ({}, "type 'None'"),
    ({"type": "CompoundCRS"}, "'CompoundCRS'"), ({"type": "BoundCRS"}, "cannot be read"),
    ({"type": "CompoundCRS", "components": [VERTICAL]}, "'VerticalCRS'"), (5, "cannot be read"),
]


def read(crs, planar=None):
    """Whether a column of geoarrow with this CRS is in degrees."""
    pa = pytest.importorskip("pyarrow")
    metadata = crs if isinstance(crs, bytes) else json.dumps({"crs": crs}).encode()
    field = pa.field("shape", pa.binary(), metadata={
        "ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": metadata})
    data = pa.table([pa.array(list(map(wkb, SHAPES)))], schema=pa.schema([field]))
    return qd.region("shape", aggregate="sum", planar=planar).place(data).in_degrees


@pytest.mark.parametrize(("crs", "expected"), [(GEOGRAPHIC, True), (PROJECTED, False)])
def test_a_crs_within_another_is_looked_into(crs, expected):
    height = {"type": "GeographicCRS", "coordinate_system": axes("degree", "degree", "metre")}
    assert read(crs) == expected and read(height)
    for around in ({"type": "CompoundCRS", "components": [crs, VERTICAL]},
                   {"type": "BoundCRS", "source_crs": crs, "target_crs": PROJECTED}):
        assert read(around) == expected
        assert read({"type": "CompoundCRS", "components": [around, VERTICAL]}) == expected


@pytest.mark.parametrize(("crs", "match"), [*UNCLEAR, (b"{", "read"), (b"[]", "read")])
def test_a_crs_that_is_not_clear_asks_for_planar(crs, match):
    with pytest.raises(qd.DataError, match=f"{match}.*; say planar=True or planar=False"):
        read(crs)
    assert not read(crs, planar=True) and read(crs, planar=False)


@pytest.mark.parametrize("told", [b"{", b"[]", b"\xff", b"{}", b'{"columns": []}',
                                  b'{"columns": {"shape": 1}}'])
def test_broken_metadata_of_a_file_ask_for_planar(told):
    pa = pytest.importorskip("pyarrow")
    schema = pa.schema([("shape", pa.binary())], metadata={"geo": told})
    data = pa.table([pa.array(list(map(wkb, SHAPES)))], schema=schema)
    with pytest.raises(qd.DataError, match="metadata of the geometries cannot be read.*; say pla"):
        qd.region("shape", aggregate="sum").place(data)
    assert not qd.region("shape", aggregate="sum", planar=True).place(data).in_degrees


def test_codes_are_read_by_pyproj_where_it_is_installed(monkeypatch):
    pytest.importorskip("pyproj")
    assert read("EPSG:4979") and not read("EPSG:25832")
    assert read("EPSG:4326+5773") and not read("EPSG:25832+5783")
    for crs, match in (("EPSG:123456789", "pyproj does not know the CRS 'EPSG:1"),
                       ("EPSG:4978", "is geocentric")):
        with pytest.raises(qd.DataError, match=f"{match}.*; say planar=True or planar=False"):
            read(crs)
        assert not read(crs, planar=True) and read(crs, planar=False)
    monkeypatch.setitem(sys.modules, "pyproj", None)
    assert read("EPSG:4326")
    with pytest.raises(qd.DataError, match="CRS 'EPSG:25832', which pyproj reads.*; say planar="):
        read("EPSG:25832")


def test_units_of_a_crs_are_degrees_but_for_heights():
    for crs in (Crs("degree", "degree"), Crs("degree", "degree", "metre")):
        assert qd.region(Column(crs), aggregate="sum").place().in_degrees
    for place in (lambda: qd.region(Column(Crs("degree", "grad")), aggregate="sum").place(),
                  lambda: read({"type": "GeographicCRS", "coordinate_system": GRADS})):
        with pytest.raises(qd.DataError, match="has the unit 'grad'; give degrees"):
            place()
    assert not qd.region(Column(Crs(is_geographic=False)), aggregate="sum").place().in_degrees
    earth = Column(Crs(is_geographic=False, is_geocentric=True))
    with pytest.raises(qd.DataError, match="is geocentric; say planar"):
        qd.region(earth, aggregate="sum").place()
    with pytest.raises(qd.DataError, match="^areas: the CRS .* is geocentric; project them first"):
        qd.Density2d.from_areas(earth, [5, 9, 3])


def test_geopandas_and_shapely():
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    shapes = [shapely.from_wkb(wkb(parts)) for parts in SHAPES]
    series = geopandas.GeoSeries(shapes, index=list("abc"))
    frame = geopandas.GeoDataFrame({"value": VALUES}, index=list("abc"), geometry=series)
    raised = geopandas.GeoSeries(shapely.force_3d(shapes, 7.0))
    for kind in (shapes, series, frame, np.array(shapes), raised, series.values):
        np.testing.assert_array_equal(told(kind), EXPECTED)
    with pytest.raises(qd.DataError, match="region 1 is a Point"):
        told(geopandas.GeoSeries([shapes[0], shapely.Point(0, 0), shapes[2]]))
    with pytest.raises(qd.DataError, match="region 2 is missing"):
        told(geopandas.GeoSeries([*shapes[:2], None]))
    with pytest.raises(qd.DataError, match="region 0: "):
        told(geopandas.GeoSeries([shapely.Polygon(), *shapes[1:]]))


def with_srid(number, parts=SHAPES[0], order="<"):
    """EWKB, as PostGIS writes it."""
    own = wkb(parts, order)
    code = struct.unpack_from(order + "I", own, 1)[0] | 0x20000000
    return own[:1] + struct.pack(order + "2I", code, number) + own[5:]


def test_an_srid_says_what_coordinates_are():
    pytest.importorskip("pyproj")

    def placed(geometries, **said):
        return qd.region(geometries, aggregate="sum", **said).place()

    for order in "<>":
        one = placed([with_srid(4326, order=order)])
        assert one.in_degrees and one.crs == "EPSG:4326"
    assert not placed([with_srid(4326)], planar=True).in_degrees
    plane = placed([with_srid(3035), with_srid(0)])
    assert not plane.in_degrees and plane.crs == "EPSG:3035"
    assert not placed([with_srid(0)]).in_degrees and placed([with_srid(0)]).crs is None
    with pytest.raises(qd.DataError, match="planar is False, and the CRS .* is projected"):
        placed([with_srid(3035)], planar=False)
    for number, match in ((999999, "pyproj does not know the CRS 'EPSG:999999'.*say planar="),
                          (4978, "geocentric; say planar="), (4807, "has the unit 'grad'")):
        with pytest.raises(qd.DataError, match=f"^region 1 has the SRID {number}: .*{match}"):
            placed([wkb(SHAPES[0]), with_srid(number)])
    assert placed([with_srid(999999)], planar=False).crs is None
    with pytest.raises(qd.DataError, match="region 2 has the SRID 3035, and region 0 has 4326"):
        placed([with_srid(4326), with_srid(4326), with_srid(3035)], planar=True)
    with pytest.raises(qd.DataError, match="^inside: the geometries are in longitudes"):
        qd.Density2d([0.0, 1], [0.0, 1], inside=[with_srid(4326)])


def test_an_srid_agrees_with_the_crs_of_its_column():
    pa, pyproj = pytest.importorskip("pyarrow"), pytest.importorskip("pyproj")

    def read(number, crs):
        about = {"crs": None if crs is None else pyproj.CRS(crs).to_json_dict()}
        field = pa.field("at", pa.binary(), metadata={
            "ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": json.dumps(about)})
        data = pa.table([pa.array([with_srid(number)])], schema=pa.schema([field]))
        return qd.region("at", aggregate="sum").place(data).in_degrees

    assert read(4326, 4326) and read(4326, None) and not read(3035, 3035)
    for number, crs in ((3035, 4326), (4326, 3035), (3035, 25832)):
        with pytest.raises(qd.DataError, match=f"carry the SRID {number} .* CRS of their column"):
            read(number, crs)


def test_shapes_of_shapely_carry_their_srid():
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    shapes = [shapely.set_srid(shapely.from_wkb(wkb(parts)), 4326) for parts in SHAPES]
    for kind in (shapes, geopandas.GeoSeries(shapes)):
        assert qd.region(kind, aggregate="sum").place().in_degrees
    # The CRS of a frame is kept up to date, and what its shapes carry is not.
    moved = geopandas.GeoSeries(shapes, crs=3035)
    assert not qd.region(moved, aggregate="sum").place().in_degrees


@pytest.mark.parametrize("given", [
    None, 3, 2.5, True, [], (), np.array(3), np.empty(0), b"\x01", {"geometry": []}, lambda: 0,
    float("nan")], ids=repr)
def test_what_are_no_geometries_is_refused_by_the_name_of_the_argument(given):
    with pytest.raises(qd.DataError, match="^geometries (is|has) "):
        qd.region(given, aggregate="sum").place()
    with pytest.raises(qd.DataError, match="^areas(:| is| has)"):
        qd.Density2d.from_areas(given, [1.0])


def test_tables_are_no_geometries():
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    column = [wkb(parts) for parts in SHAPES]
    for table in (pa.table({"at": column}), pd.DataFrame({"at": column}),
                  pa.record_batch({"at": column})):
        with pytest.raises(qd.DataError, match="^geometries is a .* of columns; name the one"):
            qd.region(table, aggregate="sum")
        assert qd.region("at", aggregate="sum").place(table).rows == 3
    # What can be read once is kept.
    support = qd.region((own for own in column), aggregate="sum")
    assert support.place().rows == support.place().rows == 3


def test_broken_bytes_name_their_row():
    whole = wkb(SHAPES[1])
    for length in range(len(whole)):
        with pytest.raises(qd.DataError, match="^region 1: its WKB (ends|names)"):
            qd.region([wkb(SHAPES[0]), whole[:length]], aggregate="sum").place().made()
    random = np.random.default_rng(1)
    refused = 0
    for _ in range(2000):
        broken = bytearray(whole)
        for at in random.integers(len(whole), size=random.integers(1, 4)):
            broken[at] ^= 1 << random.integers(8)
        try:
            made = qd.region([bytes(broken)], aggregate="sum").place()
            assert len(made.made()) == 1
        except qd.DataError as error:
            assert str(error).startswith("region 0")
            refused += 1
    assert refused > 100
    for bad, match in ((b"", "ends at byte 0"), (b"\x09", "byte order 9"),
                       (whole + b"x", "goes on after its end"),
                       (struct.pack("<BI2d", 1, 1, 0, 0), "region 0 is a Point"),
                       (struct.pack("<BII", 1, 6, 2**32 - 1), "more than its bytes can hold"),
                       (struct.pack("<BII", 1, 3, 0), "region 0: ")):
        with pytest.raises(qd.DataError, match=match):
            qd.region([bad], aggregate="sum").place().made()


@pytest.mark.parametrize(("geometry", "match"), [
    (None, "region 0 is missing"), ("POLYGON EMPTY", "region 0 is str; give polygons as WKB"),
    ({"type": "Feature", "geometry": None}, "region 0 is missing"),
    ({"type": "Polygon"}, "region 0: "), ({"type": "Polygon", "coordinates": [[]]}, "region 0: "),
    ({"type": "Polygon", "coordinates": [[[0, 0], ["a", 1]]]}, "region 0 has the vertex"),
    ({"type": "Polygon", "coordinates": [[[0, 0], [1]]]}, "region 0 has the vertex"),
    ({"type": "Polygon", "coordinates": [[[0, 0], [10**400, 1]]]}, "region 0 has the vertex"),
    *(({"type": kind, "coordinates": own}, "region 0 has coordinates that are no rings")
      for kind in ("Polygon", "MultiPolygon") for own in (None, 5, [None], [5])),
    ({"type": "Polygon", "coordinates": [[5, 6]]}, "region 0 has the vertex 5"),
    ({"type": "MultiPolygon", "coordinates": [[5]]}, "region 0 has coordinates that are no rings"),
])
def test_broken_dicts_name_their_row(geometry, match):
    with pytest.raises(qd.DataError, match=match):
        qd.region([geometry], aggregate="sum").place().made()


def test_areas_of_densities_and_pickles():
    column = [wkb(parts) for parts in SHAPES]
    settings = {"cells": 20, "draws": 200}
    one = qd.Density2d.from_areas(column, [5, 9, 3], **settings)
    other = qd.Density2d.from_areas(DICTS, [5, 9, 3], **settings)
    np.testing.assert_array_equal(one.density, other.density)
    with pytest.raises(qd.DataError, match="areas: region 1: its WKB names"):
        qd.Density2d.from_areas([column[0], column[1][:40]], [5, 9])
    with pytest.raises(qd.DataError, match="inside: region 0: its WKB names"):
        qd.Density2d([0.0, 1], [0.0, 1], inside=[column[0][:40]])
