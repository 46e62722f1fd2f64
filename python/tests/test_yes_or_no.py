"""Arguments that are True or False are nothing else: words and numbers are not taken for them."""

import numpy as np
import pytest

import quadrat as qd

X = np.arange(4.0)
AT = qd.point(x=X)
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
MAP = {"type": "FeatureCollection", "features": [
    {"type": "Feature", "geometry": SQUARE, "properties": {"n": 1}}]}
BANDS = {"lower": [0, 10], "upper": [10, 20], "count": [4, 5]}
ROWS = {"t": X, "key": X, "n": X}


def model():
    return qd.Model("se(x)").observe(AT, value=X, noise=0.1)


@pytest.fixture(scope="module")
def post():
    return model().fit()


@pytest.fixture(scope="module")
def density():
    return qd.Density(X, draws=100, cells=20)


@pytest.fixture(scope="module")
def surface():
    return qd.Density2d(X, X, draws=100, cells=10)


@pytest.fixture(scope="module")
def slices():
    return qd.ConditionalDensity(X, X, draws=100, cells=(5, 10))


ASKED = {
    "share_noise": lambda a, v: model().observe(AT, value=X, share_noise=v),
    "fixed": lambda a, v: model().set("se.variance", value=1.0, fixed=v),
    "move_inducing": lambda a, v: model().fit(method="sparse", move_inducing=v),
    "non_negative": lambda a, v: a("post").predict(AT, non_negative=v),
    "non_negative of rows": lambda a, v: a("post").rows(non_negative=v),
    "rows": lambda a, v: a("post").plot(rows=v),
    "log": lambda a, v: qd.Density(X + 1, log=v),
    "log of a pair": lambda a, v: qd.Density2d(X + 1, X + 1, log=(True, v)),
    "log of slices": lambda a, v: qd.ConditionalDensity(X + 1, X, log=v),
    "given_log": lambda a, v: qd.ConditionalDensity(X + 1, X + 1, given_log=v),
    "simultaneous": lambda a, v: a("density").band(v),
    "simultaneous in a plot": lambda a, v: a("density").plot(simultaneous=v),
    "simultaneous of a surface": lambda a, v: a("surface").band(v),
    "rows of a density": lambda a, v: a("density").plot(rows=v),
    "rows of a surface": lambda a, v: a("surface").plot(rows=v),
    "surface": lambda a, v: a("slices").plot(surface=v),
    "log of bands": lambda a, v: qd.ungroup(**BANDS, log=v),
    "expected": lambda a, v: qd.ungroup(**BANDS, expected=v),
    "planar": lambda a, v: qd.region([SQUARE], planar=v),
    "planar of a map": lambda a, v: qd.areal_interpolate(MAP, total="n", planar=v),
    "overdispersed of a map": lambda a, v: qd.areal_interpolate(MAP, counts="n", overdispersed=v),
    "overdispersed": lambda a, v: qd.disaggregate(ROWS, ROWS, key="key", counts="n",
                                                  inputs=["t"], overdispersed=v),
    "relearn": lambda a, v: qd.Campaign(a("post"), AT, {"m": 0}, 1).tell(
        {"x": [1.0], "kind": "m", "value": [1.0]}, relearn=v),
    "horizontal": lambda a, v: qd.violins({"t": X}, "t", horizontal=v),
}
MATPLOTLIB = ("rows", "surface", "simultaneous in", "horizontal")


@pytest.mark.parametrize("value", ["false", 1, None, [True], np.array([True])], ids=repr)
@pytest.mark.parametrize("name", ASKED)
def test_neither_words_nor_numbers_are_yes_or_no(name, value, request):
    if name.startswith(MATPLOTLIB):
        pytest.importorskip("matplotlib")
    if value is None and name.startswith("planar"):
        pytest.skip("not given: the CRS says it")
    with pytest.raises(qd.DataError, match=f"^{name.split()[0]} is .*; it must be True or False"):
        ASKED[name](request.getfixturevalue, value)


def test_those_of_numpy_are():
    table = model().observe(AT, value=X, share_noise=np.True_)._tables()[1]
    assert table.share_noise is True


@pytest.mark.parametrize("value", ["false", 1, [], np.array([1])], ids=repr)
def test_progress_is_yes_no_or_what_is_called(value):
    with pytest.raises(TypeError, match="progress is (str|int|list|ndarray); give True, or what"):
        model().fit(progress=value)
