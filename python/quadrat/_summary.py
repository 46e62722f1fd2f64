"""What a fit did, as text and as HTML."""

from __future__ import annotations

import html as escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._posterior import Posterior
    from ._told import ToldRows


class Summary:
    """A text that prints as it is, and shows as a table in notebooks."""

    def __init__(self, posterior: Posterior) -> None:
        self._posterior = posterior

    def __str__(self) -> str:
        return text(self._posterior)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(self._posterior)


def _head(posterior: Posterior) -> str:
    facts = posterior.facts
    how = f"integrated over {facts['nodes']} settings" if facts["integrated"] else "most probable"
    return (f"{posterior.kernel}; {facts['rows']} rows; {facts['inference']} inference; "
            f"hyperparameters {how}; log evidence {facts['log_evidence']:.3f} "
            f"({facts['evidence']}); {facts['seconds']:.2f} s")


def _lines(posterior: Posterior) -> Iterator[tuple[str, str, str, str]]:
    for name, value, median, lower, upper, fixed, meaning in posterior.facts["hyperparameters"]:
        interval = "fixed" if fixed else f"{lower:.6g} to {upper:.6g}"
        yield name, f"{value if fixed or median != median else median:.6g}", interval, meaning


def text(posterior: Posterior) -> str:
    """The summary as a text."""
    rows = [("hyperparameter", "median", "95 % interval", "meaning"), *_lines(posterior)]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    lines = [_head(posterior), ""]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        lines.append("  ".join([*cells, row[3]]).rstrip())
    lines += [f"warning: {warning}" for warning in posterior.warnings]
    return "\n".join(lines)


def html(posterior: Posterior) -> str:
    """The summary as HTML."""
    head = "".join(f"<th>{name}</th>" for name in
                   ("hyperparameter", "median", "95 % interval", "meaning"))
    body = "".join("<tr>" + "".join(f"<td>{escape.escape(cell)}</td>" for cell in row) + "</tr>"
                   for row in _lines(posterior))
    told = "".join(f"<p>Warning: {escape.escape(one)}</p>" for one in posterior.warnings)
    return (f"<p>{escape.escape(_head(posterior))}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{told}")


# Rows of a prediction that are shown.
_SHOWN = 10


def table(prediction: ToldRows) -> str:
    """The first rows of a prediction as HTML."""
    columns = prediction.to_dict()
    head = "".join(f"<th>{escape.escape(name)}</th>" for name in columns)
    body = ""
    for row in range(min(len(prediction), _SHOWN)):
        cells = (_cell(column[row]) for column in columns.values())
        body += "<tr>" + "".join(f"<td>{escape.escape(cell)}</td>" for cell in cells) + "</tr>"
    rest = len(prediction) - _SHOWN
    more = f"<p>and {rest} more rows</p>" if rest > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
