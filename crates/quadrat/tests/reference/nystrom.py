"""Regression on Nystrom features behind sums, for the test of `baseline/nystrom.rs`.

    python3 crates/quadrat/tests/reference/nystrom.py

The symmetric root of the landmarks' kernel, as in the paper, and BFGS with gradients by hand,
polished by Newton steps. numpy 2.4.6, scipy 1.17.1.
"""

import numpy as np
from scipy.optimize import minimize

BAGS = [
    ([0.0, 0.5, 1.5], [1.0, 2.0, 1.0], 9.0),
    ([1.0, 2.0], [1.5, 1.0], 11.0),
    ([2.5, 3.0, 3.5, 4.0], [1.0, 1.0, 2.0, 1.0], 40.0),
    ([4.5], [3.0], 20.0),
    ([5.0, 6.0], [0.5, 2.0], 6.0),
]
LANDMARKS = np.array([0.0, 1.5, 3.0, 4.5, 6.0])
LENGTHSCALE, VARIANCE, MANIFOLD, JITTER = 1.2, 0.8, 5.0, 1e-9
ASKED = np.array([0.25, 3.2, 5.5])


def kernel(a, b):
    return np.exp(-0.5 * ((a[:, None] - b[None, :]) / LENGTHSCALE) ** 2)


def main():
    values, vectors = np.linalg.eigh(kernel(LANDMARKS, LANDMARKS) + JITTER * np.eye(5))
    root = vectors @ np.diag(values**-0.5) @ vectors.T
    phi = lambda x: kernel(x, LANDMARKS) @ root
    x = np.concatenate([b[0] for b in BAGS])
    n = len(x)
    A = np.zeros((5, n))
    at = 0
    for row, (places, weights, _) in enumerate(BAGS):
        A[row, at : at + len(places)] = weights
        at += len(places)
    y = np.array([b[2] for b in BAGS])
    own = phi(x)
    K = own @ own.T
    P = np.zeros((6, 6))
    P[1:, 1:] = np.eye(5) / VARIANCE + 2 * MANIFOLD / n**2 * own.T @ (np.diag(K.sum(1)) - K) @ own
    F = np.hstack([np.ones((n, 1)), own])
    softplus = (lambda f: np.logaddexp(0, f), lambda f: 1 / (1 + np.exp(-f)))
    for name, (link, slope), variance in (
        ("counts, exp", (np.exp, np.exp), None),
        ("values, softplus", softplus, 0.5),
    ):

        def objective(b):
            f = F @ b
            mean = A @ link(f)
            J = A @ (slope(f)[:, None] * F)
            if variance is None:
                return np.sum(mean - y * np.log(mean)) + b @ P @ b / 2, J.T @ (1 - y / mean) + P @ b
            return np.sum((y - mean) ** 2) / (2 * variance) + b @ P @ b / 2, J.T @ (mean - y) / variance + P @ b

        start = np.zeros(6)
        start[0] = np.log(y.sum() / A.sum()) if variance is None else np.log(np.expm1(y.sum() / A.sum()))
        b = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 5000}).x
        for _ in range(20):
            H = np.array([(objective(b + 1e-6 * e)[1] - objective(b - 1e-6 * e)[1]) / 2e-6 for e in np.eye(6)])
            b = b - np.linalg.solve(H, objective(b)[1])
        asked = np.hstack([np.ones((3, 1)), phi(ASKED)])
        print(name, [float(f"{v:.10g}") for v in link(asked @ b)], np.abs(objective(b)[1]).max())


main()
