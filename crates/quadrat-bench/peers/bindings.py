#!/usr/bin/env python3
"""What the Python package adds to fits and predictions of the library, in one run.

The same rows, places and settings go to `quadrat-bench peer bindings` and to a worker that
imports quadrat, in turn. The clock of each process tells the seconds that all of its threads ran;
answers must agree to the last digit. See README.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

FITS = ["fit line 8", "fit line 1000", "fit plane 1000"]
# Rows that are fitted before so many points are predicted.
PREDICTIONS = [30, 1000]
POINTS = 1_000_000
ENDS = ("lower", "median", "upper")


def main():
    options = arguments()
    if options.worker:
        return work(options.worker)
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        if set(options.only) != {"threads"}:
            print("| | Rust, s | Python, s | ratio of the least | median of ratios "
                  "| least on the clock, ratio |")
            print("|---|---|---|---|---|---|", flush=True)
        one = {**os.environ, "RAYON_NUM_THREADS": "1"}
        sides = [Side([str(options.bench), "peer", "bindings", folder], one),
                 Side([sys.executable, __file__, "--worker", folder], one)]
        if "fit" in options.only:
            for order in FITS:
                beside(order, sides, options.rounds)
        if "predict" in options.only:
            for rows in PREDICTIONS:
                for side in sides:
                    side.ask(f"fit line {rows}")
                beside(f"predict {POINTS}", sides, options.rounds, f" from {rows} rows")
        if "threads" in options.only:
            at_once(folder, options.rounds)
        for side in sides:
            side.end()
    print(f"load {os.getloadavg()[0]:.1f}")
    return 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", type=Path, default=Path("target/release/quadrat-bench"),
                        help="the program (target/release/quadrat-bench)")
    parser.add_argument("--rounds", type=int, default=20, help="runs of either side (20)")
    parser.add_argument("--only", nargs="+", choices=["fit", "predict", "threads"],
                        default=["fit", "predict", "threads"])
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def write(folder):
    """Readings along a line and in a plane, in no order."""
    random = np.random.default_rng(1)
    x, y = random.uniform(0, 10, size=(2, 1000))
    noise = random.normal(0, 0.1, size=1000)
    save(folder / "line.csv", "x,value", x, np.sin(x) + noise)
    save(folder / "plane.csv", "x,y,value", x, y, np.sin(x) + np.cos(0.5 * y) + noise)


def save(path, header, *columns):
    rows = (",".join(map(repr, map(float, row))) for row in zip(*columns))
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


class Side:
    """A process that answers lines, and the processor time that it takes for each."""

    def __init__(self, command, environment):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True, env=environment)
        # The clock of another process, as Linux numbers it.
        self._clock = (~self._process.pid << 3) | 2

    def ask(self, order):
        """The answer, seconds that all threads of the process ran for it, and on the clock."""
        before, begun = time.clock_gettime(self._clock), time.perf_counter()
        self._process.stdin.write(order + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        wall = time.perf_counter() - begun
        taken = time.clock_gettime(self._clock) - before
        if not line:
            raise RuntimeError(f"no answer to `{order}`")
        return json.loads(line), (taken, wall)

    def end(self):
        self._process.stdin.close()
        self._process.wait()


def beside(order, sides, rounds, more=""):
    """Prints what either side takes, in turn, after a first time that does not count."""
    answers = [side.ask(order)[0] for side in sides]
    if answers[0] != answers[1]:
        raise RuntimeError(f"`{order}{more}`: {answers[0]} in Rust, {answers[1]} in Python")
    told = np.array([[side.ask(order)[1] for side in sides] for _ in range(rounds)])
    seconds, clock = told[:, :, 0], told[:, :, 1].min(axis=0)
    least, ratios = seconds.min(axis=0), seconds[:, 1] / seconds[:, 0]
    print(f"| {order}{more} | {least[0]:.5f} | {least[1]:.5f} | {least[1] / least[0]:.3f} "
          f"| {np.median(ratios):.3f} | {clock[1] / clock[0]:.3f} |", flush=True)


# --- the worker -----------------------------------------------------------------------------------


def work(folder):
    """Answers lines as `quadrat-bench peer bindings` does."""
    tables = read(folder)
    post = None
    for order in sys.stdin:
        kind, *rest = order.split()
        if kind == "fit":
            post = fit(tables[rest[0]], int(rest[1]))
            answer = {"log_evidence": post.log_evidence}
        else:
            answer = predict(post, int(rest[0]))
        print(json.dumps(answer), flush=True)
    return 0


def read(folder):
    tables = {}
    for name in ("line", "plane"):
        rows = np.loadtxt(Path(folder) / f"{name}.csv", delimiter=",", skiprows=1)
        *inputs, values = np.ascontiguousarray(rows.T)
        tables[name] = dict(zip("xy", inputs)), values
    return tables


def fit(table, rows):
    import quadrat as qd

    inputs, values = table
    model = qd.Model(f"matern32({', '.join(inputs)})")
    at = qd.point({name: column[:rows] for name, column in inputs.items()})
    return model.observe(at, value=values[:rows]).fit(hyperparameters="map", starts=1,
                                                      threads=1)


def predict(post, points):
    import quadrat as qd

    told = post.predict(qd.point(x=np.arange(points) * (10.0 / (points - 1))))
    columns = {name: getattr(told, name) for name in ("mean", "sd", *ENDS)}
    # One in a thousand, one after the other, as the other side adds them up.
    return {name: sum(own[::1000].tolist()) for name, own in columns.items()}


# --- two at once ----------------------------------------------------------------------------------


def at_once(folder, rounds):
    """Prints what two fits in two threads of one process take on the clock, beside one."""
    tables = read(folder)
    print("| | one, s | two at once, s | ratio of the least | median of ratios |")
    print("|---|---|---|---|---|")
    for name in ("line", "plane"):
        work = lambda: fit(tables[name], 1000)
        work()
        seconds = np.array([[clocked(work, 1), clocked(work, 2)] for _ in range(rounds)])
        least, ratios = seconds.min(axis=0), seconds[:, 1] / seconds[:, 0]
        print(f"| fit {name} 1000 | {least[0]:.4f} | {least[1]:.4f} | {least[1] / least[0]:.3f} "
              f"| {np.median(ratios):.3f} |", flush=True)


def clocked(work, threads):
    """Seconds on the wall clock until all threads have done the work."""
    every = [threading.Thread(target=work) for _ in range(threads)]
    begun = time.perf_counter()
    for one in every:
        one.start()
    for one in every:
        one.join()
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
