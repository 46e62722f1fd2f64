"""The values behind rows; `test_examples.py` compares them with those of the program."""

import pickle

import numpy as np
import pandas as pd
import pytest

import quadrat as qd

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")

X = np.arange(6.0)
LEAST, MOST = [9, 0, 11, 0, 0, 6], [9, 4, 11, 4, 4, 6]
TOWNS = pd.DataFrame({"x": X, "least": LEAST, "most": MOST, "births": [52, 15, 49, 24, 20, 31],
                      "side": ["west", "west", "east", "east", "west", "east"]},
                     index=list("abcdef"))


@pytest.fixture(scope="module")
def post():
    deaths = qd.Poisson(lower="least", upper="most", exposure="births")
    return qd.Model("se(x)").observe(qd.point(x="x"), deaths, data=TOWNS).fit()


def test_values_lie_within_what_their_rows_say(post):
    cells = post.rows()
    is_told = np.array(LEAST) == MOST
    assert len(cells) == 6 and "6 rows of table 0" in repr(cells)
    np.testing.assert_array_equal(cells.sd == 0, is_told)
    np.testing.assert_array_equal(cells.mean[is_told], np.array(LEAST)[is_told])
    for told in (cells.lower, cells.median, cells.upper, cells.quantile(0.999), cells.draws(500)):
        assert np.all(told >= LEAST) and np.all(told <= MOST)
    # Four is the most of a hidden cell, and all of a told one is known.
    np.testing.assert_array_equal(cells.exceed(MOST), np.zeros(6))
    np.testing.assert_array_equal(cells.exceed(np.array(LEAST) - 1), np.ones(6))
    drawn = cells.draws(10_000)
    # Four standard errors of a mean of 10,000 draws.
    assert np.all(np.abs(drawn.mean(0) - cells.mean) <= 4 * cells.sd / 100)
    # The library's own probabilities of each count.
    share = cells.exceed(0) - cells.exceed(1)
    assert np.all(np.abs((drawn == 1).mean(0) - share) < 0.02)
    new = post.predict(qd.point(x="x"), "observation", data=TOWNS, exposure="births")
    assert new.quantile(0.999)[1] > 4


def test_sums_are_those_of_the_same_draws(post):
    cells, sides = post.rows(seed=3), post.rows(by="side", data=TOWNS, seed=3)
    assert list(sides.to_dict()) == ["side", "mean", "sd", "lower", "median", "upper"]
    assert sides.to_dict()["side"] == ["west", "east"]
    is_west = TOWNS["side"].to_numpy() == "west"
    for at, own in enumerate((is_west, ~is_west)):
        # Sums in another order.
        np.testing.assert_allclose(sides.mean[at], cells.mean[own].sum(), rtol=1e-12)
        np.testing.assert_array_equal(sides.draws(50)[:, at], cells.draws(50)[:, own].sum(1))
        assert np.all(sides.draws(50, seed=4)[:, at] == cells.draws(50, seed=4)[:, own].sum(1))
    whole = post.rows(by=[])
    assert list(whole.to_frame()) == ["mean", "sd", "lower", "median", "upper"]
    np.testing.assert_allclose(whole.mean, [cells.mean.sum()], rtol=1e-12)
    two = post.rows(by=["side", "births"], data=TOWNS)
    assert len(two) == 6 and two.to_dict()["births"] == TOWNS["births"].tolist()
    arrays = post.rows(by={"side": TOWNS["side"]}, seed=3)
    np.testing.assert_array_equal(arrays.upper, sides.upper)
    gaps = post.rows(by={"side": ["a", None, "a", float("nan"), "a", "a"]})
    assert gaps.to_dict()["side"] == ["a", None]


def test_frames_keep_their_index_and_pickles_their_numbers(post, tmp_path):
    frame = post.rows(data=TOWNS, level=0.5).to_frame()
    assert frame.index.tolist() == list("abcdef") and frame["x"].tolist() == X.tolist()
    sides = post.rows(by="side", data=TOWNS)
    assert sides.to_frame().index.tolist() == [0, 1]
    again = pickle.loads(pickle.dumps(sides))
    np.testing.assert_array_equal(again.upper, sides.upper)
    np.testing.assert_array_equal(again.draws(9), sides.draws(9))
    post.save(tmp_path / "rows.quadrat")
    loaded = qd.load(tmp_path / "rows.quadrat")
    np.testing.assert_array_equal(loaded.rows().mean, post.rows().mean)
    np.testing.assert_array_equal(loaded.rows(by="side", data=TOWNS).mean, sides.mean)


def test_known_noise_is_taken_away():
    at, y = np.linspace(0, 3, 8), np.sin(np.linspace(0, 3, 8)) + 0.1
    model = qd.Model("se(t)").observe(qd.point(t=at), value=y, noise=0.04)
    post = model.fit(hyperparameters="map")
    told, function = post.rows(), post.predict(qd.point(t=at), "latent")
    # All noise is known: what is left is the function, by another way to the same numbers.
    np.testing.assert_allclose(told.mean, function.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(told.sd, function.sd, rtol=1e-4)
    assert np.all(post.rows(non_negative=True).lower >= 0)


def test_several_tables_are_told_apart():
    model = qd.Model("se(t)").observe(qd.point(t=[0.0, 1, 2]), value=[1.0, 2, 3], noise=0.01)
    model.observe(qd.point(t=[0.5, 1.5]), qd.Interval([1.0, 2], [2.0, 3], 0.01))
    post = model.fit()
    assert len(post.rows(0)) == 3
    between = post.rows(1)
    assert np.all(between.lower >= [1, 2]) and np.all(between.upper <= [2, 3])
    more = post.condition(qd.point(t=[0.7]), qd.Interval([1.2], [1.9], 0.01))
    assert len(more.rows(2)) == 1 and 1.2 <= more.rows(2).median[0] <= 1.9
    with pytest.raises(qd.DataError, match="table is missing: the model has 2 tables"):
        post.rows()
    with pytest.raises(qd.DataError, match="table is 2; the model has 2 tables, counted from 0"):
        post.rows(2)


@pytest.mark.parametrize(("asked", "match"), [
    ({"table": -1}, "table is -1"),
    ({"by": "side"}, "no data was given"),
    ({"by": "nowhere", "data": TOWNS}, "no column \"nowhere\""),
    ({"by": {"side": ["a", "b"]}}, "side is 2 labels, and the table has 6 rows"),
    ({"by": [3]}, "by has 3; give names of columns"),
    ({"by": {"side": [[1]] * 6}}, "side is list in row 0"),
    ({"by": 5}, "group is int"),
    ({"level": 1}, "level is 1"),
    ({"seed": 0.5}, "seed is 0.5"),
])
def test_what_cannot_be_asked_is_named(post, asked, match):
    with pytest.raises(qd.DataError, match=match):
        post.rows(**asked)


def test_rows_without_a_value_of_their_own_are_refused(post):
    deaths = qd.Poisson(lower=LEAST, upper=MOST)
    seen = qd.Model("se(x)").observe(qd.point(x=X), deaths, times=[1, 1, 1, 1, 1, 2]).fit()
    with pytest.raises(qd.DataError, match="seen several times"):
        seen.rows()
    signs = qd.Model("se(x)").observe(qd.point(x=X), value=X, noise=0.1)
    signs.observe(qd.point(x=X), qd.Positive(sd=0.1))
    with pytest.raises(qd.DataError, match="report none"):
        signs.fit().rows(1)
    boxes = qd.box(x=([0.0, 1, 2, 0], [1.0, 2, 3, 3]), aggregate="sum")
    parts = qd.Model("se(x)").observe(boxes, qd.Poisson(lower=[5, 0, 7, 12], upper=[5, 4, 7, 16]))
    with pytest.raises(qd.DataError, match="table 0: some of its rows"):
        parts.fit().rows()
    with pytest.raises(qd.DataError, match="n is 10001; 10000 draws are made"):
        post.rows(by=[]).draws(10_001)
    with pytest.raises(qd.DataError, match="x has 2 rows"):
        post.rows().exceed([1, 2])
