//! The priors of the latent functions: one, or two that are independent of each other.

use crate::inference::pooled::Pools;
use crate::inference::sites::{LatentGaussian, SecondPrior};
use crate::linalg::{Mat, MatRef};

/// A Gaussian prior, and what rows see of it: a value each, or means after a link over several
/// ([`Pools`]).
#[derive(Clone, Copy)]
pub(super) struct SampledLatents<'a> {
    pub problem: &'a dyn LatentGaussian,
    pub pools: Option<&'a Pools>,
}

impl<'a> From<&'a dyn LatentGaussian> for SampledLatents<'a> {
    fn from(problem: &'a dyn LatentGaussian) -> Self {
        Self {
            problem,
            pools: None,
        }
    }
}

impl<'a> SampledLatents<'a> {
    /// Number of latent values of the first function.
    pub fn values(&self) -> usize {
        self.problem.prior_mean().len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.pools.map_or(self.values(), Pools::rows)
    }

    /// `m_g`; empty where there is no second function.
    pub fn second_mean(&self) -> &'a [f64] {
        let second = self.problem.second();
        second.map_or(&[], |second| second.prior_mean())
    }
}

/// The Gaussian prior of one latent function at the rows that see it.
pub(super) struct ProcessPrior<'a> {
    of: Of<'a>,
    /// Added to the diagonal of `K` where a row has no prior variance.
    pub floor: Vec<f64>,
}

enum Of<'a> {
    First(&'a dyn LatentGaussian),
    Second(&'a dyn SecondPrior),
}

impl<'a> ProcessPrior<'a> {
    /// That of `z`.
    pub fn first(problem: &'a dyn LatentGaussian, theta: &[f64]) -> Self {
        Self::new(Of::First(problem), theta)
    }

    /// That of `g`, where there is one.
    pub fn second(problem: &'a dyn LatentGaussian, theta: &[f64]) -> Option<Self> {
        Some(Self::new(Of::Second(problem.second()?), theta))
    }

    fn new(of: Of<'a>, theta: &[f64]) -> Self {
        let mut prior = Self {
            of,
            floor: Vec::new(),
        };
        let k = prior.covariance(theta);
        let diagonal: Vec<f64> = (0..k.nrows()).map(|i| k[(i, i)]).collect();
        let typical = diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64;
        let floor = |k: &f64| if *k > 0.0 { 0.0 } else { 1e-10 * typical };
        prior.floor = diagonal.iter().map(floor).collect();
        prior
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
