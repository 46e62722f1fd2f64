//! Positive values with a gamma distribution.

use serde::{Deserialize, Serialize};

use super::distribution::{self, Distribution};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::positive_rows::PositiveRows;
use super::quadrature;
use crate::error::InputError;
use crate::link::{CLIP, Link};
use crate::parameter::{Parameter, PriorDensity};
use crate::special::elementary;
use crate::special::stirling::{digamma_gap, gamma_normaliser};

/// What is known of the shape `a` of a gamma distribution, whose variance is `mu^2 / a`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// A known value, > 0; 1 is the exponential distribution.
    Known(f64),
    /// One value for all rows, learned.
    Learned,
}

/// Positive values with mean `mu = exp(f)` and the same relative spread everywhere,
///
/// $$ p(y \mid f) = \frac{a^a}{\Gamma(a)} \frac{y^{a-1}}{\mu^a} e^{-a y / \mu},
/// \qquad \operatorname{Var} y = \mu^2 / a $$
///
/// costs, amounts of rain, sizes, times until an event. Log-concave in `f`.
///
/// Own hyperparameter: `gamma.shape`, where it is learned. Its prior is log-normal around 4, a
/// relative sd of a half, with 1.5 for the sd of the logarithm: relative sds from 0.1 to 2 are
/// within two of them.
///
/// # Source
/// McCullagh and Nelder 1989, section 8.2, with the logarithm as link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gamma {
    rows: PositiveRows,
    shape: Shape,
}

/// Name of the own hyperparameter.
const NAME: &str = "gamma.shape";

impl Gamma {
    /// # Arguments
    /// * `values` - observed values, > 0, shape `[n]`
    /// # Errors
    /// [`InputError::NotFinite`], [`InputError::Range`]; [`InputError::Parameter`] for a known
    /// shape that is not positive.
    pub fn new(values: Vec<f64>, shape: Shape) -> Result<Self, InputError> {
        let made = Self {
            rows: PositiveRows::new(values),
            shape,
        };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        if let Shape::Known(value) = self.shape
            && !(value > 0.0 && value.is_finite())
        {
            return Err(InputError::Parameter {
                name: NAME.into(),
                reason: format!("it is {value}; give a positive number"),
            });
        }
        self.rows.check()
    }

    /// The same values where every mean is that many times as large.
    pub(super) fn per_unit(&self, sizes: &[f64]) -> Self {
        Self {
            rows: self.rows.per_unit(sizes),
            shape: self.shape,
        }
    }

    /// The observed values.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.rows.values
    }

    /// What is known of the shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// From the latent value to the mean.
    #[must_use]
    pub fn link(&self) -> Link {
        Link::Exp
    }

    fn value(&self, own: &[f64]) -> f64 {
        match self.shape {
            Shape::Known(value) => value,
            Shape::Learned => own.first().copied().unwrap_or(f64::NAN),
        }
    }

    fn row(&self, row: usize) -> Row {
        let log_value = self.rows.log_value(row);
        Row {
            log_value,
            rest: -log_value - self.rows.log_size(row),
        }
    }
}

/// `log p = a (d - e^d + 1) + s(a) + rest`, `d = log y - f`: the first part is at most zero, and
/// the second `a log a - a - log Gamma(a)`.
#[derive(Clone, Copy)]
struct Row {
    log_value: f64,
    rest: f64,
}

impl Row {
    fn jet(self, a: f64, f: f64) -> Jet {
        let varying = self.varying(a, f);
        Jet {
            value: varying.value + self.constant(a),
            ..varying
        }
    }

    /// What depends on `f`.
    fn varying(self, a: f64, f: f64) -> Jet {
        let away = self.log_value - f;
        let ratio = elementary::exp(away.min(CLIP));
        Jet {
            value: a * (away - ratio + 1.0),
            first: a * (ratio - 1.0),
            second: -a * ratio,
            third: a * ratio,
        }
    }

    /// What does not.
    fn constant(self, a: f64) -> f64 {
        gamma_normaliser(a) + self.rest
    }
}

impl Local for Gamma {
    fn rows(&self) -> usize {
        self.rows.values.len()
    }

    fn parameters(&self, _: f64) -> Vec<Parameter> {
        match self.shape {
            Shape::Known(_) => Vec::new(),
            Shape::Learned => vec![Parameter::positive(
                NAME,
                "shape: the reciprocal of the squared relative sd of the values",
                4.0,
                PriorDensity::LogNormal {
                    mu: 4.0_f64.ln(),
                    sigma: 1.5,
                },
            )],
        }
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, _: &[f64], row: usize) -> f64 {
        self.row(row).log_value
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        self.row(row).jet(self.value(own), f)
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        if let Some(first) = out.first_mut() {
            let (a, row) = (self.value(own), self.row(row));
            let varying = row.varying(1.0, f);
            let slope = varying.value + digamma_gap(a);
            *first = [slope, varying.first, varying.second];
        }
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        let (a, row) = (self.value(own), self.row(row));
        let tilted = quadrature::tilted(cavity, row.log_value, |f| row.varying(a, f));
        Tilted {
            log_z: tilted.log_z + row.constant(a),
            ..tilted
        }
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        let Some(first) = out.first_mut() else {
            return;
        };
        let (a, row) = (self.value(own), self.row(row));
        let jet = |f: f64| row.varying(a, f);
        let peaks = [quadrature::mode(cavity, row.log_value, jet), row.log_value];
        // The log-density is the shape times this, and a constant.
        let slope = |_: f64, _: f64, at: &Jet| [1.0, at.value / a];
        let (_, _, [_, average]) = quadrature::tilted_averages(cavity, &peaks, true, jet, slope);
        *first = average + digamma_gap(a);
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        let (a, row) = (self.value(own), self.row(row));
        let (away, ratio) = row.under(belief);
        Expected {
            value: a * (away - ratio + 1.0) + row.constant(a),
            first: a * (ratio - 1.0),
            second: -a * ratio,
        }
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        if let Some(first) = out.first_mut() {
            let (away, ratio) = self.row(row).under(belief);
            *first = away - ratio + 1.0 + digamma_gap(self.value(own));
        }
    }

    fn observation(&self, own: &[f64], _: &Circumstances, f: f64) -> Distribution {
        Distribution::Gamma(distribution::Gamma {
            mean: Link::Exp.value(f),
            shape: self.value(own),
        })
    }
}

impl Row {
    /// `E d` and `E e^d = e^(log y - m + v / 2)` under a belief.
    fn under(self, belief: Belief) -> (f64, f64) {
        let away = self.log_value - belief.mean;
        let ratio = elementary::exp((away + 0.5 * belief.variance).min(CLIP));
        (away, ratio)
    }
}
