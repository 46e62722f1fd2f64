"""The notebooks of `docs/notebooks` are well-formed, and do what they say from any folder."""

import ast
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

FOLDER = ROOT / "docs" / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


def cells(text):
    """Kind and lines of every cell of a script in jupytext's percent format."""
    first, *rest = re.split(r"^# %%(.*)\n", text, flags=re.MULTILINE)
    assert first == "", "a notebook begins with a cell"
    return [(kind.strip(), own.rstrip().splitlines()) for kind, own in zip(rest[::2], rest[1::2])]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_cells(name):
    found = cells((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    kind, lines = found[0]
    assert kind == "[markdown]" and lines[0].startswith("# # ")
    for kind, lines in found:
        assert kind in ("", "[markdown]") and lines
        if kind:
            assert all(line == "#" or line.startswith("# ") for line in lines)
        else:
            ast.parse("\n".join(lines))
    kind, lines = found[-1]
    assert not kind and any(line.startswith("assert ") for line in lines)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """No windows, and a cache of fonts for all."""
    cache = str(tmp_path_factory.mktemp("matplotlib"))
    env = {**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": cache}
    subprocess.run([sys.executable, "-c", "import matplotlib.pyplot"], env=env, check=True,
                   capture_output=True)
    return env


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_from_any_folder(name, quiet, tmp_path):
    told = subprocess.run([sys.executable, FOLDER / f"{name}.py"], cwd=tmp_path, env=quiet,
                          capture_output=True, text=True, timeout=120, check=False)
    # Warnings that the text does not speak of are not wanted either.
    assert told.returncode == 0 and told.stderr == "", told.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_list_has_every_notebook():
    listed = re.findall(r"^- \[`(\w+)\.py`\]", (FOLDER / "README.md").read_text("utf-8"),
                        flags=re.MULTILINE)
    assert sorted(listed) == NAMES and len(NAMES) == 6
