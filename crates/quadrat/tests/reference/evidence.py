"""Log evidence of normal rows under fixed hyperparameters, to 60 digits: writes evidence.csv.

    python -m venv v && v/bin/pip install mpmath numpy gmpy2 && v/bin/python evidence.py > evidence.csv

Written for mpmath 1.3.0; covariances of points and boxes are those of `box_covariance.py`, at its 120 digits. All
numbers that the tests feed in are doubles, taken exactly. Columns: the kernel, its variance and lengthscale, mean and
sd of the prior of the unknown constant, rows as `lower:upper:aggregate:value:variance` (a point has equal edges, and
its aggregate is `mean`), the log evidence, and the quadratic form and the condition number that say how far double
precision can know it. The condition number is that of the covariance with a diagonal of ones. Rows of which double
precision knows the evidence no better than to a hundredth are left out.
"""

import random

import mpmath as mp

from box_covariance import line

PRINTED = 60
EPS = 2.0**-52


def log_evidence(kernel, variance, lengthscale, mean, mean_sd, rows):
    """log N(values | mean sizes, K + mean_sd^2 sizes sizes' + noise), its quadratic form, its condition number."""
    n = len(rows)
    exact = [tuple(mp.mpf(x) for x in (low, high, value, noise)) for low, high, _, value, noise in rows]
    sizes = [high - low if row[2] == "sum" else mp.mpf(1) for row, (low, high, _, _) in zip(rows, exact)]
    variance, lengthscale, mean, mean_sd = map(mp.mpf, (variance, lengthscale, mean, mean_sd))
    k = mp.matrix(n, n)
    for i in range(n):
        for j in range(i + 1):
            a, b = exact[i][:2], exact[j][:2]
            k[i, j] = sizes[i] * sizes[j] * (variance * line(kernel, a, b, lengthscale) + mean_sd**2)
            k[j, i] = k[i, j]
        k[i, i] += exact[i][3]
    r = mp.matrix([exact[i][2] - mean * sizes[i] for i in range(n)])
    lower = mp.cholesky(k)
    z = mp.lu_solve(lower, r)
    square = mp.fsum(x * x for x in z)
    log_det = 2 * mp.fsum(mp.log(lower[i, i]) for i in range(n))
    scaled = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            scaled[i, j] = k[i, j] / mp.sqrt(k[i, i] * k[j, j])
    values = mp.eigsy(scaled, eigvals_only=True)
    return -(square + log_det + n * mp.log(2 * mp.pi)) / 2, square, max(values) / min(values)


def rows_of(shape, n, scale, level, noise, unit, origin):
    """Supports one after the other, and values of a wave around a level."""
    rows, at = [], origin
    for i in range(n):
        width = unit * random.uniform(0.2, 1.8)
        value = level + scale * float(mp.sin(0.9 * i)) + noise * random.gauss(0, 1)
        kind = random.choice(["point", "mean", "sum"]) if shape == "mixed" else shape
        size = width if kind == "sum" else 1.0
        edges = (at, at) if kind == "point" else (at, at + width)
        aggregate = "sum" if kind == "sum" else "mean"
        rows.append((*edges, aggregate, value * size, (noise * size) ** 2))
        at += width
    return rows


def main():
    random.seed(37)
    print("kernel,variance,lengthscale,mean,mean_sd,rows,log_evidence,square,condition")
    settings = [
        # Values vary by `scale` around `level` and are known to `noise`; places are `unit` apart from `origin` on.
        dict(scale=1.0, level=0.0, noise=0.1, unit=1.0, origin=0.0),
        dict(scale=1.0, level=100.0, noise=1e-3, unit=1.0, origin=-3.0),
        dict(scale=1e8, level=1e8, noise=1.0, unit=1.0, origin=0.0),
        dict(scale=1e-9, level=0.0, noise=1e-11, unit=1e6, origin=0.0),
        dict(scale=1.0, level=1e6, noise=0.3, unit=1e-3, origin=1024.0),
    ]
    for kernel in ["se", "matern12", "matern32", "matern52"]:
        for shape in ["point", "mean", "sum", "mixed"]:
            for s in settings:
                rows = rows_of(shape, random.randint(3, 12), **s)
                variance = s["scale"] ** 2 * 10 ** random.uniform(-1, 1)
                lengthscale = s["unit"] * 10 ** random.uniform(-1, 1)
                mean, mean_sd = s["level"], random.choice([0.0, 10 * s["scale"], 1e3 * s["scale"]])
                if mean_sd > 0:
                    mean = 0.9 * s["level"]
                value, square, condition = log_evidence(kernel, variance, lengthscale, mean, mean_sd, rows)
                if len(rows) * EPS * condition * (square + len(rows)) > 0.01:
                    continue
                text = ";".join(":".join(x if isinstance(x, str) else repr(x) for x in row) for row in rows)
                numbers = [variance, lengthscale, mean, mean_sd]
                print(
                    kernel, *map(repr, numbers), text, mp.nstr(value, PRINTED), mp.nstr(square, 6), mp.nstr(condition, 6), sep=","
                )


if __name__ == "__main__":
    main()
