"""Models: a prior and what was observed."""

from __future__ import annotations

from . import _arrays, _progress, _quadrat
from ._errors import DataError
from ._likelihoods import Gaussian, Likelihood
from ._posterior import Posterior, told
from ._supports import Support

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

    def __init__(self, kernel, mean="constant", link=None, hyperparameters=None):
        self.kernel, self.mean, self.link = str(kernel), mean, link
        self._model = _quadrat.Model(self.kernel, str(mean))
        self._rows = 0
        for name, said in (hyperparameters or {}).items():
            if not isinstance(said, dict):
                raise DataError(f"hyperparameters: {name} is {said!r}; give a dict, such as "
                                "{\"start\": 1.0} or {\"value\": 1.0, \"fixed\": True}")
            self.set(name, **said)

    def __repr__(self):
        return f"<Model {self.kernel}, {self._rows} rows>"

    def observe(self, support, likelihood=None, *, value=None, noise=None, aggregate=None,
                output=None, times=None, share_noise=False, data=None):
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
            Uses the learned noise variance of another table.
        data : data frame, optional
            Where names of columns are looked up: pandas, polars, pyarrow, a dict of arrays.
        """
        if not isinstance(support, Support):
            raise TypeError(f"support is {type(support).__name__}; give point(..), box(..), "
                            "region(..) or bag(..)")
        bound, rows, reported, times = observed(
            support, likelihood, value, noise, aggregate, times, data, self.link)
        self._model = self._model.observe(bound, reported, times, output, bool(share_noise))
        self._rows += rows
        return self

    def set(self, name, **said):
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
        self._model = self._model.set(name, (
            numbers["start"], numbers["value"], bool(said.get("fixed", False)),
            said.get("prior"), numbers["lower"], numbers["upper"]))
        return self

    def vary(self, what, kernel, link="exp"):
        """Makes the ``"noise"`` variance or the ``"dispersion"`` a function; returns the model."""
        self._model = self._model.vary(what, str(kernel), link)
        return self

    def non_negative(self):
        """Keeps the function from being negative where rows look; returns the model.

        Intervals become too narrow; ``predict(.., non_negative=True)`` cuts predictions off.
        """
        self._model = self._model.non_negative()
        return self

    def parameters(self):
        """The hyperparameters as a list of dicts: name, start, prior, whether it is fixed."""
        return self._model.parameters()

    def fit(self, *, seed=0, method="auto", hyperparameters="auto", starts=None, threads=None,
            inducing=None, move_inducing=False, progress=None):
        """Conditions the prior on the rows and learns the hyperparameters.

        Ctrl-C stops a sparse fit after its step, and the best so far is returned with a warning;
        other fits, and a second Ctrl-C, raise `KeyboardInterrupt`.

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
        at = inducing.bind(None)[0] if isinstance(inducing, Support) else None
        number = None if at is not None else _optional(inducing, "inducing")
        seed, starts, threads = (_arrays.whole(seed, "seed"), _optional(starts, "starts"),
                                 _optional(threads, "threads"))
        with _progress.listener(progress) as listen:
            fitted = self._model.fit(
                method, hyperparameters, seed, starts, threads, number, at, move_inducing, listen)
        return told(Posterior(fitted), stacklevel=3)


def _optional(value, name):
    return None if value is None else _arrays.whole(value, name, 1)


def observed(support, likelihood, value, noise, aggregate, times, data, link):
    """A table as the library takes it: support, how many rows, likelihood, repetitions."""
    if isinstance(likelihood, Support) or not isinstance(likelihood, (Likelihood, type(None))):
        raise TypeError(f"likelihood is {type(likelihood).__name__}; give one such as "
                        "qd.Poisson(count, exposure)")
    if (likelihood is None) == (value is None):
        raise DataError("give either a likelihood or value (and noise)")
    if likelihood is not None and noise is not None:
        raise DataError("noise belongs to value; give the likelihood its variance")
    likelihood = likelihood or Gaussian(value, noise)
    bound, _ = support.bind(data, aggregate)
    rows = len(bound)
    reported = likelihood.bind(rows, data, link)
    return bound, rows, reported, _arrays.optional(times, "times", data, rows)
