//! Matern kernel of smoothness 1/2.

use pulp::Simd;

use super::profile::{Profile, exponent};
use crate::special::exp_simd;

/// Matern with `nu = 1/2` (exponential), `kappa(z) = exp(-z)`: continuous, nowhere differentiable.
///
/// # Source
/// Rasmussen and Williams 2006, eq. 4.14 with `nu = 1/2`; antiderivatives by parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matern12;

impl Profile for Matern12 {
    const HALF_AREA: f64 = 1.0;

    #[inline(always)]
    fn value<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let z = exponent(s, z);
        let e = exp_simd(s, s.neg_f64s(z));
        (e, s.mul_f64s(z, e))
    }

    #[inline(always)]
    fn integral<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let one = s.splat_f64s(1.0);
        let z = exponent(s, z);
        let e = exp_simd(s, s.neg_f64s(z));
        (
            s.sub_f64s(one, e),
            s.sub_f64s(one, s.mul_f64s(s.add_f64s(one, z), e)),
        )
    }

    #[inline(always)]
    fn tail<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let z = exponent(s, z);
        let e = exp_simd(s, s.neg_f64s(z));
        (e, s.mul_f64s(s.add_f64s(s.splat_f64s(2.0), z), e))
    }

    #[inline(always)]
    fn radial<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
        let r = s.sqrt_f64s(r2);
        let e = exp_simd(s, s.neg_f64s(r));
        // At r = 0 the slope is multiplied by a difference of exactly zero: keep it finite.
        (e, s.div_f64s(e, s.max_f64s(r, s.splat_f64s(1e-150))))
    }
}
