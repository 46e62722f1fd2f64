//! Named hyperparameters: transform, prior, start, bounds.

mod prior;

pub use prior::PriorDensity;

use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::special::scalar::normal_quantile;

/// How far the optimiser may go from the start, in `log theta`, where no bound is given.
const LOG_REACH: f64 = 12.0;
/// Spread of the starts of a parameter with a flat prior, in `log theta`.
const FLAT_SPREAD: f64 = 1.5;

/// The map from the natural value `theta` to the free coordinate `phi` that is optimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// `phi = log theta`, for positive parameters.
    Log,
    /// `phi = theta`, for parameters of either sign.
    Identity,
}

/// One hyperparameter. Every number is in natural units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its public name, for example `se.lengthscale.age`.
    pub name: String,
    /// What it means, for people.
    pub meaning: String,
    /// How it is optimised.
    pub transform: Transform,
    /// Its prior density, see [`Parameter::log_prior_free`] for the measure.
    pub prior: PriorDensity,
    /// The value where the first optimiser start begins, or the value when `fixed`.
    pub start: f64,
    /// Whether it is held at `start`.
    pub fixed: bool,
    /// Lower bound; not above 0 (log) or `-inf` (identity): none.
    pub lower: f64,
    /// Upper bound; `inf`: none.
    pub upper: f64,
}

impl Parameter {
    /// Whether its prior and bounds are the same for both signs.
    pub(crate) fn is_mirrored(&self) -> bool {
        let prior = match self.prior {
            PriorDensity::Normal { mean, .. } => mean == 0.0,
            PriorDensity::Flat => true,
            _ => false,
        };
        self.transform == Transform::Identity && prior && !self.fixed && self.lower == -self.upper
    }

    /// A positive parameter, optimised in `log theta`, free and unbounded.
    #[must_use]
    pub fn positive(name: &str, meaning: &str, start: f64, prior: PriorDensity) -> Self {
        Self {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            transform: Transform::Log,
            prior,
            start,
            fixed: false,
            lower: 0.0,
            upper: f64::INFINITY,
        }
    }

    /// A parameter of either sign, optimised as it is, free and unbounded.
    #[must_use]
    pub fn real(name: &str, meaning: &str, start: f64, prior: PriorDensity) -> Self {
        Self {
            transform: Transform::Identity,
            lower: f64::NEG_INFINITY,
            ..Self::positive(name, meaning, start, prior)
        }
    }

    /// Refuses settings that cannot be used.
    ///
    /// # Errors
    /// [`InputError::Parameter`] with the reason and the remedy.
    pub fn validate(&self) -> Result<(), InputError> {
        let refuse = |reason: String| {
            Err(InputError::Parameter {
                name: self.name.clone(),
                reason,
            })
        };
        let Self {
            start,
            lower,
            upper,
            ..
        } = *self;
        if !start.is_finite() {
            return refuse(format!("the start is {start}; give a finite number"));
        }
        if self.transform == Transform::Log && start <= 0.0 {
            return refuse(format!("the start is {start}; it must be positive"));
        }
        if lower.is_nan() || upper.is_nan() || lower > upper {
            return refuse(format!(
                "the bounds are {lower} and {upper}; the lower must not exceed the upper"
            ));
        }
        if !self.fixed && lower == upper {
            return refuse(format!(
                "both bounds are {lower}; write `value = {lower}, fixed = true`"
            ));
        }
        if start < lower || start > upper {
            return refuse(format!(
                "the start {start} lies outside the bounds {lower} and {upper}"
            ));
        }
        if let Err(reason) = self.prior.validate() {
            return refuse(reason);
        }
        match (self.transform, self.prior) {
            (Transform::Log, PriorDensity::Normal { .. }) => refuse(
                "the prior `normal` allows negative values, this parameter does not; use log_normal or half_normal".to_owned(),
            ),
            (Transform::Identity, prior) if prior.is_positive() && start <= 0.0 => refuse(format!(
                "the start is {start}, which the prior `{prior}` forbids"
            )),
            _ => Ok(()),
        }
    }

    /// The free coordinate `phi` of a natural value.
    #[must_use]
    pub fn to_free(&self, theta: f64) -> f64 {
        match self.transform {
            Transform::Log => theta.ln(),
            Transform::Identity => theta,
        }
    }

    /// The natural value of a free coordinate.
    #[must_use]
    pub fn from_free(&self, phi: f64) -> f64 {
        match self.transform {
            Transform::Log => phi.exp(),
            Transform::Identity => phi,
        }
    }

    /// `d theta / d phi` at the natural value `theta`.
    #[must_use]
    pub fn jacobian(&self, theta: f64) -> f64 {
        match self.transform {
            Transform::Log => theta,
            Transform::Identity => 1.0,
        }
    }

    /// The box of the free coordinate: the user's bounds, else 12 on either side of the start in
    /// `log theta`, else none.
    #[must_use]
    pub fn free_bounds(&self) -> (f64, f64) {
        match self.transform {
            Transform::Identity => (self.lower, self.upper),
            Transform::Log => {
                let centre = self.start.ln();
                let lower = if self.lower > 0.0 {
                    self.lower.ln()
                } else {
                    centre - LOG_REACH
                };
                let upper = if self.upper.is_finite() {
                    self.upper.ln()
                } else {
                    centre + LOG_REACH
                };
                (lower, upper)
            }
        }
    }

    /// Lets the search, where it has no bound, go as far from any of some positive values as it
    /// goes from the start.
    pub(crate) fn search_around(&mut self, values: &[f64]) {
        if self.transform == Transform::Identity {
            return;
        }
        let usable = values.iter().filter(|v| **v > 0.0 && v.is_finite());
        let (least, most) = usable.fold((self.start, self.start), |(least, most), v| {
            (least.min(*v), most.max(*v))
        });
        if least < self.start && self.lower <= 0.0 {
            self.lower = least * (-LOG_REACH).exp();
        }
        if most > self.start && self.upper == f64::INFINITY {
            self.upper = (most * LOG_REACH.exp()).min(f64::MAX);
        }
    }

    /// A natural length of the free coordinate, by which the optimiser scales it: 1 in `log theta`;
    /// for a parameter of either sign the prior's scale, else a tenth of the bounds, else
    /// `|start|`, else 1.
    #[must_use]
    pub fn free_unit(&self) -> f64 {
        if self.transform == Transform::Log {
            return 1.0;
        }
        let width = 0.1 * (self.upper - self.lower);
        match self.prior {
            PriorDensity::Normal { sd, .. } => sd,
            PriorDensity::HalfNormal { scale } | PriorDensity::HalfStudentT { scale, .. } => scale,
            _ if width.is_finite() => width,
            _ if self.start != 0.0 => self.start.abs(),
            _ => 1.0,
        }
    }

    /// The log prior density *per unit of the free coordinate* `phi`, and its derivative in `phi`.
    ///
    /// `log p(theta(phi)) + log |d theta / d phi|`: a proper prior includes the Jacobian, so its
    /// density integrates to 1 over `phi`; `flat` is constant in `phi`, that is flat in
    /// `log theta` for a positive parameter. A maximum is therefore a maximum in `phi`.
    /// Bounds truncate the density without renormalising it.
    #[must_use]
    pub fn log_prior_free(&self, phi: f64) -> (f64, f64) {
        if self.prior == PriorDensity::Flat {
            return (0.0, 0.0);
        }
        let theta = self.from_free(phi);
        let (value, derivative) = self.prior.log_density(theta);
        match self.transform {
            Transform::Log => (value + phi, derivative * theta + 1.0),
            Transform::Identity => (value, derivative),
        }
    }

    /// A starting value: the prior's quantile at `0 < u < 1`, moved into the bounds.
    ///
    /// A flat prior is replaced by a normal one around the start with sd 1.5 times
    /// [`Parameter::free_unit`].
    #[must_use]
    pub fn start_at(&self, u: f64) -> f64 {
        let phi = match self.prior.quantile(u) {
            Some(theta) => self.to_free(theta),
            None => self.to_free(self.start) + FLAT_SPREAD * self.free_unit() * normal_quantile(u),
        };
        let (lower, upper) = self.free_bounds();
        self.from_free(phi.clamp(lower, upper))
            .clamp(self.lower, self.upper)
    }
}

/// `name = value, ..` of every parameter, for messages.
#[must_use]
pub fn describe(parameters: &[Parameter], theta: &[f64]) -> String {
    let parts: Vec<String> = parameters
        .iter()
        .zip(theta)
        .map(|(parameter, value)| {
            if (1e-3..1e6).contains(&value.abs()) {
                format!("{} = {value:.6}", parameter.name)
            } else {
                format!("{} = {value:.6e}", parameter.name)
            }
        })
        .collect();
    parts.join(", ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn lengthscale(prior: &str) -> Parameter {
        Parameter::positive("se.lengthscale", "reach", 2.0, prior.parse().unwrap())
    }

    #[test]
    fn the_free_prior_is_a_density_in_log_theta() {
        for prior in ["log_normal(0, 1)", "half_student_t(1, 1)", "gamma(2, 1)"] {
            let parameter = lengthscale(prior);
            let h = 1e-3;
            let total: f64 = (-40_000..40_000)
                .map(|i| h * parameter.log_prior_free(h * f64::from(i)).0.exp())
                .sum();
            // An analytic density that falls like e^-|phi|: the trapezoid rule leaves rounding, n
            // eps / 2 = 9e-12, and that of the gamma function.
            assert!((total - 1.0).abs() < 1e-9, "{prior}: {total}");
            for phi in [-1.0, 0.2, 1.5] {
                let d = 1e-5;
                let numeric = (parameter.log_prior_free(phi + d).0
                    - parameter.log_prior_free(phi - d).0)
                    / (2.0 * d);
                // Truncation d^2 / 6 times third derivatives up to 5: 8e-11; rounding 5 eps / d:
                // 1e-10.
                assert!((numeric - parameter.log_prior_free(phi).1).abs() < 1e-8);
            }
        }
        assert_eq!(lengthscale("flat").log_prior_free(3.0), (0.0, 0.0));
    }

    #[test]
    fn transforms_are_inverse_and_bounds_follow() {
        let mut parameter = lengthscale("flat");
        // The half ulp of log 3.7, 1.1e-16, times 3.7, and that of the exponential.
        assert!((parameter.from_free(parameter.to_free(3.7)) - 3.7).abs() < 1e-15);
        assert_eq!(
            parameter.free_bounds(),
            (2f64.ln() - 12.0, 2f64.ln() + 12.0)
        );
        parameter.lower = 1.0;
        parameter.upper = 4.0;
        assert_eq!(parameter.free_bounds(), (0.0, 4f64.ln()));
        assert_eq!(
            Parameter::real("a", "weight", 0.0, PriorDensity::Flat).free_bounds(),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
    }

    #[test]
    fn starts_are_quantiles_inside_the_bounds() {
        let mut parameter = lengthscale("flat");
        // A median is the centre to a few roundings.
        assert!((parameter.start_at(0.5) - 2.0).abs() < 1e-12);
        // Nine digits of Phi(1) leave 6.9e-11 / 0.242 of a quantile, 1.5 times that of its
        // exponential.
        assert!((parameter.start_at(0.841_344_746) / (2.0 * 1.5f64.exp()) - 1.0).abs() < 1e-9);
        parameter.upper = 3.0;
        assert_eq!(parameter.start_at(0.99), 3.0);
        let weight = Parameter::real("w", "weight", 0.5, "normal(1, 2)".parse().unwrap());
        assert!((weight.start_at(0.5) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn unusable_settings_are_refused() {
        let good = lengthscale("half_normal(1)");
        assert!(good.validate().is_ok());
        let bad = [
            Parameter {
                start: f64::NAN,
                ..good.clone()
            },
            Parameter {
                start: -1.0,
                lower: -2.0,
                ..good.clone()
            },
            Parameter {
                lower: 5.0,
                upper: 4.0,
                ..good.clone()
            },
            Parameter {
                lower: 2.0,
                upper: 2.0,
                ..good.clone()
            },
            Parameter {
                lower: 3.0,
                ..good.clone()
            },
            Parameter {
                prior: PriorDensity::HalfNormal { scale: 0.0 },
                ..good.clone()
            },
            Parameter {
                prior: PriorDensity::Normal { mean: 0.0, sd: 1.0 },
                ..good.clone()
            },
            Parameter {
                transform: Transform::Identity,
                start: -1.0,
                lower: -5.0,
                ..good.clone()
            },
        ];
        for parameter in bad {
            assert!(parameter.validate().is_err(), "{parameter:?}");
        }
    }

    #[test]
    fn description_names_every_value() {
        let parameters = [lengthscale("flat"), lengthscale("flat")];
        let text = describe(&parameters, &[2.5, 1.25e-9]);
        assert_eq!(
            text,
            "se.lengthscale = 2.500000, se.lengthscale = 1.250000e-9"
        );
    }
}
