"""Models: a prior and what was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _arrays, _geometry, _progress, _quadrat
from ._errors import DataError
from ._observed import observed
from ._posterior import Posterior, told
from ._supports import Support

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._kernels import Kernel
    from ._likelihoods import Likelihood
    from ._types import Column, Frame, Progress

_SETTINGS = ("start", "value", "fixed", "prior", "lower", "upper")


class Model:
    """A Gaussian-process prior and the tables observed on it.

    Parameters
    ----------
    kernel : str or Kernel
        An expression over named inputs, such as ``"matern32(age)"``.
    mean : str or float, default "constant"
        ``"constant"`` (learned), ``"zero"``, a number, or lines such as ``"linear(x)"``.
    link : {"exp", "square", "softplus"}, optional
        From the function to the mean of counts and waiting times; ``exp`` where it is not given.
    hyperparameters : dict, optional
        What is said about hyperparameters by name: a dict as for :meth:`set`.

    Examples
    --------
    >>> import quadrat as qd
    >>> model = qd.Model("se(x)", hyperparameters={"noise.variance": {"start": 0.1}})
    >>> model.observe(qd.point(x=[0.0, 1.0, 2.0, 3.0]), value=[0.1, 0.9, 1.1, 0.2])
    <Model se(x), 4 rows>
    """

    def __init__(self, kernel: str | Kernel, mean: str | float = "constant",
                 link: str | None = None, hyperparameters: Mapping[str, Any] | None = None) -> None:
        self.kernel, self.mean, self.link = str(kernel), mean, _arrays.word(link, "link")
        self._model = _quadrat.Model(self.kernel, str(mean))
        # Where longitudes and latitudes lie, once regions in degrees were observed.
        self._map = None
        # What was said after this, in order: a pickle says it again.
        self._said: list[tuple[str, Any]] = []
        if not isinstance(hyperparameters, (dict, type(None))):
            raise DataError(f"hyperparameters is {type(hyperparameters).__name__}; give a dict of "
                            "what is said by name")
        for name, said in (hyperparameters or {}).items():
            if not isinstance(said, dict):
                raise DataError(f"hyperparameters: {name} is {said!r}; give a dict, such as "
                                "{\"start\": 1.0} or {\"value\": 1.0, \"fixed\": True}")
            self.set(name, **said)

    def __repr__(self) -> str:
        return f"<Model {self.kernel}, {sum(map(len, self._tables()))} rows>"

    def __reduce__(self):
        return _said_again, (self.kernel, self.mean, self.link, tuple(self._said))

    def _tables(self):
        return tuple(said for what, said in self._said if what == "observe")

    def _say(self, what, said):
        if what == "observe" and said.placed.in_degrees:
            # The map lies about all regions: what was said before is said on a new one.
            before = [*self._said, (what, said)]
            regions = [own.placed for word, own in before if word == "observe"]
            where = _geometry.map_of([own for own in regions if own.in_degrees])
            made = _quadrat.Model(self.kernel, str(self.mean))
            for word, own in before:
                made = _after(made, word, own, where)
            self._model, self._map = made, where
        else:
            self._model = _after(self._model, what, said, self._map)
        self._said.append((what, said))
        return self

    def observe(self, support: Support, likelihood: Likelihood | None = None, *,
                value: Column | None = None, noise: Column | None = None,
                aggregate: str | None = None, output: str | None = None,
                times: Column | None = None, share_noise: bool = False,
                data: Frame | None = None) -> Model:
        """Adds a table of observations of the same function; returns the model.

        Parameters
        ----------
        support : Support
            Where each row looks.
        likelihood : Likelihood, optional
            What the rows reported; `value` and `noise` are short for :class:`Gaussian`.
        value : array_like or str, optional
            Values with normal noise.
        noise : float, array_like or str, optional
            Their known noise variance, 0 for exact values; learned where it is not given.
        aggregate : {"sum", "mean"}, optional
            Totals or averages, where the support does not say it.
        output : str, optional
            Which of several outputs the rows are of.
        times : array_like or str, optional
            How often each row was seen.
        share_noise : bool
            Uses the learned noise variance of the one table (of its output, else of any) that
            learns its own; where all tables share, they have one together. :meth:`fit` refuses it
            where there is none, or more than one.
        data : data frame, optional
            Where names of columns are looked up: pandas, polars, pyarrow, a dict of arrays.
        """
        return self._say("observe", observed(
            support, likelihood, value=value, noise=noise, aggregate=aggregate, times=times,
            output=output, share_noise=share_noise, link=self.link, data=data))

    def set(self, name: str, **said: Any) -> Model:
        """Says something about a hyperparameter; returns the model.

        Parameters
        ----------
        name : str
            Such as ``"se.lengthscale.age"`` or ``"noise.variance"``; see :meth:`parameters`.
        start, value, lower, upper : float, optional
            Where the search starts, the value, bounds.
        fixed : bool, optional
            Whether it is held at the value.
        prior : str, optional
            Such as ``"log_normal(0, 1)"``.
        """
        unknown = [key for key in said if key not in _SETTINGS]
        if unknown:
            raise DataError(f"hyperparameters: {name} has no setting {unknown[0]!r}; there are "
                            + ", ".join(_SETTINGS))
        numbers = {key: None if said.get(key) is None else _arrays.number(said[key], key)
                   for key in ("start", "value", "lower", "upper")}
        return self._say("set", (_arrays.word(name, "name", True), (
            numbers["start"], numbers["value"], _arrays.boolean(said.get("fixed", False), "fixed"),
            _arrays.word(said.get("prior"), "prior"), numbers["lower"], numbers["upper"])))

    def vary(self, what: str, kernel: str | Kernel, link: str = "exp") -> Model:
        """Makes the ``"noise"`` variance or the ``"dispersion"`` a function; returns the model."""
        link = _arrays.word(link, "link", True)
        return self._say("vary", (_arrays.word(what, "what", True), str(kernel), link))

    def non_negative(self) -> Model:
        """Keeps the function from being negative where rows look; returns the model.

        Intervals become too narrow; ``predict(.., non_negative=True)`` cuts predictions off.
        """
        return self._say("non_negative", ())

    def parameters(self) -> list[dict[str, Any]]:
        """The hyperparameters as a list of dicts: name, start, prior, whether it is fixed."""
        return self._model.parameters()

    def fit(self, *, seed: int = 0, method: str = "auto", hyperparameters: str = "auto",
            starts: int | None = None, threads: int | None = None,
            inducing: int | Support | None = None, move_inducing: bool = False,
            progress: Progress = None) -> Posterior:
        """Conditions the prior on the rows and learns the hyperparameters.

        Ctrl-C stops the search after the evaluation or the pass that it is in, and the best so far
        is returned with a warning; where there is no answer yet it raises `KeyboardInterrupt`, as a
        second Ctrl-C does at any time.

        Parameters
        ----------
        seed : int, default 0
            Fixes everything random.
        method : {"auto", "exact", "laplace", "ep", "variational", "sparse"}
            How rows condition the prior.
        hyperparameters : {"auto", "map", "integrate"}
            Their most probable values, or an average over them; ``auto`` integrates when small.
        starts : int, optional
            Starts of the search.
        threads : int, optional
            Threads of this fit; the answer does not depend on it.
        inducing : int or Support, optional
            How many inducing points, or where, for ``method="sparse"``.
        move_inducing : bool
            Whether they are moved.
        progress : bool or callable, optional
            ``True`` for a line on standard error (tqdm where installed); or what is called with
            ``(stage, done, total, best)``.

        Returns
        -------
        Posterior

        Raises
        ------
        DataError
            For what is wrong with the rows.
        NotConverged
            When there is no answer that can be told.
        """
        fitted = self._fitted(
            seed=seed, method=method, hyperparameters=hyperparameters, starts=starts,
            threads=threads, inducing=inducing, move_inducing=move_inducing, progress=progress)
        return told(fitted, stacklevel=3)

    def _fitted(self, *, seed=0, method="auto", hyperparameters="auto", starts=None, threads=None,
                inducing=None, move_inducing=False, progress=None):
        """The posterior, whose warnings nobody is told."""
        how, at = asked(method, hyperparameters, seed, starts, threads, inducing, move_inducing,
                        self._map)
        with _progress.listener(progress) as listen:
            fitted = self._model.fit(how, at, listen, self._map)
        return Posterior(fitted, tuple(table.on(self._map) for table in self._tables()))


def asked(method, hyperparameters, seed, starts, threads, inducing, move_inducing, map=None):
    """How a model is fitted, in numbers, and where its inducing points lie if that was given."""
    at = inducing.place().on(map).made() if isinstance(inducing, Support) else None
    return {
        "method": _arrays.word(method, "method", True),
        "hyperparameters": _arrays.word(hyperparameters, "hyperparameters", True),
        "seed": _arrays.whole(seed, "seed"),
        "starts": _optional(starts, "starts"), "threads": _optional(threads, "threads"),
        "inducing": None if at is not None else _optional(inducing, "inducing"),
        "move_inducing": _arrays.boolean(move_inducing, "move_inducing")}, at


def _optional(value, name):
    return None if value is None else _arrays.whole(value, name, 1)


def _after(model, what, said, map):
    """A model of the library after one more thing was said."""
    if what == "observe":
        support, reported, times = said.on(map).made()
        said = support, reported, times, said.output, said.share_noise
    return getattr(model, what)(*said)


def _said_again(kernel, mean, link, said):
    model = Model(kernel, mean, link)
    for what, own in said:
        model._say(what, own)
    return model
