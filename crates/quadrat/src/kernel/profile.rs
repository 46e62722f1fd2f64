//! What a stationary kernel of one dimension must know to be integrated in closed form.

use pulp::Simd;

use crate::special::at_most;

/// A stationary correlation function `kappa(z)`, `z = |x - x'| / lengthscale >= 0`,
/// with `kappa(0) = 1` and closed-form antiderivatives.
///
/// Every function returns a pair: the quantity itself and the same quantity with
/// `kappa` replaced by `kappa_2(z) = -z kappa'(z)`. Since
/// `d/d(lengthscale) kappa(u / lengthscale) = kappa_2(u / lengthscale) / lengthscale`,
/// the second member carries every derivative in the lengthscale: the same functional
/// is applied to it. Callers that need only the first let the compiler drop the second.
///
/// All arguments are SIMD vectors of non-negative numbers; at infinity every function is at its
/// limit.
pub trait Profile: Copy + Send + Sync {
    /// `integral_0^inf kappa(z) dz`, the same for `kappa_2`.
    const HALF_AREA: f64;
    /// Whether `kappa(|u|)` is analytic at `u = 0`.
    const SMOOTH: bool = false;

    /// `(kappa(z), kappa_2(z))`.
    fn value<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s);

    /// `(k1(z), ..)` with `k1(z) = integral_0^z kappa`.
    fn integral<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s);

    /// `(R(z), ..)` where `G(z) = HALF_AREA |z| + R(z)` is a second antiderivative of `kappa`
    /// and `R -> 0` as `z -> inf`.
    fn tail<S: Simd>(s: S, z: S::f64s) -> (S::f64s, S::f64s);

    /// `(kappa(r), -kappa'(r) / r)` from the squared distance `r2`; with several lengthscales
    /// `d kappa / d l_d = -kappa'(r) / r * (x_d - x'_d)^2 / l_d^3`.
    fn radial<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s);
}

/// Scaled distances are taken for no longer than this where they are squared: every profile is at
/// its limit there, and squares are finite.
pub(crate) const FARTHEST: f64 = 1e150;

/// The exponent beyond which `exp(-t)` and its products with powers of `t` are zero in double
/// precision.
const FAR: f64 = 800.0;

/// The exponent of a Matern kernel, cut where nothing is left: a power of a larger one would be
/// infinite, and infinity times zero is not a number.
#[inline(always)]
pub(super) fn exponent<S: Simd>(s: S, t: S::f64s) -> S::f64s {
    at_most(s, t, FAR)
}
