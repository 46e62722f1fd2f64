"""What may go wrong, as exceptions and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class Problem:
    """One thing that is wrong, where, and how to mend it.

    Attributes
    ----------
    message : str
        The fact.
    file, line, column, column_name
        Where it is in a study or a table; lines and columns count from 1.
    row, value
        Where it is in arrays; rows count from 0.
    remedies : tuple of str
        How to mend it.
    """

    __slots__ = (
        "message", "file", "line", "column", "column_name", "row", "value", "remedies",
    )

    def __init__(self, message: str, *, remedies: Iterable[str] = (), file: str | None = None,
                 line: int | None = None, column: int | None = None,
                 column_name: str | None = None, row: int | None = None,
                 value: str | None = None) -> None:
        self.message, self.remedies = message, tuple(remedies)
        self.file, self.line, self.column, self.column_name = file, line, column, column_name
        self.row, self.value = row, value

    def __repr__(self) -> str:
        said = [name for name in self.__slots__ if getattr(self, name) not in (None, ())]
        return f"Problem({', '.join(f'{name}={getattr(self, name)!r}' for name in said)})"

    def __reduce__(self):
        state = {name: getattr(self, name) for name in self.__slots__}
        return _problem, (state,)


def _problem(state):
    return Problem(**state)


class DataError(ValueError):
    """What was handed over cannot be used: nothing was computed.

    Attributes
    ----------
    problems : list of Problem
        Everything that was found.
    """

    def __init__(self, message: str,
                 problems: Sequence[Problem | Mapping[str, Any]] | None = None) -> None:
        super().__init__(message)
        found = [{"message": message}] if problems is None else problems
        self.problems = [p if isinstance(p, Problem) else Problem(**p) for p in found]

    def __reduce__(self):
        return DataError, (self.args[0], self.problems)


class FitError(RuntimeError):
    """A fit or a prediction that failed."""


class NotConverged(FitError):
    """A fit that did not converge: nothing it found is told."""


class LoadError(ValueError):
    """A saved model that cannot be used."""


class InternalError(RuntimeError):
    """A bug of quadrat."""


class FitWarning(UserWarning):
    """What a careful reader of a fit or a prediction should know."""
