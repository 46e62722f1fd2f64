//! Rows that are elsewhere, and how they are asked.

use serde::{Deserialize, Serialize};

use super::log_sum::LogSum;
use super::normal::Normal;
use super::sums::{Depth, Sums};

/// One pass, as it is asked of whoever has rows: plain numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pass {
    /// Every hyperparameter, natural units.
    pub theta: Vec<f64>,
    /// What is put for expectations of sums.
    pub form: LogSum,
    /// The belief about the whitened inducing values.
    pub belief: Normal,
    /// How much is computed.
    pub depth: Depth,
}

/// Whoever has the rows, where they are elsewhere: processes or machines with a part of them each.
pub trait Shards: Send + Sync {
    /// The sums over each part, in the order of these, whoever computed them.
    ///
    /// # Errors
    /// Why there are none, in words.
    fn sums(&self, pass: &Pass) -> Result<Vec<Sums>, String>;

    /// Points of all rows.
    fn points(&self) -> usize;
}
