//! Yes or no.

use serde::{Deserialize, Serialize};

use super::distribution::{self, Distribution};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::sigmoid::Sigmoid;
use crate::parameter::Parameter;

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

    /// Successes and failures.
    fn counts(&self, row: usize) -> (f64, f64) {
        if self.values[row] {
            (1.0, 0.0)
        } else {
            (0.0, 1.0)
        }
    }
}

impl Local for Bernoulli {
    fn rows(&self) -> usize {
        self.values.len()
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

    fn observation(&self, _: &[f64], _: &Circumstances, f: f64) -> Distribution {
        Distribution::Binomial(distribution::Binomial {
            trials: 1,
            probability: self.sigmoid.value(f),
        })
    }
}
