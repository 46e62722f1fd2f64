//! Predictions that are sums over the parts of a support.

use rayon::prelude::*;

use crate::model::Prediction;
use crate::support::Functionals;

/// The weighted sum over the atoms of every row, of what a method tells `over` each, without any
/// uncertainty.
pub(super) fn sums(at: &Functionals, over: impl Fn(usize) -> f64 + Sync) -> Prediction {
    let of_row = |row: usize| at.atoms(row).map(|a| at.weight()[a] * over(a)).sum();
    Prediction::certain((0..at.len()).into_par_iter().map(of_row).collect())
}
