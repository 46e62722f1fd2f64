"""Points with noise: a curve from 100 readings at random places."""

import numpy as np

TITLE = "a curve from 100 noisy readings"
ERROR = "RMSE of the curve, whose spread is 0.7"
AT = np.linspace(0, 10, 201)


def curve(x):
    return np.sin(x) + 0.5 * np.sin(2.7 * x + 1)


def draw(rng):
    x = np.sort(rng.uniform(0, 10, 100))
    return {"x": x, "y": curve(x) + 0.3 * rng.normal(size=100), "at": AT}, curve(AT)


def quadrat(x, y, at):
    import quadrat as qd
    post = qd.Model("se(x)").observe(qd.point(x=x), value=y).fit()
    told = post.predict(qd.point(x=at))
    return told.mean, told.lower, told.upper


def scikit_learn(x, y, at):
    """With restarts, as its introductory example; the standard deviation has the noise in it."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    gp = GaussianProcessRegressor(kernel, n_restarts_optimizer=9, normalize_y=True, random_state=0)
    gp.fit(x[:, None], y)
    mean, sd = gp.predict(at[:, None], return_std=True)
    noise = gp.kernel_.k2.noise_level * np.std(y) ** 2
    sd = np.sqrt(np.maximum(sd**2 - noise, 0))
    return mean, mean - 1.96 * sd, mean + 1.96 * sd


def gpytorch(x, y, at):
    """As its tutorial of simple regression: 50 steps of Adam; the interval is two sd wide."""
    import gpytorch
    import torch

    class Exact(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x))

    x, y, at = (torch.tensor(a, dtype=torch.float32) for a in (x, y, at))
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(x, y, likelihood)
    model.train()
    likelihood.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    for _ in range(50):
        optimizer.zero_grad()
        loss = -mll(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    likelihood.eval()
    with torch.no_grad():
        found = model(at)
        lower, upper = found.confidence_region()
    return found.mean.numpy(), lower.numpy(), upper.numpy()


def gamfit(x, y, at):
    import gamfit
    model = gamfit.fit({"x": x, "y": y}, "y ~ s(x)", family="gaussian")
    told = model.predict({"x": at}, interval=0.95, return_type="dict")
    return (told["posterior_mean"], told["posterior_mean_lower"], told["posterior_mean_upper"])


METHODS = {
    "quadrat": ("quadrat", quadrat),
    "scikit-learn GP": ("scikit-learn", scikit_learn),
    "GPyTorch": ("gpytorch", gpytorch),
    "gamfit": ("gamfit", gamfit),
}
