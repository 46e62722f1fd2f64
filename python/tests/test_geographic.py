"""Longitudes and latitudes are projected as the program does it."""

import json
import pickle
import subprocess

import numpy as np
import pytest

import quadrat as qd
from conftest import same, table
from shapes import square

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
KERNEL = "matern32(lon, lat, shared = true)"
LON_LAT = {"dims": ("lon", "lat"), "planar": False}
TOTALS = [12.0, 20.0, 9.0, 15.0]


SQUARES = [square(lon, lat) for lon in (9.0, 10.0) for lat in (47.0, 48.0)]
STUDY = f"""
[latent]
kernel = "{KERNEL}"
[[observe]]
file       = "squares.geojson"
support    = {{ region = {{ key = "id", dims = ["lon", "lat"] }} }}
aggregate  = "sum"
likelihood = {{ gaussian = {{ value = "total", variance = 0.01 }} }}
[[observe]]
file       = "sites.csv"
support    = {{ point = ["lon", "lat"] }}
likelihood = {{ gaussian = {{ value = "y", variance = 0.0001 }} }}
[[predict]]
name    = "points"
support.grid.lon = {{ from = 9.25, to = 10.75, step = 0.5 }}
support.grid.lat = {{ from = 47.2, to = 48.2, step = 0.5 }}
[[predict]]
name      = "cells"
aggregate = "sum"
support.grid.lon = {{ from = 9, to = 11, step = 1, cells = true }}
support.grid.lat = {{ from = 47, to = 49, step = 0.5, cells = true }}
[[predict]]
name      = "bags"
aggregate = "mean"
support   = {{ bag = {{ file = "pixels.csv", key = "id", dims = ["lon", "lat"] }} }}
[[predict]]
name      = "others"
aggregate = "mean"
support   = {{ region = {{ file = "others.geojson", key = "id", dims = ["lon", "lat"] }} }}
"""
SITES = {"lon": [9.2, 10.4], "lat": [47.9, 48.6], "y": [0.0018, 0.0025]}
PIXELS = {"id": ["a", "a", "b"], "lon": [9.5, 9.6, 10.2], "lat": [47.5, 47.7, 48.4]}


def collection(shapes, **columns):
    features = [{"type": "Feature", "geometry": shape,
                 "properties": {"id": f"f{at}", **{name: own[at] for name, own in columns.items()}}}
                for at, shape in enumerate(shapes)]
    return {"type": "FeatureCollection", "features": features}


def written(path, columns):
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def ran(program, tmp_path_factory):
    """What the program says of the study, and the model that it saves."""
    folder = tmp_path_factory.mktemp("geographic")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    squares = collection(SQUARES, total=TOTALS)
    (folder / "squares.geojson").write_text(json.dumps(squares), encoding="utf-8")
    (folder / "others.geojson").write_text(json.dumps(collection([square(9.3, 47.4, 0.7)])),
                                           encoding="utf-8")
    written(folder / "sites.csv", SITES)
    written(folder / "pixels.csv", PIXELS)
    subprocess.run([program, "run", folder / "study.toml", "-o", folder / "out", "--quiet"],
                   check=True)
    return folder


def model():
    regions = qd.region(SQUARES, aggregate="sum", **LON_LAT)
    made = qd.Model(KERNEL).observe(regions, value=TOTALS, noise=0.01)
    return made.observe(qd.point(lon=SITES["lon"], lat=SITES["lat"]), value=SITES["y"],
                        noise=0.0001)


@pytest.fixture(scope="module")
def post():
    return model().fit()


def asked(post):
    edges = {"lon": np.arange(9.0, 12), "lat": np.arange(94, 99) / 2}
    yield "points", post.predict(qd.grid(lon=np.arange(925, 1100, 50) / 100,
                                         lat=[47.2, 47.7, 48.2]))
    yield "cells", post.predict(qd.cells(edges, aggregate="sum"))
    yield "bags", post.predict(qd.bag(lon=PIXELS["lon"], lat=PIXELS["lat"], key=PIXELS["id"],
                                      aggregate="mean"))
    yield "others", post.predict(qd.region([square(9.3, 47.4, 0.7)], aggregate="mean", **LON_LAT))


NUMBERS = ("mean", "sd", "lower", "median", "upper")


def test_points_cells_bags_and_regions_have_the_numbers_of_the_program(ran, post):
    compared = 0
    for name, told in asked(post):
        expected = table(ran / "out" / f"{name}.csv")
        same(told.to_dict(), {column: expected[column] for column in NUMBERS})
        compared += 1
    assert compared == 4


def test_models_go_from_python_to_the_program_and_back(ran, post, program, tmp_path):
    saved = tmp_path / "study.quadrat"
    subprocess.run([program, "fit", ran / "study.toml", "-o", saved, "--quiet"], check=True)
    for name, told in asked(qd.load(saved)):
        expected = table(ran / "out" / f"{name}.csv")
        same(told.to_dict(), {column: expected[column] for column in NUMBERS})
    post.save(tmp_path / "own.quadrat")
    written(tmp_path / "at.csv", {"lon": [9.25, 9.25], "lat": [47.2, 47.7]})
    subprocess.run([program, "predict", tmp_path / "own.quadrat", "--at", tmp_path / "at.csv",
                    "--point", "lon", "lat", "-o", tmp_path / "told.csv"], check=True,
                   capture_output=True)
    expected = table(ran / "out" / "points.csv")
    same(table(tmp_path / "told.csv"), {name: expected[name][:2] for name in NUMBERS})


def test_order_and_pickles_change_nothing(post):
    # The map lies about the regions, whatever was observed before them.
    other = qd.Model(KERNEL)
    other.observe(qd.point(lon=SITES["lon"], lat=SITES["lat"]), value=SITES["y"], noise=0.0001)
    with pytest.raises(qd.DataError):
        other.observe(qd.region([square(9.0, 47.0)], dims=("lat", "lon"), planar=False,
                                aggregate="sum"), value=[1.0])
    assert repr(other) == f"<Model {KERNEL}, 2 rows>"
    first, second = SQUARES[:2], SQUARES[2:]
    for shapes, totals in ((first, TOTALS[:2]), (second, TOTALS[2:])):
        other.observe(qd.region(shapes, aggregate="sum", **LON_LAT), value=totals, noise=0.01)
    at = qd.grid(lon=[9.5, 10.5], lat=[47.5])
    expected = post.predict(at)
    # The same rows in another order.
    np.testing.assert_allclose(other.fit().predict(at).mean, expected.mean, rtol=1e-5)
    for again in (pickle.loads(pickle.dumps(model())).fit(), pickle.loads(pickle.dumps(post))):
        np.testing.assert_array_equal(again.predict(at).mean, expected.mean)
    told = pickle.loads(pickle.dumps(expected))
    np.testing.assert_array_equal(told.upper, expected.upper)
    grown = post.condition(qd.point(lon=[9.5], lat=[47.5]), value=[0.002], noise=1e-8)
    assert abs(grown.predict(at).mean[0] - 0.002) < abs(expected.mean[0] - 0.002) + 1e-6


def test_boxes_and_cells_may_name_latitude_first(post):
    west, east, south, north = [9.0, 10.0], [10.0, 10.4], [47.0, 48.1], [47.5, 49.0]
    lon, lat = {"lon": (west, east)}, {"lat": (south, north)}
    boxes = [qd.box({**lon, **lat}, aggregate="sum"), qd.box({**lat, **lon}, aggregate="sum")]
    one, other = (post.predict(own) for own in boxes)
    np.testing.assert_array_equal(other.mean, one.mean)
    np.testing.assert_array_equal(other.sd, one.sd)
    edges = {"lon": [9.0, 10, 11], "lat": [47.0, 47.5, 48, 49]}
    one = post.predict(qd.cells(edges, aggregate="mean")).mean.reshape(2, 3)
    turned = qd.cells({name: edges[name] for name in ("lat", "lon")}, aggregate="mean")
    np.testing.assert_array_equal(post.predict(turned).mean.reshape(3, 2).T, one)
    told = [model().observe(own, value=[4.0, 6.0], noise=0.01).fit() for own in boxes]
    np.testing.assert_array_equal(*(own.predict(boxes[0]).mean for own in told))


def test_latitude_may_come_first_beside_other_inputs():
    regions = qd.region(SQUARES, aggregate="sum", t=[0.0, 1, 2, 3], **LON_LAT)
    made = qd.Model(f"{KERNEL} * se(t)").observe(regions, value=TOTALS, noise=0.01).fit()
    sides = {"lon": ([9.0], [10.4]), "lat": ([47.0], [47.5]), "t": ([0.5], [2.0])}
    expected = made.predict(qd.box(sides, aggregate="sum")).mean
    for order in (("lat", "t", "lon"), ("t", "lat", "lon"), ("lon", "t", "lat")):
        told = made.predict(qd.box({name: sides[name] for name in order}, aggregate="sum")).mean
        # Volumes are products in another order.
        np.testing.assert_allclose(told, expected, rtol=1e-13)


@pytest.mark.parametrize(("support", "match"), [
    (qd.point(lon=[9.5]), "lon and lat are longitude and latitude of this model"),
    (qd.point(lon=[9.5], lat=[95.0]), "row 0: 95 is no latitude between -90 and 90"),
    (qd.point(lon=[9.5, 400], lat=[47.0, 47]), "row 1: 400 is no longitude"),
    (qd.box(lon=([9.0], [10.0]), lat=[47.0], aggregate="mean"), "both as points or both as boxes"),
    (qd.box(lon=([9.0], [9.0]), lat=([47.0], [48.0]), aggregate="sum"), "row 0: .* no area"),
    (qd.region([SQUARES[0]], dims=("lon", "lat"), aggregate="sum"), "these regions are planar"),
    (qd.region([SQUARES[0]], dims=("x", "y"), planar=False, aggregate="sum"), "dims are"),
    (qd.region([square(250.0, 100.0)], aggregate="sum", **LON_LAT), "region 0 spans .* no longit"),
])
def test_what_does_not_fit_the_map_is_named(post, support, match):
    with pytest.raises(qd.DataError, match=match):
        post.predict(support)


def test_other_models_and_rings_are_refused(post):
    planar = qd.Model("se(x, y)").observe(qd.point(x=[0.0, 1], y=[0.0, 1]), value=[0.0, 1]).fit()
    with pytest.raises(qd.DataError, match="those of the model are not"):
        planar.predict(qd.region([SQUARES[0]], planar=False, aggregate="sum"))
    around = [[lon, 80.0] for lon in range(-180, 181, 30)]
    with pytest.raises(qd.DataError, match="region 0 goes round a pole"):
        qd.Model(KERNEL).observe(qd.region([{"type": "Polygon", "coordinates": [around]}],
                                           aggregate="sum", **LON_LAT), value=[1.0])
    with pytest.raises(qd.DataError, match="geometries have longitude first"):
        qd.Model(KERNEL).observe(qd.region(SQUARES, dims=("lat", "lon"), planar=False,
                                           aggregate="sum"), value=TOTALS)
    campaign = qd.Campaign(post, qd.point(lon=[9.5], lat=[47.5]), kinds={"site": 1},
                           costs={"site": 1})
    with pytest.raises(qd.DataError, match="longitudes and latitudes"):
        campaign.ask()


def test_the_crs_of_a_frame_says_what_coordinates_are(post):
    geopandas, shapely = pytest.importorskip("geopandas"), pytest.importorskip("shapely")
    shapes = [shapely.geometry.shape(one) for one in SQUARES]
    frame = geopandas.GeoDataFrame({"total": TOTALS}, geometry=shapes, crs=4326)
    made = qd.Model(KERNEL).observe(qd.region(frame, dims=("lon", "lat"), aggregate="sum"),
                                    value="total", noise=0.01, data=frame)
    made.observe(qd.point(lon=SITES["lon"], lat=SITES["lat"]), value=SITES["y"], noise=0.0001)
    told = made.fit().predict(qd.region("geometry", dims=("lon", "lat"), aggregate="sum"),
                              data=frame)
    expected = post.predict(qd.region(SQUARES, aggregate="sum", **LON_LAT))
    np.testing.assert_array_equal(told.mean, expected.mean)
    assert told.to_geodataframe().crs == frame.crs
    projected = frame.to_crs(25832)
    with pytest.raises(qd.DataError, match="planar is False, and the CRS"):
        qd.region(projected, planar=False, aggregate="sum").place()
    with pytest.raises(qd.DataError, match="areas: .* project them first"):
        qd.Density2d.from_areas(frame.geometry, [1, 2, 3, 4])
