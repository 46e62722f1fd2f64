//! Predictions of left-out rows in closed form, without refitting.
//!
//! With `alpha = Ky^-1 r` and `S` the left-out rows, the prediction of `r_S` from the other rows
//! has covariance `C = ((Ky^-1)_SS)^-1` (noise included) and mean `r_S - C alpha_S`.

use super::exact::Conditioned;
use crate::error::{FitError, InputError};
use crate::linalg::{Cholesky, Mat, matvec};

/// Numbers that are kept for one fold, its rows beside all, at most: 3.2 GB.
const MOST_KEPT: usize = 400_000_000;

/// The prediction of a left-out fold from all other rows, hyperparameters held.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// The rows of the fold, as given.
    pub rows: Vec<usize>,
    /// Predicted residuals (observed value - prior mean), length of the fold.
    pub mean: Vec<f64>,
    /// Their covariance, noise (and jitter) included, shape `[fold, fold]`.
    pub covariance: Mat<f64>,
    /// Log predictive density of the fold in nats, jointly.
    pub log_density: f64,
}

/// Leave-one-out predictions of the residuals: their means and variances, noise included.
///
/// $$ \mu_i = r_i - \alpha_i / (K_y^{-1})_{ii}, \qquad \sigma_i^2 = 1 / (K_y^{-1})_{ii} $$
///
/// # Arguments
/// * `residual` - `r`, length `n`, the one that was conditioned on
/// * `conditioned` - the fit
///
/// # Returns
/// Means (add the prior mean for the observed value) and variances, length `n` each.
///
/// # Numerics
/// `O(n^3)` dense; on a grid as cheap as the evidence. The hyperparameters are not refitted.
///
/// # Source
/// Rasmussen & Williams 2006, eq. 5.12.
#[must_use]
pub fn leave_one_out(residual: &[f64], conditioned: &Conditioned) -> (Vec<f64>, Vec<f64>) {
    let precision = conditioned.factor.inverse_diagonal();
    let means = residual
        .iter()
        .zip(&conditioned.alpha)
        .zip(&precision)
        .map(|((r, alpha), p)| r - alpha / p)
        .collect();
    (means, precision.iter().map(|p| 1.0 / p).collect())
}

/// Leaves out whole folds: the prediction of every fold from all rows outside it.
///
/// # Arguments
/// * `residual` - `r`, length `n`
/// * `conditioned` - the fit
/// * `folds` - rows of every fold; rows may be in no fold, and folds may overlap
///
/// # Errors
/// [`FitError::Input`] for a row that does not exist or is twice in a fold, and for folds too large
/// to be kept in memory; [`FitError::Linalg`] when a block of `Ky^-1` is not positive definite.
///
/// # Numerics
/// `O(n^2 s)` for a fold of `s` rows after the factorisation.
pub fn leave_out(
    residual: &[f64],
    conditioned: &Conditioned,
    folds: &[Vec<usize>],
) -> Result<Vec<LeftOut>, FitError> {
    folds
        .iter()
        .map(|rows| leave_fold_out(residual, conditioned, rows))
        .collect()
}

fn leave_fold_out(
    residual: &[f64],
    conditioned: &Conditioned,
    rows: &[usize],
) -> Result<LeftOut, FitError> {
    for (position, row) in rows.iter().enumerate() {
        if *row >= residual.len() || rows[..position].contains(row) {
            return Err(FitError::Input(InputError::Range {
                what: "the row number in a fold".to_owned(),
                row: position,
                value: *row as f64,
                requirement: "below the number of rows, and once in its fold",
            }));
        }
    }
    if residual.len().saturating_mul(rows.len()) > MOST_KEPT {
        return Err(FitError::Input(InputError::Unavailable {
            what: "a fold of so many rows beside so many",
            remedy: "take smaller folds, or fit without those rows and predict them",
        }));
    }
    let precision = Cholesky::factor_owned(conditioned.factor.inverse_block(rows))?;
    let covariance = precision.inverse();
    let alpha: Vec<f64> = rows.iter().map(|i| conditioned.alpha[*i]).collect();
    let shift = matvec(covariance.as_ref(), &alpha);
    let mean = rows
        .iter()
        .zip(&shift)
        .map(|(i, s)| residual[*i] - s)
        .collect();
    let form: f64 = shift.iter().zip(&alpha).map(|(s, a)| s * a).sum();
    let constant = rows.len() as f64 * (2.0 * std::f64::consts::PI).ln();
    Ok(LeftOut {
        rows: rows.to_vec(),
        mean,
        log_density: 0.5 * (precision.log_det() - form - constant),
        covariance,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::LinearGaussian;
    use super::super::exact::condition;
    use super::super::testing::{SeGrid, SePoints};
    use super::*;
    use crate::linalg::{dot, gemm};
    use crate::parameter::PriorDensity;

    const THETA: [f64; 3] = [1.3, 0.9, 0.2];

    /// Conditions on the rows outside `fold` and predicts those inside.
    fn refit(problem: &SePoints, fold: &[usize]) -> (Vec<f64>, Mat<f64>, f64) {
        let kept: Vec<usize> = (0..problem.x.len()).filter(|i| !fold.contains(i)).collect();
        let pick =
            |values: &[f64], rows: &[usize]| rows.iter().map(|i| values[*i]).collect::<Vec<f64>>();
        let rest = SePoints::new(
            pick(&problem.x, &kept),
            pick(&problem.residual, &kept),
            PriorDensity::Flat,
        );
        let c = condition(&rest, &THETA).unwrap();
        let cross = Mat::from_fn(kept.len(), fold.len(), |i, j| {
            problem.kernel(&THETA, rest.x[i], problem.x[fold[j]])
        });
        let w = c.factor.whiten(cross.clone());
        let reduction = gemm(w.transpose(), w.as_ref());
        let covariance = Mat::from_fn(fold.len(), fold.len(), |i, j| {
            let noise = if i == j { THETA[2] } else { 0.0 };
            problem.kernel(&THETA, problem.x[fold[i]], problem.x[fold[j]]) + noise
                - reduction[(i, j)]
        });
        let mean: Vec<f64> = (0..fold.len())
            .map(|j| dot(cross.col_as_slice(j), &c.alpha))
            .collect();
        // The joint density of all rows is that of the kept ones times that of the fold.
        let log_density = condition(problem, &THETA).unwrap().log_evidence - c.log_evidence;
        (mean, covariance, log_density)
    }

    #[test]
    fn leaving_one_out_equals_refitting() {
        let problem = SePoints::wave(12, PriorDensity::Flat);
        let (means, variances) =
            leave_one_out(&problem.residual, &condition(&problem, &THETA).unwrap());
        for i in 0..12 {
            let (mean, covariance, _) = refit(&problem, &[i]);
            // As below: 2e-13 of numbers of order one.
            assert!((means[i] - mean[0]).abs() < 1e-11);
            assert!((variances[i] - covariance[(0, 0)]).abs() < 1e-11);
        }
        // A wrong pairing of rows is noticed.
        assert!((means[0] - refit(&problem, &[1]).0[0]).abs() > 1e-3);
    }

    #[test]
    fn leaving_folds_out_equals_refitting() {
        let problem = SePoints::wave(12, PriorDensity::Flat);
        let conditioned = condition(&problem, &THETA).unwrap();
        let folds = vec![vec![0, 5, 11], vec![3], vec![7, 2, 8, 9, 10], vec![]];
        for got in leave_out(&problem.residual, &conditioned, &folds).unwrap() {
            let (mean, covariance, log_density) = refit(&problem, &got.rows);
            for (g, w) in got.mean.iter().zip(&mean) {
                // Condition at most 12 x 1.3 / 0.2 + 1 = 79: n eps times that, 2e-13, of numbers up
                // to ten.
                assert!((g - w).abs() < 1e-10);
            }
            assert!(
                got.rows.is_empty()
                    || (got.covariance.as_ref() - covariance.as_ref()).norm_max() < 1e-10
            );
            assert!((got.log_density - log_density).abs() < 1e-10);
        }
    }

    #[test]
    fn a_grid_agrees_with_its_dense_twin() {
        let theta = [1.2, 0.8, 1.1, 0.3];
        let grid = SeGrid::new(&[4, 5], true, false);
        let twin = SeGrid::new(&[4, 5], true, true);
        let (a, b) = (
            condition(&grid, &theta).unwrap(),
            condition(&twin, &theta).unwrap(),
        );
        let (ma, va) = leave_one_out(grid.residual(), &a);
        let (mb, vb) = leave_one_out(twin.residual(), &b);
        for i in 0..20 {
            // Twenty rows of condition about 100: n eps times that, 4e-13, over the noise of 0.3
            // and of numbers up to some ten.
            assert!((ma[i] - mb[i]).abs() < 1e-9 && (va[i] - vb[i]).abs() < 1e-9);
        }
        let folds = vec![vec![1, 2, 13]];
        let fold = |p: &SeGrid, c| leave_out(p.residual(), c, &folds).unwrap()[0].log_density;
        assert!((fold(&grid, &a) - fold(&twin, &b)).abs() < 1e-9);
    }

    #[test]
    fn impossible_folds_are_refused() {
        let problem = SePoints::wave(4, PriorDensity::Flat);
        let conditioned = condition(&problem, &THETA).unwrap();
        for fold in [vec![4], vec![1, 1]] {
            assert!(leave_out(&problem.residual, &conditioned, &[fold]).is_err());
        }
    }
}
