"""Fits and densities beside draws from their posterior."""

import json
import pickle
import subprocess

import numpy as np
import pytest

import quadrat as qd

STUDY = """
[latent]
kernel = "se(x)"
[[observe]]
file = "rows.csv"
support = { point = ["x"] }
likelihood = { poisson = { count = "n" } }
"""
COUNTS = [3, 0, 2, 5, 4, 7, 9, 3]


@pytest.fixture(scope="module")
def random():
    return np.random.default_rng(5)


@pytest.fixture(scope="module")
def counts():
    places = np.arange(float(len(COUNTS)))
    return qd.Model("se(x)").observe(qd.point(x=places), qd.Poisson(COUNTS)).fit()


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
def test_a_check_is_that_of_the_program(program, counts, tmp_path):
    rows = "".join(f"{x},{n}\n" for x, n in enumerate(COUNTS))
    (tmp_path / "rows.csv").write_text("x,n\n" + rows)
    (tmp_path / "study.toml").write_text(STUDY)
    asked = [program, "run", "study.toml", "-o", "out", "--check", "mcmc", "--draws", "200"]
    subprocess.run([*asked, "--quiet"], cwd=tmp_path, check=True)
    fit = json.loads((tmp_path / "out" / "fit.json").read_text())
    # The seed of a study that names none.
    check = counts.check_by_mcmc(draws=200, seed=0)
    for at, row in enumerate(fit["mcmc"]["rows"]):
        got = check.fit_mean[at], check.fit_sd[at], check.mean[at], check.sd[at]
        want = [row[of][one] for of in ("fit", "sampled") for one in ("mean", "sd")]
        np.testing.assert_allclose(got, want, rtol=1e-12)
    for own in fit["mcmc"]["hyperparameters"]:
        got = check.hyperparameters[own["name"]]
        assert got.interval == tuple(own["sampled_interval"])
        assert (got.mean, got.r_hat) == (own["sampled"]["mean"], own["r_hat"])
    assert (check.chains, check.draws) == (4, 800)


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
def test_estimates_of_every_form_are_near_their_draws(random):
    x, y = random.normal(size=(2, 60))
    forms = {
        ("x",): qd.Density(x, cells=30, draws=2000),
        ("x", "y"): qd.Density2d(x, y, cells=(8, 8), draws=2000),
        ("given", "y"): qd.ConditionalDensity(y, given=x, cells=(6, 12), draws=2000),
    }
    for axes, density in forms.items():
        check = density.check_by_mcmc(draws=200)
        columns = check.to_dict()
        assert tuple(columns)[:-6] == axes and len(check) == len(columns["sd"]) > 10
        # Some hundred draws leave a tenth of a sd open; a normal approximation does the rest.
        assert np.median(abs(check.mean_difference)) < 0.3
        assert 0.8 < np.median(check.sd_ratio) < 1.25
        assert set(zip(*(columns[axis] for axis in axes))) <= set(cells(density, axes))
        assert all(h.fit_interval[0] != h.fit_interval[0] for h in check.hyperparameters.values())
    again = pickle.loads(pickle.dumps(forms[("x",)])).check_by_mcmc(draws=200)
    first = forms[("x",)].check_by_mcmc(draws=200)
    np.testing.assert_array_equal(again.mean, first.mean)


def cells(density, axes):
    places = [getattr(density, axis) for axis in axes]
    return zip(*(own.ravel() for own in np.meshgrid(*places)))


def test_what_draws_find_wrong_is_warned_of(counts):
    told = []
    with pytest.warns(qd.FitWarning, match="few effective draws"):
        check = counts.check_by_mcmc(draws=100, progress=lambda *event: told.append(event[0]))
    assert any("(`draws`)" in warning for warning in check.warnings)
    assert "sampling" in told
    assert "8 rows by 400 draws" in repr(check)
    assert list(check.to_frame()) == list(check.to_dict())
    assert check.worst_r_hat == max(
        *check.r_hat, *(h.r_hat for h in check.hyperparameters.values()))


@pytest.mark.parametrize("asked, said", [
    ({"draws": 99}, "draws is 99; it must be 100 to 50000"),
    ({"draws": 10**6}, "draws is 1000000; it must be 100 to 50000"),
    ({"draws": 1e3}, "draws is 1000.0; it must be a whole number"),
    ({"seed": -1}, "seed is -1; it must be 0 or more"),
])
def test_what_cannot_be_asked_names_the_argument(counts, asked, said):
    with pytest.raises(qd.DataError, match=said):
        counts.check_by_mcmc(**asked)


def test_values_without_noise_are_not_sampled():
    exact = qd.Model("se(x)").observe(qd.point(x=[0.0, 1, 2]), value=[1.0, 2, 1], noise=0).fit()
    with pytest.raises(qd.DataError, match="a value without noise has no density"):
        exact.check_by_mcmc()
