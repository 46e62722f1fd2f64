//! Density and distribution function of the standard normal.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use pulp::Simd;

use super::erfc::exp_times;
use super::erfcx::erfcx_parts;
use super::lanes::{Unary, at_most, map_into};

/// $-x^2/2$ as `hi + lo`, for |x| <= 39.5 (beyond, the value at 39.5: its exponential is 0 in every
/// use).
#[inline(always)]
pub(super) fn minus_half_square<S: Simd>(s: S, x: S::f64s) -> (S::f64s, S::f64s) {
    let size = at_most(s, s.abs_f64s(x), 39.5);
    let half = s.mul_f64s(size, s.splat_f64s(0.5));
    let square = s.neg_f64s(s.mul_f64s(size, half));
    (square, s.neg_f64s(s.mul_add_f64s(size, half, square)))
}

/// Upper tail $1 - \Phi(x)$ for x >= 0, given the parts of erfcx(x / sqrt 2).
#[inline(always)]
pub(super) fn upper_tail<S: Simd>(s: S, x: S::f64s, scaled: (S::f64s, S::f64s)) -> S::f64s {
    let (h, l) = minus_half_square(s, x);
    let half = s.splat_f64s(0.5);
    exp_times(
        s,
        h,
        l,
        (s.mul_f64s(scaled.0, half), s.mul_f64s(scaled.1, half)),
    )
}

pub(super) struct NormalCdf;

impl Unary for NormalCdf {
    #[inline(always)]
    fn eval<S: Simd>(s: S, x: S::f64s) -> S::f64s {
        let size = s.abs_f64s(x);
        let scaled = erfcx_parts(s, s.mul_f64s(size, s.splat_f64s(FRAC_1_SQRT_2)));
        let tail = upper_tail(s, size, scaled);
        let positive = s.greater_than_f64s(x, s.splat_f64s(0.0));
        s.select_f64s(positive, s.sub_f64s(s.splat_f64s(1.0), tail), tail)
    }
}

pub(super) struct NormalPdf;

impl Unary for NormalPdf {
    #[inline(always)]
    fn eval<S: Simd>(s: S, x: S::f64s) -> S::f64s {
        let (h, l) = minus_half_square(s, x);
        let constant = s.splat_f64s(FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * 0.5);
        exp_times(s, h, l, (constant, s.splat_f64s(0.0)))
    }
}

/// Standard normal distribution function, $\mathrm{out}_i = \Phi(x_i)$.
///
/// # Arguments
/// * `x` - any numbers, shape `[n]`
/// * `out` - overwritten, shape `[n]`
/// # Numerics
/// At most 3 ulp in both tails: $x^2/2$ is kept to twice the working precision.
/// # Panics
/// If the lengths differ.
/// # Examples
/// ```
/// let mut out = [0.0; 2];
/// quadrat::special::normal_cdf_into(&[0.0, -10.0], &mut out);
/// assert_eq!(out[0], 0.5);
/// assert!((out[1] / 7.619_853_024_160_527e-24 - 1.0).abs() < 1e-15);
/// ```
pub fn normal_cdf_into(x: &[f64], out: &mut [f64]) {
    map_into::<NormalCdf>(x, out);
}

/// Standard normal density, $\mathrm{out}_i = e^{-x_i^2/2} / \sqrt{2\pi}$.
///
/// # Arguments
/// * `x` - any numbers, shape `[n]`
/// * `out` - overwritten, shape `[n]`
/// # Numerics
/// At most 2 ulp: $x^2/2$ is kept to twice the working precision.
/// # Panics
/// If the lengths differ.
pub fn normal_pdf_into(x: &[f64], out: &mut [f64]) {
    map_into::<NormalPdf>(x, out);
}
