//! The factor of the covariance of inducing points.

use super::SparseProblem;
use crate::error::FitError;
use crate::linalg::Cholesky;
use crate::parameter;

/// Jitters tried in turn besides that of the prior, relative to the variance of every inducing
/// point, that of an unknown mean included.
const JITTERS: [f64; 3] = [0.0, 1e-8, 1e-6];

/// The factor `L` of `K_uu`, and the jitter that it took besides that of the prior. That is above
/// zero only where an unknown mean or a part of the kernel has such a large variance that its
/// rounding exceeds the jitter of the prior.
///
/// # Errors
/// [`FitError::Inducing`] where `K_uu` has no factor with any of the jitters.
pub(super) fn inducing_factor(
    problem: &dyn SparseProblem,
    theta: &[f64],
) -> Result<(Cholesky, f64), FitError> {
    let prior = problem.prior();
    for jitter in JITTERS {
        let mut k = prior.inducing_covariance(theta);
        for i in 0..k.nrows() {
            k[(i, i)] *= 1.0 + jitter;
        }
        if let Ok(factor) = Cholesky::factor_owned(k) {
            return Ok((factor, jitter));
        }
    }
    Err(FitError::Inducing {
        points: prior.inducing(),
        kernel: problem.describe(),
        parameters: parameter::describe(problem.parameters(), theta),
    })
}
