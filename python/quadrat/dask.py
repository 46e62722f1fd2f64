"""Fits whose points are more than one machine holds, in the processes of a Dask cluster.

The points lie in partitions, and all points of a bag in one of them. Every partition stays with
the worker that read it. A pass over all points sends out the hyperparameters and the belief about
M inducing values, and brings back sums of some M squared numbers, which are added in a fixed
order; the search itself runs here. `need` tells the memory of a worker. ``pip install
"quadrat[dask]"``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _frames, _points, _progress, _quadrat, _streamed
from ._errors import DataError, FitError
from ._likelihoods import Likelihood
from ._model import Model, asked
from ._posterior import Posterior, told
from ._supports import Support

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._types import Frame, Progress

__all__ = ["Bags", "fit", "need"]

# Sums that are added at a time: the tree of a thousand partitions has four levels.
_BRANCHES = 8
# How often workers may be lost in one pass before it is given up.
_TRIES = 3
# Bytes of a worker, as measured: before its first point, for each point, for each coordinate of a
# point, and for the square of the inducing points on every thread.
_IDLE, _POINT, _COORDINATE, _SQUARE = 200e6, 160, 32, 450
# Above this share of its limit a worker of Dask waits for memory, which no part lets go.
_SHARE = 0.8
# Inducing points where no number is given, at most.
_INDUCING = 100


class Bags:
    """Totals or averages over points that lie in partitions.

    Parameters
    ----------
    points : Dask data frame, str or list
        The points, in partitions: a Dask data frame, a Parquet file or a folder of such files, or
        a list of files or of data frames. All points of a bag lie in one partition; of a Dask data
        frame that is not so, ``points.shuffle(key)`` makes one.
    rows : data frame
        One row for each bag: what was observed, and the key.
    likelihood : Likelihood
        What the rows reported, by names of columns of `rows`: ``qd.Poisson("cases", "people")``.
    inputs : list of str
        The columns of the coordinates, by the names that the kernel has.
    key : str
        The column that tells to which bag a point belongs, in `points` and in `rows`.
    weight : str, optional
        The column of the weight of each point, such as people; one each where it is not given.
    aggregate : {"sum", "mean"}
        The sum of weight times value, or that divided by the sum of weights.

    Examples
    --------
    >>> import quadrat as qd
    >>> parts = [{"town": [0, 0, 1], "x": [0.0, 1, 2]}, {"town": [2, 2], "x": [3.0, 4]}]
    >>> counts = {"town": [0, 1, 2], "cases": [12, 9, 21]}
    >>> bags = qd.dask.Bags(parts, counts, qd.Poisson("cases"), inputs=["x"], key="town")
    >>> bags.columns()
    ['x', 'town']
    """

    def __init__(self, points: Any, rows: Frame, likelihood: Likelihood, *,
                 inputs: str | Sequence[str], key: str, weight: str | None = None,
                 aggregate: str = "sum") -> None:
        if not isinstance(likelihood, Likelihood):
            raise DataError(f"likelihood is {type(likelihood).__name__}; give one such as "
                            "qd.Poisson(\"cases\", \"people\")")
        self.inputs = [inputs] if isinstance(inputs, str) else list(inputs)
        if not self.inputs:
            raise DataError("inputs: name at least one column of coordinates")
        self.key, self.weight, self.aggregate = key, weight, aggregate
        self.points, self.likelihood = points, likelihood
        # Partitions of a Dask data frame hold their rows in no order that is promised.
        self.is_shuffled = hasattr(points, "to_delayed")
        self.rows = _points.Rows(rows, key)

    def columns(self) -> list[str]:
        """The columns of the points that are read."""
        weight = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.inputs, self.key, *weight]))


def _copy(model):
    made, said = model.__reduce__()
    return made(*said)


class _Part:
    """A partition where it was read, ready for passes."""

    def __init__(self, source, bags, model):
        self.points = _points.Points.read(source, bags)
        unknown = [key for key in self.points.keys if key not in bags.rows.at]
        if unknown:
            raise DataError(f"points have the key {unknown[0]!r}, of which there is no row; leave "
                            "such points out, or give its row")
        if len(self.points):
            # Processes of one machine may share the model, which is not theirs to change.
            rows = bags.rows.of(self.points.keys)
            self.model = self.points.observed_by(_copy(model), bags, rows)
        self._begun = None

    def __getstate__(self):
        # What a fit began with is made again where the part is moved to.
        return {**self.__dict__, "_begun": None}

    def told(self, most):
        """The keys, the number of points, and some points of every bag."""
        return self.points.keys, len(self.points), self.points.thinned(most)

    def sums(self, outline, before, pass_):
        """The sums over its points in one pass."""
        begun = self._begun
        if begun is None or begun[0] != (outline, before):
            begun = (outline, before), _quadrat.Shard(self.model._model, outline, before)
            self._begun = begun
        return begun[1].sums(pass_)


def fit(model: Model, bags: Bags, *, client: Any = None, at_once: int | None = None, seed: int = 0,
        hyperparameters: str = "auto", starts: int | None = None,
        inducing: int | Support | None = None, points: int = 64,
        progress: Progress = None) -> Posterior:
    """Fits a model to totals of points in partitions, through inducing points.

    The answer does not depend on the number of workers, nor on a worker that dies: its partitions
    are read again by others. Where no bag has more than `points` points it is that of `Model.fit`
    with ``method="sparse"``.

    Parameters
    ----------
    model : Model
        The prior, without rows.
    bags : Bags
        The rows.
    client : dask.distributed.Client, optional
        Where the partitions are read and passed over; in this process where it is not given.
    at_once : int, optional
        Without a client: of Parquet files about so many points are held at a time, those of some
        row groups, and read again for every pass. All are held where it is not given. The points
        of a bag lie one after the other in their file.
    seed, hyperparameters, starts, inducing, progress
        As for `Model.fit`.
    points : int, default 64
        So many points of every bag come here. They choose default priors, starts and inducing
        points, and begin the search. Of up to 2,000 bags 16 of them learn the hyperparameters, as
        in `Model.fit`; of more, the bound over all points does. The belief about the function,
        which predicts, is always that of all points.

    Returns
    -------
    Posterior

    Raises
    ------
    DataError
        For a bag in two partitions, for points without a row and rows without points, for
        what is wrong with either, and for workers whose memory is too small for their points.
    FitError
        Where a partition gives no answer, also after others took it over.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> x = np.linspace(0, 12, 480, endpoint=False)
    >>> points = {"x": x, "town": np.repeat(np.arange(24), 20), "people": np.full(480, 5.0)}
    >>> towns = np.arange(24)
    >>> rows = {"town": towns, "cases": np.round(100 * np.exp(0.5 * np.sin(towns / 2)))}
    >>> halves = [{name: column[half] for name, column in points.items()}
    ...           for half in (slice(0, 240), slice(240, 480))]
    >>> bags = qd.dask.Bags(halves, rows, qd.Poisson("cases"), inputs=["x"], key="town",
    ...                     weight="people")
    >>> post = qd.dask.fit(qd.Model("se(x)"), bags, inducing=12)
    >>> post.predict(qd.point(x=[3.0]), scale="response").mean.shape
    (1,)
    """
    if not isinstance(bags, Bags):
        raise DataError(f"bags is {type(bags).__name__}; give qd.dask.Bags(points, rows, ..)")
    if not isinstance(model, Model) or model._tables():
        raise DataError("give a model without rows: those of all partitions are in bags")
    how, at = asked("sparse", hyperparameters, seed, starts, None, inducing, False)
    most = _arrays.whole(points, "points", 1)
    there = _there(model, bags, client, at_once)
    try:
        parts = there.told(most)
        there.make_room([own for _, (_, own, _) in parts], len(bags.inputs), _number(inducing))
        stand_in, total, kept = _stand_in(model, bags, parts)
        with _progress.listener(progress) as listen:
            fitted = stand_in._model.fit_in_shards(
                how, there.sums, total, kept < total, at, listen)
    finally:
        there.close()
    return told(Posterior(fitted, stand_in._tables()), stacklevel=3)


def _there(model, bags, client, at_once):
    """Where the parts are."""
    if at_once is None:
        return _Here(model, bags) if client is None else _Cluster(client, model, bags)
    if client is not None:
        raise DataError("at_once is for one process: workers of a client hold their partitions")
    return _Streamed(model, bags, _arrays.whole(at_once, "at_once", 1))


def _number(inducing):
    """How many inducing points there will be, at most."""
    if isinstance(inducing, Support):
        return inducing.place().rows
    return _INDUCING if inducing is None else inducing


def need(points: int, inputs: int, inducing: int, threads: int = 1) -> float:
    """Bytes that a worker needs for its points, about.

    ``200e6 + (160 + 32 d) n + 450 t M^2`` for n points of d coordinates, M inducing points and t
    threads, as measured: it holds its points, and adds up matrices on every thread.

    Parameters
    ----------
    points : int
        Points on one worker.
    inputs : int
        Coordinates of each.
    inducing : int
        Inducing points.
    threads : int
        Threads of the worker.

    Returns
    -------
    float

    Examples
    --------
    >>> import quadrat as qd
    >>> round(qd.dask.need(10_000_000, 2, 400) / 1e9, 1)
    2.5
    """
    counts = {"points": points, "inputs": inputs, "inducing": inducing, "threads": threads}
    for name, count in counts.items():
        if not isinstance(count, (int, np.integer)) or count < (name in ("inputs", "threads")):
            least = "of at least 1" if name in ("inputs", "threads") else "from 0 on"
            raise DataError(f"{name}: {count!r} is no whole number {least}")
    return (_IDLE + points * (_POINT + _COORDINATE * inputs)
            + threads * _SQUARE * float(inducing) ** 2)


def _stand_in(model, bags, parts):
    """The model with some points of every bag, the number of all points, and of those here."""
    seen = {}
    for number, (keys, _, _) in parts:
        for key in keys:
            if key in seen:
                raise DataError(f"the bag {key!r} has points in the partitions {seen[key] + 1} and "
                                f"{number + 1}; bring all points of a bag into one, as "
                                f"points.shuffle({bags.key!r}) of a Dask data frame does")
            seen[key] = number
    missing = [key for key in bags.rows.at if key not in seen]
    if missing:
        raise DataError(f"rows: the bag {missing[0]!r} has no points; leave its row out, or give "
                        "its points")
    some = [thin for _, (_, _, thin) in parts]
    columns = {name: np.concatenate([thin.columns[name] for thin in some]) for name in bags.inputs}
    sizes = np.concatenate([np.diff(thin.offsets) for thin in some])
    all_of = _points.Points(columns, np.concatenate([thin.weights for thin in some]), list(seen),
                            np.cumsum([0, *sizes]))
    return (all_of.observed_by(_copy(model), bags, bags.rows.of(seen)),
            sum(own for _, (_, own, _) in parts), len(all_of))


def _sources(points):
    """The partitions, each to be read by itself."""
    if hasattr(points, "to_delayed"):
        return list(points.to_delayed())
    if isinstance(points, (str, os.PathLike)):
        if not os.path.isdir(points):
            return [points]
        names = sorted(name for name in os.listdir(points) if name.endswith((".parquet", ".pq")))
        if not names:
            raise DataError(f"points: the folder {os.fspath(points)!r} has no file named .parquet")
        return [os.path.join(points, name) for name in names]
    if isinstance(points, (list, tuple)) and points:
        return list(points)
    raise DataError(f"points is {type(points).__name__}; give a Dask data frame, Parquet files, or "
                    "a list of data frames")


class _There:
    """The parts, wherever they are: what both ways of keeping them have in common."""

    def __init__(self):
        self.parts, self.rows = [], []

    def close(self):
        """Lets go of the parts."""
        self.parts = []

    def make_room(self, sizes, inputs, inducing):
        """Refuses passes for which there is no memory, where its limits are known."""

    def noted(self, all_told):
        """What the parts told, of those that have points, with the numbers of their partitions."""
        found = [(number, told) for number, told in enumerate(all_told) if told[1]]
        if not found:
            raise DataError("points: no partition has a point")
        self.rows = list(np.cumsum([0, *[len(keys) for _, (keys, _, _) in found]])[:-1])
        return found


class _Here(_There):
    """All parts in this process."""

    def __init__(self, model, bags):
        super().__init__()
        self.parts = [_Part(_computed(source), bags, model) for source in _sources(bags.points)]

    def told(self, most):
        found = self.noted([part.told(most) for part in self.parts])
        self.parts = [part for part in self.parts if len(part.points)]
        return found

    def sums(self, outline, pass_):
        parts = zip(self.parts, self.rows)
        return _in_tree([part.sums(outline, int(before), pass_) for part, before in parts],
                        _quadrat.add_sums)


class _Streamed(_There):
    """One part at a time, read again for every pass."""

    def __init__(self, model, bags, at_once):
        super().__init__()
        self.model, self.bags = model, bags
        for source in _sources(bags.points):
            if not isinstance(source, (str, os.PathLike)):
                raise DataError(f"at_once reads Parquet files again, and points have a "
                                f"{type(source).__name__}; give the paths of files")
            self.parts += _streamed.slices(source, bags.key, at_once)

    def told(self, most):
        return self.noted([_Part(part, self.bags, self.model).told(most) for part in self.parts])

    def sums(self, outline, pass_):
        total = None
        for part, before in zip(self.parts, self.rows):
            own = _Part(part, self.bags, self.model).sums(outline, int(before), pass_)
            # One after the other: as many sums as parts would not fit.
            total = own if total is None else _quadrat.add_sums([total, own])
        return total


def _computed(source):
    return source.compute() if hasattr(source, "compute") else source


class _Cluster(_There):
    """Each part with the worker that read it."""

    def __init__(self, client, model, bags):
        super().__init__()
        distributed = _frames.module("distributed", "for a client", "dask")
        if not isinstance(client, distributed.Client):
            raise DataError(f"client is {type(client).__name__}; give a dask.distributed.Client")
        self.client, self.lost = client, (
            distributed.KilledWorker, distributed.CancelledError, distributed.comm.CommClosedError)
        without = Bags.__new__(Bags)
        without.__dict__.update({**bags.__dict__, "points": None})
        # Sent once, and made again where it is lost: every partition needs the rows.
        self.bags = client.submit(_same, without, pure=False)
        sources = [client.compute(one) if hasattr(one, "dask") else one
                   for one in _sources(bags.points)]
        self.parts = [client.submit(_Part, source, self.bags, model, pure=False)
                      for source in sources]
        self.outline = None

    def told(self, most):
        asked = [self.client.submit(_Part.told, part, most, pure=False) for part in self.parts]
        try:
            every = self.client.gather(asked)
        except self.lost as error:
            raise FitError(f"workers were lost while they read partitions: {error}; give workers "
                           "more memory, or smaller partitions") from error
        self.parts = [part for part, (_, own, _) in zip(self.parts, every) if own]
        return self.noted(every)

    def make_room(self, sizes, inputs, inducing):
        where, held = self.client.who_has(self.parts), {}
        for part, size in zip(self.parts, sizes):
            for worker in where.get(part.key, ()):
                held[worker] = held.get(worker, 0) + size
        for worker, told in self.client.scheduler_info(n_workers=-1)["workers"].items():
            points, limit = held.get(worker, 0), _SHARE * (told.get("memory_limit") or np.inf)
            needed = need(points, inputs, inducing, told["nthreads"])
            if points and needed > limit:
                more = "more workers, or workers of more memory, or fewer inducing points"
                if _IDLE > limit:
                    more = f"workers of more memory: {_IDLE / 1e6:,.0f} MB are needed for any fit"
                raise DataError(
                    f"client: the worker {worker} needs about {needed / 1e6:,.0f} MB for "
                    f"{points:,} points and {inducing} inducing points on {told['nthreads']} "
                    f"of its threads, and may take {limit / 1e6:,.0f} MB, four fifths of its "
                    f"limit; give {more}")

    def sums(self, outline, pass_):
        for attempt in range(1, _TRIES + 1):
            try:
                # Several passes may be on their way at once, each with what it found or sent.
                sent = self.outline
                if sent is None:
                    sent = self.client.scatter(outline, broadcast=True, hash=False)
                    self.outline = sent
                return self._asked(sent, pass_)
            except self.lost as error:
                if attempt == _TRIES:
                    raise FitError(f"workers were lost {attempt} times in one pass: {error}; give "
                                   "workers more memory, or smaller partitions") from error
                # What was sent to a worker that is gone may be gone with it.
                self.outline = None

    def _asked(self, outline, pass_):
        sent = self.client.scatter(pass_, broadcast=True, hash=False)
        sums = [self.client.submit(_Part.sums, part, outline, int(before), sent, pure=False)
                for part, before in zip(self.parts, self.rows)]
        add = lambda some: self.client.submit(_added, some, pure=False)
        return _in_tree(sums, add).result()

    def close(self):
        super().close()
        self.outline, self.bags = None, None


def _in_tree(sums, add):
    """All sums added, always in the same order; of one the sum itself."""
    while len(sums) > 1:
        sums = [add(sums[i:i + _BRANCHES]) for i in range(0, len(sums), _BRANCHES)]
    return sums[0]


def _same(bags):
    return bags


def _added(sums):
    return _quadrat.add_sums(list(sums))
