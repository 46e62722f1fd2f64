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
//!
//! The number of members has a limit whatever the shape. Rational quadratic kernels of small
//! `alpha` have ever longer lengthscales at nearly equal weights; those so long that nothing
//! changes over all supports are one member, whose weight is the sum of a geometric series. As
//! `alpha` grows the members gather at the lengthscale itself, and as it goes to zero all weight
//! goes to that one member: the squared exponential and the constant are the two ends.

use crate::special::elementary;
use crate::special::scalar::digamma;
use crate::special::stirling::{HALF_LOG_TWO_PI, digamma_gap, stirling_gap};

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

/// What the sum over members may be off by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accuracy {
    /// Rounding.
    Full,
    /// 1e-8, less than what integrals over regions are off by: half as many members.
    Regions,
}

impl Accuracy {
    /// Members that count for less than this are left out.
    fn smallest_weight(self) -> f64 {
        match self {
            Self::Full => 1e-18,
            Self::Regions => 1e-11,
        }
    }

    /// Factor of the step, whose errors are at most `exp(-pi^2 / STEP)` and `exp(-2 pi^2 / .55^2)`.
    fn stretch(self) -> f64 {
        match self {
            Self::Full => 1.0,
            Self::Regions => 1.8,
        }
    }
}

/// Step of the trapezoid rule: its error is `exp(-pi^2 / step)`, below rounding.
const STEP: f64 = 0.2;
/// Extents of all supports, in which a member is constant to rounding: `1 / (2 FAR^2) < eps / 2`.
const FAR: f64 = 1e8;
/// Most members. Where scales spread over more than 128 in the logarithm the step grows; the sum
/// stays positive semi-definite, and is right to `exp(-pi^2 / step)`.
const MOST: f64 = 640.0;

/// Trapezoid weights of `Gamma(shape, rate = shape)` in the logarithm `x` of the variable.
///
/// Nodes are whole multiples of the step (x = 0 is the mode), so that a small change of the shape
/// moves weights, never the positions relative to the step.
struct Density {
    shape: f64,
    step: f64,
    /// Logarithm of the weight at the mode.
    peak: f64,
    /// `log shape - digamma(shape)`.
    drift: f64,
}

impl Density {
    fn new(shape: f64, step: f64) -> Self {
        // log(shape^shape e^-shape / Gamma(shape)), in which large shapes do not cancel.
        let peak = 0.5 * elementary::log(shape) - HALF_LOG_TWO_PI - stirling_gap(shape);
        Self {
            shape,
            step,
            peak: peak + elementary::log(step),
            drift: digamma_gap(shape),
        }
    }

    fn at(&self, index: i64) -> f64 {
        index as f64 * self.step
    }

    fn log_weight(&self, x: f64) -> f64 {
        self.peak - self.shape * excess(x)
    }

    fn member(&self, x: f64, scale: f64) -> Member {
        let weight = self.log_weight(x).exp();
        Member {
            scale,
            weight,
            slope: weight * (self.drift - excess(x)),
        }
    }

    /// All members up to the node `last` as one, where `shape e^x` is nothing: a geometric series.
    fn lump(&self, last: i64, scale: f64) -> Member {
        let x = self.at(last);
        let fall = self.shape * self.step;
        // sum_j e^(-fall j) = 1 / (1 - e^-fall).
        let weight = (self.log_weight(x) - (-elementary::expm1(-fall)).ln()).exp();
        // The mean over j of the slope at x - j step: drift + x + 1 - step / (e^fall - 1). As the
        // shape goes to zero the first and the last grow like its inverse and cancel; digamma(a) =
        // digamma(1 + a) - 1 / a.
        let rest = if fall < 1e-3 {
            self.step * (0.5 - fall / 12.0)
        } else {
            1.0 / self.shape - self.step / elementary::expm1(fall)
        };
        let slope = self.shape.ln() - digamma(1.0 + self.shape) + rest + x + 1.0;
        Member {
            scale,
            weight,
            slope: weight * slope,
        }
    }
}

/// `e^x - 1 - x`.
fn excess(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return elementary::expm1(x) - x;
    }
    // x^2 sum_k x^k / (k + 2)!: the 15th term is below 1e-17 of the first.
    let mut sum = 0.0;
    for k in (0..15).rev() {
        sum = 1.0 + sum * x / f64::from(k + 3);
    }
    0.5 * x * x * sum
}

/// The step at which the density is resolved: it has sd about `1 / sqrt(shape)` when the shape is
/// large.
fn step(shape: f64, accuracy: Accuracy) -> f64 {
    STEP.min(0.55 / shape.sqrt()) * accuracy.stretch()
}

/// How much more than its weight a member counts for, as a logarithm.
///
/// `reach` holds the largest width of a box along every dimension, in lengthscales: over a box
/// wider than its lengthscale a member counts in proportion to the lengthscale, so that rare long
/// ones matter.
fn gain(scale: f64, reach: &[f64]) -> f64 {
    reach.iter().map(|w| scale.min(*w).max(1.0).ln()).sum()
}

/// Members at 0, 1, 2, .. until one counts for less than `floor`, a logarithm.
fn upwards(
    density: &Density,
    floor: f64,
    reach: &[f64],
    scale: impl Fn(f64) -> f64,
) -> impl Iterator<Item = Member> {
    let nodes = (0..)
        .map(|index| density.at(index))
        .map(move |x| (x, scale(x)));
    nodes
        .take_while(move |(x, scale)| density.log_weight(*x) + gain(*scale, reach) >= floor)
        .map(|(x, scale)| density.member(x, scale))
}

/// Members of a Matern kernel of smoothness `nu`, at least a half, for boxes up to `reach`
/// lengthscales wide.
#[must_use]
pub fn matern_members(nu: f64, reach: &[f64]) -> Vec<Member> {
    let density = Density::new(nu, step(nu, Accuracy::Full));
    let floor = Accuracy::Full.smallest_weight().ln();
    let scale = |x: f64| (0.5 * x).exp();
    let mut members: Vec<Member> = upwards(&density, floor, reach, scale).collect();
    let mut index = -1;
    while density.log_weight(density.at(index)) >= floor {
        let x = density.at(index);
        members.push(density.member(x, scale(x)));
        index -= 1;
    }
    members
}

/// Members of a rational quadratic kernel of shape `alpha` for boxes up to `reach` lengthscales
/// wide.
///
/// # Arguments
/// * `extent` - the largest distance within and between all supports, in lengthscales
#[must_use]
pub fn rational_quadratic_members(
    alpha: f64,
    reach: &[f64],
    extent: f64,
    accuracy: Accuracy,
) -> Vec<Member> {
    let alpha = alpha.clamp(1e-300, 1e300);
    let scale = |x: f64| (-0.5 * x).exp();
    // From here on to the left nothing changes over the supports, and alpha e^x is nothing.
    let extent = extent.clamp(1e-290, 1e290);
    let far = (-2.0 * (FAR.ln() + extent.ln())).min(-37.0 - alpha.max(1.0).ln());
    // Most that any member gains.
    let most = gain(f64::INFINITY, reach);
    // Weights fall as e^(alpha x) to the left, and as e^(-alpha e^x) to the right.
    let span = (50.0 / alpha).ln_1p() - far.max(-(42.0 + most) / alpha);
    let step = match alpha < 1.0 {
        true => step(alpha, accuracy).max(span / MOST),
        false => step(alpha, accuracy),
    };
    let density = Density::new(alpha, step);
    let floor = accuracy.smallest_weight().ln();
    let mut members: Vec<Member> = upwards(&density, floor, reach, scale).collect();
    // To the left all that is still to come counts: weights may hardly fall, and what they gain
    // rises with the lengthscale.
    let fall = alpha - 0.5 * reach.len() as f64;
    let (fall, all) = if fall > 0.1 {
        (fall, 0.0)
    } else {
        (alpha, most)
    };
    let to_come = -(-elementary::expm1(-fall * step)).ln();
    let counts = |x: f64| {
        let gain = gain(scale(x), reach).max(all);
        density.log_weight(x) + gain + to_come >= floor
    };
    let last = (far / step).floor() as i64;
    for index in (last + 1..0).rev() {
        let x = density.at(index);
        if !counts(x) {
            return members;
        }
        members.push(density.member(x, scale(x)));
    }
    members.push(density.lump(last, scale(density.at(last))));
    if step > STEP || accuracy != Accuracy::Full {
        normalise(&mut members);
    }
    members
}

/// Weights that sum to one, where the step is too long for them to do so to rounding.
fn normalise(members: &mut [Member]) {
    let total: f64 = members.iter().map(|m| m.weight).sum();
    let slope: f64 = members.iter().map(|m| m.slope).sum();
    for member in members {
        member.weight /= total;
        member.slope = (member.slope - member.weight * slope) / total;
    }
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
        let alphas = [
            1e-300, 1e-20, 1e-9, 1e-4, 0.01, 0.1, 0.3, 1.0, 2.5, 10.0, 100.0, 1e4, 1e9, 1e18, 1e300,
        ];
        for alpha in alphas {
            let members = rational_quadratic_members(alpha, &[], 1e3, Accuracy::Full);
            assert!(
                members.len() < 700,
                "alpha {alpha:e}: {} members",
                members.len()
            );
            for r in [0.0, 1e-3, 0.5, 2.0, 30.0, 1e3] {
                let (k, _, dk) = RationalQuadratic::radial(r * r, alpha);
                let (m, dm) = mixture_at(&members, r);
                // Some hundred positive terms, weights with an argument of exp up to 41.
                assert!((k - m).abs() < 4e-14, "alpha {alpha} r {r}: {m} {k}");
                assert!(
                    (dk - dm).abs() < 4e-13 / alpha,
                    "alpha {alpha} r {r}: {dm} {dk}"
                );
            }
        }
    }

    /// Over distances of any size the members are few, and their sum is between its limits and
    /// right to what the step leaves.
    #[test]
    fn members_have_a_limit() {
        for alpha in [1e-300, 1e-30, 1e-3, 0.3, 3.0, 1e5, 1e300] {
            for extent in [0.0, 1e-300, 1e-3, 1.0, 1e9, 1e100, 1e300, f64::INFINITY] {
                let members = rational_quadratic_members(alpha, &[extent], extent, Accuracy::Full);
                assert!(
                    members.len() < 700,
                    "{alpha:e} {extent:e}: {}",
                    members.len()
                );
                let total: f64 = members.iter().map(|m| m.weight).sum();
                // Rounding of up to 700 weights: n eps = 1.6e-13.
                assert!((total - 1.0).abs() < 1e-12, "{alpha:e} {extent:e}: {total}");
                let is_usable = |m: &Member| m.scale.is_finite() && m.slope.is_finite();
                assert!(members.iter().all(is_usable), "{alpha:e} {extent:e}");
            }
        }
    }
}
