"""Counts, totals or averages of bags become those of the pixels within."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _frames, _groups
from ._errors import DataError
from ._likelihoods import Gaussian, NegativeBinomial, Poisson
from ._model import Model
from ._supports import bag, point
from ._told import NUMBERS, apart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ._kernels import Kernel
    from ._posterior import Posterior
    from ._prediction import Prediction
    from ._types import Frame, Progress


class Disaggregated:
    """What is told of every pixel, in the order of the pixels.

    Attributes
    ----------
    posterior : Posterior
        The posterior, which predicts at other pixels too.
    rate : Prediction
        Of every pixel the mean per unit of weight, such as cases per person, or the average.
    """

    def __init__(self, posterior: Posterior, pixels: Frame, key: str, inputs: Sequence[str],
                 weight: str | None, level: float) -> None:
        self.posterior, self._pixels, self._level = posterior, pixels, level
        self._key, self._inputs, self._weight = key, inputs, weight
        self.rate = posterior.predict(point(dict(zip(inputs, inputs))), level=level, data=pixels)
        self._total: Prediction | None = None

    def __len__(self) -> int:
        return len(self.rate)

    def __repr__(self) -> str:
        return f"<Disaggregated: {len(self)} pixels, {self.posterior.kernel}>"

    @property
    def warnings(self) -> list[str]:
        """What a careful reader should know."""
        return [*self.posterior.warnings, *self.rate.warnings]

    @property
    def total(self) -> Prediction:
        """Of every pixel weight times rate, such as cases: a Prediction."""
        if self._total is None:
            own = bag(dict(zip(self._inputs, self._inputs)), key=range(len(self)),
                      weight=self._weight, aggregate="sum")
            self._total = self.posterior.predict(own, level=self._level, data=self._pixels)
        return self._total

    def to_dict(self, what: str = "rate") -> dict[str, Any]:
        """Keys, inputs and weights of the pixels, and what is told of each.

        Parameters
        ----------
        what : {"rate", "total"}
            Per unit of weight, or times the weight of the pixel.
        """
        if what not in ("rate", "total"):
            raise DataError(f"what is {what!r}; it must be \"rate\" or \"total\"")
        given = dict.fromkeys([self._key, *self._inputs])
        if isinstance(self._weight, str):
            given[self._weight] = None
        columns = {name: np.asarray(_frames.take(self._pixels, name, name)) for name in given}
        told = getattr(self, what)
        return {**columns, **{name: getattr(told, name) for name in NUMBERS}}

    def to_frame(self, what: str = "rate") -> Any:
        """The same as a data frame of the kind of the pixels."""
        return _frames.make(self.to_dict(what), self._pixels)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draws the rates over one input or two, as `Prediction.plot`."""
        return self.rate.plot(ax, **style)


def disaggregate(bags: Frame, pixels: Frame, *, key: str, counts: str | None = None,
                 total: str | None = None, average: str | None = None,
                 inputs: Sequence[str] = ("x", "y"), weight: str | None = None, variance: Any = 0,
                 overdispersed: bool = False, kernel: str | Kernel | None = None,
                 mean: str | float = "constant", link: str | None = None,
                 hyperparameters: Mapping[str, Any] | None = None, fit: Any = None,
                 level: float = 0.95, seed: int = 0, progress: Progress = None) -> Disaggregated:
    """Counts, totals or averages of bags, told for the pixels that they are made of.

    Covariates vary within bags, so that bags can tell what they do. Means of counts are added up
    behind the link, people by people.

    Parameters
    ----------
    bags : data frame
        A row for each bag, such as a district; several where it was observed several times.
    pixels : data frame
        A row for each pixel; also of bags that were not observed.
    key : str
        The column of both that names the bag.
    counts, total, average : str
        The column of the bags that holds counts of events, totals, or averages. Hidden counts are
        a pair of columns: the least and the most they may be.
    inputs : sequence of str, default ("x", "y")
        The columns of the pixels that the kernel takes: coordinates and covariates.
    weight : str, optional
        The column of the pixels that holds their weights, such as people; one each where it is
        not given.
    variance : float or str, default 0
        The known variance of totals and averages, or their column; 0 where they are exact.
    overdispersed : bool
        Whether counts vary by more than chance (negative binomial).
    kernel : str, optional
        ``matern32`` of all inputs, a lengthscale each, where it is not given.
    mean, link, hyperparameters
        As for `Model`.
    fit : dict, optional
        Arguments of `Model.fit`, such as ``{"method": "sparse", "inducing": 400}`` for many pixels.
    level : float, default 0.95
        Probability of the intervals.
    seed : int
        Fixes everything random.
    progress : bool or callable, optional
        As for `Model.fit`.

    Returns
    -------
    Disaggregated

    Examples
    --------
    >>> import quadrat as qd
    >>> districts = {"district": ["west", "east"], "cases": [12, 40]}
    >>> pixels = {"district": ["west", "west", "east", "east"], "x": [0.0, 1, 2, 3],
    ...           "people": [100.0, 200, 150, 250]}
    >>> told = qd.disaggregate(districts, pixels, key="district", counts="cases", inputs=["x"],
    ...                        weight="people")
    >>> told, bool(told.rate.mean[0] < told.rate.mean[3])
    (<Disaggregated: 4 pixels, matern32(x)>, True)
    """
    given = {"counts": counts, "total": total, "average": average}
    asked = [name for name, column in given.items() if column is not None]
    if len(asked) != 1:
        raise DataError("give one of counts, total and average: a column of the bags")
    overdispersed = _arrays.boolean(overdispersed, "overdispersed")
    if counts is None and overdispersed:
        raise DataError("overdispersed belongs to counts; give counts")
    if counts is not None and not (isinstance(variance, (int, float)) and variance == 0):
        raise DataError("variance belongs to total and average; counts have that of chance")
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise DataError(f"inputs is {inputs!r}; give a list of columns of the pixels")
    if not isinstance(key, str):
        raise DataError(f"key is {key!r}; give the name of a column")
    level = _arrays.probability(level, "level")
    options = dict(fit or {})
    for name in ("seed", "progress"):
        if name in options:
            raise DataError(f"fit: give {name} beside fit")
    bags, pixels = _groups.columned(bags), _groups.columned(pixels)
    inputs = list(inputs)
    apart(dict.fromkeys([key, *inputs, *([weight] if isinstance(weight, str) else ())]),
          remedy="rename that column of the pixels")
    own = bag(dict(zip(inputs, inputs)), key=_groups.values(pixels, key, "pixels"), weight=weight,
              keys=_groups.values(bags, key, "bags"),
              aggregate="mean" if average is not None else "sum")
    model = Model(kernel or f"matern32({', '.join(inputs)})", mean, link, hyperparameters)
    model.observe(own, _likelihood(bags, counts, total or average, variance, overdispersed),
                  data=pixels)
    posterior = model.fit(seed=seed, progress=progress, **options)
    return Disaggregated(posterior, pixels, key, inputs, weight, level)


def _likelihood(bags, counts, value, variance, overdispersed):
    """What the bags reported, its columns looked up among theirs."""
    def column(name, argument):
        return _arrays.column(name, argument, bags)
    if counts is None:
        known = column(variance, "variance") if isinstance(variance, str) else variance
        return Gaussian(column(value, "value"), known)
    kind = NegativeBinomial if overdispersed else Poisson
    if isinstance(counts, str):
        return kind(column(counts, "counts"))
    try:
        least, most = counts
    except (TypeError, ValueError):
        raise DataError(f"counts is {counts!r}; give a column of the bags, or a pair of columns: "
                        "the least and the most") from None
    return kind(lower=column(least, "counts (least)"), upper=column(most, "counts (most)"))
