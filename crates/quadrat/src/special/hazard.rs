//! The hazard of the standard normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::elementary;
use super::scalar::erfcx;

/// `h = phi(x) / Phi(x)` and what its derivatives need without cancellation: `x + h` and `1 - h
/// (x + h)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hazard {
    pub h: f64,
    pub sum: f64,
    pub rest: f64,
}

/// 1 / sqrt(2 pi).
const INVERSE_ROOT: f64 = 0.398_942_280_401_432_7;
/// Below this Laplace's continued fraction has converged after `LEVELS` levels.
const TAIL: f64 = -7.0;
const LEVELS: u32 = 24;

impl Hazard {
    pub fn new(x: f64) -> Self {
        if x > TAIL {
            let h = (2.0 / PI).sqrt() / erfcx(-x * FRAC_1_SQRT_2);
            let sum = x + h;
            return Self {
                h,
                sum,
                rest: 1.0 - h * sum,
            };
        }
        // h = t + k1, k_n = n / (t + k_(n+1)), t = -x.
        let t = -x;
        let mut k2 = 0.0;
        for n in (2..LEVELS).rev() {
            k2 = f64::from(n) / (t + k2);
        }
        let k1 = 1.0 / (t + k2);
        Self {
            h: t + k1,
            sum: k1,
            // (t + k1) / (t + k2) = 1 - rest.
            rest: (k2 - k1) / (t + k2),
        }
    }

    /// The same and `log Phi(x)`, for x >= 0.
    pub fn with_log_cdf(x: f64) -> (Self, f64) {
        let density = elementary::exp(-0.5 * x * x);
        let tail = 0.5 * density * erfcx(x * FRAC_1_SQRT_2);
        let h = INVERSE_ROOT * density / (1.0 - tail);
        let sum = x + h;
        let hazard = Self {
            h,
            sum,
            rest: 1.0 - h * sum,
        };
        (hazard, elementary::log1p(-tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_hazard_meet() {
        let (a, b) = (Hazard::new(TAIL), Hazard::new(TAIL + 1e-13));
        // The direct form loses eps x^2 and eps x^4 to cancellation.
        assert!((a.h / b.h - 1.0).abs() < 1e-13);
        assert!((a.sum / b.sum - 1.0).abs() < 1e-12);
        assert!((a.rest / b.rest - 1.0).abs() < 1e-11);
        // Far out: x + h = 1/t - 2/t^3.., 1 - h (x + h) = 1/t^2 - 6/t^4..
        let far = Hazard::new(-1e6);
        assert!((far.sum / 1e-6 - 1.0 + 2e-12).abs() < 1e-15);
        assert!((far.rest / 1e-12 - 1.0 + 6e-12).abs() < 1e-14);
    }

    #[test]
    fn hazards_come_with_the_probability() {
        for x in [0.0, 0.3, 1.0, 4.0, 9.0, 30.0, 50.0] {
            let (got, log_cdf) = Hazard::with_log_cdf(x);
            let want = Hazard::new(x);
            // Some ten roundings of numbers of one sign, of e^(-x^2 / 2) some x^2 of them.
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-15 * (10.0 + x * x) * b.abs();
            assert!(near(got.h, want.h) && near(got.sum, want.sum) && near(got.rest, want.rest));
            let want = crate::special::scalar::log_cdf(x);
            assert!(near(log_cdf, want), "{x}: {log_cdf} {want}");
        }
    }
}
