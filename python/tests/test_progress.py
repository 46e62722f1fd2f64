"""How far jobs are is told while they work, and Ctrl-C ends them and what they began."""

import subprocess
import sys

import numpy as np
import pytest

import quadrat as qd

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")

RANDOM = np.random.default_rng(1)
X, NOISE = RANDOM.normal(size=(2, 3000))
BANDS = {"lower": np.tile(np.arange(0, 90, 10.0), 4), "upper": np.tile(np.arange(10, 100, 10.0), 4),
         "count": np.tile([455, 451, 447, 456, 415, 428, 388, 241, 127], 4)}
YEARS = np.repeat([2000, 2001, 2002, 2003], 9)


def campaign():
    x = np.linspace(0, 8, 12)
    model = qd.Model("se(x)").observe(qd.point(x=x), value=np.sin(x), noise=0.01)
    return qd.Campaign(model, qd.point(x=np.linspace(0, 8, 3000)), {"meter": 0}, 1.0)


def many(progress):
    rows = {"town": np.repeat(list("abcd"), 300), "x": np.tile(np.linspace(0, 9, 300), 4)}
    rows["y"] = np.sin(rows["x"]) + 0.1 * RANDOM.normal(size=1200)
    qd.fit_many(rows, by="town", progress=progress, threads=1, fit={
        "kernel": "matern32(x)", "support": qd.point(x="x"), "value": "y"})


# Jobs of some seconds, and the stages they tell of.
JOBS = {
    "two columns": (lambda told: qd.Density2d(X, X + NOISE, cells=80, progress=told),
                    ["integrating", "sampling"]),
    "boxes": (lambda told: qd.Density2d.from_bins(
        (np.repeat(np.arange(-3.0, 3), 6), np.repeat(np.arange(-2.0, 4), 6)),
        (np.tile(np.arange(-3.0, 3), 6), np.tile(np.arange(-2.0, 4), 6)), np.arange(36) % 7 + 1,
        cells=60, progress=told), ["integrating", "sampling"]),
    "one column given another": (lambda told: qd.ConditionalDensity(
        X + NOISE, given=X, cells=(60, 100), progress=told), ["integrating", "sampling"]),
    "years": (lambda told: qd.ungroup(**BANDS, along=YEARS, progress=told), ["integrating"]),
    "populations": (lambda told: qd.ungroup(**BANDS, by={"town": YEARS}, progress=told),
                    ["ungrouping"]),
    "a batch": (lambda told: campaign().ask(batch=60, progress=told), ["choosing"]),
    "groups": (many, ["fitting"]),
}


@pytest.mark.parametrize("job", JOBS)
def test_jobs_tell_how_far_they_are(job):
    work, stages = JOBS[job]
    events = []
    work(lambda *event: events.append(event))
    assert list(dict.fromkeys(stage for stage, *_ in events)) == stages
    for stage in stages:
        shares = [done / total for own, done, total, _ in events if own == stage]
        assert len(shares) > 1, events
        assert shares == sorted(shares) and 0 < shares[0] < shares[-1] <= 1, shares


def test_one_column_tells_of_its_settings():
    # Within a tenth of a second nothing may be told.
    events = []
    for _ in range(20):
        qd.Density(np.exp(X), bounds=(0, None), cells=1500, progress=lambda *e: events.append(e))
        if events:
            break
    assert events and all(stage == "integrating" and 0 < done <= total
                          for stage, done, total, _ in events)


def test_progress_that_is_none_is_refused_and_what_it_raises_ends_the_job():
    def bad(*event):
        raise RuntimeError("no more")

    for work, _ in JOBS.values():
        with pytest.raises(RuntimeError, match="no more"):
            work(bad)
        with pytest.raises(TypeError, match="progress is str; give True"):
            work("yes")


INTERRUPTED = """
import os, signal, sys, threading, time, warnings
import numpy as np, quadrat as qd
warnings.simplefilter("ignore")
x, noise = np.random.default_rng(1).normal(size=(2, 20000))
low = np.tile(np.arange(0, 100, 5.0), 10)
count, years = np.random.default_rng(2).poisson(4000, 200), np.repeat(np.arange(2000, 2010), 20)
at = np.linspace(0, 8, 40)
post = qd.Model("se(x)").observe(qd.point(x=at), value=np.sin(at), noise=0.01).fit()
campaign = qd.Campaign(post, qd.point(x=np.linspace(0, 8, 3000)), {"meter": 0}, 1.0)
told = []
def tell(stage, done, total, *more):
    if not told:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    told.append(done / total)
try:
    JOB
    print("answer")
except KeyboardInterrupt:
    # What worked for it ends too, at its next look at whether anybody waits.
    time.sleep(3)
    before = time.process_time()
    time.sleep(1)
    print("interrupted", told[-1], time.process_time() - before)
"""
LONG = {
    "two columns": "qd.Density2d(x, x + noise, cells=200, draws=20000, progress=tell)",
    "years": "qd.ungroup(lower=low, upper=low + 5, count=count, along=years, progress=tell)",
    "a batch": "campaign.ask(batch=400, policy='maximum', progress=tell)",
}


@pytest.mark.parametrize("job", LONG)
def test_an_interrupt_ends_a_job_amid_its_work_and_its_threads(job):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.replace("JOB", LONG[job])],
                          capture_output=True, text=True, timeout=120)
    word, *figures = (done.stdout or "failed").split()
    assert word == "interrupted", done.stderr[-2000:]
    share, busy = map(float, figures)
    # A thread that works on takes a second, of processor time, unless others take it from it.
    assert share < 0.9 and busy < 0.2, (share, busy)
