//! Leaves of a kernel, with the dimensions on which they stand.

use super::leaf::Kind;
use super::mixing::Mixing;

/// A leaf whose columns and parameters are indices.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexedLeaf {
    pub kind: Kind,
    pub columns: Vec<usize>,
    /// Index of the variance; none inside a product.
    pub variance: Option<usize>,
    /// One index per column (repeated when shared); empty when the kind has none.
    pub lengthscales: Vec<usize>,
    pub alpha: Option<usize>,
    /// One index per column; periodic only.
    pub periods: Vec<usize>,
    /// Where lines are zero; linear only.
    pub origin: f64,
    /// Coregion only.
    pub mixing: Option<Mixing>,
}
