"""Pictures hold the numbers that were told, and the rows as what they are."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib").use("Agg")

from matplotlib import pyplot
from matplotlib.collections import PolyCollection

import quadrat as qd

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
T = np.linspace(0, 6, 13)
SQUARES = [{"type": "Polygon", "coordinates": [[[x, y], [x + 2, y], [x + 2, y + 2], [x, y + 2]]]}
           for x in (0, 2) for y in (0, 2)]


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def bands():
    box = qd.box(age=([0, 10, 30], [10, 30, 50]), aggregate="sum")
    return qd.Model("se(age)").observe(box, value=[120.0, 500.0, 260.0], noise=1.0).fit()


@pytest.fixture(scope="module")
def plane():
    model = qd.Model("se(x, y)").observe(
        qd.region(SQUARES, aggregate="mean"), value=[3.0, 4, 1, 2], noise=0.01)
    return model.observe(qd.point(x=[1.0], y=[1.0]), value=[3.1], noise=0.01).fit()


def boxes(ax):
    return [(bar.get_x(), bar.get_width(), bar.get_y(), bar.get_height()) for bar in ax.patches]


def line(ax, label):
    return next(one for one in ax.lines if one.get_label() == label)


def test_totals_are_boxes_of_density_under_the_curve(bands):
    ax = bands.plot(points=50, level=0.8)
    assert boxes(ax) == [(0, 10, 0, 12), (10, 20, 0, 25), (30, 20, 0, 13)]
    x, y = line(ax, "mean").get_data()
    told = bands.predict(qd.point(age=np.linspace(0, 50, 50)), level=0.8)
    np.testing.assert_array_equal(y, told.mean)
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == told.upper.max() and band[:, 1].min() == told.lower.min()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "mean", "80 % interval", "observed"]
    assert ax.get_xlabel() == "age" and ax.get_ylabel() == "response"
    assert not bands.plot(rows=False).patches


def test_the_rows_of_a_pickle_are_drawn_and_a_model_file_has_none(bands, tmp_path):
    assert len(pickle.loads(pickle.dumps(bands)).plot().patches) == 3
    bands.save(tmp_path / "m.quadrat")
    loaded = qd.load(tmp_path / "m.quadrat")
    with pytest.raises(qd.DataError, match="no rows that say where; give a support"):
        loaded.plot()
    assert not loaded.plot(support=qd.point(age=[0.0, 10, 20])).patches
    more = bands.condition(qd.point(age=[5.0]), value=[14.0], noise=0.1)
    assert line(more.plot(), "_observed").get_data()[1] == [14.0]


def test_intervals_limits_and_averages():
    f = np.sin(T)
    model = qd.Model("se(t)").observe(
        qd.point(t=T[:4]), qd.Interval([-1.0, 0, -np.inf, 0], [1.0, 0, 1, np.inf], 0.1))
    model.observe(qd.point(t=T[4:8]), qd.Censored(f[4:8], [0, -1, 1, 0], variance=0.1))
    model.observe(qd.box(t=([4.0, 5], [5.0, 6]), aggregate="mean"), value=[0.5, 0.2], noise=0.1)
    ax = model.fit().plot()
    below = [one for one in ax.lines if one.get_marker() == "v"]
    above = [one for one in ax.lines if one.get_marker() == "^"]
    assert [list(one.get_xdata()) for one in below] == [[T[2]], [T[5]]]
    assert [list(one.get_ydata()) for one in above] == [[0], [f[6]]]
    drawn = [path.vertices.tolist() for one in ax.collections[1:] for path in one.get_paths()]
    assert [[T[0], -1], [T[0], 1]] in drawn and [[4, 0.5], [5, 0.5]] in drawn


def test_counts_are_drawn_by_exposure_and_ranks_between_thresholds():
    count = np.array([4.0, 9, 20, 12])
    box = qd.box(t=([0.0, 1, 2, 3], [1, 2, 3, 5]), aggregate="sum")
    post = qd.Model("se(t)").observe(box, qd.Poisson(count, exposure=2.0)).fit()
    assert [box[3] for box in boxes(post.plot())] == [2, 4.5, 10, 3]
    # The logarithm of a rate is no place for counts.
    assert not post.plot(scale="latent").patches
    ranks = np.digitize(np.sin(T), [-0.5, 0.5]) + 1
    graded = qd.Model("se(t)").observe(qd.point(t=T), qd.Ordinal(ranks)).fit()
    found = graded.hyperparameters
    first = found["ordinal.threshold"]
    bars = [one for one in graded.plot().collections if one.get_label() == "observed"]
    assert bars[0].get_segments()[0][:, 1].tolist() == [first, first + found["ordinal.gap.2"]]


def test_predictions_are_drawn_as_what_their_support_is(bands, plane):
    told = bands.predict(qd.box(age=([0, 20], [10, 24]), aggregate="sum"))
    heights = line(told.plot(), "mean").get_ydata()
    np.testing.assert_allclose(heights, [told.mean[0] / 10] * 2 + [np.nan] + [told.mean[1] / 4] * 2)
    assert not told.plot(what="sd").collections
    cells = plane.predict(qd.cells(x=[0, 1, 3], y=[0, 2], aggregate="mean"))
    np.testing.assert_array_equal(cells.plot().collections[0].get_array(), cells.mean)
    grid = plane.predict(qd.grid(x=[0, 1, 2], y=[0, 1]))
    image = grid.plot(what="sd").collections[0].get_array()
    np.testing.assert_array_equal(np.asarray(image).T.ravel(), grid.sd)
    bag = plane.predict(qd.bag(x=[0, 1], y=[0, 1], key=["a", "b"], aggregate="mean"))
    assert [text.get_text() for text in bag.plot().get_yticklabels()] == ["a", "b"]
    with pytest.raises(qd.DataError, match="what is 'mode'; it must be one of mean"):
        grid.plot(what="mode")
    three = qd.Model("se(x, y, z)").observe(
        qd.point(x=T, y=T[::-1], z=T**2), value=np.sin(T), noise=0.1).fit(hyperparameters="map")
    with pytest.raises(qd.DataError, match="over 3 inputs"):
        three.plot()


def test_a_plane_is_a_surface_with_outlines(plane):
    ax = plane.plot(points=40)
    assert ax.collections[0].get_array().shape == (10, 10)
    # Four squares and one point, and the colours of the surface.
    assert len(ax.lines) == 5 and len(ax.figure.axes) == 2


def test_regions_are_maps(plane):
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    shapes = geopandas.GeoSeries([shapely.geometry.shape(one) for one in SQUARES],
                                 index=list("abcd"), crs=32633)
    told = plane.predict(qd.region(shapes, aggregate="mean"))
    frame = told.to_geodataframe()
    assert frame.crs == shapes.crs and list(frame.index) == list("abcd")
    assert frame.geometry.normalize().geom_equals(shapes.normalize()).all()
    np.testing.assert_array_equal(told.plot(what="sd").collections[0].get_array(), told.sd)
    with pytest.raises(qd.DataError, match="points, which have no geometries"):
        plane.predict(qd.point(x=[0], y=[0])).to_geodataframe()


def test_densities_show_values_bins_and_intervals():
    x = np.random.default_rng(2).gamma(2.0, size=100)
    ax = qd.Density(x, bounds=(0, None), draws=1000).plot()
    np.testing.assert_array_equal(line(ax, "values").get_xdata(), x)
    assert ax.get_xlim()[0] == 0 and x.max() < ax.get_xlim()[1]
    edges = np.array([0.0, 1, 2, 4, 10])
    binned = qd.Density.from_bins(edges[:-1], edges[1:], np.histogram(x, edges)[0], draws=1000)
    areas = [width * height for _, width, _, height in boxes(binned.plot())]
    assert sum(areas) == pytest.approx(1)
    assert len(boxes(pickle.loads(pickle.dumps(binned)).plot(simultaneous=True))) == 4
    ax = qd.Density.from_intervals(x, x + 1, draws=1000).plot()
    assert not ax.patches and len(ax.collections[1].get_segments()) == 100


def test_ungrouped_counts_stand_beside_their_bands():
    told = qd.ungroup(lower=[0, 20, 40, 60, 80], upper=[20, 40, 60, 80, np.inf], last=100,
                      count=[90, 88, 83, 60, 13], draws=100, step=5)
    assert boxes(told.plot())[::4] == [(0, 20, 0, 4.5), (80, 20, 0, 0.65)]
    steps = line(told.plot(rows=False), "mean").get_ydata()
    np.testing.assert_allclose(steps[::2], told.mean / 5)


def test_violins_are_densities_side_by_side():
    random = np.random.default_rng(5)
    rows = {"team": ["b"] * 60 + ["a"] * 40, "minutes": random.gamma(3.0, size=100)}
    settings = {"bounds": (0, None), "draws": 1000}
    ax = qd.violins(rows, "minutes", by="team", **settings)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["b", "a"]
    assert ax.get_ylabel() == "minutes" and ax.get_xlabel() == "team"
    first = qd.Density(rows["minutes"][:60], **settings)
    second = qd.Density(rows["minutes"][60:], **settings)
    scale = 0.45 / max(first.upper.max(), second.upper.max())
    fills = [one for one in ax.collections if isinstance(one, PolyCollection)]
    widest = [one.get_paths()[0].vertices[:, 0].max() for one in fills]
    expected = [at + scale * side.max() for at, own in enumerate((first, second))
                for side in (own.upper, own.density, own.lower)]
    np.testing.assert_allclose(widest, expected)
    middle = ax.containers[0].lines[0].get_data()
    assert (middle[0][0], middle[1][0]) == (0, first.quantile(0.5).value)
    flat = qd.violins({"one": first, "two": second}, horizontal=True)
    assert [tick.get_text() for tick in flat.get_yticklabels()] == ["one", "two"]
    assert len(qd.violins(rows, "minutes", **settings).containers) == 1
    for said, message in (((rows,), "column is missing"),
                          ((rows, "hours", "team"), "no column \"hours\""),
                          ((rows, "minutes", "town"), "no column \"town\""),
                          (({"one": first}, None, "team"), "by is for rows")):
        with pytest.raises(qd.DataError, match=message):
            qd.violins(*said)
    few = {"team": ["b"] * 60 + ["a"], "minutes": random.gamma(3.0, size=61)}
    with pytest.raises(qd.DataError, match="team 'a': "):
        qd.violins(few, "minutes", by="team")


def test_a_report_is_one_page(bands, tmp_path):
    bands.report(tmp_path / "out.html", title="People < 50")
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<title>People &lt; 50</title>" in page and page.count("<svg") == 1
    assert "se.lengthscale.age" in page and "of 3 lie inside their 95 % interval" in page
    assert not any(word in page for word in ("src=", "<link", 'href="http', "@import"))


def test_of_several_outputs_each_has_its_rows(tmp_path):
    model = qd.Model("coregion(of, a, b) * se(t)").observe(
        qd.point(t=T), value=np.sin(T), noise=0.01, output="a")
    box = qd.box(t=(T[:-1], T[1:]), aggregate="mean")
    post = model.observe(box, value=np.cos(T[:-1]), noise=0.01, output="b").fit()
    ax = post.plot(output="a")
    assert len(line(ax, "observed").get_xdata()) == 13 and len(ax.collections) == 1
    assert len(post.plot(ax, output="b").collections) == 3
    with pytest.raises(qd.DataError, match="several outputs"):
        post.plot()
    post.report(tmp_path / "two.html")
    assert (tmp_path / "two.html").read_text(encoding="utf-8").count('id="axes_') == 2
    post.save(tmp_path / "m.quadrat")
    qd.load(tmp_path / "m.quadrat").report(tmp_path / "loaded.html")
    page = (tmp_path / "loaded.html").read_text(encoding="utf-8")
    assert "No figure: this posterior has no rows that say where" in page


def test_nothing_is_imported_before_it_is_drawn():
    code = ("import sys, quadrat as qd; p = qd.Model('se(x)').observe(qd.point(x=[0., 1, 2]), "
            "value=[0., 1, 0], noise=.1).fit().predict(qd.point(x=[1.])); "
            "print('matplotlib' in sys.modules, 'geopandas' in sys.modules)\n"
            "sys.modules['matplotlib'] = None\n"
            "try: p.plot()\nexcept ImportError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "False False", 'matplotlib is needed to draw: pip install "quadrat[plot]"']
