"""Tables of the examples, whose columns are given as arrays or as names of a data frame."""

import numpy as np
import pandas as pd

import quadrat as qd
from conftest import ROOT, table


class Rows:
    """A table: `rows[name]` is what an argument takes, `rows.data` what stands beside it."""

    def __init__(self, columns, is_frame):
        self.columns, self._is_frame = columns, is_frame
        self.data = pd.DataFrame(columns) if is_frame else None

    def __getitem__(self, name):
        return name if self._is_frame else self.columns[name]

    def where(self, name, value):
        """The rows with this cell in a column."""
        rows = np.flatnonzero(np.array(self.columns[name]) == value)
        own = {name: np.array(column)[rows] for name, column in self.columns.items()}
        return Rows(own, self._is_frame)

    def points(self, *names):
        return qd.point({name: self[name] for name in names})

    def boxes(self, **sides):
        return qd.box({name: tuple(self[end] for end in ends) for name, ends in sides.items()},
                      aggregate="sum")

    def bags(self, key, weight, inputs, aggregate, keys=None):
        return qd.bag({name: self[name] for name in inputs}, key=self[key], weight=self[weight],
                      keys=keys, aggregate=aggregate)


def reader(example, is_frame):
    """Reads tables of an example; `cells` are functions that add columns made of one."""
    def read(name, **cells):
        columns = table(ROOT / "examples" / example / f"{name}.csv")
        for column, made in cells.items():
            columns.update(made(columns[column]))
        return Rows(columns, is_frame)
    return read


def counts(cells):
    """`<5` is 0 to 4, and `30+` is 30 or more."""
    ends = [(0, int(cell[1:]) - 1) if cell.startswith("<") else
            (int(cell[:-1]), np.inf) if cell.endswith("+") else (int(cell), int(cell))
            for cell in cells]
    least, most = np.array(ends, dtype=float).T
    return {"least": least, "most": most}


def below(cells):
    """`<-2` is a value below -2."""
    return {"reported": np.array([float(cell.lstrip("<")) for cell in cells]),
            "side": ["left" if cell.startswith("<") else "none" for cell in cells]}


def ends(name, empty):
    """An empty cell is an open end."""
    return lambda cells: {name: np.array([float(cell or empty) for cell in cells])}
