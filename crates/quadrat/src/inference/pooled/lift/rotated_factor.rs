//! The covariance of what rows see, with vague constants apart.

use faer::linalg::solvers::Qr;

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, MatMut, dot, gemm};

/// `S = S0 + A A'` factorised as `Q F F' Q'`, where the first columns of `Q` span `A`.
///
/// A Cholesky factorisation errs by no more than `n eps sqrt(S_ii S_jj)` in an entry. In these
/// coordinates the variance of a constant, however large, is that of its own coordinates alone, and
/// the others keep all digits of `S0`.
#[derive(Debug, Clone)]
pub(super) struct RotatedFactor {
    /// `Q`; none where there are no constants.
    basis: Option<Mat<f64>>,
    factor: Cholesky,
}

impl RotatedFactor {
    /// # Arguments
    /// * `own` - `S0`, shape `[rows, rows]`
    /// * `constants` - `A`, shape `[rows, constants]`
    ///
    /// # Errors
    /// As [`Cholesky::factor`].
    pub fn new(own: Mat<f64>, constants: &Mat<f64>) -> Result<Self, LinalgError> {
        if constants.ncols() == 0 {
            let factor = Cholesky::factor_owned(own)?;
            return Ok(Self {
                basis: None,
                factor,
            });
        }
        let qr = Qr::new(constants.as_ref());
        let basis = qr.compute_Q();
        let r = qr.R().subrows(0, own.nrows().min(constants.ncols()));
        let half = gemm(basis.transpose(), own.as_ref());
        let mut turned = gemm(half.as_ref(), basis.as_ref());
        let vague = gemm(r, r.transpose());
        for j in 0..vague.ncols() {
            for i in 0..vague.nrows() {
                turned[(i, j)] += vague[(i, j)];
            }
        }
        Ok(Self {
            factor: Cholesky::factor_owned(turned)?,
            basis: Some(basis),
        })
    }

    /// `S^-1 X`.
    pub fn solve(&self, x: Mat<f64>) -> Mat<f64> {
        let Some(basis) = &self.basis else {
            return self.solved(x);
        };
        let turned = gemm(basis.transpose(), x.as_ref());
        gemm(basis.as_ref(), self.solved(turned).as_ref())
    }

    fn solved(&self, mut x: Mat<f64>) -> Mat<f64> {
        self.factor.solve_in_place(x.as_mut());
        x
    }

    /// `log N(x; 0, S)`, without the constant that all normal densities of one dimension share.
    pub fn log_normal(&self, x: &[f64]) -> f64 {
        let mut white = match &self.basis {
            Some(basis) => crate::linalg::matvec(basis.transpose(), x),
            None => x.to_vec(),
        };
        let rows = white.len();
        let column = MatMut::from_column_major_slice_mut(&mut white, rows, 1);
        self.factor.half_solve_in_place(column);
        -0.5 * (dot(&white, &white) + self.factor.log_det())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `S0 + v a a'` for `S0 = diag(1, 2, 4)` and `a = (1, 1, 2)`, by Sherman and Morrison's
    /// formula.
    #[test]
    fn a_vague_constant_takes_no_digits() {
        let own = [1.0, 2.0, 4.0];
        let a = [1.0, 1.0, 2.0];
        for sd in [1.0, 1e4, 1e8, 1e12] {
            let s0 = Mat::from_fn(3, 3, |i, j| if i == j { own[i] } else { 0.0 });
            let columns = Mat::from_fn(3, 1, |i, _| sd * a[i]);
            let seen = RotatedFactor::new(s0, &columns).unwrap();
            // `a' S0^-1 a = 1 + 1/2 + 1`.
            let growth = 1.0 + sd * sd * 2.5;
            // Right of the constant's direction: `x' S0^-1 a = 3 - 0.5 - 2.5 = 0`.
            let x = [3.0, -1.0, -5.0];
            let want = -0.5 * (9.0 + 0.5 + 6.25 + (8.0 * growth).ln());
            // Some rounding of the logarithm of the determinant, which is 60 at most.
            assert!((seen.log_normal(&x) - want).abs() < 1e-13, "{sd}");
            let solved = seen.solve(Mat::from_fn(3, 1, |i, _| x[i]));
            for i in 0..3 {
                // Some `n eps` of numbers of order one.
                assert!((solved[(i, 0)] - x[i] / own[i]).abs() < 1e-14, "{sd}");
            }
            // `S^-1 a = S0^-1 a / (1 + v a' S0^-1 a)`.
            let solved = seen.solve(Mat::from_fn(3, 1, |i, _| a[i]));
            for i in 0..3 {
                let want = a[i] / own[i] / growth;
                // `Q` turns `a` with a rounding of its length.
                let off = (solved[(i, 0)] - want).abs();
                assert!(off < 1e-14 * want + 1e-15, "{sd}: {off}");
            }
        }
    }
}
