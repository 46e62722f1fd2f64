//! A value with normal noise that was recorded because it lay on one side of a limit.

use super::local::Jet;
use crate::special::{HALF_LOG_TWO_PI, Hazard, elementary};

/// Noise sds within the limit from which on the probability of being recorded is taken as such.
const INSIDE: f64 = 1.0;

/// The log-density as a function of `u = f - y`, whose moments need the normal distribution
/// function alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneLimit {
    /// From the limit to the value, in noise sds.
    inside: f64,
    /// 1 above a lower limit, -1 below an upper one.
    sign: f64,
    sd: f64,
    log_sd: f64,
}

impl OneLimit {
    /// # Arguments
    /// * `inside` - from the limit to the value, >= 0
    /// * `sign` - 1 for a lower limit, -1 for an upper one
    /// * `variance` - of the noise
    pub fn new(inside: f64, sign: f64, variance: f64) -> Self {
        let sd = variance.sqrt();
        Self {
            inside: inside / sd,
            sign,
            sd,
            log_sd: elementary::log(sd),
        }
    }

    /// The log-density and two derivatives; no moment needs the third, which is not a number.
    ///
    /// With `z` the noise and `x` the distance of the latent value from the limit, in noise sds,
    /// `log p = log phi(z) - log Phi(x) - log sd`; its slopes follow from the hazard
    /// `phi(x) / Phi(x)`.
    pub fn jet(&self, u: f64) -> Jet {
        let (sd, inside) = (self.sd, self.inside);
        let z = -self.sign * u / sd;
        let x = inside - z;
        let (log, pull, rest) = if x >= INSIDE {
            let (Hazard { h, rest, .. }, log_cdf) = Hazard::with_log_cdf(x);
            (-0.5 * z * z - HALF_LOG_TWO_PI - log_cdf, z - h, rest)
        } else {
            // log phi(z) - log phi(x) + log h: the squares meet before anything is rounded.
            let Hazard { h, sum, rest } = Hazard::new(x);
            let squares = 0.5 * inside * (inside - 2.0 * z);
            (elementary::log(h) + squares, inside - sum, rest)
        };
        Jet {
            value: log - self.log_sd,
            first: self.sign * pull / sd,
            second: -rest / (sd * sd),
            third: f64::NAN,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::likelihood::local::Local;
    use crate::likelihood::{Noise, Truncated};

    /// The general form, by the moments of the truncated normal distribution.
    #[test]
    fn densities_are_those_of_two_limits() {
        for variance in [1e-4, 1.0, 30.0] {
            for distance in [0.0, 1e-6, 0.3, 2.0, 50.0] {
                let inside = distance * f64::sqrt(variance);
                for sign in [1.0, -1.0] {
                    let (lower, upper) = match sign > 0.0 {
                        true => (-inside, f64::INFINITY),
                        false => (f64::NEG_INFINITY, inside),
                    };
                    let noise = Noise::Known(vec![variance]);
                    let rows = Truncated::new(vec![0.0], vec![lower], vec![upper], noise).unwrap();
                    let one = OneLimit::new(inside, sign, variance);
                    for away in [-1e4, -40.0, -8.5, -7.0, -1.0, 0.0, 0.9, 1.1, 3.0, 40.0] {
                        let u = away * f64::sqrt(variance);
                        let (got, want) = (one.jet(u), rows.log_density(&[], 0, u));
                        // Squares of numbers of some size are subtracted in both; both know
                        // variances to 1e-12.
                        let size = 1.0 + away * away + distance * distance;
                        assert!(
                            (got.value - want.value).abs() <= 1e-14 * size,
                            "{one:?} {u}"
                        );
                        let near = |a: f64, b: f64| (a - b).abs() <= 1e-11 * b.abs();
                        let slope = (got.first - want.first).abs() * variance.sqrt();
                        assert!(slope <= 1e-14 * size, "{one:?} {u}");
                        assert!(near(got.second, want.second), "{one:?} {u}");
                    }
                }
            }
        }
    }
}
