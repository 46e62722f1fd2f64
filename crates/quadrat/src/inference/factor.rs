//! One set of verbs for the factorised covariance of the observations, whatever its structure.

use super::kronecker::KroneckerFactor;
use crate::linalg::{Cholesky, Mat, MatMut};

/// A factorisation of `Ky = K + diag(noise)`.
#[derive(Debug, Clone)]
pub enum Factor {
    /// `Ky = L L'`.
    Dense(Cholesky),
    /// Eigenvectors per axis, never an `n x n` matrix.
    Kronecker(KroneckerFactor),
}

impl Factor {
    /// Number of rows `n`.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Dense(factor) => factor.size(),
            Self::Kronecker(factor) => factor.size(),
        }
    }

    /// `log det Ky`, in nats.
    #[must_use]
    pub fn log_det(&self) -> f64 {
        match self {
            Self::Dense(factor) => factor.log_det(),
            Self::Kronecker(factor) => factor.log_det(),
        }
    }

    /// `Ky^-1 b`.
    #[must_use]
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        match self {
            Self::Dense(factor) => factor.solve(b),
            Self::Kronecker(factor) => factor.solve(b),
        }
    }

    /// Overwrites `b`, shape `[n, m]`, with `Ky^-1 b`.
    pub fn solve_in_place(&self, b: MatMut<'_, f64>) {
        match self {
            Self::Dense(factor) => factor.solve_in_place(b),
            Self::Kronecker(factor) => per_column(b, |column| factor.solve(column)),
        }
    }

    /// A whitened cross-covariance `W`, shape `[n, m]`, with `W'W = cross' Ky^-1 cross`: the
    /// reduction of the predictive covariance.
    #[must_use]
    pub fn whiten(&self, mut cross: Mat<f64>) -> Mat<f64> {
        match self {
            Self::Dense(factor) => factor.half_solve_in_place(cross.as_mut()),
            Self::Kronecker(factor) => per_column(cross.as_mut(), |column| factor.whiten(column)),
        }
        cross
    }

    /// The diagonal of `Ky^-1`, length `n`.
    #[must_use]
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        match self {
            Self::Dense(factor) => factor.inverse_diagonal(),
            Self::Kronecker(factor) => factor.inverse_diagonal(),
        }
    }

    /// The block `Ky^-1[rows, rows]`, shape `[rows.len(), rows.len()]`, by solving for its columns.
    #[must_use]
    pub fn inverse_block(&self, rows: &[usize]) -> Mat<f64> {
        let mut columns = Mat::zeros(self.size(), rows.len());
        for (j, row) in rows.iter().enumerate() {
            columns[(*row, j)] = 1.0;
        }
        self.solve_in_place(columns.as_mut());
        Mat::from_fn(rows.len(), rows.len(), |i, j| columns[(rows[i], j)])
    }

    /// `Ky^-1`, shape `[n, n]`; `None` for Kronecker, which never forms it.
    #[must_use]
    pub fn inverse(&self) -> Option<Mat<f64>> {
        match self {
            Self::Dense(factor) => Some(factor.inverse()),
            Self::Kronecker(_) => None,
        }
    }
}

fn per_column(mut b: MatMut<'_, f64>, apply: impl Fn(&[f64]) -> Vec<f64>) {
    let mut column = vec![0.0; b.nrows()];
    for j in 0..b.ncols() {
        for i in 0..column.len() {
            column[i] = b[(i, j)];
        }
        for (i, value) in apply(&column).into_iter().enumerate() {
            b[(i, j)] = value;
        }
    }
}
