//! Overdispersed counts.

use rand::Rng;
use rand_distr::{Distribution as _, Gamma};

use super::Poisson;
use super::poisson::{cdf, log_density};
use crate::special::CountMean;

/// The negative binomial by mean and dispersion: Poisson counts whose mean is gamma distributed
/// around `mu` with variance `alpha mu^2`.
///
/// `P(y) = Gamma(y + a) / (Gamma(a) y!) (alpha mu)^y / (1 + alpha mu)^(y + a)`, `a = 1 / alpha`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NegativeBinomial {
    /// Mean `mu`, >= 0.
    pub mean: f64,
    /// Dispersion `alpha`, >= 0; 0 is Poisson.
    pub dispersion: f64,
}

impl NegativeBinomial {
    /// `mu`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// `mu + alpha mu^2`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.mean * (1.0 + self.dispersion * self.mean)
    }

    /// `P(Y <= y)`, to 1e-12.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        cdf(CountMean::new(self.mean, self.dispersion), y)
    }

    /// `log P(y)` in nats; minus infinity off the counts.
    #[must_use]
    pub fn log_density(&self, y: f64) -> f64 {
        log_density(CountMean::new(self.mean, self.dispersion), y)
    }

    /// One draw: a gamma mean, then a Poisson count.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let mean = if self.dispersion > 0.0 {
            Gamma::new(1.0 / self.dispersion, self.dispersion * self.mean)
                .map_or(self.mean, |gamma| gamma.sample(rng))
        } else {
            self.mean
        };
        Poisson { mean }.sample(rng)
    }
}
