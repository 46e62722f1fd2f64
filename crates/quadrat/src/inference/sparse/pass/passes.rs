//! What can evaluate the sums over all rows.

use crate::error::FitError;
use crate::inference::sparse::Normal;
use crate::inference::sparse::sums::{Depth, Sums};

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
