//! Rows without noise: which of them others determine.

use crate::error::FitError;
use crate::linalg::Mat;

/// Rounding of a row of `Ky alpha` beyond which `alpha` solves nothing, in prior sds of the row or,
/// where a value lies farther out than one, as a share of that.
pub(super) const UNSOLVED: f64 = 1e-6;

/// Misfit of a row that is known exactly, caused by jitter, beyond which rows contradict each
/// other, relative to the row's prior sd.
pub(super) const CONTRADICTION: f64 = 1e-4;

/// Whether `alpha` solves `Ky alpha = r` at all.
///
/// # Arguments
/// * `diagonal` - of the prior covariance of the rows
/// * `residual` - `r`
pub(super) fn is_solved(
    diagonal: impl Iterator<Item = f64>,
    alpha: &[f64],
    residual: &[f64],
) -> bool {
    let (mut rounding, mut farthest) = (0.0, 1.0_f64);
    for ((variance, alpha), residual) in diagonal.zip(alpha).zip(residual) {
        let sd = variance.sqrt();
        // |K_ij| <= sqrt(K_ii K_jj), so that row i of K alpha is off by about its own sd times the
        // sum of these.
        rounding += f64::EPSILON * sd * alpha.abs();
        if sd > 0.0 {
            farthest = farthest.max(residual.abs() / sd);
        }
    }
    rounding <= UNSOLVED * farthest
}

/// A Gaussian row and how far the posterior mean passes by its value.
pub(crate) struct ExactRow {
    pub row: usize,
    pub noise: f64,
    /// Prior variance.
    pub prior: f64,
    pub misfit: f64,
}

/// The worst row that is known exactly, yet missed; `k` computes the covariance, to name the row
/// most like it.
pub(crate) fn contradiction(
    rows: impl Iterator<Item = ExactRow>,
    k: impl FnOnce() -> Mat<f64>,
) -> Option<FitError> {
    let missed =
        |r: &ExactRow| r.noise < 1e-9 * r.prior && r.misfit.abs() > CONTRADICTION * r.prior.sqrt();
    let size = |r: &ExactRow| r.misfit.abs();
    let worst = rows
        .filter(missed)
        .max_by(|a, b| size(a).total_cmp(&size(b)))?;
    Some(FitError::Contradiction {
        row: worst.row,
        partner: partner(&k(), worst.row),
        misfit: worst.misfit.abs(),
    })
}

/// The two rows with the largest absolute correlation, and that correlation.
pub(super) fn collinear(k: &Mat<f64>) -> ((usize, usize), f64) {
    let mut worst = ((0, 0), 0.0);
    for j in 0..k.ncols() {
        for i in 0..j {
            let correlation = k[(i, j)] / (k[(i, i)] * k[(j, j)]).sqrt();
            if correlation.abs() > f64::abs(worst.1) {
                worst = ((i, j), correlation);
            }
        }
    }
    worst
}

/// The row with the largest absolute correlation with another.
pub(super) fn partner(k: &Mat<f64>, row: usize) -> usize {
    let correlation = |i: usize| k[(row, i)].abs() / k[(i, i)].sqrt();
    // A row without prior variance is like no other.
    let others = (0..k.ncols()).filter(|i| *i != row && k[(*i, *i)] > 0.0);
    others
        .max_by(|a, b| correlation(*a).total_cmp(&correlation(*b)))
        .unwrap_or(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_judged_beside_the_values_that_are_explained() {
        // One row of variance one, without noise: `alpha` is its value.
        let far = |value: f64| is_solved([1.0].into_iter(), &[value], &[value]);
        assert!(far(1.0) && far(1e12));
        // A factor of a singular matrix answers with noise, which the values do not explain.
        assert!(!is_solved(
            [1.0, 1.0].into_iter(),
            &[1e16, -1e16],
            &[3.0, 3.0]
        ));
    }
}
