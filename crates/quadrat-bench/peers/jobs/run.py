#!/usr/bin/env python3
"""Does six jobs with quadrat and with what a Python user would take instead, in one environment.

Every method sees the same simulated data, whose truth is known, in a process of its own on one
thread. Prints lines of code, seconds, errors, and how many truths lie inside the 95 % intervals;
a peer that is not installed is named and left out. See README.md of the folder above.
"""

import argparse
import csv
import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scores

HERE = Path(__file__).resolve().parent
JOBS = ["points", "ages", "limits", "sample", "areas", "places"]
SEED = 20261130
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "RAYON")
}
COLUMNS = ["method", "lines", "processor s", "wall s", "error", "quadrat nearer", "inside", "width",
           "note"]


def main():
    options = arguments()
    if options.worker:
        return work(*options.worker, options.repeats)
    results = {}
    print(heading(), flush=True)
    for name in options.only or JOBS:
        job = importlib.import_module(name)
        results[name] = beside([row(name, method, options) for method in job.METHODS])
        print(f"\n{markdown(job, results[name])}", flush=True)
    if options.output:
        write(options.output, results)
    return 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, help="a table to write: .md or .csv")
    parser.add_argument("--repeats", type=int, default=20, help="data sets of each job (20)")
    parser.add_argument("--limit", type=int, default=900, help="seconds for a method and job (900)")
    parser.add_argument("--only", nargs="+", choices=JOBS, help="some of the jobs")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def row(name, method, options):
    """What is told of a method: a value for each of COLUMNS."""
    package, function = importlib.import_module(name).METHODS[method]
    told = dict.fromkeys(COLUMNS, "") | {"method": method, "lines": scores.statements(function)}
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return told | {"note": f"{package} is not installed"}
    command = [sys.executable, "-W", "ignore", __file__, "--worker", name, method,
               "--repeats", str(options.repeats)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=options.limit,
                             env=os.environ | ONE_THREAD)
    except subprocess.TimeoutExpired:
        return told | {"note": f"not done after {options.limit} s"}
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        return told | {"note": f"failed: {last[:150]}"}
    return told | summary(json.loads(run.stdout.splitlines()[-1]))


def summary(repeats):
    """Medians of seconds and means of the rest, of the repeats that did not fail."""
    done = [one for one in repeats if "failed" not in one]
    told = {"errors": [one.get("error") for one in repeats]}
    if done:
        for own in ("processor s", "wall s"):
            told[own] = float(np.median([one[own] for one in done]))
        told["error"] = float(np.mean([one["error"] for one in done]))
        inside = [one["inside"] for one in done if one["inside"] is not None]
        told["inside"] = float(np.mean(inside)) if inside else "none"
        told["width"] = float(np.mean([one["width"] for one in done])) if inside else "none"
    failed = [one["failed"] for one in repeats if "failed" in one]
    if failed:
        told["note"] = f"failed {len(failed)} of {len(repeats)} times: {failed[0][:150]}"
    return told


def beside(rows):
    """The same rows, with how often the first has the smaller error on the same data."""
    own = rows[0].get("errors", [])
    for one in rows[1:]:
        pairs = [(a, b) for a, b in zip(own, one.get("errors", [])) if None not in (a, b)]
        if pairs:
            one["quadrat nearer"] = f"{sum(a < b for a, b in pairs)} of {len(pairs)}"
    return rows


def work(name, method, count):
    """In a process of its own: all data sets by one method; the last line printed is the result."""
    job = importlib.import_module(name)
    function = job.METHODS[method][1]
    # A first call, which does not count, imports what the method needs.
    data, _ = job.draw(np.random.default_rng([SEED, JOBS.index(name), count]))
    try:
        function(**data)
    except Exception:
        pass
    print(f"\n{json.dumps([once(job, name, function, repeat) for repeat in range(count)])}")
    return 0


def once(job, name, function, repeat):
    data, truth = job.draw(np.random.default_rng([SEED, JOBS.index(name), repeat]))
    processor, wall = time.process_time(), time.perf_counter()
    try:
        told = function(**data)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    seconds = {"processor s": time.process_time() - processor,
               "wall s": time.perf_counter() - wall}
    return seconds | score(job, told, truth)


def score(job, told, truth):
    """The error of what was told, and the share of truths inside, if it has intervals."""
    told, lower, upper = told if isinstance(told, tuple) else (told, None, None)
    told = np.asarray(told, dtype=float)
    if told.shape != truth.shape or not np.all(np.isfinite(told)):
        return {"failed": "its answer has another shape, or is not finite"}
    measure = getattr(job, "measure", scores.root_mean_square)
    factor = job.scale(truth) if hasattr(job, "scale") else 1.0
    found = {"error": factor * measure(told, truth), "inside": None, "width": None}
    if lower is not None:
        at = job.looked_at(truth) if hasattr(job, "looked_at") else np.full(truth.shape, True)
        inside, width = scores.held(np.asarray(lower)[at], np.asarray(upper)[at], truth[at])
        found |= {"inside": inside, "width": factor * width}
    return found


# --- tables ---------------------------------------------------------------------------------------


def heading():
    packages = dict.fromkeys(
        ["quadrat", "numpy", *(package for name in JOBS
                               for package, _ in importlib.import_module(name).METHODS.values())])
    return (f"Python {platform.python_version()}, one thread; "
            + ", ".join(f"{package} {version(package)}" for package in packages))


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def shown(value):
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def markdown(job, rows):
    lines = [f"**{job.TITLE}**", "", f"Error: {job.ERROR}.", "",
             f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    lines += [f"| {' | '.join(shown(one[own]) for own in COLUMNS)} |" for one in rows]
    return "\n".join(lines)


def write(path, results):
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["job", *COLUMNS])
            for name, rows in results.items():
                table.writerows([name, *(one[own] for own in COLUMNS)] for one in rows)
        return
    tables = [markdown(importlib.import_module(name), rows) for name, rows in results.items()]
    path.write_text("\n\n".join([heading(), *tables]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
