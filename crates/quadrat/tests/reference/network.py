"""Training a network behind sums, for the test of `baseline/network/mod.rs`.

    python3 crates/quadrat/tests/reference/network.py

Slopes by automatic differentiation (autograd 1.9.1), the Laplacians as sums over pairs, numpy 2.4.6.
"""

import autograd.numpy as np
from autograd import grad

BAGS = [
    ([0.0, 0.5, 1.5], [1.0, 2.0, 1.0], 9.0),
    ([1.0, 2.0], [1.5, 1.0], 11.0),
    ([2.5, 3.0, 3.5, 4.0], [1.0, 1.0, 2.0, 1.0], 40.0),
    ([4.5], [3.0], 20.0),
    ([5.0, 6.0], [0.5, 2.0], 6.0),
]
LANDMARKS = np.array([0.0, 1.5, 3.0, 4.5, 6.0])
LENGTHSCALE, JITTER, POINTS, ROWS, RATE, STEPS = 1.2, 1e-9, 5.0, 3.0, 0.05, 40
# Weight and threshold of every unit, weights of units, level.
START = np.array([1.0, 0.2, -0.8, 0.1, 0.5, -0.4, 0.3, -0.2, 0.25, 1.7])
ASKED = np.array([0.25, 3.2, 5.5])


def kernel(a, b):
    return np.exp(-0.5 * ((a[:, None] - b[None, :]) / LENGTHSCALE) ** 2)


def network(values, x):
    inner, outer, level = values[:6].reshape(3, 2), values[6:9], values[9]
    units = np.maximum(0, np.outer(x, inner[:, 0]) + inner[:, 1])
    return units @ outer + level


x = np.concatenate([np.array(b[0]) for b in BAGS])
n = len(x)
centre, spread = x.mean(), x.std()
# The kernel that landmarks carry, of points and, as means over both, of bags.
K = kernel(x, LANDMARKS) @ np.linalg.inv(kernel(LANDMARKS, LANDMARKS) + JITTER * np.eye(5)) @ kernel(LANDMARKS, x)
A = np.zeros((5, n))
M = np.zeros((5, n))
at = 0
for row, (places, weights, _) in enumerate(BAGS):
    A[row, at : at + len(places)] = weights
    M[row, at : at + len(places)] = 1 / len(places)
    at += len(places)
KB = M @ K @ M.T
y = np.array([b[2] for b in BAGS])


def objective(values):
    f = network(values, (x - centre) / spread)
    mean, F = A @ np.exp(f), M @ f
    loss = np.mean(mean - y * np.log(mean))
    loss += POINTS / n**2 * np.sum(K * (f[:, None] - f[None, :]) ** 2) / 2
    return loss + ROWS / 25 * np.sum(KB * (F[:, None] - F[None, :]) ** 2) / 2


values, m, v = START, 0.0, 0.0
for step in range(1, STEPS + 1):
    g = grad(objective)(values)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    values = values - RATE * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
print("objective", f"{objective(START):.12g}", f"{objective(values):.12g}")
print("asked", [float(f"{r:.12g}") for r in np.exp(network(values, (ASKED - centre) / spread))])
