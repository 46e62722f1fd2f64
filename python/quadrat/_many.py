"""Many independent fits: one for each group of rows."""

from __future__ import annotations

import concurrent.futures
import inspect
import os
import threading
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _frames, _groups, _progress
from ._errors import DataError, FitError, FitWarning
from ._model import Model
from ._posterior import Posterior
from ._study import Table
from ._told import NUMBERS, apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ._supports import Support
    from ._types import Frame, Progress

_MODEL = ("kernel", "mean", "link", "hyperparameters")
# Columns of the table of all groups.
_FACTS = ("failure", "log_evidence", "rows")
_INTERRUPTED = "the fits were interrupted before this one ended"
_OBSERVE = ("support", "likelihood", "value", "noise", "aggregate", "output", "times")


class ManyFits(Mapping):
    """What every group gave: a mapping of the groups that were fitted to their posteriors.

    Attributes
    ----------
    posteriors : dict
        The posterior of each group that was fitted, in the order of the groups.
    failures : dict
        The exception of each group that was not.
    warnings : dict
        What a careful reader should know of a group, where there is anything.
    by : list of str
        The columns that tell the groups apart.
    """

    def __init__(self, by: Any, keys: Any, found: Any, like: Any) -> None:
        self.by = [by] if isinstance(by, str) else list(by)
        self._is_one, self._keys, self._like = isinstance(by, str), list(keys), like
        self.posteriors = {key: found[key][0] for key in self._keys if found[key][1] is None}
        self.failures = {key: found[key][1] for key in self._keys if found[key][1] is not None}
        self.warnings = {key: told for key, post in self.posteriors.items()
                         if (told := list(getattr(post, "warnings", ())))}

    def __getitem__(self, key: Any) -> Any:
        if key in self.failures:
            raise KeyError(f"the fit of {key!r} failed: {self.failures[key]}")
        return self.posteriors[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.posteriors)

    def __len__(self) -> int:
        return len(self.posteriors)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"<ManyFits by {', '.join(self.by)}: {len(self)} fitted{failed}>"

    def _key_columns(self, keys):
        rows = [(key,) for key in keys] if self._is_one else keys
        return {name: [row[at] for row in rows] for at, name in enumerate(self.by)}

    def to_frame(self) -> Any:
        """A row for each group: what was learned, or why it failed.

        Columns are those of the groups, ``failure``, ``log_evidence``, ``rows``, and one for each
        hyperparameter; numbers of groups that failed are missing.
        """
        columns = self._key_columns(self._keys)
        columns["failure"] = [str(self.failures[key]) if key in self.failures else None
                              for key in self._keys]
        told = [_facts(self.posteriors.get(key)) for key in self._keys]
        for name in dict.fromkeys(name for row in told for name in row):
            columns[name] = np.array([row.get(name, np.nan) for row in told])
        return _frames.make(columns, None if hasattr(self._like, "iloc") else self._like)

    def predict(self, support: Support, scale: str = "response", level: float = 0.95, *,
                data: Frame | None = None, **settings: Any) -> Table:
        """Predictions of all groups that were fitted, one below the other.

        Parameters
        ----------
        support, scale, level
            As for `Posterior.predict`.
        **settings
            As for `Posterior.predict`.
        data : data frame, optional
            Where names of columns are looked up. Where it has the columns of the groups, each
            group is predicted at its own rows; else all at all rows.

        Returns
        -------
        Table
            The columns of the groups, those of the support, ``mean``, ``sd``, ``lower``,
            ``median`` and ``upper``.
        """
        frames = dict.fromkeys(self.posteriors, data)
        if data is not None and set(self.by) <= set(_frames.names(_groups.columned(data)) or ()):
            own = _groups.groups(data, self.by[0] if self._is_one else self.by)
            frames = {key: frame for key, frame in own.items() if key in self.posteriors}
        if not frames:
            raise DataError("no group of the data was fitted")
        keys, parts = [], []
        for key, frame in frames.items():
            told = self.posteriors[key].predict(support, scale, level, data=frame, **settings)
            keys += [key] * len(told)
            parts.append(told.to_dict())
        apart(self.by, parts[0], "give that input another name")
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return Table({**self._key_columns(keys), **columns})


def _facts(post):
    if not isinstance(post, Posterior):
        return {}
    return {"log_evidence": post.log_evidence, "rows": post.facts["rows"], **post.hyperparameters}


class _Recipe:
    """The same model of the rows of every group."""

    def __init__(self, said):
        known = (*_MODEL, *_OBSERVE, "fit")
        unknown = [key for key in said if key not in known]
        if unknown:
            raise DataError(f"fit has no {unknown[0]!r}; there are {', '.join(known)}")
        for key in ("kernel", "support"):
            if key not in said:
                raise DataError(f"fit has no {key!r}; give a dict such as {{\"kernel\": \"se(t)\", "
                                "\"support\": qd.point(t=\"t\"), \"value\": \"y\"}, or a function")
        self._model = {key: said[key] for key in _MODEL if key in said}
        self._observe = {key: said[key] for key in _OBSERVE if key in said}
        self._fit = {"threads": 1, **said.get("fit", {})}
        unknown = set(self._fit) - set(inspect.signature(Model.fit).parameters)
        if unknown:
            raise DataError(f"fit: Model.fit has no {min(unknown)!r}")
        # A kernel that is none is told before any work, not by every group.
        Model(**self._model)

    def __call__(self, group, seed, stop):
        model = Model(**self._model).observe(**self._observe, data=group)
        return model._fitted(seed=seed, progress=stop, **self._fit)


class _Interrupted(FitError):
    """Why a group was not fitted that an interrupt found waiting, or under way."""


class _Stop:
    """Ends the fits of other threads: a fit asks it some times a second."""

    def __init__(self):
        self._event = threading.Event()

    def set(self):
        self._event.set()

    def __call__(self, *event):
        if self._event.is_set():
            raise _Interrupted(_INTERRUPTED)


def fit_many(frame: Frame, *, by: str | Sequence[str], fit: Any, seed: int | Mapping[Any, int] = 0,
             threads: int | None = None, client: Any = None, progress: Progress = None) -> ManyFits:
    """Fits one model for each group of rows, several at a time.

    A group whose fit fails is kept with its exception, and the others go on.

    Ctrl-C returns the groups that are fitted so far, with a warning; the others are failures. Where
    none is fitted yet it raises `KeyboardInterrupt`, as a second Ctrl-C does.

    Parameters
    ----------
    frame : data frame
        The rows: pandas, polars, pyarrow, a dict of arrays.
    by : str or list of str
        The columns that tell the groups apart.
    fit : dict or callable
        What is fitted: a dict of arguments of `Model` and `Model.observe`, with those of
        `Model.fit` under ``"fit"``; or a function of the rows of a group, which is given `seed`
        too if it takes it. What it returns is kept, a posterior or anything else.
    seed : int or mapping, default 0
        The seed of every group, or one for each key. A group's answer is that of its rows alone:
        it does not depend on the other groups, their order, or `threads`.
    threads : int, optional
        How many fits run at a time; the number of processors where it is not given. Each has one
        thread of its own.
    client : dask.distributed.Client or concurrent.futures.Executor, optional
        Runs the fits in its processes, in place of threads.
    progress : bool or callable, optional
        As for `Model.fit`; told are groups.

    Returns
    -------
    ManyFits

    Examples
    --------
    >>> import quadrat as qd
    >>> rows = {"town": ["a", "a", "a", "b", "b", "b"], "t": [0.0, 1, 2, 0, 1, 2],
    ...         "cars": [3, 8, 12, 9, 4, 2]}
    >>> fits = qd.fit_many(rows, by="town", fit={
    ...     "kernel": "se(t)", "support": qd.point(t="t"), "likelihood": qd.Poisson("cars")})
    >>> fits
    <ManyFits by town: 2 fitted>
    >>> fits["b"].predict(qd.point(t=[0.5])).mean.shape
    (1,)
    """
    run = _Recipe(fit) if isinstance(fit, Mapping) else fit
    if not callable(run):
        raise DataError(f"fit is {type(fit).__name__}; give a dict of arguments, or a function of "
                        "the rows of a group")
    names = [by] if isinstance(by, str) else by if isinstance(by, (list, tuple)) else []
    apart(names, (*_FACTS, *NUMBERS))
    own = _groups.groups(frame, by)
    seeds = _seeds(seed, own)
    with _progress.listener(progress) as listen:
        if client is None:
            found = _on_threads(run, own, seeds, threads, listen)
        elif threads is not None:
            raise DataError("give either threads or client")
        else:
            found = _by_client(client, run, own, seeds, listen)
    fits = ManyFits(by, own, found, next(iter(own.values())))
    _tell(fits)
    return fits


def _seeds(seed, own):
    if not isinstance(seed, Mapping):
        return dict.fromkeys(own, _arrays.whole(seed, "seed"))
    missing = [key for key in own if key not in seed]
    if missing:
        raise DataError(f"seed has none for the group {missing[0]!r}")
    return {key: _arrays.whole(seed[key], "seed") for key in own}


def _one(run, group, seed, stop=None):
    """What a group gave, or its exception."""
    try:
        if isinstance(run, _Recipe):
            return run(group, seed, stop), None
        return (run(group, seed=seed) if _takes_seed(run) else run(group)), None
    except Exception as error:
        return None, error


def _takes_seed(run):
    try:
        return "seed" in inspect.signature(run).parameters
    except (TypeError, ValueError):
        return False


def _on_threads(run, own, seeds, threads, listen):
    own_to_us = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    workers = len(own_to_us(0)) if threads is None else _arrays.whole(threads, "threads", 1)
    stop = _Stop()
    pool = concurrent.futures.ThreadPoolExecutor(min(workers, len(own)), "quadrat")
    try:
        futures = {pool.submit(_one, run, group, seeds[key], stop): key
                   for key, group in own.items()}
        return _collected(futures, concurrent.futures.as_completed(futures), listen)
    finally:
        # Only an exception finds fits that still run.
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _by_client(client, run, own, seeds, listen):
    if not hasattr(client, "submit"):
        raise DataError(f"client is {type(client).__name__}; give a dask.distributed.Client or an "
                        "executor of concurrent.futures")
    is_executor = isinstance(client, concurrent.futures.Executor)
    # Dask takes calls with the same arguments for the same, which functions with a state are not.
    settings = {} if is_executor else {"pure": False}
    futures = {client.submit(_one, run, group, seeds[key], **settings): key
               for key, group in own.items()}
    if is_executor:
        done = concurrent.futures.as_completed(futures)
    else:
        done = _frames.module("distributed", "for this client", "dask").as_completed(futures)
    try:
        return _collected(futures, done, listen)
    finally:
        for future in futures:
            if not future.done():
                future.cancel()


def _collected(futures, done, listen):
    found = {}
    try:
        for number, future in enumerate(done, 1):
            error = future.exception()
            found[futures[future]] = future.result() if error is None else (None, error)
            if listen is not None:
                listen("fitting", number, len(futures), None)
    except KeyboardInterrupt:
        if all(error is not None for _, error in found.values()):
            raise
        for key in futures.values():
            found.setdefault(key, (None, _Interrupted(_INTERRUPTED)))
    return found


def _tell(fits):
    total = len(fits) + len(fits.failures)
    failed = {key: error for key, error in fits.failures.items()
              if not isinstance(error, _Interrupted)}
    stopped = len(fits.failures) - len(failed)
    if stopped:
        warnings.warn(f"the fits were interrupted: {len(fits)} of {total} groups are fitted, and "
                      f"{stopped} are not, see failures", FitWarning, stacklevel=3)
    if failed:
        key, error = next(iter(failed.items()))
        warnings.warn(f"{len(failed)} of {total} fits failed, see failures; the first is "
                      f"{key!r}: {error}", FitWarning, stacklevel=3)
    if fits.warnings:
        warnings.warn(f"{len(fits.warnings)} of {total} fits have warnings, see warnings",
                      FitWarning, stacklevel=3)
