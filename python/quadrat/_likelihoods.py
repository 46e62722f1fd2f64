"""Likelihoods: what the rows reported."""

from __future__ import annotations

import numpy as np

from . import _arrays, _frames
from ._errors import DataError

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

    def __init__(self, columns, settings):
        self._given = {name: value for name, value in columns.items() if value is not None}
        self._settings = {name: value for name, value in settings.items() if value is not None}
        for name in ("link", "sigmoid"):
            _arrays.word(self._settings.get(name), name)

    def __repr__(self):
        return f"<{type(self).__name__} of {', '.join(self._given)}>"

    def columns(self, rows, data=None, link=None):
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
    """

    name = "gaussian"

    def __init__(self, value, variance=None, *, extra=None, link=None):
        settings = {**_noise(variance, extra), "link": None if link == "identity" else link}
        super().__init__({"value": value, "variance": variance}, settings)


class Laplace(Likelihood):
    """Values with double exponential noise of known scale, as that of differential privacy."""

    name = "laplace"

    def __init__(self, value, scale):
        super().__init__({"value": value, "scale": scale}, {})


class StudentT(Likelihood):
    """Values with heavy-tailed noise; `variance` is the squared scale, learned unless given."""

    name = "student_t"

    def __init__(self, value, variance=None, *, degrees=None, extra=None):
        settings = {**_noise(variance, extra), "degrees": _number(degrees, "degrees")}
        super().__init__({"value": value, "variance": variance}, settings)


class Interval(Likelihood):
    """Values known to lie between two numbers, infinite for none, equal for an exact value."""

    name = "interval"

    def __init__(self, lower, upper, variance=None, *, extra=None):
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
    """

    name = "censored"

    def __init__(self, value, side=None, *, lower=None, upper=None, variance=None, extra=None):
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
    """Values of which none was recorded beyond a limit."""

    name = "truncated"

    def __init__(self, value, *, lower=None, upper=None, variance=None, extra=None):
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
    """

    name = "ordinal"

    def __init__(self, rank, thresholds=None, *, ranks=None, variance=None, extra=None):
        if thresholds is not None:
            thresholds = _arrays.column(thresholds, "thresholds")
        ranks = None if ranks is None else _arrays.whole(ranks, "ranks", 2)
        settings = {**_noise(variance, extra), "thresholds": thresholds, "ranks": ranks}
        super().__init__({"rank": rank, "variance": variance}, settings)


class Positive(Likelihood):
    """The function is above a margin; `sd` is how sharply, small beside its values."""

    name = "positive"

    def __init__(self, *, sd, margin=0.0):
        super().__init__({}, {"margin": _arrays.number(margin, "margin"),
                              "sd": _arrays.number(sd, "sd")})

    def columns(self, rows, data=None, link=None):
        return {"rows": np.zeros(rows), **self._settings}


class Bernoulli(Likelihood):
    """Yes (1) or no (0 or -1), with the probability ``sigmoid(f)``."""

    name = "bernoulli"

    def __init__(self, value, *, sigmoid="logit"):
        super().__init__({"value": value}, {"sigmoid": sigmoid})


class Binomial(Likelihood):
    """Successes among trials, with the probability ``sigmoid(f)``."""

    name = "binomial"

    def __init__(self, successes, trials, *, sigmoid="logit"):
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
    """

    name = "poisson"
    _takes_link = True

    def __init__(self, count=None, exposure=None, *, lower=None, upper=None, link=None):
        _counts(count, lower, upper)
        columns = {"count": count, "lower": lower, "upper": upper, "exposure": exposure}
        super().__init__(columns, {"link": link})


class NegativeBinomial(Likelihood):
    """Overdispersed counts: variance ``mu + dispersion mu^2``, the dispersion learned or given."""

    name = "negative_binomial"
    _takes_link = True

    def __init__(self, count=None, exposure=None, *, dispersion=None, lower=None, upper=None,
                 link=None):
        _counts(count, lower, upper)
        columns = {"count": count, "lower": lower, "upper": upper, "exposure": exposure}
        settings = {"link": link, "dispersion": _number(dispersion, "dispersion")}
        super().__init__(columns, settings)


class Exponential(Likelihood):
    """Waiting times and other positive values with the mean ``link(f)``."""

    name = "exponential"
    _takes_link = True

    def __init__(self, value, *, link=None):
        super().__init__({"value": value}, {"link": link})


class Gamma(Likelihood):
    """Positive values with the mean ``exp(f)`` and variance ``mean^2 / shape``."""

    name = "gamma"

    def __init__(self, value, *, shape=None):
        super().__init__({"value": value}, {"shape": _number(shape, "shape")})


class LogNormal(Likelihood):
    """Positive values with the mean ``exp(f)`` and a logarithm of standard deviation `sd`.

    `sd` is a number, an array or the name of a column; learned where it is not given.
    """

    name = "lognormal"

    def __init__(self, value, *, sd=None):
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
