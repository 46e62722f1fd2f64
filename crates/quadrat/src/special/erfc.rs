//! The complementary error function.

use pulp::Simd;

use super::erfcx::erfcx_parts;
use super::exp::exp_parts;
use super::lanes::{Unary, at_most, map_into};

/// $\mathrm{erfc}(x) = 1 - \mathrm{erf}(x)$ in each lane, any `x`, without cancellation.
///
/// e^(-x^2) erfcx(x) for x >= 0, both factors with a low part; 2 - erfc(-x) below.
#[inline(always)]
pub(crate) fn erfc_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    // erfc(28) is below half of the smallest subnormal.
    let size = at_most(s, s.abs_f64s(x), 28.0);
    let square = s.neg_f64s(s.mul_f64s(size, size));
    let square_lo = s.neg_f64s(s.mul_add_f64s(size, size, square));
    let upper = exp_times(s, square, square_lo, erfcx_parts(s, size));
    let negative = s.less_than_f64s(x, s.splat_f64s(0.0));
    s.select_f64s(negative, s.sub_f64s(s.splat_f64s(2.0), upper), upper)
}

/// $e^{h+l} (f + f_{lo})$ for |h| < 1400, |l| <= ulp(h) and |f_lo| of the order of ulp(f); rounded
/// once.
#[inline(always)]
pub(super) fn exp_times<S: Simd>(
    s: S,
    h: S::f64s,
    l: S::f64s,
    (f, f_lo): (S::f64s, S::f64s),
) -> S::f64s {
    let e = exp_parts(s, h, l);
    let product = s.mul_f64s(e.hi, f);
    let rounding = s.mul_add_f64s(e.hi, f, s.neg_f64s(product));
    let cross = s.mul_add_f64s(
        e.hi,
        f_lo,
        s.mul_add_f64s(e.lo, s.add_f64s(f, f_lo), rounding),
    );
    let product = s.add_f64s(product, cross);
    s.mul_f64s(s.mul_f64s(product, e.scale), e.scale)
}

pub(super) struct Erfc;

impl Unary for Erfc {
    #[inline(always)]
    fn eval<S: Simd>(s: S, x: S::f64s) -> S::f64s {
        erfc_simd(s, x)
    }
}

/// Complementary error function of every element, $\mathrm{out}_i = \frac{2}{\sqrt\pi}
/// \int_{x_i}^\infty e^{-u^2} du$.
///
/// # Arguments
/// * `x` - any numbers, shape `[n]`
/// * `out` - overwritten, shape `[n]`
/// # Numerics
/// At most 2 ulp for every `x`, down to the subnormal results near x = 27.
/// # Source
/// NIST Digital Library of Mathematical Functions, 7.2.2
/// # Panics
/// If the lengths differ.
/// # Examples
/// ```
/// let mut out = [0.0; 2];
/// quadrat::special::erfc_into(&[0.0, 10.0], &mut out);
/// assert_eq!(out[0], 1.0);
/// assert!((out[1] / 2.088_487_583_762_545e-45 - 1.0).abs() < 1e-15);
/// ```
pub fn erfc_into(x: &[f64], out: &mut [f64]) {
    map_into::<Erfc>(x, out);
}
