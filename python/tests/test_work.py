"""Long work: the lock is released, threads and forks do not hang, signals are looked after."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import quadrat as qd
from quadrat._progress import listener

SMALL = qd.point(x=[0.5, 1.5])


def fit(seed=0):
    x = np.linspace(0, 3, 8)
    post = qd.Model("se(x)").observe(qd.point(x=x), value=np.cos(x), noise=0.01).fit(seed=seed)
    return post.predict(SMALL).mean


def slow(n=900):
    """A dense fit of some seconds."""
    random = np.random.default_rng(1)
    x, y = random.uniform(size=(2, n))
    return qd.Model("matern32(x, y)").observe(
        qd.point(x=x, y=y), value=np.sin(6 * x) * y + 0.1 * random.normal(size=n))


def test_threads_get_the_same_answers():
    expected, got = fit(), [None] * 8

    def work(at):
        got[at] = fit()

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for answer in got:
        np.testing.assert_array_equal(answer, expected)


AT_ONCE = """
import pathlib, sys, threading
before = getattr(sys, "_is_gil_enabled", bool)()
import numpy as np, quadrat as qd

x, answers, start = np.linspace(0, 3, 8), [None] * 16, threading.Barrier(16)

def work(at):
    start.wait()
    told = qd.ungroup(lower=[0, 20], upper=[20, 40], count=[90, 60], draws=100, seed=at % 2)
    post = qd.Model("se(x)").observe(qd.point(x=x), qd.Poisson(x.round())).fit(seed=at % 2)
    answers[at] = [*told.mean, *post.predict(qd.point(x=[0.5])).draws(2)[:, 0]]

threads = [threading.Thread(target=work, args=(at,)) for at in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
assert all(answers[at] == answers[at % 2] for at in range(16)), answers
own = [task.read_text() for task in pathlib.Path("/proc/self/task").glob("*/comm")]
print(before == getattr(sys, "_is_gil_enabled", bool)(), sum("quadrat-" in name for name in own))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_threads_that_begin_at_once_share_the_threads_of_the_library():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", AT_ONCE], capture_output=True,
                          text=True, timeout=120)
    # An interpreter without its lock stays without it.
    assert done.stdout.split() == ["True", str(len(os.sched_getaffinity(0)))], done.stderr


def test_others_run_while_a_fit_does():
    model, ticks, done = slow(600), [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.01)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.perf_counter()
    model.fit(starts=1, hyperparameters="map")
    taken = time.perf_counter() - begun
    done.set()
    thread.join()
    # Were the lock held, there would be one or two.
    assert len(ticks) > 10 * taken, (len(ticks), taken)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_get_the_same_answers(method):
    expected = fit()
    with multiprocessing.get_context(method).Pool(2) as pool:
        for answer in pool.map_async(fit, [0, 0, 0, 0]).get(120):
            np.testing.assert_array_equal(answer, expected)


def test_joblib_gets_the_same_answers():
    joblib = pytest.importorskip("joblib")
    expected = fit()
    for prefer in ("processes", "threads"):
        answers = joblib.Parallel(2, prefer=prefer)(joblib.delayed(fit)() for _ in range(4))
        for answer in answers:
            np.testing.assert_array_equal(answer, expected)


def test_a_bar_of_tqdm_or_a_line_tells_how_far_a_fit_is(capsys):
    with listener(True) as tell:
        tell("optimising", 1, 3, -2.5)
    told = capsys.readouterr().err
    assert "optimising" in told and ("1/3" in told or "1 of 3" in told) and "-2.5" in told
    # A fit tells some times a second: a short one may have nothing to tell.
    slow(300).fit(hyperparameters="map", starts=3, progress=True)


def test_a_fork_in_the_middle_of_a_fit_does_not_hang():
    thread = threading.Thread(target=lambda: slow(500).fit(starts=1, hyperparameters="map"))
    thread.start()
    time.sleep(0.2)
    for _ in range(10):
        child = os.fork()
        if child == 0:
            os._exit(0 if np.all(np.isfinite(fit())) else 1)
        limit = time.monotonic() + 60
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > limit:
                os.kill(child, signal.SIGKILL)
                pytest.fail("a child hangs")
            time.sleep(0.02)
        assert ended[1] == 0
    thread.join(120)


ROUNDS = """
import faulthandler, os, random, signal, sys, threading, time
import numpy as np, quadrat as qd

faulthandler.dump_traceback_later(240, exit=True)

def fit(n=8, **how):
    x = np.linspace(0, 3, n)
    model = qd.Model("matern52(x)" if n > 8 else "se(x)")
    post = model.observe(qd.point(x=x), value=np.cos(9 * x), noise=0.01).fit(**how)
    return post.predict(qd.point(x=[0.5])).mean[0]

draw, expected = random.Random(1), fit()
interrupted = 0
for turn in range(200):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(fit())) for _ in range(2)]
    for thread in threads:
        thread.start()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os._exit(0 if fit() == expected else 1)
    after = draw.uniform(0, 0.25 if turn % 10 == 0 else 0.01)
    stop = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    try:
        stop.start()
        # Every tenth is long enough to be stopped at any time.
        fit(400, method="ep") if turn % 10 == 0 else fit()
        stop.join()
        time.sleep(0.01)
    except KeyboardInterrupt:
        interrupted += 1
    for thread in (stop, *threads):
        thread.join()
    assert answers == [expected] * 2, answers
    assert os.waitpid(child, 0)[1] == 0
print("done", interrupted)
"""


def test_two_hundred_rounds_of_threads_forks_and_interrupts_do_not_hang():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", ROUNDS], capture_output=True,
                          text=True, timeout=300)
    word, interrupted = (done.stdout or "failed 0").split()
    assert word == "done" and int(interrupted) > 100, done.stderr[-3000:]


INTERRUPTED = """
import os, signal, threading, time, warnings
import numpy as np, quadrat as qd
random = np.random.default_rng(1)
x, y = random.uniform(size=(2, {n}))
model = qd.Model("matern32(x, y)").observe(
    qd.point(x=x, y=y), value=np.sin(6 * x) * y + 0.1 * random.normal(size={n}))
def interrupt():
    for after in {after}:
        time.sleep(after)
        os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
begun = time.perf_counter()
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    try:
        post = model.fit({how})
        print("answer", any("stopped" in str(w.message) for w in told), post.facts["rows"])
    except KeyboardInterrupt:
        print("interrupted", time.perf_counter() - begun)
"""


def interrupted(**what):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.format(**what)], check=True,
                          capture_output=True, text=True, timeout=120)
    return done.stdout.split()


def test_an_interrupt_of_a_dense_fit_gives_the_best_so_far():
    # Starts compete on some of the rows first: by then there is an answer.
    told = interrupted(n=1500, after=[1.0], how="")
    assert told == ["answer", "True", "1500"]


def test_a_second_interrupt_ends_a_fit_at_once():
    word, seconds = interrupted(n=2500, after=[1.0, 0.3], how="")
    # Signals are looked after ten times a second.
    assert word == "interrupted" and float(seconds) < 4


def test_an_interrupt_of_a_sparse_fit_gives_the_best_so_far():
    told = interrupted(n=60000, after=[2.0], how="method='sparse', inducing=100")
    assert told[0] == "interrupted" or told == ["answer", "True", "60000"]
    assert told[0] == "answer"


def test_progress_is_told_and_may_fail():
    events = []
    slow(500).fit(hyperparameters="map", starts=3, progress=lambda *event: events.append(event))
    assert events and all(len(event) == 4 and event[0] == "optimising" for event in events)

    def bad(*event):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        slow(500).fit(hyperparameters="map", starts=3, progress=bad)
    assert np.all(np.isfinite(fit()))


def test_the_number_of_threads_changes_nothing():
    expected = fit()
    try:
        qd.set_threads(1)
        np.testing.assert_allclose(fit(), expected, rtol=1e-10)
    finally:
        qd.set_threads()
