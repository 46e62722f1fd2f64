//! The expected logarithm of a squared normal variable.

use super::local::{Belief, Expected};
use crate::special::elementary;

/// Distance of the mean from 0 in sds where the series in its inverse takes over.
const FAR: f64 = 10.0;
/// Terms of that series; at `FAR` the last is 1e-20.
const TERMS: usize = 25;
/// -gamma - log 2 = digamma(1/2) + log 2: the value at a mean of 0 and a variance of 1.
const AT_ZERO: f64 = -1.270_362_845_461_478_2;

/// `E log f^2` under a normal belief and its first two derivatives in the mean.
///
/// The pole at 0 is integrable; the second derivative is that of the integral, `-E 2 / f^2` with
/// the divergent part taken off. With `rho = m / sd`, near 0: `f^2 / v` is a Poisson mixture of chi
/// squares with `1 + 2 j` degrees, weight of mean `rho^2 / 2`, so that `E log = log 2 + E
/// digamma(1/2 + j)` and the derivative is `rho E 1 / (1/2 + j)`: sums of positive terms. Far from
/// 0: `log rho^2 - sum_n (2 n - 1)!! / (n rho^2n)`.
///
/// # Numerics
/// A relative 1e-12 of derivatives, 1e-14 of the value.
/// # Source
/// Own derivation; Lloyd et al. 2015 give the same integral by a confluent hypergeometric function
pub(crate) fn expected_log_square(belief: Belief) -> Expected {
    let sd = belief.variance.sqrt();
    let rho = belief.mean / sd;
    let [value, first, second] = if rho.abs() > FAR { far(rho) } else { near(rho) };
    Expected {
        value: value + elementary::log(belief.variance),
        first: first / sd,
        second: second / belief.variance,
    }
}

fn far(rho: f64) -> [f64; 3] {
    let square = 1.0 / (rho * rho);
    // (2n - 1)!! / rho^2n.
    let mut term = 1.0;
    let (mut value, mut first, mut second) = (0.0, 0.0, 0.0);
    for n in 1..=TERMS {
        let n = n as f64;
        term *= (2.0 * n - 1.0) * square;
        value += term / n;
        first += 2.0 * term;
        second += 2.0 * (2.0 * n + 1.0) * term;
    }
    [
        2.0 * elementary::log(rho.abs()) - value,
        (2.0 + first) / rho,
        -(2.0 + second) * square,
    ]
}

fn near(rho: f64) -> [f64; 3] {
    let half = 0.5 * rho * rho;
    let mut weight = elementary::exp(-half);
    let mut digamma = 0.0;
    let (mut value, mut slope) = (0.0, 0.0);
    // At rho = 10 the weight has its mean at 50; 200 is 20 sds beyond.
    for j in 0..200 {
        let j = f64::from(j);
        value += weight * digamma;
        slope += weight / (j + 0.5);
        digamma += 1.0 / (j + 0.5);
        weight *= half / (j + 1.0);
    }
    let first = rho * slope;
    [AT_ZERO + value, first, 2.0 - rho * first]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_series_meet() {
        let (a, b) = (far(10.0), near(10.0));
        for i in 0..3 {
            // The near form of the second derivative cancels to 1/100 of its terms.
            assert!((a[i] / b[i] - 1.0).abs() < 1e-12, "{i}: {} {}", a[i], b[i]);
        }
    }

    #[test]
    fn it_solves_the_equation_of_its_derivatives() {
        // Second = twice the derivative in the variance.
        for mean in [0.0, 0.4, -3.0, 30.0] {
            let at = |mean: f64, variance: f64| expected_log_square(Belief { mean, variance });
            let h = 1e-3;
            let e = at(mean, 1.7);
            let in_mean = (8.0 * (at(mean + h, 1.7).value - at(mean - h, 1.7).value)
                - (at(mean + 2.0 * h, 1.7).value - at(mean - 2.0 * h, 1.7).value))
                / (12.0 * h);
            let in_variance = (8.0 * (at(mean, 1.7 + h).value - at(mean, 1.7 - h).value)
                - (at(mean, 1.7 + 2.0 * h).value - at(mean, 1.7 - 2.0 * h).value))
                / (12.0 * h);
            // Truncation h^4 / 30 = 3e-14 times fifth derivatives, and rounding: eps / h times
            // values up to 7, 2e-12.
            assert!((e.first - in_mean).abs() < 1e-10, "{mean}");
            assert!((e.second - 2.0 * in_variance).abs() < 1e-10, "{mean}");
        }
        // E log chi-squared with one degree of freedom: digamma(1/2) + log 2.
        let zero = expected_log_square(Belief {
            mean: 0.0,
            variance: 1.0,
        });
        assert!((zero.value + 1.270_362_845_461_478).abs() < 1e-15);
    }
}
