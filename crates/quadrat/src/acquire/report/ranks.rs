//! What a rank tells.

use std::sync::Arc;

use super::average::{around, average, count};
use crate::likelihood::local::Belief;
use crate::special::scalar::{normal_cdf, normal_pdf};

/// Sds of the noise beyond a threshold where it matters no more: ranks beyond have 1e-17.
const NEAR: f64 = 8.5;
/// Step of the shared lattice in sds of the noise, see [`average`].
const STEP: f64 = 0.5;

/// The rank of a noisy value among thresholds, `k` where `t_(k-1) < f + e <= t_k`.
///
/// $$ I(y; f) = H_{v + s^2}(m) - E\, H_{s^2}(f), \qquad f \sim N(m, v) $$
///
/// where `H_w(f)` is the entropy of the rank at latent value `f` and noise variance `w`.
///
/// # Numerics
/// `H_{s^2}` is a set of spikes at the thresholds, as wide as the noise: where the belief is wider,
/// it is averaged on one lattice of half that step around the thresholds, of which every belief
/// takes the values computed once; else on a lattice of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    thresholds: Arc<[f64]>,
    sd: f64,
    /// Where the entropy at the noise of a report does not vanish, and its values there.
    lattice: Vec<(f64, f64)>,
}

impl Ranks {
    /// # Arguments
    /// * `thresholds` - increasing
    /// * `noise` - variance, > 0; its root no less than 1e-13 of the thresholds: numbers around
    ///   these would not be told apart
    #[must_use]
    pub fn new(thresholds: impl Into<Arc<[f64]>>, noise: f64) -> Self {
        let thresholds = thresholds.into();
        let sd = noise.sqrt();
        let mut lattice = Vec::new();
        for (from, to) in around(&thresholds, NEAR * sd) {
            let first = (from / (STEP * sd)).ceil();
            let last = (to / (STEP * sd)).floor();
            // Counted: one is nothing to a number beyond 2^53.
            lattice.extend((0..count(first, last)).map(|k| {
                let f = (first + k as f64) * STEP * sd;
                (f, entropy(&thresholds, f, sd))
            }));
        }
        Self {
            thresholds,
            sd,
            lattice,
        }
    }

    /// How many ranks there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.thresholds.len() + 1
    }

    /// The probability of every rank, where the latent value is believed to be so.
    pub(super) fn probabilities(&self, mean: f64, variance: f64) -> Vec<f64> {
        let sd = self.sd.hypot(variance.sqrt());
        let mut below = 0.0;
        let each = self.thresholds.iter().map(|t| normal_cdf((t - mean) / sd));
        each.chain([1.0])
            .map(|up_to| {
                let own = (up_to - below).max(0.0);
                below = up_to;
                own
            })
            .collect()
    }

    /// The average entropy of the rank were the latent value known, in nats.
    pub(super) fn known(&self, belief: Belief) -> f64 {
        let sd = belief.variance.sqrt();
        if sd < self.sd {
            let windows = around(&self.thresholds, NEAR * self.sd);
            let own = |f| entropy(&self.thresholds, f, self.sd);
            return average((belief.mean, sd), self.sd, &windows, own);
        }
        let each = self.lattice.iter();
        let sum: f64 = each
            .map(|(f, h)| h * normal_pdf((f - belief.mean) / sd))
            .sum();
        sum * STEP * self.sd / sd
    }

    /// The expected entropy of the rank once other answers have taken the variance of the latent
    /// value from that of `before` to `variance`: they move its mean by as much as they tell.
    pub(super) fn open(&self, before: Belief, variance: f64) -> f64 {
        let moved = (before.variance - variance).max(0.0).sqrt();
        let sd = self.sd.hypot(variance.sqrt());
        if moved == 0.0 {
            return entropy(&self.thresholds, before.mean, sd);
        }
        let windows = around(&self.thresholds, NEAR * sd);
        average((before.mean, moved), sd, &windows, |f| {
            entropy(&self.thresholds, f, sd)
        })
    }
}

/// The entropy of the rank of a normal value, in nats.
fn entropy(thresholds: &[f64], mean: f64, sd: f64) -> f64 {
    let (mut sum, mut below) = (0.0, 0.0);
    let mut add = |p: f64| {
        if p > 0.0 {
            sum -= p * p.ln();
        }
    };
    for t in thresholds {
        let up_to = normal_cdf((t - mean) / sd);
        add(up_to - below);
        below = up_to;
    }
    // From the other side: of what is nearly one nothing is left.
    let last = thresholds
        .last()
        .map_or(1.0, |t| normal_cdf((mean - t) / sd));
    add(last);
    sum
}
