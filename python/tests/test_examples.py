"""Every example through arrays and through data frames has the numbers of the program."""

import json
import pickle
import subprocess

import numpy as np
import pytest

import example_jobs
import example_models
import quadrat as qd
from conftest import ROOT, same, table
from example_rows import ends, reader

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
NUMBERS = {"mean", "sd", "lower", "median", "upper"}


def models():
    """What says each example, by its name."""
    found = {}
    for path in sorted((ROOT / "examples").glob("*/study.toml")):
        name = path.parent.name
        word = name.replace("-", "_")
        found[name] = getattr(example_jobs, word, None) or getattr(example_models, word)
    return found


def of_output(columns, output):
    """The rows of one output."""
    rows = [own == output for own in columns["output"]]
    return {name: own[rows] for name, own in columns.items() if name != "output"}


def told_of(prediction, expected):
    """What is compared of a prediction: numbers, places, probabilities; of a job all it has."""
    if isinstance(prediction, dict):
        return {name: prediction[name] for name in expected if name in prediction}
    own = prediction.to_dict()
    found = {name: own[name] for name in expected if name in own}
    for name in expected:
        what, _, number = name.partition("_")
        if what == "above":
            found[name] = prediction.exceed(float(number))
        elif what == "rank":
            found[name] = np.exp(prediction.log_density(float(number)))
        elif what == "draw":
            found[name] = prediction.draws(int(number))[-1]
    return found


@pytest.fixture(scope="module", autouse=True)
def _once():
    """The same model is fitted once: bytes of pickles say what a model is."""
    fitted, fit = {}, qd.Model.fit

    def first(model, **settings):
        said = pickle.dumps((model, settings))
        if said not in fitted:
            fitted[said] = fit(model, **settings)
        return fitted[said]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qd.Model, "fit", first)
        yield


@pytest.mark.parametrize("is_frame", [False, True], ids=["arrays", "frames"])
@pytest.mark.parametrize("name", models())
def test_an_example_has_the_numbers_of_the_program(name, is_frame, ran):
    if name == "counties" and is_frame:
        pytest.skip("areas come as features, which are neither; `test_geographic.py` has frames")
    out, compared = ran(name), set()
    for asked, prediction in models()[name](reader(name, is_frame)):
        asked, *output = (asked,) if isinstance(asked, str) else asked
        expected = table(out / f"{asked}.csv")
        if output:
            expected = of_output(expected, *output)
        found = told_of(prediction, expected)
        is_told = isinstance(prediction, (qd.Prediction, qd.RowValues))
        assert not is_told or NUMBERS <= set(found)
        assert {"lower", "upper"} <= set(found)
        same(found, {name: expected[name] for name in found})
        compared.add(asked)
    assert compared == {path.stem for path in out.glob("*.csv")}


@pytest.mark.parametrize("is_frame", [False, True], ids=["arrays", "frames"])
def test_a_constituency_has_the_numbers_of_the_program(is_frame, program, tmp_path):
    # The last band is "85+", and has no end.
    rows = reader("constituencies", is_frame)("bands", **{
        "from": lambda cells: {"from": np.array([float(cell.rstrip("+")) for cell in cells])},
        "to": ends("to", "inf")}).where("constituency", "Aldershot")
    told = qd.ungroup(rows.data, lower=rows["from"], upper=rows["to"], count=rows["people"])
    lines = (ROOT / "examples" / "constituencies" / "bands.csv").read_text("utf-8").splitlines()
    own = [line for line in lines if line.startswith(("constituency", "Aldershot"))]
    (tmp_path / "bands.csv").write_text("\n".join(own) + "\n", encoding="utf-8")
    out = tmp_path / "steps.csv"
    subprocess.run([program, "ungroup", tmp_path / "bands.csv", "--lower", "from", "--upper", "to",
                    "--count", "people", "-o", out], check=True, capture_output=True)
    same(told.to_dict(), table(out))


def test_areal_interpolation_has_the_numbers_of_the_program(ran):
    def areas(name):
        path = ROOT / "examples" / "counties" / f"{name}.geojson"
        return json.loads(path.read_text(encoding="utf-8"))

    told = qd.areal_interpolate(areas("groups"), areas("all-counties"), total="births")
    expected = table(ran("counties") / "counties.csv")
    same({name: [row[name] for row in told] for name in NUMBERS},
         {name: expected[name] for name in NUMBERS})
