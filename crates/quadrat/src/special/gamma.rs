//! Logarithm of the gamma function and its derivative.

use crate::special::elementary;
use std::f64::consts::PI;

use super::coefficients::{DIGAMMA, DIGAMMA_ROOT_HI, DIGAMMA_ROOT_LO};

/// From here on the asymptotic series is exact to 1e-17 of the value.
const ASYMPTOTIC: f64 = 10.0;
/// B_{2k} / (2k), k = 1..8, of digamma(x) = ln x - 1/(2x) - sum_k B_{2k}/(2k x^{2k}) (DLMF 5.11.2).
pub(super) const BERNOULLI: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
];

/// $\log |\Gamma(x)|$.
///
/// # Arguments
/// * `x` - any number; infinite at 0 and the negative integers
/// # Numerics
/// `libm::lgamma`: a few ulp for x > 0; absolute, not relative, near the zeros at x < 0.
/// # Examples
/// ```
/// assert_eq!(quadrat::special::scalar::ln_gamma(5.0), 24f64.ln());
/// ```
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// $\psi(x) = \frac{d}{dx} \log \Gamma(x)$.
///
/// # Arguments
/// * `x` - any number; NaN at 0, the negative integers and minus infinity
/// # Numerics
/// A few ulp for x > 0, the root at 1.46 included; for x < 0 relative to the larger of ψ(1-x) and π
/// cot(πx).
/// # Source
/// DLMF 5.5.2, 5.5.4, 5.11.2; own minimax polynomial on [1, 2]
/// # Examples
/// ```
/// let euler_gamma = -quadrat::special::scalar::digamma(1.0);
/// assert!((euler_gamma - 0.577_215_664_901_532_9).abs() < 1e-15);
/// ```
pub fn digamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::NEG_INFINITY || (x <= 0.0 && x.fract() == 0.0) {
        f64::NAN
    } else if x < 0.0 {
        // tan(pi x) has period 1; the remainder is exact.
        let turn = x - x.round();
        digamma(1.0 - x) - PI / libm::tan(PI * turn)
    } else if x < 1.0 {
        on_one_to_two(1.0 + x) - 1.0 / x
    } else if x <= 2.0 {
        on_one_to_two(x)
    } else if x <= 4.0 {
        digamma(x - 1.0) + 1.0 / (x - 1.0)
    } else {
        let (mut y, mut shift) = (x, 0.0);
        while y < ASYMPTOTIC {
            shift += 1.0 / y;
            y += 1.0;
        }
        let inverse = 1.0 / y;
        let square = inverse * inverse;
        let series = BERNOULLI.iter().rev().fold(0.0, |sum, b| sum * square + b);
        elementary::log(y) - (0.5 * inverse + (square * series + shift))
    }
}

/// (x - root) times a polynomial, so that the relative error stays small at the root.
fn on_one_to_two(x: f64) -> f64 {
    let y = x - 1.5;
    let slope = DIGAMMA.iter().rev().fold(0.0, |sum, c| sum * y + c);
    ((x - DIGAMMA_ROOT_HI) - DIGAMMA_ROOT_LO) * slope
}
