"""The program's own list of broken likelihoods, links and columns, and texts that are no studies:
each is an exception with the words of the program, and where."""

import ast
import re
import subprocess

import pytest

import quadrat as qd
from conftest import ROOT

CLI = ROOT / "crates" / "quadrat-cli" / "tests" / "cli"
TABLE = b"t,y,n,s\n0,1.5,1,none\n1,2.5,0,left\n2,3.5,1,right\n"
TEXT = re.compile(r'b?"(?:\\.|[^"\\])*"|//[^\n]*', re.DOTALL)


def plain(found):
    """A text of Rust, which may go over several lines, as Python has it; comments are none."""
    text = found.group()
    return "" if text.startswith("//") else text.replace("\n", "\\n")


def literal(body):
    """A literal of Rust as a value of Python."""
    return ast.literal_eval(TEXT.sub(plain, body).replace("&[", "["))


def source(file):
    return (CLI / f"{file}.rs").read_text(encoding="utf-8")


def constant(body, name):
    """A list of the program's tests as it is written there."""
    (found,) = re.findall(rf"const {name}: [^=]*= &(\[.*?\n\]);", body, re.DOTALL)
    return found


def listed(name, file="broken_kinds"):
    """The entries of a list of the program's tests: texts, tables, and parts of messages."""
    return literal(constant(source(file), name))


def study(likelihood, more="", link=""):
    return (f'[latent]\nkernel = "se(t)"\n{link}[[observe]]\nfile = "d.csv"\n'
            f'support = {{ point = ["t"] }}\nlikelihood = {{ {likelihood} }}\n{more}')


def cases():
    for likelihood, more, parts in listed("STUDIES"):
        yield study(likelihood, more), TABLE, parts
    for link, likelihood, parts in listed("LINKS"):
        yield study(likelihood, link=f"{link}\n"), TABLE, parts
    for likelihood, table, parts in listed("TABLES"):
        yield study(likelihood), table, parts


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_what_the_program_refuses_is_an_exception_that_says_where(case, tmp_path, monkeypatch):
    text, table, parts = case
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    (tmp_path / "d.csv").write_bytes(table)
    # Messages name files as they were called.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(qd.DataError) as caught:
        qd.run("s.toml")
    missing = [part for part in parts if part not in str(caught.value)]
    assert not missing, f"{missing} in {caught.value}"
    assert all(problem.file and problem.line for problem in caught.value.problems)


def test_the_lists_are_read_whole():
    assert len(CASES) > 75


@pytest.mark.parametrize("path", sorted((ROOT / "fuzz" / "corpus" / "study").iterdir()),
                         ids=lambda path: path.name)
def test_texts_that_are_no_studies_are_refused_as_by_the_program(path, program, tmp_path):
    study = tmp_path / "study.toml"
    study.write_bytes(path.read_bytes())
    with pytest.raises(qd.DataError) as caught:
        qd.run(study)
    told = subprocess.run([program, "run", study, "-o", tmp_path / "out"], capture_output=True,
                          encoding="utf-8", errors="replace", check=False)
    assert told.stderr.strip() == str(caught.value).strip()
