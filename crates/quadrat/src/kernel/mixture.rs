//! Isotropic kernels as mixtures of squared exponentials.
//!
//! Matern and rational quadratic kernels are averages of squared exponentials over a gamma
//! distributed scale, in any number of dimensions. A squared exponential factorises over
//! dimensions and integrates over boxes in closed form, so the same average gives the box
//! integrals of the isotropic kernels: all weights are positive, so nothing cancels and the
//! result stays positive semi-definite.
//!
//! * Matern: `kappa(r) = E exp(-r^2 / (2 tau))`, `tau ~ Gamma(shape nu, rate nu)`;
//!   the member of scale `tau` has lengthscale `l sqrt(tau)`.
//! * Rational quadratic: `kappa(r) = E exp(-lambda r^2 / 2)`,
//!   `lambda ~ Gamma(shape alpha, rate alpha)`; lengthscale `l / sqrt(lambda)`.
//!
//! The average is a trapezoid sum in the logarithm of the scale, where the integrand decays at
//! least exponentially and is analytic in a strip of half-width `pi / 2`: it converges
//! geometrically, to rounding at the step used.

use crate::special::scalar::{digamma, ln_gamma};

/// One member of the mixture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member {
    /// Its lengthscale relative to the kernel's.
    pub scale: f64,
    /// Its weight; weights sum to one.
    pub weight: f64,
    /// Derivative of the weight in the shape of the gamma distribution.
    pub slope: f64,
}

/// Members that count for less than this are left out: together they move the sum by less than
/// rounding.
const SMALLEST_WEIGHT: f64 = 1e-18;

/// Trapezoid rule for `Gamma(shape, rate = shape)` in the logarithm `x` of the variable.
///
/// `map` turns `x` into the relative lengthscale of the member. `reach` holds the largest width of
/// a box along every dimension, in lengthscales: over a box wider than its lengthscale a member
/// counts in proportion to the lengthscale, so that rare long ones matter.
fn gamma_members(shape: f64, reach: &[f64], map: impl Fn(f64) -> f64) -> Vec<Member> {
    // The density has sd about 1/sqrt(shape) when the shape is large.
    let step = 0.2_f64.min(0.55 / shape.sqrt());
    let constant = shape * shape.ln() - ln_gamma(shape) + step.ln();
    let log_weight = |x: f64| constant + shape * (x - x.exp());
    let slope = |x: f64| x - x.exp() + shape.ln() + 1.0 - digamma(shape);
    let floor = SMALLEST_WEIGHT.ln();
    // Nodes are whole multiples of the step (x = 0 is the mode), so that a small change of the
    // shape moves weights, never the positions relative to the step.
    let mut members = Vec::new();
    let mut push = |index: i64| {
        let x = index as f64 * step;
        let log = log_weight(x);
        let scale = map(x);
        let gain: f64 = reach.iter().map(|w| scale.min(*w).max(1.0).ln()).sum();
        if log + gain < floor {
            return false;
        }
        let weight = log.exp();
        members.push(Member {
            scale,
            weight,
            slope: weight * slope(x),
        });
        true
    };
    let mut index = 0;
    while push(index) {
        index += 1;
    }
    index = -1;
    while push(index) {
        index -= 1;
    }
    members
}

/// Members of a Matern kernel of smoothness `nu` for boxes up to `reach` lengthscales wide.
#[must_use]
pub fn matern_members(nu: f64, reach: &[f64]) -> Vec<Member> {
    gamma_members(nu, reach, |x| (0.5 * x).exp())
}

/// Members of a rational quadratic kernel of shape `alpha` for boxes up to `reach` lengthscales wide.
#[must_use]
pub fn rational_quadratic_members(alpha: f64, reach: &[f64]) -> Vec<Member> {
    gamma_members(alpha, reach, |x| (-0.5 * x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::rational_quadratic::RationalQuadratic;

    fn mixture_at(members: &[Member], r: f64) -> (f64, f64) {
        members.iter().fold((0.0, 0.0), |(k, d), m| {
            let e = (-0.5 * (r / m.scale).powi(2)).exp();
            (k + m.weight * e, d + m.slope * e)
        })
    }

    #[test]
    fn matern_mixtures_equal_the_closed_forms() {
        for r in [0.0_f64, 1e-6, 1e-3, 0.1, 0.7, 2.0, 5.0, 20.0] {
            let closed = [
                (0.5, (-r).exp()),
                (1.5, (1.0 + 3f64.sqrt() * r) * (-(3f64.sqrt()) * r).exp()),
                (
                    2.5,
                    (1.0 + 5f64.sqrt() * r + 5.0 * r * r / 3.0) * (-(5f64.sqrt()) * r).exp(),
                ),
            ];
            for (nu, expected) in closed {
                let (k, _) = mixture_at(&matern_members(nu, &[]), r);
                // 400 positive terms of relative error 1e-16 each, weights with an argument of
                // exp up to 41: about 1e-14 at worst.
                assert!(
                    (k - expected).abs() < 2e-14,
                    "nu {nu} r {r}: {k} {expected}"
                );
            }
        }
    }

    #[test]
    fn rational_quadratic_mixture_equals_the_closed_form_with_its_slope() {
        for alpha in [0.1, 0.3, 1.0, 2.5, 10.0, 100.0, 1e4] {
            for r in [0.0, 1e-3, 0.5, 2.0, 30.0] {
                let (k, _, dk) = RationalQuadratic::radial(r * r, alpha);
                let (m, dm) = mixture_at(&rational_quadratic_members(alpha, &[]), r);
                let tolerance = 1e-13 * alpha.max(1.0);
                assert!((k - m).abs() < tolerance, "alpha {alpha} r {r}: {m} {k}");
                assert!(
                    (dk - dm).abs() < tolerance / alpha,
                    "alpha {alpha} r {r}: {dm} {dk}"
                );
            }
        }
    }
}
