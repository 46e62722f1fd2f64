//! `R = (K + T^-1)^-1`, and the products with it that posteriors and their derivatives are made of.
//!
//! | | any prior | `K = L L'` of low rank |
//! |---|---|---|
//! | `R` | `D B^-1 D`, `B = D K D + E` | `T - T W W' T` |
//! | `Sigma = K - K R K` | by `G^-1 D K`, `G G' = B` | `W W'` |
//! | `P' = I - R K = K^-1 Sigma` | by `B^-1 D K` | `I - T Sigma` |
//!
//! with `W = L A^{-1/2}`, `A = I + L' T L` (`low_rank.rs`); `D` and `E` are those of `sweep.rs`.

use crate::linalg::{Cholesky, Mat, MatRef, gemm, gemm_lower_into, map_lower, matvec};

/// `R = D B^-1 D`.
#[derive(Debug, Clone)]
pub(in crate::inference) struct Scaled {
    /// `B`.
    pub factor: Cholesky,
    /// `D`.
    pub scale: Vec<f64>,
}

impl Scaled {
    /// `R x`.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = x.iter().zip(&self.scale).map(|(x, d)| x * d).collect();
        let solved = self.factor.solve(&scaled);
        solved.iter().zip(&self.scale).map(|(x, d)| x * d).collect()
    }

    /// The lower triangle of `R`; the upper one holds nothing of use.
    pub fn into_lower(self) -> Mat<f64> {
        let scale = self.scale;
        let mut r = self.factor.into_inverse_lower();
        for (j, d) in scale.iter().enumerate() {
            let column = r.col_as_slice_mut(j)[j..].iter_mut();
            column.zip(&scale[j..]).for_each(|(r, s)| *r *= s * d);
        }
        r
    }

    /// `G^-1 D K`, of some columns of `K`.
    fn half(&self, k: MatRef<'_, f64>, columns: &[usize]) -> Mat<f64> {
        let (n, d) = (k.nrows(), &self.scale);
        let mut half = Mat::from_fn(n, columns.len(), |i, j| d[i] * k[(i, columns[j])]);
        self.factor.half_solve_in_place(half.as_mut());
        half
    }
}

/// `R = T - T W W' T`.
#[derive(Debug, Clone)]
pub(in crate::inference) struct LowRank {
    /// `T`.
    pub precision: Vec<f64>,
    /// `W'`, shape `[r, n]`.
    pub half: Mat<f64>,
}

impl LowRank {
    /// `W'` with every column times a number.
    fn weighted(&self, weights: &[f64]) -> Mat<f64> {
        let mut out = self.half.clone();
        for (j, weight) in weights.iter().enumerate() {
            let column = out.col_as_slice_mut(j).iter_mut();
            column.for_each(|w| *w *= weight);
        }
        out
    }
}

/// `R`, in the form that its prior allows.
#[derive(Debug, Clone)]
pub(in crate::inference) enum Resolvent {
    Scaled(Scaled),
    LowRank(LowRank),
}

impl Resolvent {
    /// `R x`.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Self::Scaled(scaled) => scaled.times(x),
            Self::LowRank(LowRank { precision, half }) => {
                let tx: Vec<f64> = x.iter().zip(precision).map(|(x, t)| x * t).collect();
                let inner = matvec(half.as_ref(), &tx);
                let back = matvec(half.transpose(), &inner);
                let all = tx.iter().zip(back.iter().zip(precision));
                all.map(|(tx, (b, t))| tx - t * b).collect()
            }
        }
    }

    /// The lower triangle of `R`; the upper one holds nothing of use.
    pub fn into_lower(self) -> Mat<f64> {
        match self {
            Self::Scaled(scaled) => scaled.into_lower(),
            Self::LowRank(low) => {
                let n = low.precision.len();
                let pulled = low.weighted(&low.precision);
                let mut r = Mat::zeros(n, n);
                gemm_lower_into(r.as_mut(), false, -1.0, pulled.transpose(), pulled.as_ref());
                for (i, t) in low.precision.iter().enumerate() {
                    r[(i, i)] += t;
                }
                r
            }
        }
    }

    /// The posterior covariance of some rows, both triangles.
    pub fn covariance_of(&self, k: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
        match self {
            Self::Scaled(scaled) => {
                let half = scaled.half(k, rows);
                let known = gemm(half.transpose(), half.as_ref());
                Mat::from_fn(rows.len(), rows.len(), |i, j| {
                    k[(rows[i], rows[j])] - known[(i, j)]
                })
            }
            Self::LowRank(LowRank { half, .. }) => {
                let own = Mat::from_fn(half.nrows(), rows.len(), |i, j| half[(i, rows[j])]);
                gemm(own.transpose(), own.as_ref())
            }
        }
    }

    /// `Sigma` and `P' = I - R K`, both triangles of each.
    pub fn posterior(&self, k: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
        let n = k.nrows();
        let mut covariance = Mat::zeros(n, n);
        match self {
            Self::Scaled(scaled) => {
                let all: Vec<usize> = (0..n).collect();
                let mut push = scaled.half(k, &all);
                let (a, b) = (push.transpose(), push.as_ref());
                gemm_lower_into(covariance.as_mut(), false, -1.0, a, b);
                map_lower(&mut covariance, |i, j, c| k[(i, j)] + c);
                scaled.factor.half_solve_transpose_in_place(push.as_mut());
                from_identity(&mut push, &scaled.scale);
                (covariance, push)
            }
            Self::LowRank(LowRank { precision, half }) => {
                let (a, b) = (half.transpose(), half.as_ref());
                gemm_lower_into(covariance.as_mut(), false, 1.0, a, b);
                crate::linalg::mirror_lower(&mut covariance);
                let mut push = covariance.clone();
                from_identity(&mut push, precision);
                (covariance, push)
            }
        }
    }

    /// `P'` alone.
    pub fn push(&self, k: MatRef<'_, f64>) -> Mat<f64> {
        let Self::Scaled(Scaled { factor, scale }) = self else {
            return self.posterior(k).1;
        };
        let n = k.nrows();
        let mut push = Mat::from_fn(n, n, |i, j| scale[i] * k[(i, j)]);
        factor.solve_in_place(push.as_mut());
        from_identity(&mut push, scale);
        push
    }

    /// The lower triangle of `P' diag(weights) P`, from `P'`; the upper one holds nothing of use.
    pub fn spread(&self, push: MatRef<'_, f64>, weights: &[f64]) -> Mat<f64> {
        let n = weights.len();
        let mut out = Mat::zeros(n, n);
        let Self::LowRank(low) = self else {
            let weighted = Mat::from_fn(n, n, |i, j| push[(i, j)] * weights[j]);
            let (a, b) = (weighted.as_ref(), push.transpose());
            gemm_lower_into(out.as_mut(), false, 1.0, a, b);
            return out;
        };
        // With `V` the weights and `C = P' - I = -T Sigma`: `V + C V + V C' + T W (W' V W) W' T`.
        let inner = gemm(low.weighted(weights).as_ref(), low.half.transpose());
        let pulled = low.weighted(&low.precision);
        let right = gemm(inner.as_ref(), pulled.as_ref());
        gemm_lower_into(out.as_mut(), false, 1.0, pulled.transpose(), right.as_ref());
        let less = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        for j in 0..n {
            for i in j..n {
                let eye = less(i, j);
                let both = (push[(i, j)] - eye) * weights[j] + (push[(j, i)] - eye) * weights[i];
                out[(i, j)] += eye * weights[i] + both;
            }
        }
        out
    }
}

/// `I - diag(scale) A` in place of `A`.
fn from_identity(a: &mut Mat<f64>, scale: &[f64]) {
    for j in 0..a.ncols() {
        let column = a.col_as_slice_mut(j).iter_mut().zip(scale);
        column.enumerate().for_each(|(i, (x, s))| {
            *x = if i == j { 1.0 } else { 0.0 } - s * *x;
        });
    }
}
