"""Fits of censored values by variational inference in GPyTorch: the peer of `quadrat-bench chained`.

    python chained.py ROWS.csv MODEL [--threads N] [--optimiser adam|lbfgs]

Reads the rows that quadrat fits too, and prints one JSON object: seconds, steps, the bound, and how well the first output
was found. Columns: x, output (0 or 1), value, censored (1: the value is at least that), then what only the scores see:
the true function and the value before censoring.
"""

import argparse
import json
import math
import time
import warnings

import gpytorch
import numpy as np
import torch

# Nodes of a Gauss-Hermite rule, as many as GPyTorch takes for likelihoods.
NODES = 20
# Steps of Adam at most, its rate, and when it is done: the bound, averaged over so many steps, rose by less (nats).
STEPS, RATE, WINDOW, RISE = 5000, 0.05, 100, 0.1


class Function(gpytorch.models.ApproximateGP):
    """A Gaussian process with a free mean and full covariance at its places; several outputs are mixed as
    `B = a a' + diag(kappa)`. Columns of the places: x, output."""

    def __init__(self, places, outputs):
        q = gpytorch.variational.CholeskyVariationalDistribution(len(places))
        # Whitened, at all places: no approximation but the normal one.
        strategy = gpytorch.variational.VariationalStrategy(
            self, places, q, learn_inducing_locations=False
        )
        super().__init__(strategy)
        self.constants = torch.nn.Parameter(torch.zeros(outputs))
        self.kernel = gpytorch.kernels.RBFKernel()
        if outputs > 1:
            self.mixing = gpytorch.kernels.IndexKernel(num_tasks=outputs, rank=1)
        else:
            self.mixing = None
            self.kernel = gpytorch.kernels.ScaleKernel(self.kernel)

    def forward(self, places):
        output = places[:, 1].long()
        covariance = self.kernel(places[:, :1])
        if self.mixing is not None:
            covariance = covariance * self.mixing(output.unsqueeze(-1))
        return gpytorch.distributions.MultivariateNormal(self.constants[output], covariance)


class Chained(torch.nn.Module):
    """`y = f + exp(g / 2) e`, where censored only known to be at least what was recorded; `g` is a function, or a
    constant per output."""

    def __init__(self, rows, outputs, varies):
        super().__init__()
        self.x, self.output = rows[:, :1], rows[:, 1:2]
        self.value, self.censored = rows[:, 2], rows[:, 3] > 0
        self.f = Function(torch.cat([self.x, self.output], 1), outputs)
        self.g, self.logs = None, None
        if varies:
            self.g = Function(torch.cat([self.x, self.output], 1), outputs)
        else:
            self.logs = torch.nn.Parameter(torch.zeros(outputs))
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        self.nodes = torch.tensor(nodes)
        self.weights = torch.tensor(weights / math.sqrt(2 * math.pi))

    def noise(self):
        """Mean and variance of the log variance of every row."""
        if self.g is None:
            mean = self.logs[self.output[:, 0].long()]
            return mean, torch.zeros_like(mean)
        q = self.g(torch.cat([self.x, self.output], 1))
        return q.mean, q.variance

    def bound(self):
        q = self.f(torch.cat([self.x, self.output], 1))
        m, s = q.mean, q.variance
        a, b = self.noise()
        away = (self.value - m) ** 2 + s
        exact = -0.5 * (math.log(2 * math.pi) + a + away * torch.exp(0.5 * b - a))
        # E log Phi((f - y) / sd) over both latent values.
        c = self.censored
        f = m[c, None] + s[c, None].sqrt() * self.nodes
        if self.g is None:
            g, weights = a[c, None], torch.ones(1)
        else:
            g, weights = a[c, None] + b[c, None].sqrt() * self.nodes, self.weights
        z = (f[:, :, None] - self.value[c, None, None]) * torch.exp(-0.5 * g)[:, None, :]
        at_least = torch.special.log_ndtr(z) @ weights @ self.weights
        total = exact[~c].sum() + at_least.sum() - self.f.variational_strategy.kl_divergence().sum()
        if self.g is not None:
            total = total - self.g.variational_strategy.kl_divergence().sum()
        return total

    def hyperparameters(self):
        """By the names of quadrat; none where the noise is a function, whose level there is always integrated."""
        if self.g is not None:
            return {}
        f = self.f
        if f.mixing is None:
            return {
                "se.variance": f.kernel.outputscale.item(),
                "se.lengthscale.x": f.kernel.base_kernel.lengthscale.item(),
                "noise.variance": self.logs[0].exp().item(),
                "mean.constant": f.constants[0].item(),
            }
        found = {"se.lengthscale.x": f.kernel.lengthscale.item()}
        for i, output in enumerate(("first", "second")):
            found[f"coregion.weight.{output}"] = f.mixing.covar_factor[i, 0].item()
            found[f"coregion.kappa.{output}"] = f.mixing.var[i].item()
            found[("noise", "noise#2")[i] + ".variance"] = self.logs[i].exp().item()
            found[f"mean.constant.{output}"] = f.constants[i].item()
        return found

    def scores(self, truth, uncensored):
        """Of the first output: R2 of the function, and minus the mean log density of the values before censoring."""
        with torch.no_grad():
            q = self.f(torch.cat([self.x, self.output], 1))
            a, b = self.noise()
            g = a[:, None] + b[:, None].sqrt() * self.nodes
            variance = q.variance[:, None] + torch.exp(g)
            away = (uncensored - q.mean)[:, None] ** 2
            logs = -0.5 * (torch.log(2 * math.pi * variance) + away / variance)
            density = torch.exp(logs) @ self.weights
            own = self.output[:, 0] == 0
            off = ((q.mean - truth)[own] ** 2).sum()
            spread = ((truth[own] - truth[own].mean()) ** 2).sum()
            return {
                "r2": float(1 - off / spread),
                "nlpd": float(-torch.log(density[own]).mean()),
            }


def adam(model):
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    history = []
    for step in range(1, STEPS + 1):
        optimiser.zero_grad()
        loss = -model.bound()
        loss.backward()
        optimiser.step()
        history.append(-loss.item())
        if step % WINDOW == 0 and step >= 2 * WINDOW:
            last, before = history[-WINDOW:], history[-2 * WINDOW : -WINDOW]
            if sum(last) - sum(before) < RISE * WINDOW:
                break
    return step


def lbfgs(model):
    optimiser = torch.optim.LBFGS(
        model.parameters(), max_iter=STEPS, history_size=20, line_search_fn="strong_wolfe"
    )
    steps = 0

    def closure():
        nonlocal steps
        steps += 1
        optimiser.zero_grad()
        loss = -model.bound()
        loss.backward()
        return loss

    optimiser.step(closure)
    return steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows")
    parser.add_argument("model", choices=["cgp", "hcgp", "mocgp", "hmocgp"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--optimiser", choices=["adam", "lbfgs"], default="adam")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)

    table = torch.tensor(np.loadtxt(options.rows, delimiter=",", skiprows=1))
    several = options.model in ("mocgp", "hmocgp")
    if not several:
        table = table[table[:, 1] == 0]
    rows, truth, uncensored = table[:, :4], table[:, 4], table[:, 5]
    model = Chained(rows, 2 if several else 1, options.model.startswith("h"))
    # Whatever is set up lazily is not timed.
    model.bound()
    wall, processor = time.perf_counter(), time.process_time()
    steps = {"adam": adam, "lbfgs": lbfgs}[options.optimiser](model)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(
        json.dumps(
            {
                "wall": wall,
                "processor": processor,
                "steps": steps,
                "bound": model.bound().item(),
                "versions": f"gpytorch {gpytorch.__version__}, torch {torch.__version__}",
                "hyperparameters": model.hyperparameters(),
                **model.scores(truth, uncensored),
            }
        )
    )


if __name__ == "__main__":
    main()
