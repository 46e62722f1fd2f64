//! Planar potentials: what turns the integral of a kernel over an area into one over its boundary.

use pulp::Simd;

use super::potential_coefficients as fits;
use super::{Matern12, Matern32, Matern52, Profile, Se};
use crate::special::{exp_simd, log_simd, polynomial};

/// A [`Profile`] whose kernel `k(r) = kappa(r)` integrates over planar regions by their edges.
///
/// Distances are scaled, `r^2 = sum_d ((x_d - x'_d) / lengthscale_d)^2`. With
/// `-laplacian H = k` and `g(r) = r^-2 integral_0^r rho k(rho) d rho = -H'(r) / r`, the divergence
/// theorem gives, for outward normals `n`,
///
/// * `integral_A integral_B k = integral_dA integral_dB (n . n') H(|x - y|) ds ds'`,
/// * `integral_A k(|x - y|) dx = integral_dA g(|x - y|) (x - y) . n ds`.
///
/// | kernel | `H(r)` |
/// |---|---|
/// | Se | `-Ein(r^2 / 2) / 2` |
/// | Matern12 | `-(Ein(z) + e^-z - 1)`, `z = r` |
/// | Matern32 | `-(3 Ein(z) + (4 + z) e^-z - 4) / 3`, `z = sqrt(3) r` |
/// | Matern52 | `-(5 Ein(z) + (23/3 + 8z/3 + z^2/3) e^-z - 23/3) / 5`, `z = sqrt(5) r` |
///
/// with `Ein(x) = integral_0^x (1 - e^-t) / t dt = E1(x) + ln x + gamma`. All kernels here have the
/// integral `2 pi` over the plane, so that `H` tends to `c - ln r`, the potential of a point of
/// that mass. What is left of it, `S(r) = H(r) + ln r - c`, has a short range; with `s(r) = r^-2
/// integral_0^r rho S(rho) d rho` it is integrated over polygons by their edges in turn.
///
/// # Numerics
/// Absolute error below 1e-15 for `r < 3`, relative error below 1e-14 everywhere; minimax
/// polynomials near zero, where the closed forms cancel.
pub trait Potential: Profile {
    /// `m` of the leading odd term `r^m` of `kappa` at zero, and the size of its coefficient;
    /// `None` when `kappa` is analytic in `r^2`.
    const KINK: Option<(i32, f64)>;
    /// `beta` with `|d^(2n) H / ds^(2n)| <= growth(n) beta^(2n)` along any line that stays clear
    /// of the kink.
    const RATE: f64;
    /// Longest stretch, in lengthscales, on which twelve Gauss-Legendre nodes are right to
    /// rounding.
    const STRETCH: f64;
    /// `-integral_0^inf rho S(rho) d rho`, the limit of `-r^2 s(r)`: a quarter of `integral rho^3
    /// k`.
    const REST: f64;

    /// Distance in lengthscales beyond which the kernel is below 1e-17 of its variance.
    fn reach() -> f64 {
        match Self::KINK {
            None => 9.2,
            Some(_) => 46.0 / Self::RATE,
        }
    }

    /// `(H, g)` from the squared distance.
    fn potential<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s);

    /// `(g, 2 g - k)` from the squared distance; the second is `-r g'(r)`.
    fn flux<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s);

    /// `(S, 2 s - S)` from the squared distance; the second over `r^2` is
    /// `r^-4 integral_0^r rho^3 (g - rho^-2) d rho`.
    fn short<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s);
}

/// Euler's constant.
const GAMMA: f64 = 0.577_215_664_901_532_9;

/// `(E1(x), e^-x)` for `x >= EDGE`.
#[inline(always)]
fn e1_far<S: Simd>(s: S, x: S::f64s) -> (S::f64s, S::f64s) {
    let edge = s.splat_f64s(fits::EDGE);
    let x = s.max_f64s(x, edge);
    let e = exp_simd(s, s.neg_f64s(x));
    let inverse = s.div_f64s(s.splat_f64s(1.0), x);
    let scaled = polynomial(s, s.mul_f64s(edge, inverse), &fits::E1_SCALED);
    (s.mul_f64s(s.mul_f64s(e, inverse), scaled), e)
}

/// `(Ein(x), e^-x)` for `x >= EDGE`.
#[inline(always)]
fn ein_far<S: Simd>(s: S, x: S::f64s) -> (S::f64s, S::f64s) {
    let (e1, e) = e1_far(s, x);
    (
        s.add_f64s(e1, ln_gamma(s, s.max_f64s(x, s.splat_f64s(fits::EDGE)))),
        e,
    )
}

/// `ln x + gamma`, a number at zero too.
#[inline(always)]
fn ln_gamma<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    let x = s.max_f64s(x, s.splat_f64s(f64::MIN_POSITIVE));
    s.add_f64s(log_simd(s, x), s.splat_f64s(GAMMA))
}

impl Potential for Se {
    const KINK: Option<(i32, f64)> = None;
    const RATE: f64 = 1.0;
    const STRETCH: f64 = 2.5;
    const REST: f64 = 0.5;

    #[inline(always)]
    fn potential<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
        let x = s.mul_f64s(r2, s.splat_f64s(0.5));
        let edge = s.splat_f64s(fits::EDGE);
        let is_near = s.less_than_f64s(x, edge);
        let near = s.min_f64s(x, edge);
        let (ein, e) = ein_far(s, x);
        let far = s.mul_f64s(ein, s.splat_f64s(-0.5));
        let h = s.mul_f64s(near, polynomial(s, near, &fits::SE_POTENTIAL));
        let g_far = s.div_f64s(
            s.sub_f64s(s.splat_f64s(0.5), s.mul_f64s(e, s.splat_f64s(0.5))),
            s.max_f64s(x, edge),
        );
        let g = polynomial(s, near, &fits::SE_FLUX);
        (
            s.select_f64s(is_near, h, far),
            s.select_f64s(is_near, g, g_far),
        )
    }

    #[inline(always)]
    fn flux<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
        let x = s.mul_f64s(r2, s.splat_f64s(0.5));
        let edge = s.splat_f64s(fits::EDGE);
        let is_near = s.less_than_f64s(x, edge);
        let near = s.min_f64s(x, edge);
        let e = exp_simd(s, s.neg_f64s(x));
        let g_far = s.div_f64s(
            s.sub_f64s(s.splat_f64s(0.5), s.mul_f64s(e, s.splat_f64s(0.5))),
            s.max_f64s(x, edge),
        );
        let g = s.select_f64s(is_near, polynomial(s, near, &fits::SE_FLUX), g_far);
        (g, s.sub_f64s(s.add_f64s(g, g), e))
    }

    #[inline(always)]
    fn short<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
        // S = -E1(x) / 2, 2 s - S = -g.
        let x = s.mul_f64s(r2, s.splat_f64s(0.5));
        let edge = s.splat_f64s(fits::EDGE);
        let near = s.min_f64s(x, edge);
        let h = s.mul_f64s(near, polynomial(s, near, &fits::SE_POTENTIAL));
        let half = s.splat_f64s(0.5);
        let inside = s.mul_add_f64s(half, ln_gamma(s, near), h);
        let outside = s.mul_f64s(s.splat_f64s(-0.5), e1_far(s, x).0);
        let (g, _) = Self::flux(s, r2);
        let is_near = s.less_than_f64s(x, edge);
        (s.select_f64s(is_near, inside, outside), s.neg_f64s(g))
    }
}

/// The parts in which the Matern kernels differ: `c = sqrt(2 nu)`; `H = -(Ein + p(z) e^-z - p(0))`
/// and `g = (2 nu - q(z) e^-z) / z^2` far out, with polynomials `p`, `q`.
macro_rules! matern {
    ($name:ident, $kink:expr, $rate:expr, $two_nu:expr, $p:expr, $q:expr, $potential:ident, $flux:ident) => {
        impl Potential for $name {
            const KINK: Option<(i32, f64)> = Some($kink);
            const RATE: f64 = $rate;
            const STRETCH: f64 = 8.0 / $rate;
            const REST: f64 = 0.5 + 1.0 / $two_nu;

            #[inline(always)]
            fn potential<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
                let z2 = s.mul_f64s(r2, s.splat_f64s($two_nu));
                let z = s.sqrt_f64s(z2);
                let edge = s.splat_f64s(fits::EDGE);
                let is_near = s.less_than_f64s(z, edge);
                let near = s.min_f64s(z, edge);
                let (ein, e) = ein_far(s, z);
                let p = horner(s, z, &$p);
                let rest = s.sub_f64s(s.splat_f64s($p[0]), s.mul_f64s(p, e));
                let far = s.sub_f64s(rest, ein);
                let h = s.mul_f64s(
                    s.mul_f64s(near, near),
                    polynomial(s, near, &fits::$potential),
                );
                let g_far = flux_far(s, z, e, $two_nu, &$q);
                let g = polynomial(s, near, &fits::$flux);
                (
                    s.select_f64s(is_near, h, far),
                    s.select_f64s(is_near, g, g_far),
                )
            }

            #[inline(always)]
            fn flux<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
                let z = s.sqrt_f64s(s.mul_f64s(r2, s.splat_f64s($two_nu)));
                let edge = s.splat_f64s(fits::EDGE);
                let is_near = s.less_than_f64s(z, edge);
                let near = s.min_f64s(z, edge);
                let e = exp_simd(s, s.neg_f64s(z));
                let g = s.select_f64s(
                    is_near,
                    polynomial(s, near, &fits::$flux),
                    flux_far(s, z, e, $two_nu, &$q),
                );
                let k = Self::radial(s, r2).0;
                (g, s.sub_f64s(s.add_f64s(g, g), k))
            }

            #[inline(always)]
            fn short<S: Simd>(s: S, r2: S::f64s) -> (S::f64s, S::f64s) {
                // S = -(E1 + p e^-z), 2 s - S = (k - (2 nu + 2) g) / (2 nu) = -((2 g - k) / 2 nu +
                // g).
                let z = s.sqrt_f64s(s.mul_f64s(r2, s.splat_f64s($two_nu)));
                let edge = s.splat_f64s(fits::EDGE);
                let near = s.min_f64s(z, edge);
                let h = s.mul_f64s(
                    s.mul_f64s(near, near),
                    polynomial(s, near, &fits::$potential),
                );
                let rest = s.sub_f64s(ln_gamma(s, near), s.splat_f64s($p[0]));
                let inside = s.add_f64s(h, rest);
                let (e1, e) = e1_far(s, z);
                let outside = s.neg_f64s(s.mul_add_f64s(horner(s, z, &$p), e, e1));
                let (g, fall) = Self::flux(s, r2);
                let second = s.mul_add_f64s(fall, s.splat_f64s(1.0 / $two_nu), g);
                let is_near = s.less_than_f64s(z, edge);
                (s.select_f64s(is_near, inside, outside), s.neg_f64s(second))
            }
        }
    };
}

#[inline(always)]
fn flux_far<S: Simd, const N: usize>(
    s: S,
    z: S::f64s,
    e: S::f64s,
    two_nu: f64,
    q: &[f64; N],
) -> S::f64s {
    let z = s.max_f64s(z, s.splat_f64s(fits::EDGE));
    let top = s.sub_f64s(s.splat_f64s(two_nu), s.mul_f64s(horner(s, z, q), e));
    s.div_f64s(top, s.mul_f64s(z, z))
}

/// A short polynomial with ascending coefficients.
#[inline(always)]
fn horner<S: Simd, const N: usize>(s: S, x: S::f64s, c: &[f64; N]) -> S::f64s {
    let mut sum = s.splat_f64s(c[N - 1]);
    for k in (0..N - 1).rev() {
        sum = s.mul_add_f64s(sum, x, s.splat_f64s(c[k]));
    }
    sum
}

const THIRD: f64 = 1.0 / 3.0;

matern!(
    Matern12,
    (1, 1.0),
    1.0,
    1.0,
    [1.0],
    [1.0, 1.0],
    MATERN12_POTENTIAL,
    MATERN12_FLUX
);
matern!(
    Matern32,
    (3, 1.732_050_807_568_877_2),
    1.732_050_807_568_877_2,
    3.0,
    [4.0 * THIRD, THIRD],
    [3.0, 3.0, 1.0],
    MATERN32_POTENTIAL,
    MATERN32_FLUX
);
matern!(
    Matern52,
    (5, 1.242_259_987_499_883),
    2.236_067_977_499_79,
    5.0,
    [23.0 / 15.0, 8.0 / 15.0, 1.0 / 15.0],
    [5.0, 5.0, 2.0, THIRD],
    MATERN52_POTENTIAL,
    MATERN52_FLUX
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::gauss_legendre;
    use pulp::{Arch, WithSimd};

    struct At<P>(f64, std::marker::PhantomData<P>);
    impl<P: Potential> WithSimd for At<P> {
        /// `H, g, g, 2g - k, k, S, 2s - S`
        type Output = [f64; 7];
        #[inline(always)]
        fn with_simd<S: Simd>(self, s: S) -> [f64; 7] {
            let first = |v: S::f64s| pulp::bytemuck::cast_slice::<S::f64s, f64>(&[v])[0];
            let r2 = s.splat_f64s(self.0 * self.0);
            let ((h, g), (g2, d)) = (P::potential(s, r2), P::flux(s, r2));
            let (short, second) = P::short(s, r2);
            [h, g, g2, d, P::radial(s, r2).0, short, second].map(first)
        }
    }

    fn at<P: Potential>(r: f64) -> [f64; 7] {
        Arch::new().dispatch(At::<P>(r, std::marker::PhantomData))
    }

    /// `g` and `H` by quadrature of their definitions.
    fn check<P: Potential>() {
        let rule = gauss_legendre(40);
        for r in [
            1e-6, 1e-3, 0.1, 0.7, 1.5, 1.9, 2.2, 2.9, 4.0, 6.5, 12.0, 40.0,
        ] {
            let panels = f64::ceil(2.0 * r) as usize;
            let pieces = |f: &dyn Fn(f64) -> f64| -> f64 {
                (0..panels)
                    .flat_map(|p| {
                        let step = r / panels as f64;
                        rule.on(p as f64 * step, (p + 1) as f64 * step)
                            .map(|(x, w)| w * f(x))
                            .collect::<Vec<_>>()
                    })
                    .sum()
            };
            let [h, g, g2, d, k, short, second] = at::<P>(r);
            let flux = pieces(&|rho| rho * at::<P>(rho)[4]) / (r * r);
            // Rounding of the weighted sum of 40 nodes and more, some 90 eps; the rule itself is
            // exact.
            assert!((g - flux).abs() < 2e-14 * flux, "g({r}): {g} {flux}");
            assert_eq!(g, g2);
            // Rounding of three numbers of order one.
            assert!((d - (2.0 * flux - k)).abs() < 1e-14, "{r}");
            // H' = -r g.
            let potential = pieces(&|rho| -rho * at::<P>(rho)[1]);
            let error = (h - potential).abs();
            assert!(error < 2e-14 * potential.abs(), "H({r}): {h} {potential}");
            // S = H + ln r and a constant, nothing at the end of the reach.
            let far = P::reach();
            let constant = at::<P>(far)[0] + far.ln();
            let want = h + r.ln() - constant;
            assert!((short - want).abs() < 4e-14, "S({r}): {short} {want}");
            // r^2 (2 s - S) = integral rho^3 (g - rho^-2), whose second part is -r^2 / 2.
            let cube = pieces(&|rho| rho.powi(3) * at::<P>(rho)[1]) / (r * r) - 0.5;
            assert!((second - cube).abs() < 1e-14, "{r}: {second} {cube}");
        }
        let far = 0.5 * (at::<P>(30.0)[5] + at::<P>(30.0)[6]) * 900.0;
        assert!((far / -P::REST - 1.0).abs() < 1e-10, "{far}");
        // The kink: what is left of k after its even terms.
        if let Some((m, c)) = P::KINK {
            let r = 5e-3;
            let odd = odd_part::<P>(r, m);
            assert!((odd / (c * r.powi(m)) - 1.0).abs() < 0.1, "{odd}");
        }
    }

    /// `k(r)` minus a fit of its even terms below `r^m`, to leading order.
    fn odd_part<P: Potential>(r: f64, m: i32) -> f64 {
        // A polynomial through k(r j), j = 0..=m, has the coefficient of r^m as its difference.
        let mut difference = 0.0;
        let mut binomial = 1.0;
        for j in 0..=m {
            let sign = if (m - j) % 2 == 0 { 1.0 } else { -1.0 };
            difference += sign * binomial * at::<P>(r * f64::from(j))[4];
            binomial *= f64::from(m - j) / f64::from(j + 1);
        }
        let factorial: f64 = (1..=m).map(f64::from).product();
        (difference / factorial).abs()
    }

    #[test]
    fn potentials_solve_their_equations() {
        check::<Se>();
        check::<Matern12>();
        check::<Matern32>();
        check::<Matern52>();
    }
}
