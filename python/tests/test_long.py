"""What takes minutes: `./check --long` runs it (`QUADRAT_LONG=1`)."""

import gc
import os
import re

import numpy as np
import pytest

import quadrat as qd

pytestmark = [
    pytest.mark.skipif("QUADRAT_LONG" not in os.environ, reason="./check --long runs it"),
    pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is told by Linux"),
]

X = np.linspace(0, 3, 8)
AT = qd.point(x=[0.5, 1.5])


def resident():
    """The memory that the process has now, in MB."""
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) / 1024


def fit(at):
    likelihood = (qd.Gaussian(np.cos(X), 0.01), qd.Poisson([3, 8, 9, 5, 2, 1, 4, 7]))[at % 2]
    model = qd.Model("se(x)").observe(qd.point(x=X), likelihood)
    post = model.fit(hyperparameters="map", starts=1, threads=1)
    return post.predict(AT).quantile(0.9), post.summary()


@pytest.mark.filterwarnings("ignore::quadrat.FitWarning")
def test_ten_thousand_fits_leave_no_memory_behind():
    seen = []
    for at in range(10_000):
        fit(at)
        if at % 500 == 499:
            seen.append(resident())
    print("MB after every 500 fits:", *(round(own, 1) for own in seen))
    # The first thousand fill what stays: modules, pools of the allocator. A leak of 1 kB a fit, of
    # some 10 kB that each fit holds, is 9 MB in the other nine thousand.
    assert seen[-1] - seen[1] < 4, seen
