//! Small hand-written problems shared by the tests of inference.

use super::{Gram, LinearGaussian};
use crate::linalg::{Mat, symmetric_from_fn};
use crate::parameter::{Parameter, PriorDensity};

/// Points on a line under `variance * exp(-d^2 / (2 lengthscale^2))` with homoscedastic noise.
pub(crate) struct SePoints {
    pub(crate) x: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) parameters: Vec<Parameter>,
}

impl SePoints {
    pub(crate) fn new(x: Vec<f64>, residual: Vec<f64>, prior: PriorDensity) -> Self {
        let parameter = |name, start| Parameter::positive(name, "a test parameter", start, prior);
        Self {
            x,
            residual,
            parameters: vec![
                parameter("se.variance", 1.0),
                parameter("se.lengthscale", 1.0),
                parameter("noise.variance", 0.1),
            ],
        }
    }

    /// `n` points on `[0, 6]` of a smooth function with noise.
    pub(crate) fn wave(n: usize, prior: PriorDensity) -> Self {
        let x: Vec<f64> = (0..n)
            .map(|i| 6.0 * (i as f64 + 0.3 * pseudo(i)) / n as f64)
            .collect();
        let y = x
            .iter()
            .enumerate()
            .map(|(i, x)| 1.3 * x.sin() + 0.4 * pseudo(i + 100))
            .collect();
        Self::new(x, y, prior)
    }

    pub(crate) fn kernel(&self, theta: &[f64], a: f64, b: f64) -> f64 {
        theta[0] * (-0.5 * ((a - b) / theta[1]).powi(2)).exp()
    }
}

/// A deterministic number in `(-1, 1)`.
pub(crate) fn pseudo(i: usize) -> f64 {
    ((i as f64 + 1.0) * 12.9898).sin() * 43758.5453 % 1.0
}

impl LinearGaussian for SePoints {
    fn rows(&self) -> usize {
        self.x.len()
    }
    fn residual(&self) -> &[f64] {
        &self.residual
    }
    fn gram(&self, theta: &[f64]) -> Gram {
        Gram::Dense(symmetric_from_fn(self.x.len(), |i, j| {
            self.kernel(theta, self.x[i], self.x[j])
        }))
    }
    fn noise(&self, theta: &[f64], variances: &mut [f64]) {
        variances.fill(theta[2]);
    }
    fn contract(&self, theta: &[f64], adjoint: &Gram, noise_adjoint: &[f64], gradient: &mut [f64]) {
        let Gram::Dense(g) = adjoint else { return };
        for i in 0..self.x.len() {
            for j in 0..self.x.len() {
                let k = self.kernel(theta, self.x[i], self.x[j]);
                gradient[0] += g[(i, j)] * k / theta[0];
                gradient[1] += g[(i, j)] * k * (self.x[i] - self.x[j]).powi(2) / theta[1].powi(3);
            }
        }
        gradient[2] += noise_adjoint.iter().sum::<f64>();
    }
    fn describe(&self) -> String {
        "se(x)".to_owned()
    }
    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}

/// A complete grid under a separable kernel, handed over as a Kronecker product or densely.
pub(crate) struct SeGrid {
    pub(crate) axes: Vec<Vec<f64>>,
    pub(crate) residual: Vec<f64>,
    pub(crate) rank_one: Option<Vec<f64>>,
    pub(crate) dense: bool,
    /// Multiplies the noise of row 0: not 1 makes the noise heteroscedastic.
    pub(crate) first_noise: f64,
    pub(crate) parameters: Vec<Parameter>,
}

impl SeGrid {
    pub(crate) fn new(sizes: &[usize], rank_one: bool, dense: bool) -> Self {
        let n: usize = sizes.iter().product();
        let axes = sizes
            .iter()
            .enumerate()
            .map(|(d, size)| {
                (0..*size)
                    .map(|i| 0.7 * i as f64 + 0.2 * pseudo(i + 17 * d))
                    .collect()
            })
            .collect();
        let names: Vec<String> = (0..sizes.len())
            .map(|d| format!("se.lengthscale.{d}"))
            .collect();
        let mut parameters = vec![Parameter::positive(
            "se.variance",
            "",
            1.0,
            PriorDensity::Flat,
        )];
        parameters.extend(
            names
                .iter()
                .map(|name| Parameter::positive(name, "", 1.0, PriorDensity::Flat)),
        );
        parameters.push(Parameter::positive(
            "noise.variance",
            "",
            0.1,
            PriorDensity::Flat,
        ));
        Self {
            axes,
            residual: (0..n)
                .map(|i| (0.37 * i as f64).sin() + 0.3 * pseudo(i) + 0.5)
                .collect(),
            rank_one: rank_one.then(|| (0..n).map(|i| 3.0 + 0.1 * pseudo(i)).collect()),
            dense,
            first_noise: 1.0,
            parameters,
        }
    }

    fn axis(&self, theta: &[f64], d: usize) -> Mat<f64> {
        let x = &self.axes[d];
        let scale = if d == 0 { theta[0] } else { 1.0 };
        symmetric_from_fn(x.len(), |i, j| {
            scale * (-0.5 * ((x[i] - x[j]) / theta[d + 1]).powi(2)).exp()
        })
    }

    fn axis_derivative(&self, theta: &[f64], d: usize) -> Mat<f64> {
        let x = &self.axes[d];
        let k = self.axis(theta, d);
        symmetric_from_fn(x.len(), |i, j| {
            k[(i, j)] * (x[i] - x[j]).powi(2) / theta[d + 1].powi(3)
        })
    }
}

pub(crate) fn kronecker(axes: &[Mat<f64>]) -> Mat<f64> {
    axes.iter().fold(Mat::full(1, 1, 1.0), |a, b| {
        let (p, q) = (b.nrows(), b.ncols());
        Mat::from_fn(a.nrows() * p, a.ncols() * q, |i, j| {
            a[(i / p, j / q)] * b[(i % p, j % q)]
        })
    })
}

fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.ncols())
        .map(|j| (0..a.nrows()).map(|i| a[(i, j)] * b[(i, j)]).sum::<f64>())
        .sum()
}

impl LinearGaussian for SeGrid {
    fn rows(&self) -> usize {
        self.residual.len()
    }
    fn residual(&self) -> &[f64] {
        &self.residual
    }
    fn gram(&self, theta: &[f64]) -> Gram {
        let axes: Vec<Mat<f64>> = (0..self.axes.len()).map(|d| self.axis(theta, d)).collect();
        if !self.dense {
            return Gram::Kronecker {
                axes,
                rank_one: self.rank_one.clone(),
            };
        }
        let mut k = kronecker(&axes);
        if let Some(u) = &self.rank_one {
            for j in 0..u.len() {
                for i in 0..u.len() {
                    k[(i, j)] += u[i] * u[j];
                }
            }
        }
        Gram::Dense(k)
    }
    fn noise(&self, theta: &[f64], variances: &mut [f64]) {
        variances.fill(theta[theta.len() - 1]);
        variances[0] *= self.first_noise;
    }
    fn contract(&self, theta: &[f64], adjoint: &Gram, noise_adjoint: &[f64], gradient: &mut [f64]) {
        let axes: Vec<Mat<f64>> = (0..self.axes.len()).map(|d| self.axis(theta, d)).collect();
        for d in 0..axes.len() {
            let mut moved = axes.clone();
            moved[d] = self.axis_derivative(theta, d);
            gradient[d + 1] += match adjoint {
                Gram::Dense(g) => inner(g, &kronecker(&moved)),
                Gram::Kronecker { axes: g, .. } => inner(&g[d], &moved[d]),
            };
        }
        gradient[0] += match adjoint {
            Gram::Dense(g) => inner(g, &kronecker(&axes)),
            Gram::Kronecker { axes: g, .. } => inner(&g[0], &axes[0]),
        } / theta[0];
        let last = theta.len() - 1;
        gradient[last] +=
            noise_adjoint[0] * self.first_noise + noise_adjoint[1..].iter().sum::<f64>();
    }
    fn describe(&self) -> String {
        "se(grid)".to_owned()
    }
    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}
