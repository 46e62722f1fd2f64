//! Normal noise of known or learned variance.

use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Normal};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::{Noise, check, exact};
use crate::error::InputError;
use crate::parameter::Parameter;

/// Values observed with normal noise, `y_i = L_i f + e_i`, `e_i ~ N(0, variance_i)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gaussian {
    values: Vec<f64>,
    noise: Noise,
}

impl Gaussian {
    /// # Errors
    /// [`InputError::Shape`] when a variance column has another length,
    /// [`InputError::NotFinite`], [`InputError::Range`] for a negative variance.
    pub fn new(values: Vec<f64>, noise: Noise) -> Result<Self, InputError> {
        let made = Self { values, noise };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        check::finite("the value", &self.values)?;
        self.noise.check(self.values.len(), |_| false)
    }

    /// The observed values.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// What is known of the noise.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    pub(super) fn noise_mut(&mut self) -> &mut Noise {
        &mut self.noise
    }
}

impl Local for Gaussian {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn parameters(&self, spread: f64) -> Vec<Parameter> {
        self.noise.parameters(spread)
    }

    fn gaussian(&self, own: &[f64], row: usize) -> Option<(f64, f64)> {
        Some((self.values[row], self.noise.variance(own, row)))
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, _own: &[f64], row: usize) -> f64 {
        self.values[row]
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        exact::jet(self.values[row], self.noise.variance(own, row), f)
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        if let Some(out) = out.first_mut() {
            *out = exact::slopes(self.values[row], self.noise.variance(own, row), f);
        }
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        exact::tilted(self.values[row], self.noise.variance(own, row), cavity)
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        if let Some(out) = out.first_mut() {
            *out = exact::tilted_slope(self.values[row], self.noise.variance(own, row), cavity);
        }
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        exact::expected(self.values[row], self.noise.variance(own, row), belief)
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        if let Some(out) = out.first_mut() {
            *out = exact::expected_slope(self.values[row], self.noise.variance(own, row), belief);
        }
    }

    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::Normal(Normal {
            mean: f,
            sd: self.noise.variance_of_new(own, circumstances).sqrt(),
        })
    }
}
