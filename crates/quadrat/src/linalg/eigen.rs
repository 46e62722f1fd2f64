//! Eigenvalues and eigenvectors of a symmetric matrix.

use faer::Spec;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};

use super::{Mat, MatRef, parallelism};
use crate::error::LinalgError;

/// `A = Q diag(values) Q'` with orthonormal columns of `Q` and ascending values.
#[derive(Debug, Clone)]
pub struct SymmetricEigen {
    /// Eigenvalues, ascending, length `n`.
    pub values: Vec<f64>,
    /// Eigenvectors in the columns, shape `[n, n]`.
    pub vectors: Mat<f64>,
}

/// The eigendecomposition of a symmetric matrix, of which only the lower triangle is read.
///
/// # Errors
/// [`LinalgError::Eigen`] when the iteration does not converge, or an entry is not finite.
///
/// # Numerics
/// `O(n^3)`; absolute error of a value about `eps * n * |A|`, so that small eigenvalues of a
/// semi-definite matrix may come out slightly negative.
pub fn symmetric_eigen(a: MatRef<'_, f64>) -> Result<SymmetricEigen, LinalgError> {
    let n = a.nrows();
    let failed = LinalgError::Eigen { size: n };
    let finite = (0..n).all(|j| (j..n).all(|i| a[(i, j)].is_finite()));
    if !finite {
        return Err(failed);
    }
    let mut values = Diag::zeros(n);
    let mut vectors = Mat::zeros(n, n);
    if n > 0 {
        let par = parallelism(n);
        let scratch =
            self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, Spec::default());
        self_adjoint_evd(
            a,
            values.as_mut(),
            Some(vectors.as_mut()),
            par,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Spec::default(),
        )
        .map_err(|_| failed)?;
    }
    Ok(SymmetricEigen {
        values: values.column_vector().iter().copied().collect(),
        vectors,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::linalg::{gemm, symmetric_from_fn};

    #[test]
    fn reconstructs_and_is_ascending() {
        for n in [0, 1, 2, 3, 40] {
            let a = symmetric_from_fn(n, |i, j| 1.0 / (1.0 + (i + j) as f64));
            let eigen = symmetric_eigen(a.as_ref()).unwrap();
            assert!(eigen.values.windows(2).all(|w| w[0] <= w[1]));
            let scaled = Mat::from_fn(n, n, |i, j| eigen.vectors[(i, j)] * eigen.values[j]);
            let back = gemm(scaled.as_ref(), eigen.vectors.transpose());
            // eps n |A|, |A| < pi, with room for ten.
            assert!((back.as_ref() - a.as_ref()).norm_max() < 1e-14 * n.max(1) as f64);
        }
    }

    #[test]
    fn second_difference_matrix_has_known_values() {
        let n = 10;
        let a = symmetric_from_fn(n, |i, j| match i - j {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let eigen = symmetric_eigen(a.as_ref()).unwrap();
        for (k, value) in eigen.values.iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (n + 1) as f64;
            // eps n |A|, |A| < 4: 9e-15.
            assert!((value - (2.0 - 2.0 * angle.cos())).abs() < 1e-14);
        }
    }

    #[test]
    fn nan_is_refused() {
        let a = Mat::full(2, 2, f64::NAN);
        assert!(symmetric_eigen(a.as_ref()).is_err());
    }
}
