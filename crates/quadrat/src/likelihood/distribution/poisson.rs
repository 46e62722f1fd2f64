//! Counts.

use rand::Rng;
use rand_distr::{Distribution as _, Poisson as Sampler, StandardNormal};

use crate::special::CountMean;

/// The Poisson distribution, `P(y) = e^-mu mu^y / y!`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson {
    /// Mean `mu`, >= 0.
    pub mean: f64,
}

impl Poisson {
    /// `mu`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// `mu`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.mean
    }

    /// `P(Y <= y)`, to 1e-12.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        cdf(CountMean::new(self.mean, 0.0), y)
    }

    /// `log P(y)` in nats; minus infinity off the counts.
    #[must_use]
    pub fn log_density(&self, y: f64) -> f64 {
        log_density(CountMean::new(self.mean, 0.0), y)
    }

    /// One draw. Beyond a mean of 1e15 a rounded normal, whose spacing is that of doubles anyway.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        if self.mean > 1e15 {
            let z: f64 = StandardNormal.sample(rng);
            return (self.mean + self.mean.sqrt() * z).round();
        }
        // Only a mean of 0 (or NaN) is refused.
        Sampler::new(self.mean).map_or(self.mean, |sampler| sampler.sample(rng))
    }
}

/// `P(Y <= y)`.
pub(super) fn cdf(count: CountMean, y: f64) -> f64 {
    if y.is_nan() || y < 0.0 {
        return if y.is_nan() { y } else { 0.0 };
    }
    if y == f64::INFINITY {
        return 1.0;
    }
    count.tails(y.floor() + 1.0).0
}

/// `log P(y)`.
pub(super) fn log_density(count: CountMean, y: f64) -> f64 {
    if y.is_nan() {
        return y;
    }
    if y < 0.0 || y.fract() != 0.0 || y == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    if count.mean == 0.0 {
        return if y == 0.0 { 0.0 } else { f64::NEG_INFINITY };
    }
    count.log_probability(y)
}
