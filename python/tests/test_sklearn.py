"""The estimators are estimators: scikit-learn's own checks, pipelines and searches."""

import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import d2_tweedie_score, log_loss, mean_poisson_deviance
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import quadrat as qd
from quadrat.sklearn import (
    AggregateRegressor,
    CensoredRegressor,
    CountRegressor,
    DensityEstimator,
    GPRegressor,
    OrdinalRegressor,
)

pytestmark = pytest.mark.filterwarnings("ignore")

# The checks make up targets that are not whole and rows of several columns; those of classifiers
# fit three hundred rows at a time.
ESTIMATORS = [GPRegressor(), CountRegressor(rounded=True), CensoredRegressor(),
              AggregateRegressor(), OrdinalRegressor(method="laplace", integrate=False),
              DensityEstimator(column=0)]


@parametrize_with_checks(ESTIMATORS)
def test_what_scikit_learn_asks_of_an_estimator(estimator, check):
    check(estimator)


def test_pipelines_and_searches():
    random = np.random.default_rng(1)
    X = random.uniform(-2, 2, size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.05 * random.normal(size=60)
    line = make_pipeline(StandardScaler(), GPRegressor())
    # Values vary by 0.75, and noise of 0.05 leaves an R2 of 0.995 to be had.
    assert cross_val_score(line, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(GPRegressor(), {"kernel": ["constant", "se(x0, x1)"]}, cv=3).fit(X, y)
    assert search.best_params_["kernel"] == "se(x0, x1)"
    fitted = GPRegressor().fit(X, y)
    mean, sd = fitted.predict(X[:5], return_std=True)
    ends = fitted.predict_interval(X[:5])
    assert np.all(ends[:, 0] < mean) and np.all(mean < ends[:, 1]) and np.all(sd > 0)
    draws = fitted.sample_y(X[:5], 2000, random_state=3)
    assert draws.shape == (5, 2000)
    # Four standard errors.
    assert np.all(np.abs(draws.mean(1) - mean) < 4 * sd / np.sqrt(2000))


def test_counts_with_exposure():
    random = np.random.default_rng(2)
    X = np.linspace(0, 4, 50)[:, None]
    rate, exposure = np.exp(np.sin(2 * X[:, 0])), random.uniform(5, 20, 50)
    y = random.poisson(rate * exposure)
    told = CountRegressor("se(x0)").fit(X, y, exposure=exposure).predict(X)
    # One count, of some 16, tells its rate to a quarter; a curve through fifty of them to less.
    assert np.mean(np.abs(told / rate - 1)) < 0.15
    assert np.all(CountRegressor("se(x0)", overdispersed=True).fit(X, y).predict(X) > 0)
    with pytest.raises(qd.DataError, match="count"):
        CountRegressor().fit(X, y + 0.5)


def test_counts_that_are_not_whole_are_rounded_where_it_is_asked_for():
    X, y = np.arange(8.0)[:, None], np.array([3, 5, 4, 8, 9, 12, 10, 14])
    whole = CountRegressor("se(x0)", integrate=False).fit(X, y).predict(X)
    for own in (y + 0.4, y - 0.3):
        near = CountRegressor("se(x0)", integrate=False, rounded=True).fit(X, own)
        np.testing.assert_array_equal(near.predict(X), whole)
    with pytest.raises(qd.DataError, match="count"):
        CountRegressor(rounded=True).fit(X, y - 4.0)


def test_counts_are_scored_beside_expected_counts():
    random = np.random.default_rng(3)
    X = np.linspace(0, 4, 50)[:, None]
    exposure = random.uniform(5, 500, 50)
    y = random.poisson(np.exp(np.sin(2 * X[:, 0])) * exposure)
    fitted = CountRegressor("se(x0)", integrate=False).fit(X, y, exposure=exposure)
    told = fitted.score(X, y, exposure=exposure)
    left = mean_poisson_deviance(y, exposure * fitted.predict(X))
    whole = mean_poisson_deviance(y, exposure * y.sum() / exposure.sum())
    # The same sums in one order or another; rates vary by half, and chance by a tenth or less.
    assert told == pytest.approx(1 - left / whole, rel=1e-12) and told > 0.9
    # A row that counts twice is two rows.
    twice = np.where(np.arange(50) < 20, 2.0, 1.0)
    rows = np.repeat(np.arange(50), twice.astype(int))
    # The same sums in another order.
    assert fitted.score(X, y, exposure, twice) == pytest.approx(
        fitted.score(X[rows], y[rows], exposure[rows]), rel=1e-12)
    plain = CountRegressor("se(x0)", integrate=False).fit(X, y)
    # As above.
    assert plain.score(X, y) == pytest.approx(
        d2_tweedie_score(y, plain.predict(X), power=1), rel=1e-12)
    assert plain.score(X, np.zeros(50)) == 0
    with pytest.raises(qd.DataError, match="exposure is missing: the fit had one"):
        fitted.score(X, y)
    with pytest.raises(qd.DataError, match="exposure: row 2 is 0"):
        fitted.score(X, y, exposure=np.where(np.arange(50) == 2, 0, exposure))
    with pytest.raises(qd.DataError, match="y: row 1 is -1"):
        fitted.score(X, np.where(np.arange(50) == 1, -1, y), exposure=exposure)
    with pytest.raises(qd.DataError, match="sample_weight is not taken .* exposure="):
        fitted.fit(X, y, sample_weight=exposure)
    with pytest.raises(TypeError, match="no argument 'exposures'"):
        fitted.fit(X, y, exposures=exposure)


def test_densities_score_and_sample():
    x = np.random.default_rng(3).exponential(size=(300, 1))
    estimator = DensityEstimator(bounds=(0, None)).fit(x)
    logs = estimator.score_samples([[-1.0], [1.0]])
    # The log density of an exponential value at 1 is -1; the band there has an sd of 0.08 of it.
    assert logs[0] == -np.inf and abs(logs[1] + 1) < 0.3
    # The same sum.
    assert estimator.score(x) == pytest.approx(estimator.score_samples(x).sum(), rel=1e-12)
    drawn = estimator.sample(5000, random_state=1)
    # A mean of 5000 draws has a standard error of 0.014; the density has tails beyond the values.
    assert drawn.shape == (5000, 1) and np.all(drawn >= 0) and abs(drawn.mean() - x.mean()) < 0.1
    # Kolmogorov's distance of one in 10,000 samples.
    at = np.sort(drawn[:, 0])[::50]
    below = [estimator.density_.cdf(one).value for one in at]
    assert np.abs(below - np.arange(0, 5000, 50) / 5000).max() < 2.23 / np.sqrt(5000)
    for state in (1, np.random.RandomState(1)):
        np.testing.assert_array_equal(estimator.sample(5000, random_state=state), drawn)
    assert not np.any(estimator.sample(5000, random_state=2) == drawn)
    np.random.seed(7)
    first, second = estimator.sample(3), estimator.sample(3)
    np.random.seed(7)
    np.testing.assert_array_equal(estimator.sample(3), first)
    assert not np.any(first == second)
    again = pickle.loads(pickle.dumps(clone(estimator).fit(x)))
    np.testing.assert_array_equal(again.score_samples(x), estimator.score_samples(x))
    with pytest.raises(qd.DataError, match="2 features, and a density is of one; say by column="):
        DensityEstimator().fit(np.zeros((9, 2)))


def test_a_density_of_one_column_of_several():
    x = np.random.default_rng(3).exponential(size=(200, 1))
    two = np.column_stack([np.arange(200.0), x])
    alone = DensityEstimator(bounds=(0, None)).fit(x).score_samples(x)
    frame = pd.DataFrame(two, columns=["row", "wait"])
    for column, own in ((1, two), (1, frame), ("wait", frame)):
        fitted = DensityEstimator(bounds=(0, None), column=column).fit(own)
        np.testing.assert_array_equal(fitted.score_samples(own), alone)
    for column, own, message in (
        (2, two, "column is 2; X has 2 features"), (-1, two, "column is -1"),
        ("wait", two, "column is 'wait'; X has no names"),
        ("time", frame, "column is 'time'; X has the columns row, wait"),
    ):
        with pytest.raises(qd.DataError, match=message):
            DensityEstimator(column=column).fit(own)


def test_densities_are_searched():
    x = np.random.default_rng(5).lognormal(sigma=1.5, size=(240, 1))
    search = GridSearchCV(DensityEstimator(bounds=(0, None)), {"log": [False, True]},
                          cv=KFold(3, shuffle=True, random_state=1)).fit(x)
    # A value of many sizes is told better on a logarithmic axis, of which the score is the density
    # of the values too.
    assert search.best_params_ == {"log": True}
    assert search.best_estimator_.density_.evaluate(1.0) > 0


def test_grades_in_their_order():
    random = np.random.default_rng(4)
    X = random.uniform(0, 6, size=(90, 1))
    names = ["poor", "fair", "good"]
    y = np.array(names)[np.digitize(np.sin(X[:, 0]) + 0.1 * random.normal(size=90), [-0.4, 0.4])]
    fitted = OrdinalRegressor("se(x0)", grades=names).fit(X, y)
    assert fitted.grades_.tolist() == names and fitted.classes_.tolist() == sorted(names)
    # Noise of 0.1 carries one grade in eighteen over a threshold: 0.94 are to be had, and 90 rows
    # have four standard errors of 0.1.
    assert fitted.score(X, y) > 0.85
    share = fitted.predict_proba([[1.5], [4.7], [3.1]])
    # Rounding of three probabilities.
    np.testing.assert_allclose(share.sum(1), 1, rtol=1e-12)
    # Sine: above, below and at the middle.
    assert fitted.classes_[share.argmax(1)].tolist() == ["good", "poor", "fair"]
    # Scores of scikit-learn take columns in sorted order of the labels; to guess has log 3 = 1.1.
    assert log_loss(y, fitted.predict_proba(X)) < 0.5 and np.all(share >= 0)
    assert fitted.predict([[1.5]]) == ["good"]
    latent, sd = fitted.predict_latent([[1.5], [4.7]], return_std=True)
    assert latent[0] > latent[1] and np.all(sd > 0)
    # A fold may lack a grade that is known.
    few = OrdinalRegressor("se(x0)", grades=names, integrate=False).fit(X, np.where(
        y == "good", "fair", y))
    assert few.predict_proba(X).shape == (90, 3)
    line = make_pipeline(StandardScaler(), OrdinalRegressor(grades=names, integrate=False))
    # Of the 0.94 that are to be had; to guess the grade that is most frequent has some 0.4.
    assert cross_val_score(line, X, y, cv=3, scoring="accuracy").mean() > 0.7
    with pytest.raises(ValueError, match="y has the grade 'poor', which is not among grades"):
        OrdinalRegressor(grades=["fair", "good"]).fit(X, y)
    with pytest.raises(ValueError, match="grades has a label twice"):
        OrdinalRegressor(grades=[*names, "good"]).fit(X, y)


def test_intervals_as_targets():
    random = np.random.default_rng(5)
    X = np.linspace(0, 6, 60)[:, None]
    value = np.sin(X[:, 0]) + 0.05 * random.normal(size=60)
    known = value < 0.5
    two = np.stack([np.where(known, value, 0.5), np.where(known, value, np.inf)], axis=1)
    fitted = CensoredRegressor("se(x0)").fit(X, two)
    # The sine is 1 there, and the instrument ends at 0.5: half of the way is told by the slopes.
    assert fitted.predict([[1.57]])[0] > 0.75
    fields = np.array(list(map(tuple, two)), dtype=[("lower", float), ("upper", float)])
    for y in (fields, two.tolist(), pd.DataFrame(two)):
        again = CensoredRegressor("se(x0)").fit(X, y)
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    # Of a curve that is right the intervals are more probable than of a level.
    search = GridSearchCV(CensoredRegressor(integrate=False), {"kernel": ["constant", "se(x0)"]},
                          cv=KFold(3, shuffle=True, random_state=1)).fit(X, two)
    assert search.best_params_["kernel"] == "se(x0)"
    exact = CensoredRegressor("se(x0)", integrate=False).fit(X, value)
    # Values vary by 0.7, and noise of 0.05 leaves an R2 of 0.995 to be had.
    assert exact.score(X, value) > 0.95
    told = exact.posterior_.predict(qd.point(x0=X[:1, 0]), "observation")
    # The same number.
    assert exact.score(X[:1], two[:1]) == pytest.approx(told.log_density(two[:1, 0])[0], rel=1e-12)
    within = np.log(told.cdf([0.1])[0] - told.cdf([-0.2])[0])
    # The same difference of two probabilities, and its log.
    assert exact.score(X[:1], [[-0.2, 0.1]]) == pytest.approx(within, rel=1e-12)
    # Far from the curve, where both probabilities are one, the farther interval is less probable.
    ends = told.mean[0] + told.sd[0] * np.array([[20.0, 21], [30, 31], [60, 61]])
    far = [exact.score(X[:1], [two]) for two in ends]
    assert far == [told.log_probability(*two)[0] for two in ends]
    assert far[2] < far[1] < far[0] < -100 and np.all(np.isfinite(far))
    assert exact.score(X[:1], [[-np.inf, np.inf]]) == 0
    with pytest.raises(qd.DataError, match="y has the fields a, b; give lower and upper"):
        exact.fit(X, np.zeros(60, dtype=[("a", float), ("b", float)]))
    with pytest.raises(qd.DataError, match="lower"):
        exact.fit(X, two[:, ::-1])


def test_totals_of_bags():
    X = np.linspace(0, 6, 120)[:, None]
    f, groups = np.sin(X[:, 0]), np.repeat(np.arange(30), 4)[::-1]
    weight = np.tile([1.0, 2.0, 1.0, 4.0], 30)
    totals = np.add.reduceat(f * weight, np.arange(0, 120, 4))
    repeated = np.repeat(totals, 4)
    fitted = AggregateRegressor("se(x0)", noise=1e-4).fit(X, totals, groups, weight)
    same = AggregateRegressor("se(x0)", noise=1e-4).fit(X, repeated, groups, weight)
    np.testing.assert_array_equal(fitted.predict(X), same.predict(X))
    # The average of a bag lies up to 0.1 along from its rows, and the curve may change as much: it
    # is told closer within.
    assert np.max(np.abs(fitted.predict(X) - f)) < 0.05
    told, sd = fitted.predict_aggregate(X, groups, weight, return_std=True)
    # Ten standard deviations of the noise that is said.
    np.testing.assert_allclose(told, totals, atol=0.1)
    # Totals vary by 5.7, and by 0.1 as above: an R2 of 0.9997.
    assert np.all(sd > 0)
    assert fitted.score(X, repeated, groups, weight) > 0.99
    counts = np.random.default_rng(6).poisson(20 * np.exp(f).reshape(30, 4).sum(1))
    rates = AggregateRegressor("se(x0)", family="poisson", integrate=False).fit(X, counts, groups)
    # A count, of some hundred, tells its bag to a tenth; a curve through thirty of them to less.
    assert np.mean(np.abs(rates.predict(X) / (20 * np.exp(f)) - 1)) < 0.1
    wrong = repeated.copy()
    wrong[1] += 1
    with pytest.raises(qd.DataError, match="y differs within the bag 29"):
        fitted.fit(X, wrong, groups)
    with pytest.raises(qd.DataError, match="family is 'gamma'"):
        AggregateRegressor(family="gamma").fit(X, totals, groups)
    with pytest.raises(qd.DataError, match="groups has the shape"):
        fitted.fit(X, totals, groups[:5])


def test_exposures_in_searches_come_by_routing():
    random = np.random.default_rng(2)
    X = np.linspace(0, 4, 60)[:, None]
    rate, exposure = np.exp(np.sin(2 * X[:, 0])), random.uniform(5, 50, 60)
    y = random.poisson(rate * exposure)
    with config_context(enable_metadata_routing=True):
        own = CountRegressor(integrate=False).set_fit_request(exposure=True)
        own.set_score_request(exposure=True)
        line = make_pipeline(StandardScaler(), own)
        kernels = {"countregressor__kernel": ["constant", "se(x0)"]}
        folds = KFold(3, shuffle=True, random_state=1)
        search = GridSearchCV(line, kernels, cv=folds).fit(X, y, exposure=exposure)
        assert search.best_params_["countregressor__kernel"] == "se(x0)"
        # As of one fit: a count, of some thirty, tells its rate to a fifth; a curve to less.
        assert np.mean(np.abs(search.predict(X) / rate - 1)) < 0.15
        own = clone(own).set_params(kernel="se(x0)")
        scores = cross_val_score(own, X, y, cv=folds, params={"exposure": exposure})
        # Of rates that vary by half chance leaves a fifth: of their squares more than four fifths.
        assert scores.min() > 0.6 and search.best_score_ == pytest.approx(scores.mean(), abs=0.1)
        # A fold is never scored without its exposures: it has no score, and the reason is told.
        own.set_score_request(exposure=False)
        with pytest.raises(qd.DataError, match="exposure is missing"):
            cross_val_score(own, X, y, cv=folds, params={"exposure": exposure}, error_score="raise")


def test_bags_in_searches_come_by_routing():
    X = np.linspace(0, 6, 80)[:, None]
    groups = np.repeat(np.arange(20), 4)
    y = np.repeat(np.sin(X[:, 0]).reshape(20, 4).sum(1), 4)
    with config_context(enable_metadata_routing=True):
        own = AggregateRegressor(noise=1e-3, integrate=False)
        own.set_fit_request(groups=True, weight=False).set_score_request(groups=True, weight=False)
        search = GridSearchCV(make_pipeline(StandardScaler(), own),
                              {"aggregateregressor__kernel": ["constant", "se(x0)"]},
                              cv=GroupKFold(4)).fit(X, y, groups=groups)
        assert search.best_params_["aggregateregressor__kernel"] == "se(x0)"
        # Totals have no noise.
        assert search.score(X, y, groups=groups) > 0.99
