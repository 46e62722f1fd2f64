"""Gaussian-process inference for data seen only through bins, areas, bags, intervals and counts.

Three ways in, one engine:

* arrays: build a :class:`Model`, observe supports (:func:`point`, :func:`box`, :func:`region`,
  :func:`bag`) with a likelihood, fit, predict;
* study files: :func:`run` a file or a dict, with the numbers and messages of the program
  ``quadrat``;
* jobs in one line: :func:`ungroup`, :func:`reconcile`, :class:`Density`, :class:`Density2d`,
  :func:`areal_interpolate`, :func:`disaggregate`; :func:`fit_many` for a model of every group;
  :class:`Campaign` for what to measure next.

:mod:`quadrat.sklearn` has estimators for pipelines, and :mod:`quadrat.dask` fits bags whose points
stay in partitions on many machines.

Examples
--------
Ages from ten-year bands:

>>> import quadrat as qd
>>> model = qd.Model(kernel="se(age)")
>>> bands = qd.box(age=([0, 10, 20, 30], [10, 20, 30, 40]), aggregate="sum")
>>> post = model.observe(bands, value=[120.0, 180.0, 260.0, 210.0], noise=1.0).fit()
>>> years = post.predict(qd.cells(age=range(0, 41), aggregate="sum"))
>>> years.mean.shape
(40,)
>>> bool(abs(years.mean[20:30].sum() - 260) < 2)
True
"""

import importlib

from ._quadrat import __version__, set_threads

# Where each name is: modules are imported when they are first asked for, so that importing the
# package is quick.
_PLACES = {
    "_areal": ["ArealFit", "areal_interpolate"],
    "_campaign": ["Campaign"],
    "_check": ["Check"],
    "_conditional": ["ConditionalDensity"],
    "_density": ["Density"],
    "_disaggregate": ["Disaggregated", "disaggregate"],
    "_errors": ["DataError", "FitError", "FitWarning", "InternalError", "LoadError"]
    + ["NotConverged", "Problem"],
    "_kernels": ["Kernel"],
    "_likelihoods": ["Bernoulli", "Binomial", "Censored", "Exponential", "Gamma", "Gaussian"]
    + ["Interval", "Laplace", "Likelihood", "LogNormal", "NegativeBinomial", "Ordinal", "Poisson"]
    + ["Positive", "StudentT", "Truncated"],
    "_many": ["ManyFits", "fit_many"],
    "_model": ["Model"],
    "_plane": ["Density2d"],
    "_posterior": ["Posterior", "load"],
    "_prediction": ["Prediction"],
    "_reconcile": ["Reconciled", "reconcile"],
    "_row_values": ["RowValues"],
    "_study": ["StudyResult", "Table", "run"],
    "_supports": ["Support", "bag", "box", "cells", "grid", "point", "region"],
    "_ungroup": ["Ungrouped", "UngroupedGroups", "UngroupedYears", "ungroup"],
    "_violins": ["violins"],
}
_WHERE = {name: module for module, names in _PLACES.items() for name in names}

__all__ = sorted(["__version__", "set_threads", *_WHERE])


def __getattr__(name):
    if name in ("dask", "sklearn"):
        return importlib.import_module("." + name, __name__)
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module 'quadrat' has no attribute {name!r}")
    found = getattr(importlib.import_module("." + module, __name__), name)
    globals()[name] = found
    return found


def __dir__():
    return __all__
