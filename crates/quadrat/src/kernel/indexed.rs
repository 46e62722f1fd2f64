//! Leaves of a kernel, with the dimensions on which they stand.

use super::Role;
use super::leaf::{Kind, Leaf};
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

/// Indices of the lengthscales of a leaf, one per column, which `add` makes.
pub(super) fn lengthscales(
    leaf: &Leaf,
    columns: &[usize],
    add: &mut impl FnMut(String, Role, Option<f64>) -> usize,
) -> Vec<usize> {
    if !leaf.kind.has_lengthscale(columns.len()) {
        return Vec::new();
    }
    let role = |of: &[usize]| match leaf.kind {
        Kind::Periodic => Role::PeriodicLengthscale,
        _ => Role::Lengthscale(of.to_vec()),
    };
    if leaf.shared {
        return vec![add("lengthscale".into(), role(columns), None); columns.len()];
    }
    let one = |(i, column): (usize, &usize)| {
        let name = format!("lengthscale.{}", leaf.columns[i]);
        add(name, role(&[*column]), None)
    };
    columns.iter().enumerate().map(one).collect()
}
