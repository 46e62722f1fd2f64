//! Successes among trials.

use serde::{Deserialize, Serialize};

use super::answers::Answers;
use super::check;
use super::local::Circumstances;
use super::sigmoid::Sigmoid;
use crate::error::InputError;

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
        let made = Self {
            successes,
            trials,
            sigmoid,
        };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        let (successes, trials) = (&self.successes, &self.trials);
        check::length("the trials", successes.len(), trials.len())?;
        let whole = |_: usize, x: f64| x >= 0.0 && x.fract() == 0.0 && x <= 9.0e15;
        let requirement = "a whole number from 0 to 9e15";
        check::range("the number of trials", trials, requirement, whole)?;
        check::range("the number of successes", successes, requirement, whole)?;
        check::range(
            "the number of successes",
            successes,
            "at most the trials of its row",
            |row, x| x <= trials[row],
        )
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
}

impl Answers for Binomial {
    fn count(&self) -> usize {
        self.successes.len()
    }

    fn split(&self, row: usize) -> (f64, f64) {
        let k = self.successes[row];
        (k, self.trials[row] - k)
    }

    fn probability(&self) -> Sigmoid {
        self.sigmoid
    }

    fn trials(&self, circumstances: &Circumstances) -> u64 {
        circumstances.trials
    }
}
