"""How far jobs are is told while they work, and Ctrl-C ends them and what they began."""

import subprocess
import sys

import numpy as np
import pytest

import quadrat as qd

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")

RANDOM = np.random.default_rng(1)
X, NOISE = RANDOM.normal(size=(2, 3000))
COUNTS = [455, 451, 447, 456, 415, 428, 388, 241, 127]
# What ends within a tenth of a second may have nothing to tell: jobs grow until they have.
SIZES = [1, 2, 4, 8, 16, 32, 64]


def cells(n):
    """So many cells along an axis, of which there are at most 300."""
    return min(n, 300)


def boxes(size, told):
    at = np.arange(36)
    x, y = at // 6 - 3.0, at % 6 - 3.0
    qd.Density2d.from_bins((x, x + 1), (y, y + 1), at % 7 + 1, cells=cells(20 * size),
                           draws=500 * size, progress=told)


def bands(years):
    return {"lower": np.tile(np.arange(0, 90, 10.0), years), "count": np.tile(COUNTS, years),
            "upper": np.tile(np.arange(10, 100, 10.0), years)}, np.repeat(np.arange(years), 9)


def years(size, told):
    rows, along = bands(4 * size)
    qd.ungroup(**rows, along=along, progress=told)


def populations(size, told):
    rows, towns = bands(4)
    qd.ungroup(**rows, by={"town": towns}, draws=100, progress=told)


def batch(size, told):
    x = np.linspace(0, 8, 12)
    model = qd.Model("se(x)").observe(qd.point(x=x), value=np.sin(x), noise=0.01)
    campaign = qd.Campaign(model, qd.point(x=np.linspace(0, 8, 3000)), {"meter": 0}, 1.0)
    campaign.ask(batch=30 * size, progress=told)


def many(size, told):
    rows = {"town": np.tile(list("abcd"), 8), "x": np.repeat(np.arange(8.0), 4)}
    rows["y"] = np.sin(rows["x"])
    qd.fit_many(rows, by="town", progress=told, threads=1, fit={
        "kernel": "matern32(x)", "support": qd.point(x="x"), "value": "y"})


# Jobs of a size, and the stages they tell of.
JOBS = {
    "two columns": (lambda size, told: qd.Density2d(
        X, X + NOISE, cells=cells(40 * size), draws=2000 * size, progress=told),
                    ["integrating", "sampling"]),
    "boxes": (boxes, ["integrating", "sampling"]),
    "one column": (lambda size, told: qd.Density(
        np.exp(X), bounds=(0, None), cells=250 * size, draws=100, progress=told), ["integrating"]),
    "one column given another": (lambda size, told: qd.ConditionalDensity(
        X + NOISE, given=X, cells=(cells(20 * size), cells(30 * size)), draws=4000 * size,
        progress=told), ["integrating", "sampling"]),
    "years": (years, ["integrating"]),
    "populations": (populations, ["ungrouping"]),
    "a batch": (batch, ["choosing"]),
    "groups": (many, ["fitting"]),
}


@pytest.mark.parametrize("job", JOBS)
def test_jobs_tell_how_far_they_are(job):
    work, stages = JOBS[job]
    for size in SIZES:
        events = []
        work(size, lambda *event: events.append(event))
        shares = {own: [done / total for stage, done, total, _ in events if stage == own]
                  for own, *_ in events}
        for own in shares.values():
            assert own == sorted(own) and 0 < own[0] <= own[-1] <= 1, shares
        assert list(shares) == [stage for stage in stages if stage in shares], shares
        if len(shares) == len(stages) and all(own[0] < own[-1] for own in shares.values()):
            return
    pytest.fail(f"{size} times the job told no more than {events}")


def small():
    return qd.ungroup(lower=[0, 20, 40], upper=[20, 40, 60], count=[9, 7, 5], draws=100).mean


@pytest.mark.parametrize("job", JOBS)
def test_what_progress_raises_ends_the_job_and_nothing_else(job):
    work, calls, expected = JOBS[job][0], [], small()

    def bad(*event):
        calls.append(event)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        for size in SIZES:
            work(size, bad)
    assert len(calls) == 1, calls
    np.testing.assert_array_equal(small(), expected)


@pytest.mark.parametrize("job", JOBS)
def test_progress_that_is_none_is_refused(job):
    with pytest.raises(TypeError, match="progress is str; give True"):
        JOBS[job][0](1, "yes")


INTERRUPTED = """
import os, signal, threading, time, warnings
import numpy as np, quadrat as qd
warnings.simplefilter("ignore")
# What each thread is at is little of the job.
qd.set_threads(2)
x, noise = np.random.default_rng(1).normal(size=(2, 20000))
low = np.tile(np.arange(0, 100, 5.0), 10)
count, years = np.random.default_rng(2).poisson(4000, 200), np.repeat(np.arange(2000, 2010), 20)
at = np.linspace(0, 8, 40)
post = qd.Model("se(x)").observe(qd.point(x=at), value=np.sin(at), noise=0.01).fit()
campaign = qd.Campaign(post, qd.point(x=np.linspace(0, 8, 3000)), {"meter": 0}, 1.0)
told, begun = [], threading.Event()
def tell(stage, done, total, *more):
    told.append(done / total)
    begun.set()
def interrupt():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
start = time.process_time()
try:
    JOB
    print("answer")
except KeyboardInterrupt:
    # What worked for it ends too, at its next look at whether anybody waits. Threads that wait take
    # no time of a processor.
    stop, limit, busy = time.process_time(), time.monotonic() + 60, 1.0
    while busy > 0.01 and time.monotonic() < limit:
        before = time.process_time()
        time.sleep(0.3)
        busy = time.process_time() - before
    print("interrupted", told[-1], busy, stop - start, time.process_time() - stop)
"""
# Jobs of many seconds.
LONG = {
    "two columns": "qd.Density2d(x, x + noise, cells=200, draws=20000, progress=tell)",
    "years": "qd.ungroup(lower=low, upper=low + 5, count=count, along=years, progress=tell)",
    "a batch": "campaign.ask(batch=400, policy='maximum', progress=tell)",
}


@pytest.mark.parametrize("job", LONG)
def test_an_interrupt_ends_a_job_amid_its_work_and_its_threads(job):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.replace("JOB", LONG[job])],
                          capture_output=True, text=True, timeout=300)
    word, *figures = (done.stdout or "failed").split()
    assert word == "interrupted", done.stderr[-2000:]
    share, busy, before, after = map(float, figures)
    assert share < 1 and busy <= 0.01, figures
    # Nor did they do the rest of the work before: not a tenth of it.
    assert after < 0.1 * before * (1 - share) / share, figures
