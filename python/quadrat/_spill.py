"""Frames in studies: written as the files that a study reads, and named so in messages."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import tempfile
from collections.abc import Mapping

import numpy as np

from . import _frames
from ._errors import DataError

# Keys of studies that name a table or a map.
FILES = ("file", "exposure_table", "inside")


@contextlib.contextmanager
def spilled(study):
    """The study with a file in place of every frame under a key that names one."""
    with tempfile.TemporaryDirectory(prefix="quadrat-") as folder:
        try:
            yield _replaced(study, folder, "", {})
        except DataError as error:
            raise _named(error, folder + os.sep) from None


def _replaced(value, folder, where, seen):
    if isinstance(value, Mapping):
        made = {}
        for key, own in value.items():
            if not isinstance(key, str):
                raise DataError(f"the study has the key {key!r}; keys are texts")
            if key in FILES and not isinstance(own, (str, os.PathLike)):
                if id(own) not in seen:
                    name = where if key == "file" else _within(where, key)
                    seen[id(own)] = _write(own, os.path.join(folder, name), key)
                made[key] = seen[id(own)]
            else:
                made[key] = _replaced(own, folder, _within(where, str(key)), seen)
        return made
    if isinstance(value, (list, tuple)):
        return [_replaced(own, folder, f"{where}-{at}", seen) for at, own in enumerate(value, 1)]
    return value


def _within(where, key):
    """What a file is called by where it stands, such as `observe-1` and `observe-1-bag`."""
    return where if where and key == "support" else f"{where}-{key}".lstrip("-")


def _write(frame, path, key):
    is_map = isinstance(frame, Mapping) and frame.get("type") == "FeatureCollection"
    if is_map or hasattr(frame, "__geo_interface__"):
        return _write_map(frame if is_map else frame.__geo_interface__, path)
    if not _frames.is_frame(frame):
        raise DataError(f"the study's `{key}` is {type(frame).__name__}; give a path, a data frame "
                        "or a feature collection")
    return _write_table(frame, path)


def _write_map(features, path):
    path += ".geojson"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(features, file, default=_plain)
    return path


def _write_table(frame, path):
    path += ".csv"
    frame = _frames.held(frame)
    names = _frames.names(frame)
    with open(path, "w", encoding="utf-8", newline="") as file:
        _fill(file, {name: _frames.take(frame, name, name) for name in names})
    return path


def text(columns):
    """A table as the text of a file."""
    file = io.StringIO(newline="")
    _fill(file, columns)
    return file.getvalue()


def _fill(file, columns):
    writer = csv.writer(file)
    writer.writerow(columns)
    writer.writerows(zip(*map(_cells, columns.values()), strict=True))


def _cells(column):
    for value in _frames.values(column):
        yield "" if _frames.is_missing(value) else _cell(value)


def _cell(value):
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    # The shortest text that reads back as the same number.
    return repr(float(value)) if isinstance(value, (float, np.floating)) else value


def _plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    raise DataError(f"a property of the map is {type(value).__name__}, which GeoJSON has not")


def _named(error, folder):
    """The error without the folder of the written files, which nobody has named."""
    problems = error.problems
    for problem in problems:
        problem.message = problem.message.replace(folder, "")
        if problem.file:
            problem.file = problem.file.replace(folder, "")
    return type(error)(str(error).replace(folder, ""), problems)
