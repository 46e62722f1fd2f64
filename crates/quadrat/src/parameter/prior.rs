//! Prior densities of hyperparameters, in natural units, with a text form.

use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

use crate::special::gamma_half::log_gamma_half_step;
use crate::special::scalar::normal_quantile;
use crate::special::stirling::gamma_normaliser;
use serde::{Deserialize, Serialize};

/// The prior density of one hyperparameter `theta`, in its natural unit.
///
/// The text form is `flat` or `name(number, number)`, with the fields in the order below;
/// [`fmt::Display`] and [`FromStr`] are inverse to each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PriorDensity {
    /// Constant in the *optimised* coordinate: in `log theta` for a positive parameter. Improper.
    Flat,
    /// `log theta ~ N(mu, sigma^2)`.
    LogNormal {
        /// Mean of `log theta`.
        mu: f64,
        /// Standard deviation of `log theta`, positive.
        sigma: f64,
    },
    /// `theta ~ N(mean, sd^2)`; only for parameters of either sign.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation, positive.
        sd: f64,
    },
    /// `|N(0, scale^2)|`.
    HalfNormal {
        /// Scale, positive, in the unit of `theta`.
        scale: f64,
    },
    /// `|scale * t_dof|`.
    HalfStudentT {
        /// Degrees of freedom, positive (1: half Cauchy).
        dof: f64,
        /// Scale, positive, in the unit of `theta`.
        scale: f64,
    },
    /// Density proportional to `theta^(shape-1) exp(-rate theta)`.
    Gamma {
        /// Shape, positive.
        shape: f64,
        /// Rate, positive, in the inverse unit of `theta`.
        rate: f64,
    },
    /// Density proportional to `theta^(-shape-1) exp(-scale / theta)`.
    InverseGamma {
        /// Shape, positive.
        shape: f64,
        /// Scale, positive, in the unit of `theta`.
        scale: f64,
    },
}

impl PriorDensity {
    /// Whether the density lives on `theta > 0` only.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        !matches!(self, Self::Flat | Self::Normal { .. })
    }

    /// The log density of `theta` per natural unit, normalising constants included, and its
    /// derivative in `theta`; `(-inf, 0)` outside the support. Flat gives `(0, 0)`.
    #[must_use]
    pub fn log_density(&self, theta: f64) -> (f64, f64) {
        if self.is_positive() && theta <= 0.0 {
            return (f64::NEG_INFINITY, 0.0);
        }
        match *self {
            Self::Flat => (0.0, 0.0),
            Self::LogNormal { mu, sigma } => {
                let z = (theta.ln() - mu) / sigma;
                (
                    -0.5 * z * z - theta.ln() - sigma.ln() - 0.5 * (2.0 * PI).ln(),
                    -(z / sigma + 1.0) / theta,
                )
            }
            Self::Normal { mean, sd } => {
                let z = (theta - mean) / sd;
                (-0.5 * z * z - sd.ln() - 0.5 * (2.0 * PI).ln(), -z / sd)
            }
            Self::HalfNormal { scale } => {
                let z = theta / scale;
                (
                    -0.5 * z * z - scale.ln() + 0.5 * (2.0 / PI).ln(),
                    -z / scale,
                )
            }
            Self::HalfStudentT { dof, scale } => {
                let z2 = (theta / scale).powi(2);
                let constant = 2f64.ln() + log_gamma_half_step(0.5 * dof)
                    - 0.5 * (dof.ln() + PI.ln())
                    - scale.ln();
                (
                    constant - 0.5 * (dof + 1.0) * (z2 / dof).ln_1p(),
                    -(dof + 1.0) * z2 / (dof + z2) / theta,
                )
            }
            // Both by what `theta` or its reciprocal is of its mean or of `scale / shape`: terms of
            // the size of the shape do not cancel.
            Self::Gamma { shape, rate } => {
                let log_ratio = log_of([rate, theta], shape);
                (
                    gamma_around(shape, log_ratio) - theta.ln(),
                    (shape - 1.0) / theta - rate,
                )
            }
            Self::InverseGamma { shape, scale } => {
                let log_ratio = log_of([scale, theta.recip()], shape);
                (
                    gamma_around(shape, log_ratio) - theta.ln(),
                    (-(shape + 1.0) + scale / theta) / theta,
                )
            }
        }
    }

    /// The quantile of a proper prior at `0 < u < 1`, in natural units; `None` for flat.
    ///
    /// # Numerics
    /// Closed form for the normal family, else the trapezoid rule on 2001 points in `log theta`,
    /// meant for starting values only: good to about 1e-3 for shapes near one, coarse in the tails
    /// and for shapes far below one or above 1000.
    #[must_use]
    pub fn quantile(&self, u: f64) -> Option<f64> {
        match *self {
            Self::Flat => None,
            Self::LogNormal { mu, sigma } => Some((mu + sigma * normal_quantile(u)).exp()),
            Self::Normal { mean, sd } => Some(mean + sd * normal_quantile(u)),
            Self::HalfNormal { scale } => Some(scale * normal_quantile(0.5 + 0.5 * u)),
            Self::HalfStudentT { scale, .. } => Some(self.numeric_quantile(u, scale.ln())),
            Self::Gamma { shape, rate } => Some(self.numeric_quantile(u, (shape / rate).ln())),
            Self::InverseGamma { shape, scale } => {
                Some(self.numeric_quantile(u, (scale / (shape + 1.0)).ln()))
            }
        }
    }

    fn numeric_quantile(&self, u: f64, centre: f64) -> f64 {
        const POINTS: usize = 2001;
        const HALF_WIDTH: f64 = 25.0;
        let step = 2.0 * HALF_WIDTH / (POINTS - 1) as f64;
        let at = |i: usize| centre - HALF_WIDTH + step * i as f64;
        let density = |i: usize| (self.log_density(at(i).exp()).0 + at(i)).exp();
        let mut cumulative = vec![0.0; POINTS];
        for i in 1..POINTS {
            cumulative[i] = cumulative[i - 1] + 0.5 * step * (density(i - 1) + density(i));
        }
        let target = u * cumulative[POINTS - 1];
        let above = cumulative
            .partition_point(|c| *c < target)
            .clamp(1, POINTS - 1);
        let (low, high) = (cumulative[above - 1], cumulative[above]);
        let fraction = if high > low {
            (target - low) / (high - low)
        } else {
            0.5
        };
        (at(above - 1) + step * fraction).exp()
    }

    /// Name and arguments of the text form.
    fn parts(&self) -> (&'static str, Vec<f64>) {
        match *self {
            Self::Flat => ("flat", vec![]),
            Self::LogNormal { mu, sigma } => ("log_normal", vec![mu, sigma]),
            Self::Normal { mean, sd } => ("normal", vec![mean, sd]),
            Self::HalfNormal { scale } => ("half_normal", vec![scale]),
            Self::HalfStudentT { dof, scale } => ("half_student_t", vec![dof, scale]),
            Self::Gamma { shape, rate } => ("gamma", vec![shape, rate]),
            Self::InverseGamma { shape, scale } => ("inverse_gamma", vec![shape, scale]),
        }
    }

    /// What is wrong with the numbers of this prior, if anything.
    ///
    /// # Errors
    /// A sentence naming the argument that is not finite or not positive.
    pub fn validate(&self) -> Result<(), String> {
        let (name, arguments) = self.parts();
        let location_first = matches!(self, Self::LogNormal { .. } | Self::Normal { .. });
        for (i, value) in arguments.iter().enumerate() {
            let is_location = location_first && i == 0;
            if !value.is_finite() || (!is_location && *value <= 0.0) {
                let need = if is_location {
                    "finite"
                } else {
                    "positive and finite"
                };
                return Err(format!(
                    "argument {} of the prior `{name}` is {value}; it must be {need}",
                    i + 1
                ));
            }
        }
        Ok(())
    }
}

impl fmt::Display for PriorDensity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, arguments) = self.parts();
        if arguments.is_empty() {
            return f.write_str(name);
        }
        let arguments: Vec<String> = arguments.iter().map(f64::to_string).collect();
        write!(f, "{name}({})", arguments.join(", "))
    }
}

/// Every prior that can be written, for error messages.
const FORMS: &str = "flat, log_normal(mu, sigma), normal(mean, sd), half_normal(scale), half_student_t(dof, scale), gamma(shape, rate), inverse_gamma(shape, scale)";

/// `log(a b / c)`, also where the quotient is no number.
fn log_of([a, b]: [f64; 2], c: f64) -> f64 {
    let quotient = a / c * b;
    match quotient.is_normal() {
        true => quotient.ln(),
        false => a.ln() + b.ln() - c.ln(),
    }
}

/// The log density of `log x` for a gamma-distributed `x` of this shape and mean 1,
/// `a (log x - x + 1) + a log a - a - log Gamma(a)`.
fn gamma_around(shape: f64, log_x: f64) -> f64 {
    shape * (log_x - log_x.exp_m1()) + gamma_normaliser(shape)
}

impl FromStr for PriorDensity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, inside) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => {
                let inside = rest
                    .strip_suffix(')')
                    .ok_or_else(|| format!("`{text}` lacks its closing parenthesis"))?;
                (name.trim_end(), Some(inside))
            }
        };
        let numbers = match inside {
            None => Vec::new(),
            Some(inside) => inside
                .split(',')
                .map(|part| {
                    part.trim()
                        .parse::<f64>()
                        .map_err(|_| format!("`{}` in `{text}` is not a number", part.trim()))
                })
                .collect::<Result<Vec<f64>, String>>()?,
        };
        let prior = match (name, numbers.as_slice()) {
            ("flat", []) => Self::Flat,
            ("log_normal", &[mu, sigma]) => Self::LogNormal { mu, sigma },
            ("normal", &[mean, sd]) => Self::Normal { mean, sd },
            ("half_normal", &[scale]) => Self::HalfNormal { scale },
            ("half_student_t", &[dof, scale]) => Self::HalfStudentT { dof, scale },
            ("gamma", &[shape, rate]) => Self::Gamma { shape, rate },
            ("inverse_gamma", &[shape, scale]) => Self::InverseGamma { shape, scale },
            _ => return Err(format!("`{text}` is not a prior; write one of: {FORMS}")),
        };
        prior.validate()?;
        Ok(prior)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const ALL: [&str; 7] = [
        "flat",
        "log_normal(-0.5, 1.5)",
        "normal(2, 0.3)",
        "half_normal(2)",
        "half_student_t(3, 0.7)",
        "gamma(2.5, 4)",
        "inverse_gamma(3, 2)",
    ];

    #[test]
    fn text_round_trips() {
        for text in ALL {
            let prior: PriorDensity = text.parse().unwrap();
            assert_eq!(prior.to_string(), text);
            let json = serde_json::to_string(&prior).unwrap();
            assert_eq!(serde_json::from_str::<PriorDensity>(&json).unwrap(), prior);
        }
        assert_eq!(
            " half_student_t( 1 ,2.5 ) "
                .parse::<PriorDensity>()
                .unwrap(),
            PriorDensity::HalfStudentT {
                dof: 1.0,
                scale: 2.5
            }
        );
    }

    #[test]
    fn nonsense_is_refused_with_the_reason() {
        for (text, part) in [
            ("cauchy(1)", "not a prior"),
            ("normal(1)", "not a prior"),
            ("normal(0, x)", "`x`"),
            ("normal(0, 1", "parenthesis"),
            ("normal(0, -1)", "argument 2"),
            ("log_normal(inf, 1)", "finite"),
            ("gamma(0, 1)", "positive"),
            ("", "not a prior"),
        ] {
            let message = text.parse::<PriorDensity>().unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    /// Of numbers at the end of what doubles hold, found by random bytes.
    #[test]
    fn no_prior_is_infinitely_dense() {
        for text in [
            "gamma(9e305, 10)",
            "inverse_gamma(9e305, 1e-300)",
            "half_student_t(9e305, 2)",
            "half_student_t(1.7e308, 1e-300)",
            "gamma(1e-300, 1e-300)",
        ] {
            let prior: PriorDensity = text.parse().unwrap();
            for theta in [1e-300, 1.0, 1e300] {
                let (value, _) = prior.log_density(theta);
                assert!(!value.is_nan() && value < f64::INFINITY, "{text}: {value}");
            }
        }
        // A gamma density of a large shape is nearly normal: log of 1 / sqrt(2 pi a) at its mean.
        let prior: PriorDensity = "gamma(1e12, 1e12)".parse().unwrap();
        let normal = 0.5 * (1e12 / (2.0 * PI)).ln();
        assert!((prior.log_density(1.0).0 - normal).abs() < 1e-6);
    }

    #[test]
    fn densities_integrate_to_one_and_derivatives_agree() {
        for text in &ALL[1..] {
            let prior: PriorDensity = text.parse().unwrap();
            // Simpson's rule: in log theta on a wide range, in theta for the normal.
            let (low, high, n) = (-40.0, 40.0, 40_000);
            let h = (high - low) / f64::from(n);
            let mut total = 0.0;
            for i in 0..=n {
                let t = low + h * f64::from(i);
                let value = if prior.is_positive() {
                    (prior.log_density(t.exp()).0 + t).exp()
                } else {
                    prior.log_density(t).0.exp()
                };
                let weight = if i == 0 || i == n {
                    1.0
                } else if i % 2 == 1 {
                    4.0
                } else {
                    2.0
                };
                total += weight * h / 3.0 * value;
            }
            // Smooth, and nothing at both ends: the rule leaves rounding, n eps = 9e-12.
            assert!((total - 1.0).abs() < 1e-9, "{text}: {total}");
            for theta in [0.01, 0.3, 1.0, 4.0] {
                // Central difference: truncation h^2, rounding eps / h.
                let h = 1e-5 * theta;
                let numeric =
                    (prior.log_density(theta + h).0 - prior.log_density(theta - h).0) / (2.0 * h);
                let exact = prior.log_density(theta).1;
                assert!(
                    (numeric - exact).abs() < 1e-6 * (1.0 + exact.abs()),
                    "{text} at {theta}"
                );
            }
        }
    }

    #[test]
    fn outside_the_support_is_impossible() {
        let prior = PriorDensity::HalfNormal { scale: 1.0 };
        assert_eq!(prior.log_density(-1.0).0, f64::NEG_INFINITY);
    }

    #[test]
    fn quantiles_invert_known_distributions() {
        // Half Cauchy: scale * tan(pi u / 2). Exponential: -ln(1 - u) / rate.
        let cauchy = PriorDensity::HalfStudentT {
            dof: 1.0,
            scale: 2.0,
        };
        let exponential = PriorDensity::Gamma {
            shape: 1.0,
            rate: 3.0,
        };
        let inverse = PriorDensity::InverseGamma {
            shape: 1.0,
            scale: 3.0,
        };
        for u in [0.01, 0.3, 0.5, 0.9, 0.99] {
            // What the documentation states of shapes near one.
            let got = cauchy.quantile(u).unwrap();
            assert!((got / (2.0 * (0.5 * PI * u).tan()) - 1.0).abs() < 1e-3);
            let got = exponential.quantile(u).unwrap();
            assert!((got / (-(1.0 - u).ln() / 3.0) - 1.0).abs() < 1e-3);
            let got = inverse.quantile(u).unwrap();
            assert!((got / (-3.0 / u.ln()) - 1.0).abs() < 1e-3);
        }
        assert_eq!(PriorDensity::Flat.quantile(0.5), None);
    }
}
