//! Conditioning a Gaussian prior on what was observed, and learning its hyperparameters.
//!
//! Nothing here knows a kernel or a support: the model hands over a [`LinearGaussian`] problem,
//! inference hands back the adjoint of its covariance.
//!
//! | symbol | meaning |
//! |---|---|
//! | `n` | rows (observed functionals) |
//! | `theta` | hyperparameters in natural units, fixed ones included |
//! | `phi` | the free hyperparameters in their optimised coordinates |
//! | `K` | prior covariance of the observed functionals |
//! | `Ky` | `K` + diag(noise variances) |
//! | `r` | residual: observed value - prior mean |
//! | `alpha` | `Ky^-1 r` |
//! | `G` | `d log evidence / d K` |

mod ccd;
pub mod crossvalidate;
pub mod exact;
mod factor;
mod free;
pub mod integrate;
mod interval;
mod kronecker;
mod lattice;
pub mod learn;
#[cfg(feature = "mcmc")]
pub mod mcmc;
mod polish;
pub mod pooled;
mod profile;
pub mod sites;
pub mod sparse;
#[cfg(test)]
pub(crate) mod testing;
mod trail;

pub use crossvalidate::{LeftOut, leave_one_out, leave_out};
pub use exact::{Conditioned, Exact, condition, evidence_and_gradient};
pub use factor::Factor;
pub use integrate::{IntegrateOptions, Integration, Node, Rule, integrate};
pub use interval::Interval;
pub use kronecker::KroneckerFactor;
pub(crate) use learn::in_pool;
pub use learn::{LearnOptions, LocalOptimum, Optimum, Start, explore, maximise};
pub use trail::Trail;

use crate::error::FitError;
use crate::linalg::Mat;
use crate::parameter::Parameter;

/// Prior covariance of the observed functionals, in the representation its structure allows;
/// also the adjoint of such a covariance.
#[derive(Debug, Clone)]
pub enum Gram {
    /// `K`, shape `[n, n]`, both triangles.
    Dense(Mat<f64>),
    /// `K = axes[0] (x) axes[1] (x) .. + u u'`; the index of the first axis varies slowest.
    Kronecker {
        /// One symmetric matrix per axis.
        axes: Vec<Mat<f64>>,
        /// `u`, length `n`: a free mean with a wide prior. It does not depend on `theta`.
        rank_one: Option<Vec<f64>>,
    },
}

/// A linear observation of a Gaussian process with Gaussian noise: `y = L f + noise`.
pub trait LinearGaussian: Sync {
    /// Number of rows `n`.
    fn rows(&self) -> usize;

    /// `r = y - prior mean`, length `n`.
    fn residual(&self) -> &[f64];

    /// Prior covariance of the observed functionals at `theta` (all parameters, natural units).
    ///
    /// The Kronecker form requires the same noise variance on every row.
    fn gram(&self, theta: &[f64]) -> Gram;

    /// Writes the noise variance of every row, each >= 0, into `variances`, length `n`.
    fn noise(&self, theta: &[f64], variances: &mut [f64]);

    /// What the log evidence has beside that of the residual, in nats: of values that stand for
    /// several.
    fn constant(&self, _theta: &[f64]) -> f64 {
        0.0
    }

    /// Adds `dL/dtheta` to `gradient`, one entry per parameter, natural units; that of
    /// [`LinearGaussian::constant`] with it.
    ///
    /// # Arguments
    /// * `adjoint` - `G = dL/dK`, symmetric, in the form that [`LinearGaussian::gram`] returned, so
    ///   that `dL = <G, dK>`; for Kronecker `dL = sum_d <axes_d, dK_d>`, without `rank_one`
    /// * `noise_adjoint` - `dL / d variance` of every row, length `n`
    fn contract(&self, theta: &[f64], adjoint: &Gram, noise_adjoint: &[f64], gradient: &mut [f64]);

    /// The kernel expression, for error messages.
    fn describe(&self) -> String;

    /// Every hyperparameter, in the order of `theta`.
    fn parameters(&self) -> &[Parameter];
}

/// The log evidence of a model as a function of its hyperparameters, exact or approximate: all that
/// learning and integration need.
pub trait Evidence: Sync {
    /// The log evidence in nats and its gradient, at `theta` (all parameters, natural units), begun
    /// where the search was last and as accurate as it asks for.
    ///
    /// # Errors
    /// A recoverable [`FitError`] where it cannot be evaluated: the search steps back.
    fn evaluate_along(&self, theta: &[f64], trail: &mut Trail)
    -> Result<(f64, Vec<f64>), FitError>;

    /// The log evidence alone, where that is cheaper.
    ///
    /// # Errors
    /// As [`Evidence::evaluate_along`].
    fn value_along(&self, theta: &[f64], trail: &mut Trail) -> Result<f64, FitError> {
        Ok(self.evaluate_along(theta, trail)?.0)
    }

    /// As [`Evidence::evaluate_along`], by itself and as accurate as it comes.
    ///
    /// # Errors
    /// The same.
    fn evaluate(&self, theta: &[f64]) -> Result<(f64, Vec<f64>), FitError> {
        self.evaluate_along(theta, &mut Trail::precise())
    }

    /// As [`Evidence::value_along`], in the same way.
    ///
    /// # Errors
    /// The same.
    fn value(&self, theta: &[f64]) -> Result<f64, FitError> {
        self.value_along(theta, &mut Trail::precise())
    }

    /// Whether evaluations are so costly that second derivatives to four digits are enough.
    fn is_dear(&self) -> bool {
        false
    }

    /// Step of differences of the gradient, in free coordinates scaled to their priors. With
    /// central ones and the default, truncation and rounding are both about 1e-8; longer where the
    /// evidence is known less accurately.
    fn difference(&self) -> f64 {
        1e-4
    }

    /// Every hyperparameter, in the order of `theta`.
    fn parameters(&self) -> &[Parameter];
}
