"""Studies: the numbers and the messages of the program."""

import json
import subprocess

import numpy as np
import pytest

import quadrat as qd
from conftest import same, table
from shapes import squares

# Those with tables that nothing but a study gives (`test_examples.py`), and some quick ones.
EXAMPLES = ["ages", "mixed", "private-ages", "non-negative", "audience", "galaxies", "counties",
            "suppressed", "constituencies", "river", "wine", "wages", "acidity"]


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_study_gives_the_numbers_of_the_program(name, examples, ran):
    out = ran(name)
    result = qd.run(examples / name / "study.toml")
    written = {path.stem for path in out.glob("*.csv")}
    assert set(result) == written
    for one in written:
        same(result[one], table(out / f"{one}.csv"))
    fit = json.loads((out / "fit.json").read_text(encoding="utf-8"))
    # What is in memory has no files.
    assert {f"{one}.csv" for one in written} <= set(fit.pop("files"))
    for told in (fit, result.fit):
        told.pop("seconds")
    assert result.fit == fit
    assert result.warnings == fit["warnings"]


def study(tmp_path, rows="x,y\n0,1\n1,2\n2,1.5\n3,0.5\n"):
    (tmp_path / "a.csv").write_text(rows)
    return {
        "title": "Four \"rows\"",
        "latent": {"kernel": "se(x)"},
        "observe": [{
            "file": "a.csv",
            "support": {"point": ["x"]},
            "likelihood": {"gaussian": {"value": "y", "variance": np.float64(0.1)}},
        }],
        "predict": [{
            "name": "at",
            "support": {"grid": {"x": {"from": 0, "to": 2, "step": 1}}},
        }],
        "hyperparameters": {"se.lengthscale.x": {"value": 1.5, "fixed": True}},
        "inference": {"seed": 3, "method": None},
    }


def test_a_dict_is_a_study(tmp_path):
    result = qd.run(study(tmp_path), folder=tmp_path)
    assert result.title == 'Four "rows"'
    assert result.fit["hyperparameters"]["se.lengthscale.x"] == 1.5
    np.testing.assert_array_equal(result["at"]["x"], [0, 1, 2])
    again = result.posterior.predict(qd.point(x=[0.0, 1.0, 2.0]))
    same(again.to_dict(), dict(result["at"]))


def test_problems_have_places_and_the_words_of_the_program(tmp_path, program):
    said = study(tmp_path, "x,y\n0,1\n1,two\n2,1.5\n")
    with pytest.raises(qd.DataError) as caught:
        qd.run(said, folder=tmp_path)
    problem, = caught.value.problems
    assert (problem.file, problem.line, problem.column) == ("a.csv", 3, 3)
    assert problem.column_name == "y" and problem.remedies
    path = tmp_path / "study.toml"
    path.write_text("""
[latent]
kernel = "se(x)"
[[observe]]
file = "a.csv"
support = { point = ["x"] }
likelihood = { gaussian = { value = "y" } }
""")
    told = subprocess.run([program, "run", path], capture_output=True, text=True, check=False)
    with pytest.raises(ValueError) as caught:
        qd.run(path)
    assert told.stderr.strip() == str(caught.value)


def test_a_wrong_key_is_told_with_its_line(tmp_path):
    said = study(tmp_path)
    said["observe"][0]["suport"] = said["observe"][0].pop("support")
    with pytest.raises(qd.DataError, match="suport") as caught:
        qd.run(said, folder=tmp_path)
    assert caught.value.problems[0].file == "study"
    assert caught.value.problems[0].line > 1


def test_what_a_study_file_has_not_is_refused_by_its_key(tmp_path):
    said = study(tmp_path)
    said["observe"][0]["file"] = object()
    with pytest.raises(qd.DataError, match="`file`"):
        qd.run(said, folder=tmp_path)


def test_a_missing_study_is_a_data_error(tmp_path):
    with pytest.raises(qd.DataError, match="nowhere.toml"):
        qd.run(tmp_path / "nowhere.toml")


def test_frames_stand_for_files(tmp_path):
    said = study(tmp_path)
    expected = qd.run(said, folder=tmp_path)["at"]
    said["observe"][0]["file"] = {"x": [0, 1, 2, 3], "y": [1.0, 2.0, 1.5, 0.5]}
    (tmp_path / "a.csv").unlink()
    result = qd.run(said, folder=tmp_path)
    same(result["at"], dict(expected))
    frame = result["at"].to_frame()
    assert list(frame["x"]) == [0, 1, 2]


def test_messages_about_frames_name_no_folder_that_nobody_gave(tmp_path):
    said = study(tmp_path)
    said["observe"][0]["file"] = {"x": [0, 1, 2, 3], "y": [1.0, "two", 1.5, 0.5]}
    with pytest.raises(qd.DataError) as caught:
        qd.run(said)
    problem, = caught.value.problems
    assert (problem.file, problem.line) == ("observe-1.csv", 3)
    assert "quadrat-" not in str(caught.value) and "observe-1.csv:3:3" in str(caught.value)


def fitted(kernel, file, support, aggregate):
    return qd.run({
        "latent": {"kernel": kernel},
        "observe": [{"file": file, "support": support, "aggregate": aggregate,
                     "likelihood": {"gaussian": {"value": "births"}}}],
        "inference": {"hyperparameters": "map"},
    }).posterior


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
def test_models_of_labels_refuse_plain_numbers():
    sites = {"x": [0, 1, 2, 3], "site": list("abab"), "births": [1.0, 2.0, 2.5, 2.0]}
    post = fitted("se(x) + iid(site)", sites, {"point": ["x", "site"]}, None)
    at = qd.point({name: [0.5, 1.0] for name in post.dims})
    with pytest.raises(qd.DataError, match="labels"):
        post.predict(at)
    with pytest.raises(qd.DataError, match="labels"):
        post.condition(at, value=[1.0, 2.0])


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
def test_models_of_longitudes_take_degrees():
    areas = squares([0, 2, 4, 6, 8], births=[10.0, 14.0, 9.0, 4.0], name=list("abcd"))
    post = fitted("se(x, y)", areas, {"region": {"key": "name", "dims": ["x", "y"]}}, "sum")
    own = qd.Model("se(x, y)").observe(qd.region(areas, planar=False, aggregate="sum"),
                                       value=[10.0, 14.0, 9.0, 4.0]).fit(hyperparameters="map")
    at = qd.point(x=[0.5, 1.0], y=[0.5, 0.5])
    # The same code has computed both.
    np.testing.assert_allclose(post.predict(at).mean, own.predict(at).mean, rtol=1e-12)
    assert len(post.condition(at, value=[1e-4, 2e-4]).predict(at)) == 2
