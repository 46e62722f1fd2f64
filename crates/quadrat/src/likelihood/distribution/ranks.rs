//! Ranks: between which thresholds a noisy latent value falls.

use std::sync::Arc;

use rand::Rng;
use rand_distr::{Distribution as _, StandardNormal};

use crate::special::scalar::{log_cdf_difference, normal_cdf};

/// Rank `k` of `1..=R` where `t_(k-1) < location + sd z <= t_k`, `z` standard normal, `t_0 = -inf`,
/// `t_R = inf`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// The `R - 1` thresholds, increasing.
    pub thresholds: Arc<[f64]>,
    /// Latent value.
    pub location: f64,
    /// Standard deviation of the noise on it, > 0.
    pub sd: f64,
}

impl Ranks {
    /// `P(Y <= rank)`, `rank` counted from 0.
    fn up_to(&self, rank: usize) -> f64 {
        match rank.checked_sub(1) {
            None => 0.0,
            Some(k) => match self.thresholds.get(k) {
                Some(t) => normal_cdf((t - self.location) / self.sd),
                None => 1.0,
            },
        }
    }

    pub(super) fn mean(&self) -> f64 {
        let above = |t: &f64| normal_cdf((self.location - t) / self.sd);
        1.0 + self.thresholds.iter().map(above).sum::<f64>()
    }

    pub(super) fn variance(&self) -> f64 {
        let mean = self.mean();
        let (mut sum, mut below) = (0.0, 0.0);
        for rank in 1..=self.thresholds.len() + 1 {
            let up_to = self.up_to(rank);
            sum += (up_to - below) * (rank as f64 - mean) * (rank as f64 - mean);
            below = up_to;
        }
        sum
    }

    pub(super) fn cdf(&self, y: f64) -> f64 {
        if y.is_nan() {
            return f64::NAN;
        }
        // Casts saturate: below 1 gives 0.
        self.up_to(y.floor() as usize)
    }

    pub(super) fn log_density(&self, y: f64) -> f64 {
        let highest = (self.thresholds.len() + 1) as f64;
        if !(y >= 1.0 && y <= highest && y.fract() == 0.0) {
            return f64::NEG_INFINITY;
        }
        let rank = y as usize;
        let end = |k: Option<usize>, beyond: f64| {
            k.and_then(|k| self.thresholds.get(k))
                .map_or(beyond, |t| (t - self.location) / self.sd)
        };
        let lower = end(rank.checked_sub(2), f64::NEG_INFINITY);
        let upper = end(Some(rank - 1), f64::INFINITY);
        log_cdf_difference(lower, upper)
    }

    pub(super) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        let value = self.location + self.sd * z;
        let below = self.thresholds.iter().filter(|&&t| t < value).count();
        (below + 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance are those of the probabilities, also where nearly all are of one rank.
    #[test]
    fn moments_are_sums_over_ranks() {
        for (location, sd) in [(0.3, 1.0), (-2.0, 0.4), (5.0, 0.7), (1.0, 30.0)] {
            let ranks = Ranks {
                thresholds: Arc::new([-1.0, 0.2, 1.5]),
                location,
                sd,
            };
            let each = (1..=4).map(|k| (f64::from(k), ranks.log_density(f64::from(k)).exp()));
            let mean: f64 = each.clone().map(|(k, p)| k * p).sum();
            let variance: f64 = each.map(|(k, p)| p * (k - mean) * (k - mean)).sum();
            // Probabilities as differences of those below are right to a rounding of one.
            assert!((ranks.mean() - mean).abs() < 1e-14, "{location} {sd}");
            assert!((ranks.variance() - variance).abs() < 1e-14);
        }
    }
}
