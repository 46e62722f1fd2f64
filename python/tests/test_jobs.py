"""Jobs in one line: the numbers of the program, and what they promise."""

import copy
import csv
import json
import pickle
import re
import subprocess

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import quadrat as qd
from optional import polars, with_polars
from conftest import same, table

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
BANDS = {"from": [0, 10, 20, 30, 40, 50, 60, 70, 80, 90],
         "to": [10, 20, 30, 40, 50, 60, 70, 80, 90, float("inf")],
         "people": [4557, 4512, 4474, 4569, 4157, 4284, 3886, 2410, 1005, 271]}


def test_ungroup_gives_the_numbers_of_the_program(program, tmp_path):
    with open(tmp_path / "bands.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(BANDS)
        rows = zip(*BANDS.values())
        writer.writerows([a, "" if b == float("inf") else b, n] for a, b, n in rows)
    out = tmp_path / "years.csv"
    subprocess.run([program, "ungroup", tmp_path / "bands.csv", "--lower", "from", "--upper", "to",
                    "--count", "people", "-o", out], check=True, capture_output=True)
    got = qd.ungroup(pd.DataFrame(BANDS), lower="from", upper="to", count="people")
    expected = table(out)
    same(got.to_dict(), {name: expected[name] for name in ("mean", "sd", "lower", "upper")})
    np.testing.assert_allclose(got.draws(50)[:, :10].sum(1), 4557, rtol=1e-9)
    assert got.quantile(0.5).lower < got.quantile(0.5).value < 41
    assert got.between(0, 20).value == pytest.approx(9069, abs=1e-6)
    assert len(got.to_frame()) == 110


def test_rates_and_what_is_wrong_with_bands():
    people = np.array(BANDS["people"]) * 20.0
    deaths = np.maximum(np.round(people * 0.0005 * np.exp(np.arange(10))), 1).clip(max=people)
    rates = qd.ungroup(BANDS, lower="from", upper="to", count=deaths, exposure=people, step=5,
                       draws=200)
    assert rates.is_rate and rates.mean[2] < rates.mean[15]
    with pytest.raises(qd.DataError, match="rates"):
        rates.quantile(0.5)
    with pytest.raises(qd.DataError, match="upper has 9 rows"):
        qd.ungroup(lower=BANDS["from"], upper=BANDS["to"][:9], count=BANDS["people"])
    with pytest.raises(qd.DataError, match="overlap|adjoin|gap"):
        qd.ungroup(lower=[0, 5], upper=[10, 20], count=[1, 2])


def test_a_missing_upper_edge_opens_the_band():
    count = [900, 880, 830, 600, 130]
    whole = qd.ungroup(lower=[0, 20, 40, 60, 80], upper=[20, 40, 60, 80, float("inf")],
                       count=count)
    kinds = with_polars({"pandas": pd.DataFrame, "pyarrow": pa.table}, "DataFrame")
    for kind in kinds.values():
        bands = kind({"from": [0, 20, 40, 60, 80], "to": [20, 40, 60, 80, None], "n": count})
        found = qd.ungroup(bands, lower="from", upper="to", count="n")
        np.testing.assert_array_equal(found.mean, whole.mean)


def test_years_are_ungrouped_together(program, tmp_path):
    rows = {"year": [2000] * 5 + [2001] * 4, "from": [0, 10, 20, 30, 40, 0, 10, 20, 30],
            "to": [10, 20, 30, 40, 50, 10, 20, 30, 50],
            "people": [120, 150, 180, 140, 90, 118, 152, 178, 233]}
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "years.csv"
    subprocess.run([program, "ungroup", tmp_path / "rows.csv", "--lower", "from", "--upper", "to",
                    "--count", "people", "--along", "year", "-o", out], check=True,
                   capture_output=True)
    asked = {"lower": "from", "upper": "to", "count": "people"}
    got = qd.ungroup(frame, **asked, along="year")
    expected = table(out)
    same(got.to_dict(), {name: expected[name] for name in ("year", "mean", "sd", "upper")})
    assert list(got) == [2000, 2001] and len(got[2001]) == 50 and 1999 not in got
    np.testing.assert_allclose(got[2001].draws(20)[:, 30:].sum(1), 233, rtol=1e-9)
    again = pickle.loads(pickle.dumps(got[2001]))
    np.testing.assert_array_equal(again.mean, got[2001].mean)
    assert got[2000].quantile(0.5).lower < 23 and len(got.to_frame()) == 100
    with pytest.raises(qd.DataError, match="none of the 2 years from 2000 to 2001"):
        got[1990]
    with pytest.raises(qd.DataError, match="each year by itself"):
        qd.ungroup(frame, **asked, along="year", exposure="people")
    with pytest.raises(qd.DataError, match="of the year 2001: nothing is told from 20 to 30"):
        qd.ungroup(frame.drop(7), **asked, along="year")


AREAS = {"area": ["all", "a", "b", "c", "d", "e", "a"],
         "within": ["", "all", "all", "all", "c", "c", "all"],
         "people": [100.5, 60, 30, None, 4, None, 63], "var": [1, 2, 2.5, None, 1, None, 5]}
ASKED = {"area": "area", "within": "within", "value": "people", "variance": "var"}


def test_reconcile_gives_the_numbers_of_the_program(program, tmp_path):
    path, out = tmp_path / "areas.csv", tmp_path / "out.csv"
    frame = pd.DataFrame(AREAS)
    frame.to_csv(path, index=False)
    words = [program, "reconcile", path, *(f"--{name}={own}" for name, own in ASKED.items()),
             "--level=0.9"]
    subprocess.run([*words, "-o", out, "--draws=3", "--seed=7"], check=True, capture_output=True)
    facts = json.loads(subprocess.run([*words, "--json"], check=True, capture_output=True).stdout)
    more = () if polars is None else (polars.DataFrame(AREAS, strict=False),)
    for rows in (frame, *more, pa.table(AREAS), AREAS):
        got = qd.reconcile(rows, **ASKED, level=0.9)
        expected = table(out)
        told = got.to_dict()
        assert told.pop("area") == expected.pop("area") == ["all", "a", "b", "c", "d", "e"]
        assert told.pop("within") == [one or None for one in expected.pop("within")]
        draws = np.array([expected.pop(f"draw_{at}") for at in (1, 2, 3)])
        same(told, expected)
        np.testing.assert_allclose(got.draws(3, seed=7), draws, rtol=1e-12)
        assert (got.measured, got.unknown) == (facts["measured"], facts["unknown"]) == (4, 0)
        assert got.degrees == facts["degrees"] == 0 and got.chi_square == facts["chi_square"]
        assert got.probability == facts["probability"] and got.far == []
    drawn = got.draws(50)
    np.testing.assert_allclose(drawn[:, 1:4].sum(1), drawn[:, 0], rtol=1e-12)
    again = pickle.loads(pickle.dumps(got))
    np.testing.assert_array_equal(again.mean, got.mean)
    assert copy.copy(got) is got and len(got) == 6
    assert list(got.to_frame()) == ["area", "within", "mean", "sd", "lower", "median", "upper"]


def test_areas_by_sex_and_what_is_far_from_its_parts():
    rows = {"sex": ["w"] * 3 + ["m"] * 3, "area": [0, 1, 2] * 2, "in": [None, 0, 0] * 2,
            "people": [100, 60, 30, 50, 20, 30]}
    asked = {"area": "area", "within": "in", "value": "people", "variance": 0.5, "by": "sex"}
    with pytest.warns(qd.FitWarning, match="`w, 0` by 8.165 sd.*look at the rows"):
        got = qd.reconcile(rows, **asked)
    assert got.area[3] == ("m", 0) and got.within[1] == ("w", 0)
    assert got.far == [(("w", 0), 10.0, pytest.approx(1.5**0.5))]
    told = got.to_dict()
    assert told["sex"] == rows["sex"] and told["in"] == rows["in"]
    np.testing.assert_allclose(told["mean"][3:], [50, 20, 30], rtol=1e-12)
    own = qd.reconcile(rows, **{**asked, "by": {"sex": rows["sex"]}, "area": rows["area"]})
    np.testing.assert_array_equal(own.mean, got.mean)
    part = qd.reconcile(area=list("tabcd"), within=[None, *"tttt"], value=[9, 4, 2, np.nan, None],
                        variance=1)
    assert part.unknown == 2 and np.isnan(part.mean[3]) and not np.isnan(part.mean[1])
    with pytest.raises(qd.DataError, match="nothing tells `c`, so it cannot be drawn"):
        part.draws(2)


WRONG = {
    "area has no rows": {"area": [], "within": []},
    "area is missing in row 1": {"area": ["t", "", "b"]},
    "area is 5; give a label for each row": {"area": 5},
    "area has several labels in a row": {"area": np.ones((3, 2))},
    "within has 2 rows, and area has 3": {"within": [None, "t"]},
    "within: no row is of the area 'u', which row 2": {"within": [None, "t", "u"]},
    "within: `a` lies within itself": {"within": [None, "a", "t"]},
    "within: 'a' lies within 't' in row 2, and within None in row 1": {
        "area": ["t", "a", "a"], "within": [None, None, "t"]},
    "value has 2 rows": {"value": [1, 2]},
    "value must be numbers": {"value": ["many", "1", "x"]},
    "value is missing in every row": {"value": [None, np.nan, None]},
    "value is inf in row 1": {"value": [1, np.inf, 2]},
    "value: `t` is exactly 9 in row 0, and its parts, which are exact too, add up to 5": {
        "variance": 0},
    "value: `a` is exactly 3 in row 1, and 2 in row 2": {
        "area": ["t", "a", "a"], "variance": 0},
    "variance is -1 in row 1; it must be zero or more": {"variance": [1, -1, 1]},
    "variance is missing in row 2, which has a value": {"variance": [1, 1, None]},
    "level is 95; it must be a probability": {"level": 95},
    "by is empty": {"by": []},
    "by: sex is missing in row 0": {"by": {"sex": [None, "w", "w"]}},
    "variance is the name \"var\", and no data was given": {"variance": "var"},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_reconciled_is_refused_by_the_name_of_the_argument(message):
    asked = {"area": ["t", "a", "b"], "within": [None, "t", "t"], "value": [9, 3, 2],
             "variance": [1, 1, 1], **WRONG[message]}
    with pytest.raises(qd.DataError, match=re.escape(message)):
        qd.reconcile(**asked)


def test_a_density_given_another_column_is_advised():
    with pytest.raises(qd.DataError, match=r"use qd.ConditionalDensity\(x, given=..\)"):
        qd.Density([1.0, 2.0, 3.0], given=[0.0, 1.0, 2.0])


def test_densities():
    x = np.random.default_rng(2).gamma(2.0, size=300)
    d = qd.Density(x, bounds=(0, None), level=0.9)
    assert d.edges[0] == 0 and np.all(d.lower <= d.density) and np.all(d.density <= d.upper)
    np.testing.assert_allclose(d.draws(20) @ np.diff(d.edges), 1, rtol=1e-9)
    new = d.sample(2000, seed=3)
    # A share of 2,000 has a standard error of at most 0.011.
    assert abs(np.mean(new < 2.0) - d.cdf(2.0).value) < 0.05 and new.min() >= 0
    np.testing.assert_array_equal(d.sample(2000, seed=3), new)
    assert len(d.sample(0)) == 0 and not np.any(d.sample(2000, seed=4) == new)
    with pytest.raises(qd.DataError, match="n is -1"):
        d.sample(-1)
    middle = d.quantile(0.5)
    assert middle.lower < np.median(x) < middle.upper
    assert d.cdf(middle.value).value == pytest.approx(0.5, abs=0.02)
    low, high = d.band(simultaneous=True)
    assert np.all(low <= d.lower + 1e-12) and np.all(high >= d.upper - 1e-12)
    assert d.evaluate([-1.0, 1.0]).tolist()[0] == 0 and d(1.0) == d.evaluate([1.0])[0]
    edges = np.linspace(0, 10, 11)
    counts, _ = np.histogram(x, edges)
    binned = qd.Density.from_bins(edges[:-1], edges[1:], counts, bounds=(0, None))
    assert abs(binned.mean().value - d.mean().value) < 0.2
    again = pickle.loads(pickle.dumps(d))
    np.testing.assert_array_equal(again.density, d.density)
    assert again.level == 0.9 and again.quantile(0.5) == middle
    with pytest.raises(qd.DataError, match="bounds must be a pair"):
        qd.Density(x, bounds=3)
    with pytest.raises(qd.DataError, match="x has the shape"):
        qd.Density(x.reshape(2, -1))


def test_a_study_of_bands_is_run_as_the_program_does(program, tmp_path):
    bands = {"from": [0, 10, 20], "to": [10, 20, 30], "people": [450, 440, 400]}
    study = {"ungroup": {"file": bands, "lower": "from", "upper": "to", "count": "people"}}
    found = qd.run(study)
    assert list(found) == ["steps"] and found.posterior is None and found.model == b""
    assert found.fit["kind"] == "ungroup" and len(found["steps"]["mean"]) == 30
    np.testing.assert_allclose(np.sum(found["steps"]["mean"][:10]), 450)
    own = qd.ungroup(bands, lower="from", upper="to", count="people")
    np.testing.assert_allclose(own.mean, found["steps"]["mean"], rtol=1e-12)


def test_populations_are_ungrouped_by_their_labels():
    frame = pd.DataFrame({"town": ["a"] * 3 + ["b"] * 3, "year": [1.0] * 6,
                          "from": [0, 10, 20] * 2, "to": [10, 20, 30] * 2,
                          "people": [50, 40, 20, 500, 300, 90], "of": [500.0] * 6})
    asked = {"lower": "from", "upper": "to", "count": "people"}
    towns = qd.ungroup(frame, **asked, by="town")
    assert repr(towns) == "<UngroupedGroups by town: 2 groups>" and list(towns) == ["a", "b"]
    steps = towns.to_frame()
    assert list(steps)[:3] == ["town", "from", "to"] and len(steps) == 60
    # Draws add up to the bands; random numbers are those of the label, whatever is beside it.
    np.testing.assert_allclose(towns["b"].draws(9)[:, :10].sum(1), 500)
    alone = qd.ungroup(frame[3:], **asked, by=["town"])
    np.testing.assert_array_equal(alone["b"].upper, towns["b"].upper)
    again = pickle.loads(pickle.dumps(towns))
    np.testing.assert_array_equal(again["a"].draws(5), towns["a"].draws(5))
    rates = qd.ungroup(frame, **asked, exposure="of", by={"town": frame["town"], "n": [1] * 6})
    assert rates[("a", 1)].is_rate and rates.to_dict()["n"] == [1] * 60
    years = qd.ungroup(frame, **asked, along="year", by="town")
    assert list(years["a"]) == [1.0] and list(years.to_dict())[:3] == ["town", "year", "from"]
    for match, more in (("by is empty", {"by": []}), ("no column \"city\"", {"by": "city"}),
                        ("town is 2 labels", {"by": {"town": ["a", "b"]}})):
        with pytest.raises(qd.DataError, match=match):
            qd.ungroup(frame, **{**asked, **more})
    with pytest.warns(qd.FitWarning, match="1 of 2 populations .* first is b: the count of row 1"):
        some = qd.ungroup(frame, by="town", **{**asked, "count": [1, 2, 3, 1, -2, 3]})
    assert list(some) == ["a"]
    with pytest.raises(qd.DataError, match="'c' is none of the 2 groups by town"):
        towns["c"]
