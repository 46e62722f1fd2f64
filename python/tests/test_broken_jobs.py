"""The program's lists of what `ungroup`, `density`, `reconcile` and presets refuse, read from its
tests: studies are refused in its words, and functions by the names of their arguments.

What `score` and `noise` refuse has no counterpart here: they are commands alone.
"""

import csv
import io
import json
import re

import numpy as np
import pytest

import quadrat as qd
from test_broken import constant, literal, source
from test_broken_lists import folder, refused, text

assert folder  # A fixture.


def table_of(file, name, variable="", **known):
    """A list that is written out: a constant, or the cases of a test of that name."""
    body = source(file)
    if name.isupper():
        found = constant(body, name)
    else:
        body = body[body.index(f"fn {name}("):]
        found = re.search(rf"(?:{variable}(?:: \[.*?; \d+\])? = |for \([^()]*\) in )"
                          r"(\[\n.*?\n    \])(?:;| \{)", body, re.DOTALL).group(1)
    for name, value in known.items():
        found = re.sub(rf"(?<=[ (\[]){name}(?=[,)\]])", lambda _: json.dumps(value), found)
    return literal(found)


def flags(given):
    """Flags of the program and their values; `True` of those that have none."""
    found = {}
    for at, word in enumerate(given):
        if word.startswith("-") and not re.match(r"-[\d.i]", word):
            after = given[at + 1] if at + 1 < len(given) else "--"
            alone = after.startswith("-") and not re.match(r"-[\d.i]", after)
            found.setdefault(word.lstrip("-"), []).append(True if alone else after)
    return found


def keys(words):
    """What the program says of flags, as it says it of keys."""
    named = [re.sub(r"--([a-z]+)", r"\1", word).strip() for word in words]
    return ["two numbers at least" if word == "two at least" else word for word in named]


def rows_of(told):
    """The columns of a table, or `None` where it is none."""
    rows = list(csv.reader(io.StringIO(told)))
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return None
    return {name: [number(cell) for cell in column]
            for name, *column in zip(*rows)}


def number(cell):
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell


BANDS = [case for case in table_of("ungroup_refused", "BROKEN")
         # What would replace a file: results of a study are returned.
         if "-o" not in case[1]]


@pytest.mark.parametrize("case", BANDS, ids=range(len(BANDS)))
def test_bands_of_studies_are_refused_as_by_the_program(case, folder):
    told, given, words = case
    study = '[ungroup]\nfile = "t.csv"\nlower = "from"\nupper = "to"\ncount = "people"\n'
    for name, (value,) in flags(given).items():
        said = {"edges": f"[{value}]", "by": f'"{value}"', "tail": f'"{value}"', "log": "true"}
        study += f"{name} = {said.get(name, value)}\n"
    refused(study, {"t.csv": told}, keys(words), folder)


BANDS_OF = "lower upper count exposure along by first last tail step edges log"
# What is about a column: an open band asks for a tail, or for an end.
ABOUT = {"from": {"lower", "first"}, "to": {"upper", "tail", "last"}, "people": {"count"}}


def named(message, arguments):
    """The arguments that a message begins with, as messages do: `lower, upper: `, `count is
    missing`, `the step is 0; `."""
    name, value = f"(?:{'|'.join(arguments.split())})", r"(?:-?(?:\d\S*|inf)|NaN|nan)"
    found = re.match(
        rf"({name}(?:, {name})*): "
        rf"|({name})(?: of {name})? (?:is missing\b|must be |is {value}(?: in row \d+)?; )"
        rf"|the ({name}) (?:of row \d+ \(counted from 0\) )?is {value}; ", message)
    told = [own for own in found.groups() if own] if found else []
    return told[0].split(", ") if told else []


def column_at(told, words):
    """The column of a table where the program says that it is broken, if it says."""
    place = re.search(r"t\.csv:(\d+):(\d+)", " ".join(words))
    if place is None:
        return None
    line, at = map(int, place.groups())
    lines = told.splitlines()
    return lines[0].split(",")[lines[line - 1][:at - 1].count(",")]


def test_names_of_arguments_in_passing_are_no_names():
    for told, arguments in {
        "lower, upper: the bands overlap": ["lower", "upper"],
        "tail: the last band is open above 80, and nothing says how it falls off": ["tail"],
        "the step is 0; it must be above zero": ["step"],
        "the count of row 1 (counted from 0) is -1; counts are finite": ["count"],
        "count is missing in 1 row, first in row 1": ["count"],
        "first is -1 in row 0; it must be left out": ["first"],
        "lower must be numbers, not str": ["lower"],
        "step is 0; it must be above zero": ["step"],
    }.items():
        assert named(told, BANDS_OF) == arguments, told
        # What is left where the name is lost.
        lost = re.sub("|".join(arguments), "it", told, count=len(arguments))
        for other in (lost, told.partition(": ")[2], f"`t`: {told}", f"a {told}"):
            assert not named(other, BANDS_OF), other
    for told in ["the last band is open above 80: count it by itself", "step by step is too slow",
                 "the first of the bands is open", "the last is open; say where it ends, at last",
                 "count by count: too slow", "by itself it is open: give a tail", "upper bands are",
                 "there is no upper: give one", "lower, higher: the bands overlap",
                 "leave `log` out, or the row", "counts: all are zero", "the tail: it is open"]:
        assert not named(told, BANDS_OF), told


def test_columns_are_found_where_the_program_points():
    table = "from,to,people\n0,10,5\n10,20,x\n"
    assert column_at(table, ["not a number", "t.csv:3:7"]) == "people"
    assert column_at(table, ["t.csv:2:1"]) == "from" and column_at(table, ["t.csv:2:3"]) == "to"
    assert column_at(table, ["t.csv:3"]) is None


ARRAYS = [case for case in BANDS if rows_of(case[0]) is not None]


@pytest.mark.parametrize("case", ARRAYS, ids=range(len(ARRAYS)))
def test_bands_in_arrays_are_refused_by_the_name_of_the_argument(case):
    told, given, words = case
    asked = {name: value for name, (value,) in flags(given).items()}
    for name, value in asked.items():
        if name == "edges":
            asked[name] = [float(edge) for edge in value.split(",")]
        elif name not in ("by", "log", "tail"):
            asked[name] = float(value)
    with pytest.raises(qd.DataError) as caught:
        qd.ungroup(rows_of(told), lower="from", upper="to", count="people", **asked)
    message = str(caught.value)
    found, column = named(message, BANDS_OF), column_at(told, words)
    # Arrays of texts are refused before what the program says of them.
    is_any = column not in ABOUT or "must be numbers" in message
    assert found and (is_any or ABOUT[column] & {*found}), message


RATES = table_of("ungroup", "rates_that_cannot_be_are_refused")
EXPOSED = {**ABOUT, "deaths": {"count"}, "people": {"exposure"}}


@pytest.mark.parametrize("case", RATES, ids=range(len(RATES)))
def test_events_are_refused_as_by_the_program(case, folder):
    old, new, *words = case
    told = text("ungroup", "DEATHS").replace(old, new, 1)
    study = ('[ungroup]\nfile = "t.csv"\nlower = "from"\nupper = "to"\ncount = "deaths"\n'
             'exposure = "people"\n')
    refused(study, {"t.csv": told}, words, folder)
    with pytest.raises(qd.DataError) as caught:
        qd.ungroup(rows_of(told), lower="from", upper="to", count="deaths", exposure="people")
    found = named(str(caught.value), BANDS_OF)
    assert EXPOSED[column_at(told, words)] & {*found}, caught.value


PLACED = table_of("ungroup_study", "what_is_missing_is_placed_at_its_key")


@pytest.mark.parametrize("case", PLACED, ids=range(len(PLACED)))
def test_studies_of_bands_are_refused_at_the_key(case, folder):
    old, new, *words = case
    study = text("ungroup_study", "STUDY").replace(old, new)
    refused(study, {"t.csv": text("ungroup_study", "BANDS")}, words, folder)


def logistic(share):
    return np.log(share / (1 - share))


def widening():
    """The table of the program's tests of densities."""
    at = np.arange(90)
    x, share = at / 10, (at * 37 % 90 + 0.5) / 90
    y = 20 + x + (1 + 0.2 * x) * logistic(share)
    who = np.where(at % 3 == 0, "left", "right")
    return {"x": x, "y": y, "who": who, "n": 1.0 + at % 2}


def written_out(columns):
    rows = zip(*(np.asarray(own).tolist() for own in columns.values()))
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


DENSITIES = table_of("density_study", "refusals_stand_in_the_study")


@pytest.mark.parametrize("case", DENSITIES, ids=range(len(DENSITIES)))
def test_studies_of_densities_are_refused_as_by_the_program(case, folder):
    said, words = case
    refused(f"[density]\n{said}\n", {"t.csv": written_out(widening())}, words, folder)


def asked_of(given, cells="cells"):
    """Arguments of what the flags of `quadrat density` ask, beside the columns."""
    asked = {}
    for name, values in given.items():
        if name in ("bounds", "range"):
            ends = [tuple(map(float, one.split(","))) for one in values]
            asked[name] = ends[0] if len(ends) == 1 else ends
        elif name == "grid":
            sizes = [int(one) for one in values[0].split(",")]
            asked[cells] = sizes[0] if len(sizes) == 1 else sizes
        elif name in ("weights", "log"):
            asked[name] = values[0]
    return asked


NAMES = "x y given lower upper count weights bounds cells range draws log"
LINES = [
    *table_of("density", "what_cannot_be_a_density_is_refused_where_it_stands",
              same="x,y\n4,1\n4,2\n4,3\n"),
    *table_of("density", "columns_without_a_density_are_told_in_words"),
]
# Columns that the program looks for itself, and tables that it would write.
LINES = [case for case in LINES if case[1] and "-o" not in case[1]]


@pytest.mark.parametrize("case", LINES, ids=range(len(LINES)))
def test_values_without_a_density_are_refused(case):
    told, given, words = case
    given, data = flags(given), rows_of(told)
    asked = {**asked_of(given), "data": data}
    with pytest.raises(qd.DataError) as caught:
        if "interval" in given:
            lower, upper = given["interval"][0].split(",")
            qd.Density.from_intervals(lower, upper, **asked)
        elif "bins" in given:
            qd.Density.from_bins(*given["bins"][0].split(","), None, **asked)
        else:
            qd.Density(given["column"][0], **asked)
    assert named(str(caught.value), NAMES), caught.value


def pairs():
    """Two columns that hang together, as the program's tests have them."""
    at = np.arange(150)
    p, q = (at + 0.5) / 150, (at * 67 % 150 + 0.5) / 150
    return {"speed": 50 + 4 * logistic(p), "time": 10 - 0.8 * logistic(p) + 0.6 * logistic(q)}


def wave():
    """A wave that widens, and two columns that say nothing."""
    at = np.arange(200)
    x, share = at % 25 / 4, (at * 67 % 200 + 0.5) / 200
    value = 10 + 3 * np.sin(x) + (0.2 + 0.05 * x) * logistic(share)
    return {"place": x, "value": value, "same": np.full(200, 7.0)}


def with_counterpart(cases, *commands):
    """Cases but for those of what commands alone have, which write tables and pick columns."""
    return [(flags(given), words) for given, words in cases
            if not {*commands, "-o", "--group"} & set(given)]


PLANES = with_counterpart(table_of("density_plane", "what_two_columns_cannot_be_is_refused"),
                          "--column")


@pytest.mark.parametrize("case", PLANES, ids=range(len(PLANES)))
def test_two_columns_without_a_density_are_refused(case):
    given, _ = case
    with pytest.raises(qd.DataError) as caught:
        qd.Density2d("speed", "time", data=pairs(), **asked_of(given))
    assert named(str(caught.value), NAMES), caught.value


GIVEN = [(given.get("column", ["value"]), given.get("given", ["place"]), given) for given, _ in
         with_counterpart(table_of("density_given", "what_cannot_be_given_is_refused"))]
# A function has an argument for each column, which may be the same.
GIVEN = [case for case in GIVEN if "given" not in case[2] or
         len(case[2].get("column", ())) == 1 and case[0] != case[1]]


@pytest.mark.parametrize("case", GIVEN, ids=range(len(GIVEN)))
def test_what_cannot_be_given_is_refused(case):
    (y,), (place,), given = case
    with pytest.raises(qd.DataError) as caught:
        qd.ConditionalDensity(y, given=place, data=wave(), **asked_of(given))
    assert named(str(caught.value), NAMES), caught.value


ASKED = table_of("density_saved", "what_makes_no_sense_is_refused", "asked")


@pytest.mark.parametrize("case", ASKED, ids=range(len(ASKED)))
def test_what_densities_are_not_asked_in_studies(case, folder):
    key, part = case
    study = ('[density]\nfile = "t.csv"\ncolumn = "y"\ngiven = "x"\ngrid = [9, 30]\n[[predict]]\n'
             f'name = "a"\n{key}\nsupport = {{ file = "p.csv", point = ["x", "y"] }}\n')
    files = {"t.csv": written_out(widening()), "p.csv": "x,y,a,b\n4,24,1,2\n1,21,1,2\n99,3,1,2\n"}
    refused(study, files, [part, "s.toml:"], folder)


TREES = [case for case in table_of("reconcile", "REFUSED") if "-o" not in case[2]]
PARTS, COLUMN = {"people": "value"}, re.compile(r"column `(\w+)`")


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
@pytest.mark.parametrize("case", TREES, ids=[case[0] for case in TREES])
def test_areas_that_cannot_add_up_are_refused(case):
    _, told, given, words = case
    given, rows = flags(given), rows_of(told)
    area = given.get("area", ["area"])[0]
    with pytest.raises(qd.DataError) as caught:
        found = qd.reconcile(rows, area=area, within="within", value="people", variance="variance")
        found.draws(int(given["draws"][0]))
    message = str(caught.value)
    if area == "mean":
        # What a table of answers would have twice is a name of the user's.
        assert message.startswith('the table of answers would have two columns named "mean"')
        return
    found, column = named(message, "area within value variance"), COLUMN.search(" ".join(words))
    assert found and (column is None or PARTS.get(column[1], column[1]) in found), message


CENSORED, EXACT = (text("presets", name) for name in ("CENSORED", "EXACT"))
PRESETS = table_of(
    "presets", "REFUSED", UP=['output = "up"', CENSORED], DOWN=['output = "down"', EXACT],
    ONE=["", CENSORED], POISSON=["", '{ poisson = { count = "y" } }'], EXACT=EXACT)


@pytest.mark.parametrize("case", PRESETS, ids=[case[0] for case in PRESETS])
def test_presets_that_do_not_suit_are_refused_as_by_the_program(case, folder):
    _, preset, tables, more, words = case
    study = f'title = "T"\npreset = "{preset}"\n[latent]\nkernel = "se(t)"\n'
    for file, (output, likelihood) in zip(("a.csv", "b.csv"), tables):
        study += (f'[[observe]]\nfile = "{file}"\nsupport = {{ point = ["t"] }}\n{output}\n'
                  f'likelihood = {likelihood}\n')
    study += f'[inference]\nhyperparameters = "map"\n{more}'
    files = {"a.csv": "t,y,side,n\n0,1,none,3\n1,2,right,<5\n2,1,none,7+\n",
             "b.csv": "t,y,side,n\n0,3,none,3\n1,4,none,5\n2,3,none,7\n"}
    refused(study, files, words, folder)


def test_the_lists_are_read_whole():
    lists = [BANDS, ARRAYS, RATES, PLACED, DENSITIES, LINES, PLANES, GIVEN, ASKED, TREES, PRESETS]
    assert sum(map(len, lists)) > 165, [len(one) for one in lists]
