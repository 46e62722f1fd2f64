"""Annotations are those that a careful caller's type checker can work with."""

import os
import pathlib
import subprocess
import sys

import pytest

import quadrat

pytest.importorskip("mypy")

USES = pathlib.Path(__file__).with_name("typed_uses.py")
WRONG = """
import quadrat as qd
qd.Model("se(x)").fit(seed="one")
qd.Model("se(x)").observe([1, 2])
"""


def told(*asked, cache):
    # A package that is not installed is looked for where it was imported from.
    above = pathlib.Path(quadrat.__file__).parents[1]
    found = {} if above.name == "site-packages" else {"MYPYPATH": str(above)}
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", cache,
         "--ignore-missing-imports", "--python-executable", sys.executable, *asked],
        capture_output=True, text=True, timeout=600, env={**os.environ, **found})


def test_strict_mypy_reads_uses_of_the_package_and_finds_what_is_wrong(tmp_path):
    cache = str(tmp_path / "cache")
    done = told(str(USES), cache=cache)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG, encoding="utf-8")
    lines = told(str(wrong), cache=cache).stdout
    assert 'Argument "seed" to "fit" of "Model" has incompatible type "str"' in lines
    assert 'Argument 1 to "observe" of "Model"' in lines
