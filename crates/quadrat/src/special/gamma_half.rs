//! The gamma function half a step apart.

use super::gamma::{digamma, ln_gamma};
use crate::special::elementary;

/// From here on the series below are exact to 1e-16.
const ASYMPTOTIC: f64 = 20.0;

/// `log Gamma(x + 1/2) - log Gamma(x)`, x > 0; the difference of two `ln_gamma` would lose every
/// digit for large x.
///
/// # Source
/// Series in 1/x of DLMF 5.11.8 with h = 1/2.
pub(crate) fn log_gamma_half_step(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        return ln_gamma(x + 0.5) - ln_gamma(x);
    }
    let y = 1.0 / x;
    let y2 = y * y;
    let series = -1.0 / 8.0
        + y2 * (1.0 / 192.0
            + y2 * (-1.0 / 640.0 + y2 * (17.0 / 14_336.0 + y2 * (-31.0 / 18_432.0))));
    0.5 * elementary::log(x) + y * series
}

/// `digamma(x + 1/2) - digamma(x)`, its derivative.
pub(crate) fn digamma_half_step(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        return digamma(x + 0.5) - digamma(x);
    }
    let y = 1.0 / x;
    let y2 = y * y;
    let series = 1.0 / 8.0
        + y2 * (-3.0 / 192.0
            + y2 * (5.0 / 640.0 + y2 * (-7.0 * 17.0 / 14_336.0 + y2 * (9.0 * 31.0 / 18_432.0))));
    0.5 * y + y2 * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_and_differences_meet() {
        // Both sides of the switch; ln_gamma(20) = 39 costs the difference a factor of 30.
        let x = ASYMPTOTIC;
        let direct = ln_gamma(x + 0.5) - ln_gamma(x);
        assert!((log_gamma_half_step(x) - direct).abs() < 4e-14);
        let direct = digamma(x + 0.5) - digamma(x);
        assert!((digamma_half_step(x) - direct).abs() < 1e-15);
        // Gamma(1) / Gamma(1/2) = 1 / sqrt(pi).
        let half = log_gamma_half_step(0.5) + 0.5 * std::f64::consts::PI.ln();
        assert!(half.abs() < 1e-15);
    }
}
