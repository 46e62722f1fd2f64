//! The error function.

use pulp::Simd;

use super::coefficients::{ERF_CENTRE, ERF_LEAD_LO, ERF_TAIL};
use super::exp::exp_bounded_simd;
use super::lanes::{Unary, at_most, map_into, polynomial, polynomial_rest};

/// $\mathrm{erf}(x) = \frac{2}{\sqrt\pi} \int_0^x e^{-u^2} du$ in each lane, any `x`.
///
/// For |x| < 1 an odd polynomial, else 1 - e^(-x^2) T(x) with T fitted to absolute accuracy only.
#[inline(always)]
pub(crate) fn erf_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    let one = s.splat_f64s(1.0);
    let size = s.abs_f64s(x);
    let square = s.mul_f64s(size, size);
    let rest = polynomial_rest(s, square, &ERF_CENTRE);
    let rest = s.mul_add_f64s(square, rest, s.splat_f64s(ERF_LEAD_LO));
    let centre = s.mul_add_f64s(size, s.splat_f64s(ERF_CENTRE[0]), s.mul_f64s(size, rest));

    // erf(6) = 1 - 2e-17 rounds to 1.
    let far = at_most(s, size, 6.0);
    let three = s.splat_f64s(3.0);
    let t = s.div_f64s(s.sub_f64s(far, three), s.add_f64s(far, three));
    let decay = exp_bounded_simd(s, s.neg_f64s(s.mul_f64s(far, far)));
    let tail = s.negate_mul_add_f64s(decay, polynomial(s, t, &ERF_TAIL), one);

    let value = s.select_f64s(s.less_than_f64s(size, one), centre, tail);
    s.or_f64s(value, s.and_f64s(x, s.splat_f64s(-0.0)))
}

pub(super) struct Erf;

impl Unary for Erf {
    #[inline(always)]
    fn eval<S: Simd>(s: S, x: S::f64s) -> S::f64s {
        erf_simd(s, x)
    }
}

/// Error function of every element, $\mathrm{out}_i = \frac{2}{\sqrt\pi} \int_0^{x_i} e^{-u^2} du$.
///
/// # Arguments
/// * `x` - any numbers, shape `[n]`
/// * `out` - overwritten, shape `[n]`
/// # Numerics
/// At most 2 ulp; odd to the last bit.
/// # Source
/// NIST Digital Library of Mathematical Functions, 7.2.1; own minimax polynomials
/// # Panics
/// If the lengths differ.
/// # Examples
/// ```
/// let mut out = [0.0; 2];
/// quadrat::special::erf_into(&[0.5, f64::INFINITY], &mut out);
/// assert!((out[0] - 0.520_499_877_813_046_5).abs() < 1e-15);
/// assert_eq!(out[1], 1.0);
/// ```
pub fn erf_into(x: &[f64], out: &mut [f64]) {
    map_into::<Erf>(x, out);
}
