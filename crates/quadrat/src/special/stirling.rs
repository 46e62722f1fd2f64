//! What Stirling's formula leaves out, and other remainders that would cancel if they were
//! subtracted.

use super::gamma::{BERNOULLI, digamma, ln_gamma};
use crate::special::elementary;

/// $\frac12 \log 2\pi$.
pub(crate) const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;
/// From here on the asymptotic series below are exact to 1e-17.
const ASYMPTOTIC: f64 = 16.0;
/// B_{2k} / (2k (2k - 1)), DLMF 5.11.1.
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];

fn series(coefficients: &[f64; 8], square: f64) -> f64 {
    coefficients
        .iter()
        .rev()
        .fold(0.0, |sum, c| sum * square + c)
}

/// $(x - \log(1 + x)) / x^2$ for x > -1, 1/2 at 0.
///
/// # Numerics
/// $\log(1 + x) = 2 \mathrm{atanh}(r)$, $r = x / (2 + x)$, whose leading terms are taken off by
/// hand where they would cancel.
pub(crate) fn log1p_gap(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return (x - elementary::log1p(x)) / (x * x);
    }
    let width = 2.0 + x;
    let r = x / width;
    let square = r * r;
    // sum_k r^2k / (2k + 3); |r| <= 1/3, so the 17th term is below 1e-17.
    let mut sum = 0.0;
    for k in (0..17).rev() {
        sum = sum * square + 1.0 / f64::from(2 * k + 3);
    }
    (width - 2.0 * r * sum) / (width * width)
}

/// $\log(1 + x) / x$ for x > -1, 1 at 0.
pub(crate) fn log1p_ratio(x: f64) -> f64 {
    if x == 0.0 {
        1.0
    } else {
        elementary::log1p(x) / x
    }
}

/// $\log \Gamma(x) - (x - \frac12) \log x + x - \frac12 \log 2\pi$ for x > 0; 0 at infinity.
pub(crate) fn stirling_gap(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        ln_gamma(x) - (x - 0.5) * elementary::log(x) + x - HALF_LOG_TWO_PI
    } else {
        let inverse = 1.0 / x;
        inverse * series(&STIRLING, inverse * inverse)
    }
}

/// $a \log a - a - \log \Gamma(a)$ for a > 0, by what Stirling's formula leaves out.
pub(crate) fn gamma_normaliser(a: f64) -> f64 {
    0.5 * elementary::log(a) - HALF_LOG_TWO_PI - stirling_gap(a)
}

/// $\log x - \psi(x)$ for x > 0; tends to $1 / (2x)$ at infinity without cancellation.
pub(crate) fn digamma_gap(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        elementary::log(x) - digamma(x)
    } else {
        let inverse = 1.0 / x;
        inverse * (0.5 + inverse * series(&BERNOULLI, inverse * inverse))
    }
}

/// $a^2 (t(a + y) - t(a))$ with $t(x) = \psi(x) - \log x$ and $a = 1 / \alpha$; tends to
/// $y / (2 (1 + \alpha y))$ as $\alpha \to 0$ without cancellation.
pub(crate) fn digamma_gap_difference(y: f64, dispersion: f64) -> f64 {
    let stretch = 1.0 + dispersion * y;
    if dispersion * ASYMPTOTIC > 1.0 {
        let a = 1.0 / dispersion;
        let gap = |x: f64| digamma(x) - elementary::log(x);
        return a * a * (gap(a + y) - gap(a));
    }
    // -1/(2x) - sum_k B_2k / (2k x^2k), term by term: (a + y)^-2k - a^-2k = a^-2k (stretch^-2k -
    // 1).
    let square = dispersion * dispersion;
    let shrink = 1.0 / (stretch * stretch);
    // (1 - shrink) / dispersion, times one more power below.
    let change = y * (2.0 + dispersion * y) * shrink;
    let (mut power, mut partial, mut sum) = (1.0, 0.0, 0.0);
    for c in BERNOULLI {
        // 1 - shrink^k = (1 - shrink) (1 + shrink + .. + shrink^(k-1)).
        partial = partial * shrink + 1.0;
        sum += c * power * partial;
        power *= square;
    }
    0.5 * y / stretch + dispersion * change * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_meet_their_other_forms() {
        for x in [0.499, 0.501, -0.499, -0.501] {
            let other = (x - elementary::log1p(x)) / (x * x);
            // The other form loses a factor of five: 0.5 of which 0.095 is left.
            assert!((log1p_gap(x) / other - 1.0).abs() < 2e-15, "{x}");
        }
        assert_eq!(log1p_gap(0.0), 0.5);
        let x = 15.999_999_999;
        // The step is 6e-11 of the argument; below 16 the form is a difference of numbers of 43
        // that leaves 0.005: 43 eps / 0.005 = 2e-12.
        assert!((stirling_gap(x) / stirling_gap(16.0) - 1.0).abs() < 1e-9);
        assert!((stirling_gap(1.0) - (1.0 - HALF_LOG_TWO_PI)).abs() < 1e-15);
        // The difference below loses the digits that log 16 has before the point.
        assert!((digamma_gap(x) / digamma_gap(16.0) - 1.0).abs() < 1e-9);
        assert!((digamma_gap(1e300) - 0.5e-300).abs() < 1e-315);
    }

    #[test]
    fn the_digamma_difference_tends_to_its_limit() {
        for y in [1.0, 30.0, 1e6] {
            // Some ten roundings.
            let limit = 0.5 * y;
            assert!((digamma_gap_difference(y, 1e-20 / y) / limit - 1.0).abs() < 1e-14);
            // The step is 1.6e-11 of the argument; differences of digamma beyond it lose two digits
            // to a^2 = 256.
            let (left, right) = (
                digamma_gap_difference(y, 0.0625),
                digamma_gap_difference(y, 0.062_500_000_001),
            );
            assert!((left / right - 1.0).abs() < 1e-10, "{y}: {left} {right}");
        }
    }
}
