//! Student's t observations.

use crate::special::elementary;
use std::f64::consts::PI;

use rand::Rng;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};

use crate::special::gamma_half::log_gamma_half_step;

/// `location + scale T`, `T` Student's t with `degrees` of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentT {
    /// Median, and mean where there is one.
    pub location: f64,
    /// Scale, > 0.
    pub scale: f64,
    /// Degrees of freedom, > 0.
    pub degrees: f64,
}

impl StudentT {
    pub(super) fn mean(&self) -> f64 {
        if self.degrees > 1.0 {
            self.location
        } else {
            f64::NAN
        }
    }

    pub(super) fn variance(&self) -> f64 {
        if self.degrees > 2.0 {
            self.scale * self.scale * (self.degrees / (self.degrees - 2.0))
        } else if self.degrees > 1.0 {
            f64::INFINITY
        } else {
            f64::NAN
        }
    }

    pub(super) fn cdf(&self, y: f64) -> f64 {
        let z = (y - self.location) / self.scale;
        let tail = 0.5 * two_sided_tail(z.abs(), self.degrees);
        if z < 0.0 { tail } else { 1.0 - tail }
    }

    pub(super) fn log_density(&self, y: f64) -> f64 {
        let z = (y - self.location) / self.scale;
        let constant = log_gamma_half_step(0.5 * self.degrees)
            - 0.5 * elementary::log(PI * self.degrees)
            - elementary::log(self.scale);
        constant - 0.5 * (self.degrees + 1.0) * elementary::log1p(z * z / self.degrees)
    }

    pub(super) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        let Ok(square) = ChiSquared::new(self.degrees) else {
            return f64::NAN;
        };
        let draw: f64 = square.sample(rng);
        self.location + self.scale * z * (self.degrees / draw).sqrt()
    }
}

/// `P(|T| > z)`, the regularised incomplete beta function `I_x(degrees/2, 1/2)` at `x = degrees /
/// (degrees + z^2)`.
fn two_sided_tail(z: f64, degrees: f64) -> f64 {
    let square = z * z / degrees;
    if square == 0.0 {
        return 1.0;
    }
    let (a, b) = (0.5 * degrees, 0.5);
    // log of x^a (1 - x)^b / B(a, b), from log x = -log(1 + z^2/degrees).
    let front = -a * elementary::log1p(square) - b * elementary::log1p(1.0 / square)
        + log_gamma_half_step(a)
        - 0.5 * elementary::log(PI);
    let x = 1.0 / (1.0 + square);
    if x < (a + 1.0) / (a + b + 2.0) {
        elementary::exp(front) * fraction(x, a, b) / a
    } else {
        1.0 - elementary::exp(front) * fraction(square / (1.0 + square), b, a) / b
    }
}

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away = |y: f64| if y.abs() < 1e-300 { 1e-300 } else { y };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    // The number of steps grows as the root of the larger parameter.
    for m in 1..20_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for numerator in [even, odd] {
            d = 1.0 / away(1.0 + numerator * d);
            c = away(1.0 + numerator / c);
            value *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}
