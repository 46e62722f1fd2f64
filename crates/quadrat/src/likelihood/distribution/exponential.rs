//! Exponential observations.

use crate::special::elementary;
use rand::Rng;
use rand_distr::{Distribution as _, Exp1};

/// Density `exp(-y / mean) / mean`, `y >= 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential {
    /// Mean, > 0.
    pub mean: f64,
}

impl Exponential {
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn variance(&self) -> f64 {
        self.mean * self.mean
    }

    pub(super) fn cdf(&self, y: f64) -> f64 {
        if y <= 0.0 {
            0.0
        } else {
            -elementary::expm1(-y / self.mean)
        }
    }

    pub(super) fn log_density(&self, y: f64) -> f64 {
        if y < 0.0 {
            f64::NEG_INFINITY
        } else {
            -y / self.mean - elementary::log(self.mean)
        }
    }

    pub(super) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let draw: f64 = Exp1.sample(rng);
        self.mean * draw
    }
}
