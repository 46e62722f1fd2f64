"""The estimators are estimators: scikit-learn's own checks, pipelines and searches."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import quadrat as qd
from quadrat.sklearn import CountRegressor, DensityEstimator, GPRegressor

pytestmark = pytest.mark.filterwarnings("ignore")

# These checks make up targets that are no counts.
COUNTS = [
    "check_n_features_in_after_fitting", "check_regressors_train",
    "check_regressor_data_not_an_array", "check_regressors_no_decision_function",
    "check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in",
]
REASONS = {"CountRegressor": dict.fromkeys(COUNTS, "the targets of the check are no counts")}


def failing(estimator):
    return REASONS.get(type(estimator).__name__, {})


@parametrize_with_checks([GPRegressor(), CountRegressor()], expected_failed_checks=failing)
def test_what_scikit_learn_asks_of_an_estimator(estimator, check):
    check(estimator)


def test_pipelines_and_searches():
    random = np.random.default_rng(1)
    X = random.uniform(-2, 2, size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.05 * random.normal(size=60)
    line = make_pipeline(StandardScaler(), GPRegressor())
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
    assert np.mean(np.abs(told / rate - 1)) < 0.15
    assert np.all(CountRegressor("se(x0)", overdispersed=True).fit(X, y).predict(X) > 0)
    with pytest.raises(qd.DataError, match="count"):
        CountRegressor().fit(X, y + 0.5)


def test_densities_score_and_sample():
    x = np.random.default_rng(3).exponential(size=(300, 1))
    estimator = DensityEstimator(bounds=(0, None)).fit(x)
    logs = estimator.score_samples([[-1.0], [1.0]])
    assert logs[0] == -np.inf and abs(logs[1] + 1) < 0.3
    assert estimator.score(x) == pytest.approx(estimator.score_samples(x).sum())
    drawn = estimator.sample(5000, random_state=1)
    assert drawn.shape == (5000, 1) and np.all(drawn >= 0) and abs(drawn.mean() - x.mean()) < 0.1
    again = pickle.loads(pickle.dumps(clone(estimator).fit(x)))
    np.testing.assert_array_equal(again.score_samples(x), estimator.score_samples(x))
    with pytest.raises(ValueError, match="2 features"):
        DensityEstimator().fit(np.zeros((9, 2)))
