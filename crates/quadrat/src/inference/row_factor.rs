//! The factor of the covariance of rows: of a matrix, or along a line without one.

use crate::covariance::ChainFactor;
use crate::linalg::{Cholesky, Mat, MatMut};

/// `Ky = L L'` of rows with normal noise.
#[derive(Debug, Clone)]
pub enum RowFactor {
    /// Of the matrix.
    Dense(Cholesky),
    /// Of rows along a line, whose matrix is never formed.
    Line(ChainFactor),
}

impl RowFactor {
    /// Number of rows `n`.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Dense(factor) => factor.size(),
            Self::Line(factor) => factor.size(),
        }
    }

    /// `log det Ky`, in nats.
    #[must_use]
    pub fn log_det(&self) -> f64 {
        match self {
            Self::Dense(factor) => factor.log_det(),
            Self::Line(factor) => factor.log_det(),
        }
    }

    /// `Ky^-1 b`.
    #[must_use]
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        match self {
            Self::Dense(factor) => factor.solve(b),
            Self::Line(factor) => {
                let mut x = Mat::from_fn(b.len(), 1, |i, _| b[i]);
                factor.solve_in_place(x.as_mut());
                x.col_as_slice(0).to_vec()
            }
        }
    }

    /// Overwrites `b`, shape `[n, m]`, with `Ky^-1 b`.
    pub fn solve_in_place(&self, b: MatMut<'_, f64>) {
        match self {
            Self::Dense(factor) => factor.solve_in_place(b),
            Self::Line(factor) => factor.solve_in_place(b),
        }
    }

    /// Overwrites `b`, shape `[n, m]`, with `L^-1 b`.
    pub fn half_solve_in_place(&self, b: MatMut<'_, f64>) {
        match self {
            Self::Dense(factor) => factor.half_solve_in_place(b),
            Self::Line(factor) => factor.half_solve_in_place(b),
        }
    }

    /// Overwrites `b`, shape `[n, m]`, with `L^-T b`.
    pub fn half_solve_transpose_in_place(&self, b: MatMut<'_, f64>) {
        match self {
            Self::Dense(factor) => factor.half_solve_transpose_in_place(b),
            Self::Line(factor) => factor.half_solve_transpose_in_place(b),
        }
    }

    /// The diagonal of `Ky^-1`, length `n`.
    #[must_use]
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        match self {
            Self::Dense(factor) => factor.inverse_diagonal(),
            Self::Line(factor) => factor.inverse_diagonal(),
        }
    }

    /// `Ky^-1`, both triangles.
    #[must_use]
    pub fn inverse(&self) -> Mat<f64> {
        match self {
            Self::Dense(factor) => factor.inverse(),
            Self::Line(factor) => factor.inverse(),
        }
    }

    /// The lower triangle of `Ky^-1`, in the memory of the factor where that is a matrix.
    #[must_use]
    pub fn into_inverse_lower(self) -> Mat<f64> {
        match self {
            Self::Dense(factor) => factor.into_inverse_lower(),
            Self::Line(factor) => factor.inverse(),
        }
    }
}
