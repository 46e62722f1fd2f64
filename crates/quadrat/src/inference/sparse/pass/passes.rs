//! What can evaluate the sums over all rows.

use super::bound::Depth;
use super::sums::Sums;
use crate::inference::sparse::Normal;

/// Evaluates the sums over all rows, at hyperparameters that it holds: threads of this machine
/// ([`Stream`](super::Stream)), other machines that have a part of the rows each, or a device.
///
/// A belief goes in and plain numbers come out, and both can be written down and read again, so
/// that nothing else need pass between who asks and who computes.
pub trait Passes {
    /// The sums over parts of the rows, in the order of these.
    ///
    /// Neither the parts nor a number in them may depend on how many threads or machines took part.
    fn sums(&self, q: &Normal, depth: Depth) -> Vec<Sums>;
}
