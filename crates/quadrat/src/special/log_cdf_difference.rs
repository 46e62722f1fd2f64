//! Logarithm of the standard normal probability of an interval.

use std::f64::consts::FRAC_1_SQRT_2;

use pulp::Simd;

use super::erfcx::erfcx_parts;
use super::exp::exp_bounded_simd;
use super::lanes::{Binary, any, at_most, map_binary_into, polynomial};
use super::log::{log_one_minus, log_simd};
use super::normal::upper_tail;

/// ln sqrt(2 pi).
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;
/// Positive nodes and weights of the 8-point Gauss-Legendre rule; these weights sum to 1.
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_27),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];
/// Taylor coefficients of cosh(y) in y^2; the next term is below 1e-19 for |y| <= 1/4.
const COSH: [f64; 7] = [
    1.0,
    1.0 / 2.0,
    1.0 / 24.0,
    1.0 / 720.0,
    1.0 / 40_320.0,
    1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
];

/// $\log(\Phi(b) - \Phi(a))$ in each lane: -inf where a = b, NaN where a > b.
///
/// The interval is mirrored so that |a| <= b. With D = (b^2 - a^2)/2 it is then
/// * around 0: ln(1 - tail(-a) - tail(b));
/// * to one side of 0: -a^2/2 + ln((erfcx(a/sqrt 2) - e^(-D) erfcx(b/sqrt 2))/2);
/// * narrow, where both would cancel: the density at the middle times the width times a mean by
///   quadrature.
#[inline(always)]
pub(crate) fn log_cdf_difference_simd<S: Simd>(s: S, a: S::f64s, b: S::f64s) -> S::f64s {
    let (zero, half) = (s.splat_f64s(0.0), s.splat_f64s(0.5));
    let mirror = s.greater_than_f64s(s.abs_f64s(a), s.abs_f64s(b));
    let start = s.select_f64s(mirror, s.neg_f64s(b), a);
    let end = s.select_f64s(mirror, s.neg_f64s(a), b);
    let (near, far) = (s.abs_f64s(start), s.abs_f64s(end));
    let around_zero = s.less_than_or_equal_f64s(start, zero);
    let width = s.sub_f64s(end, start);
    let middle = s.mul_add_f64s(end, half, s.mul_f64s(start, half));
    let gap = s.mul_f64s(width, middle);

    let root = s.splat_f64s(FRAC_1_SQRT_2);
    let scaled_near = erfcx_parts(s, s.mul_f64s(near, root));
    let scaled_far = erfcx_parts(s, s.mul_f64s(far, root));

    // To one side of 0.
    let decay = exp_bounded_simd(s, s.neg_f64s(at_most(s, gap, 800.0)));
    let beyond = s.mul_f64s(decay, s.add_f64s(scaled_far.0, scaled_far.1));
    let difference = s.add_f64s(s.sub_f64s(scaled_near.0, beyond), scaled_near.1);
    let mut inside = s.mul_f64s(half, difference);
    let mut term = minus_half_square_unbounded(s, near);

    if any(s, around_zero) {
        let tails = s.add_f64s(
            upper_tail(s, near, scaled_near),
            upper_tail(s, far, scaled_far),
        );
        let (rest, rest_term) = log_one_minus(s, tails);
        inside = s.select_f64s(around_zero, rest, inside);
        term = s.select_f64s(around_zero, rest_term, term);
    }

    // The rule is exact to 1e-16 under these bounds, and neither other form loses more than 5 ulp
    // above them.
    let limit = s.select_f64s(around_zero, half, s.splat_f64s(f64::INFINITY));
    let narrow = s.and_m64s(s.less_than_f64s(gap, half), s.less_than_f64s(width, limit));
    if any(s, narrow) {
        let mean = s.mul_f64s(width, mean_of_shape(s, width, gap));
        let peak = s.sub_f64s(
            minus_half_square_unbounded(s, middle),
            s.splat_f64s(LN_SQRT_2PI),
        );
        inside = s.select_f64s(narrow, mean, inside);
        term = s.select_f64s(narrow, peak, term);
    }

    let value = s.add_f64s(log_simd(s, inside), term);
    let empty = s.select_f64s(
        s.equal_f64s(a, b),
        s.splat_f64s(f64::NEG_INFINITY),
        s.splat_f64s(f64::NAN),
    );
    s.select_f64s(s.less_than_f64s(a, b), value, empty)
}

#[inline(always)]
fn minus_half_square_unbounded<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    s.neg_f64s(s.mul_f64s(s.mul_f64s(x, s.splat_f64s(0.5)), x))
}

/// $\frac12 \int_{-1}^1 e^{-w^2 v^2/8} \cosh(D v/2) dv$: mean over an interval of width w of the
/// density over its value at the middle.
#[inline(always)]
fn mean_of_shape<S: Simd>(s: S, width: S::f64s, gap: S::f64s) -> S::f64s {
    let curvature = s.mul_f64s(s.mul_f64s(width, width), s.splat_f64s(-0.125));
    let slope = s.mul_f64s(gap, s.splat_f64s(0.5));
    let slope_square = s.mul_f64s(slope, slope);
    let mut mean = s.splat_f64s(0.0);
    for (node, weight) in NODES {
        let square = s.splat_f64s(node * node);
        let bend = exp_bounded_simd(s, s.mul_f64s(curvature, square));
        let tilt = polynomial(s, s.mul_f64s(slope_square, square), &COSH);
        mean = s.mul_add_f64s(s.mul_f64s(bend, tilt), s.splat_f64s(weight), mean);
    }
    mean
}

pub(super) struct LogCdfDifference;

impl Binary for LogCdfDifference {
    #[inline(always)]
    fn eval<S: Simd>(s: S, a: S::f64s, b: S::f64s) -> S::f64s {
        log_cdf_difference_simd(s, a, b)
    }
}

/// Log-probability that a standard normal falls in an interval,
/// $\mathrm{out}_i = \log(\Phi(b_i) - \Phi(a_i))$.
///
/// # Arguments
/// * `a`, `b` - ends of the intervals, shape `[n]`; either may be infinite. a = b gives -inf, a > b
///   gives NaN
/// * `out` - overwritten, shape `[n]`; nats
/// # Numerics
/// At most 4 ulp, in both tails and for windows of any width.
/// # Source
/// The choice of form is the library's own; erfcx form as in Cossio, TruncatedNormal.jl
/// # Panics
/// If the lengths differ.
/// # Examples
/// ```
/// let mut out = [0.0; 2];
/// quadrat::special::log_cdf_difference_into(&[-1.0, 39.0], &[1.0, 40.0], &mut out);
/// assert!((out[0] + 0.381_715_146_302_126).abs() < 1e-14);
/// assert!((out[1] / -765.083_156_564_377_5 - 1.0).abs() < 1e-15);
/// ```
pub fn log_cdf_difference_into(a: &[f64], b: &[f64], out: &mut [f64]) {
    map_binary_into::<LogCdfDifference>(a, b, out);
}
