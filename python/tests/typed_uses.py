"""Uses of the package that mypy reads (`test_typed.py`): nothing runs them."""

from __future__ import annotations

import numpy as np

import quadrat as qd


def uses() -> None:
    x = np.linspace(0, 3, 8)
    model = qd.Model(qd.Kernel("se(x)") + "linear(x)", hyperparameters={"noise.variance": {}})
    model.observe(qd.point(x=x), value=np.cos(x), noise=0.01).set("se.variance", value=1)
    model.observe(qd.box({"x": ([0, 1], [1, 2])}), qd.Interval([0, 0], [1, 1]), aggregate="mean")
    post: qd.Posterior = model.fit(seed=1, threads=1, progress=lambda *event: None)
    told: qd.Prediction = post.predict(qd.grid(x=range(3)), "response", 0.9)
    numbers: dict[str, float] = post.hyperparameters
    evidence: float = post.log_evidence
    names: list[str] = post.dims
    post.condition(qd.point(x=[1.0]), value=[2.0]).save("curve.quadrat")
    left = post.leave_one_out()["mean"].sum()
    checked: qd.Check = post.check_by_mcmc(draws=500, seed=2, progress=True)
    apart: float = abs(checked.mean_difference).max() + checked.worst_r_hat

    supports: list[qd.Support] = [
        qd.point(x="x"), qd.box(x=("from", "to")), qd.cells(x=range(4), aggregate="sum"),
        qd.region([], dims=("x", "y"), planar=True), qd.bag(x=x, key=[0] * 8, weight="people")]
    likelihoods: list[qd.Likelihood] = [
        qd.Gaussian("y", 0.1), qd.Laplace([1, 2], scale=2.0), qd.StudentT(x, degrees=4),
        qd.Interval("from", "to"), qd.Censored(x, "side"), qd.Truncated(x, lower=0),
        qd.Ordinal([1, 2, 3], thresholds=[0.5, 1.5]), qd.Positive(sd=0.1), qd.Bernoulli([0, 1]),
        qd.Binomial([1, 2], 5, sigmoid="probit"), qd.Poisson("cases", exposure="people"),
        qd.NegativeBinomial(lower=[0], upper=[4]), qd.Exponential(x), qd.Gamma(x, shape=2),
        qd.LogNormal(x, sd="sd")]

    density = qd.Density(x, bounds=(0, None), weights=[1] * 8, progress=True)
    binned = qd.Density.from_bins([0, 1], [1, 2], [3, 4], cells=50)
    lower, upper = density.band(simultaneous=True)
    drawn, new = density.draws(10).mean(), density.sample(10, seed=2).mean()
    plane = qd.Density2d(x, x, bounds=((0, None), None), cells=(20, 30))
    slices = qd.ConditionalDensity(x, given=x, cells=(20, 60))
    ages = qd.ungroup(lower=[0, 20], upper=[20, 40], count=[9, 6], progress=lambda *event: None)
    correlation: float = plane.moments().correlation.value
    ends: float = told.lower.min() + told.exceed(1.0).max()
    half = density.quantile(0.5).lower + slices.quantile(0.5, given=1.0).upper

    campaign = qd.Campaign(post, qd.point(x=x), kinds={"meter": 0}, costs={"meter": 2.0}, budget=10)
    todo = campaign.ask(batch=2, policy="exceedance", above=1.0, progress=True)
    spent: float = campaign.spent

    fits = qd.fit_many({"town": [1, 1], "t": [0, 1], "y": [0, 1]}, by="town", fit={
        "kernel": "se(t)", "support": qd.point(t="t"), "value": "y"})
    table: qd.Table = fits.predict(qd.point(t=[0.5]))
    study: qd.StudyResult = qd.run({"latent": {"kernel": "se(x)"}}, progress=True)
    curve: qd.Table = study["curve"]
    areas = qd.areal_interpolate({}, total="births", planar=True)
    pixels: qd.Disaggregated = qd.disaggregate({}, {}, key="town", counts="cases", inputs=["x"])
    whole: qd.Reconciled = qd.reconcile({}, area="area", within="within", value="n", variance=1.0)
    try:
        again = qd.load("curve.quadrat")
    except (qd.LoadError, qd.DataError) as error:
        print(error)
