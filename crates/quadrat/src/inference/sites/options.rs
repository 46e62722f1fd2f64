//! When the search for sites ends, and what it ends with.

use super::method::Method;
use super::site::Site;

/// Jitters tried in turn, relative to the scaled covariance's unit diagonal.
pub(in crate::inference) const JITTERS: [f64; 5] = [0.0, 1e-12, 1e-10, 1e-8, 1e-6];

/// How sites are found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SiteOptions {
    /// Which approximation.
    pub method: Method,
    /// Stop when no row's posterior moves by more than this many standard deviations, or than
    /// rounding moves it. From 1e-3 on negative precisions of the variational approximation are cut
    /// at zero, which leaves a bound, but not the highest.
    pub tolerance: f64,
    /// Sweeps at most.
    pub sweeps: usize,
    /// The first step, as a share of that to the sites that rows ask for.
    pub step: f64,
    /// Sites to begin with; empty: none.
    pub start: Vec<Site>,
    /// The same of the second latent function.
    pub start_second: Vec<Site>,
    /// Whether rows with two latent values may use few nodes: in searches that others finish.
    pub(crate) is_coarse: bool,
}

impl SiteOptions {
    /// The defaults: to 1e-9 standard deviations, in at most 300 sweeps.
    #[must_use]
    pub fn new(method: Method) -> Self {
        Self {
            method,
            tolerance: 1e-9,
            sweeps: 300,
            step: 1.0,
            start: Vec::new(),
            start_second: Vec::new(),
            is_coarse: false,
        }
    }
}

/// The sites that were found, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Sites {
    /// One per row; those of Gaussian rows are empty.
    pub sites: Vec<Site>,
    /// One per row that has a second latent value.
    pub second: Vec<Site>,
    /// Sweeps made.
    pub sweeps: usize,
    /// Largest distance of a row from its fixed point, in posterior standard deviations.
    pub residual: f64,
    /// Whether that is below the tolerance.
    pub converged: bool,
}
