"""Densities in model files: read again, by the program and from it."""

import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest

import quadrat as qd
from conftest import table

pytestmark = pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
RANDOM = np.random.default_rng(7)
ROWS = {"wait": RANDOM.gamma(2.0, size=150), "size": RANDOM.normal(size=150)}
PLACES = {"wait": [0.4, 1.3, 2.2], "size": [-0.7, 0.1, 0.9]}
SMALL = {"draws": 1000, "data": ROWS, "level": 0.9}


@pytest.fixture(scope="module")
def made():
    return {
        "line": qd.Density("wait", bounds=(0, None), cells=50, **SMALL),
        "plane": qd.Density2d("wait", "size", cells=12, log=(True, False), **SMALL),
        "given": qd.ConditionalDensity("size", given="wait", cells=(9, 30), **SMALL),
    }


@pytest.mark.parametrize("name", ["line", "plane", "given"])
def test_a_saved_density_is_the_same_to_python_and_to_the_program(made, program, tmp_path, name):
    own, path = made[name], tmp_path / "m.quadrat"
    own.save(path)
    again = qd.load(path)
    assert type(again) is type(own) and repr(again) == repr(own) and again.level == 0.9
    # Draws are made again by their seed, on the same machine.
    for column, numbers in own.to_dict().items():
        np.testing.assert_array_equal(again.to_dict()[column], numbers)
    np.testing.assert_array_equal(again.draws(3), own.draws(3))
    np.testing.assert_array_equal(again.band(simultaneous=True), own.band(simultaneous=True))
    again.save(tmp_path / "n.quadrat")
    assert (tmp_path / "n.quadrat").read_bytes() == path.read_bytes()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).density, own.density)
    dims = ["wait"] if name == "line" else ["wait", "size"]
    pd.DataFrame(PLACES)[dims].to_csv(tmp_path / "at.csv", index=False)
    subprocess.run([program, "predict", path, "--at", tmp_path / "at.csv", "--point",
                    ",".join(dims), "-o", tmp_path / "out.csv", "--quiet"], check=True)
    places = {"x": PLACES["wait"], "y": PLACES["size"]}
    got = {"line": lambda: own(places["x"]), "plane": lambda: own(**places),
           "given": lambda: own(places["y"], given=places["x"])}[name]()
    # The program writes the density of the cell with all its digits.
    np.testing.assert_allclose(table(tmp_path / "out.csv")["mean"], got, rtol=1e-12)


def test_pickles_that_name_the_modules_of_before_are_read(made):
    # Protocol 3 writes the names of modules in full.
    own = pickle.dumps(made["given"], 3)
    before = own.replace(b"cquadrat._conditional\n", b"cquadrat._plane\n")
    assert before != own
    np.testing.assert_array_equal(pickle.loads(before).density, made["given"].density)
    post = qd.Model("se(x)").observe(qd.point(x=[0.0, 1.0]), value=[0.1, 0.9], noise=0.01).fit()
    told = post.predict(qd.point(x=[0.5]))
    own = pickle.dumps(told, 3)
    before = own.replace(b"cquadrat._placed\n", b"cquadrat._supports\n")
    assert before != own
    np.testing.assert_array_equal(pickle.loads(before).mean, told.mean)


def test_densities_of_the_program_are_read_group_by_group(program, tmp_path):
    rows = pd.DataFrame({**ROWS, "town": np.where(np.arange(150) % 3, "a", "b")})
    rows.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "s.toml").write_text(
        '[density]\nfile = "t.csv"\ncolumn = "wait"\ngroup = "town"\n')
    subprocess.run([program, "fit", "s.toml", "-o", "m.quadrat", "--quiet"], check=True,
                   cwd=tmp_path)
    both = qd.load(tmp_path / "m.quadrat")
    assert set(both) == {"a", "b"} and all(isinstance(own, qd.Density) for own in both.values())
    # The median of a gamma distribution of shape 2 is 1.68; that of 50 values has an sd of 0.23.
    assert all(1 < own.quantile(0.5).value < 2.5 for own in both.values())


def test_pictures_do_without_rows(made, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot
    for name, own in made.items():
        own.save(tmp_path / name)
        ax = qd.load(tmp_path / name).plot()
        assert not [one for one in ax.lines if one.get_label() == "values"], name
        if name == "plane":
            assert ax.get_xscale() == "log" and ax.get_yscale() == "linear"
    pyplot.close("all")


def test_files_that_are_damaged_are_refused(made, tmp_path):
    path = tmp_path / "m.quadrat"
    made["line"].save(path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(qd.LoadError, match="damaged"):
        qd.load(path)
