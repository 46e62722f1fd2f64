//! A noisy latent value known to lie between two ends: the core of interval, censored, ordinal and
//! sign rows.
//!
//! With `v^2` the noise variance, `log p = log(Phi(beta) - Phi(alpha))`, `alpha = (lower - f) / v`,
//! `beta = (upper - f) / v`. As a function of `f` this generates the cumulants of a standard normal
//! truncated to `[alpha, beta]`: `(log p)' = mean / v`, `(log p)'' = -(1 - variance) / v^2`, then
//! third and fourth cumulant over `v^3` and `v^4`. A normal belief about `f` adds its variance to
//! `v^2` and leaves the form.

use super::exact;
use super::local::{Belief, Expected, Jet, Tilted};
use super::quadrature;
use crate::special::{TruncatedNormal, elementary, scalar, truncated_normal_of_width};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Noise sds outside of an end from which on the other one may be left out, and where it is: it
/// lies `e^-40` lower.
pub(super) const OUTSIDE: f64 = 2.0;
pub(super) const HIDDEN: f64 = 40.0;
/// Noise sds from which on the curvature is expanded, and beyond which squares of them may
/// overflow.
pub(super) const EXPANDED: f64 = 30.0;
pub(super) const FARTHEST: f64 = 1e100;

/// Two ends, and the variance of the noise. Equal ends are an exact value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub lower: f64,
    pub upper: f64,
    pub variance: f64,
}

/// Derivatives in the two ends and in the noise variance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WindowSlopes<T> {
    pub lower: T,
    pub upper: T,
    pub variance: T,
}

impl Window {
    fn is_exact(&self) -> bool {
        self.lower == self.upper
    }

    /// The truncated standard normal seen from a normal belief, and the sd in which its ends are
    /// measured.
    fn truncated(&self, mean: f64, variance: f64) -> (TruncatedNormal, f64) {
        let sd = (self.variance + variance).sqrt();
        let moments = truncated_normal_of_width(
            (self.lower - mean) / sd,
            (self.upper - mean) / sd,
            (self.upper - self.lower) / sd,
        );
        (moments, sd)
    }

    /// A latent value in the middle, or one noise sd from the only end.
    pub fn guess(&self) -> f64 {
        let sd = self.variance.sqrt();
        match (self.lower.is_finite(), self.upper.is_finite()) {
            (true, true) => 0.5 * self.lower + 0.5 * self.upper,
            (true, false) => self.lower + sd,
            (false, true) => self.upper - sd,
            (false, false) => 0.0,
        }
    }

    /// Value and variance of an exact row.
    pub fn gaussian(&self) -> Option<(f64, f64)> {
        self.is_exact().then_some((self.lower, self.variance))
    }

    pub fn jet(&self, f: f64) -> Jet {
        if self.is_exact() {
            return exact::jet(self.lower, self.variance, f);
        }
        let (t, sd) = self.truncated(f, 0.0);
        Jet {
            value: t.log_z,
            first: t.mean / sd,
            second: -t.lost / (sd * sd),
            third: t.third / (sd * sd * sd),
        }
    }

    /// Derivatives of value, first and second of [`Window::jet`]; of exact rows in the variance
    /// only.
    ///
    /// In the variance by the heat equation, `dp / d variance = p'' / 2`.
    pub fn jet_slopes(&self, f: f64) -> WindowSlopes<[f64; 3]> {
        if self.is_exact() {
            return WindowSlopes {
                variance: exact::slopes(self.lower, self.variance, f),
                ..WindowSlopes::default()
            };
        }
        let (t, sd) = self.truncated(f, 0.0);
        let (first, second) = (t.mean / sd, -t.lost / (sd * sd));
        let (third, fourth) = (t.third / sd.powi(3), t.fourth / sd.powi(4));
        let end = |density: f64, away: f64| {
            if density == 0.0 {
                return [0.0; 3];
            }
            let height = density / sd;
            let away = away / sd;
            [
                height,
                height * away,
                height * (away * away - t.variance / (sd * sd)),
            ]
        };
        WindowSlopes {
            lower: end(-t.at_lower, -t.above_lower),
            upper: end(t.at_upper, t.below_upper),
            variance: [
                0.5 * (second + first * first),
                0.5 * third + first * second,
                0.5 * fourth + second * second + first * third,
            ],
        }
    }

    /// Moments in closed form: with `T` the truncated normal seen from the cavity (sd `v`), the
    /// tilted variance is `s2 n2 / (s2 + n2) + (s2 / v)^2 Var T`, and the site keeps every digit of
    /// it.
    pub fn tilted(&self, cavity: Belief) -> Tilted {
        if self.is_exact() {
            return exact::tilted(self.lower, self.variance, cavity);
        }
        let (t, sd) = self.truncated(cavity.mean, cavity.variance);
        let denominator = self.variance + cavity.variance * t.variance;
        Tilted {
            log_z: t.log_z,
            precision: t.lost / denominator,
            shift: (t.mean * sd + t.lost * cavity.mean) / denominator,
        }
    }

    pub fn tilted_slopes(&self, cavity: Belief) -> WindowSlopes<f64> {
        if self.is_exact() {
            return WindowSlopes {
                variance: exact::tilted_slope(self.lower, self.variance, cavity),
                ..WindowSlopes::default()
            };
        }
        let (t, sd) = self.truncated(cavity.mean, cavity.variance);
        WindowSlopes {
            lower: -t.at_lower / sd,
            upper: t.at_upper / sd,
            variance: 0.5 * (t.mean * t.mean - t.lost) / (sd * sd),
        }
    }

    /// By quadrature, with nodes for the bends at the ends.
    pub fn expected(&self, belief: Belief) -> Expected {
        if self.is_exact() {
            return exact::expected(self.lower, self.variance, belief);
        }
        let (at, belief) = self.seen_from_end(belief);
        at.expected_of_many(belief).unwrap_or_else(|| {
            quadrature::expected(belief, &at.second_order(), |u| {
                at.outside(u).unwrap_or_else(|| at.jet(u))
            })
        })
    }

    pub fn expected_slopes(&self, belief: Belief) -> WindowSlopes<f64> {
        if self.is_exact() {
            return WindowSlopes {
                variance: exact::expected_slope(self.lower, self.variance, belief),
                ..WindowSlopes::default()
            };
        }
        let (at, belief) = self.seen_from_end(belief);
        if let Some(slopes) = at.slopes_of_many(belief) {
            return slopes;
        }
        let [lower, upper, variance] = quadrature::averages(belief, &at.second_order(), |u| {
            if let Some(jet) = at.outside(u) {
                let height = jet.first;
                let variance = 0.5 * (height * height + jet.second);
                // The other end says nothing.
                return match height > 0.0 {
                    true => [-height, 0.0, variance],
                    false => [0.0, -height, variance],
                };
            }
            let slopes = at.tilted_slopes(Belief {
                mean: u,
                variance: 0.0,
            });
            [slopes.lower, slopes.upper, slopes.variance]
        })
        .value;
        WindowSlopes {
            lower,
            upper,
            variance,
        }
    }

    /// As [`Self::jet`], without its third derivative, where only the nearer end is seen: with `x`
    /// the distance to it in noise sds and `h` the hazard of a standard normal variable,
    ///
    /// $$ \log p = \log \Phi(-x), \quad |(\log p)'| = h(x) / v, \quad (\log p)'' = -h (h - x) / v^2
    /// $$
    ///
    /// Most nodes of a quadrature lie there, and these are ten times as quick as moments between
    /// two ends. `h (h - x)` is between 0.8 and 1 and known to `x^2` roundings, from 30 sds on to
    /// the first term that its expansion leaves, 3e-15.
    fn outside(&self, f: f64) -> Option<Jet> {
        let sd = self.variance.sqrt();
        let (below, above) = ((self.lower - f) / sd, (f - self.upper) / sd);
        let x = below.max(above);
        let sees_one = x >= OUTSIDE && x * (self.upper - self.lower) >= HIDDEN * sd;
        if !sees_one || x > FARTHEST {
            return None;
        }
        let scaled = scalar::erfcx(x * FRAC_1_SQRT_2);
        let hazard = (2.0 / PI).sqrt() / scaled;
        let lost = lost(hazard, x);
        Some(Jet {
            value: elementary::log(0.5 * scaled) - 0.5 * x * x,
            first: if below >= above { hazard } else { -hazard } / sd,
            second: -lost / self.variance,
            third: f64::NAN,
        })
    }

    /// The window and a belief in coordinates that begin at its middle, or at its only end: around
    /// large ends the differences `f - end` of a quadrature would be rounded to steps. The width
    /// keeps its digits.
    fn seen_from_end(self, belief: Belief) -> (Self, Belief) {
        let origin = match (self.lower.is_finite(), self.upper.is_finite()) {
            (true, true) => 0.5 * self.lower + 0.5 * self.upper,
            (true, false) => self.lower,
            (false, true) => self.upper,
            (false, false) => 0.0,
        };
        let at = Self {
            lower: self.lower - origin,
            upper: self.upper - origin,
            ..self
        };
        let mean = belief.mean - origin;
        (at, Belief { mean, ..belief })
    }

    /// The ends, where `log p` bends within two noise sds, and has no singularity nearer than 2.5
    /// to the real line; infinite ones lie outside every range.
    pub(super) fn second_order(&self) -> [(f64, f64); 2] {
        let width = 2.0 * self.variance.sqrt();
        [(self.lower, width), (self.upper, width)]
    }
}

/// `h (h - x)` of the hazard `h` of a standard normal variable at `x`.
pub(super) fn lost(hazard: f64, x: f64) -> f64 {
    if x < EXPANDED {
        return hazard * (hazard - x);
    }
    let r = (x * x).recip();
    let tail = 518.0 - r * (6354.0 - r * 89_782.0);
    1.0 - r * (1.0 - r * (6.0 - r * (50.0 - r * tail)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// What is left out and expanded is rounding; near the ends, and in windows that are narrow
    /// beside the noise, both ends count.
    #[test]
    fn outside_of_a_window_one_end_is_seen() {
        let (mut seen, mut not) = (0, 0);
        for width in [0.1, 3.0, 8.0, 1e3, f64::INFINITY] {
            for variance in [1e-4, 1.0, 1e6] {
                let sd = f64::sqrt(variance);
                for x in [1.9, 2.1, 3.0, 5.0, 12.0, 29.9, 30.1, 200.0, 1e5] {
                    let ends = [(0.0, width * sd), (-width * sd, 0.0)];
                    for ((lower, upper), f) in ends.into_iter().zip([-x * sd, x * sd]) {
                        let window = Window {
                            lower,
                            upper,
                            variance,
                        };
                        let Some(got) = window.outside(f) else {
                            not += 1;
                            continue;
                        };
                        seen += 1;
                        let want = window.jet(f);
                        let near = |a: f64, b: f64| (a / b - 1.0).abs();
                        // Moments between two ends are known to 1e-12; a curvature to x^2
                        // roundings.
                        assert!(near(got.value, want.value) < 2e-12, "{window:?} {f}");
                        assert!(near(got.first, want.first) < 2e-12, "{window:?} {f}");
                        assert!(near(got.second, want.second) < 2e-12, "{window:?} {f}");
                    }
                }
            }
        }
        assert!(seen > 100 && not > 50, "{seen} {not}");
    }
    /// Nodes within a window integrate or take both tails; those beyond, half of them here, see one
    /// end in closed form.
    #[test]
    fn expectations_take_few_nodes_of_which_half_are_quick() {
        let window = Window {
            lower: -1.0,
            upper: 1.0,
            variance: 0.03,
        };
        let (quick, slow) = (Cell::new(0), Cell::new(0));
        let belief = Belief {
            mean: 0.3,
            variance: 0.09,
        };
        let jet = |f: f64| match window.outside(f) {
            Some(jet) => {
                quick.set(quick.get() + 1);
                jet
            }
            None => {
                slow.set(slow.get() + 1);
                window.jet(f)
            }
        };
        let got = quadrature::expected(belief, &window.second_order(), jet);
        let want = window.expected(belief);
        // One rule with other cases of one integrand: rounding.
        assert!((got.value - want.value).abs() < 1e-13);
        // Panels of the noise sd and narrower around either end, to nine sds on both sides.
        let nodes = quick.get() + slow.get();
        assert!(
            nodes <= 700 && 3 * quick.get() >= nodes,
            "{nodes} {quick:?}"
        );
    }
}
