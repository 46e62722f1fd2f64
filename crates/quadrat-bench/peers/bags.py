"""One pass of a bound for counts of bags in GPyTorch and PyTorch: the peer of `quadrat-bench sparse`.

    python bags.py FOLDER

Reads what quadrat passes over too (`problem.json` and arrays of doubles, row by row) and prints one JSON object: the bound, and processor
seconds on one thread of its value and of its value with all derivatives, each the least of some runs.
"""

import json
import math
import pathlib
import sys
import time

import gpytorch
import numpy as np
import torch

RUNS = 2


def main(folder):
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    setting = json.loads((folder / "problem.json").read_text())
    columns, bag = setting["columns"], setting["bag"]
    read = lambda name: torch.from_numpy(np.fromfile(folder / name).reshape(-1, columns))
    inducing, points = read("inducing"), read("points")
    sample = torch.tensor(setting["sample"])
    covariates = columns - 2
    smooth = gpytorch.kernels.ScaleKernel(
        gpytorch.kernels.RBFKernel(
            ard_num_dims=covariates, active_dims=list(range(covariates))
        )
    )
    rough = gpytorch.kernels.ScaleKernel(
        gpytorch.kernels.MaternKernel(
            nu=1.5, ard_num_dims=2, active_dims=[covariates, covariates + 1]
        )
    )
    for kernel in [smooth, rough]:
        kernel.outputscale = setting["variance"]
        kernel.base_kernel.lengthscale = setting["lengthscale"]
    kernel = smooth + rough
    size, bags = len(inducing), len(points) // bag
    mean = torch.zeros(size, requires_grad=True)
    factor = (math.sqrt(setting["spread"]) * torch.eye(size)).requires_grad_()
    weights = torch.full((bags, bag), 1.0 / bag)
    count, exposure = setting["count"], setting["exposure"]

    def bound():
        dense = kernel(inducing).to_dense()
        # Relative to the variance of every point, as ours.
        dense = dense + torch.diag(setting["jitter"] * torch.diagonal(dense))
        root = torch.linalg.cholesky(dense)
        a = torch.linalg.solve_triangular(root, kernel(inducing, points).to_dense(), upper=False)
        b = factor.tril().T @ a
        m = (a.T @ mean).reshape(bags, bag)
        prior = kernel(points, diag=True)
        v = (prior - (a * a).sum(0) + (b * b).sum(0)).reshape(bags, bag)
        # Pairs of the sample of every bag.
        places = points.reshape(bags, bag, columns)[torch.arange(bags)[:, None], sample]
        pick = lambda x: x.T.reshape(bags, bag, size)[torch.arange(bags)[:, None], sample]
        a_, b_ = pick(a), pick(b)
        c = kernel(places).to_dense() - a_ @ a_.mT + b_ @ b_.mT
        share = weights * torch.exp(m + 0.5 * v)
        own = (share**2 * torch.expm1(v)).sum(1)
        e = share.gather(1, sample)
        off = 1.0 - torch.eye(sample.shape[1])
        explained = b_ @ b_.mT
        pairs = (e[:, :, None] * e[:, None, :] * (torch.expm1(c) - explained) * off).sum((1, 2))
        held = e.sum(1) ** 2 - (e**2).sum(1)
        squares = (share**2).sum(1)
        total = share.sum(1) ** 2 - squares
        # What inducing points explain of all pairs, less what the points of the sample have of it by themselves.
        along = (b.reshape(size, bags, bag) * share).sum(2)
        single = (e**2 * (b_ * b_).sum(2)).sum(1) * squares / (e**2).sum(1)
        variance = own + pairs * total / held + (along**2).sum(0) - single
        z = share.sum(1)
        log_z = torch.log(z) - 0.5 * torch.log1p(variance / z**2)
        expected = count * (math.log(exposure) + log_z) - exposure * z - math.lgamma(count + 1)
        low = factor.tril()
        trace, square = (low**2).sum(), (mean**2).sum()
        divergence = 0.5 * (trace + square - size) - torch.log(torch.diagonal(low).abs()).sum()
        return expected.sum() - divergence

    seconds = {"value": math.inf, "gradient": math.inf}
    parameters = [mean, factor, *kernel.parameters()]
    for _ in range(RUNS):
        start = time.process_time()
        with torch.no_grad():
            value = bound()
        seconds["value"] = min(seconds["value"], time.process_time() - start)
        start = time.process_time()
        torch.autograd.grad(bound(), parameters)
        seconds["gradient"] = min(seconds["gradient"], time.process_time() - start)
    print(json.dumps({"bound": float(value), **seconds}))


main(pathlib.Path(sys.argv[1]))
