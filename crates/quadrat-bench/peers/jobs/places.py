"""Counts of 200 places with exposure, whose rate changes along a covariate."""

import numpy as np

TITLE = "a rate along a covariate, from counts of 200 places"
ERROR = "RMSE of the log rate, whose spread is 0.35"
AT = np.linspace(0.02, 0.98, 97)


def log_rate(x):
    return -5 + 0.8 * np.sin(5 * x) + np.where(x > 0.5, 1.5 * (x - 0.5), 0)


def draw(rng):
    x = rng.uniform(0, 1, 200)
    people = np.exp(rng.normal(6, 1, 200))
    cases = rng.poisson(people * np.exp(log_rate(x))).astype(float)
    return {"x": x, "cases": cases, "people": people, "at": AT}, log_rate(AT)


def quadrat(x, cases, people, at):
    import quadrat as qd
    post = qd.Model("se(x)").observe(qd.point(x=x), qd.Poisson(cases, people)).fit()
    told = post.predict(qd.point(x=at), scale="latent")
    return told.mean, told.lower, told.upper


def gamfit(x, cases, people, at):
    import gamfit
    rows = {"x": x, "cases": cases, "log_people": np.log(people)}
    model = gamfit.fit(rows, "cases ~ s(x)", family="poisson", offset="log_people")
    asked = {"x": at, "log_people": np.zeros(len(at))}
    told = model.predict(asked, interval=0.95, return_type="dict")
    names = ("posterior_mean", "posterior_mean_lower", "posterior_mean_upper")
    return tuple(np.log(told[name]) for name in names)


def statsmodels(x, cases, people, at):
    """A penalised spline of twelve functions, its penalty chosen by AIC."""
    import statsmodels.api as sm
    from statsmodels.gam.api import BSplines, GLMGam
    spline = BSplines(x, df=[12], degree=[3], knot_kwds=[{"lower_bound": 0, "upper_bound": 1}])
    one = np.ones((len(x), 1))
    gam = GLMGam(cases, one, smoother=spline, family=sm.families.Poisson(), exposure=people)
    gam.fit()
    gam.alpha = gam.select_penweight()[0]
    fit = gam.fit()
    asked = fit.get_prediction(exog=np.ones((len(at), 1)), exog_smooth=at, exposure=1.0)
    told = np.log(asked.summary_frame(alpha=0.05))
    return told["mean"], told["mean_ci_lower"], told["mean_ci_upper"]


def scikit_learn(x, cases, people, at):
    """Rates weighted by people, as its example of frequencies; the penalty by cross-validation."""
    from sklearn.linear_model import PoissonRegressor
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer
    pipeline = make_pipeline(SplineTransformer(n_knots=10), PoissonRegressor(max_iter=1000))
    search = GridSearchCV(pipeline, {"poissonregressor__alpha": np.logspace(-6, 0, 13)})
    search.fit(x[:, None], cases / people, poissonregressor__sample_weight=people)
    told = np.log(search.predict(at[:, None]))
    return told


METHODS = {
    "quadrat": ("quadrat", quadrat),
    "gamfit": ("gamfit", gamfit),
    "statsmodels GAM": ("statsmodels", statsmodels),
    "scikit-learn, splines": ("scikit-learn", scikit_learn),
}
