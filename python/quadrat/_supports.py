"""Supports: where an observation or a prediction looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _crs, _frames, _geometry
from ._errors import DataError
from ._placed import Placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ._types import Column, Frame


class Support:
    """Where rows look; made by :func:`point`, :func:`box`, :func:`region` and :func:`bag`.

    Inputs are given by name as keywords, or in a dict where a name is no word of Python. An
    array may be replaced by the name of a column of the `data` that is given with it.
    """

    def __init__(self, inputs: Mapping[str, Any], aggregate: str | None = None) -> None:
        if aggregate not in (None, "sum", "mean"):
            raise DataError(f"aggregate is {aggregate!r}; it must be \"sum\" or \"mean\"")
        self._inputs = inputs
        self.aggregate = aggregate

    @property
    def dims(self) -> list[str]:
        """The names of the inputs."""
        return list(self._inputs)

    def __repr__(self) -> str:
        kind = type(self).__name__.lstrip("_").lower()
        return f"<{kind} over {', '.join(self.dims)}>"

    def bind(self, data: Frame | None = None,
             aggregate: str | None = None) -> tuple[Any, dict[str, Any]]:
        """The support as the library takes it, and its columns by name."""
        placed = self.place(data, aggregate)
        return placed.made(), placed.columns

    def place(self, data: Frame | None = None, aggregate: str | None = None) -> Placed:
        """The support with its columns looked up."""
        raise NotImplementedError

    def _chosen(self, aggregate):
        if None not in (self.aggregate, aggregate) and self.aggregate != aggregate:
            raise DataError(f"aggregate is {aggregate!r}, and that of the support is "
                            f"{self.aggregate!r}; give one of them")
        chosen = self.aggregate or aggregate
        if chosen not in (None, "sum", "mean"):
            raise DataError(f"aggregate is {chosen!r}; it must be \"sum\" or \"mean\"")
        return chosen

    def _needed(self, aggregate):
        chosen = self._chosen(aggregate)
        if chosen is None:
            raise DataError("aggregate is missing: \"sum\" for totals, \"mean\" for averages")
        return chosen


def checked(support):
    """What was given for a support, which must be one."""
    if not isinstance(support, Support):
        raise TypeError(f"support is {type(support).__name__}; give point(..), box(..), "
                        "region(..) or bag(..)")
    return support


class _Point(Support):
    def place(self, data=None, aggregate=None):
        # Points have neither, and a wrong word is told all the same.
        self._chosen(aggregate)
        columns = _same_length(self._inputs, data)
        return Placed("points", (list(columns), list(columns.values())), columns)


class _Box(Support):
    def place(self, data=None, aggregate=None):
        first, second, told = _sides(self._inputs, data)
        return Placed("boxes", (self.dims, first, second, self._needed(aggregate)), told)


class _Cells(_Box):
    """Boxes whose columns are named as in a grid of the program."""


class _Bag(Support):
    def __init__(self, inputs, key, weight, keys, aggregate):
        super().__init__(inputs, aggregate)
        self._key, self._weight, self._keys = key, weight, keys

    def place(self, data=None, aggregate=None):
        columns = _same_length(self._inputs, data)
        rows = len(next(iter(columns.values())))
        weight = self._weight
        weight = np.ones(rows) if weight is None else _arrays.column(weight, "weight", data, rows)
        _check_weight(weight)
        order, keys, offsets = by_bag(self._key, self._keys, data, rows)
        aggregate = self._needed(aggregate)
        if aggregate == "mean" and keys:
            _check_total(np.add.reduceat(weight[order], offsets[:-1]), keys)
        at = [np.ascontiguousarray(own[order]) for own in columns.values()]
        weight = np.ascontiguousarray(weight[order])
        arguments = (list(columns), at, weight, offsets, aggregate)
        return Placed("bags", arguments, {"key": keys})


class _Region(Support):
    def __init__(self, geometries, dims, planar, inputs, aggregate):
        super().__init__(inputs, aggregate)
        if not isinstance(dims, (tuple, list, str)) or not all(isinstance(d, str) for d in dims):
            raise DataError(f"dims are {dims!r}; give the names of two inputs")
        self._geometries, self._plane = geometries, list(dims)
        if len(self._plane) != 2:
            raise DataError(f"dims are {self._plane}; regions lie in two inputs")
        _geometry.check(geometries)
        if hasattr(geometries, "__next__"):
            self._geometries = list(geometries)
        self._planar = None if planar is None else _arrays.boolean(planar, "planar")

    @property
    def dims(self):
        return self._plane + list(self._inputs)

    def place(self, data=None, aggregate=None):
        geometries, degrees = _geometry.regions(self._geometries, self._planar, data)
        first, second, told = _sides(self._inputs, data, len(geometries))
        arguments = (self.dims, geometries, first, second, self._needed(aggregate))
        own = self._geometries
        if isinstance(own, str):
            own = _frames.take(data, own, "geometries")
        index, crs = getattr(own, "index", None), getattr(own, "crs", None)
        crs = _crs.named(geometries) if crs is None else crs
        return Placed("regions", arguments, told, crs, None if callable(index) else index, degrees)


def point(inputs: Mapping[str, Any] | None = None, /, **named: Any) -> Support:
    """The value at points.

    Parameters
    ----------
    **named : array_like or str
        Coordinates by the name of the input.
    inputs : dict, optional
        The same by name, where a name is no word of Python.

    Examples
    --------
    >>> import quadrat as qd
    >>> qd.point(x=[0.0, 1.0, 2.0])
    <point over x>
    """
    return _Point(_named(inputs, named))


def box(inputs: Mapping[str, Any] | None = None, /, *, aggregate: str | None = None,
        **named: Any) -> Support:
    """Totals or averages over boxes.

    Parameters
    ----------
    **named : pair of array_like or str, or array_like or str
        Lower and upper edges by the name of the input, in either order; or one column, where the
        box is a point along that input.
    inputs : dict, optional
        The same by name, where a name is no word of Python.
    aggregate : {"sum", "mean"}
        The integral over the box, or that divided by its volume.

    Examples
    --------
    >>> import quadrat as qd
    >>> qd.box(age=([0, 10], [10, 20]), aggregate="sum")
    <box over age>
    """
    return _Box(_named(inputs, named), aggregate)


def grid(inputs: Mapping[str, Any] | None = None, /, **named: Any) -> Support:
    """The points of a grid: every combination of the coordinates, the last input fastest.

    Parameters
    ----------
    **named : array_like
        The coordinates along each input.
    inputs : dict, optional
        The same by name, where a name is no word of Python.

    Examples
    --------
    >>> import quadrat as qd
    >>> support, columns = qd.grid(x=[0, 1], y=[0, 1, 2]).bind()
    >>> len(support)
    6
    """
    axes = {name: _arrays.column(value, name) for name, value in _named(inputs, named).items()}
    return _Point(dict(zip(axes, _product(axes.values()))))


def cells(inputs: Mapping[str, Any] | None = None, /, *, aggregate: str | None = None,
          **named: Any) -> Support:
    """The cells of a grid: boxes between neighbouring edges.

    Parameters
    ----------
    aggregate : {"sum", "mean"}
        The integral over each cell, or that divided by its volume.
    **named : array_like
        The edges along each input.
    inputs : dict, optional
        The same by name, where a name is no word of Python.

    Examples
    --------
    >>> import quadrat as qd
    >>> support, columns = qd.cells(age=range(0, 101), aggregate="sum").bind()
    >>> len(support), list(columns)
    (100, ['age_lower', 'age_upper'])
    """
    edges = {name: _arrays.column(value, name) for name, value in _named(inputs, named).items()}
    for name, own in edges.items():
        if len(own) < 2:
            raise DataError(f"{name} has {len(own)} edges; cells need two or more")
    lower = _product(own[:-1] for own in edges.values())
    upper = _product(own[1:] for own in edges.values())
    return _Cells(dict(zip(edges, zip(lower, upper))), aggregate)


def region(geometries: Any, *, dims: Sequence[str] = ("x", "y"), planar: bool | None = None,
           aggregate: str | None = None, **inputs: Mapping[str, Any] | None) -> Support:
    """Totals or averages over polygons.

    Parameters
    ----------
    geometries : sequence or str
        Polygons and multipolygons: of geopandas or shapely, or as WKB (bytes, or an Arrow column
        such as geoarrow.wkb or that of a GeoParquet file), which both go in as their bytes; or as
        GeoJSON-like dicts, a feature collection, or anything with ``__geo_interface__``.
    dims : pair of str
        The inputs of the two coordinates.
    planar : bool, optional
        Whether coordinates are taken as they are, in a plane. Where it is not given the CRS says
        it, and without one they are. Else they are longitudes and latitudes, projected as in
        studies: to kilometres (azimuthal equal-area about all observed regions), so that
        lengthscales are in km and densities per km^2. Points, boxes and bags of such a model are
        in degrees too.
    aggregate : {"sum", "mean"}
        The integral over the region, or that divided by its area.
    **inputs
        Further inputs, as in :func:`box`.

    Examples
    --------
    >>> import quadrat as qd
    >>> def square(x):
    ...     ring = [[x, 0], [x + 1, 0], [x + 1, 1], [x, 1], [x, 0]]
    ...     return {"type": "Polygon", "coordinates": [ring]}
    >>> model = qd.Model("se(x, y, shared = true)")
    >>> births = qd.region([square(0), square(1), square(2)], aggregate="sum")
    >>> post = model.observe(births, value=[10, 14, 9], noise=0).fit()
    >>> post.predict(qd.region([square(1)], aggregate="sum")).mean.round(2)
    array([14.])
    """
    return _Region(geometries, dims, planar, inputs, aggregate)


def bag(inputs: Mapping[str, Any] | None = None, /, *, key: Column, weight: Column | None = None,
        keys: Sequence[Any] | None = None, aggregate: str | None = None, **named: Any) -> Support:
    """Weighted sums or averages over the points of each key, such as the pixels of a district.

    Parameters
    ----------
    **named : array_like or str
        Coordinates of the points by the name of the input.
    inputs : dict, optional
        The same by name, where a name is no word of Python.
    key : array_like or str
        To which bag each point belongs.
    weight : array_like or str, optional
        The weight of each point, such as people; one each where it is not given.
    keys : sequence, optional
        The bags in the order of the rows; in the order of their first points where not given.
    aggregate : {"sum", "mean"}
        The sum of weight times value, or that divided by the sum of weights.

    Examples
    --------
    >>> import quadrat as qd
    >>> pixels = qd.bag(x=[0, 1, 2, 3], key=["a", "a", "b", "b"], weight=[5, 5, 2, 8],
    ...                 aggregate="mean")
    >>> post = qd.Model("se(x)").observe(pixels, value=[1.0, 3.0], noise=0).fit()
    >>> post.predict(pixels).mean.round(2)
    array([1., 3.])
    """
    return _Bag(_named(inputs, named), key, weight, keys, aggregate)


def _named(inputs, named):
    if not isinstance(inputs, (dict, type(None))):
        raise DataError(f"inputs is {type(inputs).__name__}; name each, such as x=[0, 1, 2], or "
                        "give a dict of them by name")
    twice = [name for name in inputs or () if name in named]
    if twice:
        raise DataError(f"the input \"{twice[0]}\" is given twice; give it once")
    given = {**(inputs or {}), **named}
    if not given:
        raise DataError("no input is given; name one, such as x=[0, 1, 2]")
    return given


def _same_length(inputs, data):
    columns = {name: _arrays.column(value, name, data) for name, value in inputs.items()}
    rows = {name: len(own) for name, own in columns.items()}
    if len(set(rows.values())) > 1:
        raise DataError(f"the inputs have different numbers of rows: {rows}")
    return columns


def _sides(inputs, data, rows=None):
    """First and second edges along every input, and the columns they are told as."""
    told = {}
    pairs = [name for name, value in inputs.items() if isinstance(value, tuple) and len(value) == 2]
    clash = [name for name in pairs for end in ("lower", "upper") if f"{name}_{end}" in inputs]
    if clash:
        raise DataError(f"the ends of {clash[0]} are called {clash[0]}_lower and "
                        f"{clash[0]}_upper, as another input is; give that another name")
    for name, value in inputs.items():
        if name in pairs:
            for end, own in zip(("lower", "upper"), value):
                told[f"{name}_{end}"] = _arrays.column(own, f"{name} ({end})", data, rows)
        else:
            told[name] = _arrays.column(value, name, data, rows)
    lengths = {name: len(own) for name, own in told.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"the inputs have different numbers of rows: {lengths}")
    first = [told[name] if name in told else told[f"{name}_lower"] for name in inputs]
    second = [told.get(f"{name}_upper") for name in inputs]
    return first, second, told


def _product(axes):
    axes = list(axes)
    return [np.ascontiguousarray(own.ravel()) for own in np.meshgrid(*axes, indexing="ij")]


def _check_weight(weight):
    wrong = np.flatnonzero(~(weight >= 0) | np.isinf(weight))
    if len(wrong):
        raise DataError(f"weight is {weight[wrong[0]]:g} in row {wrong[0]}; it must be a finite "
                        "number, zero or more")


def _check_total(totals, keys):
    empty = np.flatnonzero(totals == 0)
    if len(empty):
        raise DataError(f"weight: the weights of the bag {keys[empty[0]]!r} are all zero; give it a "
                        "point of positive weight, or leave it out")


def plain(keys, name="key"):
    """Keys as Python has them: arrays, files and frames have kinds of their own."""
    if hasattr(keys, "to_pylist"):
        return keys.to_pylist()
    shape = getattr(keys, "shape", None)
    if isinstance(keys, (str, bytes)) or not hasattr(keys, "__iter__") or shape == ():
        raise DataError(f"{name} is {type(keys).__name__}; give one for each row")
    if shape is not None and len(shape) != 1:
        raise DataError(f"{name} has the shape {shape}; give one for each row")
    if np.ma.isMaskedArray(keys):
        return keys.tolist()
    found = [key.item() if hasattr(key, "item") else key for key in keys]
    for row, key in enumerate(found):
        if getattr(key, "__hash__", None) is None:
            raise DataError(f"{name} is {type(key).__name__} in row {row}; a key is a number or a "
                            "text")
    return found


def by_bag(key, keys, data, rows):
    """The points by bag, the keys of the bags, and where each begins.

    Bags are in the order of their first points where `keys` is not given.
    """
    if isinstance(key, str):
        key = _frames.take(data, key, "key")
    own = plain(key)
    if len(own) != rows:
        raise DataError(f"key has {len(own)} rows, and the inputs have {rows}")
    if keys is None:
        missing = next((row for row, name in enumerate(own) if _frames.is_missing(name)), None)
        if missing is not None:
            raise DataError(f"key is missing in row {missing}; leave this point out, or give keys, "
                            "the bags that are meant")
    numbers = {}
    number = np.fromiter((numbers.setdefault(name, len(numbers)) for name in own),
                         dtype=np.intp, count=rows)
    order = np.argsort(number, kind="stable")
    sizes = np.bincount(number, minlength=len(numbers))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    if keys is None:
        return order, list(numbers), offsets.tolist()
    keys = plain(keys, "keys")
    for name in keys:
        if name not in numbers:
            raise DataError(f"keys: no point has the key {name!r}")
    at = [numbers[name] for name in keys]
    order = np.concatenate([order[offsets[i]:offsets[i + 1]] for i in at] or [order[:0]])
    return order, keys, np.concatenate([[0], np.cumsum(sizes[at])]).tolist()
