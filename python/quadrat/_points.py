"""Points of bags in partitions, and what was observed of every bag."""

from __future__ import annotations

import os

import numpy as np

from . import _arrays, _frames, _streamed
from ._errors import DataError
from ._supports import bag, by_bag, plain


class Rows:
    """What was observed of every bag, by its key."""

    def __init__(self, rows, key):
        keys = plain(_frames.take(rows, key, "key"))
        self.columns = {name: np.asarray(_frames.take(rows, name, name))
                        for name in _frames.names(rows) or []}
        self.at = {}
        for row, one in enumerate(keys):
            if one in self.at:
                raise DataError(f"rows: the key {one!r} has two rows; give every bag one")
            self.at[one] = row

    def of(self, keys):
        """The columns of these bags, in this order."""
        order = np.array([self.at[key] for key in keys], dtype=np.intp)
        return {name: column[order] for name, column in self.columns.items()}


class Points:
    """The points of some bags: coordinates and weights, one bag after the other."""

    def __init__(self, columns, weights, keys, offsets):
        self.columns, self.weights, self.keys, self.offsets = columns, weights, keys, offsets

    @classmethod
    def read(cls, source, bags):
        """Those of a partition: a data frame, or a Parquet file."""
        if isinstance(source, (str, os.PathLike)):
            parquet = _frames.module("pyarrow.parquet", "to read Parquet files")
            source = parquet.read_table(source, columns=bags.columns())
        elif isinstance(source, _streamed.Slice):
            source = source.read(bags.columns())
        keys = plain(_column(source, bags.key))
        columns = {name: _arrays.column(_column(source, name), name) for name in bags.inputs}
        weights = np.ones(len(keys))
        if bags.weight is not None:
            weights = _arrays.column(_column(source, bags.weight), bags.weight)
        order, own, offsets = by_bag(keys, None, None, len(keys))
        if bags.is_shuffled:
            order, own, offsets = cls._in_order(keys, columns, weights, bags.rows.at)
        columns = {name: column[order] for name, column in columns.items()}
        return cls(columns, weights[order], own, offsets)

    @staticmethod
    def _in_order(keys, columns, weights, at):
        """Bags in the order of their rows, and points in that of their places: whatever the order
        in which a shuffle brought them, sums then have the same roundings."""
        number = np.array([at.get(key, -1) for key in keys], dtype=np.intp)
        order = np.lexsort([weights, *columns.values(), number])
        _, own, offsets = by_bag([keys[row] for row in order], None, None, len(keys))
        return order, own, offsets

    def __len__(self):
        return len(self.weights)

    def thinned(self, most):
        """At most so many points of every bag, of the same total: at even distances along the sum
        of its weights, so that each stands for as much of it."""
        kept, weights = [], []
        for first, last in zip(self.offsets[:-1], self.offsets[1:]):
            own, weight = np.arange(first, last), self.weights[first:last]
            summed = np.cumsum(weight)
            if len(own) > most and summed[-1] > 0:
                at = (np.arange(most) + 0.5) * (summed[-1] / most)
                # A point of a large weight may stand for several.
                own, times = np.unique(np.searchsorted(summed, at), return_counts=True)
                own, weight = own + first, times * (summed[-1] / most)
            kept.append(own)
            weights.append(weight)
        order = np.concatenate(kept) if kept else np.zeros(0, dtype=np.intp)
        offsets = np.cumsum([0, *map(len, kept)])
        columns = {name: column[order] for name, column in self.columns.items()}
        return Points(columns, np.concatenate(weights) if weights else np.zeros(0), self.keys,
                       offsets)

    def observed_by(self, model, bags, rows):
        """The model with these bags as its rows."""
        names = np.repeat(np.arange(len(self.keys)), np.diff(self.offsets))
        support = bag(self.columns, key=names, weight=self.weights, aggregate=bags.aggregate)
        return model.observe(support, bags.likelihood, data=rows)


def _column(source, name):
    return _frames.take(source, name, "points")
