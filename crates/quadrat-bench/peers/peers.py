"""The peers' half of run.py: runs inside the virtual environment and prints one JSON object."""

import json
import sys
import time

import numpy as np


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    outcome = {"data": data, "exact": exact, "boxes": boxes, "compare": compare}[command](*arguments)
    if outcome is not None:
        print(json.dumps(outcome))


def once(work):
    wall, processor = time.perf_counter(), time.process_time()
    out = work()
    return out, {
        "wall": time.perf_counter() - wall,
        "processor": time.process_time() - processor,
    }


def data(folder):
    """Points, boxes and a complete grid, the same for everybody."""
    random = np.random.default_rng(1)

    def save(name, header, columns):
        np.savetxt(
            f"{folder}/{name}.csv",
            np.column_stack(columns),
            delimiter=",",
            header=header,
            comments="",
            fmt="%.17g",
        )

    x, y = random.uniform(0, 10, (2, 1000))
    surface = np.sin(x) + np.cos(0.5 * y)
    save("points", "x,y,value", [x, y, surface + random.normal(0, 0.1, 1000)])

    low = random.uniform(0, 10, (2, 900))
    high = low + random.uniform(0.1, 3, (2, 900))
    save("boxes", "x0,x1,y0,y1", [low[0], high[0], low[1], high[1]])

    edges = np.linspace(0, 10, 101)
    i, j = (index.ravel() for index in np.meshgrid(np.arange(100), np.arange(100), indexing="ij"))
    area = (edges[i + 1] - edges[i]) * (edges[j + 1] - edges[j])
    surface = np.sin(edges[i] + 0.05) + np.cos(0.5 * edges[j] + 0.025)
    values = area * (surface + random.normal(0, 0.3, area.size))
    save("grid", "x0,x1,y0,y1,value", [edges[i], edges[i + 1], edges[j], edges[j + 1], values])


def exact(path):
    """GaussianProcessRegressor.fit from the default start, its evaluations counted."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    class Counted(GaussianProcessRegressor):
        evaluations = 0

        def log_marginal_likelihood(self, theta=None, eval_gradient=False, clone_kernel=True):
            # The call without a gradient after the search costs nothing in ours.
            self.evaluations += bool(eval_gradient)
            return super().log_marginal_likelihood(theta, eval_gradient, clone_kernel)

    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.0]) + WhiteKernel(0.1)
    # alpha: the jitter that it adds by default, so small that the evidence is ours.
    regressor = Counted(kernel, n_restarts_optimizer=0, alpha=1e-14)
    _, times = once(lambda: regressor.fit(rows[:, :2], rows[:, 2]))
    variance, x, y, noise = np.exp(regressor.kernel_.theta)
    return {
        "time": times,
        "evaluations": regressor.evaluations,
        "theta": [variance, x, y, noise],
        "log_evidence": regressor.log_marginal_likelihood_value_,
    }


def boxes(path, dims, out, variance, *lengthscales):
    """GPy's integral kernels: Gram matrix and gradient."""
    import GPy

    dims = int(dims)
    variance, lengthscales = float(variance), [float(l) for l in lengthscales]
    rows = np.loadtxt(path, delimiter=",", skiprows=1)[:, : 2 * dims]
    # Its columns are (end, start) of every input, whatever its documentation says.
    columns = [c for d in range(dims) for c in (2 * d + 1, 2 * d)]
    X = np.ascontiguousarray(rows[:, columns])
    kind = GPy.kern.Integral_Limits if dims == 1 else GPy.kern.Multidimensional_Integral_Limits
    # Its kernel is exp(-r^2 / l^2): lengthscales are sqrt(2) times ours.
    kernel = kind(2 * dims, variances=variance, lengthscale=np.sqrt(2) * np.array(lengthscales))
    i = np.arange(len(X))
    adjoint = np.sin(0.37 * (i[:, None] + i))
    K, matrix = once(lambda: kernel.K(X))
    _, contract = once(lambda: kernel.update_gradients_full(adjoint, X))
    np.ascontiguousarray(K).tofile(out)
    gradient = [float(kernel.variances.gradient[0])]
    gradient += [float(np.sqrt(2) * g) for g in kernel.lengthscale.gradient]
    return {"rows": len(X), "matrix": matrix, "contract": contract, "gradient": gradient}


def compare(theirs, own):
    a, b = (np.fromfile(path, dtype="<f8") for path in (theirs, own))
    n = int(np.sqrt(a.size))
    diagonal = np.sqrt(np.diag(b.reshape(n, n)))
    scale = np.outer(diagonal, diagonal).ravel()
    return {"difference": float(np.max(np.abs(a - b) / scale))}


if __name__ == "__main__":
    main()
