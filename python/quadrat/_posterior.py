"""The posterior: what was learned, and predictions."""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import TYPE_CHECKING

from . import _arrays, _frames, _pictures, _quadrat, _summary
from ._errors import DataError, FitWarning
from ._prediction import Prediction
from ._supports import checked
from ._told import Unchanging, apart

if TYPE_CHECKING:
    from typing import Any

    from ._check import Check
    from ._likelihoods import Likelihood
    from ._row_values import RowValues
    from ._summary import Summary
    from ._supports import Support
    from ._types import Column, Floats, Frame, Path, Progress


class Posterior(Unchanging):
    """The posterior over the function: answers at any support, and can be conditioned again.

    It does not change: copies are the same object, and pickle keeps the bytes of the model file,
    and beside them the rows for plots.
    """

    def __init__(self, posterior: Any, tables: tuple[Any, ...] = ()) -> None:
        self._posterior, self._tables = posterior, tables
        self._facts, self._map = posterior.summary(), posterior.map

    def __repr__(self) -> str:
        facts = self._facts
        return (f"<Posterior of {self.kernel}, {facts['rows']} rows, {facts['inference']}, "
                f"log evidence {facts['log_evidence']:.2f}>")

    def _repr_html_(self):
        return _summary.html(self)

    def summary(self) -> Summary:
        """What the fit did and found, as a text that prints as a table."""
        return _summary.Summary(self)

    @property
    def kernel(self) -> str:
        """The kernel expression."""
        return self._posterior.kernel

    @property
    def dims(self) -> list[str]:
        """The inputs that a prediction needs."""
        return self._posterior.dims

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs; empty where there is one."""
        return self._posterior.outputs

    @property
    def facts(self) -> dict[str, Any]:
        """Everything the fit reports about itself, as a dict."""
        return dict(self._facts)

    @property
    def log_evidence(self) -> float:
        """Log evidence at the most probable hyperparameters, in nats."""
        return self._facts["log_evidence"]

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The most probable values by name."""
        return {hyper[0]: hyper[1] for hyper in self._facts["hyperparameters"]}

    @property
    def intervals(self) -> dict[str, Any]:
        """The central 95 % intervals of those that were not fixed, by name."""
        told = self._facts["hyperparameters"]
        return {hyper[0]: (hyper[3], hyper[4]) for hyper in told
                if not hyper[5] and hyper[3] == hyper[3]}

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know."""
        told = list(self._facts["warnings"])
        if self._posterior.was_stopped:
            told.append("the fit was stopped before it was over: this is the best so far")
        return told

    def predict(self, support: Support, scale: str = "response", level: float = 0.95, *,
                data: Frame | None = None, aggregate: str | None = None, output: str | None = None,
                table: int | None = None, exposure: Column | None = None,
                trials: Column | None = None, non_negative: bool = False) -> Prediction:
        """The distribution of every row of a support.

        Parameters
        ----------
        support : Support
            Where; its inputs include :attr:`dims`.
        scale : {"response", "latent", "observation"}
            The mean of what is observed, the function itself, or a new observation.
        level : float, default 0.95
            Probability of the interval from `lower` to `upper`.
        data : data frame, optional
            Where names of columns are looked up; :meth:`Prediction.to_frame` keeps its index.
        aggregate : {"sum", "mean"}, optional
            Totals or averages, where the support does not say it.
        output : str, optional
            Which of several outputs.
        table : int, optional
            Which observed table a new observation is like, counted from 0.
        exposure : array_like or str, optional
            What rates are multiplied by.
        trials : array_like or str, optional
            Among how many trials successes are counted.
        non_negative : bool
            The distributions given that they are not negative.

        Returns
        -------
        Prediction
        """
        data = _frames.held(data)
        placed = checked(support).place(data, aggregate).on(self._map)
        rows = placed.rows
        apart(placed.columns, remedy="give that input another name")
        table = None if table is None else _arrays.whole(table, "table")
        asked = (_arrays.word(scale, "scale", True), table, _arrays.word(output, "output"),
                 _arrays.optional(exposure, "exposure", data, rows),
                 _arrays.optional(trials, "trials", data, rows), 
                 _arrays.boolean(non_negative, "non_negative"))
        found = Prediction(self, placed, asked, level, data)
        for warning in found.warnings:
            warnings.warn(warning, FitWarning, stacklevel=2)
        return found

    def rows(self, table: int | None = None, by: Any = None, level: float = 0.95, *,
             data: Frame | None = None, non_negative: bool = False, seed: int = 0) -> RowValues:
        """The values that stand behind the rows of a table, one by one or added up.

        A row that was observed in part leaves its value open: ``<5``, a value below a limit or
        between ends, a rank, a count with privacy noise. This is the distribution of that value
        given the row's own report and all the others, as ``scale = "row"`` of a study; nothing of
        it lies outside of what the row reported. :meth:`predict` tells what a new row would be.

        Parameters
        ----------
        table : int, optional
            Which observed table, counted from 0; needed where there are several.
        by : str, list of str, or dict, optional
            Sums over the rows with the same labels: a column of `data`, several, or labels by name;
            ``[]`` for the sum of all rows. The joint distribution is that of 10,000 draws (2,000
            where more than 500 rows are open).
        level : float, default 0.95
            Probability of the interval from `lower` to `upper`.
        data : data frame, optional
            Where names of columns are looked up; :meth:`RowValues.to_frame` keeps its index.
        non_negative : bool
            Values given that they are not below zero.
        seed : int, default 0
            Fixes the draws.

        Returns
        -------
        RowValues

        Examples
        --------
        >>> import quadrat as qd
        >>> deaths = qd.Poisson(lower=[9, 0, 11, 0, 6], upper=[9, 4, 11, 4, 6],
        ...                     exposure=[5200, 1500, 4900, 2400, 3100])
        >>> post = qd.Model("se(x)").observe(qd.point(x=[0.0, 1, 2, 3, 4]), deaths).fit()
        >>> cells = post.rows()
        >>> cells.upper.tolist(), float(cells.sd[0])
        ([9.0, 4.0, 11.0, 4.0, 6.0], 0.0)
        >>> post.rows(by=[]).mean.round(9) == cells.mean.sum().round(9)
        array([ True])
        """
        from ._row_values import row_values
        return row_values(self, table, by, level, non_negative, seed, data)

    def plot(self, ax: Any = None, *, support: Support | None = None, scale: str = "response",
             level: float = 0.95, output: str | None = None, rows: bool = True, points: int = 200,
             what: str = "mean", **style: Any) -> Any:
        """Draws the function with its band, and the rows that were observed; needs matplotlib.

        Rows are drawn as what they are: points as dots, totals of boxes as bars of density (total
        by length), averages as lines, intervals as bars, limits as triangles, and in a plane the
        outlines of where they look. A posterior that was read from a model file has no rows to
        draw.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; a new figure where it is not given.
        support : Support, optional
            Where the function is told; over all rows where it is not given, which needs one or two
            inputs.
        scale, level, output
            As for :meth:`predict`.
        rows : bool
            Whether rows are drawn.
        points : int
            How many points a curve has; a surface has a quarter along each side.
        what
            As for `Prediction.plot`.
        **style
            As for `Prediction.plot`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return _pictures.posterior(self, ax, support, scale, level, output, rows, points, what,
                                   style)

    def to_arviz(self, support: Support | None = None, n: int = 1000, seed: int = 1, *,
                 name: str = "f", **settings: Any) -> Any:
        """Joint draws at a support as ArviZ has them.

        Parameters
        ----------
        support : Support, optional
            Where; as for :meth:`plot` where it is not given.
        n, seed, name
            As for `Prediction.to_arviz`.
        **settings
            As for :meth:`predict`.
        """
        support = _pictures.everywhere(self, 200) if support is None else support
        return self.predict(support, **settings).to_arviz(n, seed, name=name)

    def report(self, path: Path, *, title: str | None = None) -> None:
        """Writes a page of HTML that needs no other file.

        It holds the summary, a picture where there are one or two inputs and matplotlib is
        installed, and every row predicted from all others where this is known.

        Parameters
        ----------
        path : path
            The file.
        title : str, optional
            Its heading.
        """
        _pictures.report(self, path, title)

    def condition(self, support: Support, likelihood: Likelihood | None = None, *,
                  value: Column | None = None, noise: Column | None = None,
                  aggregate: str | None = None, output: str | None = None,
                  times: Column | None = None, link: str | None = None,
                  data: Frame | None = None) -> Posterior:
        """With more rows, the hyperparameters as they are; arguments as for `Model.observe`.

        Returns
        -------
        Posterior
            A new one.
        """
        from ._observed import observed
        table = observed(support, likelihood, value=value, noise=noise, aggregate=aggregate,
                         times=times, output=output, link=link, data=data).on(self._map)
        known = len(self._facts["warnings"])
        conditioned = self._posterior.condition(*table.made(), output)
        more = Posterior(conditioned, (*self._tables, table))
        return told(more, stacklevel=3, known=known)

    def leave_one_out(self) -> dict[str, Floats]:
        """Every observed row predicted from all others: a dict of arrays.

        ``value``, ``mean``, ``sd``, ``lower``, ``upper`` (95 %), ``log_density`` and ``pit``, the
        probability of a value not above the observed one.
        """
        told = self._posterior.leave_one_out()
        return {name: _arrays.received(column) for name, column in told.items()}

    def check_by_mcmc(self, draws: int = 2000, seed: int = 1, *,
                      progress: Progress = None) -> Check:
        """The fit beside draws from the posterior, as ``--check mcmc`` of the program has it.

        Parameters
        ----------
        draws, seed : int
            Draws of each of four chains, 100 to 50,000, and their seed.
        progress : bool or callable, optional
            As for `Model.fit`.

        Returns
        -------
        Check
            Latent values of rows, in the order of the tables; seconds for tens of rows, minutes
            for hundreds.
        """
        from ._check import beside_draws
        if not self._posterior.is_whole:
            raise DataError("the points of these bags are in partitions elsewhere, and are not "
                            "sampled there; check a fit of some bags whose points are here")
        return beside_draws(self._posterior, ("row",), draws, seed, progress)

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return self._posterior.to_bytes()

    def save(self, path: Path) -> None:
        """Writes a model file, which `load` and the program ``quadrat predict`` read."""
        write(path, self.to_bytes())

    def __reduce__(self):
        return restored, (self.to_bytes(), self._tables)


def restored(data, tables=()):
    """A posterior from the bytes of a model file."""
    return Posterior(_quadrat.Posterior.from_bytes(data), tables)


def write(path, data):
    """Writes a file whole or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".quadrat-", delete=False) as file:
        try:
            file.write(data)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def load(path: Path) -> Any:
    """Reads what :meth:`Posterior.save`, :meth:`Campaign.save` or ``quadrat fit`` wrote.

    Densities too, which :meth:`Density.save` or ``quadrat fit`` wrote; those of groups come as
    a dict by name.

    Returns
    -------
    Posterior, Campaign, Density, Density2d, ConditionalDensity or dict

    Raises
    ------
    LoadError
        For a file that is none, is damaged, or is of another format.

    Examples
    --------
    >>> import os, tempfile, quadrat as qd
    >>> post = qd.Model("se(x)").observe(qd.point(x=[0, 1, 2]), value=[1, 3, 2], noise=0.1).fit()
    >>> path = os.path.join(tempfile.mkdtemp(), "curve.quadrat")
    >>> post.save(path)
    >>> qd.load(path).predict(qd.point(x=[1.5])).mean == post.predict(qd.point(x=[1.5])).mean
    array([ True])
    """
    with open(os.fspath(path), "rb") as file:
        data = file.read()
    if _quadrat.is_density(data):
        from ._density import loaded
        return loaded(data)
    posterior, note = _quadrat.load_noted(data)
    if note is None:
        return Posterior(posterior)
    from ._campaign import noted
    return noted(Posterior(posterior), note)


def told(posterior, stacklevel, known=0):
    """The posterior, its warnings told but for the first so many."""
    for warning in posterior.warnings[known:]:
        warnings.warn(warning, FitWarning, stacklevel=stacklevel)
    return posterior
