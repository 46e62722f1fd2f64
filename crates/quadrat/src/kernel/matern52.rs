//! Matern kernel of smoothness 5/2.

use pulp::Simd;

use super::profile::{Profile, exponent};
use crate::special::exp_simd;

/// Matern with `nu = 5/2`, `kappa(z) = (1 + t + t^2/3) exp(-t)`, `t = sqrt(5) z`: twice
/// differentiable.
///
/// # Source
/// Rasmussen and Williams 2006, eq. 4.17; antiderivatives by parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matern52;

/// `sqrt(5)`.
const A: f64 = 2.236_067_977_499_79;

#[inline(always)]
fn scaled<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
    let t = exponent(s, s.mul_f64s(s.splat_f64s(A), z));
    (t, exp_simd(s, s.neg_f64s(t)))
}

/// `c[0] + t (c[1] + t (..))`.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(s: S, t: S::f64s, c: [f64; N]) -> S::f64s {
    let mut sum = s.splat_f64s(c[N - 1]);
    for k in (0..N - 1).rev() {
        sum = s.mul_add_f64s(sum, t, s.splat_f64s(c[k]));
    }
    sum
}

impl Profile for Matern52 {
    const HALF_AREA: f64 = 8.0 / (3.0 * A);

    #[inline(always)]
    fn value<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let (t, e) = scaled(s, z);
        let third = s.splat_f64s(1.0 / 3.0);
        let k = s.mul_f64s(polynomial(s, t, [1.0, 1.0, 1.0 / 3.0]), e);
        let t2 = s.mul_f64s(s.mul_f64s(t, t), third);
        (k, s.mul_f64s(s.mul_add_f64s(t2, t, t2), e))
    }

    #[inline(always)]
    fn integral<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let (t, e) = scaled(s, z);
        let eight = s.splat_f64s(8.0);
        let inv = s.splat_f64s(1.0 / (3.0 * A));
        let p = s.mul_f64s(polynomial(s, t, [8.0, 5.0, 1.0]), e);
        let p2 = s.mul_f64s(polynomial(s, t, [8.0, 8.0, 4.0, 1.0]), e);
        (
            s.mul_f64s(inv, s.sub_f64s(eight, p)),
            s.mul_f64s(inv, s.sub_f64s(eight, p2)),
        )
    }

    #[inline(always)]
    fn tail<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let (t, e) = scaled(s, z);
        let e = s.mul_f64s(e, s.splat_f64s(1.0 / 15.0));
        (
            s.mul_f64s(polynomial(s, t, [15.0, 7.0, 1.0]), e),
            s.mul_f64s(polynomial(s, t, [30.0, 22.0, 7.0, 1.0]), e),
        )
    }

    #[inline(always)]
    fn radial<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
        let (t, e) = scaled(s, s.sqrt_f64s(r2));
        let slope = s.mul_f64s(s.splat_f64s(5.0 / 3.0), s.mul_add_f64s(t, e, e));
        (
            s.mul_f64s(polynomial(s, t, [1.0, 1.0, 1.0 / 3.0]), e),
            slope,
        )
    }
}
