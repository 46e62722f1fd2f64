//! Laplace's method: Newton's iteration to the mode.

use super::site::{Reply, Site};
use crate::likelihood::local::{Belief, Local};

/// The site of a row at the posterior mean: the second-order expansion of `log p` there.
pub(super) fn reply(
    likelihood: &dyn Local,
    own: &[f64],
    row: usize,
    at: Belief,
    alpha: f64,
) -> Reply {
    let jet = likelihood.log_density(own, row, at.mean);
    let precision = (-jet.second).max(0.0);
    Reply {
        share: jet.value,
        site: Site {
            precision,
            shift: jet.first + precision * at.mean,
        },
        // At the mode alpha is the slope of log p.
        residual: (jet.first - alpha).abs() * at.variance.sqrt(),
    }
}
