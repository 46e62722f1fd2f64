//! The Gaussian variational approximation by natural-gradient steps (conjugate computation).
//!
//! A whole step asks for the site that the expected log density has at the belief. Where its
//! curvature changes by factors within the belief (a count of zero, a flat top with sharp edges)
//! such steps go back and forth, and short ones creep. There a row is asked for the site that it
//! will have: with all other sites as they are, the belief `N(m, s)` about its latent value that
//! maximises
//!
//! $$ E \log p(y \mid z) - KL(N(m, s) \,\|\, N(m_c, s_c)), \qquad \frac{m - m_c}{s_c} = E (\log
//! p)', \quad \frac1s = \frac1{s_c} - E (\log p)'' $$
//!
//! with `N(m_c, s_c)` its cavity. That is a site of the same points of rest, and its steps see only
//! how rows depend on each other.
//!
//! # Source
//! Khan and Lin 2017, *Conjugate-computation variational inference*.

use super::site::{Reply, Site};
use crate::likelihood::local::{Belief, Local};

/// Newton's steps towards a belief at most: one or two from near.
const STEPS: usize = 60;
/// Part of a variance over which derivatives in it are differences.
const DIFFERENCE: f64 = 1e-4;
/// Steps shorter than this, in sds and in the logarithm of the variance, are the last: the next
/// sweep goes on.
const SHORT: f64 = 1e-3;
/// The longest steps, in sds of the cavity and in the logarithm of the variance: beyond, the
/// expected log density is another function.
const LONGEST: (f64, f64) = (1.0, 2.0);
/// A variance that is wrong by more than this, in its logarithm, comes first.
const OPEN: f64 = 1.0;
/// What is left of a step that leads downhill, and how often it is cut.
const CUT: f64 = 0.3;
const CUTS: usize = 12;
/// A bound that falls by this part of its size has not fallen.
const ROUNDING: f64 = 1e-12;

/// The site of a row that a full natural-gradient step asks for; its precision is negative where
/// the expected log density is not concave. Only the slope is in the residual.
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

/// The site of a row whose other rows keep theirs, looked for from the belief `at`; none where that
/// is not found, or would have a negative precision.
pub(super) fn given(
    likelihood: &dyn Local,
    own: &[f64],
    row: usize,
    at: Belief,
    cavity: Belief,
) -> Option<Site> {
    if !(cavity.variance > 0.0 && cavity.variance.is_finite()) {
        return None;
    }
    let before = cavity.variance.recip();
    let widest = cavity.variance.ln();
    let expected = |mean, variance| likelihood.expected(own, row, Belief { mean, variance });
    // By mean and logarithm of the variance, with the bound up to a constant.
    let look = |mean: f64, log: f64| {
        let seen = expected(mean, log.exp());
        let away = mean - cavity.mean;
        let bound = seen.value - 0.5 * (before * (away * away + log.exp()) - log);
        (seen, bound)
    };
    let (mut mean, mut log) = (at.mean, at.variance.ln().min(widest));
    let (mut here, mut bound) = look(mean, log);
    for _ in 0..STEPS {
        let variance = log.exp();
        let total = before - here.second;
        if !(here.second <= 0.0 && total.is_finite() && bound.is_finite()) {
            return None;
        }
        // Derivatives in the variance are half of those of two orders more in the mean.
        let beside = expected(mean, variance * (1.0 + DIFFERENCE));
        let by = (variance * DIFFERENCE).recip();
        let third = 2.0 * by * (beside.first - here.first);
        let bend = by * (beside.second - here.second);
        let slope = here.first - before * (mean - cavity.mean);
        let step = newton(slope, total, variance, third, bend);
        let long = (step.0.abs() / variance.sqrt()).max(step.1.abs());
        if !long.is_finite() {
            return None;
        }
        if long < SHORT {
            // To first order in the last step.
            let wider = variance * step.1.exp_m1();
            let first = here.first + here.second * step.0 + 0.5 * third * wider;
            let precision = -(here.second + third * step.0 + bend * wider);
            let shift = first + precision * (mean + step.0);
            let is_usable = precision >= 0.0 && precision.is_finite() && shift.is_finite();
            return is_usable.then_some(Site { precision, shift });
        }
        let reach = LONGEST.0 * cavity.variance.sqrt();
        let mut part = (reach / step.0.abs())
            .min(LONGEST.1 / step.1.abs())
            .min(1.0);
        let least = bound - ROUNDING * (1.0 + bound.abs());
        for cut in 0..=CUTS {
            let next = (mean + part * step.0, (log + part * step.1).min(widest));
            let (seen, there) = look(next.0, next.1);
            if there >= least || cut == CUTS {
                ((mean, log), here, bound) = (next, seen, there);
                break;
            }
            part *= CUT;
        }
    }
    None
}

/// Newton's step in the mean and in the logarithm of the variance; each by itself where both
/// together do not lead uphill.
///
/// # Arguments
/// * `slope` - of the bound in the mean
/// * `total` - the precision that the belief should have
/// * `third`, `bend` - derivatives of the expected log density: three in the mean; one in the
///   variance after two in the mean
fn newton(slope: f64, total: f64, variance: f64, third: f64, bend: f64) -> (f64, f64) {
    let open = (variance * total).ln();
    let (a, b) = (-total, 0.5 * variance * third);
    let (c, d) = (-third / total, 1.0 - variance * bend / total);
    let own = if d > 0.0 { -open / d } else { -open };
    if open.abs() > OPEN {
        return (0.0, own);
    }
    let determinant = a * d - b * c;
    let both = (
        (-slope * d + open * b) / determinant,
        (-open * a + slope * c) / determinant,
    );
    let gain = slope * both.0 + 0.5 * (1.0 - variance * total) * both.1;
    match determinant < 0.0 && gain > 0.0 {
        true => both,
        false => (slope / total, own),
    }
}
