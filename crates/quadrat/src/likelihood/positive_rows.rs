//! Rows of positive values, which likelihoods with a linked mean share.

use serde::{Deserialize, Serialize};

use super::check;
use crate::error::InputError;
use crate::special::elementary;

/// Positive values, as they were observed or per unit of a support.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PositiveRows {
    pub values: Vec<f64>,
    /// Logarithms of what the values were divided by, which belong to their densities; empty: of
    /// one.
    #[serde(skip)]
    log_sizes: Vec<f64>,
}

impl PositiveRows {
    pub fn new(values: Vec<f64>) -> Self {
        Self {
            values,
            log_sizes: Vec::new(),
        }
    }

    /// # Errors
    /// [`InputError::NotFinite`]; [`InputError::Range`] for a value that is not above zero.
    pub fn check(&self) -> Result<(), InputError> {
        check::finite("the value", &self.values)?;
        check::range("the value", &self.values, "more than zero", |_, y| y > 0.0)
    }

    /// The same values where every mean is that many times as large.
    pub fn per_unit(&self, sizes: &[f64]) -> Self {
        Self {
            values: self.values.iter().zip(sizes).map(|(y, s)| y / s).collect(),
            log_sizes: sizes.iter().map(|s| elementary::log(*s)).collect(),
        }
    }

    pub fn log_value(&self, row: usize) -> f64 {
        elementary::log(self.values[row])
    }

    pub fn log_size(&self, row: usize) -> f64 {
        self.log_sizes.get(row).copied().unwrap_or(0.0)
    }
}
