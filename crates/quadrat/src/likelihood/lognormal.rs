//! Positive values with a multiplicative error.

use serde::{Deserialize, Serialize};

use super::check;
use super::distribution::{self, Distribution};
use super::exact;
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::positive_rows::PositiveRows;
use crate::error::InputError;
use crate::link::Link;
use crate::parameter::{Parameter, PriorDensity};

/// What is known of the sd `s` of the logarithm of a log-normal value; its relative sd is
/// `(e^(s^2) - 1)^1/2`, nearly `s` where that is small.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LogSd {
    /// A known value, > 0.
    Known(f64),
    /// One value for all rows, learned.
    Learned,
    /// A known value per row, each > 0.
    Each(Vec<f64>),
}

/// Positive values with mean `mu = exp(f)` and a normal logarithm,
///
/// $$ \log y \sim N(f - s^2 / 2, s^2), \qquad E y = \mu, \qquad \operatorname{Var} y = \mu^2
/// (e^{s^2} - 1) $$
///
/// incomes, concentrations, estimates with an error in percent. The median is `e^(-s^2/2)` times
/// the mean. Of the error of a total the mean is that of the total, so that parts add up to it.
///
/// Own hyperparameter: `lognormal.sd`, where it is learned. Its prior is log-normal around 0.3,
/// with 1 for the sd of the logarithm: 0.04 to 2.2 are within two of them.
///
/// # Source
/// Aitchison and Brown, The Lognormal Distribution, 1957.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogNormal {
    rows: PositiveRows,
    sd: LogSd,
}

/// Name of the own hyperparameter.
const NAME: &str = "lognormal.sd";
/// Its prior median.
const TYPICAL: f64 = 0.3;

impl LogNormal {
    /// # Arguments
    /// * `values` - observed values, > 0, shape `[n]`
    /// # Errors
    /// [`InputError::NotFinite`], [`InputError::Range`], for sds of rows too, and
    /// [`InputError::Shape`] where they are not as many; [`InputError::Parameter`] for a known sd
    /// that is not positive.
    pub fn new(values: Vec<f64>, sd: LogSd) -> Result<Self, InputError> {
        let made = Self {
            rows: PositiveRows::new(values),
            sd,
        };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        match &self.sd {
            LogSd::Known(value) if !(*value > 0.0 && value.is_finite()) => {
                return Err(InputError::Parameter {
                    name: NAME.into(),
                    reason: format!("it is {value}; give a positive number"),
                });
            }
            LogSd::Each(sds) => {
                check::length("the sd", self.rows.values.len(), sds.len())?;
                check::range("the sd", sds, "a finite number above zero", |_, sd| {
                    sd > 0.0 && sd.is_finite()
                })?;
            }
            LogSd::Known(_) | LogSd::Learned => {}
        }
        self.rows.check()
    }

    /// The same values where every mean is that many times as large.
    pub(super) fn per_unit(&self, sizes: &[f64]) -> Self {
        Self {
            rows: self.rows.per_unit(sizes),
            sd: self.sd.clone(),
        }
    }

    /// The observed values.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.rows.values
    }

    /// What is known of the sd of their logarithms.
    #[must_use]
    pub fn sd(&self) -> &LogSd {
        &self.sd
    }

    /// From the latent value to the mean.
    #[must_use]
    pub fn link(&self) -> Link {
        Link::Exp
    }

    fn value(&self, own: &[f64], row: usize) -> f64 {
        match &self.sd {
            LogSd::Known(value) => *value,
            LogSd::Learned => own.first().copied().unwrap_or(f64::NAN),
            LogSd::Each(sds) => sds[row],
        }
    }

    fn row(&self, own: &[f64], row: usize) -> Row {
        let (sd, log_value) = (self.value(own, row), self.rows.log_value(row));
        Row {
            value: log_value + 0.5 * sd * sd,
            sd,
            rest: -log_value - self.rows.log_size(row),
        }
    }
}

/// `log p = log N(log y + s^2 / 2; f, s^2) + rest`: a value with normal noise, which depends on `s`
/// itself.
#[derive(Clone, Copy)]
struct Row {
    value: f64,
    sd: f64,
    rest: f64,
}

impl Row {
    fn variance(self) -> f64 {
        self.sd * self.sd
    }

    /// From a slope in the variance, and one in the value, to that in `s`.
    fn slope(self, in_variance: f64, in_value: f64) -> f64 {
        (2.0 * in_variance + in_value) * self.sd
    }
}

impl Local for LogNormal {
    fn rows(&self) -> usize {
        self.rows.values.len()
    }

    fn parameters(&self, _: f64) -> Vec<Parameter> {
        match self.sd {
            LogSd::Known(_) | LogSd::Each(_) => Vec::new(),
            LogSd::Learned => vec![Parameter::positive(
                NAME,
                "sd of the logarithm of the values around that of their mean",
                TYPICAL,
                PriorDensity::LogNormal {
                    mu: TYPICAL.ln(),
                    sigma: 1.0,
                },
            )],
        }
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, _: &[f64], row: usize) -> f64 {
        self.rows.log_value(row)
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        let row = self.row(own, row);
        let jet = exact::jet(row.value, row.variance(), f);
        Jet {
            value: jet.value + row.rest,
            ..jet
        }
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        if let Some(out) = out.first_mut() {
            let row = self.row(own, row);
            let in_variance = exact::slopes(row.value, row.variance(), f);
            let jet = exact::jet(row.value, row.variance(), f);
            // The density is one of value - f.
            let in_value = [-jet.first, -jet.second, 0.0];
            *out = std::array::from_fn(|k| row.slope(in_variance[k], in_value[k]));
        }
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        let row = self.row(own, row);
        let tilted = exact::tilted(row.value, row.variance(), cavity);
        Tilted {
            log_z: tilted.log_z + row.rest,
            ..tilted
        }
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        if let Some(out) = out.first_mut() {
            let row = self.row(own, row);
            let in_variance = exact::tilted_slope(row.value, row.variance(), cavity);
            let whole = row.variance() + cavity.variance;
            let in_value = -exact::jet(row.value, whole, cavity.mean).first;
            *out = row.slope(in_variance, in_value);
        }
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        let row = self.row(own, row);
        let expected = exact::expected(row.value, row.variance(), belief);
        Expected {
            value: expected.value + row.rest,
            ..expected
        }
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        if let Some(out) = out.first_mut() {
            let row = self.row(own, row);
            let in_variance = exact::expected_slope(row.value, row.variance(), belief);
            let in_value = -exact::jet(row.value, row.variance(), belief.mean).first;
            *out = row.slope(in_variance, in_value);
        }
    }

    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        let sd = match &self.sd {
            LogSd::Each(_) if circumstances.variance > 0.0 => circumstances.variance.sqrt(),
            // The average of the variances.
            LogSd::Each(sds) => {
                let squares = sds.iter().map(|sd| sd * sd).sum::<f64>();
                (squares / sds.len() as f64).sqrt()
            }
            LogSd::Known(_) | LogSd::Learned => self.value(own, 0),
        };
        Distribution::LogNormal(distribution::LogNormal {
            mean: Link::Exp.value(f),
            sd,
        })
    }
}
