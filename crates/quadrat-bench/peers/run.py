#!/usr/bin/env python3
"""Runs quadrat beside GPy, scikit-learn and GPyTorch on the same data files, on one thread.

Makes a throw-away virtual environment, installs the peers there, builds quadrat-bench and the
program in release, and prints a table of seconds and ratios. Only Python 3 (with venv), pip's
index and cargo are needed. See README.md.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# GPy 1.13 does not import without matplotlib, and pins numpy below 2 and scipy to 1.12 or older.
PACKAGES = {
    "scikit-learn": ["scikit-learn"],
    "GPy": ["GPy>=1.13,<1.14", "matplotlib"],
}
# Large, so only when asked for; it suits any numpy.
CHAINED = {"GPyTorch": ["gpytorch", "torch", "numpy"]}
MODULES = {"scikit-learn": "sklearn.gaussian_process", "GPy": "GPy", "GPyTorch": "gpytorch"}
ONE_THREAD = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "RAYON_NUM_THREADS",
    )
}


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        chained = options.only == "chained"
        packages = CHAINED if chained else PACKAGES
        python, missing = environment(options.environment or scratch / "environment", packages)
        bench, program = build()
        if chained:
            # Both halves, and the table, are of one program; it says when the peer is missing.
            print(heading(python, ("gpytorch", "torch", "numpy")), flush=True)
            subprocess.run([str(bench), "chained", "--peer", str(python)], check=True)
            return
        # Drawn by numpy: without any peer there are no data either, and only the startup is timed.
        data = scratch / "data"
        data.mkdir()
        if python_has(python, "numpy"):
            peer(python, "data", data)
        print(heading(python))
        for name in missing:
            print(f"could not install {name}: its comparisons are left out")
        if not (data / "grid.csv").exists():
            print("without numpy there are no data: the grid is left out")
        rows = []
        if "scikit-learn" not in missing and wanted(options, "exact"):
            rows += exact(python, bench, data, options.rounds)
        if "GPy" not in missing and wanted(options, "boxes"):
            rows += boxes(python, bench, data, options.rounds)
        if (data / "grid.csv").exists() and wanted(options, "grid"):
            rows += grid(bench, data, options.rounds)
        if wanted(options, "startup"):
            rows += startup(program)
        table(rows)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--environment",
        type=Path,
        help="keep the virtual environment here, or use the one that is there",
    )
    parser.add_argument("--rounds", type=int, default=3, help="the least of so many runs counts")
    parser.add_argument(
        "--only",
        choices=["exact", "boxes", "grid", "startup", "chained"],
        help="one comparison; `chained` is not among the others",
    )
    return parser.parse_args()


def wanted(options, subject):
    return options.only in (None, subject)


# --- what is needed -----------------------------------------------------------------------------


def environment(place, packages):
    """The interpreter of a virtual environment with the peers, and those that would not go in."""
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Together, so that pip finds versions that suit all; singly when that fails.
    everything = sum(packages.values(), [])
    if subprocess.run(pip + everything).returncode == 0:
        missing = []
    else:
        missing = [
            name for name, needs in packages.items() if subprocess.run(pip + needs).returncode != 0
        ]
    for name in packages:
        if name not in missing and not python_has(python, MODULES[name]):
            print(f"{name} was installed but does not import", file=sys.stderr)
            missing.append(name)
    return python, missing


def python_has(python, module):
    command = [str(python), "-W", "ignore", "-c", f"import {module}"]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def build():
    command = ["cargo", "build", "--release", "--quiet", "-p", "quadrat-bench", "-p", "quadrat-cli"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    return target / "quadrat-bench", target / "quadrat"


def heading(python, peers=("gpy", "scikit-learn", "numpy", "scipy")):
    lines = [f"Python {platform.python_version()}, {processor()}, one thread"]
    listed = subprocess.run(
        [str(python), "-m", "pip", "list", "--format=json", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
    )
    installed = {p["name"].lower(): p["version"] for p in json.loads(listed.stdout)}
    lines.append(", ".join(f"{p} {installed.get(p, 'absent')}" for p in peers))
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, cwd=ROOT)
    lines.append(re.sub(r" \(.*", "", rustc.stdout.strip()))
    return "\n".join(lines)


def processor():
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    name = re.search(r"model name\s*: (.*)", text)
    widest = next((w for w in ("avx512f", "avx2") if w in text), "neither AVX2 nor AVX-512")
    return f"{name.group(1) if name else platform.machine()} ({widest})"


# --- comparisons ----------------------------------------------------------------------------------


def peer(python, *command):
    """Their half: one JSON object, or nothing."""
    return json_of([str(python), "-W", "ignore", str(HERE / "peers.py"), *map(str, command)])


def ours(bench, *command):
    return json_of([str(bench), "peer", *map(str, command)])


def json_of(command):
    environment = {**os.environ, **ONE_THREAD}
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    return json.loads(run.stdout) if run.stdout.strip() else None


def least(runs, *keys):
    """The least processor time among the runs, at a path of keys."""

    def at(run):
        for key in keys:
            run = run[key]
        return run["processor"]

    return min(map(at, runs))


def exact(python, bench, data, rounds):
    path = data / "points.csv"
    theirs, own = [], []
    # In turns, so that both see the same load.
    for _ in range(rounds):
        theirs.append(peer(python, "exact", path))
        first = theirs[0]
        own.append(
            ours(bench, "exact", path, "--evaluations", first["evaluations"], "--theta", *first["theta"])
        )
    difference = abs(own[0]["log_evidence"] - theirs[0]["log_evidence"])
    count, whole = theirs[0]["evaluations"], own[0]["fit"]["evaluations"]
    reference = least(theirs, "time")
    return [
        Row("exact fit, 1000 points in 2-D", None),
        Row(f"  scikit-learn fit, {count} evaluations", reference),
        Row(f"  ours, {count} evaluations", least(own, "time"), reference, 1 / 5),
        Row(f"  ours, Model::fit, MAP, 1 start, {whole} evaluations", least(own, "fit", "time"), reference),
        Row(f"  log evidence at their optimum differs by {difference:.1e}", None),
    ]


def boxes(python, bench, data, rounds):
    rows = []
    for dims, kernel, theta in (
        (1, "Integral_Limits", (1.7, 1.3)),
        (2, "Multidimensional_Integral_Limits", (1.7, 1.3, 0.8)),
    ):
        path, out = data / "boxes.csv", data / f"matrix{dims}"
        theirs = peer(python, "boxes", path, dims, out.with_suffix(".gpy"), *theta)
        own = [
            ours(bench, "boxes", path, "--theta", *theta, "--out", out.with_suffix(".own"))
            for _ in range(rounds)
        ]
        compared = peer(python, "compare", out.with_suffix(".gpy"), out.with_suffix(".own"))
        gradients = zip(theirs["gradient"], own[0]["gradient"])
        gradient = max(abs(a - b) / abs(a) for a, b in gradients)
        agree = compared["difference"] < 1e-6 and gradient < 1e-6
        rows += [
            Row(f"{theirs['rows']} random boxes in {dims}-D", None),
            Row(f"  GPy {kernel}, Gram", theirs["matrix"]["processor"]),
            Row("  ours, Gram", least(own, "matrix"), theirs["matrix"]["processor"]),
            Row(f"  GPy {kernel}, gradient", theirs["contract"]["processor"]),
            Row("  ours, gradient", least(own, "contract"), theirs["contract"]["processor"]),
            Row(
                f"  largest relative difference: Gram {compared['difference']:.1e}, "
                f"gradient {gradient:.1e} ({'agree' if agree else 'DISAGREE'})",
                None,
            ),
        ]
    return rows


def grid(bench, data, rounds):
    runs = [ours(bench, "grid", data / "grid.csv") for _ in range(rounds)]
    first = runs[0]
    fit, single = first["fit"], first["one_start"]
    return [
        Row(f"complete grid of {first['rows']} boxes, by Kronecker, MAP", None),
        Row(
            f"  ours, {fit['starts']} starts, {fit['evaluations']} evaluations",
            least(runs, "fit", "time"),
            target_seconds=1.0,
        ),
        Row(f"  ours, 1 start, {single['evaluations']} evaluations", least(runs, "one_start", "time")),
        Row("  ours, one evaluation of evidence and gradient", least(runs, "evaluation")),
    ]


def startup(program):
    times = []
    for _ in range(20):
        start = time.perf_counter()
        subprocess.run([str(program), "--help"], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return [
        Row("startup", None),
        Row("  quadrat --help, wall clock, least of 20", min(times), target_seconds=0.020),
    ]


# --- the table ------------------------------------------------------------------------------------


class Row:
    """A line: a title when `seconds` is none; the ratio is to `reference`."""

    def __init__(self, name, seconds, reference=None, target_ratio=None, target_seconds=None):
        self.name, self.seconds, self.reference = name, seconds, reference
        self.target_ratio, self.target_seconds = target_ratio, target_seconds

    def __str__(self):
        if self.seconds is None:
            return self.name
        ratio = "" if self.reference is None else f"1/{self.reference / self.seconds:.1f}"
        verdict = ""
        if self.target_ratio is not None:
            met = self.seconds <= self.target_ratio * self.reference
            verdict = f"target 1/{1 / self.target_ratio:.0f}: {'met' if met else 'MISSED'}"
        if self.target_seconds is not None:
            met = self.seconds < self.target_seconds
            verdict = f"target < {self.target_seconds:g} s: {'met' if met else 'MISSED'}"
        return f"{self.name:<60} {self.seconds:>11.6f} {ratio:>9}  {verdict}".rstrip()


def table(rows):
    print(f"\n{'processor seconds, least of the runs':<60} {'seconds':>11} {'ratio':>9}")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
