//! One set of verbs for the factorised covariance of the observations, whatever its structure.

use super::basis::Basis;
use super::kronecker::KroneckerFactor;
use super::pooled::{Pools, SecondOrder, Slopes};
use super::row_factor::RowFactor;
use crate::linalg::{Cholesky, Mat, MatMut, MatRef, gemm, map_lower, matvec};

/// A factorisation of `Ky = K + diag(noise)`.
#[derive(Debug, Clone)]
pub enum Factor {
    /// `Ky = L L'`.
    Rows(RowFactor),
    /// Coefficients of a mean kept apart.
    Basis(Basis),
    /// Eigenvectors per axis, never an `n x n` matrix.
    Kronecker(KroneckerFactor),
    /// `Ky^-1 = D B^-1 D` where the noise of some rows may be infinite (`D_i = 0`): sites.
    Scaled {
        /// `B`.
        factor: Cholesky,
        /// `D`.
        scale: Vec<f64>,
    },
    /// `Ky^-1 = J' R J`, `R = (C + Q + T^-1)^-1 = D B^-1 D`, over nodes of which rows see pools: of
    /// the rank of the rows.
    ///
    /// `Q` is the covariance of the second-order parts of the rows' sums. The weights `alpha`
    /// beside this factor are found without `Q`, so that means meet what was counted: they are not
    /// `Ky^-1` of a residual.
    Pooled {
        /// Which nodes a row sees.
        pools: Pools,
        /// The entries of `J`.
        slopes: Slopes,
        /// `B`.
        factor: Cholesky,
        /// `D`.
        scale: Vec<f64>,
        /// The second-order parts of the rows, `e`, whose covariance is `Q`, shape `[rows, rows]`.
        second_order: SecondOrder,
    },
    /// `Ky^-1 = L^-T R R' L^-1` over inducing points.
    Sparse {
        /// `L L' = K_uu`.
        factor: Cholesky,
        /// `R R' = I - S`, `S` the covariance of the whitened inducing values.
        root: Mat<f64>,
        /// By how much a direction of `S` was wider than that of the prior, which `R` leaves out;
        /// zero where rows are log-concave.
        excess: f64,
        /// About what a search for `S` left to gain, in nats; zero where it converged.
        left: f64,
    },
}

impl Factor {
    /// The number `n` of rows, nodes or inducing points that was conditioned on.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Rows(factor) => factor.size(),
            Self::Basis(factor) => factor.size(),
            Self::Kronecker(factor) => factor.size(),
            Self::Scaled { factor, .. } => factor.size(),
            Self::Pooled { pools, .. } => pools.nodes(),
            Self::Sparse { factor, .. } => factor.size(),
        }
    }

    /// `log det Ky`, in nats; infinite where a row has infinite noise.
    #[must_use]
    pub fn log_det(&self) -> f64 {
        match self {
            Self::Rows(factor) => factor.log_det(),
            Self::Basis(factor) => factor.log_det(),
            Self::Kronecker(factor) => factor.log_det(),
            Self::Scaled { factor, scale } => {
                factor.log_det() - 2.0 * scale.iter().map(|d| d.ln()).sum::<f64>()
            }
            // Nothing is said along the directions that no row sees.
            Self::Pooled { .. } | Self::Sparse { .. } => f64::INFINITY,
        }
    }

    /// `Ky^-1 b`.
    #[must_use]
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        match self {
            Self::Rows(factor) => factor.solve(b),
            Self::Basis(factor) => factor.explain(b).1,
            Self::Kronecker(factor) => factor.solve(b),
            Self::Scaled { factor, scale } => scaled(&factor.solve(&scaled(b, scale)), scale),
            Self::Pooled {
                pools,
                slopes,
                factor,
                scale,
                ..
            } => {
                let seen = scaled(&slopes.gather(pools, b), scale);
                slopes.scatter(pools, &scaled(&factor.solve(&seen), scale))
            }
            Self::Sparse { factor, root, .. } => {
                let seen = matvec(root.transpose(), &factor.half_solve(b));
                let mut back = gemm(
                    root.as_ref(),
                    MatRef::from_column_major_slice(&seen, seen.len(), 1),
                );
                factor.half_solve_transpose_in_place(back.as_mut());
                back.col_as_slice(0).to_vec()
            }
        }
    }

    /// Overwrites `b`, shape `[n, m]`, with `Ky^-1 b`.
    pub fn solve_in_place(&self, b: MatMut<'_, f64>) {
        match self {
            Self::Rows(factor) => factor.solve_in_place(b),
            Self::Basis(factor) => factor.solve_in_place(b),
            Self::Kronecker(factor) => per_column(b, |column| factor.solve(column)),
            Self::Scaled { factor, scale } => {
                let mut b = b;
                scale_rows(b.as_mut(), scale);
                factor.solve_in_place(b.as_mut());
                scale_rows(b, scale);
            }
            Self::Pooled { .. } | Self::Sparse { .. } => per_column(b, |column| self.solve(column)),
        }
    }

    /// A whitened cross-covariance `W`, shape `[n, m]` (`[rows, m]` for pools), with `W'W = cross'
    /// Ky^-1 cross`: the reduction of the predictive covariance.
    #[must_use]
    pub fn whiten(&self, mut cross: Mat<f64>) -> Mat<f64> {
        match self {
            Self::Rows(factor) => factor.half_solve_in_place(cross.as_mut()),
            Self::Basis(factor) => factor.whiten(cross.as_mut()),
            Self::Kronecker(factor) => per_column(cross.as_mut(), |column| factor.whiten(column)),
            Self::Scaled { factor, scale } => {
                scale_rows(cross.as_mut(), scale);
                factor.half_solve_in_place(cross.as_mut());
            }
            Self::Pooled {
                pools,
                slopes,
                factor,
                scale,
                ..
            } => {
                cross = slopes.rows(pools, cross.as_ref());
                scale_rows(cross.as_mut(), scale);
                factor.half_solve_in_place(cross.as_mut());
            }
            Self::Sparse { .. } => return self.features(cross).1,
        }
        cross
    }

    /// The features `A = L^-1 cross` of inducing points, shape `[M, m]`, beside what
    /// [`Self::whiten`] makes of `cross`; none where there are no inducing points.
    #[must_use]
    pub fn features(&self, mut cross: Mat<f64>) -> (Option<Mat<f64>>, Mat<f64>) {
        match self {
            Self::Sparse { factor, root, .. } => {
                factor.half_solve_in_place(cross.as_mut());
                let whitened = gemm(root.transpose(), cross.as_ref());
                (Some(cross), whitened)
            }
            _ => (None, self.whiten(cross)),
        }
    }

    /// The diagonal of `Ky^-1`, length `n`.
    #[must_use]
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        match self {
            Self::Rows(factor) => factor.inverse_diagonal(),
            Self::Basis(factor) => factor.inverse_diagonal(),
            Self::Kronecker(factor) => factor.inverse_diagonal(),
            Self::Scaled { factor, scale } => {
                let inner = factor.inverse_diagonal();
                inner.iter().zip(scale).map(|(v, d)| v * d * d).collect()
            }
            Self::Pooled { .. } | Self::Sparse { .. } => {
                let inverse = self.inverse().unwrap_or_else(Mat::new);
                (0..inverse.nrows()).map(|i| inverse[(i, i)]).collect()
            }
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
            Self::Rows(factor) => Some(factor.inverse()),
            Self::Basis(factor) => Some(factor.inverse()),
            Self::Kronecker(_) => None,
            Self::Scaled { factor, scale } => {
                let mut inverse = factor.inverse();
                map_lower(&mut inverse, |i, j, v| scale[i] * v * scale[j]);
                Some(inverse)
            }
            Self::Pooled { .. } | Self::Sparse { .. } => {
                let n = self.size();
                let whitened = self.whiten(Mat::identity(n, n));
                Some(gemm(whitened.transpose(), whitened.as_ref()))
            }
        }
    }
}

fn scaled(b: &[f64], scale: &[f64]) -> Vec<f64> {
    b.iter().zip(scale).map(|(b, d)| b * d).collect()
}

fn scale_rows(mut b: MatMut<'_, f64>, scale: &[f64]) {
    for j in 0..b.ncols() {
        for (i, d) in scale.iter().enumerate() {
            b[(i, j)] *= d;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matvec;

    /// The same matrix, whole and as `D^-1 B D^-1`.
    #[test]
    fn a_scaled_factor_says_what_the_whole_one_says() -> Result<(), crate::error::LinalgError> {
        let noisy = Mat::from_fn(3, 3, |i, j| {
            let away = i as f64 - j as f64;
            (-0.3 * away * away).exp() + if i == j { 0.2 * (i + 1) as f64 } else { 0.0 }
        });
        let scale = vec![0.5, 2.0, 3.0];
        let b = Mat::from_fn(3, 3, |i, j| scale[i] * noisy[(i, j)] * scale[j]);
        let whole = Factor::Rows(RowFactor::Dense(Cholesky::factor(noisy.as_ref())?));
        let factor = Cholesky::factor(b.as_ref())?;
        let scaled = Factor::Scaled { factor, scale };
        // Some roundings of numbers near one.
        assert!((whole.log_det() - scaled.log_det()).abs() < 1e-14);
        let x = [0.3, -1.0, 2.0];
        let solved = scaled.solve(&matvec(noisy.as_ref(), &x));
        for (got, want) in solved.iter().zip(x) {
            assert!((got - want).abs() < 1e-14, "{solved:?}");
        }
        Ok(())
    }
}
