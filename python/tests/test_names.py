"""Columns of answers have names of their own: a label or an input of such a name is refused before
anything is computed."""

import numpy as np
import pandas as pd
import pytest

import quadrat as qd

TOLD = ["mean", "sd", "lower", "median", "upper"]
BANDS = {"from": [0, 20, 40, 60] * 2, "to": [20, 40, 60, 80] * 2,
         "people": [900, 880, 830, 600, 90, 80, 70, 60]}
EDGES = {"lower": "from", "upper": "to", "count": "people"}
LABELS = list("aaaabbbb")


@pytest.fixture(scope="module")
def counts():
    cells = qd.Poisson(lower=[9, 0, 11, 0], upper=[9, 4, 11, 4])
    return qd.Model("se(x)").observe(qd.point(x=np.arange(4.0)), cells).fit()


def refused(name):
    return pytest.raises(qd.DataError, match=f"two columns named \"{name}\"; (rename|give)")


@pytest.mark.parametrize("name", TOLD)
def test_labels_of_rows_and_of_populations_do_not_replace_answers(counts, name):
    frame = pd.DataFrame({name: list("aabb")})
    with refused(name):
        counts.rows(by=name, data=frame)
    with refused(name):
        counts.rows(by={name: list("aabb")})
    with refused(name):
        qd.ungroup({**BANDS, name: LABELS}, by=name, **EDGES)
    with refused(name):
        qd.fit_many({name: LABELS, **BANDS}, by=name, fit=lambda group: pytest.fail("it began"))
    with refused(name):
        qd.reconcile({name: ["all", "a"], "in": [None, "all"]}, area=name, within="in",
                     value=[2, 1], variance=1)
    # Under another name the same labels do.
    told = counts.rows(by={"side": frame[name]}).to_frame()
    assert list(told["side"]) == ["a", "b"] and list(told)[1:] == TOLD


@pytest.mark.parametrize("name", ["from", "to", "year"])
def test_labels_of_populations_do_not_replace_edges_and_years(name):
    data = {**BANDS, "label": LABELS, "when": [2000.0] * 8}
    if name == "year":
        assert list(qd.ungroup(data, by={"year": LABELS}, draws=100, **EDGES)) == ["a", "b"]
    with refused(name):
        qd.ungroup(data, by={name: LABELS}, along="when" if name == "year" else None, **EDGES)


def test_inputs_do_not_replace_answers(counts):
    post = qd.Model("se(mean)").observe(qd.point(mean=[1.0, 2]), value=[1.0, 2]).fit()
    with refused("mean"):
        post.predict(qd.point(mean=[1.5]))
    with pytest.raises(qd.DataError, match="ends of x are called x_lower and x_upper, as another"):
        counts.predict(qd.box(x=([1.0], [2.0]), x_lower=[1.0], aggregate="mean"))
    pixels = {"district": ["a", "b"], "lower": [0.0, 1.0]}
    with refused("lower"):
        qd.disaggregate({"district": ["a", "b"], "cases": [3, 4]}, pixels, key="district",
                        counts="cases", inputs=["lower"])


def test_inputs_and_kinds_of_campaigns_do_not_replace_each_other():
    for name in ("cost", "kind", "candidate", "meter"):
        at = qd.point({name: [1.0, 2, 3]})
        post = qd.Model(f"se({name})").observe(at, value=[1.0, 2, 1]).fit(hyperparameters="map")
        with refused(name):
            qd.Campaign(post, at, {"meter": 0}, 1)


def test_names_of_groups_are_not_those_of_facts_and_inputs():
    rows = {"rows": LABELS, "t": np.arange(8.0) % 4, "y": np.arange(8.0)}
    recipe = {"kernel": "se(t)", "support": qd.point(t="t"), "value": "y",
              "fit": {"hyperparameters": "map", "starts": 1}}
    with refused("rows"):
        qd.fit_many(rows, by="rows", fit=recipe)
    rows["place"] = rows.pop("rows")
    fits = qd.fit_many(rows, by="place", fit=recipe)
    with refused("place"):
        fits.predict(qd.point(t=[1.0], place=[7.0]))
    assert list(fits.predict(qd.point(t=[1.0]))["place"]) == ["a", "b"]


def test_columns_of_targets_are_not_replaced():
    geopandas = pytest.importorskip("geopandas")
    box = pytest.importorskip("shapely").box
    shapes = [box(0, 0, 1, 1), box(1, 0, 2, 1)]
    areas = geopandas.GeoDataFrame({"mean": [3.0, 5.0]}, geometry=shapes)
    with refused("mean"):
        qd.areal_interpolate(areas.assign(births=[3.0, 5.0]), areas, total="births", planar=True)
    fit = qd.areal_interpolate(areas, average="mean", planar=True)
    with refused("mean"):
        fit.predict()
    assert list(fit.predict(areas[["geometry"]])) == ["geometry", *TOLD]


def test_populations_that_cannot_be_ungrouped_leave_the_others(program, tmp_path):
    people = [*BANDS["people"], 0, 0, 0, 0]
    frame = pd.DataFrame({"town": [*LABELS, *"cccc"], "from": [0, 20, 40, 60] * 3,
                          "to": [20, 40, 60, 80] * 3, "people": people})
    with pytest.warns(qd.FitWarning, match="1 of 3 populations .* the first is c: count: all"):
        towns = qd.ungroup(frame, by="town", draws=1000, **EDGES)
    assert list(towns) == ["a", "b"] and list(towns.failures) == ["c"] and len(towns.warnings) == 1
    assert "1 failed" in repr(towns) and sorted(set(towns.to_frame()["town"])) == ["a", "b"]
    with pytest.raises(qd.DataError, match="'c' was not ungrouped: count: all counts are zero"):
        towns["c"]
    # As of the program, which writes the others and says which could not be.
    import subprocess
    frame.to_csv(tmp_path / "towns.csv", index=False)
    ran = subprocess.run([program, "ungroup", tmp_path / "towns.csv", "--lower=from", "--upper=to",
                          "--count=people", "--by=town", "-o", tmp_path / "out.csv"],
                         capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and "`c`: all counts are zero" in ran.stderr
    told = pd.read_csv(tmp_path / "out.csv")
    assert list(told["town"]) == list(towns.to_frame()["town"])
    # Where there is none, what is wrong with all of them is said once.
    with pytest.raises(qd.DataError, match="^count: all counts are zero"):
        qd.ungroup(frame.assign(people=0), by="town", **EDGES)
    with pytest.raises(qd.DataError, match="^the step is -1"):
        qd.ungroup(frame, by="town", step=-1, **EDGES)
