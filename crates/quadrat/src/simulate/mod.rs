//! Artificial data, seeded: draws of a prior, and what instruments would report of them.
//!
//! Every part of the data has a stream of random numbers of its own, so that asking for more of one
//! kind leaves the truth and the other kinds as they are. Nothing depends on the number of threads.

mod censored;
mod country;
mod field;
mod mixed;

pub use censored::{Censored, CensoredData, CensoredOutput, Overlap, Record};
pub use country::{Country, CountryData};
pub use field::se_on_grid;
pub use mixed::{Mixed, MixedData, Row};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::error::LinalgError;

/// A simulation that cannot be made.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// An option is outside its range.
    #[error("{option} is {value}; it must be {requirement}")]
    Option {
        /// Which one: the name of its field.
        option: &'static str,
        /// The value given.
        value: f64,
        /// What would be accepted.
        requirement: String,
    },
    /// The covariance of a grid could not be factorised.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

/// Refuses a value of an option unless it holds.
fn check(
    option: &'static str,
    value: f64,
    holds: bool,
    requirement: &str,
) -> Result<(), SimulateError> {
    if holds {
        return Ok(());
    }
    Err(SimulateError::Option {
        option,
        value,
        requirement: requirement.to_owned(),
    })
}

/// Stream `stream` of the random numbers of a seed.
fn random(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    random
}
