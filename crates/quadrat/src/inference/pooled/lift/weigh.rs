//! Weights of the draws.

use crate::linalg::Mat;

/// Below this effective share of draws the proposal is taken to have missed the posterior.
pub(super) const ENOUGH: f64 = 0.1;
/// The smallest power is this one of two: logarithms of weights may be a thousand million apart.
const LEAST: f64 = -60.0;
/// Halvings of the range of its exponents: a thousandth of a power changes nothing.
const HALVINGS: usize = 16;

/// One draw that meets the rows.
pub(super) struct MatchingDraw {
    /// How far it was moved along `G`.
    pub by: Vec<f64>,
    /// `t`.
    pub target: Vec<f64>,
    /// Log of its weight.
    pub weight: f64,
}

/// Draws that were weighed.
pub(super) struct WeighedDraws {
    /// How far along `G` and `t`, shape `[met, draws]`.
    pub moved: Mat<f64>,
    pub targets: Mat<f64>,
    pub weights: Vec<f64>,
    pub effective: f64,
    pub log_evidence: f64,
}

impl WeighedDraws {
    /// None where no draw has a weight.
    pub fn new(found: &[Option<MatchingDraw>], met: usize) -> Option<Self> {
        let logs: Vec<f64> = found
            .iter()
            .map(|one| one.as_ref().map_or(f64::NEG_INFINITY, |one| one.weight))
            .collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !most.is_finite() {
            return None;
        }
        let sum: f64 = logs.iter().map(|w| (w - most).exp()).sum();
        let effective = share(&tempered(&logs, most, 1.0));
        let of = |value: fn(&MatchingDraw) -> &[f64]| {
            Mat::from_fn(met, found.len(), |row, draw| {
                found[draw].as_ref().map_or(0.0, |one| value(one)[row])
            })
        };
        Some(Self {
            moved: of(|one| &one.by),
            targets: of(|one| &one.target),
            weights: tempered(&logs, most, power(&logs, most)),
            effective,
            log_evidence: most + (sum / found.len() as f64).ln(),
        })
    }
}

/// Weights that sum to one from their logarithms, evened out where few draws would carry them, and
/// the share of draws that count, before that; none where no draw has a weight.
pub(crate) fn evened(logs: &[f64]) -> Option<(Vec<f64>, f64)> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_any = most.is_finite();
    is_any.then(|| {
        let effective = share(&tempered(logs, most, 1.0));
        (tempered(logs, most, power(logs, most)), effective)
    })
}

/// The largest power of the weights, at most one, at which [`ENOUGH`] draws count.
fn power(logs: &[f64], most: f64) -> f64 {
    let is_enough = |power: f64| share(&tempered(logs, most, power)) >= ENOUGH;
    if is_enough(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (LEAST, 0.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if is_enough(middle.exp2()) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low.exp2()
}

/// Weights to a power, which sum to one.
fn tempered(logs: &[f64], most: f64, power: f64) -> Vec<f64> {
    let one = |w: &f64| match w.is_finite() {
        true => (power * (w - most)).exp(),
        false => 0.0,
    };
    let mut weights: Vec<f64> = logs.iter().map(one).collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    weights
}

/// How many draws of equal weight say as much, over how many there are.
fn share(weights: &[f64]) -> f64 {
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    1.0 / (squares * weights.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::{ENOUGH, evened};

    /// Draws that were moved to where the posterior is nothing stay without weight, however few
    /// the others are.
    #[test]
    fn draws_far_from_the_posterior_have_no_weight() {
        // Two in a hundred are somewhere, two in ten far away, the others farther.
        let logs: Vec<f64> = (0..100)
            .map(|i| match i {
                0 | 1 => -0.3 * f64::from(i),
                2..20 => -2e4 - 10.0 * f64::from(i),
                _ => -1e9 * (1.0 + f64::from(i)),
            })
            .collect();
        let (weights, effective) = evened(&logs).unwrap();
        // Two of the hundred have weights, 1 and e^-0.3: rounding alone.
        let second = (-0.3_f64).exp();
        let want = (1.0 + second).powi(2) / (1.0 + second * second) / 100.0;
        assert!((effective - want).abs() < 1e-15, "{effective}");
        // Rounding of a sum of a hundred terms.
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        assert!(1.0 / squares >= ENOUGH * 100.0);
        assert!(weights[20..].iter().all(|w| *w == 0.0));
    }
}
