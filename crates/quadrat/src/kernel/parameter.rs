//! What the parameters of a kernel are.

use super::leaf::Kind;

/// What a parameter of a kernel is; decides its start, its prior and its meaning in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Variance of a leaf, units of `f^2` (linear: of the squared slope).
    Variance,
    /// Lengthscale along the given columns (indices into
    /// [`Kernel::columns`](super::Kernel::columns)).
    Lengthscale(Vec<usize>),
    /// Lengthscale of a periodic leaf, without unit.
    PeriodicLengthscale,
    /// Period along a column.
    Period(usize),
    /// Shape `alpha` of a rational quadratic leaf.
    Alpha,
    /// Weight of a coregionalisation matrix, units of `f`, of either sign.
    Weight {
        /// Index of the output.
        output: usize,
        /// Column of the mixing matrix.
        column: usize,
    },
    /// Variance that an output of a coregionalisation matrix has for itself, units of `f^2`.
    Kappa {
        /// Index of the output.
        output: usize,
    },
}

/// One parameter of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelParameter {
    /// `<leaf>.<parameter>[.<column>]`, the second leaf of a kind is `se#2`.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Which kind of leaf it belongs to.
    pub kind: Kind,
    /// The columns of its leaf, as indices into
    /// [`Kernel::columns`](super::Kernel::columns).
    pub leaf_columns: Vec<usize>,
    /// A value fixed in the expression (`period = 24`).
    pub fixed: Option<f64>,
    /// Whether it is a variance relative to that of the first term of its sum.
    pub relative: bool,
}
