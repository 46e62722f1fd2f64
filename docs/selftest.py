#!/usr/bin/env python3
"""Shows that check.py refuses pages that say what is not so, and links that lead nowhere.

usage: selftest.py PROGRAM
"""

import pathlib
import sys
import tempfile

import check

STUDY = """
`a.csv`:
```csv
from,to,n
0,1,4
1,2,6
2,3,5
```

`a.toml`:
```toml
[latent]
kernel = "se(x)"
[[observe]]
file       = "a.csv"
support    = { box = { x = ["from", "to"] } }
aggregate  = "sum"
likelihood = { gaussian = { value = "n", variance = 1 } }
[[predict]]
name      = "again"
aggregate = "sum"
support   = { file = "a.csv", box = { x = ["from", "to"] } }
[inference]
hyperparameters = "map"
```

```console
$ quadrat run a.toml -o out
PRINTED
```

`out/again.csv` begins:
```csv
from,to,mean,sd,lower,median,upper
TABLE
```
"""

# What is planted in the page, and part of what is said of it; none: nothing is wrong.
PAGES = [
    ("observed  3 rows of a.csv: ...", "0,1,MEAN,SD,LOWER,MEDIAN,UPPER", None),
    ("observed  4 rows of a.csv: ...", "0,1,MEAN,SD,LOWER,MEDIAN,UPPER", "nothing printed reads"),
    ("observed  3 rows of a.csv: ...", "0,1,9.99,SD,LOWER,MEDIAN,UPPER", "where the page shows"),
    ("observed  3 rows of a.csv: ...", "0,2,MEAN,SD,LOWER,MEDIAN,UPPER", "where the page shows"),
]
BLOCKS = [
    ('```toml\n[latent]\nkernel = "sx(t)"\n```\n', "ended with 1"),
    ('<!-- each in likelihood.toml -->\n```toml\nlikelihood = { gaussian = { value = "gone" } }\n```\n', "`gone`"),
    ("[a page](nowhere.md)\n", "nowhere.md"),
    ("# One\n\n[a part](#two)\n", "#two"),
    ("x" * 101 + "\n", "columns"),
]


def said_of(program, text):
    """What check.py says of a page."""
    with tempfile.TemporaryDirectory(dir=check.HERE) as folder:
        page = pathlib.Path(folder) / "page.md"
        page.write_text(text, encoding="utf-8")
        return check.check(program, page)[1]


def numbers_of(program):
    """The numbers of the first row of the planted study, to three digits after the point."""
    wrong = said_of(program, STUDY.replace("PRINTED\n", "").replace("TABLE", "0,1,no,no,no,no,no"))
    got = next(line.strip() for line in wrong.split("\n") if line.startswith("    0,1,"))
    names = ["MEAN", "SD", "LOWER", "MEDIAN", "UPPER"]
    return {name: f"{float(cell):.3f}" for name, cell in zip(names, got.split(",")[2:])}


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    numbers = numbers_of(program)
    cases = list(BLOCKS)
    for printed, row, expected in PAGES:
        for name, number in numbers.items():
            row = row.replace(name, number)
        cases.append((STUDY.replace("PRINTED", printed).replace("TABLE", row), expected))
    good = 0
    for text, expected in cases:
        said = said_of(program, text)
        if (said is None) == (expected is None) and (expected or "") in (said or ""):
            good += 1
        else:
            print(f"expected {expected!r}, said {said!r} of\n{text}", file=sys.stderr)
    print(f"{good} of {len(cases)} checks passed")
    sys.exit(0 if good == len(cases) else 1)


if __name__ == "__main__":
    main()
