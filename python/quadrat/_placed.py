"""Supports with their columns looked up."""

from __future__ import annotations

import itertools

import numpy as np

from . import _geometry, _quadrat
from ._errors import DataError


class Placed:
    """Where rows look, in numbers alone: kept, pickled and drawn.

    Attributes
    ----------
    kind : {"points", "boxes", "bags", "regions"}
        What the library calls it.
    arguments : tuple
        What the library is given.
    columns : dict
        The columns of its rows by name.
    crs, index
        Those of the geometries, where they have any.
    in_degrees : bool
        Whether regions are in longitudes and latitudes.
    map : GeographicMap or None
        Where longitudes and latitudes lie, of a model of such.
    """

    __slots__ = ("kind", "arguments", "columns", "crs", "index", "in_degrees", "map")

    def __init__(self, kind, arguments, columns, crs=None, index=None, in_degrees=False, map=None):
        self.kind, self.arguments, self.columns = kind, arguments, columns
        self.crs, self.index, self.in_degrees, self.map = crs, index, in_degrees, map

    def on(self, map):
        """The same on the map of a model, which has one where regions are in degrees."""
        if self.kind == "regions" and self.in_degrees:
            if map is None:
                raise DataError("the regions are in longitudes and latitudes, and those of the "
                                "model are not; bring them to its CRS")
            if list(map.dims) != self.dims[:2]:
                raise DataError(f"dims are {self.dims[:2]}; longitude and latitude of this model "
                                f"are {list(map.dims)}")
        elif self.kind == "regions" and map is not None and set(map.dims) & set(self.dims[:2]):
            raise DataError(f"{' and '.join(map.dims)} are longitude and latitude of this model, "
                            "and these regions are planar; give geometries with their CRS, or "
                            "planar=False")
        return Placed(self.kind, self.arguments, self.columns, self.crs, self.index,
                      self.in_degrees, map)

    @property
    def dims(self):
        """The names of the inputs."""
        return self.arguments[0]

    @property
    def aggregate(self):
        """``"sum"``, ``"mean"``, or `None` of points."""
        return None if self.kind == "points" else self.arguments[-1]

    @property
    def rows(self):
        """How many rows there are."""
        if self.kind == "bags":
            return len(self.arguments[3]) - 1
        return len(self.arguments[1] if self.kind == "regions" else self.arguments[1][0])

    def take(self, rows):
        """Some of its rows."""
        columns = {name: np.asarray(own)[rows] for name, own in self.columns.items()}
        some = [_taken(own, rows) for own in self.arguments]
        if self.kind == "bags":
            dims, at, weight, offsets, aggregate = self.arguments
            points = [np.arange(offsets[row], offsets[row + 1]) for row in rows]
            own = np.concatenate(points)
            some = [dims, _taken(at, own), weight[own],
                    [0, *itertools.accumulate(map(len, points))], aggregate]
        elif self.kind == "regions":
            some[1] = [self.arguments[1][row] for row in rows]
        return Placed(self.kind, (self.dims, *some[1:]), columns, self.crs,
                      in_degrees=self.in_degrees, map=self.map)

    def moved(self, columns):
        """Points or boxes like these, of other columns."""
        if self.kind == "points":
            return Placed(self.kind, (self.dims, list(columns.values())), columns)
        first = [columns[name if name in columns else f"{name}_lower"] for name in self.dims]
        second = [columns.get(f"{name}_upper") for name in self.dims]
        return Placed(self.kind, (self.dims, first, second, self.aggregate), columns)

    def plain(self):
        """What JSON can keep of it, but for arrays."""
        arguments = list(self.arguments)
        if self.kind == "regions":
            arguments[1] = [one.hex() for one in arguments[1]]
        return {"kind": self.kind, "arguments": arguments, "columns": self.columns}

    @classmethod
    def of_plain(cls, told):
        """The same again, where arrays have become lists."""
        dims, *rest = told["arguments"]
        if told["kind"] == "bags":
            rest[:2] = _arrayed(rest[0]), _arrayed(rest[1])
        elif told["kind"] == "regions":
            rest[0] = _geometry.of_text(rest[0])
            rest[1:3] = _arrayed(rest[1]), _arrayed(rest[2])
        else:
            rest[:2] = [_arrayed(own) if isinstance(own, list) else own for own in rest[:2]]
        columns = {name: np.array(own) for name, own in told["columns"].items()}
        return cls(told["kind"], (dims, *rest), columns)

    def made(self):
        """As the library takes it."""
        made = getattr(_quadrat.Support, self.kind)
        if self.map is not None:
            return made(*self.arguments, self.map)
        # Areas do not depend on where the map is centred.
        own = _geometry.map_of([self]) if self.in_degrees else None
        return made(*self.arguments) if own is None else made(*self.arguments, own)


def _taken(column, rows):
    if isinstance(column, list):
        return [_taken(own, rows) for own in column]
    return np.ascontiguousarray(column[rows]) if isinstance(column, np.ndarray) else column


def _arrayed(told):
    """Lists of numbers within lists as arrays."""
    if isinstance(told, list) and not any(isinstance(own, list) or own is None for own in told):
        return np.array(told, dtype=np.float64)
    return told if told is None else [_arrayed(own) for own in told]
