//! What one sweep over the rows finds.

use super::resolvent::Resolvent;
use crate::likelihood::local::Belief;

/// The posterior under given sites.
///
/// # Numerics
/// `R = (K + T^-1)^-1 = D B^-1 D` with `B = D K D + E`, `D^2 = T / (1 + T k)`, `E = 1 / (1 + T k)`,
/// `k` the prior variance of a row: `B` has a unit diagonal and both limits, `T = 0` (a row that
/// says nothing) and `T = inf` (an exact value), are ordinary. With `alpha = D gamma + delta`, rows
/// that say more than the prior enter `B gamma = D (r - K delta)` by their pseudo-value `r = nu /
/// T - m`, the others by `delta = nu - T m`: neither form cancels.
#[derive(Clone)]
pub(in crate::inference) struct Sweep<R = Resolvent> {
    /// `K^-1 (mu - m)`.
    pub alpha: Vec<f64>,
    pub mean: Vec<f64>,
    /// Posterior variances.
    pub variance: Vec<f64>,
    /// The posterior without the site of the row.
    pub cavity: Vec<Belief>,
    /// `alpha' (mu - m)`.
    pub quadratic: f64,
    /// `log det(I + T K)`, less `log(1 + k / v)` of every Gaussian row.
    pub log_det: f64,
    /// `log N(y; mu, v) - log(1 + k / v) / 2` of the Gaussian rows, summed.
    pub gaussian: f64,
    /// Diagonal of `R`.
    pub inverse_diagonal: Vec<f64>,
    /// `R`.
    pub resolvent: R,
}
