//! Rows whose mean is a combination of known functions with unknown coefficients.

use super::row_factor::RowFactor;
use crate::covariance::ChainFactor;
use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, MatMut, MatRef, dot, gemm, map_lower};

/// `Ky = K0 + U U'` with the coefficients kept apart: `U` holds the functions at the rows in prior
/// standard deviations of their coefficients, `K0` the kernel and the noise.
///
/// $$ K_y^{-1} = K_0^{-1} - Z A^{-1} Z', \qquad Z = K_0^{-1} U, \quad A = I + U' Z $$
///
/// A prior of the coefficients that is a million times wider than the values takes no digits of
/// `K0`: only `A` grows, and only its ratios to `U` enter.
///
/// # Source
/// Rasmussen and Williams 2006, section 2.7.
#[derive(Debug, Clone)]
pub struct Basis {
    /// `L L' = K0`.
    factor: RowFactor,
    /// `U`, shape `[n, r]`.
    columns: Mat<f64>,
    /// `W = L^-1 U`.
    half: Mat<f64>,
    /// Of `A = I + W'W`.
    inner: Cholesky,
}

/// What rows say of other functionals of the same process.
pub struct Given {
    /// Posterior mean less the prior mean, length `m`.
    pub shift: Vec<f64>,
    /// `L^-1 k`, shape `[n, m]`.
    pub whitened: Mat<f64>,
    /// `V`, shape `[r, m]`: what is open of the coefficients adds `V'V` to the covariance.
    pub open: Mat<f64>,
}

impl Basis {
    /// # Arguments
    /// * `factor` - of `K0`
    /// * `columns` - `U`, shape `[n, r]`
    ///
    /// # Errors
    /// As [`Cholesky::factor`], where `U` is no number.
    pub fn new(factor: RowFactor, columns: Mat<f64>) -> Result<Self, LinalgError> {
        let mut half = columns.clone();
        factor.half_solve_in_place(half.as_mut());
        // By dot products, whose bits do not depend on where matrices lie in memory.
        let inner = Mat::from_fn(half.ncols(), half.ncols(), |i, j| {
            let own = if i == j { 1.0 } else { 0.0 };
            own + dot(half.col_as_slice(i), half.col_as_slice(j))
        });
        Ok(Self {
            inner: Cholesky::factor_owned(inner)?,
            factor,
            columns,
            half,
        })
    }

    /// Number of rows `n`.
    #[must_use]
    pub fn size(&self) -> usize {
        self.factor.size()
    }

    /// `log det Ky = log det K0 + log det A`.
    #[must_use]
    pub fn log_det(&self) -> f64 {
        self.factor.log_det() + self.inner.log_det()
    }

    /// The best coefficients given `b = U c + rest`, in prior standard deviations, and `Ky^-1 b`.
    ///
    /// $$ c = A^{-1} U' K_0^{-1} b, \qquad K_y^{-1} b = K_0^{-1} (b - U c) $$
    #[must_use]
    pub fn explain(&self, b: &[f64]) -> (Vec<f64>, Vec<f64>) {
        // A matrix lies at the same boundary of memory every time, and so has the same bits.
        let mut white = Mat::from_fn(b.len(), 1, |i, _| b[i]);
        self.factor.half_solve_in_place(white.as_mut());
        let functions = 0..self.half.ncols();
        let seen: Vec<f64> = functions
            .map(|c| dot(self.half.col_as_slice(c), white.col_as_slice(0)))
            .collect();
        let levels = self.inner.solve(&seen);
        let explained = combined(self.columns.as_ref(), &levels);
        let mut rest = Mat::from_fn(b.len(), 1, |i, _| b[i] - explained[i]);
        self.factor.solve_in_place(rest.as_mut());
        (levels, rest.col_as_slice(0).to_vec())
    }

    /// Overwrites `b`, shape `[n, m]`, with `Ky^-1 b`.
    pub fn solve_in_place(&self, mut b: MatMut<'_, f64>) {
        for j in 0..b.ncols() {
            let column: Vec<f64> = (0..b.nrows()).map(|i| b[(i, j)]).collect();
            let (_, solved) = self.explain(&column);
            for (i, x) in solved.into_iter().enumerate() {
                b[(i, j)] = x;
            }
        }
    }

    /// `Ky^-1`, both triangles.
    #[must_use]
    pub fn inverse(&self) -> Mat<f64> {
        let pulled = self.pulled();
        self.factor.inverse() - gemm(pulled.transpose(), pulled.as_ref())
    }

    /// The lower triangle of `Ky^-1` in the memory of the factor.
    #[must_use]
    pub fn into_inverse_lower(self) -> Mat<f64> {
        let pulled = self.pulled();
        let mut inverse = self.factor.into_inverse_lower();
        map_lower(&mut inverse, |i, j, v| {
            v - dot(pulled.col_as_slice(i), pulled.col_as_slice(j))
        });
        inverse
    }

    /// The diagonal of `Ky^-1`.
    #[must_use]
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let pulled = self.pulled();
        let own = self.factor.inverse_diagonal().into_iter().enumerate();
        own.map(|(i, v)| {
            let p = pulled.col_as_slice(i);
            v - dot(p, p)
        })
        .collect()
    }

    /// The factor of `K0`.
    #[must_use]
    pub fn factor(&self) -> &RowFactor {
        &self.factor
    }

    /// Overwrites covariances with the rows, shape `[n, m]`, with `W`, of `W'W = b' Ky^-1 b`: of
    /// one function after the other, `(I + w w')^-1/2` of what those before leave of it.
    pub fn whiten(&self, mut b: MatMut<'_, f64>) {
        self.factor.half_solve_in_place(b.as_mut());
        let mut functions = self.half.clone();
        for c in 0..functions.ncols() {
            let own = functions.col_as_slice(c).to_vec();
            shrink_along(&own, functions.as_mut().get_mut(.., c + 1..));
            shrink_along(&own, b.as_mut());
        }
    }

    /// The posterior of functionals.
    ///
    /// $$ m = k' \alpha + U_*' c, \qquad v = k_{**} - k' K_0^{-1} k + V'V,
    /// \qquad V = R^{-1} (U_* - U' K_0^{-1} k), \quad R R' = A $$
    ///
    /// # Arguments
    /// * `kernel` - `k`, covariance with the rows under the kernel alone, shape `[n, m]`
    /// * `columns` - `U_*`, shape `[m, r]`
    /// * `alpha`, `levels` - `Ky^-1 b` and `c` as [`Self::explain`] gives them
    #[must_use]
    pub fn given(
        &self,
        kernel: Mat<f64>,
        columns: MatRef<'_, f64>,
        alpha: &[f64],
        levels: &[f64],
    ) -> Given {
        let means = combined(columns, levels).into_iter().enumerate();
        let shift = means.map(|(j, level)| level + dot(kernel.col_as_slice(j), alpha));
        let shift = shift.collect();
        let mut whitened = kernel;
        self.factor.half_solve_in_place(whitened.as_mut());
        let mut open = Mat::from_fn(self.half.ncols(), whitened.ncols(), |i, j| {
            columns[(j, i)] - dot(self.half.col_as_slice(i), whitened.col_as_slice(j))
        });
        self.inner.half_solve_in_place(open.as_mut());
        Given {
            shift,
            whitened,
            open,
        }
    }

    /// The posterior of functionals of which a factor along a line holds all, after the rows: means
    /// less the prior means, and variances.
    ///
    /// # Arguments
    /// * `chain` - of `K0` with what is asked after the rows
    /// * `columns` - `U_*`, shape `[m, r]`
    /// * `b`, `levels` - the values, and `c` as [`Self::explain`] gives it
    #[must_use]
    pub fn given_along(
        &self,
        chain: &ChainFactor,
        columns: MatRef<'_, f64>,
        b: &[f64],
        levels: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let rows = b.len();
        let explained = combined(self.columns.as_ref(), levels);
        // What is left of the values, and the functions, as the chain tells them of what is asked.
        let mut told = Mat::from_fn(chain.size(), 1 + levels.len(), |i, j| match (i, j) {
            (i, _) if i >= rows => 0.0,
            (i, 0) => b[i] - explained[i],
            (i, j) => self.columns[(i, j - 1)],
        });
        chain.solve_in_place(told.as_mut());
        let asked = rows..chain.size();
        let means = combined(columns, levels).into_iter().zip(asked.clone());
        let means = means.map(|(level, i)| level + told[(i, 0)]).collect();
        let mut open = Mat::from_fn(levels.len(), asked.len(), |i, j| {
            columns[(j, i)] - told[(rows + j, 1 + i)]
        });
        self.inner.half_solve_in_place(open.as_mut());
        let left = chain.inverse_diagonal().into_iter().skip(rows).enumerate();
        let variances = left.map(|(j, left)| {
            let v = open.col_as_slice(j);
            left + dot(v, v)
        });
        (means, variances.collect())
    }

    /// Posterior variance of every coefficient, in prior variances: the diagonal of `A^-1`.
    #[must_use]
    pub fn open(&self) -> Vec<f64> {
        self.inner.inverse_diagonal()
    }

    /// `Ky^-1` of the covariance of functionals with the rows, `k + U U_*'`, shape `[n, m]`.
    #[must_use]
    pub fn weights(&self, mut kernel: Mat<f64>, columns: MatRef<'_, f64>) -> Mat<f64> {
        self.solve_in_place(kernel.as_mut());
        // `Ky^-1 U = Z A^-1`.
        let mut each = columns.transpose().to_owned();
        self.inner.solve_in_place(each.as_mut());
        let mut seen = self.half.clone();
        self.factor.half_solve_transpose_in_place(seen.as_mut());
        kernel + gemm(seen.as_ref(), each.as_ref())
    }

    /// `R^-1 Z'`, shape `[r, n]`.
    fn pulled(&self) -> Mat<f64> {
        let mut pulled = self.half.clone();
        self.factor.half_solve_transpose_in_place(pulled.as_mut());
        let mut pulled = pulled.transpose().to_owned();
        self.inner.half_solve_in_place(pulled.as_mut());
        pulled
    }
}

/// Overwrites `b` with `(I + w w')^-1/2 b`.
fn shrink_along(w: &[f64], mut b: MatMut<'_, f64>) {
    let square = dot(w, w);
    // 1 - 1 / sqrt(1 + square), over the square.
    let root = (1.0 + square).sqrt();
    let share = 1.0 / (root * (root + 1.0));
    for j in 0..b.ncols() {
        let along: f64 = w.iter().enumerate().map(|(i, w)| w * b[(i, j)]).sum();
        for (i, w) in w.iter().enumerate() {
            b[(i, j)] -= share * along * w;
        }
    }
}

/// `X c`.
fn combined(columns: MatRef<'_, f64>, coefficients: &[f64]) -> Vec<f64> {
    let row = |i: usize| {
        coefficients
            .iter()
            .enumerate()
            .map(move |(c, x)| columns[(i, c)] * x)
    };
    (0..columns.nrows()).map(|i| row(i).sum()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "basis_tests.rs"]
mod tests;
