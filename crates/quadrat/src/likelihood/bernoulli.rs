//! Yes or no.

use serde::{Deserialize, Serialize};

use super::answers::Answers;
use super::local::Circumstances;
use super::sigmoid::Sigmoid;

/// Yes or no, `P(yes) = sigmoid(f)`; log-concave. Moments under probit are in closed form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bernoulli {
    values: Vec<bool>,
    sigmoid: Sigmoid,
}

impl Bernoulli {
    /// Every list of answers is accepted.
    #[must_use]
    pub fn new(values: Vec<bool>, sigmoid: Sigmoid) -> Self {
        Self { values, sigmoid }
    }

    /// The answers.
    #[must_use]
    pub fn values(&self) -> &[bool] {
        &self.values
    }

    /// From the latent value to the probability of a yes.
    #[must_use]
    pub fn sigmoid(&self) -> Sigmoid {
        self.sigmoid
    }
}

impl Answers for Bernoulli {
    fn count(&self) -> usize {
        self.values.len()
    }

    fn split(&self, row: usize) -> (f64, f64) {
        if self.values[row] {
            (1.0, 0.0)
        } else {
            (0.0, 1.0)
        }
    }

    fn probability(&self) -> Sigmoid {
        self.sigmoid
    }

    fn trials(&self, _: &Circumstances) -> u64 {
        1
    }
}
