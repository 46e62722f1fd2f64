//! Matern kernel of smoothness 3/2.

use pulp::Simd;

use super::profile::{Profile, exponent};
use crate::special::exp_simd;

/// Matern with `nu = 3/2`, `kappa(z) = (1 + t) exp(-t)`, `t = sqrt(3) z`: once differentiable.
///
/// # Source
/// Rasmussen and Williams 2006, eq. 4.17; antiderivatives by parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matern32;

/// `sqrt(3)`.
const A: f64 = 1.732_050_807_568_877_2;

#[inline(always)]
fn scaled<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
    let t = exponent(s, s.mul_f64s(s.splat_f64s(A), z));
    (t, exp_simd(s, s.neg_f64s(t)))
}

impl Profile for Matern32 {
    const HALF_AREA: f64 = 2.0 / A;

    #[inline(always)]
    fn value<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let (t, e) = scaled(s, z);
        (s.mul_add_f64s(t, e, e), s.mul_f64s(s.mul_f64s(t, t), e))
    }

    #[inline(always)]
    fn integral<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let (t, e) = scaled(s, z);
        let two = s.splat_f64s(2.0);
        let inv = s.splat_f64s(1.0 / A);
        let p = s.add_f64s(two, t);
        let p2 = s.mul_add_f64s(t, p, two); // t^2 + 2t + 2
        (
            s.mul_f64s(inv, s.sub_f64s(two, s.mul_f64s(p, e))),
            s.mul_f64s(inv, s.sub_f64s(two, s.mul_f64s(p2, e))),
        )
    }

    #[inline(always)]
    fn tail<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let (t, e) = scaled(s, z);
        let e = s.mul_f64s(e, s.splat_f64s(1.0 / 3.0));
        let p2 = s.mul_add_f64s(t, s.add_f64s(t, s.splat_f64s(4.0)), s.splat_f64s(6.0));
        (
            s.mul_f64s(s.add_f64s(s.splat_f64s(3.0), t), e),
            s.mul_f64s(p2, e),
        )
    }

    #[inline(always)]
    fn radial<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
        let (t, e) = scaled(s, s.sqrt_f64s(r2));
        (s.mul_add_f64s(t, e, e), s.mul_f64s(s.splat_f64s(3.0), e))
    }
}
