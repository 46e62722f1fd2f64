//! One table of observations.

use serde::{Deserialize, Serialize};

use super::checks::knows_its_scale;
use super::defaults::rms;
use crate::error::InputError;
use crate::likelihood::{Gaussian, Likelihood, Noise};
use crate::support::Functionals;

/// Rows that share a likelihood: where each looked and what it reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observations {
    pub(super) supports: Functionals,
    pub(super) likelihood: Likelihood,
    pub(super) share_noise: bool,
    pub(super) output: Option<String>,
}

impl Observations {
    /// Supports and what was reported there.
    ///
    /// # Errors
    /// [`InputError::Empty`] without rows, [`InputError::Shape`] when the likelihood speaks of
    /// another number of rows.
    pub fn new(
        supports: Functionals,
        likelihood: impl Into<Likelihood>,
    ) -> Result<Self, InputError> {
        let likelihood = likelihood.into();
        if supports.is_empty() {
            return Err(InputError::Empty);
        }
        if likelihood.rows() != supports.len() {
            return Err(InputError::Shape {
                what: "the values",
                expected: supports.len(),
                got: likelihood.rows(),
            });
        }
        Ok(Self {
            supports,
            likelihood,
            share_noise: false,
            output: None,
        })
    }

    /// Values of linear functionals with normal noise.
    ///
    /// # Errors
    /// As [`Self::new`] and [`Gaussian::new`].
    pub fn gaussian(
        supports: Functionals,
        values: Vec<f64>,
        noise: Noise,
    ) -> Result<Self, InputError> {
        if supports.is_empty() {
            return Err(InputError::Empty);
        }
        Self::new(supports, Gaussian::new(values, noise)?)
    }

    /// Whether the parts fit together; deserialised tables are not trusted.
    pub(super) fn is_consistent(&self) -> bool {
        !self.supports.is_empty()
            && self.supports.is_consistent()
            && self.supports.len() == self.likelihood.rows()
    }

    /// Some of the rows.
    ///
    /// # Errors
    /// [`InputError`] where the rows that are left say too little.
    pub(super) fn rows(&self, rows: &[usize]) -> Result<Self, InputError> {
        Ok(Self {
            supports: self.supports.rows(rows),
            likelihood: self.likelihood.select(rows)?,
            ..self.clone()
        })
    }

    /// About a share of the rows, evenly spread: their numbers.
    pub(super) fn evenly(&self, share: f64) -> Vec<usize> {
        let n = self.supports.len();
        let left = ((n as f64 * share).ceil() as usize).clamp(1, n);
        (0..left).map(|i| i * n / left).collect()
    }

    /// Uses the learned noise variance of another table instead of one of its own: that of the first table that does not share,
    /// wherever it stands; where every table shares, they have one together.
    #[must_use]
    pub fn share_noise(mut self) -> Self {
        self.share_noise = true;
        self
    }

    /// Says which output the rows are of, where the kernel has several.
    #[must_use]
    pub fn of_output(mut self, name: impl Into<String>) -> Self {
        self.output = Some(name.into());
        self
    }

    /// The output the rows are of.
    #[must_use]
    pub fn output(&self) -> Option<&str> {
        self.output.as_deref()
    }

    /// Where the rows looked.
    #[must_use]
    pub fn supports(&self) -> &Functionals {
        &self.supports
    }

    /// What the rows reported.
    #[must_use]
    pub fn likelihood(&self) -> &Likelihood {
        &self.likelihood
    }

    /// Values and noise, where the noise is normal.
    #[must_use]
    pub fn as_gaussian(&self) -> Option<&Gaussian> {
        match &self.likelihood {
            Likelihood::Gaussian(gaussian) => Some(gaussian),
            _ => None,
        }
    }

    /// A plausible value of every functional, to judge scales by: what was reported where that is a
    /// value. Empty for rows that only bound it.
    pub(super) fn typical(&self) -> Vec<f64> {
        match &self.likelihood {
            Likelihood::Gaussian(gaussian) => gaussian.values().to_vec(),
            Likelihood::Positive(_) => Vec::new(),
            other => {
                let local = other.local();
                let guesses = |own: &[f64]| -> Vec<f64> {
                    (0..local.rows()).map(|row| local.guess(own, row)).collect()
                };
                let starts = |scale: f64| -> Vec<f64> {
                    let own = local.parameters(scale);
                    own.iter().map(|p| p.start).collect()
                };
                let mut own = starts(1.0);
                let learns = other.noise().is_some_and(Noise::is_learned);
                if learns && knows_its_scale(self) {
                    // Values beyond a limit lie about an sd of the noise from it, in the unit of the limits.
                    own[0] = 0.0;
                    own = starts(self.spread_of(&guesses(&own)));
                }
                guesses(&own)
            }
        }
    }

    /// Root mean square of values about the same density everywhere; one where they are all alike, which tell no unit.
    fn spread_of(&self, values: &[f64]) -> f64 {
        let sizes = || (0..values.len()).map(|row| self.supports.size(row));
        let total: f64 = sizes().sum();
        let density = if total == 0.0 {
            0.0
        } else {
            values.iter().sum::<f64>() / total
        };
        let residuals = values
            .iter()
            .zip(sizes())
            .map(|(y, size)| y - density * size);
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let spread = rms(residuals);
        if spread > ROUNDING * largest {
            spread
        } else {
            1.0
        }
    }
}

/// Values are alike where they differ by less than this share of the largest.
const ROUNDING: f64 = 1e-12;
