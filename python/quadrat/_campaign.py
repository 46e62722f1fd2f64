"""What to measure next: places and kinds of measurement, chosen by what they would tell."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _frames, _groups, _observed, _posterior, _progress, _quadrat, _spill
from ._errors import DataError, FitWarning
from ._model import Model
from ._placed import Placed
from ._posterior import Posterior
from ._study import Table
from ._supports import Support, point
from ._told import apart

if TYPE_CHECKING:
    from typing import Any

    from ._types import Frame, Path, Progress

# Columns that a choice has besides places and answers.
_CHOSEN = ("candidate", "information_bits", "hyperparameter_bits", "cost", "bits_per_cost")
# Measurements chosen at most where only a budget is given.
_MOST = 1000
# The share of a budget that rounding of sums may take.
_ROUNDING = 1e-12


class Campaign:
    """Measurements that are chosen, made and told, batch by batch.

    Parameters
    ----------
    model : Posterior or Model
        What is known so far; a model is fitted first.
    candidates : Support or data frame
        Where measurements can be made; of a frame the columns of the inputs, as points.
    kinds : dict or sequence of str
        Ways of measuring by name, each like the rows of a table that was observed: the number of
        the table from 0; or a likelihood (``"gaussian"``, ``"interval"``), an output, or the name
        of a table of a study; or a dict of ``like`` and ``amount``, which is the width of a new
        interval, the noise variance of a new value, the exposure of a new count or the number of
        trials. A sequence has the words as names.
    costs : dict or float
        What one measurement of each kind costs.
    about : Support, optional
        What is to be known, for the policies ``"target"``, ``"exceedance"`` and ``"variance"``; all
        candidates where it is not given.
    budget : float, optional
        What all measurements may cost together: no more is asked for.
    data : data frame, optional
        Where names of columns are looked up.
    **fit
        For `Model.fit`.

    Attributes
    ----------
    posterior : Posterior
        What is known, with all rows that were told.
    spent : float
        The costs of all measurements that were told; may be set to what they cost in truth.
    budget : float or None
        What all of them may cost; may be raised.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> model = qd.Model("se(x)").observe(qd.point(x=[0.5, 3.0, 6.5]), value=[5.1, 6.4, 5.8],
    ...                                   noise=0.01)
    >>> model.observe(qd.point(x=[1.0, 2.0, 4.0, 5.0, 8.0]),
    ...               qd.Interval([5, 5.5, 6, 6, 4.5], [5.5, 6, 6.5, 6.5, 5], 0.04))
    <Model se(x), 8 rows>
    >>> campaign = qd.Campaign(model, qd.point(x=np.linspace(0, 8, 41)),
    ...                        kinds={"meter": 0, "strip": 1}, costs={"meter": 9, "strip": 7})
    >>> todo = campaign.ask(batch=2)
    >>> list(todo)[:4], len(todo["kind"])
    (['candidate', 'x', 'kind', 'information_bits'], 2)
    >>> campaign.tell({"x": [7.5, 0.0], "kind": "meter", "value": [4.2, 5.0]})
    <Campaign of 41 candidates: meter, strip; 10 rows known>
    >>> campaign.spent
    18.0
    """

    def __init__(self, model: Any, candidates: Any, kinds: Any, costs: Any, *,
                 about: Support | None = None, budget: float | None = None,
                 data: Frame | None = None, **fit: Any) -> None:
        if isinstance(model, Model):
            model = model.fit(**fit)
        elif not isinstance(model, Posterior):
            raise TypeError(f"model is {type(model).__name__}; give a Model or a Posterior")
        elif fit:
            raise DataError(f"{next(iter(fit))} is for a fit, and the model is fitted already")
        if not isinstance(candidates, Support):
            if not _frames.is_frame(candidates):
                raise TypeError(f"candidates is {type(candidates).__name__}; give a support such "
                                "as point(..), or a data frame")
            candidates, data = point({name: name for name in model.dims}), candidates
        if not isinstance(about, (Support, type(None))):
            raise TypeError(f"about is {type(about).__name__}; give a support such as box(..)")
        placed, ways = candidates.place(data), _ways(kinds, costs)
        for others in ((*_CHOSEN, "kind"), ("candidate", *(way["name"] for way in ways))):
            apart(placed.columns, others, "give that input, or that kind, another name")
        self._take(model, placed, ways,
                   None if about is None else about.place(data))
        self.budget = budget

    def _take(self, posterior, placed, ways, about, spent=0.0, budget=None):
        self.posterior, self._placed, self._ways, self._about = posterior, placed, ways, about
        self._spent, self._budget = spent, budget

    def __reduce__(self):
        return _restored, (self.posterior, self._placed, self._ways, self._about, self._spent,
                           self._budget)

    def __repr__(self) -> str:
        paid = "" if self._budget is None else f", {self._spent:g} of {self._budget:g} spent"
        return (f"<Campaign of {self._placed.rows} candidates: {', '.join(self.kinds)}; "
                f"{self.posterior.facts['rows']} rows known{paid}>")

    @property
    def kinds(self) -> list[str]:
        """The ways of measuring."""
        return [way["name"] for way in self._ways]

    @property
    def costs(self) -> dict[str, float]:
        """What one measurement of each kind costs."""
        return {way["name"]: way["cost"] for way in self._ways}

    @property
    def spent(self) -> float:
        """The costs of all measurements that were told."""
        return self._spent

    @spent.setter
    def spent(self, cost: float) -> None:
        self._spent = _amount(cost, "spent")

    @property
    def budget(self) -> float | None:
        """What all measurements may cost together, or `None`."""
        return self._budget

    @budget.setter
    def budget(self, budget: float | None) -> None:
        self._budget = None if budget is None else _amount(budget, "budget")

    @property
    def left(self) -> float | None:
        """What is left of the budget, not below zero; `None` where there is no budget."""
        return None if self._budget is None else max(self._budget - self._spent, 0.0)

    def ask(self, batch: int | None = None, policy: str = "per-cost", budget: float | None = None,
            *, steps: int | None = None, above: float | None = None, seed: int = 1,
            progress: Progress = None) -> Any:
        """Chooses measurements, each the best beside those before it, none of which is known yet.

        Parameters
        ----------
        batch : int, optional
            How many at most. Where it is not given: as many as `budget` pays for, or one where
            that is not given either.
        policy : str
            ``"per-cost"`` takes the most information for its cost, ``"information"`` the most
            whatever it costs, ``"target"`` and ``"variance"`` look at `about`, ``"exceedance"`` at
            whether the function exceeds `above` there; ``"maximum"`` and ``"minimum"`` at the
            largest and smallest value among the candidates; the others are those of ``quadrat next``.
        budget : float, optional
            What they may cost together, no more than is left of the budget of the campaign; where
            it is not given, they may cost what is left of that.
        steps : int, optional
            Over how many measurements the policies at a pace spread the budget.
        above : float, optional
            The limit of ``"exceedance"``, of values, rates or chances.
        seed : int
            Of the random policies, and of the functions drawn for ``"maximum"`` and ``"minimum"``.
        progress : bool or callable, optional
            As for `Model.fit`.

        Returns
        -------
        Table
            In the order of the choice: the number of the candidate from 0, where it is, the kind,
            what it is expected to tell beside those before it (in bits: one halves the standard
            deviation of a normal value), what it alone would tell of the hyperparameters where
            that is known, and its cost. With answers filled in it is what :meth:`tell` takes.
        """
        if batch is None and budget is None:
            batch = 1
        told = self._asked(batch, policy, self._allowed(budget), steps, seed, above, progress)
        if told["far"]:
            one, count = told["far"][0], len(told["far"])
            warnings.warn(f"{count} of {self._placed.rows} candidates lie far outside the data, "
                          f"first number {one}: there the model says what the prior does, and "
                          "measurements seem to tell most", FitWarning, stacklevel=2)
        at = np.array(told["place"], dtype=np.intp)
        columns = {"candidate": at, **self._where(at)}
        columns["kind"] = [self.kinds[kind] for kind in told["kind"]]
        for name in ("information_bits", "hyperparameter_bits", "cost", "bits_per_cost"):
            columns[name] = _arrays.received(told[name])
        return Table(columns)

    def information(self, policy: str = "information", *, above: float | None = None) -> Any:
        """What each kind alone would tell at every candidate, in bits: a :class:`Table`.

        Parameters
        ----------
        policy : {"information", "target", "exceedance", "maximum", "minimum"}
            Of the function, of what is to be known, of whether that exceeds a limit, or of the
            largest or smallest value among the candidates.
        above : float, optional
            The limit of ``"exceedance"``.
        """
        told = _arrays.received(self._asked(1, policy, None, None, 1, above)["alone"])
        at = np.arange(self._placed.rows)
        alone = told.reshape(len(self._ways), len(at))
        return Table({"candidate": at, **self._where(at), **dict(zip(self.kinds, alone))})

    def _allowed(self, budget):
        """What a batch may cost: refused where the budget of the campaign does not allow it."""
        if self._budget is None:
            return budget
        # Sums of costs are rounded: what is left to the last digit pays for a last measurement.
        left = self.left + _ROUNDING * self._budget
        least = min(self.costs, key=self.costs.get)
        told = f"{self._spent:g} of the campaign's budget of {self._budget:g} is spent"
        if self.costs[least] > left:
            raise DataError(f"{told}, and {least}, the cheapest kind, costs {self.costs[least]:g}; "
                            "raise campaign.budget to go on")
        if budget is None:
            return left
        if _arrays.number(budget, "budget") > left:
            raise DataError(f"budget is {budget:g}, and {told}: {self.left:g} is left; ask for "
                            "less, or raise campaign.budget")
        return budget

    def _asked(self, batch, policy, budget, steps, seed, above, progress=None):
        if batch is None:
            batch = 1 if budget is None else _MOST
        asked = {"policy": str(policy), "batch": _arrays.whole(batch, "batch", 1),
                 "budget": None if budget is None else _arrays.limit(budget, "budget"),
                 "steps": None if steps is None else _arrays.whole(steps, "steps", 1),
                 "above": None if above is None else _arrays.limit(above, "above"),
                 "seed": _arrays.whole(seed, "seed")}
        if asked["policy"] == "target" and self._about is None:
            raise DataError("policy is \"target\", and the campaign has no target; give it about=, "
                            "such as a box(..)")
        if (asked["policy"] == "exceedance") != (asked["above"] is not None):
            raise DataError("above is the limit of the policy \"exceedance\"; give both, or neither")
        about = None if self._about is None else self._about.made()
        with _progress.listener(progress) as listen:
            return _quadrat.ask(self.posterior._posterior, self._placed.made(), self._ways, asked,
                                about if asked["policy"] in _ABOUT else None, listen)

    def _where(self, at):
        return {name: np.asarray(own)[at] for name, own in self._placed.columns.items()}

    def tell(self, rows: Frame, *, kind: str | None = None, relearn: bool = False,
             progress: Progress = None) -> Campaign:
        """Adds rows that were measured; returns the campaign.

        Parameters
        ----------
        rows : data frame or dict
            Where: the number of the candidate (``candidate``), or the inputs by name. What: the
            ``kind``, and ``value``, or ``lower`` and ``upper``; ``"<3"`` says a limit. Besides
            ``variance``, ``sd`` or ``scale`` where that of the table differs from row to row,
            ``exposure`` of counts and ``trials`` of successes, where they are not those of all
            rows of the table, and ``times``, how often a row was seen. Values at or beyond the
            limits of a censored table are censored. Rows without an answer are left out.
        kind : str, optional
            That of all rows, where there is no such column.
        relearn : bool
            Whether the hyperparameters are learned again; else they stay those of the fit.
        progress : bool or callable, optional
            As for `Model.fit`.
        """
        relearn = _arrays.boolean(relearn, "relearn")
        cells, count = _read(rows)
        if kind is not None:
            cells["kind"] = [str(kind)] * count
        if "kind" not in cells:
            raise DataError("rows have no column \"kind\"; give it, or kind= for all of them")
        placed = self._told_at(cells, count)
        names = {"kind", *_quadrat.answers(self.posterior._posterior)}
        if "information_bits" in cells:
            names -= set(_CHOSEN)
        kept = {name: own for name, own in cells.items() if name in names}
        where = {name: own for name, own in placed.columns.items() if name not in kept}
        unknown = [name for name in cells if name not in (*names, *placed.columns, *_CHOSEN)]
        if unknown:
            warnings.warn(f"rows have columns that say nothing of what was measured: "
                          f"{', '.join(unknown)}", FitWarning, stacklevel=2)
        text = _spill.text({**where, **kept})
        grown, groups, left_out, unused = _quadrat.tell(self.posterior._posterior, placed.made(),
                                                        text, list(where), self._ways)
        for told in unused:
            warnings.warn(told, FitWarning, stacklevel=2)
        tables = [*self.posterior._tables]
        for table, as_interval, own, lower, upper in groups:
            if table < len(self.posterior._tables):
                tables.append(_observed.told(
                    self.posterior._tables[table], as_interval, placed.take(own),
                    (_arrays.received(lower), _arrays.received(upper)),
                    {name: [kept[name][row] for row in own] for name in kept}))
        # Rows that were measured are known and paid for, whatever the budget.
        costs = self.costs
        self._spent += math.fsum(costs[str(cells["kind"][row])] for own in groups for row in own[2])
        known = len(self.posterior._facts["warnings"])
        self.posterior = _posterior.told(Posterior(grown, tuple(tables)), stacklevel=3, known=known)
        if left_out:
            warnings.warn(f"{left_out} of {count} rows have no answer and were left out",
                          FitWarning, stacklevel=2)
        if relearn:
            self.relearn(progress=progress)
        return self

    def relearn(self, *, seed: int = 0, starts: int | None = None, threads: int | None = None,
                progress: Progress = None) -> Campaign:
        """Learns the hyperparameters again from all rows; arguments as for `Model.fit`."""
        starts = None if starts is None else _arrays.whole(starts, "starts", 1)
        threads = None if threads is None else _arrays.whole(threads, "threads", 1)
        with _progress.listener(progress) as listen:
            found = _quadrat.relearn(self.posterior._posterior, _arrays.whole(seed, "seed"),
                                     starts, threads, listen)
        self.posterior = _posterior.told(Posterior(found, self.posterior._tables), stacklevel=3)
        return self

    def _told_at(self, cells, count):
        """Where the rows look."""
        if "candidate" in cells:
            at = _arrays.column(cells["candidate"], "candidate", rows=count)
            wrong = np.flatnonzero((at != np.floor(at)) | (at < 0) | (at >= self._placed.rows))
            if len(wrong):
                raise DataError(f"candidate is {at[wrong[0]]:g} in row {wrong[0]}; it must be a "
                                f"number from 0 to {self._placed.rows - 1}")
            return self._placed.take(at.astype(np.intp))
        if self._placed.kind not in ("points", "boxes"):
            raise DataError(f"the candidates are {self._placed.kind}; say which with a column "
                            "\"candidate\"")
        own = {}
        for name in self._placed.columns:
            if name not in cells:
                raise DataError(f"rows have neither a column \"candidate\" nor \"{name}\"")
            own[name] = _arrays.column(cells[name], name, rows=count)
        return self._placed.moved(own)

    def save(self, path: Path) -> None:
        """Writes the model with candidates, kinds and costs beside it.

        `load` gives the campaign again; to the program it is a model, whose tables are called as
        the kinds are: ``quadrat next``, ``quadrat tell`` and ``quadrat predict`` take it. They
        know no costs: `load` warns where rows were told that :attr:`spent` does not count.
        """
        note = {"candidates": self._placed.plain(), "kinds": self._ways,
                "about": None if self._about is None else self._about.plain(),
                "spent": self._spent, "budget": self._budget,
                "rows": self.posterior._facts["rows"]}
        text = json.dumps(note, default=_plain)
        _posterior.write(path, _quadrat.campaign_bytes(self.posterior._posterior, text, self._ways))


# Policies that look at what is to be known.
_ABOUT = ("target", "exceedance", "variance", "variance-pace")


def _ways(kinds, costs):
    if isinstance(kinds, str) or not isinstance(kinds, (Mapping, list, tuple)):
        raise DataError(f"kinds is {kinds!r}; give a dict, or a list of likelihoods")
    kinds = dict(kinds) if isinstance(kinds, Mapping) else {str(one): str(one) for one in kinds}
    if not kinds:
        raise DataError("kinds is empty; name a way of measuring")
    if not isinstance(costs, Mapping):
        costs = dict.fromkeys(kinds, costs)
    for name in [*kinds, *costs]:
        if name not in costs or name not in kinds:
            where = "costs" if name in kinds else "kinds"
            raise DataError(f"{where} has no {name!r}; give each kind and its cost")
    return [_way(str(name), like, _arrays.number(costs[name], f"the cost of {name}"))
            for name, like in kinds.items()]


def _way(name, like, cost):
    amount = None
    if isinstance(like, Mapping):
        unknown = [key for key in like if key not in ("like", "amount")]
        if unknown or "like" not in like:
            raise DataError(f"kinds: {name} is {dict(like)!r}; give like, and amount if need be")
        like, amount = like["like"], like.get("amount")
    if not isinstance(like, str):
        like = _arrays.whole(like, f"the table of {name}")
    amount = None if amount is None else _arrays.number(amount, f"the amount of {name}")
    return {"name": name, "like": like, "cost": cost, "amount": amount}


def _read(rows):
    """The columns of a frame as lists, and how many rows there are."""
    if not _frames.is_frame(rows):
        raise TypeError(f"rows is {type(rows).__name__}; give a data frame, or a dict of columns")
    rows, cells = _groups.columned(rows), {}
    for name in _frames.names(rows):
        own = rows[name]
        is_one = isinstance(own, str) or np.ndim(own) == 0
        cells[name] = own if is_one else list(_frames.values(own))
    lengths = {len(own) for own in cells.values() if isinstance(own, list)} or {1}
    if len(lengths) != 1:
        raise DataError(f"the columns of rows have different lengths: {sorted(lengths)}")
    count = lengths.pop()
    return {name: own if isinstance(own, list) else [own] * count
            for name, own in cells.items()}, count


def _amount(value, name):
    """A cost in all."""
    found = _arrays.number(value, name)
    if not 0 <= found < np.inf:
        raise DataError(f"{name} is {found:g}; it must be zero or more")
    return found


def _plain(value):
    return value.tolist()


def _restored(posterior, placed, ways, about, spent=0.0, budget=None):
    made = Campaign.__new__(Campaign)
    made._take(posterior, placed, ways, about, spent, budget)
    return made


def noted(posterior, note):
    """The campaign that a model file keeps beside its posterior."""
    told = json.loads(note)
    about = told["about"]
    # Files of before costs were counted say nothing of them.
    rows = posterior._facts["rows"]
    more = rows - told.get("rows", rows)
    if more:
        warnings.warn(f"{more} {'row was' if more == 1 else 'rows were'} told by the program, at "
                      "costs that are not counted; set campaign.spent", FitWarning, stacklevel=3)
    return _restored(posterior, Placed.of_plain(told["candidates"]), told["kinds"],
                     None if about is None else Placed.of_plain(about),
                     told.get("spent", 0.0), told.get("budget"))
