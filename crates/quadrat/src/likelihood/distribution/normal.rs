//! Normal observations.

use crate::special::elementary;
use std::f64::consts::PI;

use rand::Rng;
use rand_distr::{Distribution as _, StandardNormal};

use crate::special::scalar::normal_cdf;

/// `N(mean, sd^2)`; `sd` 0 is a value known for certain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normal {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, >= 0.
    pub sd: f64,
}

impl Normal {
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn variance(&self) -> f64 {
        self.sd * self.sd
    }

    pub(super) fn cdf(&self, y: f64) -> f64 {
        if self.sd == 0.0 {
            return f64::from(u8::from(y >= self.mean));
        }
        normal_cdf((y - self.mean) / self.sd)
    }

    pub(super) fn log_density(&self, y: f64) -> f64 {
        if self.sd == 0.0 {
            let same = y == self.mean;
            return if same {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            };
        }
        let z = (y - self.mean) / self.sd;
        -0.5 * (z * z + elementary::log(2.0 * PI)) - elementary::log(self.sd)
    }

    pub(super) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        self.mean + self.sd * z
    }
}
