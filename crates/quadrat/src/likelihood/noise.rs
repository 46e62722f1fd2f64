//! What is known of a noise variance.

use serde::{Deserialize, Serialize};

use super::check;
use super::local::Circumstances;
use crate::error::InputError;
use crate::parameter::{Parameter, PriorDensity};

/// What is known of the noise variance, in the squared unit of the values.
///
/// Where it is learned, `noise.variance` is the first of the likelihood's own hyperparameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Noise {
    /// One known variance per row, each >= 0.
    Known(Vec<f64>),
    /// One variance for all rows, learned.
    Learned,
    /// Known variances per row, plus a learned one.
    KnownPlusLearned(Vec<f64>),
}

/// What a likelihood of noisy values between two numbers of each row says of itself.
macro_rules! between {
    ($kind:ident, $ends:literal) => {
        impl $kind {
            #[doc = concat!("Lower ", $ends, ".")]
            #[must_use]
            pub fn lower(&self) -> &[f64] {
                &self.lower
            }

            #[doc = concat!("Upper ", $ends, ".")]
            #[must_use]
            pub fn upper(&self) -> &[f64] {
                &self.upper
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
    };
}
pub(super) use between;

impl Noise {
    /// The known part, one variance per row.
    #[must_use]
    pub fn known(&self) -> Option<&[f64]> {
        match self {
            Self::Known(v) | Self::KnownPlusLearned(v) => Some(v),
            Self::Learned => None,
        }
    }

    /// Adds a known variance to that of every one of so many rows.
    pub(super) fn add(&mut self, variance: f64, rows: usize) {
        match self {
            Self::Known(known) | Self::KnownPlusLearned(known) => {
                known.iter_mut().for_each(|v| *v += variance);
            }
            Self::Learned => *self = Self::KnownPlusLearned(vec![variance; rows]),
        }
    }

    /// Whether a variance is learned.
    #[must_use]
    pub fn is_learned(&self) -> bool {
        !matches!(self, Self::Known(_))
    }

    /// Number of own hyperparameters: 1 where a variance is learned.
    pub(super) fn count(&self) -> usize {
        usize::from(self.is_learned())
    }

    /// Variance of a row.
    pub(super) fn variance(&self, own: &[f64], row: usize) -> f64 {
        match self {
            Self::Known(known) => known[row],
            Self::Learned => own[0],
            Self::KnownPlusLearned(known) => known[row] + own[0],
        }
    }

    /// Variance of a new observation: what is known of it plus what was learned.
    pub(super) fn variance_of_new(&self, own: &[f64], circumstances: &Circumstances) -> f64 {
        let learned = if self.is_learned() { own[0] } else { 0.0 };
        circumstances.variance + learned
    }

    /// `noise.variance` with start `(0.3 spread)^2` and prior `log-normal(log start, 2)`, or
    /// nothing.
    pub(super) fn parameters(&self, spread: f64) -> Vec<Parameter> {
        if !self.is_learned() {
            return Vec::new();
        }
        let start = (0.3 * spread).powi(2);
        let prior = PriorDensity::LogNormal {
            mu: start.ln(),
            sigma: 2.0,
        };
        vec![Parameter::positive(
            "noise.variance",
            "variance of the noise on a single observation",
            start,
            prior,
        )]
    }

    /// Refuses a column of known variances of another length, not finite or negative; where nothing
    /// is added to it, also zero on the rows that `needs` noise.
    pub(super) fn check(
        &self,
        rows: usize,
        needs: impl Fn(usize) -> bool,
    ) -> Result<(), InputError> {
        let Some(known) = self.known() else {
            return Ok(());
        };
        check::length("the variance", rows, known.len())?;
        check::range(
            "the variance",
            known,
            "a finite number, zero or more",
            |_, v| v >= 0.0 && v.is_finite(),
        )?;
        if self.is_learned() {
            return Ok(());
        }
        check::range(
            "the variance",
            known,
            "more than zero; give the error of a reading, or let a variance be learned as well",
            |row, v| v > 0.0 || !needs(row),
        )
    }
}
