"""Draws are handed to ArviZ as they are."""

import numpy as np
import pytest

import quadrat as qd

arviz = pytest.importorskip("arviz")

X = np.linspace(0, 3, 9)


@pytest.fixture(scope="module")
def post():
    return qd.Model("se(x)").observe(qd.point(x=X), value=np.cos(X), noise=0.01).fit()


def test_draws_are_one_chain_of_rows(post):
    told = post.predict(qd.point(x=[0.5, 1.5, 2.5]))
    tree = told.to_arviz(400, seed=3)
    f = tree["posterior"]["f"]
    assert f.dims == ("chain", "draw", "row") and f.shape == (1, 400, 3)
    np.testing.assert_array_equal(f.values[0], told.draws(400, seed=3))
    np.testing.assert_array_equal(tree["constant_data"]["x"], [0.5, 1.5, 2.5])
    assert tree["posterior"].attrs["kernel"] == "se(x)"
    table = arviz.summary(tree)
    np.testing.assert_allclose(table["mean"].astype(float), told.mean, atol=0.02)


def test_rows_are_called_as_users_call_them(post):
    frame = pytest.importorskip("pandas").DataFrame({"at": [0.5, 1.5]}, index=["a", "b"])
    tree = post.to_arviz(qd.point(x="at"), 100, data=frame, name="height")
    assert tree["posterior"]["height"].coords["row"].values.tolist() == ["a", "b"]
    bags = qd.bag(x=[0.5, 1.5, 2.5], key=["east", "east", "west"], aggregate="mean")
    rows = post.to_arviz(bags, 100)["posterior"]["f"].coords["row"]
    assert rows.values.tolist() == ["east", "west"]


def test_without_a_support_it_is_all_over_the_rows(post):
    tree = post.to_arviz(n=10)
    assert tree["posterior"]["f"].shape == (1, 10, 200)
    assert tree["constant_data"]["x"].values[[0, -1]].tolist() == [0, 3]
