//! The normal approximation of the whitened inducing values.

use serde::{Deserialize, Serialize};

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, MatRef, dot, packed};

/// `q(v) = N(mu, P^-1)`, held by its precision: nothing is inverted to take a step.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Packed", into = "Packed")]
pub struct Normal {
    /// `P`, both triangles.
    precision: Mat<f64>,
    /// `P mu`.
    shift: Vec<f64>,
    mean: Vec<f64>,
    factor: Cholesky,
}

/// The same in plain numbers.
#[derive(Serialize, Deserialize)]
struct Packed {
    /// Lower triangle of `P`, column by column.
    precision: Vec<f64>,
    shift: Vec<f64>,
}

impl From<Normal> for Packed {
    fn from(normal: Normal) -> Self {
        Self {
            precision: packed::lower(&normal.precision),
            shift: normal.shift,
        }
    }
}

impl TryFrom<Packed> for Normal {
    type Error = String;

    fn try_from(packed: Packed) -> Result<Self, String> {
        let precision = packed::from_lower(&packed.precision, packed.shift.len())
            .ok_or("a precision and a shift are of two sizes")?;
        Self::new(precision, packed.shift).map_err(|e| e.to_string())
    }
}

impl Normal {
    /// Mean zero and one variance for all `size` coordinates.
    ///
    /// # Errors
    /// [`LinalgError::NotPositiveDefinite`] for a variance that is not above zero.
    pub fn isotropic(size: usize, variance: f64) -> Result<Self, LinalgError> {
        let precision = Mat::from_fn(size, size, |i, j| if i == j { 1.0 / variance } else { 0.0 });
        Self::new(precision, vec![0.0; size])
    }

    /// From `P` and `P mu`.
    ///
    /// # Errors
    /// [`LinalgError::NotPositiveDefinite`].
    pub fn new(precision: Mat<f64>, shift: Vec<f64>) -> Result<Self, LinalgError> {
        let factor = Cholesky::factor(precision.as_ref())?;
        let mean = factor.solve(&shift);
        Ok(Self {
            precision,
            shift,
            mean,
            factor,
        })
    }

    /// From `mu` and the lower Cholesky factor of the covariance, which is inverted.
    ///
    /// # Errors
    /// [`LinalgError::NotPositiveDefinite`] for a factor without an inverse.
    pub fn from_covariance_factor(
        mean: &[f64],
        lower: MatRef<'_, f64>,
    ) -> Result<Self, LinalgError> {
        let mut inverse = Mat::identity(mean.len(), mean.len());
        faer::linalg::triangular_solve::solve_lower_triangular_in_place(
            lower,
            inverse.as_mut(),
            crate::linalg::parallelism(mean.len()),
        );
        let precision = crate::linalg::gemm(inverse.transpose(), inverse.as_ref());
        let shift = crate::linalg::matvec(precision.as_ref(), mean);
        Self::new(precision, shift)
    }

    /// Number of coordinates `M`.
    #[must_use]
    pub fn size(&self) -> usize {
        self.mean.len()
    }

    /// `mu`.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// `P mu`.
    #[must_use]
    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// `P`.
    #[must_use]
    pub fn precision(&self) -> MatRef<'_, f64> {
        self.precision.as_ref()
    }

    /// The factor of `P`.
    #[must_use]
    pub fn factor(&self) -> &Cholesky {
        &self.factor
    }

    /// `S = P^-1`.
    #[must_use]
    pub fn covariance(&self) -> Mat<f64> {
        self.factor.inverse()
    }

    /// `KL(q || N(0, I)) = (tr S + mu'mu - M + log det P) / 2` in nats.
    #[must_use]
    pub fn divergence(&self) -> f64 {
        let trace: f64 = self.factor.inverse_diagonal().iter().sum();
        let size = self.size() as f64;
        0.5 * (trace + dot(&self.mean, &self.mean) - size + self.factor.log_det())
    }

    /// `(1 - step)` of this and `step` of the other, in `P` and `P mu`.
    ///
    /// # Errors
    /// [`LinalgError::NotPositiveDefinite`].
    pub fn towards(
        &self,
        precision: MatRef<'_, f64>,
        shift: &[f64],
        step: f64,
    ) -> Result<Self, LinalgError> {
        let n = self.size();
        let mix = |a: f64, b: f64| (1.0 - step) * a + step * b;
        let blended = Mat::from_fn(n, n, |i, j| mix(self.precision[(i, j)], precision[(i, j)]));
        let pairs = self.shift.iter().zip(shift);
        Self::new(blended, pairs.map(|(a, b)| mix(*a, *b)).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_divergence_is_that_of_two_normals() {
        let q = Normal::new(
            Mat::from_fn(2, 2, |i, j| if i == j { [4.0, 0.5][i] } else { 0.0 }),
            vec![2.0, -1.0],
        )
        .unwrap();
        // Square roots of the factor round.
        assert!((q.mean()[0] - 0.5).abs() < 1e-15 && (q.mean()[1] + 2.0).abs() < 1e-15);
        let one = |m: f64, v: f64| 0.5 * (v + m * m - 1.0 - v.ln());
        let want = one(0.5, 0.25) + one(-2.0, 2.0);
        assert!((q.divergence() - want).abs() < 1e-14);
        assert!(Normal::isotropic(3, 1.0).unwrap().divergence().abs() < 1e-15);
        assert!(Normal::isotropic(3, -1.0).is_err());
    }

    #[test]
    fn a_factor_of_the_covariance_gives_the_same() {
        let lower = Mat::from_fn(2, 2, |i, j| [[2.0, 0.0], [0.7, 0.4]][i][j]);
        let q = Normal::from_covariance_factor(&[1.0, -0.3], lower.as_ref()).unwrap();
        let want = crate::linalg::gemm(lower.as_ref(), lower.as_ref().transpose());
        // Inverted twice: the condition, 32, times eps and the largest entry, 4, is 3e-14; less of
        // the mean.
        let got = q.covariance();
        for i in 0..2 {
            assert!((q.mean()[i] - [1.0, -0.3][i]).abs() < 1e-13);
            for j in 0..2 {
                assert!((got[(i, j)] - want[(i, j)]).abs() < 1e-13);
            }
        }
    }
}
