//! A number of every draw of a density, and what is said of it.

use crate::linalg::dot;

use super::curves::Work;
use super::loops;

/// A number of every draw of a density, and the one that is told.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    /// The one that is told: the posterior mean or, where draws are not weighted, the number of the
    /// average of modes; of a quantile of a conditional density that of the density that is told.
    pub value: f64,
    pub(super) numbers: &'a [f64],
    pub(super) weights: &'a [f64],
}

impl Drawn<'_> {
    /// Weighted quantiles over the draws.
    #[must_use]
    pub fn quantiles<const N: usize>(&self, p: [f64; N]) -> [f64; N] {
        Work::default().quantiles(self.numbers, self.weights, p)
    }

    /// The standard deviation over the draws.
    #[must_use]
    pub fn sd(&self) -> f64 {
        let mean = dot(self.numbers, self.weights);
        loops::spread(self.numbers, self.weights, mean)
            .max(0.0)
            .sqrt()
    }

    /// The probability that it exceeds a limit.
    #[must_use]
    pub fn above(&self, limit: f64) -> f64 {
        let pairs = self.numbers.iter().zip(self.weights);
        let above = pairs.filter(|(x, _)| **x > limit);
        let above = above.fold(0.0, |sum, (_, w)| sum + w);
        above.clamp(0.0, 1.0)
    }

    /// That of one draw.
    ///
    /// # Panics
    /// Where there are not so many.
    #[must_use]
    pub fn of(&self, draw: usize) -> f64 {
        self.numbers[draw]
    }
}

/// Numbers of draws, each as likely as its weight: evenly spaced in the sums of the weights from a
/// random place on.
pub(super) fn evenly(weights: &[f64], count: usize, first: f64) -> Vec<usize> {
    let (mut i, mut sum) = (0, weights[0]);
    (0..count)
        .map(|k| {
            let wanted = (k as f64 + first) / count as f64;
            while sum < wanted && i + 1 < weights.len() {
                i += 1;
                sum += weights[i];
            }
            i
        })
        .collect()
}
