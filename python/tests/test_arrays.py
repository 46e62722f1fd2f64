"""Arrays give the numbers of studies on the same rows; `test_examples.py` has the examples."""

import numpy as np
import pytest

import quadrat as qd
from conftest import same

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
NUMBERS = ("mean", "sd", "lower", "median", "upper")


def numbers(columns):
    return {name: columns[name] for name in NUMBERS}


def test_bags_and_regions_as_in_studies():
    random = np.random.default_rng(3)
    pixels = {"district": np.repeat(["c", "a", "b", "d"], 5), "x": random.uniform(0, 4, 20),
              "y": random.uniform(0, 4, 20), "people": random.integers(1, 9, 20).astype(float)}
    surveys = {"district": ["a", "b", "c"], "tested": [20.0, 30, 25], "positive": [4.0, 15, 9]}
    for aggregate in ("mean", "sum"):
        bag = {"bag": {"file": pixels, "key": "district", "dims": ["x", "y"], "weight": "people"}}
        study = qd.run({
            "latent": {"kernel": "se(x, y)"},
            "observe": [{"file": surveys, "support": bag, "aggregate": "mean", "likelihood": {
                "binomial": {"successes": "positive", "trials": "tested"}}}],
            "predict": [{"name": "all", "support": bag, "aggregate": aggregate, "above": 0.3}],
            "inference": {"hyperparameters": "map"},
        })
        place = {"x": "x", "y": "y"}
        surveyed = qd.bag({name: pixels[name] for name in place}, key=pixels["district"],
                          weight=pixels["people"], keys=surveys["district"], aggregate="mean")
        post = qd.Model("se(x, y)").observe(
            surveyed, qd.Binomial("positive", "tested"), data=surveys).fit(hyperparameters="map")
        got = post.predict(qd.bag(place, key="district", weight="people", aggregate=aggregate),
                           data=pixels)
        same(got.to_dict(), numbers(study["all"]))
        same({"above": got.exceed(0.3)}, {"above": study["all"]["above_0.3"]})
        assert got.to_dict()["key"] == list(study["all"]["district"])


def test_a_square_is_a_region_and_a_box():
    square = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 1], [0, 1], [0, 0]]]}
    far = {"type": "MultiPolygon", "coordinates": [[[[3, 0], [5, 0], [5, 1], [3, 1], [3, 0]]]]}
    settings = {"se.variance": {"value": 1.0, "fixed": True},
                "se.lengthscale.x": {"value": 2.0, "fixed": True},
                "se.lengthscale.y": {"value": 2.0, "fixed": True}}

    def mean(support):
        model = qd.Model("se(x, y)", mean="zero", hyperparameters=settings)
        post = model.observe(support, value=[1.0, 3.0], noise=0.01).fit()
        return post.predict(qd.point(x=[1.0, 4.0], y=[0.5, 0.5])).mean

    boxes = qd.box(x=([0, 3], [2, 5]), y=([0, 0], [1, 1]), aggregate="sum")
    regions = qd.region([square, {"type": "Feature", "geometry": far}], aggregate="sum")
    # Covariances over polygons aim at 1e-7.
    np.testing.assert_allclose(mean(regions), mean(boxes), rtol=1e-5)


def test_what_is_asked_of_a_prediction(tmp_path):
    x = np.linspace(0, 3, 7)
    post = qd.Model("se(x)").observe(qd.point(x=x), value=np.sin(x), noise=0.01).fit()
    at = qd.point(x=[0.25, 1.0, 2.5])
    told = post.predict(at, level=0.8)
    np.testing.assert_allclose(told.quantile(0.1), told.lower, rtol=0, atol=1e-12)
    assert told.quantile([0.1, 0.5, 0.9]).shape == (3, 3)
    np.testing.assert_allclose(told.exceed(0.5) + told.cdf(0.5), 1, atol=1e-12)
    draws = told.draws(4000, seed=2)
    assert draws.shape == (4000, 3)
    # Four standard errors of a mean of 4000 draws.
    assert np.all(np.abs(draws.mean(0) - told.mean) < 4 * told.sd / np.sqrt(4000))
    np.testing.assert_array_equal(draws, told.draws(4000, seed=2))
    covariance = post.predict(at, "latent").covariance()
    np.testing.assert_allclose(np.diag(covariance), post.predict(at, "latent").sd ** 2, rtol=1e-9)
    assert np.all(post.predict(at, "observation").sd > told.sd)
    assert list(post.predict(qd.point(x=[1000.0])).far) == [0]
    frame = told.to_frame()
    assert list(frame.columns) == ["x", *NUMBERS] and len(frame) == 3
    left_out = post.leave_one_out()
    np.testing.assert_array_equal(left_out["value"], np.sin(x))


def test_intervals_have_log_probabilities():
    x = np.linspace(0, 3, 7)
    post = qd.Model("se(x)").observe(qd.point(x=x), value=np.sin(x), noise=0.01).fit(
        hyperparameters="map")
    rows = {"at": [0.25, 1.0, 2.5], "low": [-1.0, 0.5, 0.5], "high": [0.3, np.inf, 0.7]}
    told = post.predict(qd.point(x="at"), data=rows)
    lower, upper = np.array(rows["low"]), np.array(rows["high"])
    share = told.cdf(upper.clip(max=99)) - told.cdf(lower)
    # A difference of two probabilities, which are right to some roundings of one.
    got = told.log_probability("low", "high")
    np.testing.assert_allclose(got, np.log(share), rtol=0, atol=1e-12)
    # 40 standard deviations above the mean, where both probabilities are one: the tail of a normal
    # value is ln Phi(-40). That of z moves by 40 for each unit, and z is rounded to some 1e-14.
    far = told.mean + 40 * told.sd
    tail = -804.6084420137538
    np.testing.assert_allclose(told.log_probability(far, None), tail, rtol=0, atol=1e-10)
    assert np.all(told.exceed(far) == 0)
    below = told.mean - 40 * told.sd
    np.testing.assert_allclose(told.log_probability(None, below), tail, rtol=0, atol=1e-10)
    assert np.all(told.log_probability(None, np.inf) == 0)
    assert np.all(np.isneginf(told.log_probability(0.5, 0.5)))
    counts = qd.Model("se(x)").observe(qd.point(x=x), qd.Poisson([1, 2, 4, 3, 1, 0, 2])).fit(
        hyperparameters="map").predict(qd.point(x=x[:1]), "observation")
    # One count is more than 1 and at most 2; a difference of numbers that are right to 1e-9.
    got = counts.log_probability(1, 2)[0]
    assert got == pytest.approx(counts.log_density(2)[0], rel=0, abs=1e-7)
    for ends, message in (
        ((0.0, [1.0, 2]), "upper has 2 rows, and the supports have 3"),
        (([0.0, 2, 0], [1.0, 1, 1]), "lower is 2 and upper 1 in row 1; lower must be at most"),
        ((np.nan, 1.0), "lower is nan in row 0"),
        ((0.0, [1.0, None, 1.0]), "upper is missing in 1 row, first in row 1"),
        (("least", 1.0), 'lower: the data has no column "least"'),
    ):
        with pytest.raises(qd.DataError, match=message):
            told.log_probability(*ends)


def test_every_row_has_a_limit_of_its_own():
    x = np.linspace(0, 3, 7)
    post = qd.Model("se(x)").observe(qd.point(x=x), value=np.sin(x), noise=0.01).fit()
    rows = {"at": [0.25, 1.0, 2.5], "limit": [0.1, 0.9, 0.6]}
    told = post.predict(qd.point(x="at"), data=rows)
    each = [told.exceed(limit)[row] for row, limit in enumerate(rows["limit"])]
    np.testing.assert_array_equal(told.exceed(rows["limit"]), each)
    np.testing.assert_array_equal(told.exceed("limit"), each)
    with pytest.raises(qd.DataError, match="x has 2 rows, and the supports have 3"):
        told.exceed([0.1, 0.9])


def test_more_rows_narrow_the_posterior():
    post = qd.Model("se(x)").observe(qd.point(x=[0.0, 1, 2, 3]), value=[0.0, 1, 0, -1],
                                     noise=0.01).fit()
    more = post.condition(qd.point(x=[2.5]), value=[-0.4], noise=0.01)
    at = qd.point(x=[2.5])
    assert more.predict(at).sd[0] < post.predict(at).sd[0]
    assert more.facts["rows"] == 5 and post.facts["rows"] == 4


def test_outputs_and_a_noise_that_varies():
    t = np.linspace(0, 4, 20)
    values = {"a": np.sin(t), "b": np.sin(t) + 0.1 * np.cos(9 * t)}
    model = qd.Model("coregion(of, a, b) * se(t)")
    for name, value in values.items():
        model.observe(qd.point(t=t), value=value, output=name)
    post = model.fit(hyperparameters="map")
    assert post.outputs == ["a", "b"]
    assert len(post.predict(qd.point(t=[1.0]), output="b")) == 1
    with pytest.raises(qd.DataError, match="several outputs"):
        post.predict(qd.point(t=[1.0]))
    varying = qd.Model("se(t)").observe(qd.point(t=t), value=values["b"]).vary("noise", "se(t)")
    assert "noise.mean.constant" in varying.fit(hyperparameters="map").hyperparameters


def test_every_likelihood_fits():
    x = np.arange(12.0)
    counts = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8.0])
    value = counts / 3
    all_of_them = [
        qd.Gaussian(value), qd.Gaussian(value, 0.1, extra="learn"), qd.Gaussian(value, link="exp"),
        qd.Laplace(value, 0.5), qd.StudentT(value), qd.Interval(value - 1, value + 1, 0.1),
        qd.Censored(value, ["right" if v > 2 else "none" for v in value], variance=0.1),
        qd.Truncated(value, lower=0, variance=0.2), qd.Ordinal(np.minimum(counts, 4), ranks=4),
        qd.Bernoulli(counts > 3), qd.Binomial(counts, 10), qd.Poisson(counts, 2.0),
        qd.Poisson(lower=counts, upper=counts + 2), qd.NegativeBinomial(counts),
        qd.Exponential(value), qd.Gamma(value), qd.LogNormal(value),
    ]
    for likelihood in all_of_them:
        post = qd.Model("se(x)").observe(qd.point(x=x), likelihood).fit(
            hyperparameters="map", starts=1)
        told = post.predict(qd.point(x=[2.5, 5.5]))
        assert np.all(np.isfinite(told.mean)) and np.all(told.sd > 0), likelihood
    model = qd.Model("se(x)").observe(qd.point(x=x), value=value)
    model.observe(qd.point(x=x + 0.5), qd.Positive(sd=0.1))
    assert model.fit(hyperparameters="map", starts=1).facts["inference"] == "ep"


def test_noise_is_shared_where_there_is_one_to_share():
    t = np.arange(8.0)

    def model(*noises, shares=(1,), **varied):
        made = qd.Model("se(t)")
        for at, noise in enumerate(noises):
            made.observe(qd.point(t=t + at / 3), value=np.sin(t), noise=noise,
                         share_noise=at in shares)
        return made.vary("noise", "se(t)") if varied else made

    shared = model(None, None).fit(hyperparameters="map", starts=1).hyperparameters
    assert [name for name in shared if "noise" in name] == ["noise.variance"]
    both = model(None, None, shares=(0, 1)).fit(hyperparameters="map", starts=1).hyperparameters
    assert [name for name in both if "noise" in name] == ["noise.variance"]
    for made, match in (
        (model(None, shares=(0,)), "table 0 has no effect: no other table learns"),
        (model(0.1, None), "table 1 has no effect: no other table learns"),
        (model(None, 0.1), "table 1 has no effect: this table learns no noise variance"),
        (model(None, None, None), "table 1 does not say which noise variance is shared"),
        (model(None, None, vary=True), "table 1 has no effect: the noise variance is a function"),
    ):
        with pytest.raises(qd.DataError, match=f"^share_noise of {match}"):
            made.fit()
