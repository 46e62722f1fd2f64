//! A latent function at the rows, before any row is seen.

use super::site::Parted;
use crate::linalg::MatRef;

/// Floor of the unit of precisions, as a share of the whole prior variance of a row.
pub(super) const VAGUE: f64 = 1e-8;

/// A latent function at its coordinates.
pub(in crate::inference) struct Process<'a> {
    pub k: MatRef<'a, f64>,
    pub prior_mean: &'a [f64],
    /// `K` in two parts, where some constant is unknown.
    pub parts: Option<&'a Parted>,
    /// `L'` with `K = L L'`, where that is of a low rank.
    pub root: Option<MatRef<'a, f64>>,
}

impl Process<'_> {
    /// The variance of a row to which a precision is compared: that of the kernel where vague
    /// constants are told apart, whose variance then takes no digits.
    pub(super) fn unit(&self, row: usize) -> f64 {
        let k = self.k[(row, row)];
        let kernel = self.parts.map(|parts| parts.kernel[(row, row)]);
        kernel.map_or(k, |kernel| kernel.max(VAGUE * k))
    }
}
