"""The smoothest surface with given averages, none below zero, for the tests of
`baseline/pycnophylactic.rs`.

    python3 crates/quadrat/tests/reference/pycnophylactic.py

An active set method, and SLSQP of scipy for the grid. numpy 2.4.6, scipy 1.17.1.
"""

import numpy as np
from scipy.optimize import minimize


def laplacian(nx, ny):
    L = np.zeros((nx * ny, nx * ny))
    for j in range(ny):
        for i in range(nx):
            a = i + j * nx
            for b in ([a + 1] if i + 1 < nx else []) + ([a + nx] if j + 1 < ny else []):
                L[a, a] += 1
                L[b, b] += 1
                L[a, b] -= 1
                L[b, a] -= 1
    return L


def averages(zone):
    A = np.array([[1.0 if z == k else 0.0 for z in zone] for k in range(max(zone) + 1)])
    return A / A.sum(1, keepdims=True)


def smoothest(nx, ny, zone, average):
    L, A = laplacian(nx, ny), averages(zone)
    n, m = nx * ny, len(average)
    zero = set()
    while True:
        free = [c for c in range(n) if c not in zero]
        system = np.block([[2 * L[np.ix_(free, free)], A[:, free].T], [A[:, free], np.zeros((m, m))]])
        solved = np.linalg.lstsq(system, np.r_[np.zeros(len(free)), average], rcond=None)[0]
        z = np.zeros(n)
        z[free] = solved[: len(free)]
        below = [c for c in free if z[c] < -1e-12]
        if below:
            zero |= set(below)
            continue
        multiplier = 2 * L @ z + A.T @ solved[len(free) :]
        wrong = [c for c in zero if multiplier[c] < -1e-10]
        if not wrong:
            return z
        zero.remove(min(wrong, key=lambda c: multiplier[c]))


def main():
    nx, ny = 8, 6
    zone = [(0 if i < 3 else 1) if j < 2 else (2 if i < 5 else 3) for j in range(ny) for i in range(nx)]
    average = np.array([2.0, 0.25, 9.0, 1.0])
    z = smoothest(nx, ny, zone, average)
    print(z.reshape(ny, nx).round(8))
    L, A = laplacian(nx, ny), averages(zone)
    other = minimize(
        lambda v: v @ L @ v,
        average[zone],
        jac=lambda v: 2 * L @ v,
        bounds=[(0, None)] * (nx * ny),
        constraints={"type": "eq", "fun": lambda v: A @ v - average, "jac": lambda v: A},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    print("SLSQP differs by", np.abs(other.x - z).max())
    z = smoothest(10, 1, [0] * 2 + [1] * 3 + [2] * 5, np.array([3.0, 8.0, 0.5]))
    print([float(f"{v:.12g}") for v in z])


main()
