from ._areal import ArealFit as ArealFit, areal_interpolate as areal_interpolate
from ._campaign import Campaign as Campaign
from ._check import Check as Check
from ._conditional import ConditionalDensity as ConditionalDensity
from ._density import Density as Density
from ._disaggregate import Disaggregated as Disaggregated, disaggregate as disaggregate
from ._errors import (
    DataError as DataError,
    FitError as FitError,
    FitWarning as FitWarning,
    InternalError as InternalError,
    LoadError as LoadError,
    NotConverged as NotConverged,
    Problem as Problem,
)
from ._kernels import Kernel as Kernel
from ._likelihoods import (
    Bernoulli as Bernoulli,
    Binomial as Binomial,
    Censored as Censored,
    Exponential as Exponential,
    Gamma as Gamma,
    Gaussian as Gaussian,
    Interval as Interval,
    Laplace as Laplace,
    Likelihood as Likelihood,
    LogNormal as LogNormal,
    NegativeBinomial as NegativeBinomial,
    Ordinal as Ordinal,
    Poisson as Poisson,
    Positive as Positive,
    StudentT as StudentT,
    Truncated as Truncated,
)
from ._many import ManyFits as ManyFits, fit_many as fit_many
from ._model import Model as Model
from ._plane import Density2d as Density2d
from ._posterior import Posterior as Posterior, load as load
from ._prediction import Prediction as Prediction
from ._quadrat import __version__ as __version__, set_threads as set_threads
from ._reconcile import Reconciled as Reconciled, reconcile as reconcile
from ._row_values import RowValues as RowValues
from ._study import StudyResult as StudyResult, Table as Table, run as run
from ._supports import (
    Support as Support,
    bag as bag,
    box as box,
    cells as cells,
    grid as grid,
    point as point,
    region as region,
)
from ._ungroup import (
    Ungrouped as Ungrouped,
    UngroupedGroups as UngroupedGroups,
    UngroupedYears as UngroupedYears,
    ungroup as ungroup,
)
from ._violins import violins as violins

__all__: list[str]
