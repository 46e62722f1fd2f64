"""Study files: the numbers and the messages of the program ``quadrat run``."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import _arrays, _frames, _progress, _quadrat, _spill, _toml
from ._errors import FitWarning
from ._posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._types import Path, Progress


class Table(Mapping):
    """A table of numbers and texts: a mapping of the names of its columns to arrays."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        rows = len(next(iter(self._columns.values()), ()))
        return f"<Table of {rows} rows: {', '.join(self._columns)}>"

    def to_frame(self) -> Any:
        """As a data frame of pandas."""
        return _frames.make(self._columns)

    def __arrow_c_stream__(self, requested_schema=None):
        table = _frames.module("pyarrow", "to hand out an Arrow stream").table(self._columns)
        return table.__arrow_c_stream__(requested_schema)


class StudyResult(Mapping):
    """What a study gave: a mapping of the names of its predictions to tables.

    Attributes
    ----------
    title : str
        The title of the study.
    fit : dict
        What ``fit.json`` holds.
    warnings : list of str
        What a careful reader should know.
    maps : dict
        Predictions of regions as GeoJSON-like dicts.
    posterior : Posterior or None
        The posterior of the function; `None` of a study of a density or of bands.
    model : bytes
        What ``quadrat fit`` saves; empty of a study of bands, which has no model.
    """

    def __init__(self, found: Any) -> None:
        self.title = found["title"]
        self.fit = json.loads(found["json"])
        self.warnings = found["warnings"]
        self.maps = {name: json.loads(text) for name, text in found["maps"]}
        self.model = found["model"]
        posterior = found["posterior"]
        self.posterior = None if posterior is None else Posterior(posterior)
        self._tables = {name: Table(dict(map(_column, columns)))
                        for name, columns in found["tables"]}

    def __getitem__(self, name: str) -> Table:
        return self._tables[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return f"<StudyResult of {self.title!r}: {', '.join(self._tables)}>"

    def _repr_html_(self):
        return None if self.posterior is None else self.posterior._repr_html_()


def _column(named):
    name, column = named
    return name, column if isinstance(column, list) else _arrays.received(column)


def run(study: Path | Mapping[str, Any], *, folder: Path | None = None,
        progress: Progress = None) -> StudyResult:
    """Runs a study: fits its model and makes its predictions.

    A study says in one TOML file what was observed, the curve or map that it is about, and where
    answers are wanted. The numbers are those of the program ``quadrat run``, which writes them to a
    folder; here they are returned.

    Parameters
    ----------
    study : path or dict
        A study file, or a dict with its sections. Where a dict would name a file under the key
        ``file`` it may have what the file holds: a data frame, a dict of columns, or a map, which
        is a GeoDataFrame or a feature collection.
    folder : path, optional
        The folder that paths in a dict are relative to; the current one where it is not given.
        Paths in a study file are relative to the folder of that file.
    progress : bool or callable, optional
        As for :meth:`Model.fit`. Nothing is shown of studies of densities, nor of bands without
        years.

    Returns
    -------
    StudyResult
        A table for each prediction, by its name: ``result["curve"]``; and the posterior.

    Raises
    ------
    DataError
        What is wrong with the study or its tables. ``problems`` has every mistake with its file,
        line and column; the message is what the program prints. The lines of a dict are those of
        the TOML that is written of it.
    NotConverged
        When the fit did not converge, so that there are no numbers to return.

    Warns
    -----
    FitWarning
        What a careful reader should know, such as rows far outside the data; also in ``warnings``
        of the result or of its posterior.

    Examples
    --------
    >>> import quadrat as qd
    >>> result = qd.run({
    ...     "latent": {"kernel": "se(x)"},
    ...     "observe": [{"file": {"x": [0, 1, 2], "y": [0.1, 0.9, 0.8]},
    ...                  "support": {"point": ["x"]},
    ...                  "likelihood": {"gaussian": {"value": "y", "variance": 0.01}}}],
    ...     "predict": [{"name": "curve", "support":
    ...                  {"grid": {"x": {"from": 0, "to": 2, "step": 0.5}}}}],
    ... })
    >>> result["curve"]
    <Table of 5 rows: x, mean, sd, lower, median, upper>
    """
    if not isinstance(study, (str, os.PathLike, Mapping)):
        raise TypeError(f"study is {type(study).__name__}; give a path, or a dict of its sections")
    with _progress.listener(progress) as listen:
        if isinstance(study, Mapping):
            with _spill.spilled(study) as written:
                text = _toml.text(written)
                found = _quadrat.run_text(text, os.fspath(folder or ""), listen)
        else:
            found = _quadrat.run_file(os.fspath(study), listen)
    result = StudyResult(found)
    told = list(result.warnings)
    own = [] if result.posterior is None else result.posterior.warnings
    told += [one for one in own if one not in told]
    for warning in told:
        warnings.warn(warning, FitWarning, stacklevel=2)
    return result
