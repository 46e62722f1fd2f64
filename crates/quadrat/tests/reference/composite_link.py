"""Penalised composite link model, for the tests of `baseline/composite_link.rs`.

    python3 crates/quadrat/tests/reference/composite_link.py

`search` follows the appendix of Rizzi, Gampe and Eilers 2015: least squares, augmented by rows for
the penalty. `exact` solves the best strength again by scoring in 40 digits. numpy 2.4.6, mpmath
1.4.1.
"""

import mpmath as mp
import numpy as np

mp.mp.dps = 40

# The example of `pclm` in the R package ungroup 1.4.5; the last band ends at 111.
FROM = np.r_[0, 1, np.arange(5, 90, 5)].astype(float)
TO = np.r_[FROM[1:], 111.0]
DEATHS = np.array(
    [294, 66, 32, 44, 170, 284, 287, 293, 361, 600, 998, 1572, 2529, 4637, 6161, 7369, 10481, 15293, 39016.0]
)
EXPOSURE = 1000.0 * np.array(
    [114, 440, 509, 492, 628, 618, 576, 580, 634, 657, 631, 584, 573, 619, 530, 384, 303, 245, 249]
)
YEARS = 111
ASKED = [0, 3, 12, 40, 77, 100]


def augmented(y, C, strength):
    k = C.shape[1]
    D = np.diff(np.eye(k), 2, axis=0)
    b = np.full(k, np.log(y.sum() / C.sum()))
    for _ in range(2000):
        g = np.exp(b)
        mu = C @ g
        Q = C * g
        rows = np.vstack([Q / np.sqrt(mu)[:, None], np.sqrt(strength) * D])
        target = np.concatenate([(y - mu + Q @ b) / np.sqrt(mu), np.zeros(k - 2)])
        new = np.linalg.lstsq(rows, target, rcond=None)[0]
        step, b = np.abs(new - b).max(), new
        if step < 1e-11:
            break
    mu = C @ np.exp(b)
    Q = C * np.exp(b)
    R = Q.T @ (Q / mu[:, None])
    dimension = np.trace(np.linalg.solve(R + strength * D.T @ D, R))
    return b, dimension, 2 * np.sum(y * np.log(y / mu) - (y - mu))


def search(y, C, price):
    fits = [(10 ** (0.25 * q), *augmented(y, C, 10 ** (0.25 * q))) for q in range(-4, 33)]
    return min(fits, key=lambda fit: fit[3] + price * fit[2])


def exact(y, C, strength, b):
    m, k = C.shape
    D = np.diff(np.eye(k), 2, axis=0)
    P = mp.matrix((D.T @ D).tolist()) * mp.mpf(strength)
    b = mp.matrix([mp.mpf(float(v)) for v in b])
    step = 1
    while step > mp.mpf(10) ** -20:
        g = [mp.exp(v) for v in b]
        mu = [mp.fsum(mp.mpf(C[r, c]) * g[c] for c in range(k)) for r in range(m)]
        S = mp.matrix(m, k)
        for r in range(m):
            for c in range(k):
                S[r, c] = mp.mpf(C[r, c]) * g[c] / mp.sqrt(mu[r])
        A = S.T * S + P
        residual = mp.matrix([(mp.mpf(y[r]) - mu[r]) / mp.sqrt(mu[r]) for r in range(m)])
        delta = mp.lu_solve(A, S.T * residual - P * b)
        b, step = b + delta, max(abs(v) for v in delta)
    W = S * mp.inverse(A)
    dimension = mp.fsum(W[r, c] * S[r, c] for r in range(m) for c in range(k))
    deviance = 2 * mp.fsum(y[r] * mp.log(y[r] / mu[r]) - (y[r] - mu[r]) for r in range(m))

    def answer(years):
        root = [mp.fsum(W[r, c] * mp.exp(b[c]) for c in years) for r in range(m)]
        return mp.fsum(mp.exp(b[c]) for c in years), mp.sqrt(mp.fsum(v * v for v in root))

    return [answer([year]) for year in ASKED] + [answer(range(60, 80))], dimension, deviance


def main():
    years = np.arange(YEARS, dtype=float)
    overlap = np.minimum(TO[:, None], years + 1) - np.maximum(FROM[:, None], years)
    C = np.clip(overlap, 0, None)
    rates = C * (EXPOSURE / (TO - FROM))[:, None]
    for name, C, price in (("counts, bic", C, np.log(len(DEATHS))), ("rates, aic", rates, 2.0)):
        strength, b, *_ = search(DEATHS, C, price)
        answers, dimension, deviance = exact(DEATHS, C, strength, b)
        print(name, strength)
        print("mean", [mp.nstr(mean, 12) for mean, _ in answers])
        print("sd", [mp.nstr(sd, 10) for _, sd in answers])
        print("dimension", mp.nstr(dimension, 12), "deviance", mp.nstr(deviance, 12))


main()
