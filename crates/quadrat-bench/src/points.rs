//! Noisy values at points under a zero mean: the problem that every Gaussian-process library has.

use anyhow::{Context, Result};
use quadrat::covariance::Covariance;
use quadrat::inference::{Gram, LinearGaussian};
use quadrat::kernel::Kernel;
use quadrat::parameter::{Parameter, PriorDensity};
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// `y = f(x) + noise` with `f ~ GP(0, se)`, one lengthscale per input and a learned noise variance.
pub struct Points {
    pub supports: Functionals,
    pub values: Vec<f64>,
    pub kernel: Kernel,
    pub covariance: Covariance,
    parameters: Vec<Parameter>,
}

impl Points {
    /// Rows of two inputs and a value.
    pub fn new(rows: &[[f64; 3]]) -> Result<Self> {
        let mut supports = Functionals::new(vec!["x".into(), "y".into()]);
        for [x, y, _] in rows {
            supports.push_point(&[*x, *y])?;
        }
        let kernel = Kernel::se(["x", "y"]);
        let names = kernel.parameters().iter().map(|p| p.name.clone());
        let parameters = names
            .chain(["noise.variance".to_owned()])
            .map(|name| Parameter::positive(&name, "", 1.0, PriorDensity::Flat))
            .collect();
        Ok(Self {
            values: rows.iter().map(|r| r[2]).collect(),
            covariance: Covariance::new(&kernel),
            supports,
            kernel,
            parameters,
        })
    }

    /// A smooth surface at `n` random places with noise of sd 0.1.
    pub fn random(n: usize) -> Result<Self> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let rows: Vec<[f64; 3]> = (0..n)
            .map(|_| {
                let (x, y): (f64, f64) = (
                    random.random_range(0.0..10.0),
                    random.random_range(0.0..10.0),
                );
                let noise = random.random_range(-0.173..0.173);
                [x, y, x.sin() + (0.5 * y).cos() + noise]
            })
            .collect();
        Self::new(&rows)
    }

    /// Reads `x,y,value` with one header line.
    pub fn read(path: &std::path::Path) -> Result<Self> {
        Self::new(&crate::table::read(path).context("points")?)
    }
}

impl LinearGaussian for Points {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn residual(&self) -> &[f64] {
        &self.values
    }

    fn gram(&self, theta: &[f64]) -> Gram {
        Gram::Dense(self.covariance.matrix(&theta[..3], &self.supports))
    }

    fn noise(&self, theta: &[f64], variances: &mut [f64]) {
        variances.fill(theta[3]);
    }

    fn contract(&self, theta: &[f64], adjoint: &Gram, noise_adjoint: &[f64], gradient: &mut [f64]) {
        if let Gram::Dense(g) = adjoint {
            let kernel = &mut gradient[..3];
            self.covariance
                .contract(&theta[..3], &self.supports, g.as_ref(), kernel);
        }
        gradient[3] += noise_adjoint.iter().sum::<f64>();
    }

    fn describe(&self) -> String {
        self.kernel.to_string()
    }

    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}
