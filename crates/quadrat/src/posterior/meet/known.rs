//! What of rows behind a link is known exactly: sums of them that no scaling may change.

use super::given::{GroupTotals, digits};
use super::pivots::pivots;
use crate::error::FitError;
use crate::linalg::Mat;
use crate::posterior::lost_digits::{MadeOf, combinations};
use crate::posterior::mixture::Posterior;
use crate::posterior::prediction::Prediction;
use crate::support::Functionals;

/// A row whose sd is a smaller part of its mean is known exactly.
pub(super) const SETTLED: f64 = 1e-6;
/// Totals that differ by a smaller part are the same: coefficients of areas are right to 1e-10.
pub(super) const SAME: f64 = 1e-8;
/// What is left of a sum beside others where it is made of them: coefficients are right to 1e-10,
/// and this is their square with room for sums of many.
const NOTHING_NEW: f64 = 1e-14;

/// A sum of predicted rows that is known exactly.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    pub parts: MadeOf,
    pub value: f64,
}

impl Known {
    /// The sum of its parts.
    pub fn sum(&self, values: &[f64]) -> f64 {
        self.parts.iter().map(|(row, w)| w * values[*row]).sum()
    }

    /// Whether it is met by scaling its parts.
    pub fn is_scaled(&self) -> bool {
        self.parts.iter().all(|(_, w)| *w >= 0.0)
    }
}

/// Sums that are known exactly: observed rows that are made of predicted ones, and predicted rows
/// that have no spread.
///
/// # Arguments
/// * `at` - predicted rows, of the kernel's columns
pub(super) fn known(
    posterior: &Posterior,
    at: &Functionals,
    prediction: &Prediction,
) -> Vec<Known> {
    let mut out = Vec::new();
    let rows = posterior.known_rows();
    if let Some(pooled) = posterior.problem.drawn().pooled() {
        let own: Vec<usize> = rows.iter().map(|(row, _, _)| *row).collect();
        let has_mean = posterior.problem.mean().is_any();
        let observed = pooled.observed.rows(&own);
        let of = combinations(posterior.problem.kernel(), at, &observed, has_mean);
        for ((_, value, _), parts) in rows.into_iter().zip(of) {
            out.extend(parts.map(|parts| Known { parts, value }));
        }
    }
    for (row, (&value, &sd)) in prediction.mean().iter().zip(prediction.sd()).enumerate() {
        let is_alone = |known: &Known| known.parts.len() == 1 && known.parts[0].0 == row;
        if sd <= SETTLED * value && !out.iter().any(is_alone) {
            let parts = vec![(row, 1.0)];
            out.push(Known { parts, value });
        }
    }
    out
}

/// Refuses totals that differ from what is known exactly, alone or with other totals.
pub(super) fn agrees(known: &[Known], totals: &GroupTotals) -> Result<(), FitError> {
    let groups = totals.groups.iter().map(|group| (&group.rows, group.total));
    let sums: Vec<(&MadeOf, f64)> = known
        .iter()
        .map(|known| (&known.parts, known.value))
        .chain(groups)
        .collect();
    let norm = |of: &MadeOf| of.iter().map(|(_, w)| w * w).sum::<f64>().sqrt();
    let norms: Vec<f64> = sums.iter().map(|(of, _)| norm(of)).collect();
    let rows = sums
        .iter()
        .flat_map(|(of, _)| of.iter().map(|(row, _)| row + 1));
    let rows = rows.max().unwrap_or(0);
    let mut wide = vec![0.0; rows];
    let mut gram = Mat::zeros(sums.len(), sums.len());
    for (i, (of, _)) in sums.iter().enumerate() {
        of.iter().for_each(|(row, w)| wide[*row] += w / norms[i]);
        for (j, (other, _)) in sums.iter().enumerate() {
            let each = other.iter().map(|(row, w)| wide[*row] * w / norms[j]);
            gram[(i, j)] = each.sum();
        }
        of.iter().for_each(|(row, _)| wide[*row] = 0.0);
    }
    let found = pivots(&gram, known.len(), NOTHING_NEW);
    let size = found.kept.len();
    let basis = Mat::from_fn(size, size, |i, j| gram[(found.kept[i], found.kept[j])]);
    let factor = match size {
        0 => return Ok(()),
        _ => crate::linalg::Cholesky::factor_owned(basis)?,
    };
    for &at in found.determined.iter().filter(|at| **at >= known.len()) {
        let cross: Vec<f64> = found.kept.iter().map(|&k| gram[(k, at)]).collect();
        let shares = factor.solve(&cross);
        let each = found.kept.iter().zip(&shares);
        let parts = each.map(|(&k, share)| share * norms[at] / norms[k] * sums[k].1);
        let parts: Vec<f64> = parts.collect();
        let sum: f64 = parts.iter().sum();
        let size: f64 = parts.iter().map(|part| part.abs()).sum();
        let group = &totals.groups[at - known.len()];
        if (sum - group.total).abs() > SAME * size.max(group.total) {
            let says = digits(sum);
            return Err(group.refused(format!(
                "rows that are known exactly, or these and the other totals, determine it: {says}"
            )));
        }
    }
    Ok(())
}
