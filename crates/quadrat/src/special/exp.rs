//! The exponential function.

use pulp::Simd;

use super::coefficients::{EXP, EXP_SHORT, INV_LN4, LN4_HI, LN4_LO, STEP_HI, STEP_LO};
use super::exp_table::{root_of_two, sixteenths, times_power};
use super::lanes::{
    Unary, at_least, at_most, fast_two_sum, into_exponent, map_in_place, map_into, polynomial,
};

/// 1.5 * 2^52 + 1023: added to a small number it rounds it to an integer and leaves that integer,
/// with the exponent bias, in the low bits.
const MAGIC: f64 = 6_755_399_441_056_767.0;

/// $e^x$ as `(hi + lo) * scale * scale`; `hi` is in [0.3, 1.7] and `hi + lo` in [0.5, 2].
pub(super) struct ExpParts<V> {
    pub(super) hi: V,
    pub(super) lo: V,
    pub(super) scale: V,
}

/// $e^x$ in each lane, for -1400 < x < 1400: outside that range the result is garbage, NaN gives
/// NaN.
///
/// $e^x = 2^{k / 16} e^r$ with |r| <= ln 2 / 32: the sixteen roots come from a table, and a short
/// polynomial serves the rest.
#[inline(always)]
pub(super) fn exp_bounded_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    let (shifted, k) = sixteenths(s, x);
    let r = s.negate_mul_add_f64s(k, s.splat_f64s(STEP_HI), x);
    let r = s.negate_mul_add_f64s(k, s.splat_f64s(STEP_LO), r);
    let q = s.mul_add_f64s(s.mul_f64s(r, r), polynomial(s, r, &EXP_SHORT), r);
    let root = root_of_two(s, shifted);
    times_power(s, s.mul_add_f64s(root, q, root), shifted, k)
}

/// $e^{h+l}$ for |l| <= ulp(h) and |h| < 1400, with some 60 correct bits.
///
/// Reduces by multiples of ln 4: h = k ln 4 + r, |r| <= ln 2; powers of 4 and not of 2, because 2^k
/// is then a normal number even where its square is subnormal or infinite.
#[inline(always)]
pub(super) fn exp_parts<S: Simd>(s: S, h: S::f64s, l: S::f64s) -> ExpParts<S::f64s> {
    let magic = s.splat_f64s(MAGIC);
    let shifted = s.mul_add_f64s(h, s.splat_f64s(INV_LN4), magic);
    let scale = s.transmute_f64s_u64s(into_exponent::<S>(s.transmute_u64s_f64s(shifted)));
    let k = s.sub_f64s(shifted, magic);
    let r = s.negate_mul_add_f64s(k, s.splat_f64s(LN4_HI), h);
    let small = s.negate_mul_add_f64s(k, s.splat_f64s(LN4_LO), l);
    let (r, r_lo) = fast_two_sum(s, r, small);
    let (hi, lo) = fast_two_sum(s, s.splat_f64s(1.0), r);
    let lo = s.mul_add_f64s(r_lo, hi, lo);
    let lo = s.mul_add_f64s(s.mul_f64s(r, r), polynomial(s, r, &EXP), lo);
    ExpParts { hi, lo, scale }
}

/// $e^x$ in each lane, any `x`; at most 1.2 ulp from the exact value.
#[inline(always)]
pub(crate) fn exp_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    // Beyond these the result is 0 or infinity by itself.
    exp_bounded_simd(s, at_most(s, at_least(s, x, -750.0), 712.0))
}

pub(super) struct Exp;

impl Unary for Exp {
    #[inline(always)]
    fn eval<S: Simd>(s: S, x: S::f64s) -> S::f64s {
        exp_simd(s, x)
    }
}

/// Replaces every element by its exponential, $x_i \leftarrow e^{x_i}$.
///
/// # Arguments
/// * `x` - any numbers; NaN stays NaN
/// # Numerics
/// At most 2 ulp, subnormal results included; about 1 ns per element with AVX2.
/// # Source
/// Tang 1989, "Table-driven implementation of the exponential function", for the method; own
/// minimax polynomial
/// # Examples
/// ```
/// let mut x = [0.0, 1.0, f64::NEG_INFINITY];
/// quadrat::special::exp(&mut x);
/// assert_eq!(x, [1.0, std::f64::consts::E, 0.0]);
/// ```
pub fn exp(x: &mut [f64]) {
    map_in_place::<Exp>(x);
}

/// Exponential of every element, $\mathrm{out}_i = e^{x_i}$.
///
/// # Arguments
/// * `x` - any numbers, shape `[n]`
/// * `out` - overwritten, shape `[n]`
/// # Numerics
/// As [`exp`].
/// # Panics
/// If the lengths differ.
pub fn exp_into(x: &[f64], out: &mut [f64]) {
    map_into::<Exp>(x, out);
}
