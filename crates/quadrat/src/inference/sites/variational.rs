//! The Gaussian variational approximation by natural-gradient steps (conjugate computation).
//!
//! # Source
//! Khan and Lin 2017, *Conjugate-computation variational inference*.

use super::{Reply, Site};
use crate::likelihood::local::{Belief, Local};

/// The site of a row that a full natural-gradient step asks for; its precision is negative where the expected log density
/// is not concave. Only the slope is in the residual.
pub(super) fn reply(
    likelihood: &dyn Local,
    own: &[f64],
    row: usize,
    at: Belief,
    alpha: f64,
    current: Site,
) -> Reply {
    let expected = likelihood.expected(own, row, at);
    let precision = -expected.second;
    let shift = expected.first + precision * at.mean;
    Reply {
        share: expected.value + 0.5 * current.precision * at.variance,
        site: Site { precision, shift },
        residual: (expected.first - alpha).abs() * at.variance.sqrt(),
    }
}
