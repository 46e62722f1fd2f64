//! Exact conditioning on further rows, from the factor of those before.

use super::exact::{Conditioned, Solved, conditioned, explained, noise};
use super::exact_rows::is_solved;
use super::row_factor::RowFactor;
use super::{Factor, LinearGaussian};
use crate::linalg::{Cholesky, Mat};

/// What further rows have beside those before, without the functions of the mean where their
/// coefficients are kept apart.
pub struct Further {
    /// Prior covariance of the rows before with the further ones, shape `[n, m]`.
    pub across: Mat<f64>,
    /// Prior covariance of the further rows, shape `[m, m]`.
    pub corner: Mat<f64>,
    /// Prior variances of all rows, length `n + m`.
    pub variances: Vec<f64>,
}

/// Conditions on `n` rows and `m` further ones behind them, `O(n^2 m)`, in place of `O((n + m)^3)`.
///
/// None where that is not as good as all rows together: jitter was needed before or would be now,
/// or the factor is not one of a matrix.
///
/// # Arguments
/// * `problem` - all rows; noise and covariance of the first `n` are those of `before`
/// * `theta` - every hyperparameter, natural units, those of `before`
///
/// # Source
/// Golub and Van Loan 2013, section 4.2.9; the mean as in [`Basis`](super::Basis).
pub fn append(
    problem: &dyn LinearGaussian,
    theta: &[f64],
    before: &Conditioned,
    further: Further,
) -> Option<Conditioned> {
    let noise = noise(problem, theta);
    let n = before.noise.len();
    if before.jitter > 0.0 || noise.get(..n)? != before.noise {
        return None;
    }
    let basis = problem.basis(theta);
    let factor = dense(&before.factor, basis.is_some())?;
    let Further {
        across,
        mut corner,
        variances,
    } = further;
    for (i, noise) in noise[n..].iter().enumerate() {
        corner[(i, i)] += noise;
    }
    let factor = RowFactor::Dense(factor.append(across, corner).ok()?);
    let (factor, levels, alpha) = explained(factor, basis, problem.residual()).ok()?;
    if !is_solved(variances.into_iter(), &alpha, problem.residual()) {
        return None;
    }
    let solved = Solved {
        factor,
        alpha,
        levels,
        jitter: 0.0,
    };
    Some(conditioned(problem, theta, noise, solved))
}

/// The factor of the matrix without the functions of the mean, where it is known.
fn dense(factor: &Factor, has_basis: bool) -> Option<&Cholesky> {
    let rows = match (factor, has_basis) {
        (Factor::Rows(rows), false) => rows,
        (Factor::Basis(basis), true) => basis.factor(),
        _ => return None,
    };
    match rows {
        RowFactor::Dense(factor) => Some(factor),
        RowFactor::Line(_) => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::inference::testing::SePoints;
    use crate::inference::{Gram, condition};
    use crate::parameter::PriorDensity;

    const THETA: [f64; 3] = [1.4, 0.8, 0.15];

    /// The first rows of a problem, conditioned, and what the others have beside them.
    fn split(all: &SePoints, n: usize) -> (Conditioned, Further) {
        let (x, residual) = (all.x[..n].to_vec(), all.residual[..n].to_vec());
        let first = SePoints::new(x, residual, PriorDensity::Flat);
        let Gram::Dense(k) = all.gram(&THETA) else {
            unreachable!()
        };
        let m = all.rows() - n;
        let further = Further {
            across: k.as_ref().submatrix(0, n, n, m).to_owned(),
            corner: k.as_ref().submatrix(n, n, m, m).to_owned(),
            variances: vec![THETA[0]; n + m],
        };
        (condition(&first, &THETA).unwrap(), further)
    }

    #[test]
    fn further_rows_are_as_if_all_had_come_together() {
        let all = SePoints::wave(30, PriorDensity::Flat);
        let want = condition(&all, &THETA).unwrap();
        for n in [0, 1, 22, 29] {
            let (before, further) = split(&all, n);
            let got = append(&all, &THETA, &before, further).unwrap();
            // Condition 30 x 1.4 / .15 = 300 times thirty rows and eps: 2e-12, and ten times that.
            assert!((got.log_evidence - want.log_evidence).abs() < 2e-11);
            for (a, b) in got.alpha.iter().zip(&want.alpha) {
                assert!((a - b).abs() < 2e-11);
            }
        }
    }

    #[test]
    fn rows_that_needed_jitter_or_had_other_noise_are_done_anew() {
        let all = SePoints::wave(12, PriorDensity::Flat);
        let (mut before, further) = split(&all, 10);
        before.jitter = 1e-12;
        assert!(append(&all, &THETA, &before, further).is_none());
        let (mut before, further) = split(&all, 10);
        before.noise[3] *= 2.0;
        assert!(append(&all, &THETA, &before, further).is_none());
        // A row that repeats, known exactly.
        let theta = [1.4, 0.8, 0.0];
        let twice = SePoints::new(vec![0.0, 0.0], vec![0.5, 0.5], PriorDensity::Flat);
        let one = SePoints::new(vec![0.0], vec![0.5], PriorDensity::Flat);
        let before = condition(&one, &theta).unwrap();
        let same = || Mat::from_fn(1, 1, |_, _| theta[0]);
        let further = Further {
            across: same(),
            corner: same(),
            variances: vec![theta[0]; 2],
        };
        assert!(append(&twice, &theta, &before, further).is_none());
    }
}
