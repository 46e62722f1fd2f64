//! Double-exponential observations.

use crate::special::elementary;
use rand::Rng;
use rand_distr::{Distribution as _, Exp1, StandardNormal};
use std::f64::consts::FRAC_1_SQRT_2;

use crate::special::scalar::{erfcx, log_cdf, normal_cdf};

/// Density `exp(-|y - location| / scale) / (2 scale)`, where the location is known; else, with
/// $H(r) = e^{s^2 / 2 b^2 - r / b} \, \Phi(r / s - s / b)$, scale $b$, sd $s$ of the location and
/// $r = y - \mathrm{location}$,
///
/// $$ p(y) = \frac{H(r) + H(-r)}{2 b}, \qquad P(Y \le y) = \Phi(r / s) + \tfrac12 (H(-r) - H(r)) $$
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laplace {
    /// Mean and median.
    pub location: f64,
    /// Mean absolute deviation, > 0.
    pub scale: f64,
    /// Standard deviation of a location that is itself normal, >= 0.
    pub blur: f64,
}

impl Laplace {
    pub(super) fn mean(&self) -> f64 {
        self.location
    }

    pub(super) fn variance(&self) -> f64 {
        2.0 * self.scale * self.scale + self.blur * self.blur
    }

    /// Whether the blur counts so far from the location; infinitely far nothing is left but the
    /// tail.
    fn is_blurred(&self, r: f64) -> bool {
        self.blur > 0.0 && (r / self.blur).is_finite()
    }

    /// `log H(r)`, written so that no large numbers cancel.
    fn log_half(&self, r: f64) -> f64 {
        let (ratio, z) = (self.blur / self.scale, r / self.blur);
        let beyond = ratio - z;
        if beyond > 0.0 {
            -0.5 * z * z + elementary::log(0.5 * erfcx(beyond * FRAC_1_SQRT_2))
        } else {
            ratio * (0.5 * ratio - z) + log_cdf(-beyond)
        }
    }

    pub(super) fn cdf(&self, y: f64) -> f64 {
        let r = y - self.location;
        if self.is_blurred(r) {
            let half = |r: f64| 0.5 * elementary::exp(self.log_half(r));
            return (normal_cdf(r / self.blur) + half(-r) - half(r)).clamp(0.0, 1.0);
        }
        let z = (y - self.location) / self.scale;
        let tail = 0.5 * elementary::exp(-z.abs());
        if z < 0.0 { tail } else { 1.0 - tail }
    }

    pub(super) fn log_density(&self, y: f64) -> f64 {
        let r = y - self.location;
        if self.is_blurred(r) {
            let (more, less) = (self.log_half(r), self.log_half(-r));
            let (more, less) = (more.max(less), more.min(less));
            if more == f64::NEG_INFINITY {
                return more;
            }
            let both = more + elementary::log1p(elementary::exp(less - more));
            return both - elementary::log(2.0 * self.scale);
        }
        -(y - self.location).abs() / self.scale - elementary::log(2.0 * self.scale)
    }

    pub(super) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let size: f64 = Exp1.sample(rng);
        let sign = if rng.next_u64() & 1 == 0 { 1.0 } else { -1.0 };
        let moved: f64 = StandardNormal.sample(rng);
        self.location + self.blur * moved + sign * self.scale * size
    }
}
