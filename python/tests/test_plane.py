"""Densities of two columns: the numbers of the program, and what is wrong with them."""

import csv
import json
import pickle
import subprocess

import numpy as np
import pytest

import quadrat as qd
from conftest import same, table
from shapes import square

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=200)
Y = 0.8 * X + 0.6 * RANDOM.normal(size=200)
SMALL = {"cells": 20, "draws": 1000}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("plane") / "rows.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["x", "y"], *zip(X.tolist(), Y.tolist())])
    return path


@pytest.fixture(scope="module")
def plane():
    return qd.Density2d("x", "y", data={"x": X, "y": Y}, **SMALL)


@pytest.fixture(scope="module")
def given():
    return qd.ConditionalDensity(Y, given=X, cells=(12, 40), draws=1000)


def told(program, path, *more):
    out = path.with_suffix(".out.csv")
    subprocess.run([program, "density", path, *more, "-o", out, "--quiet"], check=True)
    return table(out)


def test_a_plane_is_that_of_the_program(program, written, plane):
    expected = told(program, written, "--column", "x", "--column", "y", "--grid", "20")
    got = qd.Density2d(X, Y, cells=20).to_dict()
    assert list(got) == list(expected)
    same(got, expected)
    assert plane.shape == (20, 20) and len(plane.to_frame()) == 400


def test_numbers_of_a_plane_agree_with_each_other(plane):
    # Where next to nothing lies, a few draws carry the mean beyond the band.
    seen = plane.density > 0.01 * plane.density.max()
    assert np.all((plane.lower <= plane.density) & (plane.density <= plane.upper) | ~seen)
    areas = np.outer(*map(np.diff, plane.edges))
    # Sums of 400 numbers of order one.
    np.testing.assert_allclose((plane.draws(7, seed=2) * areas).sum((1, 2)), 1, rtol=1e-12)
    np.testing.assert_allclose((plane.density * areas).sum(), 1, rtol=1e-12)
    assert plane.probability().value == pytest.approx(1, abs=1e-12)
    right = plane.probability(x=(0, None))
    along = plane.marginal("x")
    assert right.lower < 0.5 < right.upper and list(along)[0] == "x"
    assert along["density"] @ np.diff(plane.edges[0]) == pytest.approx(1, abs=1e-12)
    moments = plane.moments()
    assert moments.correlation.lower < 0.8 < moments.correlation.upper
    assert moments.mean[1].lower < 0 < moments.mean[1].upper and moments.sd[0].value > 0
    region = plane.highest_density_region(0.9)
    assert region.cells.shape == plane.shape and region.probability.value >= 0.9 - 1e-12
    assert plane.density[region.cells].min() == region.density
    low, high = plane.band(simultaneous=True)
    assert low.shape == high.shape == plane.shape and np.all(low <= high)
    at = plane(plane.x[:, None], plane.y)
    np.testing.assert_array_equal(at, plane.density)
    assert plane(99.0, 0.0) == 0


def test_boxes_bounds_and_land():
    edges = np.linspace(0, 4, 5)
    low = [own.ravel() for own in np.meshgrid(edges[:-1], edges[:-1], indexing="ij")]
    counts = 10.0 + np.arange(16)
    boxes = qd.Density2d.from_bins((low[0], low[0] + 1), (low[1], low[1] + 1), counts,
                                   bounds=((0, 4), (0, 4)), **SMALL)
    assert boxes.edges[0][0] == 0 and boxes.edges[1][-1] == 4
    # Counts bound the probability of the last row to a few of its standard deviations.
    assert boxes.probability(x=(3, 4)).value == pytest.approx(counts[12:].sum() / counts.sum(),
                                                              abs=0.1)
    land = {"type": "Polygon", "coordinates": [[[-3, -3], [3, -3], [3, 3], [-3, 3]]]}
    inside = qd.Density2d(X.clip(-2.9, 2.9), Y.clip(-2.9, 2.9), inside=[land], **SMALL)
    assert inside(3.5, 0.0) == 0 and inside.probability((-3, 3), (-3, 3)).value > 0.999


def test_counts_in_areas_are_those_in_boxes_and_of_the_program(program, tmp_path):
    corners, counts = [(0, 0), (0, 2), (2, 0), (2, 2)], [40.0, 30.0, 20.0, 10.0]
    areas = [square(*at, 2.0) for at in corners]
    got = qd.Density2d.from_areas(areas, counts, cells=20, draws=1000)
    low = np.array(corners, dtype=float).T
    boxes = qd.Density2d.from_bins((low[0], low[0] + 2), (low[1], low[1] + 2), counts,
                                   bounds=((0, 4), (0, 4)), cells=20, draws=1000)
    np.testing.assert_allclose(got.density, boxes.density, rtol=1e-7)
    features = [{"type": "Feature", "properties": {"n": own}, "geometry": area}
                for own, area in zip(counts, areas)]
    (tmp_path / "areas.geojson").write_text(
        json.dumps({"type": "FeatureCollection", "features": features}))
    subprocess.run([program, "density", "areas.geojson", "--areas", "n", "--grid", "20", "-o",
                    "out.csv"], check=True, cwd=tmp_path, capture_output=True)
    written = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)
    whole = qd.Density2d.from_areas(areas, counts, cells=20)
    np.testing.assert_allclose(whole.density.ravel(), written[:, 2], rtol=1e-12)
    land = qd.Density2d.from_areas(areas, counts, cells=20, draws=1000, inside=[square(0, 0, 3.0)])
    assert land(3.5, 1.0) == 0 and got(3.5, 1.0) > 0
    for asked, message in (((areas, counts[:3]), "count has 3 rows"), (([], []), "at least two"),
                           (([areas[0], square(9, 9, 0.0)], [1, 2]), "areas: region 1")):
        with pytest.raises(qd.DataError, match=message):
            qd.Density2d.from_areas(*asked)
    with pytest.raises(qd.DataError, match="row 1"):
        qd.Density2d.from_areas(areas, counts, inside=[square(0, 0, 1.9)], cells=20)


def test_densities_given_another_column_are_those_of_the_program(program, written, given):
    expected = told(program, written, "--column", "y", "--given", "x", "--grid", "12,40")
    got = qd.ConditionalDensity("y", "x", data={"x": X, "y": Y}, cells=(12, 40)).to_dict()
    same(got, {name: own for name, own in expected.items() if name != "x"})
    np.testing.assert_allclose(got["given"], expected["x"], rtol=1e-12)
    heights = given.density @ np.diff(given.edges[1])
    np.testing.assert_allclose(heights, 1, rtol=1e-12)
    assert given.totals.sum() == 200 and given.draws(3).shape == (3, 12, 40)


def test_numbers_given_a_place(given):
    for name, asked in (("quantile", (0.5,)), ("mean", ()), ("sd", ()), ("probability", (0, None))):
        curve = getattr(given, name)(*asked)
        assert list(curve) == ["given", "value", "lower", "upper"]
        one = getattr(given, name)(*asked, given=given.given[5])
        # The same sums, of one slice or of all.
        assert one.value == pytest.approx(curve["value"][5], rel=1e-9)
        assert one.lower <= one.value <= one.upper
    (start, end), *_ = given.highest_density_region(0.5, given=0.0)
    assert start < 0.2 and end > -0.2
    assert given(given.y[3], given.given[2]) == given.density[2, 3]
    for asked in (lambda: given.mean(99), lambda: given.highest_density_region(0.5, 99)):
        with pytest.raises(qd.DataError, match="given is 99.*given_range"):
            asked()


@pytest.mark.parametrize("name", ["plane", "given"])
def test_pickles_have_the_same_numbers(name, request):
    own = request.getfixturevalue(name)
    again = pickle.loads(pickle.dumps(own))
    np.testing.assert_array_equal(again.density, own.density)
    np.testing.assert_array_equal(again.draws(2), own.draws(2))
    assert repr(again) == repr(own) and again.level == own.level


def test_messages_name_the_argument():
    for said, message in (
        ({"bounds": 3}, r"bounds must be a pair \(of x, of y\)"),
        ({"bounds": (None, 3)}, "bounds of y must be a pair"),
        ({"range": ((0, 1), "a")}, "range of y must be"),
        ({"cells": 1.5}, "cells is 1.5"),
        ({"cells": (3, 3, 3)}, "cells must be a pair"),
        ({"inside": [{"type": "Point"}]}, "region 0 is a Point"),
        ({"weights": [1.0]}, "weights has 1 row"),
        ({"level": 2}, "level"),
    ):
        with pytest.raises(qd.DataError, match=message):
            qd.Density2d(X, Y, **said)
    with pytest.raises(qd.DataError, match="y has 3 rows"):
        qd.Density2d(X, Y[:3])
    with pytest.raises(qd.DataError, match=r"x must be a pair \(lower, upper\)"):
        qd.Density2d.from_bins(X, (Y, Y), 1.0)
    with pytest.raises(qd.DataError, match=r"cells must be a pair \(slices, cells\)"):
        qd.ConditionalDensity(Y, X, cells=20)


def test_pictures(plane, given):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot
    ax = plane.plot()
    image = ax.collections[0].get_array()
    np.testing.assert_array_equal(np.ravel(image), plane.density.T.ravel())
    assert ax.get_xlabel() == "x" and len(ax.lines[0].get_xdata()) == 200
    assert not plane.plot(regions=(), rows=False).lines
    halves = [square(0, 0, 2.0), square(2, 0, 2.0)]
    areas = qd.Density2d.from_areas(halves, [9, 4], cells=10, draws=500)
    assert len(pickle.loads(pickle.dumps(areas)).plot(regions=()).lines) == 2
    ax = given.plot(quantiles=(0.5,))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), given.quantile(0.5)["value"])
    assert len(given.plot(surface=True).lines) == 4
    pyplot.close("all")
