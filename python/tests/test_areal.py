"""Areas become other areas: totals are met, rates come of exposures, maps keep their CRS."""

import numpy as np
import pytest

import quadrat as qd
from shapes import squares

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
BIRTHS = [10.0, 14.0, 9.0, 4.0]
SOURCE = squares([0, 2, 4, 6, 8], births=BIRTHS)


def test_totals_of_areas_are_met():
    told = qd.areal_interpolate(SOURCE, squares(range(9)), total="births")
    means = [row["mean"] for row in told]
    pairs = np.add(means[::2], means[1::2])
    # Covariances over polygons aim at 1e-7; to solve with them loses some digits.
    np.testing.assert_allclose(pairs, BIRTHS, rtol=1e-4)
    assert all(row["lower"] < row["mean"] < row["upper"] for row in told)


@pytest.mark.parametrize("planar", [None, True])
def test_a_fit_predicts_later_what_it_tells_at_once(planar, tmp_path):
    target = squares(range(9))
    said = {"total": "births", "kernel": "se(x, y, shared = true)", "planar": planar}
    at_once = qd.areal_interpolate(SOURCE, target, **said)
    fit = qd.areal_interpolate(SOURCE, **said)
    assert fit.is_planar == bool(planar)
    later = fit.predict(target)
    # The same numbers, but for the order of sums over polygons.
    for one, other in zip(at_once, later, strict=True):
        assert one == pytest.approx(other, rel=1e-9)
    # As above.
    np.testing.assert_allclose([row["mean"] for row in fit.predict()], BIRTHS, rtol=1e-4)
    fit.save(tmp_path / "m.quadrat")
    assert qd.load(tmp_path / "m.quadrat").log_evidence == fit.posterior.log_evidence


def test_counts_become_rates_where_there_is_an_exposure():
    people = np.array([500.0, 400, 900, 1000])
    source = squares([0, 2, 4, 6, 8], cases=[25, 22, 40, 52], people=people)
    said = {"kernel": "se(x, y, shared = true)", "planar": True,
            "hyperparameters": {"se.lengthscale": {"value": 3.0, "fixed": True}}}
    rates = qd.areal_interpolate(source, source, counts="cases", exposure="people", **said)
    # Cases by people are 0.044 to 0.055; a count of 25 tells its rate to a fifth.
    assert [row["mean"] for row in rates] == pytest.approx([0.05] * 4, rel=0.2)
    numbers = qd.areal_interpolate(source, source, counts="cases", **said)
    # A count of 22 is known to 21 %, and neighbours, which the kernel takes for like, are twice it.
    assert [row["mean"] for row in numbers] == pytest.approx([25, 22, 40, 52], rel=0.3)
    more = qd.areal_interpolate(source, source, counts="cases", exposure="people",
                                overdispersed=True, **said)
    assert more[0]["upper"] - more[0]["lower"] > rates[0]["upper"] - rates[0]["lower"]


def test_frames_of_maps_keep_their_crs_and_are_cut_into_squares():
    geopandas = pytest.importorskip("geopandas")
    said = {"total": "births", "kernel": "se(x, y, shared = true)"}
    source = geopandas.GeoDataFrame.from_features(squares([0, 2, 4, 6, 8], 1000.0, births=BIRTHS),
                                                  crs=32633)
    source.index = list("abcd")
    fit = qd.areal_interpolate(source, **said)
    told = fit.predict()
    assert fit.is_planar and list(told.index) == list("abcd") and told.crs == source.crs
    grid = fit.predict(cell=300)
    # Seven columns to a source and a cut one; the fourth row is cut off as well.
    assert len(grid) == 27 * 4 and grid.crs == source.crs
    # Sums of a hundred areas that are cut at whole metres.
    assert grid.area.sum() == pytest.approx(8e6, rel=1e-12)
    # Covariances over polygons, as above.
    assert grid["mean"].sum() == pytest.approx(sum(BIRTHS), rel=1e-4)
    with pytest.raises(qd.DataError, match="different kinds of coordinates"):
        qd.areal_interpolate(source, source.to_crs(4326), **said)
    for target in (source.to_crs(4326), squares(range(9))):
        with pytest.raises(qd.DataError, match="different kinds of coordinates"):
            fit.predict(target)
    with pytest.raises(qd.DataError, match="give either target or cell"):
        fit.predict(source, cell=300)
    for cell in (0, -1, 0.01):
        with pytest.raises(qd.DataError, match="squares of this width do not cover"):
            fit.predict(cell=cell)


def test_longitudes_and_latitudes_are_projected_as_the_program_does():
    geopandas = pytest.importorskip("geopandas")
    flat = geopandas.GeoDataFrame.from_features(
        squares([0, 2, 4, 6, 8], 10_000.0, births=BIRTHS), crs=32633)
    said = {"total": "births", "kernel": "se(x, y, shared = true)"}
    fit = qd.areal_interpolate(flat.to_crs(4326), **said)
    assert not fit.is_planar
    # The same land on two maps, one of which is true to areas only nearly.
    planar = qd.areal_interpolate(flat, **said).predict(flat.iloc[:2].dissolve())
    both = fit.predict(flat.iloc[:2].dissolve().to_crs(4326))
    np.testing.assert_allclose(both["mean"], planar["mean"], rtol=0.01)
    with pytest.raises(qd.DataError, match="project the source first"):
        fit.predict(cell=0.1)
    with pytest.raises(qd.DataError, match="different kinds of coordinates"):
        fit.predict(flat)


BAD = [
    ({}, "give one of total, average and counts"),
    ({"total": "births", "counts": "births"}, "give one of total, average and counts"),
    ({"total": "births", "exposure": "people"}, "exposure and overdispersed belong to counts"),
    ({"counts": "births", "variance": 2}, "variance belongs to total and average"),
    ({"total": "deaths"}, 'source has no column "deaths"; it has "births"'),
    ({"counts": "births", "exposure": "people"}, 'source has no column "people"'),
    ({"total": "births", "seed": -1}, "seed is -1"),
]


@pytest.mark.parametrize("said, message", BAD)
def test_what_is_wrong_with_what_is_said(said, message):
    with pytest.raises(qd.DataError, match=message):
        qd.areal_interpolate(SOURCE, **said)
    with pytest.raises(qd.DataError, match="target must be a GeoDataFrame or a feature"):
        qd.areal_interpolate(SOURCE, [1], total="births")


def test_progress_is_that_of_the_fit():
    events = []
    # Of some seconds, told some times a second.
    source = squares(range(41), births=10 + 5 * np.sin(np.arange(40.0)))
    qd.areal_interpolate(source, total="births", planar=True, variance=1,
                         progress=lambda *event: events.append(event))
    assert events and all(len(event) == 4 and isinstance(event[0], str) for event in events)
    with pytest.raises(TypeError, match="progress is int"):
        qd.areal_interpolate(SOURCE, total="births", progress=3)
