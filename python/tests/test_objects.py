"""Posteriors as objects: saved, copied, pickled, shown; warnings and kernels."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import quadrat as qd
from quadrat import _quadrat


@pytest.fixture(scope="module")
def post():
    x = np.linspace(0, 3, 9)
    return qd.Model("se(x)").observe(qd.point(x=x), value=np.cos(x), noise=0.01).fit()


AT = qd.point(x=[0.1, 0.2])


def test_a_pickle_is_the_bytes_of_the_model_file(post, tmp_path):
    data = pickle.dumps(post)
    assert post.to_bytes() in data
    np.testing.assert_array_equal(pickle.loads(data).predict(AT).mean, post.predict(AT).mean)
    path = tmp_path / "m.quadrat"
    post.save(path)
    assert path.read_bytes() == post.to_bytes()
    np.testing.assert_array_equal(qd.load(path).predict(AT).sd, post.predict(AT).sd)
    assert copy.deepcopy(post) is post and copy.copy(post) is post
    assert [one.name for one in tmp_path.iterdir()] == ["m.quadrat"]


def test_models_are_pickled_and_copied_as_they_were_said():
    squares = [{"type": "Polygon", "coordinates": [[[x, 0], [x + 1, 0], [x + 1, 1], [x, 1]]]}
               for x in range(3)]
    model = qd.Model("se(x, y)", link="softplus", hyperparameters={"se.variance": {"start": 2.0}})
    model.observe(qd.region(squares, aggregate="mean"), value=[1.0, 2.0, 1.5], noise=0.1)
    model.observe(qd.bag(x=[0.0, 1, 2], y=[0.5, 0.5, 0.5], key=["a", "a", "b"], aggregate="sum"),
                  value=[3.0, 1.5], noise=0.1, times=[1, 2])
    again, copied = pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    assert repr(again) == repr(copied) == "<Model se(x, y), 5 rows>"
    assert again.link == "softplus" and again.parameters() == model.parameters()
    at = qd.point(x=[0.5, 2.0], y=[0.5, 0.1])
    expected = model.fit().predict(at)
    np.testing.assert_array_equal(again.fit().predict(at).mean, expected.mean)
    # A copy is another model: rows of one are not the other's.
    copied.observe(at, value=[1.0, 1.0], noise=0.1)
    assert repr(model) == "<Model se(x, y), 5 rows>" and repr(copied) == "<Model se(x, y), 7 rows>"
    np.testing.assert_array_equal(model.fit().predict(at).mean, expected.mean)


def test_predictions_are_pickled(post):
    rows = {"at": [0.1, 0.2], "population": [3.0, 4.0]}
    told = post.predict(qd.point(x="at"), "observation", 0.8, data=rows)
    again = pickle.loads(pickle.dumps(told))
    assert again.level == 0.8 and again.scale == "observation"
    for one, other in zip(told.to_dict().values(), again.to_dict().values(), strict=True):
        np.testing.assert_array_equal(one, other)
    same = post.predict(AT)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(same)).draws(3), same.draws(3))
    assert copy.deepcopy(same) is same


def test_ungrouped_counts_are_pickled():
    told = qd.ungroup(lower=[0, 20, 40], upper=[20, 40, 80], count=[90, 88, 60], draws=100)
    again = pickle.loads(pickle.dumps(told))
    for one, other in zip(told.to_dict().values(), again.to_dict().values(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.quantile(0.5) == told.quantile(0.5) and copy.copy(told) is told


def test_the_program_and_python_read_each_others_models(post, program, tmp_path):
    post.save(tmp_path / "m.quadrat")
    (tmp_path / "at.csv").write_text("x\n0.1\n0.2\n")
    out = tmp_path / "out.csv"
    subprocess.run([program, "predict", tmp_path / "m.quadrat", "--at", tmp_path / "at.csv",
                    "--point", "x", "-o", out], check=True, capture_output=True)
    rows = out.read_text().splitlines()
    means = [float(row.split(",")[1]) for row in rows[1:]]
    np.testing.assert_allclose(means, post.predict(AT).mean, rtol=1e-12)


def test_files_that_are_no_models_are_refused(tmp_path, post):
    path = tmp_path / "x"
    path.write_bytes(b"not a model")
    with pytest.raises(qd.LoadError, match="not a quadrat model"):
        qd.load(path)
    path.write_bytes(post.to_bytes()[:-3])
    with pytest.raises(qd.LoadError, match="damaged"):
        qd.load(path)


def test_what_is_shown(post):
    assert repr(post).startswith("<Posterior of se(x), 9 rows, exact, log evidence ")
    text = str(post.summary())
    assert "se.lengthscale.x" in text and "95 % interval" in text
    assert "<td>se.lengthscale.x</td>" in post._repr_html_()
    assert post.predict(AT)._repr_html_().count("<tr>") == 3
    assert post.log_evidence == post.facts["log_evidence"]
    low, high = post.intervals["se.lengthscale.x"]
    assert low < post.hyperparameters["se.lengthscale.x"] < high


def test_warnings_are_warnings():
    bands = qd.box(age=(np.arange(0, 100, 10), np.arange(10, 110, 10)), aggregate="sum")
    values = 100 * np.exp(-np.arange(10.0) / 8)
    smooth = {"matern32.lengthscale.age": {"lower": 60.0}}
    post = qd.Model("matern32(age)", hyperparameters=smooth).observe(
        bands, value=values, noise=1.0).fit()
    with pytest.warns(qd.FitWarning, match="finer along age than the rows"):
        told = post.predict(qd.cells(age=np.arange(101), aggregate="sum"))
    assert len(told.warnings) == 1


BANDS = np.arange(0.0, 70, 10)


def banded(values, aggregate):
    """Six bands of ages, with a curve that swings between them."""
    at = qd.box(age=(BANDS[:-1], BANDS[1:]), aggregate=aggregate)
    return qd.Model("se(age)").observe(at, value=values, noise=0.0001).fit(hyperparameters="map")


def studied(values, aggregate, **predict):
    """What the program warns of, where the same is asked in a study."""
    found = qd.run({
        "latent": {"kernel": "se(age)"},
        "observe": [{"file": {"from": BANDS[:-1], "to": BANDS[1:], "value": values},
                     "support": {"box": {"age": ["from", "to"]}}, "aggregate": aggregate,
                     "likelihood": {"gaussian": {"value": "value", "variance": 0.0001}}}],
        "predict": [{"name": "all", "aggregate": aggregate, "support": {"grid": {
            "age": {"from": 0, "to": 60, "step": 2, "cells": True}}}, **predict}],
        "inference": {"hyperparameters": "map"}})
    return found.warnings


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
@pytest.mark.parametrize("values, aggregate, said, message", [
    ([0.0, 0, 90, 0, 0, 0], "sum", {}, "means of 30 are below zero"),
    ([0.0, 1, 1, 0, 0, 1], "mean", {}, "above one"),
    ([0.0, 0, 90, 0, 0, 0], "sum", {"non_negative": True}, "every value was cut off at zero"),
])
def test_predictions_warn_of_what_the_program_warns_of(values, aggregate, said, message):
    told = banded(values, aggregate).predict(
        qd.cells(age=np.arange(0, 61, 2), aggregate=aggregate), **said)
    own = [one for one in told.warnings if message in one]
    assert len(own) == 1, told.warnings
    theirs = studied(values, aggregate, **said)
    if said:
        # The program names the line of the table, Python the row of the arrays.
        assert any(message in one for one in theirs) and " of table 0 make " in own[0]
    else:
        assert f"prediction `all`: {own[0]}" in theirs


def test_rows_that_warnings_speak_of_are_counted_from_0(post):
    with pytest.warns(qd.FitWarning, match="1 of 2 rows lies far outside the data, first row 1;"):
        post.predict(qd.point(x=[1.0, 1000.0]))
    x = np.arange(8.0)
    sites = qd.Model("se(x) + iid(site)").observe(
        qd.point(x=x, site=x % 2), value=np.sin(x) + x % 2, noise=0.01).fit(hyperparameters="map")
    with pytest.warns(qd.FitWarning, match="1 row of 2 has a label that no row was observed with, "
                                           "first row 1: its effect"):
        sites.predict(qd.point(x=[1.0, 1.0], site=[0.0, 7.0]))


def test_ends_warn_whoever_looks_at_them():
    # Far from all rows the log of the rate has an sd of 5: the mean of its exponential, at 12.5 in
    # logs, lies above the upper end of its interval, at 9.8.
    wide = {"se.variance": {"value": 25.0, "fixed": True},
            "se.lengthscale.x": {"value": 1.0, "fixed": True}}
    x = np.arange(5.0)
    post = qd.Model("se(x)", mean="zero", hyperparameters=wide).observe(
        qd.point(x=x), qd.Poisson([1, 2, 0, 3, 1])).fit(hyperparameters="map")
    with pytest.warns(qd.FitWarning, match="far outside"):
        told = post.predict(qd.point(x=[40.0]))
    assert len(told.warnings) == 1
    with pytest.warns(qd.FitWarning, match="mean of 1 row lies above its 95 % interval"):
        assert told.upper[0] < told.mean[0]
    assert len(told.warnings) == 2 and len(pickle.loads(pickle.dumps(told)).warnings) == 1


def test_errors_survive_a_pickle():
    with pytest.raises(qd.DataError) as caught:
        qd.Model("se(x)").observe(qd.point(x=[0.0, 1]), value=[1.0, np.nan])
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.problems[0].row == 1
    assert isinstance(again, ValueError)


def test_kernels_add_and_multiply():
    se, linear = qd.Kernel("se(t)"), qd.Kernel("linear(t)")
    assert str((se + linear) * "periodic(t)") == "(se(t) + linear(t)) * periodic(t)"
    assert str(se * linear + se) == "se(t) * linear(t) + se(t)"
    assert "2 *" not in str("constant" + se)
    assert qd.Model(se + linear).kernel == "se(t) + linear(t)"


def test_a_panic_is_an_exception():
    # A call that the package never makes: two edges for three boxes.
    with pytest.raises(qd.InternalError, match="a bug of quadrat: index out of bounds"):
        _quadrat.Support.boxes(["x"], [np.zeros(3)], [np.ones(2)], "sum")
    assert len(_quadrat.Support.boxes(["x"], [np.zeros(2)], [np.ones(2)], "sum")) == 2


def test_more_draws_than_there_is_memory_are_refused(post):
    with pytest.raises(qd.DataError, match="too many to hold"):
        post.predict(AT).draws(2**60)


def test_memory_does_not_grow():
    def held():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("this system does not tell how much memory is held")
    x = np.linspace(0, 3, 6)
    before = None
    for at in range(400):
        post = qd.Model("se(x)").observe(qd.point(x=x), value=np.cos(x), noise=0.01).fit(
            hyperparameters="map", starts=1)
        pickle.loads(pickle.dumps(post)).predict(AT).draws(5)
        if at == 100:
            before = held()
    # Three hundred fits; one that leaked would leave some kilobytes each.
    assert held() - before < 2**20


def test_importing_is_quick_as_it_imports_little():
    code = ("import sys; before = set(sys.modules); import quadrat; "
            "print(*sorted(set(sys.modules) - before))")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = told.stdout.split()
    assert [name for name in found if name.startswith("quadrat")] == ["quadrat", "quadrat._quadrat"]
    # The others are of the interpreter.
    assert {name.partition(".")[0] for name in found} <= {"quadrat", *sys.stdlib_module_names}
    assert len(found) < 20
