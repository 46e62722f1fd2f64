//! The scaled complementary error function.

use std::f64::consts::FRAC_2_SQRT_PI;

use pulp::Simd;

use super::coefficients::{ERFCX, ERFCX_LEAD_LO, ERFCX_SHIFT};
use super::exp::exp_parts;
use super::lanes::{
    Unary, any, at_most, fast_two_sum, map_into, polynomial, polynomial_rest, two_sum,
};

/// Above this erfcx(x) = 1 / (x sqrt(pi)) to the last bit, and products of two arguments could
/// overflow.
const FAR: f64 = 1.0e30;

/// erfcx(x) as `hi + lo` for x >= 0, right up to x = 1e30; beyond that the value at 1e30.
///
/// With c = 57/64 the product (x + c) erfcx(x) is flat at 0 and bounded at infinity; it is a
/// polynomial of degree 24 in t = (x - 4)/(x + 4), which maps [0, inf) onto [-1, 1). One division
/// serves t and the quotient (the idea of Shepherd & Laframboise 1981, Math. Comp. 36, 249).
#[inline(always)]
pub(super) fn erfcx_parts<S: Simd>(s: S, x: S::f64s) -> (S::f64s, S::f64s) {
    let four = s.splat_f64s(4.0);
    let x = at_most(s, x, FAR);
    let (shifted, shifted_lo) = two_sum(s, x, s.splat_f64s(ERFCX_SHIFT));
    let sum = s.add_f64s(x, four);
    let difference = s.sub_f64s(x, four);
    let inverse = s.div_f64s(s.splat_f64s(1.0), s.mul_f64s(sum, shifted));
    let inverse_sum = s.mul_f64s(inverse, shifted);
    let inverse_shifted = s.mul_f64s(inverse, sum);

    let t = s.mul_f64s(difference, inverse_sum);
    let t = s.mul_add_f64s(s.negate_mul_add_f64s(t, sum, difference), inverse_sum, t);
    let varying = s.mul_f64s(t, polynomial_rest(s, t, &ERFCX));
    let (p, p_lo) = fast_two_sum(s, s.splat_f64s(ERFCX[0]), varying);
    let p_lo = s.add_f64s(p_lo, s.splat_f64s(ERFCX_LEAD_LO));

    let hi = s.mul_f64s(p, inverse_shifted);
    let residual = s.add_f64s(s.negate_mul_add_f64s(hi, shifted, p), p_lo);
    let residual = s.negate_mul_add_f64s(hi, shifted_lo, residual);
    (hi, s.mul_f64s(residual, inverse_shifted))
}

/// Replaces the value where x > `FAR`.
#[inline(always)]
fn with_far<S: Simd>(s: S, x: S::f64s, value: S::f64s) -> S::f64s {
    let far = s.greater_than_f64s(x, s.splat_f64s(FAR));
    if any(s, far) {
        s.select_f64s(
            far,
            s.div_f64s(s.splat_f64s(FRAC_2_SQRT_PI / 2.0), x),
            value,
        )
    } else {
        value
    }
}

/// $e^{x^2} \mathrm{erfc}(x)$ in each lane for x >= 0; garbage for x < 0. The cheap one for
/// distances.
#[inline(always)]
pub(crate) fn erfcx_positive_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    let (hi, lo) = erfcx_parts(s, x);
    with_far(s, x, s.add_f64s(hi, lo))
}

/// $e^{x^2} \mathrm{erfc}(x)$ in each lane for 0 <= x < 1e150, to some 4 ulp: without the
/// compensation of [`erfcx_parts`], for loops that add the result to something larger.
#[inline(always)]
pub(crate) fn erfcx_short_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    let shifted = s.add_f64s(x, s.splat_f64s(ERFCX_SHIFT));
    let sum = s.add_f64s(x, s.splat_f64s(4.0));
    let difference = s.sub_f64s(x, s.splat_f64s(4.0));
    let inverse = s.div_f64s(s.splat_f64s(1.0), s.mul_f64s(sum, shifted));
    let t = s.mul_f64s(difference, s.mul_f64s(inverse, shifted));
    s.mul_f64s(polynomial(s, t, &ERFCX), s.mul_f64s(inverse, sum))
}

/// $e^{x^2} \mathrm{erfc}(x)$ in each lane, any `x`; infinite below -26.6.
#[inline(always)]
pub(crate) fn erfcx_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    let negative = s.less_than_f64s(x, s.splat_f64s(0.0));
    if !any(s, negative) {
        return erfcx_positive_simd(s, x);
    }
    let size = s.abs_f64s(x);
    let (hi, lo) = erfcx_parts(s, size);
    let positive = with_far(s, size, s.add_f64s(hi, lo));

    // 2 e^(x^2) - erfcx(-x), summed before rounding: both are near 1 for small x.
    let bounded = at_most(s, size, 27.0);
    let square = s.mul_f64s(bounded, bounded);
    let square_lo = s.mul_add_f64s(bounded, bounded, s.neg_f64s(square));
    let e = exp_parts(s, square, square_lo);
    let double = s.add_f64s(e.scale, e.scale);
    let leading = s.mul_f64s(s.mul_f64s(e.hi, double), e.scale);
    let trailing = s.mul_f64s(s.mul_f64s(e.lo, double), e.scale);
    let reflected = s.add_f64s(s.sub_f64s(leading, hi), s.sub_f64s(trailing, lo));
    s.select_f64s(negative, reflected, positive)
}

pub(super) struct Erfcx;

impl Unary for Erfcx {
    #[inline(always)]
    fn eval<S: Simd>(s: S, x: S::f64s) -> S::f64s {
        erfcx_simd(s, x)
    }
}

/// Scaled complementary error function of every element, $\mathrm{out}_i = e^{x_i^2}
/// \mathrm{erfc}(x_i)$.
///
/// # Arguments
/// * `x` - any numbers, shape `[n]`; the result overflows to infinity below -26.6
/// * `out` - overwritten, shape `[n]`
/// # Numerics
/// At most 2 ulp; no underflow, $1/(x\sqrt\pi)$ for large `x`.
/// # Source
/// NIST Digital Library of Mathematical Functions, 7.2.2; own minimax polynomial
/// # Panics
/// If the lengths differ.
/// # Examples
/// ```
/// let mut out = [0.0; 2];
/// quadrat::special::erfcx_into(&[0.0, 1.0], &mut out);
/// assert_eq!(out[0], 1.0);
/// assert!((out[1] - 0.427_583_576_155_807).abs() < 1e-15);
/// ```
pub fn erfcx_into(x: &[f64], out: &mut [f64]) {
    map_into::<Erfcx>(x, out);
}
