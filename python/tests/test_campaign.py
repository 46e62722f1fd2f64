"""What to measure next: the choices of the program, answers, and campaigns that are kept."""

import copy
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest

import quadrat as qd
from optional import polars
from conftest import table

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
X = np.linspace(0, 10, 21)
KINDS = {"meter": 0, "strip": 1, "grade": 2}
COSTS = {"meter": 9, "strip": 7, "grade": 3}


@pytest.fixture(scope="module")
def post():
    model = qd.Model("se(x)")
    model.observe(qd.point(x=[0.5, 3.0, 6.5]), value=[5.1, 6.4, 5.8], noise=0.01)
    model.observe(qd.point(x=[1.0, 2.0, 4.0, 5.0, 8.0]),
                  qd.Interval([5, 5.5, 6, 6, 4.5], [5.5, 6, 6.5, 6.5, 5], 0.04))
    model.observe(qd.point(x=[1.5, 3.5, 7.0, 9.0]),
                  qd.Ordinal([2, 3, 2, 1], thresholds=[5.2, 6.2], variance=0.09))
    return model.fit(hyperparameters="map")


@pytest.fixture
def campaign(post):
    return qd.Campaign(post, qd.point(x=X), KINDS, COSTS)


@pytest.mark.parametrize("policy", ["per-cost", "information", "pace", "variance"])
def test_choices_are_those_of_the_program(program, campaign, tmp_path, policy):
    campaign.save(tmp_path / "m.quadrat")
    pd.DataFrame({"x": X}).to_csv(tmp_path / "at.csv", index=False)
    out = tmp_path / "next.csv"
    subprocess.run([program, "next", tmp_path / "m.quadrat", "--candidates", tmp_path / "at.csv",
                    "--cost", "meter=9,strip=7,grade=3", "--budget", "30", "--policy", policy,
                    "-o", out, "--quiet"], check=True)
    expected, got = table(out), campaign.ask(budget=30, policy=policy)
    assert got["kind"] == expected["kind"]
    for name in ("x", "information_bits", "cost", "bits_per_cost"):
        # The program computes from the model file, as this has not.
        np.testing.assert_allclose(got[name], expected[name], rtol=1e-6)
    assert got["cost"].sum() <= 30


def test_candidates_are_supports_or_frames(post, campaign):
    frame = pd.DataFrame({"x": X, "name": "a"})
    by_frame = qd.Campaign(post, frame, ["ordinal", "gaussian"], 1)
    assert by_frame.kinds == ["ordinal", "gaussian"] and by_frame.costs["ordinal"] == 1
    assert by_frame.ask(3)["x"].shape == (3,)
    boxes = qd.box(x=(X[:-1], X[1:]), aggregate="mean")
    areal = qd.Campaign(post, boxes, {"meter": "gaussian"}, 1)
    todo = areal.ask(2)
    assert list(todo)[:4] == ["candidate", "x_lower", "x_upper", "kind"]
    told = areal.tell({"x_lower": 0.0, "x_upper": 0.5, "kind": "meter", "value": 4.9})
    assert told.posterior.facts["rows"] == 13
    filled = todo.to_frame().assign(value=[5.0, 4.9])
    assert told.tell(filled).posterior.facts["rows"] == 15
    frame = (pd.DataFrame if polars is None else polars.DataFrame)(filled.to_dict("list"))
    assert told.tell(frame).posterior.facts["rows"] == 17
    part = qd.box(x=([8.0], [10.0]), aggregate="mean")
    aimed = qd.Campaign(post, qd.point(x=X), KINDS, COSTS, about=part)
    assert aimed.ask(policy="target")["x"][0] >= 7
    edge = campaign.ask(policy="exceedance", above=5.5)["x"][0]
    crossed = post.predict(qd.point(x=[edge]), scale="latent")
    assert abs(crossed.mean[0] - 5.5) < 2 * crossed.sd[0]
    high = post.predict(qd.point(x=campaign.ask(policy="maximum")["x"]), scale="latent")
    low = post.predict(qd.point(x=campaign.ask(policy="minimum")["x"]), scale="latent")
    assert high.mean[0] > low.mean[0]
    bits = campaign.information("exceedance", above=5.5)
    assert all((np.asarray(bits[kind]) >= 0).all() for kind in campaign.kinds)
    information = campaign.information()
    assert list(information) == ["candidate", "x", "meter", "strip", "grade"]
    assert information["meter"].argmax() == campaign.ask(policy="information")["candidate"][0]


def taken(candidates, data, rows):
    """Some of the candidates, as users would say it."""
    if data is None:
        return qd.region([candidates._geometries[row] for row in rows], aggregate="mean")
    return qd.bag(x="x", y="y", key="key", aggregate="mean", keys=[data["key"][2 * row] for row
                                                                   in rows])


def test_bags_and_regions_are_told_by_their_numbers():
    squares = [{"type": "Polygon", "coordinates": [[[x, 0], [x + 1, 0], [x + 1, 1], [x, 1]]]}
               for x in range(4)]
    areas = qd.Model("se(x, y)").observe(qd.region(squares, aggregate="mean"),
                                         value=[1.0, 2, 1, 0], noise=0.1)
    pixels = {"x": np.arange(8) / 2, "y": np.full(8, 0.5), "key": list("aabbccdd")}
    bags = qd.bag(x="x", y="y", key="key", aggregate="mean")
    for candidates, data in ((qd.region(squares, aggregate="mean"), None), (bags, pixels)):
        own = qd.Campaign(areas, candidates, {"area": 0}, 1, data=data, hyperparameters="map")
        rows = {"candidate": [3, 1], "kind": "area", "value": [0.2, 1.9]}
        again = pickle.loads(pickle.dumps(own))
        for one in (own.tell(rows), again.tell(rows)):
            told = one.posterior.predict(candidates, data=data).mean
        fitted = areas.fit(hyperparameters="map")
        direct = fitted.condition(taken(candidates, data, [3, 1]), value=[0.2, 1.9], noise=0.1,
                                  data=data)
        np.testing.assert_allclose(told, direct.predict(candidates, data=data).mean, rtol=1e-9)
        with pytest.raises(qd.DataError, match="say which with a column \"candidate\""):
            own.tell({"x": 1.0, "kind": "area", "value": 1.0})


def test_answers_are_those_of_condition_and_of_the_program(program, post, campaign, tmp_path):
    campaign.save(tmp_path / "m.quadrat")
    rows = pd.DataFrame({"x": [9.9, 0.0, 5.8, 3.0], "kind": ["grade", "grade", "meter", "strip"],
                         "value": [1, 1, 6.0, np.nan], "lower": [np.nan] * 3 + [6.0],
                         "upper": [np.nan] * 3 + [6.5]})
    assert campaign.tell(rows) is campaign
    more = post.condition(qd.point(x=[5.8]), value=[6.0], noise=0.01)
    more = more.condition(qd.point(x=[3.0]), qd.Interval([6.0], [6.5], 0.04))
    more = more.condition(qd.point(x=[9.9, 0.0]),
                          qd.Ordinal([1, 1], thresholds=[5.2, 6.2], variance=0.09))
    got = campaign.posterior.predict(qd.point(x=X))
    # The same updates, of sites that have settled.
    np.testing.assert_allclose(got.mean, more.predict(qd.point(x=X)).mean, rtol=1e-6)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    subprocess.run([program, "tell", tmp_path / "m.quadrat", tmp_path / "rows.csv", "--quiet"],
                   check=True)
    told = qd.load(tmp_path / "m.quadrat")
    assert isinstance(told, qd.Campaign) and told.kinds == list(KINDS)
    np.testing.assert_allclose(told.posterior.predict(qd.point(x=X)).mean, got.mean, rtol=1e-6)
    campaign.save(tmp_path / "own.quadrat")
    subprocess.run([program, "tell", tmp_path / "own.quadrat", "--told", tmp_path / "all.csv",
                    "--quiet"], check=True)
    assert table(tmp_path / "all.csv")["kind"] == list(rows["kind"])


def test_limits_open_rows_and_learning_again(post):
    limited = qd.Model("se(x)").observe(
        qd.point(x=X[:6]), qd.Censored(np.sin(X[:6]), [0] * 5 + [1], variance=0.01))
    own = qd.Campaign(limited, qd.point(x=X), {"probe": "censored"}, 2.5, hyperparameters="map")
    with pytest.warns(qd.FitWarning, match="1 of 3 rows have no answer"):
        own.tell({"candidate": [7, 8, 9], "kind": "probe", "value": ["<0.4", 0.2, None]})
    assert own.posterior.facts["rows"] == 8
    before = own.posterior.hyperparameters
    own.relearn()
    assert own.posterior.hyperparameters != before and own.posterior.facts["rows"] == 8


@pytest.mark.parametrize("likelihood, told", [
    (lambda rows: qd.Poisson([6, 9, 7][:rows], exposure=100.0), {"value": [7]}),
    (lambda rows: qd.Poisson([6, 9, 7][:rows], exposure=[90.0, 80.0, 70.0][:rows]),
     {"value": [7], "exposure": [70.0]}),
    (lambda rows: qd.Binomial([6, 9, 7][:rows], 10), {"value": [7]}),
    (lambda rows: qd.Censored([1, 3, 0.4][:rows], lower=0.5, variance=0.09), {"value": [0.4]}),
    (lambda rows: qd.Censored([1, 3, 0.4][:rows], lower=[0.5, 0.6, 0.7][:rows], variance=0.09),
     {"value": [0.4], "lower": [0.7]}),
    (lambda rows: qd.Laplace([1, 3, 2][:rows], [0.1, 0.2, 0.3][:rows]),
     {"value": [2], "scale": [0.3]}),
])
def test_new_rows_are_as_those_of_their_table(likelihood, told):
    at, new = [0.0, 5.0, 8.0], qd.point(x=[8.0, 9.0])

    def fitted(rows):
        model = qd.Model("se(x)", mean="zero").observe(qd.point(x=at[:rows]), likelihood(rows))
        model.set("se.variance", value=1.0, fixed=True)
        return model.set("se.lengthscale.x", value=2.0, fixed=True).fit()

    own = qd.Campaign(fitted(2), new, {"way": 0}, 1)
    own.tell({"x": [8.0], "kind": "way", **told})
    got, expected = own.posterior.predict(new), fitted(3).predict(new)
    # The same rows by the same steps, but for rounding.
    np.testing.assert_allclose(got.mean, expected.mean, atol=1e-9)
    np.testing.assert_allclose(got.sd, expected.sd, atol=1e-9)


def test_limits_and_exposures_of_all_rows_are_those_of_new_ones():
    def bits(at, likelihood, **way):
        model = qd.Model("se(x)", mean="zero").observe(qd.point(x=at), likelihood)
        model.set("se.variance", value=1.0, fixed=True)
        model.set("se.lengthscale.x", value=2.0, fixed=True)
        kinds = {"way": {"like": 0, **way}}
        return qd.Campaign(model, qd.point(x=[100.0]), kinds, 1).ask()["information_bits"][0]

    unreached = bits([0.0, 5.0], qd.Censored([1, 3], lower=0.9, variance=0.09))
    reached = bits([0.0, 5.0, 60.0], qd.Censored([1, 3, 0.9], lower=0.9, variance=0.09))
    np.testing.assert_allclose(unreached, reached, rtol=1e-9)
    counts = qd.Poisson([6, 9], exposure=100.0)
    np.testing.assert_allclose(bits([0.0, 5.0], counts), bits([0.0, 5.0], counts, amount=100))
    with pytest.raises(qd.DataError, match="the exposure of a new row of the kind `way`"):
        bits([0.0, 5.0], qd.Poisson([6, 9], exposure=[100.0, 90.0]))


def test_columns_that_say_nothing_are_named(post):
    own = qd.Campaign(post, qd.point(x=X), KINDS, COSTS)
    with pytest.warns(qd.FitWarning, match="say nothing of what was measured: cap"):
        own.tell({"x": [1.0], "kind": "meter", "value": [5.0], "cap": [9.0]})
    with pytest.warns(qd.FitWarning, match="`exposure` of rows says? nothing"):
        own.tell({"x": [1.5], "kind": "meter", "value": [5.0], "exposure": [9.0]})


def test_campaigns_are_kept(post, campaign, tmp_path):
    part = qd.box(x=([8.0], [10.0]), aggregate="mean")
    own = qd.Campaign(post, qd.box(x=(X[:-1], X[1:]), aggregate="mean"),
                      {"strip": {"like": 1, "amount": 0.25}, "meter": "gaussian"}, COSTS_OF_TWO,
                      about=part)
    own.save(tmp_path / "c.quadrat")
    for again in (qd.load(tmp_path / "c.quadrat"), pickle.loads(pickle.dumps(own))):
        assert repr(again) == repr(own) and again.costs == own.costs
        for policy in ("per-cost", "target"):
            expected, got = own.ask(3, policy), again.ask(3, policy)
            assert got["kind"] == expected["kind"]
            np.testing.assert_array_equal(got["candidate"], expected["candidate"])
    loaded = qd.load(tmp_path / "c.quadrat").posterior
    loaded.save(tmp_path / "p.quadrat")
    assert isinstance(qd.load(tmp_path / "p.quadrat"), qd.Posterior)
    twin = copy.deepcopy(campaign)
    twin.tell({"x": 1.0, "kind": "meter", "value": 5.0})
    assert campaign.posterior.facts["rows"] == 12 and twin.posterior.facts["rows"] == 13


COSTS_OF_TWO = {"strip": 1, "meter": 4}


def test_what_was_told_is_paid_for(post, program, tmp_path):
    own = qd.Campaign(post, qd.point(x=X), KINDS, COSTS, budget=30)
    assert own.spent == 0 and own.left == own.budget == 30
    # No batch costs more than is left, and neither does one that says what it may cost.
    assert own.ask(20)["cost"].sum() <= 30 and own.ask(budget=12)["cost"].sum() <= 12
    own.tell({"x": [9.9, 5.8, 3.0], "kind": ["grade", "meter", "grade"], "value": [1, 6.0, None]})
    # Rows without an answer cost nothing.
    assert own.spent == 12 and own.left == 18
    assert repr(own).endswith("14 rows known, 12 of 30 spent>")
    with pytest.raises(qd.DataError, match="budget is 20, and 12 of the campaign's budget of 30 is "
                                           "spent: 18 is left"):
        own.ask(budget=20)
    own.save(tmp_path / "c.quadrat")
    for again in (qd.load(tmp_path / "c.quadrat"), pickle.loads(pickle.dumps(own)),
                  copy.deepcopy(own)):
        assert again.spent == 12 and again.budget == 30 and repr(again) == repr(own)
    # What was measured is known and paid for, also beyond the budget.
    own.tell({"x": [1.0, 2.5], "kind": "meter", "value": [5.0, 5.5]})
    assert own.spent == 30 and own.left == 0
    with pytest.raises(qd.DataError, match="30 is spent, and grade, the cheapest kind, costs 3"):
        own.ask()
    assert list(own.information())[2:] == list(KINDS)
    own.budget = 33
    assert own.ask(20)["kind"] == ["grade"]
    own.spent = 31
    with pytest.raises(qd.DataError, match="the cheapest kind"):
        own.ask()
    for name, value in (("budget", -1), ("spent", np.nan), ("budget", "much")):
        with pytest.raises(qd.DataError, match=name):
            setattr(own, name, value)
    # The program knows no costs of campaigns.
    pd.DataFrame({"x": [4.5], "kind": ["meter"], "value": [6.1]}).to_csv(tmp_path / "rows.csv",
                                                                         index=False)
    subprocess.run([program, "tell", tmp_path / "c.quadrat", tmp_path / "rows.csv", "--quiet"],
                   check=True)
    with pytest.warns(qd.FitWarning, match="1 row was told by the program"):
        assert qd.load(tmp_path / "c.quadrat").spent == 12


def test_rounding_of_sums_does_not_end_a_campaign(post):
    own = qd.Campaign(post, qd.point(x=X), {"meter": 0}, 0.1, budget=0.3)
    for at in (1.0, 2.0):
        own.tell({"x": at, "kind": "meter", "value": 5.5})
    # 0.3 - 0.2 is less than 0.1 in the last digit.
    assert len(own.ask(5)["kind"]) == 1
    own.tell({"x": 5.0, "kind": "meter", "value": 6.0})
    with pytest.raises(qd.DataError, match="0.3 is spent, and meter"):
        own.ask()
    free = qd.Campaign(post, qd.point(x=X), {"meter": 0}, 0.1)
    assert free.left is None and len(free.ask(5)["kind"]) == 5


def test_rows_that_were_told_are_drawn(campaign):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot
    campaign.tell({"x": [9.5, 2.5], "kind": ["meter", "strip"], "value": [4.0, None],
                   "lower": [None, 6.0], "upper": [None, 6.5]})
    ax = campaign.posterior.plot(points=20)
    assert any(list(one.get_ydata()) == [4.0] for one in ax.lines)
    pyplot.close("all")


def test_messages_name_the_argument(post, campaign):
    at = qd.point(x=X)
    for said, message in (
        ({"kinds": "gaussian"}, "kinds is 'gaussian'"),
        ({"kinds": {}}, "kinds is empty"),
        ({"costs": {"meter": 1}}, "costs has no 'strip'"),
        ({"costs": {**COSTS, "tape": 1}}, "kinds has no 'tape'"),
        ({"kinds": {**KINDS, "meter": -1}}, "the table of meter is -1"),
        ({"kinds": {**KINDS, "meter": {"amount": 1}}}, "kinds: meter is"),
        ({"costs": {**COSTS, "meter": "dear"}}, "the cost of meter"),
        ({"seed": 3}, "seed is for a fit"),
    ):
        with pytest.raises(qd.DataError, match=message):
            qd.Campaign(post, at, **{"kinds": KINDS, "costs": COSTS, **said})
    with pytest.raises(TypeError, match="candidates is int"):
        qd.Campaign(post, 3, KINDS, COSTS)
    with pytest.raises(qd.DataError, match="like table 7, and the model has 3"):
        qd.Campaign(post, at, {"meter": 7}, 1).ask()
    with pytest.raises(qd.DataError, match="cannot observe `poison`"):
        qd.Campaign(post, at, ["poison"], 1).ask()
    with pytest.raises(qd.DataError, match="cost.*above zero"):
        qd.Campaign(post, at, KINDS, 0).ask()
    with pytest.raises(TypeError, match="rows is list"):
        campaign.tell([1.0])
    for said, message in (({"batch": 0}, "batch is 0"), ({"policy": "best"}, "policy is \"best\""),
                          ({"budget": 1}, "the budget"), ({"policy": "target"}, "give it about="),
                          ({"policy": "exceedance"}, "above is the limit of the policy"),
                          ({"above": 5.0}, "above is the limit of the policy")):
        with pytest.raises(qd.DataError, match=message):
            campaign.ask(**said)
    for rows, message in (
        ({"x": 1.0, "value": 2.0}, "no column \"kind\""),
        ({"kind": "meter", "value": 2.0}, "neither a column \"candidate\" nor \"x\""),
        ({"x": 1.0, "kind": "tape", "value": 2.0}, "no kind `tape`"),
        ({"x": 1.0, "kind": "meter"}, "no row has an answer"),
        ({"x": 1.0, "kind": "meter", "value": "much"}, "`value` is `much`"),
        ({"candidate": [21], "kind": "meter", "value": 1.0}, "candidate is 21 in row 0"),
        ({"x": [1.0, 2.0], "kind": ["meter"], "value": 1.0}, "different lengths"),
    ):
        with pytest.raises(qd.DataError, match=message):
            campaign.tell(rows)
    assert campaign.posterior.facts["rows"] == 12
