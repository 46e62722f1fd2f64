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


# Rows of fits that grow until they take long enough for what is looked at.
SIZES = [300, 600, 1200, 2400]


def slow(n):
    """A dense fit, of a second or so for five hundred rows."""
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
    ticks, done = [], threading.Event()

    def count():
        while not done.wait(0.01):
            ticks.append(True)

    thread = threading.Thread(target=count)
    thread.start()
    seen = []
    for n in SIZES:
        model, before = slow(n), len(ticks)
        model.fit(starts=1, hyperparameters="map")
        seen.append(len(ticks) - before)
        if seen[-1] > 10:
            break
    done.set()
    thread.join()
    # Were the lock held, there would be one or two, however long the fit takes.
    assert seen[-1] > 10, seen


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
    for n in SIZES:
        slow(n).fit(hyperparameters="map", starts=3, progress=True)
        told = capsys.readouterr().err
        if told:
            break
    assert "optimising" in told


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

def posterior(n=8, **how):
    x = np.linspace(0, 3, n)
    model = qd.Model("matern52(x)" if n > 8 else "se(x)")
    return model.observe(qd.point(x=x), value=np.cos(9 * x), noise=0.01).fit(**how)

def fit():
    return posterior().predict(qd.point(x=[0.5])).mean[0]

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
        post = posterior(400, method="ep") if turn % 10 == 0 else posterior()
        interrupted += any("was stopped" in told for told in post.warnings)
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
    # Each turn ends in an exception or in the best so far; an interrupt may come after its end.
    word, interrupted = (done.stdout or "failed 0").split()
    assert word == "done" and int(interrupted) > 100, (interrupted, done.stderr[-3000:])


INTERRUPTED = """
import os, signal, sys, threading, warnings
import numpy as np, quadrat as qd
random = np.random.default_rng(1)
x, y = random.uniform(size=(2, {n}))
model = qd.Model("matern32(x, y)").observe(
    qd.point(x=x, y=y), value=np.sin(6 * x) * y + 0.1 * random.normal(size={n}))
told, seen = threading.Semaphore(0), threading.Semaphore(0)
def handler(*of):
    seen.release()
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, handler)
def interrupt():
    # Once the search has told of an answer, and again once that was seen.
    told.acquire()
    for _ in range({times}):
        os.kill(os.getpid(), signal.SIGINT)
        seen.acquire()
threading.Thread(target=interrupt, daemon=True).start()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    try:
        post = model.fit(progress=lambda *event: told.release(){how})
        print("answer", any("stopped" in str(w.message) for w in said), post.facts["rows"])
    except KeyboardInterrupt:
        print("interrupted")
"""


def interrupted(n, times=1, how=""):
    code = INTERRUPTED.format(n=n, times=times, how=how)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True,
                          timeout=300)
    return done.stdout.split()


def test_an_interrupt_of_a_dense_fit_gives_the_best_so_far():
    # Starts compete on some of the rows first: by then there is an answer.
    assert interrupted(1500) == ["answer", "True", "1500"]


def test_a_second_interrupt_ends_a_fit_at_once():
    assert interrupted(2500, times=2) == ["interrupted"]


def test_an_interrupt_of_a_sparse_fit_gives_the_best_so_far():
    told = interrupted(20000, how=", method='sparse', inducing=100")
    assert told == ["answer", "True", "20000"]


def test_progress_is_told_and_may_fail():
    for n in SIZES:
        events = []
        slow(n).fit(hyperparameters="map", starts=3, progress=lambda *one: events.append(one))
        if events:
            break
    assert events and all(len(event) == 4 and event[0] == "optimising" for event in events)
    counts = [done for _, done, *_ in events]
    assert counts == sorted(counts)
    calls, expected = [], fit()

    def bad(*event):
        calls.append(event)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        for n in SIZES:
            slow(n).fit(hyperparameters="map", starts=3, progress=bad)
    assert len(calls) == 1
    np.testing.assert_array_equal(fit(), expected)


def test_the_number_of_threads_changes_nothing():
    expected = fit()
    try:
        qd.set_threads(1)
        np.testing.assert_allclose(fit(), expected, rtol=1e-10)
    finally:
        qd.set_threads()
