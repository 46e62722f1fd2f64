"""Many fits at a time are the fits one by one, and a failure is kept."""

import concurrent.futures
import functools
import os
import signal
import subprocess
import sys
import time
import types

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import quadrat as qd
from optional import Stream, polars, with_polars

NAMES = ["south", "north", "west", "east"]
T = np.linspace(0, 3, 6)
RECIPE = {"kernel": "se(t)", "support": qd.point(t="t"), "value": "y", "noise": 0.01,
          "fit": {"hyperparameters": "map", "starts": 1}}
AT = qd.point(t=[0.5, 1.5])
KINDS = with_polars({
    "dict": lambda columns: columns, "pandas": pd.DataFrame,
    "pyarrow": pa.table, "stream": lambda columns: Stream(pa.table(columns)),
}, "DataFrame")


def rows(names=NAMES):
    # The rows of the groups are mixed.
    return {"region": np.tile(names, len(T)), "t": np.repeat(T, len(names)),
            "y": np.cos(np.repeat(T, len(names)) + np.tile(np.arange(len(names)), len(T)))}


def alone(at):
    post = qd.Model("se(t)").observe(qd.point(t=T), value=np.cos(T + at), noise=0.01)
    return post.fit(hyperparameters="map", starts=1, threads=1).predict(AT).mean


@pytest.mark.parametrize("kind", KINDS)
def test_each_group_is_fitted_as_if_alone(kind):
    fits = qd.fit_many(KINDS[kind](rows()), by="region", fit=RECIPE, threads=3)
    assert list(fits) == NAMES and not fits.failures and len(fits) == 4
    for at, name in enumerate(NAMES):
        np.testing.assert_array_equal(fits[name].predict(AT).mean, alone(at))
    frame = fits.to_frame()
    columns = frame.to_pydict() if kind in ("pyarrow", "stream") else frame
    assert list(columns["region"]) == NAMES and list(columns["rows"]) == [6] * 4
    own = {"polars": polars, "pyarrow": pa, "stream": pa}.get(kind, pd)
    assert type(frame).__module__.startswith(own.__name__)


def test_the_number_of_threads_and_the_other_groups_change_nothing():
    one = qd.fit_many(rows(), by="region", fit=RECIPE, threads=1)
    some = qd.fit_many(rows(NAMES[:2]), by="region", fit=RECIPE, threads=2)
    for name in NAMES[:2]:
        np.testing.assert_array_equal(one[name].predict(AT).mean, some[name].predict(AT).mean)


def test_failures_are_kept_in_their_place():
    own = rows()
    own["y"][1::4] = np.nan
    with pytest.warns(qd.FitWarning, match="1 of 4 fits failed, .* the first is 'north'"):
        fits = qd.fit_many(own, by="region", fit=RECIPE)
    assert list(fits.posteriors) == ["south", "west", "east"] and list(fits.failures) == ["north"]
    assert isinstance(fits.failures["north"], qd.DataError)
    with pytest.raises(KeyError, match="the fit of 'north' failed"):
        fits["north"]
    frame = fits.to_frame()
    assert list(frame["region"]) == NAMES and frame["failure"].notna().tolist() == [
        False, True, False, False]
    assert np.isnan(frame["log_evidence"][1]) and np.isfinite(frame["se.variance"][0])
    assert repr(fits) == "<ManyFits by region: 3 fitted, 1 failed>"


def test_functions_seeds_and_several_columns():
    own = {**rows(), "year": np.repeat([1, 2], 12)}
    seen = qd.fit_many(own, by=["region", "year"], seed=7,
                       fit=lambda group, seed: (len(group["t"]), seed))
    assert dict(seen)[("north", 2)] == (3, 7) and len(seen) == 8
    assert next(iter(seen)) == ("south", 1)
    assert list(seen.to_frame()) == ["region", "year", "failure"]
    seeds = {name: at for at, name in enumerate(NAMES)}
    told = qd.fit_many(own, by="region", seed=seeds, fit=lambda group, seed: seed)
    assert told.posteriors == seeds
    assert qd.fit_many(own, by="region", fit=len).posteriors == dict.fromkeys(NAMES, 4)


def test_predictions_of_all_groups():
    fits = qd.fit_many(rows(), by="region", fit=RECIPE)
    told = fits.predict(AT)
    assert list(told["region"]) == [name for name in NAMES for _ in range(2)]
    np.testing.assert_array_equal(told["mean"][2:4], alone(1))
    own = fits.predict(qd.point(t="t"), data={"region": ["east", "east"], "t": [0.5, 1.5]})
    np.testing.assert_array_equal(own["mean"], alone(3))
    with pytest.raises(qd.DataError, match="no group of the data was fitted"):
        fits.predict(qd.point(t="t"), data={"region": ["x"], "t": [0.5]})


def test_progress_counts_groups_and_warnings_are_told_once():
    events = []
    with pytest.warns(qd.FitWarning, match="4 of 4 fits have warnings, see warnings") as told:
        fits = qd.fit_many(rows(), by="region", progress=lambda *event: events.append(event),
                           fit=lambda group: types.SimpleNamespace(warnings=["odd"]))
    assert events == [("fitting", done, 4, None) for done in range(1, 5)]
    assert fits.warnings == dict.fromkeys(NAMES, ["odd"]) and len(told) == 1


BAD = [
    ({"by": "place"}, "by: the data has no column \"place\""),
    ({"by": []}, "by is empty"),
    ({"fit": {"kernel": "se(t)"}}, "fit has no 'support'"),
    ({"fit": {**RECIPE, "kernal": 1}}, "fit has no 'kernal'; there are kernel"),
    ({"fit": {**RECIPE, "kernel": "sea(t)"}}, "kernel:"),
    ({"fit": {**RECIPE, "fit": {"start": 1}}}, "Model.fit has no 'start'"),
    ({"fit": "se(t)"}, "fit is str; give a dict"),
    ({"threads": 0}, "threads is 0"),
    ({"seed": {"south": 1}}, "seed has none for the group 'north'"),
    ({"client": 3}, "client is int"),
]


@pytest.mark.parametrize("said, message", BAD)
def test_what_cannot_be_fitted_is_told_before_any_work(said, message):
    with pytest.raises(qd.DataError, match=message):
        qd.fit_many(rows(), **{"by": "region", "fit": RECIPE, **said})
    with pytest.raises(qd.DataError, match="by: region is missing in row 1"):
        qd.fit_many({"region": ["a", None], "t": [0, 1], "y": [0, 1]}, by="region", fit=RECIPE)
    with pytest.raises(qd.DataError, match="the frame is list"):
        qd.fit_many([1], by="region", fit=RECIPE)


def test_an_executor_gives_the_answers_of_threads():
    expected = qd.fit_many(rows(), by="region", fit=RECIPE)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        fits = qd.fit_many(pd.DataFrame(rows()), by="region", fit=RECIPE, client=pool)
    for name in NAMES:
        np.testing.assert_array_equal(fits[name].predict(AT).mean, expected[name].predict(AT).mean)


def _killed(marks, group):
    name = group["region"].iloc[0]
    if name == "west":
        # Dask blames all tasks that stand on a worker that dies: let the others end elsewhere.
        limit = time.monotonic() + 30
        while len(list(marks.iterdir())) < 3 and time.monotonic() < limit:
            time.sleep(0.05)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGKILL)
    (marks / name).touch()
    return len(group)


def test_dask_gives_the_answers_of_threads_and_survives_a_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    own = rows()
    own["y"][1::4] = np.nan
    with pytest.warns(qd.FitWarning):
        expected = qd.fit_many(pd.DataFrame(own), by="region", fit=RECIPE)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        with pytest.warns(qd.FitWarning, match="'north'"):
            fits = qd.fit_many(pd.DataFrame(own), by="region", fit=RECIPE, client=client)
        pd.testing.assert_frame_equal(fits.to_frame(), expected.to_frame())
        for name in expected:
            np.testing.assert_array_equal(
                fits[name].predict(AT).mean, expected[name].predict(AT).mean)
        with pytest.warns(qd.FitWarning, match="'west'"):
            left = qd.fit_many(pd.DataFrame(rows()), by="region", client=client,
                               fit=functools.partial(_killed, tmp_path))
    assert list(left.failures) == ["west"] and left["east"] == 6


# Of the rows of a group, one after the other: the third waits to be interrupted.
PARTLY = """
import os, signal, threading, time, warnings
import quadrat as qd
rows = {"g": [1, 1, 2, 2, 3, 3, 4, 4], "t": [0.0, 1] * 4, "y": [0.0, 1] * 4}
def fit(group):
    if group["g"][0] == 3:
        time.sleep(60)
    return len(group["t"])
def tell(stage, done, total, best):
    if done == 2:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    fits = qd.fit_many(rows, by="g", fit=fit, threads=1, progress=tell)
print(dict(fits), list(fits.failures), {type(own).__mro__[1].__name__
      for own in fits.failures.values()}, *(own.message for own in told), sep="|", flush=True)
print(fits.to_frame()["failure"].tolist()[2], flush=True)
# What waits is no fit that could be stopped.
os._exit(0)
"""


def test_an_interrupt_returns_the_groups_that_are_fitted():
    done = subprocess.run([sys.executable, "-c", PARTLY], capture_output=True, text=True,
                          timeout=60, check=True)
    first, last = done.stdout.splitlines()
    assert first.split("|") == [
        "{1: 2, 2: 2}", "[3, 4]", "{'FitError'}", "the fits were interrupted: 2 of 4 groups are "
        "fitted, and 2 are not, see failures"]
    assert last == "the fits were interrupted before this one ended"


INTERRUPTED = """
import os, signal, threading
import numpy as np, quadrat as qd
random = np.random.default_rng(1)
x, z = random.uniform(size=(2, 6000))
y = np.sin(6 * x) * z + 0.1 * random.normal(size=6000)
# Fits of minutes.
rows = {"g": np.repeat([1, 2], 3000), "x": x, "z": z, "y": y}
model = {"kernel": "matern32(x, z)", "support": qd.point(x="x", z="z"), "value": "y"}
try:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    qd.fit_many(rows, by="g", fit=model)
    print("answer")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_ends_all_fits_where_none_is_fitted_yet():
    # What is waited for is the end of the process, which its threads would delay.
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True,
                          timeout=60, check=True)
    assert done.stdout.split() == ["interrupted"]
