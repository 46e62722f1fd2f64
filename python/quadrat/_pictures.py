"""Pictures and pages of a posterior."""

from __future__ import annotations

import html
import io
import os
import warnings

import numpy as np

from . import _arrays, _draw, _rows
from ._errors import DataError, FitWarning
from ._supports import grid, point


def posterior(post, ax, support, scale, level, output, rows, points, what, style):
    """A posterior over one or two inputs, with what was observed."""
    names = post.dims
    rows = _arrays.boolean(rows, "rows")
    if support is None:
        support = everywhere(post, _arrays.whole(points, "points", 8))
    with warnings.catch_warnings():
        # A curve is finer than the rows by design; what it shows between them is its band.
        warnings.simplefilter("ignore", FitWarning)
        told = post.predict(support, scale, level, output=output)
    ax = told.plot(ax, what=what, **style)
    label = "observed"
    for number, table in enumerate(post._tables if rows else ()):
        if table.output != output or not _is_seen(table, scale):
            continue
        if len(names) == 2 and told._placed.kind != "bags":
            _rows.outlines(ax, table, told._placed.dims[:2])
        elif len(names) == 1 and names[0] in table.placed.dims and what in ("mean", "median"):
            # One line of the legend, whatever the number of tables.
            if _rows.draw(ax, table, number, names[0], post.hyperparameters, label):
                label = "_" + label
    if len(names) == 1:
        ax.set_ylabel(scale if what == "mean" else f"{what} of the {scale}")
        ax.legend(frameon=False)
    return ax


def _is_seen(table, scale):
    """Whether rows and curve have the same scale."""
    has_link = table.likelihood in ("poisson", "negative_binomial", "exponential", "gamma",
                                    "lognormal", "bernoulli", "binomial") or "link" in table.given
    is_rank = table.likelihood == "ordinal"
    return not (scale == "latent" and has_link) and not (scale == "observation" and is_rank)


def everywhere(post, points):
    """Points all over the rows, along one input or two."""
    names = post.dims
    if len(names) > 2:
        raise DataError(f"the posterior is over {len(names)} inputs ({', '.join(names)}); give "
                        "a support along one or two of them: support=qd.grid(..)")
    ends = {name: _rows.reach(post._tables, name) for name in names}
    if None in ends.values():
        raise DataError("this posterior has no rows that say where; give a support, such "
                        f"as support=qd.grid({names[0]}=range(100))")
    if len(names) == 1:
        return point({name: np.linspace(*own, points) for name, own in ends.items()})
    side = max(points // 4, 2)
    return grid({name: np.linspace(*own, side) for name, own in ends.items()})


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; font-size: 14px; }}
th, td {{ padding: .2em .8em .2em 0; text-align: left; border-bottom: 1px solid #ddd; }}
svg {{ max-width: 100%; height: auto; }}
</style></head><body><h1>{title}</h1>
{body}
</body></html>
"""


def report(post, path, title):
    """The page of a posterior."""
    title = html.escape(str(title or post.kernel))
    body = [post._repr_html_(), _picture(post), _left_out(post)]
    page = _PAGE.format(title=title, body="\n".join(one for one in body if one))
    with open(os.fspath(path), "w", encoding="utf-8") as file:
        file.write(page)


def _picture(post):
    """The figure as SVG, or why there is none."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "<p>No figure: matplotlib is not installed.</p>"
    # A figure of its own, which no window shows.
    outputs = post.outputs or [None]
    figure, found = Figure(figsize=(8, 1 + 3.5 * len(outputs)), layout="constrained"), io.StringIO()
    try:
        all_axes = figure.subplots(len(outputs), 1, squeeze=False)[:, 0]
        for ax, output in zip(all_axes, outputs):
            post.plot(ax, output=output)
            ax.set_title(output or "")
    except DataError as error:
        return f"<p>No figure: {html.escape(str(error))}</p>"
    figure.savefig(found, format="svg", metadata={"Date": None})
    svg = found.getvalue()
    return "<h2>The function</h2>\n" + svg[svg.index("<svg"):]


def _left_out(post):
    """How well rows are predicted from all others."""
    rows = post.leave_one_out()
    count = len(rows["value"])
    if count == 0:
        return None
    inside = int(np.sum((rows["lower"] <= rows["value"]) & (rows["value"] <= rows["upper"])))
    names = ("value", "mean", "sd", "lower", "upper", "pit")
    head = "".join(f"<th>{name}</th>" for name in names)
    cells = zip(*(rows[name] for name in names))
    body = "".join("<tr>" + "".join(f"<td>{cell:.6g}</td>" for cell in row) + "</tr>"
                   for row, _ in zip(cells, range(_SHOWN)))
    more = f"<p>and {count - _SHOWN} more rows</p>" if count > _SHOWN else ""
    return (f"<h2>Every row predicted from all others</h2>\n<p>{inside} of {count} lie inside "
            f"their 95 % interval; mean log density {np.mean(rows['log_density']):.4g}.</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}")


# Rows of the table of rows predicted from others.
_SHOWN = 50
