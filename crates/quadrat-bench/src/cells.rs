//! Noisy sums over the cells of a complete grid, under a zero mean.

use anyhow::{Context, Result};
use quadrat::covariance::{Covariance, Grid};
use quadrat::inference::{Gram, LinearGaussian};
use quadrat::kernel::Kernel;
use quadrat::parameter::{Parameter, PriorDensity};
use quadrat::support::{Aggregate, Functionals};

/// `se` over two inputs, a learned noise variance, Kronecker structure.
pub struct Cells {
    axes: Vec<(Functionals, Covariance)>,
    /// In grid order.
    values: Vec<f64>,
    kernel: Kernel,
    parameters: Vec<Parameter>,
}

impl Cells {
    pub fn new(set: &Functionals, by_row: Vec<f64>) -> Result<Self> {
        let kernel = Kernel::se(["x", "y"]);
        let grid = Grid::find(set).context("not a complete grid")?;
        let covariances = Covariance::new(&kernel)
            .along_axes(2)
            .context("the kernel does not factorise")?;
        let mut values = vec![0.0; by_row.len()];
        for (value, &at) in by_row.iter().zip(&grid.position) {
            values[at] = *value;
        }
        let parameters = [
            "se.variance",
            "se.lengthscale.x",
            "se.lengthscale.y",
            "noise.variance",
        ]
        .map(|name| Parameter::positive(name, "", 1.0, PriorDensity::Flat));
        Ok(Self {
            axes: grid.axes.into_iter().zip(covariances).collect(),
            values,
            kernel,
            parameters: parameters.into(),
        })
    }

    /// `side * side` cells of a smooth surface.
    pub fn wave(side: usize) -> Result<Self> {
        let mut set = Functionals::new(vec!["x".into(), "y".into()]);
        let mut values = Vec::new();
        let step = 10.0 / side as f64;
        for i in 0..side {
            for j in 0..side {
                let (x, y) = (i as f64 * step, j as f64 * step);
                set.push_box(&[(x, x + step), (y, y + step)], Aggregate::Sum)?;
                let noise = ((i * side + j) as f64 * 12.9898).sin();
                values.push(step * step * (x.sin() + y.cos() + 0.1 * noise));
            }
        }
        Self::new(&set, values)
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }
}

impl LinearGaussian for Cells {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn residual(&self) -> &[f64] {
        &self.values
    }

    fn gram(&self, theta: &[f64]) -> Gram {
        let one = |(set, k): &(Functionals, Covariance)| k.matrix(&theta[..3], set);
        Gram::Kronecker {
            axes: self.axes.iter().map(one).collect(),
            rank_one: None,
        }
    }

    fn noise(&self, theta: &[f64], variances: &mut [f64]) {
        variances.fill(theta[3]);
    }

    fn contract(&self, theta: &[f64], adjoint: &Gram, noise_adjoint: &[f64], gradient: &mut [f64]) {
        if let Gram::Kronecker { axes, .. } = adjoint {
            for (g, (set, covariance)) in axes.iter().zip(&self.axes) {
                covariance.contract(&theta[..3], set, g.as_ref(), &mut gradient[..3]);
            }
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
