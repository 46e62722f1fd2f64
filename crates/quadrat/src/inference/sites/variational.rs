//! The Gaussian variational approximation by natural-gradient steps (conjugate computation).
//!
//! # Source
//! Khan and Lin 2017, *Conjugate-computation variational inference*.

use super::{Reply, Site};
use crate::likelihood::local::{Belief, Local};

/// The site of a row that a full natural-gradient step asks for.
pub(super) fn reply(
    likelihood: &dyn Local,
    own: &[f64],
    row: usize,
    at: Belief,
    alpha: f64,
    current: Site,
) -> Reply {
    let expected = likelihood.expected(own, row, at);
    let precision = (-expected.second).max(0.0);
    let shift = expected.first + precision * at.mean;
    let slope = (expected.first - alpha).abs() * at.variance.sqrt();
    let curvature = (precision - current.precision).abs() * at.variance;
    Reply {
        share: expected.value + 0.5 * current.precision * at.variance,
        site: Site { precision, shift },
        residual: slope.max(curvature),
    }
}
