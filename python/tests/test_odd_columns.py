"""Columns and words that are not what they are taken for: each is refused by its name."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import quadrat as qd
from quadrat import _arrays

X, Y = np.arange(5.0), np.array([1.0, 2, 3, 2, 1])
AT = qd.point(x=X)
DAYS = [datetime.date(2020, 1, day) for day in range(1, 6)]
WAIT = {"from": [0, 10] * 2, "to": [10, 20] * 2, "n": [5, 6] * 2}


def model():
    return qd.Model("se(x)").observe(AT, value=Y, noise=0.1)


@pytest.fixture(scope="module")
def post():
    return model().fit(hyperparameters="map", starts=1)


@pytest.mark.parametrize(("column", "match"), [
    ([10**400, 1], "has a whole number of more than 308 digits"),
    (DAYS, "holds dates or times"), (pd.period_range("2020", periods=3), "holds dates or times"),
    ([datetime.timedelta(1)] * 2, "holds dates or times"),
    ([1, pd.NA, 3], "is missing in 1 row, first in row 1"),
    ([pd.NaT, 2.0], "is missing in 1 row, first in row 0"),
    (b"12", "must be numbers, not .*bytes"), ([b"1", b"2"], "must be numbers, not .*bytes"),
    (np.array([b"1", 2], dtype=object), "must be numbers, not object: bytes"),
], ids=lambda own: repr(own)[:30])
def test_columns_that_are_no_numbers(column, match):
    with pytest.raises(qd.DataError, match=f"^value {match}"):
        _arrays.column(column, "value")


def test_ragged_columns_of_edges_and_values_with_gaps():
    with pytest.raises(qd.DataError, match="^lower is no column of numbers"):
        qd.ungroup(lower=[[0], [1, 2]], upper=[1, 2], count=[3, 4])
    with pytest.raises(qd.DataError, match="^value is no column of numbers"):
        qd.reconcile(area=["a", "b"], within=[None, "a"], value=[[1], [2, 3]], variance=1)


@pytest.mark.parametrize(("key", "match"), [
    (3, "key is int; give one for each row"), ("", "key is the name"), (b"a", "key is bytes"),
    (np.ones((5, 2)), r"key has the shape \(5, 2\)"), (np.array(1), "key is ndarray"),
    ([[1]] * 5, "key is list in row 0"), ([1, None, 1, 1, 1], "key is missing in row 1"),
    ([1, float("nan"), 1, 1, 1], "key is missing in row 1"),
    (np.ma.array([1, 2, 3, 2, 1], mask=[0, 0, 1, 0, 0]), "key is missing in row 2"),
], ids=lambda own: repr(own)[:30])
def test_keys_of_bags(key, match):
    with pytest.raises(qd.DataError, match=f"^{match}"):
        qd.bag(x=X, key=key, aggregate="sum").place()


def test_points_of_no_bag_are_left_out_where_the_bags_are_named():
    placed = qd.bag(x=X, key=["a", None, "b", "b", None], keys=["b", "a"], aggregate="sum").place()
    assert placed.rows == 2 and placed.arguments[1][0].tolist() == [2.0, 3.0, 0.0]
    with pytest.raises(qd.DataError, match="^keys is int"):
        qd.bag(x=X, key=list("aabbc"), keys=3, aggregate="sum").place()


@pytest.mark.parametrize(("side", "match"), [
    ([0, 1, float("nan"), 0, 0], "side is nan in row 2"), ([0, 1, None, 0, 0], "side is missing"),
    (np.ma.array(X, mask=X == 3), "side is missing in 1 row, first in row 3"),
    (np.zeros((5, 1)), r"side has the shape \(5, 1\)"), ([10**400] * 5, "side has a whole number"),
    (["none", "up", "none", "none", "none"], "side: 'up'"), (b"left", "side must be numbers"),
], ids=lambda own: repr(own)[:30])
def test_sides_of_limits(side, match):
    with pytest.raises(qd.DataError, match=f"^{match}"):
        qd.Model("se(x)").observe(AT, qd.Censored(Y, side))


def test_one_side_is_that_of_all_rows():
    for side in ("left", -1, np.array(-1)):
        table = qd.Model("se(x)").observe(AT, qd.Censored(Y, side))._tables()[0]
        assert table.given["side"].tolist() == [-1.0] * 5
    column = pd.Series(["left", "none", "right", "none", "left"], dtype="category")
    table = qd.Model("se(x)").observe(AT, qd.Censored(Y, column))._tables()[0]
    assert table.given["side"].tolist() == [-1.0, 0.0, 1.0, 0.0, -1.0]


@pytest.mark.parametrize("data", [3, X, {1, 2}, (own for own in X), "frame"], ids=repr)
def test_data_without_columns(data):
    with pytest.raises(qd.DataError, match="^data is .*, which has no columns by name; give"):
        qd.Model("se(x)").observe(qd.point(x="t"), value="y", data=data)


def test_names_of_columns_are_theirs_alone():
    frame = pd.DataFrame({0: X, "y": Y})
    assert len(qd.Model("se(x)").observe(qd.point(x="0"), value="y", data=frame)._tables()[0]) == 5
    for twice in (pd.concat([frame, frame], axis=1),
                  pa.table([pa.array(X)] * 2 + [pa.array(Y)], names=["0", "0", "y"])):
        with pytest.raises(qd.DataError, match="^x: the data has 2 columns \"0\"; give each"):
            qd.Model("se(x)").observe(qd.point(x="0"), value=Y, data=twice)
    with pytest.raises(qd.DataError, match="the input \"x\" is given twice"):
        qd.point({"x": X}, x=X)


WORDS = {
    "link": lambda post, word: qd.Model("se(x)", link=word),
    "link of values": lambda post, word: qd.Gaussian(Y, link=word),
    "sigmoid": lambda post, word: qd.Bernoulli([1, 0], sigmoid=word),
    "method": lambda post, word: model().fit(method=word),
    "hyperparameters": lambda post, word: model().fit(hyperparameters=word),
    "hyperparameters is": lambda post, word: qd.Model("se(x)", hyperparameters=word),
    "output": lambda post, word: model().observe(AT, value=Y, output=word),
    "output of answers": lambda post, word: post.predict(AT, output=word),
    "scale": lambda post, word: post.predict(AT, word),
    "aggregate": lambda post, word: post.predict(AT, aggregate=word),
    "name": lambda post, word: model().set(word, start=1.0),
    "prior": lambda post, word: model().set("se.variance", prior=word),
    "what": lambda post, word: model().vary(word, "se(x)"),
    "dims": lambda post, word: qd.region([], dims=word),
    "inputs": lambda post, word: qd.point(word),
    "by": lambda post, word: qd.fit_many(WAIT, by=word, fit=lambda rows: pytest.fail("it began")),
    "by of areas": lambda post, word: qd.reconcile(area=["a"], within=[None], value=[1], variance=1,
                                                   by=word),
    "key": lambda post, word: qd.disaggregate(WAIT, WAIT, key=word, counts="n", inputs=["to"]),
    "inputs of pixels": lambda post, word: qd.disaggregate(WAIT, WAIT, key="from", counts="n",
                                                           inputs=word),
}


@pytest.mark.parametrize("word", [3, 1.5, b"exp", np.array(1), 10**30, 1j], ids=repr)
@pytest.mark.parametrize("name", WORDS)
def test_what_are_no_words(name, word, post):
    with pytest.raises(qd.DataError, match=f"^{name.split()[0]} (is|are) "):
        WORDS[name](post, word)


def test_places_of_densities():
    density = qd.Density(X, draws=100, cells=20)
    for wrong in ("x", b"1", 1j, DAYS, [None]):
        with pytest.raises(qd.DataError, match="^x "):
            density.evaluate(wrong)
    surface = qd.Density2d(X, Y, draws=100, cells=10)
    with pytest.raises(qd.DataError, match="^y must be numbers"):
        surface.evaluate(1.0, "y")
    with pytest.raises(qd.DataError, match=r"^x has the shape \(2,\), and y has \(3,\)"):
        surface.evaluate([1, 2], [1, 2, 3])


def test_groups_and_studies_with_odd_keys():
    with pytest.raises(qd.DataError, match="^by: g is list in row 0"):
        qd.fit_many({"g": pd.Series([[1], [2]]), "y": [1, 2]}, by="g", fit=len)
    with pytest.raises(qd.DataError, match="^the study has the key 1; keys are texts"):
        qd.run({1: {"kernel": "se(x)"}})
    with pytest.raises(TypeError, match="expected str, bytes or os.PathLike"):
        qd.load(0)
    for width in (0, -1, float("nan")):
        with pytest.raises(qd.DataError, match="^width is"):
            qd.violins({"t": X}, "t", width=width)
