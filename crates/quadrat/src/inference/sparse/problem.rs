//! What sparse inference asks of a model.

use super::bags::Bags;
use super::prior::{SparsePrior, UnknownMean};
use super::shards::Shards;
use crate::covariance::Induced;
use crate::inference::sites::Block;
use crate::parameter::Parameter;

/// A prior and what rows reported of it.
pub trait SparseProblem: Sync {
    /// The kernel at inducing points and at the points of rows, chunk by chunk.
    fn induced(&self) -> &Induced;

    /// The mean, unless it is zero or known.
    fn unknown_mean(&self) -> Option<&dyn UnknownMean> {
        None
    }

    /// Both together.
    fn prior(&self) -> SparsePrior<'_> {
        SparsePrior {
            induced: self.induced(),
            mean: self.unknown_mean(),
        }
    }

    /// Which rows look at which points.
    fn bags(&self) -> &Bags;

    /// `m(x)` of the points of a chunk.
    fn prior_mean(&self, chunk: usize) -> &[f64];

    /// The tables of rows, in order; together they cover all rows.
    fn blocks(&self) -> Vec<Block<'_>>;

    /// Every hyperparameter, in the order of `theta`.
    fn parameters(&self) -> &[Parameter];

    /// Whoever has the rows, where those here only stand for them: they then tell where to begin,
    /// and every pass is asked of the others.
    fn shards(&self) -> Option<&dyn Shards> {
        None
    }

    /// The kernel expression, for error messages.
    fn describe(&self) -> String;
}
