"""Likelihoods: what the rows reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _frames
from ._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import ArrayLike

    from ._types import Column, Frame

# What codes of censored values mean, besides numbers below, at and above zero.
_SIDES = {"left": -1.0, "none": 0.0, "right": 1.0}


class Likelihood:
    """What rows reported, and how; the base of all likelihoods.

    Arrays may be replaced by one number for all rows, or by the name of a column of `data`.
    """

    #: Its name in study files.
    name = ""
    _columns = ()
    _takes_link = False

    def __init__(self, columns: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self._given = {name: value for name, value in columns.items() if value is not None}
        self._settings = {name: value for name, value in settings.items() if value is not None}
        for name in ("link", "sigmoid"):
            _arrays.word(self._settings.get(name), name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(self._given)}>"

    def columns(self, rows: int, data: Frame | None = None,
                link: str | None = None) -> dict[str, Any]:
        """Its columns and settings by name, of so many rows."""
        given = {name: self._column(name, value, rows, data)
                 for name, value in self._given.items()}
        given.update(self._settings)
        if self._takes_link and link is not None:
            given.setdefault("link", link)
        return given

    def _column(self, name, value, rows, data):
        return _arrays.column(value, name, data, rows)


def _noise(variance, extra):
    if extra not in (None, "learn"):
        raise DataError(f"extra is {extra!r}; it is \"learn\", for a learned variance besides")
    if extra is not None and variance is None:
        raise DataError("extra adds to a known variance; give one")
    return {"extra": extra}


class Gaussian(Likelihood):
    """Values with normal noise.

    Parameters
    ----------
    value : array_like or str
        The values.
    variance : float, array_like or str, optional
        The known noise variance; 0 for values known exactly; learned where it is not given.
    extra : {"learn"}, optional
        Adds a learned variance to the known one.
    link : {"exp", "softplus"}, optional
        What is added up or averaged is ``link(f)``, which is never negative.

    Examples
    --------
    >>> import quadrat as qd
    >>> weights = qd.Gaussian([2.1, 1.4, 3.0], [0.1, 0.1, 0.4])      # a variance for each
    >>> qd.Model("se(x)").observe(qd.point(x=[0, 1, 2]), weights)
    <Model se(x), 3 rows>
    """

    name = "gaussian"

    def __init__(self, value: Column, variance: Column | None = None, *, extra: str | None = None,
                 link: str | None = None) -> None:
        settings = {**_noise(variance, extra), "link": None if link == "identity" else link}
        super().__init__({"value": value, "variance": variance}, settings)


class Laplace(Likelihood):
    """Values with double exponential noise of known scale, as that of differential privacy.

    Examples
    --------
    >>> import quadrat as qd
    >>> private = qd.Laplace([104.0, 87.0, 95.0], scale=2.0)     # counts with privacy noise
    >>> post = qd.Model("se(x)").observe(qd.point(x=[0, 1, 2]), private).fit()
    >>> bool(90 < post.predict(qd.point(x=[0.5])).mean[0] < 105)
    True
    """

    name = "laplace"

    def __init__(self, value: Column, scale: Column) -> None:
        super().__init__({"value": value, "scale": scale}, {})


class StudentT(Likelihood):
    """Values with heavy-tailed noise; `variance` is the squared scale, learned unless given.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> x = np.arange(9.0)
    >>> y = np.where(x == 4, 20.0, np.sin(x / 2))                    # one value is far out
    >>> post = qd.Model("se(x)").observe(qd.point(x=x), qd.StudentT(y, 0.01, degrees=4)).fit()
    >>> bool(post.predict(qd.point(x=[4.0])).mean[0] < 5)
    True
    """

    name = "student_t"

    def __init__(self, value: Column, variance: Column | None = None, *,
                 degrees: float | None = None, extra: str | None = None) -> None:
        settings = {**_noise(variance, extra), "degrees": _number(degrees, "degrees")}
        super().__init__({"value": value, "variance": variance}, settings)


class Interval(Likelihood):
    """Values known to lie between two numbers, infinite for none, equal for an exact value.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> rounded = qd.Interval([2, 3, 3], [3, 4, np.inf], 0.01)       # the last is 3 or more
    >>> post = qd.Model("se(x)").observe(qd.point(x=[0, 1, 2]), rounded).fit()
    >>> bool(2 < post.predict(qd.point(x=[0.0])).mean[0] < 3)
    True
    """

    name = "interval"

    def __init__(self, lower: Column, upper: Column, variance: Column | None = None, *,
                 extra: str | None = None) -> None:
        for name, end in (("lower", lower), ("upper", upper)):
            if end is None:
                inf = "-inf" if name == "lower" else "inf"
                raise DataError(f"{name} is missing; give {inf} where there is no such end")
        columns = {"lower": lower, "upper": upper, "variance": variance}
        super().__init__(columns, _noise(variance, extra))


class Censored(Likelihood):
    """Values beyond the limits of an instrument.

    Parameters
    ----------
    value : array_like or str
        What was reported: the value, or the limit.
    side : array_like or str, optional
        Of every row ``"none"``, ``"left"`` (the value is below) or ``"right"`` (above); or 0, -1
        and 1.
    lower, upper : float, array_like or str, optional
        Limits, in place of sides: a value at or beyond one is censored there.
    variance, extra
        As for :class:`Gaussian`.

    Examples
    --------
    >>> import quadrat as qd
    >>> lead = qd.Censored([0.5, 0.9, 0.5], ["left", "none", "left"], variance=0.01)
    >>> post = qd.Model("se(x)").observe(qd.point(x=[0, 1, 2]), lead).fit()
    >>> bool(post.predict(qd.point(x=[0.0])).mean[0] < 0.6)          # below the limit, 0.5
    True
    """

    name = "censored"

    def __init__(self, value: Column, side: Column | None = None, *, lower: Column | None = None,
                 upper: Column | None = None, variance: Column | None = None,
                 extra: str | None = None) -> None:
        if (side is None) == (lower is None and upper is None):
            raise DataError("give either side or limits (lower, upper)")
        columns = {"value": value, "side": side, "lower": lower, "upper": upper}
        super().__init__({**columns, "variance": variance}, _noise(variance, extra))

    def _column(self, name, value, rows, data):
        if name != "side":
            return super()._column(name, value, rows, data)
        if isinstance(value, str) and value not in _SIDES:
            value = _frames.take(data, value, name)
        codes = _frames.values(value)
        if isinstance(codes, (str, bytes)) or not hasattr(codes, "__iter__"):
            codes = [codes] * rows
        try:
            codes = [_SIDES[code] if isinstance(code, str) else code for code in codes]
        except KeyError as error:
            raise DataError(f"side: {error} is none of \"none\", \"left\" and \"right\"") from None
        return _arrays.limits(codes, name, None, rows)


class Truncated(Likelihood):
    """Values of which none was recorded beyond a limit.

    Examples
    --------
    >>> import quadrat as qd
    >>> kept = qd.Truncated([1.2, 1.9, 1.4], lower=1.0, variance=0.1)    # none below 1 was kept
    >>> qd.Model("se(x)").observe(qd.point(x=[0, 1, 2]), kept)
    <Model se(x), 3 rows>
    """

    name = "truncated"

    def __init__(self, value: Column, *, lower: Column | None = None, upper: Column | None = None,
                 variance: Column | None = None, extra: str | None = None) -> None:
        columns = {"value": value, "lower": lower, "upper": upper, "variance": variance}
        super().__init__(columns, _noise(variance, extra))


class Ordinal(Likelihood):
    """Ranks from 1 on, between thresholds that are given or learned.

    Parameters
    ----------
    rank : array_like or str
        The ranks.
    thresholds : sequence of float, optional
        Ascending; rank ``k`` lies between the thresholds ``k - 1`` and ``k``. Learned where they
        are not given.
    ranks : int, optional
        How many ranks there are, where thresholds are learned.
    variance, extra
        As for :class:`Gaussian`.

    Examples
    --------
    >>> import quadrat as qd
    >>> grades = qd.Ordinal([1, 3, 2], thresholds=[4.0, 6.0], variance=0.1)
    >>> post = qd.Model("se(x)").observe(qd.point(x=[0, 1, 2]), grades).fit()
    >>> bool(post.predict(qd.point(x=[1.0])).mean[0] > 5)
    True
    """

    name = "ordinal"

    def __init__(self, rank: Column, thresholds: ArrayLike | None = None, *,
                 ranks: int | None = None, variance: Column | None = None,
                 extra: str | None = None) -> None:
        if thresholds is not None:
            thresholds = _arrays.column(thresholds, "thresholds")
        ranks = None if ranks is None else _arrays.whole(ranks, "ranks", 2)
        settings = {**_noise(variance, extra), "thresholds": thresholds, "ranks": ranks}
        super().__init__({"rank": rank, "variance": variance}, settings)


class Positive(Likelihood):
    """The function is above a margin; `sd` is how sharply, small beside its values.

    Examples
    --------
    >>> import numpy as np, quadrat as qd
    >>> model = qd.Model("se(x)").observe(qd.point(x=[0, 1, 3]), value=[2, 0.1, 1], noise=0)
    >>> model = model.observe(qd.point(x=np.linspace(0, 3, 13)), qd.Positive(sd=0.01))
    >>> bool(model.fit().predict(qd.point(x=[1.5])).mean[0] > 0)
    True
    """

    name = "positive"

    def __init__(self, *, sd: float, margin: float = 0.0) -> None:
        super().__init__({}, {"margin": _arrays.number(margin, "margin"),
                              "sd": _arrays.number(sd, "sd")})

    def columns(self, rows: int, data: Frame | None = None,
                link: str | None = None) -> dict[str, Any]:
        return {"rows": np.zeros(rows), **self._settings}


class Bernoulli(Likelihood):
    """Yes (1) or no (0 or -1), with the probability ``sigmoid(f)``.

    Examples
    --------
    >>> import quadrat as qd
    >>> ill = qd.Bernoulli([0, 0, 1, 0, 1, 1])
    >>> post = qd.Model("se(dose)").observe(qd.point(dose=range(6)), ill).fit()
    >>> share = post.predict(qd.point(dose=[0, 5]), scale="response").mean
    >>> bool(0 < share[0] < share[1] < 1)
    True
    """

    name = "bernoulli"

    def __init__(self, value: Column, *, sigmoid: str = "logit") -> None:
        super().__init__({"value": value}, {"sigmoid": sigmoid})


class Binomial(Likelihood):
    """Successes among trials, with the probability ``sigmoid(f)``.

    Examples
    --------
    >>> import quadrat as qd
    >>> ill = qd.Binomial([2, 9, 31], [50, 50, 50])
    >>> post = qd.Model("se(dose)").observe(qd.point(dose=[0, 1, 2]), ill).fit()
    >>> bool(0.45 < post.predict(qd.point(dose=[2]), scale="response").mean[0] < 0.75)    # 31 of 50
    True
    """

    name = "binomial"

    def __init__(self, successes: Column, trials: Column, *, sigmoid: str = "logit") -> None:
        super().__init__({"successes": successes, "trials": trials}, {"sigmoid": sigmoid})


class Poisson(Likelihood):
    """Counts whose mean is exposure times ``link(f)``, added up over the support.

    Parameters
    ----------
    count : array_like or str, optional
        The counts; or `lower` and `upper`, between which they are known to lie (such as 1 and 4
        for a count published as "<5").
    exposure : float, array_like or str, optional
        What the mean is proportional to, such as a population; 1 where it is not given.
    link : {"exp", "square", "softplus"}, optional
        That of the model, else ``exp``.

    Examples
    --------
    >>> import quadrat as qd
    >>> cases = qd.Poisson([52, 41, 88], exposure=[1000, 1000, 2000])
    >>> post = qd.Model("se(x)").observe(qd.point(x=[0, 1, 2]), cases).fit()
    >>> bool(0.03 < post.predict(qd.point(x=[1]), scale="response").mean[0] < 0.06)    # per person
    True
    """

    name = "poisson"
    _takes_link = True

    def __init__(self, count: Column | None = None, exposure: Column | None = None, *,
                 lower: Column | None = None, upper: Column | None = None,
                 link: str | None = None) -> None:
        _counts(count, lower, upper)
        columns = {"count": count, "lower": lower, "upper": upper, "exposure": exposure}
        super().__init__(columns, {"link": link})


class NegativeBinomial(Likelihood):
    """Overdispersed counts: variance ``mu + dispersion mu^2``, the dispersion learned or given.

    Examples
    --------
    >>> import quadrat as qd
    >>> crabs = qd.NegativeBinomial([0, 14, 3, 25, 8], dispersion=0.8)
    >>> post = qd.Model("se(x)").observe(qd.point(x=range(5)), crabs).fit()
    >>> bool(post.predict(qd.point(x=[2]), scale="response").mean[0] > 0)
    True
    """

    name = "negative_binomial"
    _takes_link = True

    def __init__(self, count: Column | None = None, exposure: Column | None = None, *,
                 dispersion: float | None = None, lower: Column | None = None,
                 upper: Column | None = None, link: str | None = None) -> None:
        _counts(count, lower, upper)
        columns = {"count": count, "lower": lower, "upper": upper, "exposure": exposure}
        settings = {"link": link, "dispersion": _number(dispersion, "dispersion")}
        super().__init__(columns, settings)


class Exponential(Likelihood):
    """Waiting times and other positive values with the mean ``link(f)``.

    Examples
    --------
    >>> import quadrat as qd
    >>> waits = qd.Exponential([3.1, 0.4, 7.9, 2.2])
    >>> post = qd.Model("se(x)").observe(qd.point(x=range(4)), waits).fit()
    >>> bool(post.predict(qd.point(x=[2]), scale="response").mean[0] > 0)
    True
    """

    name = "exponential"
    _takes_link = True

    def __init__(self, value: Column, *, link: str | None = None) -> None:
        super().__init__({"value": value}, {"link": link})


class Gamma(Likelihood):
    """Positive values with the mean ``exp(f)`` and variance ``mean^2 / shape``.

    Examples
    --------
    >>> import quadrat as qd
    >>> claims = qd.Gamma([310.0, 290, 520, 480], shape=20)
    >>> post = qd.Model("se(x)").observe(qd.point(x=range(4)), claims).fit()
    >>> bool(300 < post.predict(qd.point(x=[3]), scale="response").mean[0] < 600)
    True
    """

    name = "gamma"

    def __init__(self, value: Column, *, shape: float | None = None) -> None:
        super().__init__({"value": value}, {"shape": _number(shape, "shape")})


class LogNormal(Likelihood):
    """Positive values with the mean ``exp(f)`` and a logarithm of standard deviation `sd`.

    `sd` is a number, an array or the name of a column; learned where it is not given.

    Examples
    --------
    >>> import quadrat as qd
    >>> incomes = qd.LogNormal([21.0, 24, 38, 35], sd=0.1)
    >>> post = qd.Model("se(x)").observe(qd.point(x=range(4)), incomes).fit()
    >>> bool(30 < post.predict(qd.point(x=[3]), scale="response").mean[0] < 42)
    True
    """

    name = "lognormal"

    def __init__(self, value: Column, *, sd: Column | None = None) -> None:
        if sd is None or (np.ndim(sd) == 0 and not isinstance(sd, str)):
            super().__init__({"value": value}, {"sd": _number(sd, "sd")})
        else:
            super().__init__({"value": value, "sd": sd}, {})


def _number(value, name):
    return None if value is None else _arrays.number(value, name)


def _counts(count, lower, upper):
    if [own is None for own in (count, lower, upper)] not in ([False, True, True],
                                                              [True, False, False]):
        raise DataError("give either count, or both lower and upper")
