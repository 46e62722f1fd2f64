#!/usr/bin/env python3
"""Runs every study in this folder, every density and every ungrouping, and compares what comes out with its `expected.json`.

usage: check.py PROGRAM FOLDER      (results are left in FOLDER)

In `expected.json` a number is written [value, tolerance]; every key is optional:
  "fit"      values of fit.json, nested as there
  "warnings" some words of each warning, in order; without the key there must be none
  "rows"     of a prediction: the row `at` some columns has these values
  "density"  the `table` and the `arguments` of a density, words of its `warnings`, and what its JSON `has` (items of
             lists by their numbers); the fit.json of its study must have the same; "coverage" of its predictions
  "ungroup"  the `table` and the `arguments` of `quadrat ungroup`, how many `rows` it writes, what its JSON `has`, and
             its `coverage`, as below; the study must tell the same
  "next"     what is to be measured next: the `arguments` behind the study, and what the JSON `has`
  "coverage" how many rows of a table of truths lie inside the interval of the prediction that `on` (columns of the
             truth: columns of the prediction, `lower..upper` for the middle of a cell) selects, at least and at most
"""

import csv
import json
import math
import pathlib
import subprocess
import sys


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def near(got, expected):
    value, tolerance = expected
    return abs(float(got) - value) <= tolerance


def differences(expected, got, where):
    """Every leaf of `expected` that `got` does not agree with."""
    if isinstance(got, list):
        got = {str(i): item for i, item in enumerate(got)}
    for key, want in expected.items():
        if isinstance(want, dict):
            yield from differences(want, got.get(key, {}), f"{where}.{key}")
        elif key not in got:
            yield f"{where} has no `{key}`"
        elif isinstance(want, list) and len(want) == 2:
            if not near(got[key], want):
                yield f"{where}.{key} is {got[key]}, expected {want[0]} +- {want[1]}"
        elif got[key] != want:
            yield f"{where}.{key} is {got[key]!r}, expected {want!r}"


def place(row, column):
    """A column, or the middle of the two columns of a cell, written `lower..upper`."""
    ends = [float(row[name]) for name in column.split("..")]
    return sum(ends) / len(ends)


def same(row, column, value):
    """Names compare as they are, numbers as numbers."""
    return row.get(column) == value or (is_number(value) and place(row, column) == float(value))


def is_number(value):
    try:
        float(value)
    except ValueError:
        return False
    return True


def select(rows, at):
    return [row for row in rows if all(same(row, column, value) for column, value in at.items())]


def covered(rows, truths, expected):
    """How many truths lie inside the interval."""
    inside = 0
    for truth in truths:
        row, = select(rows, {column: truth[name] for name, column in expected["on"].items()})
        inside += float(row["lower"]) <= float(truth[expected["value"]]) <= float(row["upper"])
    return inside


def numbers(rows, name):
    """A prediction whose numbers are not what every prediction must be."""
    for i, row in enumerate(rows):
        mean, sd, lower, median, upper = (float(row[c]) for c in ("mean", "sd", "lower", "median", "upper"))
        if not all(map(math.isfinite, (mean, sd, lower, median, upper))) or sd < 0 or not lower <= median <= upper:
            yield f"{name}, row {i + 1}: {row}"


def check(program, study, out):
    """Everything wrong with one example."""
    run = subprocess.run([program, "run", study / "study.toml", "-o", out], capture_output=True, text=True, check=False)
    if run.returncode:
        yield f"exit status {run.returncode}: {run.stderr}"
        return
    expected = json.loads((study / "expected.json").read_text(encoding="utf-8"))
    fit = json.loads((out / "fit.json").read_text(encoding="utf-8"))
    yield from differences({"format": 1, "converged": True, **expected.get("fit", {})}, fit, "fit.json")
    told, words = fit["warnings"], expected.get("warnings", [])
    if len(told) != len(words) or not all(part in warning for part, warning in zip(words, told)):
        yield f"the warnings are {told}, expected {words}"
    report = out / "report.html"
    if not report.is_file() or report.stat().st_size < 10_000:
        yield "no report, or an empty one"
    predictions = {path.stem: table(path) for path in out.glob("*.csv")}
    if sorted(predictions) != sorted(expected["predictions"]):
        yield f"the tables are {sorted(predictions)}, expected {sorted(expected['predictions'])}"
        return
    for name, count in expected["predictions"].items():
        if len(predictions[name]) != count:
            yield f"{name}: {len(predictions[name])} rows, expected {count}"
        yield from numbers(predictions[name], name)
    for want in expected.get("rows", []):
        for row in select(predictions[want["of"]], want["at"]) or [{}]:
            yield from differences(want["has"], row, f"{want['of']} at {want['at']}")
    for want in expected.get("coverage", []):
        truths = table(study / want["truth"])
        inside = covered(predictions[want["of"]], truths, want)
        if not want["at_least"] <= inside <= want["at_most"]:
            yield f"{want['of']}: {inside} of {len(truths)} truths inside, expected {want['at_least']} to {want['at_most']}"


def density(program, folder, expected, out):
    """Everything wrong with one density."""
    arguments = [program, "density", folder / expected["table"], "--json", *expected["arguments"]]
    run = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if run.returncode:
        yield f"exit status {run.returncode}: {run.stderr}"
        return
    studied = subprocess.run([program, "run", folder / "study.toml", "-o", out, "--quiet"], capture_output=True, text=True, check=False)
    if studied.returncode:
        yield f"the study: exit status {studied.returncode}: {studied.stderr}"
        return
    fit = json.loads((out / "fit.json").read_text(encoding="utf-8"))
    yield from differences({"format": 1, "converged": True, "kind": "density"}, fit, "fit.json")
    for where, got in (("density", json.loads(run.stdout)), ("fit.json", fit)):
        yield from differences(expected["has"], got, where)
        told, words = got["warnings"], expected.get("warnings", [])
        if len(told) != len(words) or not all(part in warning for part, warning in zip(words, told)):
            yield f"{where}: the warnings are {told}, expected {words}"
    if not table(out / "density.csv") or (out / "report.html").stat().st_size < 10_000:
        yield "no table or report, or an empty one"
    for want in expected.get("coverage", []):
        rows, truths = table(out / f"{want['of']}.csv"), table(folder / want["truth"])
        yield from numbers(rows, want["of"])
        inside = covered(rows, truths, want)
        if not want["at_least"] <= inside <= want["at_most"]:
            yield f"{want['of']}: {inside} of {len(truths)} truths inside, expected {want['at_least']} to {want['at_most']}"


def ungroup(program, folder, expected, out):
    """Everything wrong with bands that were ungrouped."""
    out.mkdir(parents=True, exist_ok=True)
    arguments = [program, "ungroup", folder / expected["table"], "--json", *expected["arguments"], "-o", out / "steps.csv"]
    run = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if run.returncode:
        yield f"exit status {run.returncode}: {run.stderr}"
        return
    got = json.loads(run.stdout)
    yield from differences(expected["has"], got, "ungroup")
    told, words = got["warnings"], expected.get("warnings", [])
    if len(told) != len(words) or not all(part in warning for part, warning in zip(words, told)):
        yield f"the warnings are {told}, expected {words}"
    # The study says the same.
    again = out / "study"
    studied = subprocess.run([program, "run", folder / "study.toml", "-o", again, "--quiet"], capture_output=True, text=True, check=False)
    if studied.returncode:
        yield f"the study: exit status {studied.returncode}: {studied.stderr}"
        return
    fit = json.loads((again / "fit.json").read_text(encoding="utf-8"))
    yield from differences({"format": 1, "converged": True, "kind": "ungroup", **expected["has"]}, fit, "fit.json")
    if (again / "steps.csv").read_bytes() != (out / "steps.csv").read_bytes():
        yield "the study tells other steps than the command"
    if (again / "report.html").stat().st_size < 10_000:
        yield "no report, or an empty one"
    rows = table(out / "steps.csv")
    if len(rows) != expected["rows"]:
        yield f"{len(rows)} rows, expected {expected['rows']}"
    yield from numbers(rows, "steps.csv")
    want = expected["coverage"]
    truths = table(folder / want["truth"])
    inside = covered(rows, truths, want)
    if not want["at_least"] <= inside <= want["at_most"]:
        yield f"{inside} of {len(truths)} truths inside, expected {want['at_least']} to {want['at_most']}"


def measured_next(program, folder, expected):
    """Everything wrong with what is to be measured next; paths among the arguments are of the folder."""
    arguments = [program, "next", "study.toml", "--json", *expected["arguments"]]
    run = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        yield f"exit status {run.returncode}: {run.stderr}"
        return
    yield from differences(expected["has"], json.loads(run.stdout), "next")


def one(program, folder, out):
    """Everything wrong with one example."""
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    if "density" in expected:
        return list(density(program, folder, expected["density"], out))
    if "ungroup" in expected:
        return list(ungroup(program, folder, expected["ungroup"], out))
    found = list(check(program, folder, out))
    if "next" in expected:
        found.extend(measured_next(program, folder, expected["next"]))
    return found


def main():
    program, folder = map(pathlib.Path, sys.argv[1:])
    studies = sorted(path.parent for path in pathlib.Path(__file__).resolve().parent.glob("*/expected.json"))
    good = 0
    for study in studies:
        found = one(program.resolve(), study, folder / study.name)
        good += not found
        print(f"{study.name}: {'as expected' if not found else 'NOT as expected'}", flush=True)
        for words in found:
            print(f"{study.name}: {words}", file=sys.stderr)
    print(f"{good} of {len(studies)} checks passed")
    return 0 if studies and good == len(studies) else 1


if __name__ == "__main__":
    sys.exit(main())
