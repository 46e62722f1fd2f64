//! One table of observations.

use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::likelihood::{Gaussian, Noise};
use crate::support::Functionals;

/// Rows that share a likelihood: where each looked and what it reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observations {
    pub(super) supports: Functionals,
    pub(super) likelihood: Gaussian,
    pub(super) share_noise: bool,
}

impl Observations {
    /// Values of linear functionals with normal noise.
    ///
    /// # Errors
    /// [`InputError::Empty`] without rows, and as [`Gaussian::new`].
    pub fn gaussian(
        supports: Functionals,
        values: Vec<f64>,
        noise: Noise,
    ) -> Result<Self, InputError> {
        if supports.is_empty() {
            return Err(InputError::Empty);
        }
        if values.len() != supports.len() {
            return Err(InputError::Shape {
                what: "the values",
                expected: supports.len(),
                got: values.len(),
            });
        }
        Ok(Self {
            supports,
            likelihood: Gaussian::new(values, noise)?,
            share_noise: false,
        })
    }

    /// Uses the learned noise variance of the first table instead of one of its own.
    #[must_use]
    pub fn share_noise(mut self) -> Self {
        self.share_noise = true;
        self
    }

    /// Where the rows looked.
    #[must_use]
    pub fn supports(&self) -> &Functionals {
        &self.supports
    }

    /// What the rows reported.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        self.likelihood.values()
    }

    /// What is known of the noise.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        self.likelihood.noise()
    }
}
