"""The program to compare with, and the examples."""

import csv
import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program():
    """The path of the program `quadrat`, which `QUADRAT_PROGRAM` gives."""
    path = os.environ.get("QUADRAT_PROGRAM")
    if path is None:
        pytest.fail("set QUADRAT_PROGRAM to the program `quadrat` to compare with")
    return os.path.abspath(path)


@pytest.fixture(scope="session")
def examples():
    return ROOT / "examples"


@pytest.fixture(scope="session")
def ran(program, examples, tmp_path_factory):
    """Runs an example by the program, once: the folder of its results."""
    done = {}

    def one(name):
        if name not in done:
            out = tmp_path_factory.mktemp(name)
            study = examples / name / "study.toml"
            subprocess.run([program, "run", study, "-o", out, "--quiet"], check=True)
            done[name] = out
        return done[name]

    return one


def table(path):
    """A CSV file as columns: arrays of numbers where all cells are, else lists of texts."""
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    columns = {}
    for name, cells in zip(header, zip(*rows)):
        try:
            columns[name] = np.array([float(cell) for cell in cells])
        except ValueError:
            columns[name] = list(cells)
    return columns


def same(got, expected, tolerance=1e-12):
    """Columns of numbers agree to a share of their size; the same code has computed them."""
    for name, want in expected.items():
        have = got[name]
        if isinstance(want, list):
            assert list(have) == want, name
        else:
            # Names made of digits are texts to Python, and numbers to who reads a table.
            have = np.asarray(have, dtype=float)
            scale = np.max(np.abs(want))
            np.testing.assert_allclose(have, want, rtol=tolerance, atol=tolerance * scale,
                                       err_msg=name)
