//! The priors of the latent functions: one, or two that are independent of each other.

use crate::inference::sites::{LatentGaussian, SecondPrior};
use crate::linalg::{Mat, MatRef};

/// The Gaussian prior of one latent function at the rows that see it.
pub(super) struct Prior<'a> {
    of: Of<'a>,
    /// Added to the diagonal where a row has no prior variance.
    pub floor: Vec<f64>,
}

enum Of<'a> {
    First(&'a dyn LatentGaussian),
    Second(&'a dyn SecondPrior),
}

impl<'a> Prior<'a> {
    /// Those of a problem: of `z`, and of `g` where there is one.
    pub fn all(problem: &'a dyn LatentGaussian, theta: &[f64]) -> Vec<Self> {
        let first = std::iter::once(Of::First(problem));
        let all = first.chain(problem.second().map(Of::Second));
        all.map(|of| {
            let mut prior = Self {
                of,
                floor: Vec::new(),
            };
            let k = prior.covariance(theta);
            let n = k.nrows();
            let typical = (0..n).map(|i| k[(i, i)]).sum::<f64>() / n.max(1) as f64;
            let floor = |i: usize| match k[(i, i)] > 0.0 {
                true => 0.0,
                false => 1e-10 * typical,
            };
            prior.floor = (0..n).map(floor).collect();
            prior
        })
        .collect()
    }

    /// Number of latent values.
    pub fn rows(&self) -> usize {
        self.floor.len()
    }

    /// `m`.
    pub fn mean(&self) -> &'a [f64] {
        match self.of {
            Of::First(problem) => problem.prior_mean(),
            Of::Second(prior) => prior.prior_mean(),
        }
    }

    /// `K` at `theta`.
    pub fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        match self.of {
            Of::First(problem) => problem.covariance(theta),
            Of::Second(prior) => prior.covariance(theta),
        }
    }

    /// Adds `<G, dK / d theta>` to `gradient`.
    pub fn contract(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        match self.of {
            Of::First(problem) => problem.contract_covariance(theta, adjoint, gradient),
            Of::Second(prior) => prior.contract_covariance(theta, adjoint, gradient),
        }
    }
}
