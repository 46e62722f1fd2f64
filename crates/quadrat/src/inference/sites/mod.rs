//! Rows of any likelihood on a Gaussian prior, each replaced by a Gaussian site.
//!
//! With latent values `z ~ N(m, K)`, one per row, the posterior is approximated by
//!
//! $$ q(z) \propto N(z; m, K) \prod_r \exp(\nu_r z_r - T_r z_r^2 / 2) $$
//!
//! Rows that are Gaussian have a known site. For the others, Laplace's method, expectation
//! propagation and the variational approximation differ in how they choose `(T_r, nu_r)` from what
//! the posterior believes about `z_r` (`laplace.rs`, `ep.rs`, `variational.rs`), and in what a row
//! contributes to the evidence:
//!
//! $$ \log Z = \sum_r c_r - \tfrac12 \alpha'(\mu - m) - \tfrac12 \log\det(I + T K), \quad \alpha =
//! K^{-1}(\mu - m) $$
//!
//! | approximation | `T_r` | `nu_r` | `c_r` |
//! |---|---|---|---|
//! | Laplace | `-(log p)''(mu_r)` | `(log p)' + T_r mu_r` | `log p(y_r mid mu_r)` |
//! | EP | moments of cavity times likelihood | same | `log Z_r + log(s_c / s) / 2 + s_c alpha_r^2 / 2` |
//! | variational | `-E_q (log p)''` | `E_q (log p)' + T_r mu_r` | `E_q log p + T_r s_r / 2` |
//! | Gaussian row | `1 / v` | `y / v` | `log N(y_r; mu_r, v)` |
//!
//! `s` is the posterior variance of `z_r`, `s_c` that of its cavity (the posterior without site
//! `r`). Of the three only the variational one is a bound. A precision that a likelihood which is
//! not log-concave would make negative is raised to zero; the variational precisions are then
//! those, not negative, of the highest bound (`project.rs`).
//!
//! | symbol | meaning |
//! |---|---|
//! | `T`, `nu` | precision and shift of the sites |
//! | `mu`, `s` | posterior mean and variance of every row |
//! | `R` | `(K + T^-1)^-1` |
//! | `G` | `d log Z / d K` |
//!
//! A row may have a second latent value, its noise variance or dispersion as a function
//! (`pair.rs`): then the evidence has the last two terms once for every latent function.

pub(in crate::inference) mod accelerate;
mod adjoint;
mod ep;
mod held;
mod laplace;
mod low_rank;
pub(crate) mod pair;
mod pair_jacobian;
mod project;
mod reduce;
pub(in crate::inference) mod resolvent;
pub(in crate::inference) mod rows;
mod search;
pub(in crate::inference) mod solve;
pub(in crate::inference) mod sweep;
mod variational;

pub use solve::{SiteFit, SiteOptions, Sites, condition_sites, settle};
pub use sweep::Site;

use super::Trail;
use crate::error::FitError;
use crate::likelihood::local::Local;
use crate::linalg::{Mat, MatRef, gemm};
use crate::link::Link;
use crate::parameter::Parameter;

/// Tolerance along a rough trail: the evidence is stationary in the sites of EP and the variational
/// approximation, so it errs by the square of it, and where sites of EP are held by what these lack
/// of it times the tolerance.
const ROUGH: f64 = 1e-5;

/// Rows above which an evaluation is dear.
const DEAR: usize = 400;

/// How sites are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Curvature at the mode: the fastest.
    Laplace,
    /// Expectation propagation: the most accurate where likelihoods are log-concave.
    Ep,
    /// Variational: a lower bound of the evidence, for any likelihood.
    Variational,
}

impl Method {
    /// Its name in study files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Ep => "ep",
            Self::Variational => "variational",
        }
    }

    /// What its evidence is called.
    #[must_use]
    pub fn evidence(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Ep => "ep",
            Self::Variational => "elbo",
        }
    }
}

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

/// A prior covariance `K0 + B C'` in two parts, so that constants of which next to nothing is
/// known, whose variance is a million times that of the function, leave the digits of the kernel
/// alone.
#[derive(Debug, Clone)]
pub struct Parted {
    /// `K0`, of the kernel, shape `[n, m]`.
    pub kernel: Mat<f64>,
    /// `C`: what each of the `m` columns sees of every unknown constant, in its prior sds, shape
    /// `[m, constants]`. Where rows and columns are the same places this is `B` too.
    pub constants: Mat<f64>,
}

impl Parted {
    /// `K0 + B B'` of places with themselves, and the parts where there are constants.
    fn whole(self) -> (Mat<f64>, Option<Self>) {
        if self.constants.ncols() == 0 {
            return (self.kernel, None);
        }
        let of_constants = gemm(self.constants.as_ref(), self.constants.transpose());
        (&self.kernel + of_constants, Some(self))
    }
}

/// What one row says to a sweep.
#[derive(Debug, Clone, Copy, Default)]
struct Reply {
    /// `c_r`, its share of the evidence.
    share: f64,
    /// The site it asks for.
    site: Site,
    /// How far the posterior of the row is from a fixed point, in its standard deviations.
    residual: f64,
}

/// The evidence of a [`LatentGaussian`] problem under one of the approximations.
pub struct SiteEvidence<'a> {
    problem: &'a dyn LatentGaussian,
    options: SiteOptions,
}

impl<'a> SiteEvidence<'a> {
    /// The evidence as a function of the hyperparameters.
    #[must_use]
    pub fn new(problem: &'a dyn LatentGaussian, options: SiteOptions) -> Self {
        Self { problem, options }
    }

    /// Finds the sites from those of the trail, and leaves them there.
    fn settle(&self, theta: &[f64], trail: &mut Trail) -> Result<SiteFit, FitError> {
        let mut options = self.options.clone();
        if let Some([first, second]) = trail.sites() {
            options.start.clone_from(first);
            options.start_second.clone_from(second);
        }
        options.is_coarse = trail.is_coarse;
        if trail.is_rough {
            options.tolerance = options.tolerance.max(ROUGH);
        }
        let fit = settle(self.problem, theta, &options)?;
        trail.leave([fit.found.sites.clone(), fit.found.second.clone()]);
        Ok(fit)
    }
}

impl super::Evidence for SiteEvidence<'_> {
    /// An evaluation that did not converge is an error, from which the search steps back.
    fn evaluate_along(
        &self,
        theta: &[f64],
        trail: &mut Trail,
    ) -> Result<(f64, Vec<f64>), FitError> {
        let fit = self.settle(theta, trail)?;
        let log_evidence = fit.log_evidence;
        Ok((log_evidence, adjoint::gradient(self.problem, theta, fit)?))
    }

    fn value_along(&self, theta: &[f64], trail: &mut Trail) -> Result<f64, FitError> {
        Ok(self.settle(theta, trail)?.log_evidence)
    }

    fn parameters(&self) -> &[Parameter] {
        self.problem.parameters()
    }

    fn is_dear(&self) -> bool {
        self.problem.prior_mean().len() > DEAR
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod held_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(in crate::inference) mod mixed_testing;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod pair_bound_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(in crate::inference) mod pair_testing;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod pair_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod slow_tests;
#[cfg(test)]
pub(in crate::inference) mod tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod trail_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod vague_tests;
