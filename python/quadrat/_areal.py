"""Totals, averages or counts of some areas become those of others."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import _arrays, _frames
from ._errors import DataError, FitWarning
from ._posterior import write
from ._study import run
from ._supports import region
from ._told import NUMBERS, apart

if TYPE_CHECKING:
    from typing import Any

    from ._kernels import Kernel
    from ._types import Path, Progress

_KEY = "quadrat_row"


class ArealFit:
    """A density or a rate over the plane, which was learned from areas.

    Attributes
    ----------
    posterior : Posterior
        The posterior.
    is_planar : bool
        Whether coordinates are taken as they are.
    warnings : list of str
        What a careful reader should know.
    """

    def __init__(self, source: Any, study: Mapping[str, Any], aggregate: str | None,
                 planar: bool | None, result: Any) -> None:
        self._source, self._study, self._aggregate = source, study, aggregate
        self._planar, self.posterior = planar, result.posterior
        self.is_planar = _is_plane(source, planar)
        self.warnings, self._model = result.warnings, result.model

    def __repr__(self) -> str:
        return f"<ArealFit of {self._study['title']}, {self.posterior.kernel}>"

    def save(self, path: Path) -> None:
        """Writes the model file, which ``quadrat predict`` reads."""
        write(path, self._model)

    def predict(self, target: Any = None, *, cell: float | None = None) -> Any:
        """What is told of other areas.

        Parameters
        ----------
        target : GeoDataFrame or feature collection, optional
            The areas that are asked for; the sources where neither is given.
        cell : float, optional
            The width of the squares that are asked for, cut off at the borders of the sources;
            needs a GeoDataFrame in a projected CRS, in whose units it is.

        Returns
        -------
        GeoDataFrame or list of dict
            As of :func:`areal_interpolate`.
        """
        if target is not None and cell is not None:
            raise DataError("give either target or cell")
        if cell is not None:
            target = _squares(self._source, _arrays.number(cell, "cell"), self.is_planar)
        target = self._source if target is None else target
        _check_names(target)
        _check_kind(target, self._planar, self.is_planar)
        shapes = [one["geometry"] for one in _features(target, "target")]
        support = region(shapes, planar=self.is_planar, aggregate=self._aggregate)
        return _told(target, self.posterior.predict(support).to_dict())


def areal_interpolate(source: Any, target: Any = None, *, total: str | None = None,
                      average: str | None = None, counts: str | None = None,
                      exposure: str | None = None, variance: float = 0, overdispersed: bool = False,
                      kernel: str | Kernel | None = None, link: str | None = None,
                      hyperparameters: Mapping[str, Any] | None = None, method: str = "auto",
                      planar: bool | None = None, seed: int = 0, progress: Progress = None) -> Any:
    """Totals, averages or counts of some areas, told for others, with intervals.

    Every area enters as the integral or the average over it that it is. Totals of the sources are
    met; counts are taken for what chance made of a rate, and rates are told.

    Parameters
    ----------
    source, target : GeoDataFrame or feature collection
        The areas that were observed, and those that are asked for. Longitudes and latitudes are
        projected as the program does; coordinates with a projected CRS are taken as they are.
        Without targets the fit is returned, which predicts later.
    total, average, counts : str
        The column that holds the total, the average, or the count of events of each source.
    exposure : str, optional
        The column of what `counts` are proportional to, such as people: then events per person are
        told, else the expected numbers of events, which are proportional to areas.
    variance : float, default 0
        The known variance of totals and averages; 0 where they are exact.
    overdispersed : bool
        Whether counts vary by more than chance (negative binomial).
    kernel : str, optional
        Over ``x`` and ``y``; a broad and a fine part where it is not given.
    link : {"exp", "softplus"}, optional
        Keeps what is added up above zero; counts have ``exp`` where it is not given.
    hyperparameters : dict, optional
        What is said about hyperparameters, as for `Model`.
    method : str
        As for `Model.fit`; ``"sparse"`` where counts of many or large areas ask for it.
    planar : bool, optional
        Whether coordinates are taken as they are, where no CRS says it.
    seed : int
        Fixes everything random.
    progress : bool or callable, optional
        As for `Model.fit`.

    Returns
    -------
    GeoDataFrame, list of dict, or ArealFit
        The targets with ``mean``, ``sd``, ``lower``, ``median`` and ``upper``; of a feature
        collection one dict for each feature. Without targets the fit.

    Examples
    --------
    >>> import quadrat as qd
    >>> def strips(edges, **columns):
    ...     return {"type": "FeatureCollection", "features": [
    ...         {"type": "Feature", "properties": {name: own[at] for name, own in columns.items()},
    ...          "geometry": {"type": "Polygon", "coordinates": [
    ...              [[a, 0], [b, 0], [b, 1], [a, 1], [a, 0]]]}}
    ...         for at, (a, b) in enumerate(zip(edges, edges[1:]))]}
    >>> districts = strips([0, 2, 4, 6], births=[10, 14, 9])
    >>> halves = qd.areal_interpolate(districts, strips(range(7)), total="births", planar=True)
    >>> len(halves), round(halves[0]["mean"] + halves[1]["mean"], 2)
    (6, 10.0)
    """
    given = {"total": total, "average": average, "counts": counts}
    told = [name for name, column in given.items() if column is not None]
    if len(told) != 1:
        raise DataError("give one of total, average and counts: a column of the source")
    overdispersed = _arrays.boolean(overdispersed, "overdispersed")
    if counts is None and (exposure is not None or overdispersed):
        raise DataError("exposure and overdispersed belong to counts; give counts")
    if counts is not None and variance != 0:
        raise DataError("variance belongs to total and average; counts have that of chance")
    value = given[told[0]]
    _check_columns(source, value, exposure)
    is_planar = _is_plane(source, planar)
    if target is not None:
        _check_names(target)
        _check_kind(target, planar, is_planar)
    aggregate = "mean" if average is not None or exposure is not None else "sum"
    if counts is None:
        likelihood = {"gaussian": {"value": value, "variance": variance, "link": link}}
    else:
        kind = "negative_binomial" if overdispersed else "poisson"
        likelihood = {kind: {"count": counts, "exposure": exposure}}
    part = "se(x, y, shared = true)"
    support = {"key": _KEY, "dims": ["x", "y"], "planar": True if is_planar else None}
    study = {
        "title": f"{value} by areal interpolation",
        "latent": {"kernel": str(kernel or f"{part} + {part}"),
                   "link": link if counts is not None else None},
        "observe": [{
            "file": _keyed(source, "source"), "support": {"region": support},
            "aggregate": aggregate, "likelihood": likelihood,
        }],
        "hyperparameters": hyperparameters,
        "inference": {"seed": _arrays.whole(seed, "seed"), "method": method},
    }
    result = _fitted(study, target, aggregate, is_planar, progress)
    for warning in result.warnings:
        warnings.warn(warning, FitWarning, stacklevel=2)
    if target is None:
        return ArealFit(source, study, aggregate, planar, result)
    return _told(target, result["target"])


def _fitted(study, target, aggregate, is_planar, progress):
    """What the program says of a study, and of targets where there are any."""
    support = {"key": _KEY, "dims": ["x", "y"], "planar": True if is_planar else None}
    asked = {} if target is None else {"predict": [{
        "name": "target", "aggregate": aggregate,
        "support": {"region": {"file": _keyed(target, "target"), **support}},
    }]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return run({**study, **asked}, progress=progress)


def _told(target, columns):
    columns = {name: columns[name] for name in NUMBERS}
    if hasattr(target, "assign"):
        return target.assign(**columns)
    rows = zip(*columns.values())
    return [dict(zip(columns, map(float, row))) for row in rows]


def _is_planar(areas):
    crs = getattr(areas, "crs", None)
    return bool(crs is not None and not crs.is_geographic)


def _is_plane(source, planar):
    return _is_planar(source) if planar is None else _arrays.boolean(planar, "planar")


def _check_kind(target, planar, is_planar):
    """Coordinates of targets are those of the sources, unless it was said what they are."""
    if planar is None and is_planar != _is_planar(target):
        raise DataError("source and target have different kinds of coordinates; bring both to one "
                        "CRS, such as target.to_crs(source.crs)")


def _check_names(target):
    """Columns of targets, which come back beside what is told, have names of their own."""
    if hasattr(target, "assign"):
        apart(map(str, target.columns), remedy="rename or drop that column of the targets, such "
              "as target.drop(columns=[..])")


def _check_columns(source, *names):
    properties = [one.get("properties") or {} for one in _features(source, "source")]
    for name in names:
        if name is not None and properties and name not in properties[0]:
            listed = ", ".join(f"\"{one}\"" for one in properties[0])
            raise DataError(f"source has no column \"{name}\"; it has {listed}")


def _features(areas, name):
    found = areas if isinstance(areas, Mapping) else getattr(areas, "__geo_interface__", None)
    if not isinstance(found, Mapping) or found.get("type") != "FeatureCollection":
        raise DataError(f"{name} must be a GeoDataFrame or a feature collection")
    return found["features"]


def _keyed(areas, name):
    """A feature collection whose features have their place among the rows as a property."""
    features = [{"type": "Feature", "geometry": one["geometry"],
                 "properties": {**(one.get("properties") or {}), _KEY: f"row {at}"}}
                for at, one in enumerate(_features(areas, name))]
    return {"type": "FeatureCollection", "features": features}


def _squares(source, cell, is_planar):
    """Squares that cover the sources, cut off at their borders."""
    if not hasattr(source, "geometry"):
        raise DataError("squares are cut from a GeoDataFrame; give target, the areas themselves")
    if not is_planar:
        raise DataError("squares of degrees have different sizes; project the source first, such "
                        "as source.to_crs(source.estimate_utm_crs())")
    left, low, right, high = source.total_bounds
    number = [math.ceil((b - a) / cell - 1e-9) if cell > 0 else 0
              for a, b in ((left, right), (low, high))]
    if not 0 < number[0] * number[1] <= 1_000_000:
        raise DataError(f"cell is {cell:g}; squares of this width do not cover the sources, which "
                        f"are {right - left:g} by {high - low:g}")
    geopandas = _frames.module("geopandas", "to cut squares", "geo")
    box = _frames.module("shapely", "to cut squares", "geo").box
    shapes = [box(left + i * cell, low + j * cell, left + (i + 1) * cell, low + (j + 1) * cell)
              for i in range(number[0]) for j in range(number[1])]
    squares = geopandas.GeoDataFrame(geometry=shapes, crs=source.crs)
    whole = geopandas.GeoDataFrame(geometry=[source.geometry.union_all()], crs=source.crs)
    return geopandas.overlay(squares, whole, how="intersection", keep_geom_type=True)
