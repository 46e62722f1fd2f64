//! Expectation propagation: sites that reproduce the moments of cavity times likelihood.
//!
//! # Source
//! Minka 2001; Rasmussen and Williams 2006, section 3.6. The evidence is written with
//! `mu - mu_c = s_c alpha` and `N(mu; mu, s) = N(mu; mu_c, s_c) site(mu) / Z`, which
//! takes no difference of moments that are nearly equal.

use super::site::{Reply, Site};
use crate::likelihood::local::{Belief, Local, Tilted};

/// What cavity times likelihood says of a row.
pub(super) struct Asked {
    pub log_z: f64,
    /// Not of negative precision: the mean is then that of cavity times likelihood, the variance
    /// that of the cavity.
    pub site: Site,
    /// By how much the variance under cavity times likelihood exceeds that of the cavity, where it
    /// does.
    pub excess: f64,
}

/// The site that reproduces the moments of cavity times likelihood.
pub(super) fn ask(likelihood: &dyn Local, own: &[f64], row: usize, cavity: Belief) -> Asked {
    let tilted = likelihood.tilted(own, row, cavity);
    let Tilted {
        log_z,
        precision,
        shift,
    } = tilted;
    if precision >= 0.0 || precision.is_nan() {
        return Asked {
            log_z,
            site: Site { precision, shift },
            excess: 0.0,
        };
    }
    let growth = 1.0 + cavity.variance * precision;
    Asked {
        log_z,
        site: Site {
            precision: 0.0,
            shift: (shift - precision * cavity.mean) / growth,
        },
        excess: -cavity.variance.powi(2) * precision / growth,
    }
}

/// The site of a row that a full parallel update asks for.
pub(super) fn reply(
    likelihood: &dyn Local,
    own: &[f64],
    row: usize,
    at: Belief,
    cavity: Belief,
    alpha: f64,
) -> Reply {
    let Asked { log_z, site, .. } = ask(likelihood, own, row, cavity);
    let share =
        log_z + 0.5 * (cavity.variance / at.variance).ln() + 0.5 * cavity.variance * alpha * alpha;
    // Moments of cavity times the new site against those of the posterior.
    let new = 1.0 + cavity.variance * site.precision;
    let variance = cavity.variance / new;
    let mean = (cavity.mean + cavity.variance * site.shift) / new;
    let moved = (mean - at.mean).abs() / at.variance.sqrt();
    Reply {
        share,
        site,
        residual: moved.max((variance / at.variance).ln().abs()),
    }
}
