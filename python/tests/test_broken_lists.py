"""The program's lists of broken studies, tables, outputs, maps and bags, read from its tests: each
is an exception with the words of the program, and where. Changed bytes are read or refused."""

import json
import re

import numpy as np
import pytest

import quadrat as qd
from test_broken import constant, listed, literal, source


def text(file, name):
    """A constant text: raw over several lines, or in quotes."""
    raw = re.search(rf'const {name}: &str = r#"(.*?)"#;', source(file), re.DOTALL)
    if raw:
        return raw.group(1)
    (plain,) = re.findall(rf'const {name}: &(?:str|\[u8\]) = (b?".*?");\n', source(file))
    return literal(plain)


def changed(whole, case):
    old, new, _ = case
    assert old in whole, old
    return whole.replace(old, new, 1)


def of_studies():
    study, table = text("harness", "STUDY"), text("harness", "TABLE")
    for case in listed("CASES", "broken_studies"):
        yield changed(study, case), {"ages.csv": table}, case[-1]
    for more, parts in listed("ADDED", "broken_studies"):
        yield study + more, {"ages.csv": table}, parts
    for _, bad, parts in listed("CASES", "broken_tables"):
        yield study, {"ages.csv": bad}, parts


def of_outputs():
    (form,) = re.findall(r'format!\(\s*r#"(.*?)"#', source("broken_outputs"), re.DOTALL)
    tables = {"a.csv": text("broken_outputs", "A"), "b.csv": text("broken_outputs", "B")}
    body = source("broken_outputs").replace("MIXED,", f'"{text("broken_outputs", "MIXED")}",')
    for _, kernel, first, second, more, parts in literal(constant(body, "STUDIES")):
        said = form.format(kernel=kernel, first=first, second=second, more=more)
        yield said, tables, parts


def of_maps():
    file = "broken_regions"
    study, shapes, rows = (text(file, name) for name in ("STUDY", "MAP", "CASES"))
    whole = {"map.geojson": shapes, "cases.csv": rows}
    for case in listed("MAPS", file):
        yield study, {**whole, "map.geojson": changed(shapes, case)}, case[-1]
    for case in listed("ROWS", file):
        yield study, {**whole, "cases.csv": changed(rows, case)}, case[-1]
    for case in listed("STUDIES", file):
        yield changed(study, case), whole, case[-1]
    for case in listed("DEGREES", file):
        said = study.replace(", planar = true", "")
        yield said, {**whole, "map.geojson": changed(shapes, case)}, case[-1]


def of_bags():
    file = "broken_regions"
    study, pixels, rows = (text(file, name) for name in ("BAGS", "PIXELS", "CASES"))
    whole = {"pixels.csv": pixels, "cases.csv": rows}
    for case in listed("PIXEL_CASES", file):
        yield study, {**whole, "pixels.csv": changed(pixels, case)}, case[-1]
    for case in listed("BAG_STUDIES", file):
        yield changed(study, case), whole, case[-1]


ALL = [case for made in (of_studies, of_outputs, of_maps, of_bags) for case in made()]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    # Messages name files as they were called.
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder, study, files):
    for name, content in {"s.toml": study, **files}.items():
        content = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(content)


def refused(study, files, parts, where):
    """Runs a study that must be refused, in these words."""
    written(where, study, files)
    with pytest.raises(qd.DataError) as caught:
        qd.run("s.toml")
    missing = [part for part in parts if part not in str(caught.value)]
    assert not missing, f"{missing} in {caught.value}"
    problems = caught.value.problems
    assert problems and all(problem.file and problem.message for problem in problems)
    assert sorted(path.name for path in where.iterdir()) == sorted(["s.toml", *files])


@pytest.mark.parametrize("case", ALL, ids=range(len(ALL)))
def test_what_the_program_refuses_is_an_exception_that_says_where(case, folder):
    refused(*case, folder)


def test_the_lists_are_read_whole():
    assert len(ALL) > 210


REFUSED = (qd.DataError, qd.FitError, qd.NotConverged)


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
@pytest.mark.parametrize("seed", range(60))
def test_changed_bytes_are_read_or_refused(seed, folder):
    file, random = "broken_regions", np.random.default_rng(seed)
    study = text(file, "STUDY")
    files = {"s.toml": study, "map.geojson": text(file, "MAP"), "cases.csv": text(file, "CASES")}
    name = list(files)[seed % 3]
    content = bytearray(files.pop(name).encode())
    for share in random.random(size=random.integers(1, 4)):
        at, kind = int(share * len(content)), random.integers(3)
        if kind == 0:
            content[at] ^= 1 << random.integers(8)
        elif kind == 1:
            del content[at:at + random.integers(1, 9)]
        else:
            content[at:at] = bytes(random.integers(256, size=random.integers(1, 5)).tolist())
        content = content or bytearray(b" ")
    written(folder, study, {**files, name: bytes(content)})
    try:
        found = qd.run("s.toml")
    except REFUSED as error:
        assert str(error)
    else:
        assert all(np.all(np.isfinite(found["again"][one])) for one in ("mean", "lower", "upper"))


def test_maps_of_the_list_name_their_region_in_models():
    # The same broken geometries as arrays of features.
    file, tried = "broken_regions", 0
    for case in listed("MAPS", file):
        try:
            features = json.loads(changed(text(file, "MAP"), case))["features"]
        except (ValueError, KeyError, TypeError):
            continue
        at = [row for row, one in enumerate(features)
              if json.dumps(one) != json.dumps(json.loads(text(file, "MAP"))["features"][row])]
        geometry = [one.get("geometry") if isinstance(one, dict) else one for one in features]
        known = [one["geometry"] for one in json.loads(text(file, "MAP"))["features"]]
        if not at or geometry == known:
            continue
        try:
            qd.region(features, aggregate="sum").place().made()
        except qd.DataError as error:
            assert f"region {at[0]}" in str(error), (case, str(error))
            tried += 1
    assert tried > 8
