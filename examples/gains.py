#!/usr/bin/env python3
"""What every example gains over the simplest alternatives, on rows held out: the table of the README.

usage: gains.py PROGRAM [EXAMPLE ..]

Runs `quadrat score` on the first study of each example, or on those that are named, and prints a table in Markdown: our
mean score (the log score where simple methods have one, else the CRPS), theirs, and the p-value of each difference.
Losses are shown as they are. Examples of densities have no rows to hold out. Takes some minutes.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def scores(program, study, folder):
    """By method and score: value and p-value; the reason where the study cannot be scored."""
    out = folder / "scores.csv"
    out.unlink(missing_ok=True)
    done = subprocess.run([program, "score", str(study), "-q", "-o", str(out)], capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[0]
    with out.open(newline="", encoding="utf-8") as lines:
        return {(row["method"], row["score"]): (float(row["value"]), row["p_value"]) for row in csv.DictReader(lines)}


def beside(found, method, score):
    """The score of a simple method, and the p-value of its difference from ours."""
    if (method, score) not in found:
        return "cannot do it"
    value, p = found[method, score]
    if not p:
        return f"{value:.4g}"
    return f"{value:.4g} (p {'< 0.001' if float(p) < 0.001 else f'= {float(p):.3f}'})"


def main(program, named):
    studies = [sorted(folder.glob("study.toml")) or sorted(folder.glob("*.toml")) for folder in sorted(HERE.iterdir())]
    studies = [found[0] for found in studies if found]
    print("| example | score | quadrat | `areal` | `constant` | 95 % intervals hold |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for study in studies:
            name = study.parent.name
            if (named and name not in named) or "[density]" in study.read_text(encoding="utf-8"):
                continue
            found = scores(program, study, pathlib.Path(folder))
            if isinstance(found, str):
                print(f"| {name} | {found} | | | | |", flush=True)
                continue
            held = f"{100 * found['quadrat', 'coverage_95'][0]:.0f} %"
            simple = {score for method, score in found if method != "quadrat"}
            score = next((s for s in ("nll", "crps") if s in simple), None)
            if score is None:
                print(f"| {name} | no simple method takes such rows | | | | {held} |", flush=True)
                continue
            others = " | ".join(beside(found, method, score) for method in ("areal", "constant"))
            print(f"| {name} | {score} | {found['quadrat', score][0]:.4g} | {others} | {held} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
