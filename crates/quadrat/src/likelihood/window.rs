//! A noisy latent value known to lie between two ends: the core of interval, censored, ordinal and sign rows.
//!
//! With `v^2` the noise variance, `log p = log(Phi(beta) - Phi(alpha))`, `alpha = (lower - f) / v`,
//! `beta = (upper - f) / v`. As a function of `f` this generates the cumulants of a standard normal truncated to
//! `[alpha, beta]`: `(log p)' = mean / v`, `(log p)'' = -(1 - variance) / v^2`, then third and fourth cumulant over
//! `v^3` and `v^4`. A normal belief about `f` adds its variance to `v^2` and leaves the form.

use super::exact;
use super::local::{Belief, Expected, Jet, Tilted};
use super::quadrature;
use crate::special::{TruncatedNormal, truncated_normal_of_width};

/// Two ends, and the variance of the noise. Equal ends are an exact value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub lower: f64,
    pub upper: f64,
    pub variance: f64,
}

/// Derivatives in the two ends and in the noise variance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slopes<T> {
    pub lower: T,
    pub upper: T,
    pub variance: T,
}

impl Window {
    fn is_exact(&self) -> bool {
        self.lower == self.upper
    }

    /// The truncated standard normal seen from a normal belief, and the sd in which its ends are measured.
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

    /// Derivatives of value, first and second of [`Window::jet`]; of exact rows in the variance only.
    ///
    /// In the variance by the heat equation, `dp / d variance = p'' / 2`.
    pub fn jet_slopes(&self, f: f64) -> Slopes<[f64; 3]> {
        if self.is_exact() {
            return Slopes {
                variance: exact::slopes(self.lower, self.variance, f),
                ..Slopes::default()
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
        Slopes {
            lower: end(-t.at_lower, -t.above_lower),
            upper: end(t.at_upper, t.below_upper),
            variance: [
                0.5 * (second + first * first),
                0.5 * third + first * second,
                0.5 * fourth + second * second + first * third,
            ],
        }
    }

    /// Moments in closed form: with `T` the truncated normal seen from the cavity (sd `v`), the tilted variance is
    /// `s2 n2 / (s2 + n2) + (s2 / v)^2 Var T`, and the site keeps every digit of it.
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

    pub fn tilted_slopes(&self, cavity: Belief) -> Slopes<f64> {
        if self.is_exact() {
            return Slopes {
                variance: exact::tilted_slope(self.lower, self.variance, cavity),
                ..Slopes::default()
            };
        }
        let (t, sd) = self.truncated(cavity.mean, cavity.variance);
        Slopes {
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
        quadrature::expected(belief, &at.bends(), |u| at.jet(u))
    }

    pub fn expected_slopes(&self, belief: Belief) -> Slopes<f64> {
        if self.is_exact() {
            return Slopes {
                variance: exact::expected_slope(self.lower, self.variance, belief),
                ..Slopes::default()
            };
        }
        let (at, belief) = self.seen_from_end(belief);
        let [lower, upper, variance] = quadrature::averages(belief, &at.bends(), |u| {
            let slopes = at.tilted_slopes(Belief {
                mean: u,
                variance: 0.0,
            });
            [slopes.lower, slopes.upper, slopes.variance]
        })
        .value;
        Slopes {
            lower,
            upper,
            variance,
        }
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

    /// The ends, where `log p` bends within two noise sds, and has no singularity nearer than 2.5 to the real line; infinite ones lie outside every range.
    fn bends(&self) -> [(f64, f64); 2] {
        let width = 2.0 * self.variance.sqrt();
        [(self.lower, width), (self.upper, width)]
    }
}
