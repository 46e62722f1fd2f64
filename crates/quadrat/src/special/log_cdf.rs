//! Logarithm of the standard normal distribution function.

use std::f64::consts::FRAC_1_SQRT_2;

use pulp::Simd;

use super::erfcx::erfcx_parts;
use super::lanes::{Unary, map_into};
use super::log::{log_one_minus, log_simd};
use super::normal::upper_tail;

/// $\log \Phi(x)$ in each lane, any `x`.
///
/// -x^2/2 + ln(erfcx(-x/sqrt 2)/2) for x < 0, where both terms are negative; ln(1 - Phi(-x)) above.
#[inline(always)]
pub(crate) fn log_cdf_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    let half = s.splat_f64s(0.5);
    let size = s.abs_f64s(x);
    let scaled = erfcx_parts(s, s.mul_f64s(size, s.splat_f64s(FRAC_1_SQRT_2)));
    let (above, above_term) = log_one_minus(s, upper_tail(s, size, scaled));
    let below = s.mul_f64s(half, s.add_f64s(scaled.0, scaled.1));
    let below_term = s.neg_f64s(s.mul_f64s(s.mul_f64s(size, half), size));

    let negative = s.less_than_f64s(x, s.splat_f64s(0.0));
    let log = log_simd(s, s.select_f64s(negative, below, above));
    s.add_f64s(log, s.select_f64s(negative, below_term, above_term))
}

pub(super) struct LogCdf;

impl Unary for LogCdf {
    #[inline(always)]
    fn eval<S: Simd>(s: S, x: S::f64s) -> S::f64s {
        log_cdf_simd(s, x)
    }
}

/// Logarithm of the standard normal distribution function, $\mathrm{out}_i = \log \Phi(x_i)$.
///
/// # Arguments
/// * `x` - any numbers, shape `[n]`
/// * `out` - overwritten, shape `[n]`; nats
/// # Numerics
/// At most 4 ulp for every `x`: about $-x^2/2$ far below 0, $-\Phi(-x)$ far above.
/// # Panics
/// If the lengths differ.
/// # Examples
/// ```
/// let mut out = [0.0; 2];
/// quadrat::special::log_cdf_into(&[0.0, -40.0], &mut out);
/// assert_eq!(out[0], -std::f64::consts::LN_2);
/// assert!((out[1] / -804.608_442_013_753_8 - 1.0).abs() < 1e-15);
/// ```
pub fn log_cdf_into(x: &[f64], out: &mut [f64]) {
    map_into::<LogCdf>(x, out);
}
