"""Bags become pixels: the numbers of the model, and what adds up."""

import pickle

import numpy as np
import pandas as pd
import pytest

import quadrat as qd
from optional import polars

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
NAMES = ["north", "east", "south", "west", "middle"]
X = np.linspace(0, 6, 40)
PEOPLE = np.tile([100.0, 250, 50, 400], 10)
PIXELS = {"district": np.repeat(NAMES, 8), "x": X, "people": PEOPLE}
RATE = 0.05 * np.exp(np.sin(X))
CASES = np.round((RATE * PEOPLE).reshape(5, 8).sum(1))
# The districts are not in the order of the pixels.
ORDER = [3, 0, 4, 2, 1]
BAGS = {"name": np.arange(5), "district": np.array(NAMES)[ORDER], "cases": CASES[ORDER]}
SAID = {"key": "district", "inputs": ["x"], "kernel": "se(x)", "weight": "people"}


def test_counts_are_those_of_the_model_of_bags():
    told = qd.disaggregate(BAGS, PIXELS, counts="cases", fit={"hyperparameters": "map"}, **SAID)
    model = qd.Model("se(x)")
    model.observe(qd.bag(x=X, key=PIXELS["district"], keys=BAGS["district"], weight=PEOPLE,
                         aggregate="sum"), qd.Poisson(BAGS["cases"]))
    post = model.fit(hyperparameters="map")
    np.testing.assert_array_equal(told.rate.mean, post.predict(qd.point(x=X)).mean)
    # Cases are those expected, rounded, without chance: what is off is the shape within districts,
    # where the rate changes up to threefold, and what five counts of 34 to 199 leave to the prior.
    assert np.mean(np.abs(told.rate.mean / RATE - 1)) < 0.1 and len(told) == 40
    # Sums behind a link are told from draws, and points are not.
    assert np.all(np.abs(told.total.mean - PEOPLE * told.rate.mean) < 0.1 * told.total.sd)
    # 509 cases have an sd of 4.4 %; the mean lies at them to half of that.
    assert told.total.mean.sum() == pytest.approx(CASES.sum(), rel=0.02)


def test_totals_are_met_and_averages_too():
    total = {**BAGS, "cases": (np.sin(X) * PEOPLE).reshape(5, 8).sum(1)[ORDER]}
    told = qd.disaggregate(total, PIXELS, total="cases", **SAID)
    own = told.total.mean.reshape(5, 8).sum(1)[ORDER]
    # Totals, of 111 to 1448, are exact: rounding, of a solution with five rows.
    np.testing.assert_allclose(own, total["cases"], rtol=0, atol=1e-8)
    share = {**BAGS, "cases": total["cases"] / PEOPLE.reshape(5, 8).sum(1)[ORDER]}
    averages = qd.disaggregate(share, PIXELS, average="cases", **SAID)
    # The same rows in another unit, which is taken out before the search: rounding of rates of one.
    np.testing.assert_allclose(averages.rate.mean, told.rate.mean, rtol=0, atol=1e-9)
    noisy = qd.disaggregate({**share, "v": [0.1] * 5}, PIXELS, average="cases", variance="v",
                            **SAID)
    assert np.all(noisy.rate.sd[::8] > averages.rate.sd[::8])


def test_frames_are_those_of_the_pixels():
    index = [f"p{at}" for at in range(40)]
    pixels = pd.DataFrame(PIXELS, index=index)
    told = qd.disaggregate(pd.DataFrame(BAGS), pixels, counts="cases", level=0.8,
                           fit={"hyperparameters": "map"}, **SAID)
    frame = told.to_frame()
    assert list(frame.index) == index and list(frame) == [
        "district", "x", "people", "mean", "sd", "lower", "median", "upper"]
    np.testing.assert_array_equal(frame["upper"], told.rate.quantile(0.9))
    kind = pd.DataFrame if polars is None else polars.DataFrame
    other = qd.disaggregate(kind(BAGS), kind(PIXELS), counts="cases", **SAID)
    assert isinstance(other.to_frame("total"), kind)
    again = pickle.loads(pickle.dumps(told))
    np.testing.assert_array_equal(again.total.mean, told.total.mean)


def test_hidden_counts_and_bags_that_nobody_observed():
    few = {"district": NAMES[:4], "least": [0, *CASES[1:4]], "most": [4, *CASES[1:4]]}
    said = {**SAID, "counts": ("least", "most"), "fit": {"hyperparameters": "map"}}
    told = qd.disaggregate(few, PIXELS, **said)
    # The count of the first district is 4 at most, where its pixels expect 142 cases otherwise.
    assert len(told) == 40 and told.total.mean[:8].sum() < 10
    more = qd.disaggregate(few, PIXELS, overdispersed=True, **said)
    assert more.rate.sd[20] > told.rate.sd[20]
    # The district that nobody observed is known least.
    assert np.argmax(np.diff(np.log([told.rate.lower, told.rate.upper]), axis=0)) >= 32


BAD = [
    ({}, "give one of counts, total and average"),
    ({"counts": "cases", "total": "cases"}, "give one of counts, total and average"),
    ({"counts": "deaths"}, 'counts: the data has no column "deaths"'),
    ({"counts": "cases", "weight": "men"}, 'weight: the data has no column "men"'),
    ({"counts": "cases", "inputs": ["z"]}, 'z: the data has no column "z"'),
    ({"counts": "cases", "inputs": "x"}, "inputs is 'x'; give a list"),
    ({"counts": "cases", "key": "name"}, 'pixels: the data has no column "name"'),
    ({"counts": "cases", "variance": 1}, "variance belongs to total and average"),
    ({"total": "cases", "overdispersed": True}, "overdispersed belongs to counts"),
    ({"counts": 3}, "counts is 3; give a column of the bags, or a pair"),
    ({"counts": "cases", "fit": {"seed": 1}}, "fit: give seed beside fit"),
]


@pytest.mark.parametrize("said, message", BAD)
def test_what_is_wrong_is_told_by_its_name(said, message):
    with pytest.raises(qd.DataError, match=message):
        qd.disaggregate(BAGS, PIXELS, **{**SAID, **said})


def test_districts_and_pixels_must_know_each_other():
    with pytest.raises(qd.DataError, match="no point has the key 'nowhere'"):
        qd.disaggregate({"district": ["nowhere", "north"], "cases": [1, 2]}, PIXELS,
                        counts="cases", **SAID)
    with pytest.raises(qd.DataError, match="bags: district is missing in row 1"):
        qd.disaggregate({"district": ["north", None], "cases": [1, 2]}, PIXELS,
                        counts="cases", **SAID)
    with pytest.raises(qd.DataError, match='what is "rates"|what is \'rates\''):
        qd.disaggregate(BAGS, PIXELS, counts="cases", **SAID).to_frame("rates")
