//! Rows under one likelihood, and what sites ask of a model of them.

use super::site::Parted;
use crate::likelihood::local::Local;
use crate::linalg::{Mat, MatRef};
use crate::link::Link;
use crate::parameter::Parameter;

/// Consecutive rows that share a likelihood.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    /// What was reported.
    pub likelihood: &'a dyn Local,
    /// The first of its rows.
    pub first: usize,
    /// Where its hyperparameters stand in `theta`; of rows with a second latent value all but the
    /// first, which that value takes the place of.
    pub own: &'a [usize],
    /// The second latent values of its rows.
    pub second: Option<Second>,
}

/// Where the second latent values of a block stand.
#[derive(Debug, Clone, Copy)]
pub struct Second {
    /// That of its first row.
    pub first: usize,
    /// From the second latent value to the noise variance or dispersion.
    pub link: Link,
}

/// The Gaussian prior of the second latent function, `g ~ N(m_g, K_g)`, independent of the first.
pub trait SecondPrior: Sync {
    /// `m_g`, one per row that has a second latent value.
    fn prior_mean(&self) -> &[f64];

    /// `K_g` at `theta` (all parameters, natural units), both triangles.
    fn covariance(&self, theta: &[f64]) -> Mat<f64>;

    /// Adds `<G, dK_g / d theta>` to `gradient`.
    fn contract_covariance(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]);
}

impl Block<'_> {
    pub(crate) fn own_values(&self, theta: &[f64]) -> Vec<f64> {
        self.own.iter().map(|&i| theta[i]).collect()
    }
}

/// Rows of any likelihood on a Gaussian prior: `z ~ N(m, K)`, `y_r ~ p(. | z_r)`.
pub trait LatentGaussian: Sync {
    /// `m`, length `n`.
    fn prior_mean(&self) -> &[f64];

    /// `K` at `theta` (all parameters, natural units), shape `[n, n]`, both triangles.
    fn covariance(&self, theta: &[f64]) -> Mat<f64>;

    /// `K` at `theta`, with the columns of the unknown constants beside it: see [`Parted`].
    fn parted(&self, theta: &[f64]) -> Parted {
        let kernel = self.covariance(theta);
        let constants = Mat::zeros(kernel.nrows(), 0);
        Parted { kernel, constants }
    }

    /// Adds `<G, dK / d theta>` to `gradient`, one entry per parameter; `G` is symmetric.
    fn contract_covariance(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]);

    /// The tables of rows, in order; together they cover all rows.
    fn blocks(&self) -> Vec<Block<'_>>;

    /// Every hyperparameter, in the order of `theta`.
    fn parameters(&self) -> &[Parameter];

    /// The kernel expression, for error messages.
    fn describe(&self) -> String;

    /// The prior of the second latent function, where some rows have one.
    fn second(&self) -> Option<&dyn SecondPrior> {
        None
    }

    /// Sets of hyperparameters, by index, whose signs can be changed together without any change of
    /// the posterior.
    fn mirrored(&self) -> Vec<Vec<usize>> {
        Vec::new()
    }
}
