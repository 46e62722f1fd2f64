//! Double-exponential observations.

use crate::special::elementary;
use rand::Rng;
use rand_distr::{Distribution as _, Exp1};

/// Density `exp(-|y - location| / scale) / (2 scale)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laplace {
    /// Mean and median.
    pub location: f64,
    /// Mean absolute deviation, > 0.
    pub scale: f64,
}

impl Laplace {
    pub(super) fn mean(&self) -> f64 {
        self.location
    }

    pub(super) fn variance(&self) -> f64 {
        2.0 * self.scale * self.scale
    }

    pub(super) fn cdf(&self, y: f64) -> f64 {
        let z = (y - self.location) / self.scale;
        let tail = 0.5 * elementary::exp(-z.abs());
        if z < 0.0 { tail } else { 1.0 - tail }
    }

    pub(super) fn log_density(&self, y: f64) -> f64 {
        -(y - self.location).abs() / self.scale - elementary::log(2.0 * self.scale)
    }

    pub(super) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let size: f64 = Exp1.sample(rng);
        let sign = if rng.next_u64() & 1 == 0 { 1.0 } else { -1.0 };
        self.location + sign * self.scale * size
    }
}
