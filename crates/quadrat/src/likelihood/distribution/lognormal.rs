//! Log-normal observations.

use rand::Rng;
use rand_distr::{Distribution as _, StandardNormal};

use super::Normal;
use crate::special::elementary;

/// `log y ~ N(log mean - sd^2 / 2, sd^2)`, `y > 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogNormal {
    /// Mean of `y`, > 0.
    pub mean: f64,
    /// Standard deviation of `log y`, > 0.
    pub sd: f64,
}

impl LogNormal {
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn variance(&self) -> f64 {
        self.mean * self.mean * elementary::expm1(self.sd * self.sd)
    }

    fn log(&self) -> Normal {
        Normal {
            mean: elementary::log(self.mean) - 0.5 * self.sd * self.sd,
            sd: self.sd,
        }
    }

    pub(super) fn cdf(&self, y: f64) -> f64 {
        match y > 0.0 {
            true => self.log().cdf(elementary::log(y)),
            false => 0.0,
        }
    }

    pub(super) fn log_density(&self, y: f64) -> f64 {
        if y <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let log_y = elementary::log(y);
        self.log().log_density(log_y) - log_y
    }

    pub(super) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        self.mean * (self.sd * (z - 0.5 * self.sd)).exp()
    }
}
