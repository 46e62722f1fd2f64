//! Rows that are normal: the best `q` and the bound there in closed form.
//!
//! The expected log-densities are quadratic in `mu` and linear in `S`, so that the natural gradient
//! points to the optimum from anywhere, and the bound there is the collapsed one, with `Q = A'A`
//! the part of the covariance that inducing points explain:
//!
//! $$ F^* = \log N(y; m, Q + V) - \tfrac12 \mathrm{tr}(V^{-1} (K - Q)) $$
//!
//! # Source
//! Titsias 2009, eq. 9.

use super::Normal;
use super::SparseProblem;
use super::converge::target;
use super::pass::Bound;
use crate::error::FitError;
use crate::linalg::{dot, matvec};

/// Whether every row is normal.
pub(super) fn is_normal(problem: &dyn SparseProblem) -> bool {
    problem.blocks().iter().all(|block| {
        let own = vec![1.0; block.own.len()];
        (0..block.likelihood.rows()).all(|row| block.likelihood.gaussian(&own, row).is_some())
    })
}

/// The best `q` and the bound there, from the bound and its derivatives at another `q`.
///
/// $$ F^* = F + g'd + d'F_S d + \langle F_S, S^* - S \rangle - KL^* + KL, \qquad d = \mu^* - \mu $$
///
/// # Errors
/// [`FitError::Linalg`] when the derivatives are not finite.
///
/// # Numerics
/// Differences are small, and so exact, from near.
pub(super) fn collapsed(q: &Normal, bound: &Bound) -> Result<(Normal, f64), FitError> {
    let (precision, shift) = target(q, bound);
    let best = Normal::new(precision, shift)?;
    let pairs = best.mean().iter().zip(q.mean());
    let d: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
    let seen = matvec(bound.in_covariance.as_ref(), &d);
    let change = best.covariance() - q.covariance();
    let trace: f64 = (0..q.size())
        .map(|j| dot(bound.in_covariance.col_as_slice(j), change.col_as_slice(j)))
        .sum();
    let gain = dot(&bound.in_mean, &d) + dot(&d, &seen) + trace;
    let value = bound.value + gain - best.divergence() + q.divergence();
    Ok((best, value))
}
