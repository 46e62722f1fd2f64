//! What a mechanism refuses.

use thiserror::Error;

/// Why no noise was added.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PrivacyError {
    /// The privacy parameter is not usable.
    #[error("epsilon is {}; it must be {requirement}", plain(.value))]
    Epsilon {
        /// The value given.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// The privacy parameter of zero-concentrated privacy is not usable.
    #[error("rho is {}; it must be {requirement}", plain(.value))]
    Rho {
        /// The value given.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// The chance that privacy fails is not usable.
    #[error("delta is {}; it must be {requirement}", plain(.value))]
    Delta {
        /// The value given.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// A scale of noise is not usable.
    #[error("the scale is {}; it must be {requirement}", plain(.value))]
    Scale {
        /// The value given.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// The sensitivity is not usable.
    #[error("the sensitivity is {}; it must be {requirement}", plain(.value))]
    Sensitivity {
        /// The value given.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// The range to clip to is not usable.
    #[error("values cannot be clipped to [{lower}, {upper}]: {requirement}")]
    Clip {
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// A count is not usable.
    #[error("the count of row {row} is {}; it must be {requirement}", plain(.value))]
    Count {
        /// Row, counted from 0.
        row: usize,
        /// The value found.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// The operating system gave no randomness.
    #[error("the operating system gives no random numbers ({reason}); nothing was released")]
    NoRandomness {
        /// What it said.
        reason: String,
    },
}

/// Every digit, with an exponent where it would take a line of zeros.
fn plain(value: &f64) -> String {
    if *value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}
