//! Expectation propagation: sites that reproduce the moments of cavity times likelihood.
//!
//! # Source
//! Minka 2001; Rasmussen and Williams 2006, section 3.6. The evidence is written with
//! `mu - mu_c = s_c alpha` and `N(mu; mu, s) = N(mu; mu_c, s_c) site(mu) / Z`, which
//! takes no difference of moments that are nearly equal.

use super::{Reply, Site};
use crate::likelihood::local::{Belief, Local};

/// The site of a row that a full parallel update asks for.
pub(super) fn reply(
    likelihood: &dyn Local,
    own: &[f64],
    row: usize,
    at: Belief,
    cavity: Belief,
    alpha: f64,
) -> Reply {
    let tilted = likelihood.tilted(own, row, cavity);
    let (mut precision, mut shift) = (tilted.precision, tilted.shift);
    if precision < 0.0 {
        // Not log-concave: the mean is kept, the variance is that of the cavity.
        shift = (shift - precision * cavity.mean) / (1.0 + cavity.variance * precision);
        precision = 0.0;
    }
    let share = tilted.log_z
        + 0.5 * (cavity.variance / at.variance).ln()
        + 0.5 * cavity.variance * alpha * alpha;
    // Moments of cavity times the new site against those of the posterior.
    let new = 1.0 + cavity.variance * precision;
    let variance = cavity.variance / new;
    let mean = (cavity.mean + cavity.variance * shift) / new;
    let moved = (mean - at.mean).abs() / at.variance.sqrt();
    Reply {
        share,
        site: Site { precision, shift },
        residual: moved.max((variance / at.variance).ln().abs()),
    }
}
