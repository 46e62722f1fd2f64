//! What can evaluate the sums over all rows.

use serde::{Deserialize, Serialize};

use super::bound::Depth;
use super::stream::Stream;
use super::sums::Sums;
use crate::error::FitError;
use crate::inference::sparse::{LogSum, Normal, SparseProblem};

/// Evaluates the sums over all rows, at hyperparameters that it holds.
///
/// A belief goes in and plain numbers come out, and both can be written down and read again, so
/// that nothing else need pass between who asks and who computes.
pub(super) trait Passes {
    /// The sums over parts of the rows, in the order of these.
    ///
    /// Neither the parts nor a number in them may depend on how many threads or machines took part.
    fn sums(&self, q: &Normal, depth: Depth) -> Result<Vec<Sums>, FitError>;
}

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

/// The sums over the rows of a problem, added up.
///
/// # Errors
/// As [`super::bound`].
pub fn sums(problem: &dyn SparseProblem, pass: &Pass) -> Result<Sums, FitError> {
    let stream = Stream::new(problem, &pass.theta, pass.form, 0)?;
    let mut total = stream.none(pass.depth);
    for sum in stream.sums(&pass.belief, pass.depth)? {
        total.add(&sum);
    }
    Ok(total)
}
