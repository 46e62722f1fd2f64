//! Squared exponential kernel.

use pulp::Simd;

use super::profile::Profile;
use crate::special::{at_most, erf_simd, erfcx_short_simd, exp_simd};

/// Squared exponential, `kappa(z) = exp(-z^2 / 2)`: infinitely smooth.
///
/// Its product over dimensions is isotropic, so boxes integrate in closed form in any dimension.
///
/// # Source
/// Smith, Alvarez and Lawrence, *Gaussian process regression for binned data*, eqs. 1-3, in the
/// convention `exp(-r^2 / (2 l^2))`; their eqs. 4 and 5 (derivatives) are misprinted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Se;

/// Where `exp(-z^2 / 2)` and its products with powers of `z` are zero in double precision.
const FAR: f64 = 40.0;

/// The argument, cut where nothing is left: squares of larger ones would be infinite, and infinity
/// times zero is not a number.
#[inline(always)]
fn near<S: Simd>(s: S, z: S::f64s) -> S::f64s {
    at_most(s, z, FAR)
}

/// `sqrt(pi / 2)`.
const ROOT_HALF_PI: f64 = 1.253_314_137_315_500_3;

impl Profile for Se {
    const HALF_AREA: f64 = ROOT_HALF_PI;
    const SMOOTH: bool = true;

    #[inline(always)]
    fn value<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let z = near(s, z);
        let z2 = s.mul_f64s(z, z);
        let e = exp_simd(s, s.mul_f64s(z2, s.splat_f64s(-0.5)));
        (e, s.mul_f64s(z2, e))
    }

    #[inline(always)]
    fn integral<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let z = near(s, z);
        let scaled = s.mul_f64s(z, s.splat_f64s(std::f64::consts::FRAC_1_SQRT_2));
        let k1 = s.mul_f64s(s.splat_f64s(ROOT_HALF_PI), erf_simd(s, scaled));
        let z2 = s.mul_f64s(z, z);
        let e = exp_simd(s, s.mul_f64s(z2, s.splat_f64s(-0.5)));
        (k1, s.sub_f64s(k1, s.mul_f64s(z, e)))
    }

    #[inline(always)]
    fn tail<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s) {
        let z = near(s, z);
        // c z erfc(z / sqrt 2) = e^(-z^2/2) c z erfcx(z / sqrt 2): one exponential serves both.
        let z2 = s.mul_f64s(z, z);
        let e = exp_simd(s, s.mul_f64s(z2, s.splat_f64s(-0.5)));
        let scaled = s.mul_f64s(z, s.splat_f64s(std::f64::consts::FRAC_1_SQRT_2));
        let q = s.mul_f64s(
            s.mul_f64s(s.splat_f64s(ROOT_HALF_PI), z),
            erfcx_short_simd(s, scaled),
        );
        (
            s.mul_f64s(e, s.sub_f64s(s.splat_f64s(1.0), q)),
            s.mul_f64s(e, s.sub_f64s(s.splat_f64s(2.0), q)),
        )
    }

    #[inline(always)]
    fn radial<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
        let e = exp_simd(s, s.mul_f64s(r2, s.splat_f64s(-0.5)));
        (e, e)
    }
}
