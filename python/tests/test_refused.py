"""Bad inputs, those of the program's lists of broken studies and tables among them: each is
refused by the name of the argument, and never ends the interpreter."""

import numpy as np
import pytest

import quadrat as qd

INF, NAN = np.inf, np.nan
FOUR = [1.0, 2.0, 3.0, 4.0]

# What rows report, and what the message says: what is wrong, and of which row.
LIKELIHOODS = {
    "a rank above the thresholds": (lambda: qd.Ordinal([1, 4, 2, 1], [1, 2]),
                                    "rank of row 1 is 4"),
    "a rank between ranks": (lambda: qd.Ordinal([1, 2.5, 2, 1], [1, 2]), "rank of row 1 is 2.5"),
    "a rank of 0": (lambda: qd.Ordinal([1, 0, 2, 1], [1, 2]), "rank of row 1 is 0"),
    "thousands of ranks": (lambda: qd.Ordinal([1, 4000, 2, 1]), "number of ranks of row 0 is 4000"),
    "one rank": (lambda: qd.Ordinal([1, 1, 1, 1]), "number of ranks of row 0 is 1"),
    "ranks of 2.5": (lambda: qd.Ordinal([1, 2, 1, 1], ranks=2.5), "ranks is 2.5"),
    "thresholds that fall": (lambda: qd.Ordinal([1, 2, 2, 1], [1, 3, 2]),
                             "threshold of row 2 is 2"),
    "a threshold twice": (lambda: qd.Ordinal([1, 2, 2, 1], [1, 1]), "threshold of row 1 is 1"),
    "an infinite threshold": (lambda: qd.Ordinal([1, 2, 2, 1], [1, INF]),
                              "threshold of row 1 is inf"),
    "thresholds in words": (lambda: qd.Ordinal([1, 2, 2, 1], "learn"), "thresholds is the name"),
    "exact ranks": (lambda: qd.Ordinal([1, 2, 2, 1], [1], variance=0), "variance of row 0 is 0"),
    "ends exchanged": (lambda: qd.Interval([1, 3, 1, 1], [2, 2, 2, 2]), "upper end of row 1 is 2"),
    "an interval beyond all": (lambda: qd.Interval([1, INF, 1, 1], [2, 4, 2, 2]),
                               "lower end of row 1 is inf"),
    "no lower end": (lambda: qd.Interval(None, FOUR), "lower is missing; give -inf"),
    "no upper end": (lambda: qd.Interval(FOUR, None), "upper is missing; give inf"),
    "a negative variance": (lambda: qd.Interval([1] * 4, [2] * 4, [1, 1, -1, 1]),
                            "variance of row 2 is -1"),
    "exact intervals": (lambda: qd.Interval([1] * 4, [1, 2, 2, 2], 0), "variance of row 1 is 0"),
    "an unknown side": (lambda: qd.Censored(FOUR, ["none", "below", "none", "left"]),
                        "side: 'below'"),
    "sides and limits": (lambda: qd.Censored(FOUR, ["none"] * 4, lower=1), "side or limits"),
    "limits exchanged": (lambda: qd.Censored(FOUR, lower=[0, 6, 0, 0], upper=[5] * 4),
                         "upper limit of row 1 is 5"),
    "a scale of 0": (lambda: qd.Laplace(FOUR, [1, 1, 0, 1]), "scale of row 2 is 0"),
    "degrees of 0": (lambda: qd.StudentT(FOUR, degrees=0), "degrees of freedom"),
    "degrees in words": (lambda: qd.StudentT(FOUR, degrees="many"), "degrees must be numbers"),
    "exact heavy tails": (lambda: qd.StudentT(FOUR, [1, 0, 1, 1]), "variance of row 1 is 0"),
    "a negative sharpness": (lambda: qd.Positive(sd=-1), "sd of the sign of row 0 is -1"),
    "a margin in words": (lambda: qd.Positive(sd=1, margin="low"), "margin must be numbers"),
    "counts without a link": (lambda: qd.Poisson([1, 2, 3, 4], link="identity"), "identity link"),
    "a wrong link of times": (lambda: qd.Exponential(FOUR, link="square"), "square link"),
    "an unknown link": (lambda: qd.Gaussian(FOUR, link="expp"), "no link `expp`"),
    "neither yes nor no": (lambda: qd.Bernoulli([1, 0, 2, 0]), "answer of row 2 is 2"),
    "an unknown sigmoid": (lambda: qd.Bernoulli([1, 0, 1, 0], sigmoid="exp"),
                           "^sigmoid is \"exp\""),
    "half a trial": (lambda: qd.Binomial([1, 0, 2, 0], 2.5), "number of trials of row 0 is 2.5"),
    "negative trials": (lambda: qd.Binomial([1, 1, 2, 0], [5, 5, -2, 5]),
                        "number of trials of row 2 is -2"),
    "more successes than trials": (lambda: qd.Binomial([1, 6, 2, 0], 5),
                                   "number of successes of row 1 is 6"),
    "half a success": (lambda: qd.Binomial([1, 1.5, 2, 0], 5), "number of successes of row 1"),
    "counts and a range": (lambda: qd.Poisson([1, 2, 3, 4], lower=[1, 2, 3, 4]), "either count"),
    "no counts": (lambda: qd.Poisson(exposure=2.0), "either count"),
    "half a range": (lambda: qd.Poisson(lower=[1, 2, 3, 4]), "either count"),
    "a range exchanged": (lambda: qd.Poisson(lower=[1, 3, 0, 1], upper=[2, 2, 4, 4]),
                          "upper count of row 1 is 2"),
    "events without exposure": (lambda: qd.Poisson([1, 2, 3, 4], 0), "exposure of row 0 is 0"),
    "a negative exposure": (lambda: qd.Poisson([1, 2, 0, 4], [1, 0, 0, -4]),
                            "exposure of row [13] is"),
    "a negative count": (lambda: qd.Poisson([1, -2, 0, 4]), "count of row 1 is -2"),
    "half a count": (lambda: qd.Poisson([1, 2.5, 0, 4]), "count of row 1 is 2.5"),
    "a count in words": (lambda: qd.Poisson([1, "few", 0, 4]), "count must be numbers"),
    "a count beyond all": (lambda: qd.NegativeBinomial([1, 1e99, 0, 4]), "count of row 1 is 1"),
    "a negative dispersion": (lambda: qd.NegativeBinomial([1, 1, 0, 4], dispersion=-1),
                              "dispersion`: it is -1"),
    "a dispersion in words": (lambda: qd.NegativeBinomial([1, 1, 0, 4], dispersion="wide"),
                              "dispersion must be numbers"),
    "a shape of 0": (lambda: qd.Gamma(FOUR, shape=0), "gamma.shape`: it is 0"),
    "a shape in words": (lambda: qd.Gamma(FOUR, shape="wide"), "shape must be numbers"),
    "an amount of 0": (lambda: qd.Gamma([1, 0, 1, 4]), "value of row 1 is 0"),
    "a spread of 0": (lambda: qd.LogNormal(FOUR, sd=0), "lognormal.sd`: it is 0"),
    "a negative amount": (lambda: qd.LogNormal([1, -1, 1, 4]), "value of row 1 is -1"),
    "a wait of 0": (lambda: qd.Exponential([1, 0, -1, 4]), "value of row 1 is 0"),
    "an infinite value": (lambda: qd.Gaussian([1, INF, -1, 4]), "value of row 1 is inf"),
    "no number": (lambda: qd.Gaussian([1, NAN, -1, 4]), "value of row 1 is NaN"),
    "a learned variance of none": (lambda: qd.Gaussian(FOUR, extra="learn"), "extra adds"),
    "an unknown extra": (lambda: qd.Gaussian(FOUR, 1, extra="more"), "extra is 'more'"),
    "a value beyond its limit": (lambda: qd.Truncated([1, -2, 1, 4], lower=0),
                                 "value of row 1 is -2"),
    "limits of none": (lambda: qd.Truncated([1, 2, 1, 4], lower=5, upper=3),
                       "upper limit of row 0 is 3"),
}


@pytest.mark.parametrize("what", LIKELIHOODS)
def test_what_rows_cannot_report_is_refused(what):
    made, message = LIKELIHOODS[what]
    with pytest.raises(qd.DataError, match=message):
        qd.Model("se(t)").observe(qd.point(t=FOUR), made()).fit()


def bag(**given):
    return qd.bag(t=[0.0, 1], key=["a", "b"], aggregate="mean", **given)


SUPPORTS = {
    "negative weights": (lambda: bag(weight=[-1, 1]), "weight is -1 in row 0"),
    "weights that are none": (lambda: bag(weight=[1, NAN]), "weight is nan in row 1"),
    "weights of nothing": (lambda: bag(weight=[1, 0]), "weights of the bag 'b' are all zero"),
    "an unknown bag": (lambda: bag(keys=["a", "c"]), "keys: no point has the key 'c'"),
    "an end that is none": (lambda: qd.box(t=([0.0, 1], [1, NAN]), aggregate="mean"),
                            "support of row 1 is NaN"),
    "a box of no width": (lambda: qd.box(t=([0, 1], [1, 1]), aggregate="sum"), "zero width"),
    "an unknown aggregate": (lambda: qd.box(t=([0, 1], [1, 2]), aggregate="summ"),
                             "aggregate is 'summ'"),
    "no aggregate": (lambda: qd.box(t=([0, 1], [1, 2])), "aggregate is missing"),
    "no input": (lambda: qd.point(), "no input is given"),
    "inputs of different lengths": (lambda: qd.point(t=[0.0, 1], u=[0.0]), "different numbers"),
    "a point at infinity": (lambda: qd.point(t=[0, INF]), "support of row 1 is inf"),
    "one edge": (lambda: qd.cells(t=[0]), "t has 1 edges"),
    "a plane of three inputs": (lambda: qd.region([], dims="xyz"), "dims are"),
    "a line for a region": (lambda: qd.region([{"type": "LineString", "coordinates": []}] * 2,
                                              aggregate="sum"), "region 0 is a LineString"),
}


@pytest.mark.parametrize("what", SUPPORTS)
def test_where_no_row_can_look_is_refused(what):
    made, message = SUPPORTS[what]
    with pytest.raises(qd.DataError, match=message):
        qd.Model("se(t)").observe(made(), value=[1.0, 2.0], noise=0.1)


def model():
    return qd.Model("se(t)").observe(qd.point(t=FOUR), value=[1.0, 2, 1, 3])


@pytest.fixture(scope="module")
def post():
    return model().fit(hyperparameters="map")


FITS = {
    "an unknown method": ({"method": "exat"}, "method is \"exat\""),
    "an unknown average": ({"hyperparameters": "mapp"}, "hyperparameters is \"mapp\""),
    "a seed below zero": ({"seed": -1}, "seed is -1"),
    "half a seed": ({"seed": 1.5}, "seed is 1.5"),
    "no start": ({"starts": 0}, "starts is 0"),
    "no thread": ({"threads": 0}, "threads is 0"),
    "inducing points below zero": ({"inducing": -1}, "inducing is -1"),
}


@pytest.mark.parametrize("what", FITS)
def test_how_nothing_can_be_fitted_is_refused(what):
    given, message = FITS[what]
    with pytest.raises(qd.DataError, match=message):
        model().fit(**given)


SETTINGS = {
    "a start in words": ({"start": "a"}, "start must be numbers"),
    "a start below zero": ({"start": -1}, "`se.variance`"),
    "bounds exchanged": ({"lower": 3, "upper": 2}, "`se.variance`"),
    "an unknown prior": ({"prior": "nromal(1, 2)"}, "prior of `se.variance`"),
    "an unknown setting": ({"stat": 1}, "no setting 'stat'"),
}


@pytest.mark.parametrize("what", SETTINGS)
def test_what_no_hyperparameter_can_be_is_refused(what):
    said, message = SETTINGS[what]
    with pytest.raises(qd.DataError, match=message):
        qd.Model("se(t)").set("se.variance", **said).observe(
            qd.point(t=FOUR), value=[1.0, 2, 1, 3]).fit()


AT = qd.point(t=[1.0])
ASKED = {
    "an unknown scale": (lambda post: post.predict(AT, "respons"), "scale is \"respons\""),
    "a level in percent": (lambda post: post.predict(AT, level=95), "level is 95"),
    "another input": (lambda post: post.predict(qd.point(x=[1.0])), "no input named `t`"),
    "exposures of other rows": (lambda post: post.predict(AT, exposure=[1, 2]),
                                "exposure has 2 rows"),
    "a negative exposure": (lambda post: post.predict(AT, exposure=-1), "exposure of a prediction"),
    "trials of a mean": (lambda post: post.predict(AT, trials=3), "trials: "),
    "a table that is not there": (lambda post: post.predict(AT, "observation", table=7),
                                   "table is 7, and the model has 1 table"),
    "a table below zero": (lambda post: post.predict(AT, "observation", table=-1), "table is -1"),
    "an output of one": (lambda post: post.predict(AT, output="a"), "output `a`"),
    "no place": (lambda post: post.predict(qd.point(t=[NAN])), "row 0 is NaN"),
    "fewer draws than none": (lambda post: post.predict(AT).draws(-1), "n is -1"),
    "half a draw": (lambda post: post.predict(AT).draws(1.5), "n is 1.5"),
    "a quantile in percent": (lambda post: post.predict(AT).quantile(50), "p is 50"),
    "a limit that is none": (lambda post: post.predict(AT).exceed(NAN), "x is nan in row 0"),
    "a limit in words": (lambda post: post.predict(AT).exceed(["high"]), "x must be numbers"),
    "rows that say nothing": (lambda post: post.condition(AT, value=[NAN]), "row 0 is NaN"),
    "squares of points": (lambda post: post.predict(AT).to_geodataframe(), "no geometries"),
}


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
@pytest.mark.parametrize("what", ASKED)
def test_what_cannot_be_asked_of_a_posterior_is_refused(what, post):
    ask, message = ASKED[what]
    with pytest.raises(qd.DataError, match=message):
        ask(post)


BANDS = {"lower": [0, 10], "upper": [10, 20], "count": [1, 2]}
JOBS = {
    "bands that end before": (lambda: qd.ungroup(**{**BANDS, "upper": [10, 5]}),
                              "^lower, upper: the band of row 1"),
    "negative counts": (lambda: qd.ungroup(**{**BANDS, "count": [1, -2]}), "count of row 1"),
    "a gap": (lambda: qd.ungroup(**{**BANDS, "lower": [0, 15]}),
              "^lower, upper: nothing is told from 10 to 15"),
    "bands in words": (lambda: qd.ungroup(**{**BANDS, "lower": [0, "a"]}), "lower must be numbers"),
    "an end in words": (lambda: qd.ungroup(**BANDS, last="x"), "last must be numbers"),
    "a density of nothing": (lambda: qd.Density([]), "^x: 0 of 0 rows"),
    "a density of words": (lambda: qd.Density(["a"]), "x must be numbers"),
    "values out of bounds": (lambda: qd.Density(FOUR, bounds=(2, None)), "^x: row 0 .* outside"),
    "one bound": (lambda: qd.Density(FOUR, bounds=3), "bounds must be a pair"),
    "bounds of two columns": (lambda: qd.Density(FOUR, bounds=[(0, 1), (0, 1)]),
                              "bounds must be a pair"),
    "fewer cells than none": (lambda: qd.Density(FOUR, cells=-1), "cells is -1"),
    "columns of different lengths": (lambda: qd.Density2d(FOUR, [1.0, 2]), "y has 2 rows"),
    "areas without a column": (lambda: qd.reconcile({"a": [1]}, area="b", within="c", value="d",
                                                    variance="e"), "area: the data has no column"),
    "no such group": (lambda: qd.fit_many({"a": [1.0]}, by="b", fit=lambda rows: None),
                      "^by: .* no column \"b\""),
    "no model of a group": (lambda: qd.fit_many({"a": [1.0]}, by="a", fit={}), "no 'kernel'"),
    "an empty study": (lambda: qd.run({}), "needs `\\[\\[observe\\]\\]`"),
    "fewer threads than none": (lambda: qd.set_threads(-1), "threads is -1"),
}


@pytest.mark.parametrize("what", JOBS)
def test_jobs_refuse_what_they_cannot_do(what):
    ask, message = JOBS[what]
    with pytest.raises(qd.DataError, match=message):
        ask()


def test_what_is_of_another_type_is_named(post):
    for ask, message in (
        (lambda: post.predict([1.0]), "support is list; give point"),
        (lambda: model().observe(AT, [1.0]), "likelihood is list"),
        (lambda: model().fit(progress=object()), "progress is object; give True"),
        (lambda: qd.run(3), "study is int; give a path"),
    ):
        with pytest.raises(TypeError, match=message):
            ask()
