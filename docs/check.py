#!/usr/bin/env python3
"""Does what the pages of this folder say, with the program, and compares what comes out.

Their links must lead somewhere, and their lines have 100 columns at most.

usage: check.py PROGRAM [PAGE ...]

A page is worked through from top to bottom in a folder of its own:
  a line "`NAME`:" before a block of csv, json or toml    the block is the file NAME
  a line "`NAME` begins:" before a block                  the file NAME begins with these lines; numbers
                                                          agree to the digits that are shown
  a block of console                                      lines after "$ " are run; every other line is
                                                          part of a line that was printed, where "..."
                                                          stands for anything
  "<!-- in NAME -->" before a block of toml               the block takes the place of the line "@" in the
                                                          study NAME of keys/tables, which is run
  "<!-- each in NAME -->"                                 so does every line of the block by itself
  "<!-- not run: WHY -->"                                 the block is left alone
A block of toml with none of these is a whole study, and is run. The tables of keys/tables are there.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TABLES = HERE / "keys" / "tables"
FENCE = re.compile(r"^```(\w*)$")
COLUMNS = 100
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?$")


class Wrong(Exception):
    """What a page says is not so."""


def blocks(text):
    """Of every fenced block: the number of its first line, its language, its text, the line before it."""
    lines, at = text.split("\n"), 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if not fence:
            at += 1
            continue
        end = lines.index("```", at + 1)
        before = next((line for line in reversed(lines[:at]) if line.strip()), "")
        yield at + 2, fence[1], "\n".join(lines[at + 1 : end]) + "\n", before
        at = end + 1


def run(program, folder, arguments):
    """What the program printed, on both streams; Wrong where it did not end well."""
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"`quadrat {' '.join(arguments)}` ended with {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def agrees(shown, got):
    """Whether a cell is what is shown: the same text, or a number to the digits that are shown."""
    if shown == got or not (NUMBER.match(shown) and NUMBER.match(got)):
        return shown == got
    mantissa, _, exponent = shown.partition("e")
    digits = len(mantissa.partition(".")[2])
    # Half a unit of the last digit is its rounding; a tenth more, for the last bits of other processors.
    return abs(float(shown) - float(got)) <= 0.6 * 10.0 ** (int(exponent or 0) - digits)


def begins(path, block):
    lines = path.read_text(encoding="utf-8").splitlines()
    for shown, got in zip(block.splitlines(), lines):
        cells = list(zip(shown.split(","), got.split(",")))
        if shown.count(",") != got.count(",") or not all(agrees(*cell) for cell in cells):
            raise Wrong(f"{path.name} has\n    {got}\nwhere the page shows\n    {shown}")
    if len(lines) < len(block.splitlines()):
        raise Wrong(f"{path.name} ends after {len(lines)} lines")


def console(program, folder, block):
    printed = ""
    for line in block.splitlines():
        if line.startswith("$ quadrat "):
            printed = run(program, folder, line.split()[2:])
            printed = [" ".join(words.split()) for words in printed.splitlines()]
        elif line.startswith("$ "):
            raise Wrong(f"`{line}` is no command of quadrat")
        elif line.strip() not in ("", "..."):
            parts = [re.escape(part) for part in " ".join(line.split()).split("...")]
            if not any(re.search(".*".join(parts), words) for words in printed):
                raise Wrong("nothing printed reads\n    " + line + "\nbut\n    " + "\n    ".join(printed))


def study(program, folder, text):
    """Runs a study beside the tables of keys/tables."""
    (folder / "block.toml").write_text(text, encoding="utf-8")
    run(program, folder, ["run", "block.toml", "-o", "block-out", "--quiet"])


def within(base, block):
    frame = (TABLES / base).read_text(encoding="utf-8")
    if "\n@\n" not in frame:
        raise Wrong(f"keys/tables/{base} has no line `@`")
    return frame.replace("\n@\n", f"\n{block.rstrip()}\n")


def work(program, folder, language, block, before):
    """One block; whether there was something to check."""
    comment = re.match(r"<!-- (not run|each in|in):? (.*) -->$", before)
    if comment and comment[1] == "not run":
        return False
    named = re.match(r".*`([^`]+)`( begins)?:$", before)
    if named and named[2]:
        begins(folder / named[1], block)
    elif named and language in ("csv", "json", "toml"):
        (folder / named[1]).write_text(block, encoding="utf-8")
        return False
    elif language == "console":
        console(program, folder, block)
    elif language == "toml" and comment and comment[1] == "each in":
        for line in block.splitlines():
            study(program, folder, within(comment[2], line))
    elif language == "toml":
        study(program, folder, within(comment[2], block) if comment else block)
    else:
        return False
    return True


def anchors(text):
    """What links to the headings of a page are called."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def prose(page):
    """What is wrong with the lines and links of a page, if anything."""
    text = page.read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMNS:
            return f"{page.relative_to(HERE.parent)}:{number}: {len(line)} columns"
        for link in re.findall(r"\]\(([^)\s]+)\)", line):
            path, _, part = link.partition("#")
            target = page.parent / path if path else page
            if ":" in link:
                continue
            if not target.exists() or (part and part not in anchors(target.read_text("utf-8"))):
                return f"{page.relative_to(HERE.parent)}:{number}: `{link}` leads nowhere"
    return None


def check(program, page):
    """How many blocks of a page were checked, and what was wrong with the first that failed."""
    wrong = prose(page)
    if wrong:
        return 0, wrong
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        for table in TABLES.glob("*.*"):
            shutil.copy(table, folder)
        for line, language, block, before in blocks(page.read_text(encoding="utf-8")):
            try:
                done += work(program, pathlib.Path(folder), language, block, before)
            except (Wrong, OSError) as wrong:
                return done, f"{page.relative_to(HERE.parent)}:{line}: {wrong}"
    return done, None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    pages = [pathlib.Path(page).resolve() for page in sys.argv[2:]]
    pages = pages or sorted([*HERE.glob("jobs/*.md"), *HERE.glob("keys/*.md"), HERE / "study-file.md"])
    done = failed = 0
    for page in pages:
        checked, wrong = check(program, page)
        done += checked
        if wrong:
            failed += 1
            print(wrong, file=sys.stderr)
    print(f"{done} of {done + failed} checks passed")
    sys.exit(1 if failed or not done else 0)


if __name__ == "__main__":
    main()
