"""What arguments and answers may be, for annotations."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Numbers, or the name of a column of `data`.
Column: TypeAlias = ArrayLike | str
Floats: TypeAlias = NDArray[np.float64]
#: A pair of ends, `None` where it is open.
Ends: TypeAlias = tuple[float | None, float | None]
#: Whatever has columns: of pandas, polars, pyarrow, a dict, an Arrow stream.
Frame: TypeAlias = Any
Path: TypeAlias = str | os.PathLike[str]
#: `True`, or what is called with ``(stage, done, total, best)``.
Progress: TypeAlias = bool | Callable[..., object] | None
