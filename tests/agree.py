#!/usr/bin/env python3
"""Runs the same studies with two programs and compares every number that comes out.

For changes that must not move a number: every example, and every study of the pages in docs.

usage: agree.py BEFORE AFTER [--within RELATIVE] [--except KEY]... [NAME ...]

BEFORE and AFTER are programs; NAME is part of the name of an example or a page (all, if none is given).
Numbers agree that differ by at most RELATIVE (1e-8, if not given) of the larger of the two, or of the
largest number in their column. A text, a row, a column or a file that only one of them has is a
difference too. Prints the worst difference of each study and the times of both; ends with 1 where some
number does not agree. KEY of fit.json is not compared: one that AFTER has gained.
"""

import csv
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import check as pages  # noqa: E402

# Of one run, not of its answers.
IGNORED = {"run", "seconds", "quadrat", "iterations", "evaluations"}


def number(cell):
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def distance(a, b, scale):
    """How far two cells are apart, relative to their scale; infinite where they are not alike."""
    x, y = number(a), number(b)
    if x is None or y is None:
        return 0.0 if a == b else math.inf
    if x == y or (math.isnan(x) and math.isnan(y)):
        return 0.0
    if not (math.isfinite(x) and math.isfinite(y)):
        return math.inf
    return abs(x - y) / max(abs(x), abs(y), scale)


def tables(a, b):
    """The worst distance of two tables, and where."""
    worst, where = 0.0, ""
    rows = []
    for path in (a, b):
        with open(path, encoding="utf-8", newline="") as file:
            rows.append(list(csv.reader(file)))
    if [len(row) for row in rows[0]] != [len(row) for row in rows[1]]:
        return math.inf, "the rows are not the same"
    columns = range(len(rows[0][0]) if rows[0] else 0)
    finite = lambda cell: math.isfinite(number(cell) or 0.0)
    scales = [
        max((abs(number(row[c]) or 0.0) for row in rows[0][1:] if finite(row[c])), default=0.0)
        for c in columns
    ]
    for line, (one, other) in enumerate(zip(*rows), 1):
        for c in columns:
            apart = distance(one[c], other[c], scales[c])
            if apart > worst:
                worst, where = apart, f"line {line}, `{rows[0][0][c]}`: {one[c]} and {other[c]}"
    return worst, where


def values(a, b, where=""):
    """The same of two JSON values."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = sorted((a.keys() | b.keys()) - IGNORED)
        pairs = [(values(a.get(key), b.get(key), f"{where}.{key}")) for key in keys]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [values(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b))]
    else:
        return distance(a, b, 0.0), f"{where}: {a} and {b}"
    return max(pairs, default=(0.0, ""), key=lambda pair: pair[0])


def folders(a, b):
    """The worst distance of the results in two folders, and where."""
    names = [{path.name for path in f.iterdir() if path.suffix in (".csv", ".json")} for f in (a, b)]
    if names[0] != names[1]:
        return math.inf, f"only one has {', '.join(sorted(names[0] ^ names[1]))}"
    worst, where = 0.0, ""
    for name in sorted(names[0]):
        if name.endswith(".csv"):
            apart, at = tables(a / name, b / name)
        else:
            apart, at = values(*(json.loads((f / name).read_text("utf-8")) for f in (a, b)))
        if apart > worst:
            worst, where = apart, f"{name}, {at}"
    return worst, where


class Both:
    """Two programs, and what was seen of them."""

    def __init__(self, before, after, within):
        self.programs = [str(pathlib.Path(program).resolve()) for program in (before, after)]
        self.within, self.failed, self.done = within, 0, 0
        self.seconds = [0.0, 0.0]

    def compare(self, name, folder, arguments):
        """Runs `quadrat run STUDY -o OUT ..` with both; what the second printed."""
        at = arguments.index("-o") + 1
        outs = [folder / f"{arguments[at]}-of-the-first", folder / arguments[at]]
        printed, took = "", []
        for program, out in zip(self.programs, outs):
            own = [*arguments[:at], str(out), *arguments[at + 1 :]]
            begin = time.perf_counter()
            done = subprocess.run([program, *own], cwd=folder, capture_output=True, text=True, check=False)
            took.append(time.perf_counter() - begin)
            printed = done.stdout + done.stderr
            if done.returncode:
                raise pages.Wrong(f"{program} ended with {done.returncode}: {done.stderr}")
        worst, where = folders(*outs)
        shutil.rmtree(outs[0])
        self.done += 1
        self.seconds = [a + b for a, b in zip(self.seconds, took)]
        is_same = worst <= self.within
        self.failed += not is_same
        says = "" if is_same else f"  {where}"
        print(f"{worst:8.1e}  {took[0]:6.2f} s {took[1]:6.2f} s  {name}{says}", flush=True)
        return printed

    def example(self, study):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(study.parent, folder, dirs_exist_ok=True)
            self.compare(study.parent.name, pathlib.Path(folder), ["run", "study.toml", "-o", "out"])

    def page(self, page):
        def run(program, folder, arguments):
            if arguments[0] == "run" and "-o" in arguments:
                return self.compare(f"{page.name}: {arguments[1]}", folder, arguments)
            done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
            return done.stdout + done.stderr

        pages.run = run
        _, wrong = pages.check(self.programs[1], page)
        if wrong:
            raise pages.Wrong(wrong)


def main():
    arguments, within = sys.argv[1:], 1e-8
    if "--within" in arguments:
        at = arguments.index("--within")
        within = float(arguments[at + 1])
        del arguments[at : at + 2]
    while "--except" in arguments:
        at = arguments.index("--except")
        IGNORED.add(arguments[at + 1])
        del arguments[at : at + 2]
    if len(arguments) < 2:
        sys.exit(__doc__)
    both = Both(*arguments[:2], within)
    wanted = lambda name: not arguments[2:] or any(part in name for part in arguments[2:])
    studies = [s for s in sorted(ROOT.glob("examples/*/study.toml")) if wanted(s.parent.name)]
    texts = sorted([*ROOT.glob("docs/jobs/*.md"), *ROOT.glob("docs/keys/*.md")])
    jobs = [(both.example, study) for study in studies]
    jobs += [(both.page, page) for page in texts if wanted(page.name)]
    for work, what in jobs:
        try:
            work(what)
        except pages.Wrong as wrong:
            both.failed += 1
            print(f"   wrong  {what}: {wrong}", flush=True)
    before, after = both.seconds
    print(f"{both.done} studies, {both.failed} with differences; {before:.1f} s and {after:.1f} s")
    sys.exit(1 if both.failed or not both.done else 0)


if __name__ == "__main__":
    main()
