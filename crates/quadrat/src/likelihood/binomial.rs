//! Successes among trials.

use serde::{Deserialize, Serialize};

use super::check;
use super::distribution::{self, Distribution};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::sigmoid::Sigmoid;
use crate::error::InputError;
use crate::parameter::Parameter;

/// Successes among trials, `y_i ~ Binomial(trials_i, sigmoid(f_i))`; log-concave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binomial {
    successes: Vec<f64>,
    trials: Vec<f64>,
    sigmoid: Sigmoid,
}

impl Binomial {
    /// # Arguments
    /// * `successes` - whole numbers, 0 to the trials of the row, shape `[n]`
    /// * `trials` - whole numbers, shape `[n]`; a row without trials says nothing
    /// # Errors
    /// [`InputError::Shape`], [`InputError::Range`].
    pub fn new(
        successes: Vec<f64>,
        trials: Vec<f64>,
        sigmoid: Sigmoid,
    ) -> Result<Self, InputError> {
        check::length("the trials", successes.len(), trials.len())?;
        let whole = |_: usize, x: f64| x >= 0.0 && x.fract() == 0.0 && x <= 9.0e15;
        let requirement = "a whole number, zero or more";
        check::range("the number of trials", &trials, requirement, whole)?;
        check::range("the number of successes", &successes, requirement, whole)?;
        check::range(
            "the number of successes",
            &successes,
            "at most the trials of its row",
            |row, x| x <= trials[row],
        )?;
        Ok(Self {
            successes,
            trials,
            sigmoid,
        })
    }

    /// Successes.
    #[must_use]
    pub fn successes(&self) -> &[f64] {
        &self.successes
    }

    /// Trials.
    #[must_use]
    pub fn trials(&self) -> &[f64] {
        &self.trials
    }

    /// From the latent value to the probability.
    #[must_use]
    pub fn sigmoid(&self) -> Sigmoid {
        self.sigmoid
    }

    /// Successes and failures.
    fn counts(&self, row: usize) -> (f64, f64) {
        let k = self.successes[row];
        (k, self.trials[row] - k)
    }
}

impl Local for Binomial {
    fn rows(&self) -> usize {
        self.successes.len()
    }

    fn parameters(&self, _: f64) -> Vec<Parameter> {
        Vec::new()
    }

    fn gaussian(&self, _: &[f64], _: usize) -> Option<(f64, f64)> {
        None
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, _: &[f64], row: usize) -> f64 {
        let (k, m) = self.counts(row);
        self.sigmoid.guess(k, m)
    }

    fn log_density(&self, _: &[f64], row: usize, f: f64) -> Jet {
        let (k, m) = self.counts(row);
        self.sigmoid.jet(k, m, f)
    }

    fn log_density_slopes(&self, _: &[f64], _: usize, _: f64, _: &mut [[f64; 3]]) {}

    fn tilted(&self, _: &[f64], row: usize, cavity: Belief) -> Tilted {
        let (k, m) = self.counts(row);
        self.sigmoid.tilted(k, m, cavity)
    }

    fn tilted_slopes(&self, _: &[f64], _: usize, _: Belief, _: &mut [f64]) {}

    fn expected(&self, _: &[f64], row: usize, belief: Belief) -> Expected {
        let (k, m) = self.counts(row);
        self.sigmoid.expected(k, m, belief)
    }

    fn expected_slopes(&self, _: &[f64], _: usize, _: Belief, _: &mut [f64]) {}

    fn observation(&self, _: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::Binomial(distribution::Binomial {
            trials: circumstances.trials,
            probability: self.sigmoid.value(f),
        })
    }
}
