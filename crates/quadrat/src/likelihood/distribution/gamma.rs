//! Gamma observations.

use rand::Rng;
use rand_distr::Distribution as _;

use crate::special::elementary;
use crate::special::scalar::{ln_gamma, regularised_gamma};

/// Density `y^(a-1) e^(-a y / mean) (a / mean)^a / Gamma(a)`, `y > 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gamma {
    /// Mean, > 0.
    pub mean: f64,
    /// Shape `a`, > 0.
    pub shape: f64,
}

impl Gamma {
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn variance(&self) -> f64 {
        self.mean * self.mean / self.shape
    }

    pub(super) fn cdf(&self, y: f64) -> f64 {
        if y <= 0.0 {
            return 0.0;
        }
        // As a whole, so that neither factor overflows.
        regularised_gamma(self.shape, self.shape * (y / self.mean)).0
    }

    pub(super) fn log_density(&self, y: f64) -> f64 {
        if y < 0.0 {
            return f64::NEG_INFINITY;
        }
        let (a, scaled) = (self.shape, self.shape * (y / self.mean));
        let power = if a == 1.0 {
            0.0
        } else {
            (a - 1.0) * elementary::log(scaled)
        };
        power - scaled - ln_gamma(a) + elementary::log(a / self.mean)
    }

    pub(super) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        match rand_distr::Gamma::new(self.shape, 1.0) {
            Ok(unit) => self.mean * (unit.sample(rng) / self.shape),
            Err(_) => f64::NAN,
        }
    }
}
