"""Draws as what ArviZ reads."""

from __future__ import annotations

import numpy as np

from . import _arrays, _frames

# The dimension of the rows of a prediction.
_ROW = "row"


def inference_data(told, n, seed, name):
    """Joint draws of a prediction, and its support, as InferenceData or a DataTree."""
    draws = told.draws(n, seed)
    coords = {_ROW: _labels(told)}
    data = {"posterior": {name: draws[None]}}
    constant = {key: np.asarray(own) for key, own in told._columns.items()
                if np.asarray(own).dtype.kind in "fiub"}
    if constant:
        data["constant_data"] = constant
    dims = {key: [_ROW] for key in (name, *constant)}
    return _made(data, coords, dims, told._posterior)


def _made(data, coords, dims, post):
    arviz = _frames.module("arviz", "for this", "arviz")
    attributes = {"inference_library": "quadrat", "kernel": post.kernel}
    major = int(arviz.__version__.partition(".")[0])
    if major >= 1:
        made = arviz.from_dict(data, coords=coords, dims=dims)
        made["posterior"].attrs.update(attributes)
    else:
        made = arviz.from_dict(**data, coords=coords, dims=dims)
        made.posterior.attrs.update(attributes)
    return made


def _labels(told):
    """What rows are called: keys of bags, the index of a frame, else numbers."""
    placed = told._placed
    if placed.kind == "bags":
        return np.asarray(placed.columns["key"])
    for index in (placed.index, getattr(told._like, "index", None)):
        if index is not None and not callable(index) and len(index) == len(told):
            return np.asarray(index)
    return np.arange(len(told))
