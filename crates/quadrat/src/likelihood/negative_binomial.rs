//! Overdispersed counts.

use serde::{Deserialize, Serialize};

use super::count_rows::{CountRows, columns};
use super::distribution::{self, Distribution};
use super::local::{Belief, Change, Circumstances, Expected, Jet, Local, Tilted};
use super::seldom;
use crate::error::InputError;
use crate::link::Link;
use crate::parameter::{Parameter, PriorDensity};

/// What is known of the dispersion `alpha` of a negative binomial, variance `mu + alpha mu^2`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Dispersion {
    /// A known value, > 0.
    Known(f64),
    /// One value for all rows, learned.
    Learned,
}

/// Counts with mean `mu_i = exposure_i link(f_i)` and variance `mu + alpha mu^2`, seen exactly or
/// only as a range.
///
/// Own hyperparameter: `negative_binomial.dispersion`, where it is learned. Its prior is half
/// Student-t with 4 degrees of freedom and scale 1: half of it below 0.74, not zero at 0, where the
/// counts are Poisson.
///
/// # Links
/// As for [`Poisson`](super::Poisson), but only `exp` is log-concave: for the others the tails in
/// `f` are as heavy as a power of `f`.
///
/// # Numerics
/// Counts to 1e6, exposures 1e-6 to 1e6; tends to [`Poisson`](super::Poisson) as the dispersion
/// goes to 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NegativeBinomial {
    rows: CountRows,
    dispersion: Dispersion,
}

impl NegativeBinomial {
    /// Counts; the arguments of [`Poisson::new`](super::Poisson::new), and the dispersion.
    ///
    /// # Errors
    /// [`InputError::Shape`], [`InputError::Range`]; [`InputError::Unavailable`] for the identity
    /// link; [`InputError::Parameter`] for a known dispersion that is not positive.
    pub fn new(
        counts: Vec<f64>,
        exposure: Vec<f64>,
        link: Link,
        dispersion: Dispersion,
    ) -> Result<Self, InputError> {
        Self::ranges(counts.clone(), counts, exposure, link, dispersion)
    }

    /// Ranges of counts, both ends included; equal ends are a count, an upper end may be infinite.
    ///
    /// # Errors
    /// As [`NegativeBinomial::new`], and [`InputError::Range`] for an upper end below its lower.
    pub fn ranges(
        lower: Vec<f64>,
        upper: Vec<f64>,
        exposure: Vec<f64>,
        link: Link,
        dispersion: Dispersion,
    ) -> Result<Self, InputError> {
        let rows = CountRows {
            lower,
            upper,
            exposure,
            link,
        };
        let made = Self { rows, dispersion };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::ranges`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        if let Dispersion::Known(value) = self.dispersion
            && !(value > 0.0 && value.is_finite())
        {
            return Err(InputError::Parameter {
                name: NAME.into(),
                reason: format!("it is {value}; give a positive number, or use `poisson`"),
            });
        }
        self.rows.check()
    }

    /// The same counts where every mean is that many times as large.
    pub(super) fn per_unit(&self, sizes: &[f64]) -> Self {
        Self {
            rows: self.rows.per_unit(sizes),
            dispersion: self.dispersion,
        }
    }

    /// What is known of the dispersion.
    #[must_use]
    pub fn dispersion(&self) -> Dispersion {
        self.dispersion
    }

    fn value(&self, own: &[f64]) -> f64 {
        match self.dispersion {
            Dispersion::Known(value) => value,
            Dispersion::Learned => own.first().copied().unwrap_or(f64::NAN),
        }
    }
}

columns!(NegativeBinomial);

/// Name of the own hyperparameter.
const NAME: &str = "negative_binomial.dispersion";

impl Local for NegativeBinomial {
    fn rows(&self) -> usize {
        self.rows.lower.len()
    }

    fn parameters(&self, _: f64) -> Vec<Parameter> {
        match self.dispersion {
            Dispersion::Known(_) => Vec::new(),
            Dispersion::Learned => vec![Parameter::positive(
                NAME,
                "variance of the relative excess of counts over Poisson",
                0.1,
                PriorDensity::HalfStudentT {
                    dof: 4.0,
                    scale: 1.0,
                },
            )],
        }
    }

    fn is_log_concave(&self) -> bool {
        self.rows.is_log_concave(true)
    }

    fn guess(&self, _: &[f64], row: usize) -> f64 {
        self.rows.guess(row)
    }

    fn seldom(&self, weights: &[f64]) -> Option<Belief> {
        seldom::of_counts(&self.rows, weights)
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        self.rows.jet(row, self.value(own), f)
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        if let Some(first) = out.first_mut() {
            *first = self.rows.slopes(row, self.value(own), f);
        }
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        self.rows.tilted(row, self.value(own), cavity)
    }

    fn tilted_over(
        &self,
        first: &[f64],
        _: &[f64],
        row: usize,
        cavity: Belief,
        is_coarse: bool,
        out: &mut [Change],
    ) {
        match self.dispersion {
            Dispersion::Learned => self.rows.tilted_over(row, first, cavity, is_coarse, out),
            Dispersion::Known(value) => {
                out.fill(Change::of(self.rows.tilted(row, value, cavity), cavity));
            }
        }
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        if let Some(first) = out.first_mut() {
            *first = self.rows.tilted_slope(row, self.value(own), cavity);
        }
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        self.rows.expected(row, self.value(own), belief)
    }

    fn expected_over(
        &self,
        first: &[f64],
        _: &[f64],
        row: usize,
        belief: Belief,
        out: &mut [Expected],
    ) {
        match self.dispersion {
            Dispersion::Learned => self.rows.expected_over(row, first, belief, out),
            Dispersion::Known(value) => out.fill(self.rows.expected(row, value, belief)),
        }
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        if let Some(first) = out.first_mut() {
            *first = self.rows.expected_slope(row, self.value(own), belief);
        }
    }

    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::NegativeBinomial(distribution::NegativeBinomial {
            mean: self.rows.new_mean(circumstances.exposure, f),
            dispersion: self.value(own),
        })
    }
}
