"""One pass of a bound for counts of bags in GPyTorch and PyTorch: the peer of `quadrat-bench sparse` and `quadrat-bench country`.

    python bags.py FOLDER

Reads what quadrat passes over too (`problem.json` and arrays of doubles, row by row) and prints one JSON object: the bound, and seconds
of its value and of its value with all derivatives, each the least of some runs, by the processor on one thread and on the wall clock on more.
Whole bags are taken some thousand points at a time, so that memory does not grow with the number of points; derivatives of the Cholesky
factor are added up and go back through it once.
"""

import json
import math
import pathlib
import sys
import time

import gpytorch
import numpy as np
import torch


def read_kernel(setting):
    """se over the covariates, plus matern32 over the two coordinates, which come last."""
    covariates = setting["columns"] - 2
    smooth = gpytorch.kernels.RBFKernel(
        ard_num_dims=covariates, active_dims=list(range(covariates))
    )
    rough = gpytorch.kernels.MaternKernel(
        nu=1.5, ard_num_dims=2, active_dims=[covariates, covariates + 1]
    )
    smooth.lengthscale = torch.tensor(setting["lengthscales"][:covariates])
    rough.lengthscale = torch.tensor(setting["lengthscales"][covariates:])
    parts = [gpytorch.kernels.ScaleKernel(k) for k in (smooth, rough)]
    for part, variance in zip(parts, setting["variances"]):
        part.outputscale = variance
    return parts[0] + parts[1]


class Chunk:
    """Whole bags of at least two points: their points, and the pairs of points that stand for all of each."""

    def __init__(self, setting, points, weights, bags):
        offsets = setting["offsets"]
        first = offsets[bags[0]]
        self.points = points[first : offsets[bags[-1] + 1]]
        self.weights = weights[first : offsets[bags[-1] + 1]]
        self.sizes = [offsets[b + 1] - offsets[b] for b in bags]
        self.owner = torch.repeat_interleave(torch.tensor(self.sizes))
        take = lambda name: torch.tensor([setting[name][b] for b in bags])
        self.counts, self.exposures = take("counts"), take("exposures")
        # Bags of which as many points are paired are dealt with together.
        groups = {}
        for own, b in enumerate(bags):
            at = [offsets[b] - first + i for i in setting["sample"][b]]
            groups.setdefault(len(at), []).append((own, at))
        self.groups = [
            (torch.tensor([own for own, _ in group]), torch.tensor([at for _, at in group]))
            for group in groups.values()
        ]


def chunks(setting, points, weights):
    """Bags in order, some thousand points at a time."""
    offsets = setting["offsets"]
    held = []
    for b in range(len(offsets) - 1):
        if held and offsets[b + 1] - offsets[held[0]] > setting["chunk"]:
            yield Chunk(setting, points, weights, held)
            held = []
        held.append(b)
    yield Chunk(setting, points, weights, held)


def expected_logs(chunk, kernel, inducing, root, mean, factor, level):
    """Sum over the bags of a chunk of the expected log-probability of their counts."""
    bags = len(chunk.sizes)
    a = torch.linalg.solve_triangular(
        root, kernel(inducing, chunk.points).to_dense(), upper=False
    )
    b = factor.tril().T @ a
    m = level + a.T @ mean
    v = kernel(chunk.points, diag=True) - (a * a).sum(0) + (b * b).sum(0)
    share = chunk.weights * torch.exp(m + 0.5 * v)
    over = lambda terms: torch.zeros(bags).index_add(0, chunk.owner, terms)
    z, squares = over(share), over(share**2)
    total = z**2 - squares
    # What inducing points explain of all pairs, less what the points of the sample have of it by themselves.
    parts = zip(b.split(chunk.sizes, 1), share.split(chunk.sizes))
    along = torch.stack([own @ e for own, e in parts])
    variance = over(share**2 * torch.expm1(v)) + (along**2).sum(1)
    for own, at in chunk.groups:
        pick = lambda x: x[:, at].permute(1, 2, 0)
        a_, b_, e = pick(a), pick(b), share[at]
        explained = b_ @ b_.mT
        c = kernel(chunk.points[at]).to_dense() - a_ @ a_.mT + explained
        off = 1.0 - torch.eye(at.shape[1])
        rest = (torch.expm1(c) - explained) * off
        pairs = (e[:, :, None] * e[:, None, :] * rest).sum((1, 2))
        held = e.sum(1) ** 2 - (e**2).sum(1)
        single = (e**2 * (b_ * b_).sum(2)).sum(1) * squares[own] / (e**2).sum(1)
        variance = variance.index_add(0, own, pairs * total[own] / held - single)
    log_z = torch.log(z) - 0.5 * torch.log1p(variance / z**2)
    rates = torch.log(chunk.exposures) + log_z
    constants = torch.lgamma(chunk.counts + 1)
    return (chunk.counts * rates - chunk.exposures * z - constants).sum()


def main(folder):
    setting = json.loads((folder / "problem.json").read_text())
    torch.set_num_threads(setting["threads"])
    torch.set_default_dtype(torch.float64)
    columns = setting["columns"]
    read = lambda name: torch.from_numpy(np.fromfile(folder / name))
    inducing = read("inducing").reshape(-1, columns)
    points = read("points").reshape(-1, columns)
    parts = list(chunks(setting, points, read("weights")))
    kernel = read_kernel(setting)
    size = len(inducing)
    mean = torch.zeros(size, requires_grad=True)
    factor = (math.sqrt(setting["spread"]) * torch.eye(size)).requires_grad_()
    level = torch.tensor(setting["level"], requires_grad=True)

    def cholesky():
        dense = kernel(inducing).to_dense()
        # Relative to the variance of every point, as ours.
        return torch.linalg.cholesky(dense + torch.diag(setting["jitter"] * torch.diagonal(dense)))

    def divergence():
        low = factor.tril()
        trace, square = (low**2).sum(), (mean**2).sum()
        return 0.5 * (trace + square - size) - torch.log(torch.diagonal(low).abs()).sum()

    def value():
        with torch.no_grad():
            root = cholesky()
            terms = (
                expected_logs(part, kernel, inducing, root, mean, factor, level) for part in parts
            )
            return float(sum(terms) - divergence())

    def gradient():
        for parameter in (mean, factor, level, *kernel.parameters()):
            parameter.grad = None
        root = cholesky()
        leaf = root.detach().requires_grad_()
        for part in parts:
            expected_logs(part, kernel, inducing, leaf, mean, factor, level).backward()
        root.backward(leaf.grad)
        (-divergence()).backward()

    # What is done once, such as loading libraries, is not counted.
    expected_logs(parts[0], kernel, inducing, cholesky(), mean, factor, level).backward()
    clock = time.process_time if setting["threads"] == 1 else time.perf_counter
    seconds = {"value": math.inf, "gradient": math.inf}
    for _ in range(setting["runs"]):
        start = clock()
        bound = value()
        seconds["value"] = min(seconds["value"], clock() - start)
        start = clock()
        gradient()
        seconds["gradient"] = min(seconds["gradient"], clock() - start)
    print(json.dumps({"bound": bound, **seconds}))


main(pathlib.Path(sys.argv[1]))
