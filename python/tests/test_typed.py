"""Annotations are those that a careful caller's type checker can work with."""

import importlib
import importlib.util
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import quadrat
from conftest import ROOT

USES = pathlib.Path(__file__).with_name("typed_uses.py")
WRONG = """
import quadrat as qd
qd.Model("se(x)").fit(seed="one")
qd.Model("se(x)").observe([1, 2])
"""


# Modules that need what may not be installed are looked at where it is.
MODULES = ["quadrat", *(f"quadrat.{name}" for name, needed in (("dask", "distributed"),
                                                             ("sklearn", "sklearn"))
                        if importlib.util.find_spec(needed))]


def told(*asked, cache):
    pytest.importorskip("mypy")
    # A package that is not installed is looked for where it was imported from.
    above = pathlib.Path(quadrat.__file__).parents[1]
    found = {} if above.name == "site-packages" else {"MYPYPATH": str(above)}
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", cache, "--ignore-missing-imports",
         "--python-executable", sys.executable, *asked],
        capture_output=True, text=True, timeout=600, env={**os.environ, **found})


def test_mypy_finds_nothing_wrong_in_the_package(tmp_path):
    done = told("--config-file", str(ROOT / "pyproject.toml"), "--package", "quadrat",
                cache=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stdout + done.stderr
    number = int(done.stdout.split(" in ")[1].split()[0])
    names = [name for *_, names in os.walk(pathlib.Path(quadrat.__file__).parent, followlinks=True)
             for name in names if name.endswith(".py")]
    # The stub of the package stands for its module, and that of the library is one more.
    assert number == len(names) + 1


def public():
    """Names of public functions, methods and properties, with what is called."""
    for place in MODULES:
        module = importlib.import_module(place)
        for name in module.__all__:
            own = getattr(module, name)
            if inspect.isfunction(own):
                yield f"{place}.{name}", own
            elif inspect.isclass(own):
                for member in dir(own):
                    found = inspect.getattr_static(own, member)
                    found = getattr(found, "fget", getattr(found, "__func__", found))
                    is_ours = getattr(found, "__module__", None) or ""
                    if inspect.isfunction(found) and is_ours.startswith("quadrat") and (
                            member == "__init__" or not member.startswith("_")):
                        yield f"{place}.{name}.{member}", found


def test_every_parameter_and_every_answer_has_a_type():
    bare, seen = [], 0
    for name, called in public():
        seen, signature = seen + 1, inspect.signature(called)
        own = list(signature.parameters.values())
        is_method = own and own[0].name in ("self", "cls")
        bare += [f"{name}: {one.name}" for one in own[is_method:] if one.annotation is one.empty]
        if signature.return_annotation is signature.empty:
            bare.append(f"{name}: what it returns")
    assert not bare, bare
    assert seen > 150


def test_strict_mypy_reads_uses_of_the_package_and_finds_what_is_wrong(tmp_path):
    cache, strict = str(tmp_path / "cache"), ["--strict", "--follow-imports=silent"]
    done = told(*strict, str(USES), cache=cache)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG, encoding="utf-8")
    lines = told(*strict, str(wrong), cache=cache).stdout
    assert 'Argument "seed" to "fit" of "Model" has incompatible type "str"' in lines
    assert 'Argument 1 to "observe" of "Model"' in lines
