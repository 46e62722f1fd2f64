#!/usr/bin/env python3
"""Compares what the examples predict with the truths beside them: the numbers that the READMEs give.

usage: score.py FOLDER [EXAMPLE ..]      (FOLDER has the results of check.py, or of `quadrat run` by the example's name)

For every "coverage" in an `expected.json`: how many true values lie inside their intervals, the root mean square error of
the mean, the mean width of the intervals, and the correlation of means and truths. Where it names "beside", the same
error and correlation of a simpler method: a column of the truth; or the `value` of the rows of a table whose bands
from..to hold the place, shared out evenly; or that of features of a GeoJSON file, shared out by area among the features of
`parts`, whose properties `group` name them.
"""

import json
import math
import pathlib
import sys

from check import place, select, table


def correlation(a, b):
    """Of two lists; none where one is constant."""
    centred = [[x - sum(v) / len(v) for x in v] for v in (a, b)]
    products = [sum(x * y for x, y in zip(u, v)) for u, v in ((centred[0], centred[1]), (centred[0], centred[0]), (centred[1], centred[1]))]
    return products[0] / math.sqrt(products[1] * products[2]) if min(products[1:]) > 0 else math.nan


def error(a, b):
    """Root mean square of the differences."""
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b)) / len(a))


def evenly(study, truths, beside):
    """What a simpler method says of every truth."""
    if isinstance(beside, str):
        return [float(truth[beside]) for truth in truths]
    if "parts" in beside:
        return by_area(study, truths, beside)
    bands = table(study / beside["file"])
    ends = [(float(b[beside["from"]]), float(b[beside["to"]]), float(b[beside["value"]])) for b in bands]
    return [next(y / (to - a) for a, to, y in ends if a <= place(truth, beside["at"]) < to) for truth in truths]


def area(feature):
    """In square degrees at the equator: cylindrical projection that keeps areas, edges straight there."""
    shape = feature["geometry"]
    parts = [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]
    total = 0.0
    for polygon in parts:
        for hole, ring in enumerate(polygon):
            flat = [(lon, math.degrees(math.sin(math.radians(lat)))) for lon, lat, *_ in ring]
            size = abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(flat, flat[1:]))) / 2
            total += -size if hole else size
    return total


def by_area(study, truths, beside):
    """Totals of groups, shared out by area among their parts."""
    features = [json.loads((study / beside[name]).read_text(encoding="utf-8"))["features"] for name in ("file", "parts")]
    group, key = beside["group"], beside["key"]
    totals = {str(f["properties"][group]): float(f["properties"][beside["value"]]) for f in features[0]}
    areas = {str(f["properties"][key]): (str(f["properties"][group]), area(f)) for f in features[1]}
    whole = {g: sum(a for other, a in areas.values() if other == g) for g in totals}
    own = [areas[truth[key]] for truth in truths]
    return [totals[g] * a / whole[g] for g, a in own]


def score(study, out):
    """Lines about one example."""
    expected = json.loads((study / "expected.json").read_text(encoding="utf-8"))
    for want in expected.get("coverage", []):
        truths, rows = table(study / want["truth"]), table(out / f"{want['of']}.csv")
        found = [select(rows, {column: truth[name] for name, column in want["on"].items()})[0] for truth in truths]
        true = [float(truth[want["value"]]) for truth in truths]
        ends = [(float(row["lower"]), float(row["upper"])) for row in found]
        mean = [float(row["mean"]) for row in found]
        inside = sum(a <= t <= b for t, (a, b) in zip(true, ends))
        width = sum(b - a for a, b in ends) / len(ends)
        yield (
            f"{study.name}, {want['of']}: {inside} of {len(true)} inside, root mean square error {error(mean, true):.6g}, "
            f"mean width {width:.6g}, correlation {correlation(mean, true):.3f}"
        )
        if "beside" in want:
            simple = evenly(study, truths, want["beside"])
            yield f"{study.name}, shared out evenly: root mean square error {error(simple, true):.6g}, correlation {correlation(simple, true):.3f}"


def main():
    folder = pathlib.Path(sys.argv[1])
    studies = sorted(path.parent for path in pathlib.Path(__file__).resolve().parent.glob("*/study.toml"))
    names = sys.argv[2:] or [study.name for study in studies if (folder / study.name).is_dir()]
    for study in studies:
        if study.name in names:
            for line in score(study, folder / study.name):
                print(line)


if __name__ == "__main__":
    main()
