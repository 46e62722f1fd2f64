//! The natural logarithm of positive numbers, inside other kernels.

use pulp::Simd;

use super::coefficients::{LN2_HI, LN2_LO, LOG};
use super::lanes::{from_exponent, polynomial};

/// Bits of the double next to sqrt(1/2); mantissas are taken in [sqrt(1/2), sqrt(2)).
const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
/// Bits of 1.0.
const ONE: u64 = 0x3FF0_0000_0000_0000;
/// Bits of 2^52.
const TWO_52: u64 = 0x4330_0000_0000_0000;
const MANTISSA: u64 = 0x000F_FFFF_FFFF_FFFF;

/// ln x in each lane for finite x > 0, within 2 ulp. Anything else, NaN included, gives a finite
/// number.
///
/// x = 2^e m, ln m = 2 atanh(s) with s = (m - 1)/(m + 1).
#[inline(always)]
pub(crate) fn log_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    let one = s.splat_f64s(1.0);
    let subnormal = s.less_than_f64s(x, s.splat_f64s(f64::MIN_POSITIVE));
    let x = s.mul_f64s(
        x,
        s.select_f64s(subnormal, s.splat_f64s(2f64.powi(54)), one),
    );
    let bias = s.select_f64s(subnormal, s.splat_f64s(1023.0 + 54.0), s.splat_f64s(1023.0));

    let bits = s.add_u64s(s.transmute_u64s_f64s(x), s.splat_u64s(ONE - SQRT_HALF));
    let exponent = s.or_u64s(from_exponent::<S>(bits), s.splat_u64s(TWO_52));
    let exponent = s.sub_f64s(s.transmute_f64s_u64s(exponent), s.splat_f64s(2f64.powi(52)));
    let exponent = s.sub_f64s(exponent, bias);
    let mantissa = s.add_u64s(
        s.and_u64s(bits, s.splat_u64s(MANTISSA)),
        s.splat_u64s(SQRT_HALF),
    );
    let mantissa = s.transmute_f64s_u64s(mantissa);

    let ratio = s.div_f64s(s.sub_f64s(mantissa, one), s.add_f64s(mantissa, one));
    let square = s.mul_f64s(ratio, ratio);
    let cubic = s.mul_f64s(s.mul_f64s(ratio, square), polynomial(s, square, &LOG));
    let small = s.mul_add_f64s(exponent, s.splat_f64s(LN2_LO), cubic);
    let small = s.add_f64s(s.add_f64s(ratio, ratio), small);
    s.mul_add_f64s(exponent, s.splat_f64s(LN2_HI), small)
}

/// ln(1 - q) in each lane for 0 <= q <= 0.9, as the argument of [`log_simd`] and a term to add to
/// its value.
#[inline(always)]
pub(super) fn log_one_minus<S: Simd>(s: S, q: S::f64s) -> (S::f64s, S::f64s) {
    let one = s.splat_f64s(1.0);
    let rest = s.sub_f64s(one, q);
    // What rounding took from 1 - q, over 1 - q; (1 + q) replaces 1/(1 - q), for it is exact enough
    // where q is small and does not count where q is large.
    let taken = s.sub_f64s(s.sub_f64s(one, rest), q);
    (rest, s.mul_add_f64s(taken, q, taken))
}
