"""Kernels as objects that add and multiply."""

from __future__ import annotations


class Kernel:
    """A kernel expression, as study files have it.

    Kernels add and multiply: ``Kernel("se(t)") * Kernel("periodic(t)")``. Wherever a kernel is
    asked for, the text will do.

    Parameters
    ----------
    expression : str
        Leaves ``se matern12 matern32 matern52 rq periodic linear constant iid coregion`` over
        named inputs, ``+``, ``*`` and parentheses.

    Examples
    --------
    >>> import quadrat as qd
    >>> qd.Kernel("se(t)") * qd.Kernel("periodic(t)") + "linear(t)"
    Kernel('se(t) * periodic(t) + linear(t)')
    """

    __slots__ = ("expression", "_is_sum")

    def __init__(self, expression: str | Kernel) -> None:
        self.expression = str(expression)
        depth = 0
        self._is_sum = False
        for letter in self.expression:
            depth += {"(": 1, ")": -1}.get(letter, 0)
            self._is_sum |= letter == "+" and depth == 0

    def __str__(self) -> str:
        return self.expression

    def __repr__(self) -> str:
        return f"Kernel({self.expression!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.expression == other.expression

    def __hash__(self) -> int:
        return hash(self.expression)

    def __add__(self, other: str | Kernel) -> Kernel:
        return Kernel(f"{self} + {other}")

    def __radd__(self, other: str | Kernel) -> Kernel:
        return Kernel(f"{other} + {self}")

    def __mul__(self, other: str | Kernel) -> Kernel:
        return Kernel(f"{self._factor()} * {Kernel(other)._factor()}")

    def __rmul__(self, other: str | Kernel) -> Kernel:
        return Kernel(other) * self

    def _factor(self):
        return f"({self.expression})" if self._is_sum else self.expression
