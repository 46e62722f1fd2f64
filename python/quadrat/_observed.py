"""Tables of observations, in numbers alone: kept for pickles and plots."""

from __future__ import annotations

import numpy as np

from . import _arrays, _frames, _quadrat
from ._errors import DataError
from ._likelihoods import Gaussian, Likelihood
from ._supports import Support, checked


class Observed:
    """Rows that were observed: where each looks, and what it reported.

    Attributes
    ----------
    placed : Placed
        Where.
    likelihood : str
        The name of the likelihood, as in study files.
    given : dict
        Its columns and settings.
    times : numpy.ndarray or None
        How often each row was seen.
    output : str or None
        Which of several outputs the rows are of.
    share_noise : bool
        Whether the noise variance is that of another table.
    """

    __slots__ = ("placed", "likelihood", "given", "times", "output", "share_noise")

    def __init__(self, placed, likelihood, given, times, output, share_noise):
        self.placed, self.likelihood, self.given = placed, likelihood, given
        self.times, self.output, self.share_noise = times, output, share_noise

    def __len__(self):
        return self.placed.rows

    def __reduce__(self):
        return Observed, (self.placed, self.likelihood, self.given, self.times, self.output,
                          self.share_noise)

    def on(self, map):
        """The same on the map of a model."""
        return Observed(self.placed.on(map), self.likelihood, self.given, self.times, self.output,
                        self.share_noise)

    @property
    def size(self):
        """Lengths, areas or total weights of sums; one for averages and points."""
        return _arrays.received(self.placed.made().size)

    def made(self):
        """Support, likelihood and repetitions as the library takes them."""
        return self.placed.made(), _quadrat.Likelihood(self.likelihood, self.given), self.times


def told(like, as_interval, placed, ends, cells):
    """Rows like those of a table that were told later, as pictures need them."""
    lower, upper = ends
    given = {name: own for name, own in like.given.items() if name in ("link", "thresholds")}
    if like.likelihood == "ordinal":
        given["rank"] = lower
    elif like.likelihood == "bernoulli":
        given["value"] = lower
    elif like.likelihood == "binomial":
        given.update(successes=lower, trials=_or_same(cells, like, "trials", len(lower)))
    else:
        given.update(lower=lower, upper=upper)
        if "exposure" in like.given:
            given["exposure"] = _or_same(cells, like, "exposure", len(lower))
    is_ends = as_interval or like.likelihood in ("censored", "truncated")
    return Observed(placed, "interval" if is_ends else like.likelihood, given, None, like.output,
                    False)


def _or_same(cells, like, name, rows):
    """A column of answers; where it says nothing, what all rows of the table have."""
    same = np.ravel(like.given[name])[0]
    return np.array([same if own is None or own == "" or own != own else own
                     for own in cells.get(name, [None] * rows)], dtype=np.float64)


def observed(support, likelihood, *, value=None, noise=None, aggregate=None, times=None,
             output=None, share_noise=False, link=None, data=None):
    """The table that the arguments of `Model.observe` say."""
    checked(support)
    if isinstance(likelihood, Support) or not isinstance(likelihood, (Likelihood, type(None))):
        raise TypeError(f"likelihood is {type(likelihood).__name__}; give one such as "
                        "qd.Poisson(count, exposure)")
    if (likelihood is None) == (value is None):
        raise DataError("give either a likelihood or value (and noise)")
    if likelihood is not None and noise is not None:
        raise DataError("noise belongs to value; give the likelihood its variance")
    likelihood, data = likelihood or Gaussian(value, noise), _frames.held(data)
    placed = support.place(data, aggregate)
    rows = placed.rows
    return Observed(placed, likelihood.name, likelihood.columns(rows, data, link),
                    _arrays.optional(times, "times", data, rows), _arrays.word(output, "output"),
                    _arrays.boolean(share_noise, "share_noise"))
