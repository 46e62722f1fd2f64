"""The program, as the package installs it."""

import pathlib
import subprocess
import sys

import pytest

from conftest import table

INSTALLED = pathlib.Path(sys.executable).with_name("quadrat")
WAYS = [[sys.executable, "-m", "quadrat"], [INSTALLED]]


def ran_as(way, *args):
    return subprocess.run([*way, *args], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("way", WAYS, ids=["module", "script"])
def test_a_study_gives_the_files_of_the_program(way, examples, ran, tmp_path):
    if not pathlib.Path(way[0]).exists():
        pytest.skip("the package is not installed beside this interpreter")
    study = examples / "ages" / "study.toml"
    done = ran_as(way, "run", study, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    want = ran("ages")
    # The last line of the output is there: nothing waits to be written.
    assert done.stdout.rstrip().endswith("report.html in a browser")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        path.name for path in want.iterdir()
    }
    for path in want.glob("*.csv"):
        got, expected = table(tmp_path / "out" / path.name), table(path)
        assert list(got) == list(expected)
        for name, values in expected.items():
            assert got[name] == pytest.approx(values, rel=1e-12)


def test_exit_statuses_are_those_of_the_program(program, tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("[latent]\nkernel = 'sq(x)'\n")
    for args, status in [(["--version"], 0), (["run"], 2), (["run", bad, "-o", tmp_path / "o"], 1)]:
        done = ran_as(WAYS[0], *args)
        want = ran_as([program], *args)
        assert (done.returncode, want.returncode) == (status, status)
        assert (done.stdout, done.stderr) == (want.stdout, want.stderr)
