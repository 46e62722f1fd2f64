"""Probabilities, levels and limits that cannot be are refused by the name of the argument."""

import numpy as np
import pytest

import quadrat as qd

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")

NAN, INF = float("nan"), float("inf")
AT = qd.point(x=[0.1, 0.2])
ROWS = {"x": np.linspace(0, 3, 9), "y": np.cos(np.linspace(0, 3, 9)), "town": ["a"] * 9}
BANDS = {"lower": [0, 20, 40, 60], "upper": [20, 40, 60, 80], "count": [90, 80, 60, 30]}
BAGS = {"district": ["west", "east"], "cases": [12, 40]}
PIXELS = {"district": ["west", "west", "east", "east"], "x": [0.0, 1, 2, 3]}


@pytest.fixture(scope="module")
def made():
    """One of each of what is asked."""
    random = np.random.default_rng(1)
    u, v = random.normal(size=(2, 60))
    post = qd.Model("se(x)").observe(qd.point(x="x"), value="y", noise=0.01, data=ROWS).fit(
        hyperparameters="map")
    regressor = qd.sklearn.GPRegressor("se(x0)", noise=0.01, integrate=False)
    return {
        "density": qd.Density(u, draws=500),
        "plane": qd.Density2d(u, v, cells=20, draws=500),
        "given": qd.ConditionalDensity(v, given=u, cells=(5, 20), draws=500),
        "counts": qd.ungroup(**BANDS),
        "year": qd.ungroup(**{name: own * 2 for name, own in BANDS.items()},
                           along=[2000] * 4 + [2001] * 4)[2000],
        "post": post,
        "told": post.predict(AT),
        "fits": qd.fit_many(ROWS, by="town", fit={
            "kernel": "se(x)", "support": qd.point(x="x"), "value": "y", "noise": 0.01,
            "fit": {"hyperparameters": "map"}}),
        "regressor": regressor.fit(ROWS["x"][:, None], ROWS["y"]),
        "campaign": qd.Campaign(post, AT, {"meter": 0}, {"meter": 1}),
    }


# What is asked, the name of the argument, and whether 0 and 1 are among what it may be.
PROBABILITIES = {
    "density.quantile": (lambda m, p: m["density"].quantile(p), "p", True),
    "density.region": (lambda m, p: m["density"].highest_density_region(p), "probability", True),
    "plane.region": (lambda m, p: m["plane"].highest_density_region(p), "probability", True),
    "given.quantile": (lambda m, p: m["given"].quantile(p, given=0), "p", True),
    "given.quantiles": (lambda m, p: m["given"].quantile(p), "p", True),
    "given.region": (lambda m, p: m["given"].highest_density_region(p, 0), "probability", True),
    "counts.quantile": (lambda m, p: m["counts"].quantile(p), "share", True),
    "year.quantile": (lambda m, p: m["year"].quantile(p), "share", True),
    "told.quantile": (lambda m, p: m["told"].quantile(p), "p", False),
    "told.quantiles": (lambda m, p: m["told"].quantile([0.5, p]), "p", False),
    "predict": (lambda m, p: m["post"].predict(AT, level=p), "level", False),
    "fits.predict": (lambda m, p: m["fits"].predict(AT, level=p), "level", False),
    "interval": (lambda m, p: m["regressor"].predict_interval([[0.1]], p), "level", False),
    "Density": (lambda _, p: qd.Density(ROWS["y"], level=p), "level", False),
    "Density2d": (lambda _, p: qd.Density2d(ROWS["x"], ROWS["y"], level=p), "level", False),
    "ConditionalDensity": (
        lambda _, p: qd.ConditionalDensity(ROWS["y"], ROWS["x"], level=p), "level", False),
    "DensityEstimator": (
        lambda _, p: qd.sklearn.DensityEstimator(level=p).fit(ROWS["x"][:, None]), "level", False),
    "ungroup": (lambda _, p: qd.ungroup(**BANDS, level=p), "level", False),
    "reconcile": (lambda _, p: qd.reconcile(area=["a"], within=[None], value=[1], variance=1,
                                            level=p), "level", False),
    "violins": (lambda _, p: qd.violins(ROWS, "y", level=p), "level", False),
    "disaggregate": (lambda _, p: qd.disaggregate(
        BAGS, PIXELS, key="district", counts="cases", inputs=["x"], level=p), "level", False),
}


@pytest.mark.parametrize("name", PROBABILITIES)
def test_what_is_no_probability_is_refused(made, name):
    ask, argument, with_ends = PROBABILITIES[name]
    for value in (50, -0.1, 1.5, NAN, INF, -INF, *([] if with_ends else [0, 1])):
        with pytest.raises(qd.DataError, match=f"{argument} is .*; it must be a probability"):
            ask(made, value)
    if with_ends:
        ask(made, 0), ask(made, 1)


LIMITS = {
    "density.cdf": (lambda m, x: m["density"].cdf(x), "x"),
    "density.start": (lambda m, x: m["density"].probability(x, 0), "start"),
    "density.end": (lambda m, x: m["density"].probability(0, x), "end"),
    "plane.x": (lambda m, x: m["plane"].probability((x, 0)), "x"),
    "plane.y": (lambda m, x: m["plane"].probability((0, 1), (0, x)), "y"),
    "given.start": (lambda m, x: m["given"].probability(x, 0, given=0), "start"),
    "given.curve": (lambda m, x: m["given"].probability(x, 0), "start"),
    "given": (lambda m, x: m["given"].mean(given=x), "given"),
    "counts.start": (lambda m, x: m["counts"].between(x, 5), "start"),
    "year.end": (lambda m, x: m["year"].between(5, x), "end"),
    "exceed": (lambda m, x: m["told"].exceed(x), "x"),
    "cdf": (lambda m, x: m["told"].cdf([0.1, x]), "y"),
    "log_density": (lambda m, x: m["told"].log_density(x), "y"),
    "log_probability": (lambda m, x: m["told"].log_probability(x, 1), "lower"),
    "bounds": (lambda _, x: qd.Density(ROWS["y"], bounds=(x, None)), "bounds"),
    "range": (lambda _, x: qd.Density(ROWS["y"], range=(0, x)), "range"),
    "ask": (lambda m, x: m["campaign"].ask(policy="exceedance", above=x), "above"),
    "budget": (lambda m, x: m["campaign"].ask(budget=x), "budget"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_that_are_no_number_are_refused(made, name):
    ask, argument = LIMITS[name]
    with pytest.raises(qd.DataError, match=f"{argument} is nan"):
        ask(made, NAN)


def test_the_ends_of_an_interval_come_in_either_order(made):
    for ask in (made["density"].probability, made["given"].probability,
                lambda a, b: made["given"].probability(a, b, given=0.2),
                made["counts"].between, made["year"].between,
                lambda a, b: made["plane"].probability((a, b)),
                lambda a, b: made["plane"].probability(y=(a, b))):
        forth, back = ask(0.5, 18), ask(18, 0.5)
        if isinstance(forth, qd.Table):
            forth, back = forth["value"], back["value"]
        np.testing.assert_array_equal(forth, back)
        assert np.all(np.asarray(forth) > 0)
    total = sum(BANDS["count"])
    assert made["counts"].between(None, None).value == pytest.approx(total, rel=1e-12)
    assert made["density"].probability(None, INF).value == pytest.approx(1, rel=1e-12)


def test_densities_are_nan_where_places_are(made):
    density, plane, given = made["density"], made["plane"], made["given"]
    assert np.isnan(density.evaluate(NAN))
    np.testing.assert_array_equal(np.isnan(density([0, NAN, INF])), [False, True, False])
    assert density(INF) == 0 and density.evaluate([]).shape == (0,)
    for own in (plane, given):
        np.testing.assert_array_equal(np.isnan(own([0, NAN, 0], [0, 0, NAN])), [False, True, True])


def test_no_draws_are_none(made):
    assert made["counts"].draws(0).shape == (0, 80)
    assert made["year"].draws(0).shape == (0, 80)
    rates = qd.ungroup(**BANDS, exposure=[900, 800, 700, 600])
    assert rates.draws(0).shape == (0, 80)
    assert made["density"].draws(0).shape == (0, 400)
    assert made["plane"].draws(0).shape == (0, 20, 20)
    assert made["told"].draws(0).shape == (0, 2)


def test_a_count_that_is_too_large_is_told():
    with pytest.raises(qd.DataError, match="from 0 to 9e15"):
        qd.Model("se(x)").observe(qd.point(x=[0.0, 1.0]), qd.Poisson([2**62] * 2)).fit()
