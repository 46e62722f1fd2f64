//! The Cholesky factor of a symmetric positive definite matrix and what is solved with it.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Spec};
use rayon::prelude::*;

use super::scratch::with_scratch;
use super::{Mat, MatMut, MatRef, mirror_lower, parallelism};
use crate::error::LinalgError;

/// Right-hand sides that one task solves for.
const COLUMNS_PER_TASK: usize = 192;

/// The factor `L` of `A = L L'`, lower triangular with a positive diagonal.
///
/// # Source
/// Golub & Van Loan 2013, section 4.2.
#[derive(Debug, Clone)]
pub struct Cholesky {
    lower: Mat<f64>,
}

impl Cholesky {
    /// Factorises `a`, of which only the lower triangle is read.
    ///
    /// # Errors
    /// [`LinalgError::NotPositiveDefinite`] at the first pivot that is not positive (NaN included).
    ///
    /// # Examples
    /// ```
    /// use quadrat::linalg::{Cholesky, Mat};
    /// let a = Mat::from_fn(2, 2, |i, j| if i == j { 2.0 } else { 1.0 });
    /// let factor = Cholesky::factor(a.as_ref())?;
    /// assert!((factor.log_det() - 3f64.ln()).abs() < 1e-15);
    /// # Ok::<(), quadrat::error::LinalgError>(())
    /// ```
    pub fn factor(a: MatRef<'_, f64>) -> Result<Self, LinalgError> {
        Self::factor_owned(a.to_owned())
    }

    /// As [`Cholesky::factor`], in the memory of `a`.
    ///
    /// # Errors
    /// As [`Cholesky::factor`].
    pub fn factor_owned(mut a: Mat<f64>) -> Result<Self, LinalgError> {
        let n = a.nrows();
        let par = parallelism(n);
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, par, Spec::default());
        let mut memory = MemBuffer::new(scratch);
        if n > 0 {
            llt::factor::cholesky_in_place(
                a.as_mut(),
                llt::factor::LltRegularization::default(),
                par,
                MemStack::new(&mut memory),
                Spec::default(),
            )
            .map_err(|llt::factor::LltError::NonPositivePivot { index }| {
                LinalgError::NotPositiveDefinite {
                    size: n,
                    pivot: index,
                }
            })?;
        }
        for j in 0..n {
            if !(a[(j, j)].is_finite() && a[(j, j)] > 0.0) {
                return Err(LinalgError::NotPositiveDefinite { size: n, pivot: j });
            }
            a.col_as_slice_mut(j)[..j].fill(0.0);
        }
        Ok(Self { lower: a })
    }

    /// From the lower triangle of the factor itself, column by column, as
    /// [`packed::lower`](super::packed::lower) writes it.
    ///
    /// # Errors
    /// [`LinalgError::NotPositiveDefinite`] where the numbers are not `n (n + 1) / 2`, are not
    /// finite, or a diagonal entry is not positive.
    ///
    /// # Examples
    /// ```
    /// use quadrat::linalg::Cholesky;
    /// let factor = Cholesky::from_packed(&[2.0, 1.0, 3.0], 2)?;
    /// assert!((factor.log_det() - 2.0 * 6f64.ln()).abs() < 1e-15);
    /// assert!(Cholesky::from_packed(&[2.0, 1.0, 0.0], 2).is_err());
    /// # Ok::<(), quadrat::error::LinalgError>(())
    /// ```
    pub fn from_packed(lower: &[f64], n: usize) -> Result<Self, LinalgError> {
        let none = |pivot| LinalgError::NotPositiveDefinite { size: n, pivot };
        let mut a = super::packed::from_lower(lower, n).ok_or(none(0))?;
        for j in 0..n {
            let column = a.col_as_slice_mut(j);
            column[..j].fill(0.0);
            if !(column[j] > 0.0 && column.iter().all(|x| x.is_finite())) {
                return Err(none(j));
            }
        }
        Ok(Self { lower: a })
    }

    /// Makes of the factor of `A` that of `A + x x'`, by rotations, `O(n^2)`.
    ///
    /// # Arguments
    /// * `seen` - `L^-1 a` of vectors `a`, which become those of the new factor; that of `x` is
    ///   added
    ///
    /// # Numerics
    /// Each row errs by some `n eps` of its own length in `[L, x]`, and `A` keeps its digits also
    /// beside an `x` that is many times as long; `L^-1 x` is made of the rotations, where solving
    /// for it would cancel.
    /// # Source
    /// Golub and Van Loan 2013, section 6.5.4.
    ///
    /// # Examples
    /// ```
    /// use quadrat::linalg::{Cholesky, Mat};
    /// let unit = Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 0.0 });
    /// let mut factor = Cholesky::factor(unit.as_ref())?;
    /// let mut seen = Vec::new();
    /// factor.update(vec![1e9, 1e9], &mut seen);
    /// // The determinant of `I + 1e18 (1 1)' (1 1)`, and `x' (A + x x')^-1 x`.
    /// assert!((factor.log_det() - (1.0 + 2e18f64).ln()).abs() < 1e-14);
    /// assert!((seen[0][0].powi(2) + seen[0][1].powi(2) - 1.0).abs() < 1e-14);
    /// # Ok::<(), quadrat::error::LinalgError>(())
    /// ```
    pub fn update(&mut self, mut x: Vec<f64>, seen: &mut Vec<Vec<f64>>) {
        // Every `a` is `L q + x r`.
        let mut along = vec![0.0; seen.len()];
        seen.push(vec![0.0; self.size()]);
        along.push(1.0);
        for k in 0..self.size() {
            if x[k] == 0.0 {
                continue;
            }
            let column = &mut self.lower.col_as_slice_mut(k)[k..];
            let radius = column[0].hypot(x[k]);
            let (cos, sin) = (column[0] / radius, x[k] / radius);
            for (l, x) in column.iter_mut().zip(&mut x[k..]) {
                (*l, *x) = (cos * *l + sin * *x, cos * *x - sin * *l);
            }
            for (q, r) in seen.iter_mut().zip(&mut along) {
                (q[k], *r) = (cos * q[k] + sin * *r, cos * *r - sin * q[k]);
            }
        }
    }

    /// The factor of `A` with further rows and columns behind it, `O(n^2 m)`.
    ///
    /// $$ \begin{pmatrix} A & B \\ B' & C \end{pmatrix} = \begin{pmatrix} L & 0 \\ W' & M
    /// \end{pmatrix} \begin{pmatrix} L' & W \\ 0 & M' \end{pmatrix}, \qquad W = L^{-1} B, \quad
    /// M M' = C - W'W $$
    ///
    /// # Arguments
    /// * `across` - `B`, shape `[n, m]`
    /// * `corner` - `C`, shape `[m, m]`, of which only the lower triangle is read
    ///
    /// # Errors
    /// As [`Cholesky::factor`], where what is left of `C` has no factor.
    ///
    /// # Source
    /// Golub and Van Loan 2013, section 4.2.9 (the last step of the block algorithm).
    ///
    /// # Examples
    /// ```
    /// use quadrat::linalg::{Cholesky, Mat};
    /// let one = |x: f64| Mat::from_fn(1, 1, |_, _| x);
    /// let factor = Cholesky::factor(one(2.0).as_ref())?.append(one(1.0), one(2.0))?;
    /// assert!((factor.log_det() - 3f64.ln()).abs() < 1e-15);
    /// # Ok::<(), quadrat::error::LinalgError>(())
    /// ```
    pub fn append(&self, mut across: Mat<f64>, mut corner: Mat<f64>) -> Result<Self, LinalgError> {
        let (n, m) = (self.size(), corner.nrows());
        self.half_solve_in_place(across.as_mut());
        for j in 0..m {
            for i in j..m {
                corner[(i, j)] -= super::dot(across.col_as_slice(i), across.col_as_slice(j));
            }
        }
        let corner = Self::factor_owned(corner).map_err(|error| match error {
            LinalgError::NotPositiveDefinite { pivot, .. } => LinalgError::NotPositiveDefinite {
                size: n + m,
                pivot: n + pivot,
            },
            other => other,
        })?;
        let mut lower = Mat::zeros(n + m, n + m);
        lower
            .as_mut()
            .submatrix_mut(0, 0, n, n)
            .copy_from(self.lower());
        let mut below = lower.as_mut().submatrix_mut(n, 0, m, n);
        below.copy_from(across.transpose());
        let mut last = lower.as_mut().submatrix_mut(n, n, m, m);
        last.copy_from(corner.lower());
        Ok(Self { lower })
    }

    /// Number of rows.
    #[must_use]
    pub fn size(&self) -> usize {
        self.lower.nrows()
    }

    /// The factor `L`, zero above the diagonal.
    #[must_use]
    pub fn lower(&self) -> MatRef<'_, f64> {
        self.lower.as_ref()
    }

    /// `log det A`, in nats.
    #[must_use]
    pub fn log_det(&self) -> f64 {
        2.0 * (0..self.size())
            .map(|i| self.lower[(i, i)].ln())
            .sum::<f64>()
    }

    /// `A^-1 b`.
    #[must_use]
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.solve_in_place(column_mut(&mut x));
        x
    }

    /// Overwrites `b`, shape `[n, m]`, with `A^-1 b`.
    pub fn solve_in_place(&self, mut b: MatMut<'_, f64>) {
        self.half_solve_in_place(b.as_mut());
        self.half_solve_transpose_in_place(b);
    }

    /// `L^-1 b`; its squared length is `b' A^-1 b`.
    #[must_use]
    pub fn half_solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.half_solve_in_place(column_mut(&mut x));
        x
    }

    /// Overwrites `b`, shape `[n, m]`, with `L^-1 b`.
    pub fn half_solve_in_place(&self, b: MatMut<'_, f64>) {
        let par = parallelism(self.size().min(b.ncols()));
        solve_lower_triangular_in_place(self.lower(), b, par);
    }

    /// As [`Self::half_solve_in_place`], over threads for many columns; the result does not depend
    /// on the number of threads.
    pub fn par_half_solve_in_place(&self, mut b: MatMut<'_, f64>) {
        let chunks = b.as_mut().par_col_chunks_mut(COLUMNS_PER_TASK);
        chunks.for_each(|columns| self.half_solve_in_place(columns));
    }

    /// Overwrites `b`, shape `[n, m]`, with `L'^-1 b`.
    pub fn half_solve_transpose_in_place(&self, b: MatMut<'_, f64>) {
        let par = parallelism(self.size().min(b.ncols()));
        solve_upper_triangular_in_place(self.lower().transpose(), b, par);
    }

    /// `L z`: turns standard normal numbers into a draw with covariance `A`.
    #[must_use]
    pub fn multiply(&self, z: &[f64]) -> Vec<f64> {
        super::matvec(self.lower(), z)
    }

    /// `L^-1`, lower triangular with zeros above, `O(n^3)`: where many products with it are worth
    /// the while, each costs less than a solution.
    #[must_use]
    pub fn inverse_factor(&self) -> Mat<f64> {
        let n = self.size();
        let mut out = Mat::zeros(n, n);
        if n > 0 {
            invert_lower_triangular(out.as_mut(), self.lower(), parallelism(n));
        }
        out
    }

    /// `A^-1`, both triangles, `O(n^3)`.
    #[must_use]
    pub fn inverse(&self) -> Mat<f64> {
        let mut out = self.clone().into_inverse_lower();
        mirror_lower(&mut out);
        out
    }

    /// The lower triangle of `A^-1`, in the memory of the factor; the upper one holds nothing of
    /// use.
    #[must_use]
    pub fn into_inverse_lower(self) -> Mat<f64> {
        let mut out = self.lower;
        let n = out.nrows();
        let par = parallelism(n);
        with_scratch(n, |mut inverse| {
            invert_lower_triangular(inverse.as_mut(), out.as_ref(), par);
            triangular::matmul(
                out.as_mut(),
                BlockStructure::TriangularLower,
                Accum::Replace,
                inverse.as_ref().transpose(),
                BlockStructure::TriangularUpper,
                inverse.as_ref(),
                BlockStructure::TriangularLower,
                1.0,
                par,
            );
        });
        out
    }

    /// The diagonal of `A^-1`: the squared column lengths of `L^-1`.
    #[must_use]
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let n = self.size();
        if n == 0 {
            return Vec::new();
        }
        with_scratch(n, |mut inverse| {
            invert_lower_triangular(inverse.as_mut(), self.lower(), parallelism(n));
            (0..n)
                .map(|j| (j..n).map(|i| inverse[(i, j)].powi(2)).sum())
                .collect()
        })
    }
}

fn column_mut(x: &mut [f64]) -> MatMut<'_, f64> {
    let n = x.len();
    MatMut::from_column_major_slice_mut(x, n, 1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::linalg::{dot, gemm, matvec, symmetric_from_fn};

    /// Well conditioned (about 1e2), entries of order 1.
    fn matrix(n: usize) -> Mat<f64> {
        symmetric_from_fn(n, |i, j| {
            let d = i as f64 - j as f64;
            (-0.5 * d * d / 9.0).exp() + if i == j { 0.1 } else { 0.0 }
        })
    }

    fn distance(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
        (a - b).norm_max()
    }

    /// Condition number times size times eps, with a margin of ten.
    const TOLERANCE: f64 = 1e-11;

    #[test]
    fn rows_are_added_to_a_factor() {
        let a = matrix(60);
        for (n, m) in [(0, 3), (57, 0), (57, 3), (20, 40)] {
            let part = |i, j, rows, columns| a.as_ref().submatrix(i, j, rows, columns);
            let first = Cholesky::factor(part(0, 0, n, n)).unwrap();
            let across = part(0, n, n, m).to_owned();
            let all = first.append(across, part(n, n, m, m).to_owned()).unwrap();
            let want = Cholesky::factor(part(0, 0, n + m, n + m)).unwrap();
            assert!(distance(all.lower(), want.lower()) < TOLERANCE);
        }
        let one = |x: f64| Mat::from_fn(1, 1, |_, _| x);
        let first = Cholesky::factor(one(1.0).as_ref()).unwrap();
        let error = first.append(one(2.0), one(1.0)).unwrap_err();
        let place = LinalgError::NotPositiveDefinite { size: 2, pivot: 1 };
        assert_eq!(error, place);
    }

    #[test]
    fn factor_solves_and_inverts() {
        for n in [0, 1, 2, 7, 60] {
            let a = matrix(n);
            let factor = Cholesky::factor(a.as_ref()).unwrap();
            assert!(
                distance(
                    gemm(factor.lower(), factor.lower().transpose()).as_ref(),
                    a.as_ref()
                ) < TOLERANCE
            );
            let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let x = factor.solve(&b);
            for (got, want) in matvec(a.as_ref(), &x).iter().zip(&b) {
                assert!((got - want).abs() < TOLERANCE);
            }
            let mut columns = Mat::from_fn(n, 2 * COLUMNS_PER_TASK + 3, |i, j| (i + j) as f64);
            let mut alone = columns.clone();
            factor.par_half_solve_in_place(columns.as_mut());
            factor.half_solve_in_place(alone.as_mut());
            // Right sides up to n + 2 x 192 + 3, some 450, not one.
            assert!(distance(columns.as_ref(), alone.as_ref()) < TOLERANCE * 400.0);
            let half = factor.half_solve(&b);
            assert!((dot(&half, &half) - dot(&b, &x)).abs() < TOLERANCE);
            let inverse = factor.inverse();
            assert!(
                distance(
                    gemm(inverse.as_ref(), a.as_ref()).as_ref(),
                    Mat::<f64>::identity(n, n).as_ref()
                ) < TOLERANCE
            );
            for (i, d) in factor.inverse_diagonal().iter().enumerate() {
                assert!((d - inverse[(i, i)]).abs() < TOLERANCE);
            }
        }
    }

    #[test]
    fn log_det_of_a_tridiagonal_matrix_is_known() {
        // det of the second-difference matrix of size n is n + 1.
        let a = symmetric_from_fn(9, |i, j| match i - j {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let factor = Cholesky::factor(a.as_ref()).unwrap();
        assert!((factor.log_det() - 10f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn indefinite_and_nan_matrices_are_refused() {
        let a = symmetric_from_fn(3, |i, j| if i == j { 1.0 } else { 2.0 });
        assert!(matches!(
            Cholesky::factor(a.as_ref()),
            Err(LinalgError::NotPositiveDefinite { size: 3, pivot: 1 })
        ));
        let mut b = matrix(4);
        b[(2, 1)] = f64::NAN;
        assert!(Cholesky::factor(b.as_ref()).is_err());
    }
}
