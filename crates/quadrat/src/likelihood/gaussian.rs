//! Normal noise of known or learned variance.

use serde::{Deserialize, Serialize};

use crate::error::InputError;

/// What is known of the noise variance, in the squared unit of the values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Noise {
    /// One known variance per row, each >= 0.
    Known(Vec<f64>),
    /// One variance for all rows, learned.
    Learned,
    /// Known variances per row, plus a learned one.
    KnownPlusLearned(Vec<f64>),
}

impl Noise {
    /// The known part, one variance per row.
    #[must_use]
    pub fn known(&self) -> Option<&[f64]> {
        match self {
            Self::Known(v) | Self::KnownPlusLearned(v) => Some(v),
            Self::Learned => None,
        }
    }

    /// Whether a variance is learned.
    #[must_use]
    pub fn is_learned(&self) -> bool {
        !matches!(self, Self::Known(_))
    }
}

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
        for (row, &value) in values.iter().enumerate() {
            if !value.is_finite() {
                return Err(InputError::NotFinite {
                    what: "the value".into(),
                    row,
                    value,
                });
            }
        }
        if let Some(known) = noise.known() {
            if known.len() != values.len() {
                return Err(InputError::Shape {
                    what: "the variance",
                    expected: values.len(),
                    got: known.len(),
                });
            }
            for (row, &value) in known.iter().enumerate() {
                if !(value >= 0.0 && value.is_finite()) {
                    return Err(InputError::Range {
                        what: "the variance".into(),
                        row,
                        value,
                        requirement: "a finite number, zero or more",
                    });
                }
            }
        }
        Ok(Self { values, noise })
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
}
