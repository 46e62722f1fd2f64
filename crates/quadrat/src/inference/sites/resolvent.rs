//! `R = (K + T^-1)^-1`, and the products with it that posteriors and their derivatives are made of.
//!
//! | | any prior | `K = L L'` of low rank |
//! |---|---|---|
//! | `R` | `D B^-1 D`, `B = D K D + E` | `T - T W W' T` |
//! | `Sigma = K - K R K` | by `G^-1 D K`, `G G' = B` | `W W'` |
//! | `P' = I - R K = K^-1 Sigma` | by `B^-1 D K` | `I - T Sigma` |
//!
//! with `W = L A^{-1/2}`, `A = I + L' T L` (`low_rank.rs`); `D` and `E` are those of `sweep.rs`.

use crate::linalg::{
    Cholesky, Mat, MatRef, gemm, map_lower, matvec, mirror_lower, par_gemm, par_gemm_lower_into,
    scale_columns,
};

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
pub(in crate::inference) struct LowRankResolvent {
    /// `T`.
    pub precision: Vec<f64>,
    /// `W'`, shape `[r, n]`.
    pub half: Mat<f64>,
}

impl LowRankResolvent {
    /// `W'` with every column times a number.
    fn weighted(&self, weights: &[f64]) -> Mat<f64> {
        let mut out = self.half.clone();
        scale_columns(&mut out, weights.iter().copied());
        out
    }
}

/// `R`, in the form that its prior allows.
#[derive(Debug, Clone)]
pub(in crate::inference) enum Resolvent {
    Scaled(Scaled),
    LowRank(LowRankResolvent),
}

impl Resolvent {
    /// `R x`.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Self::Scaled(scaled) => scaled.times(x),
            Self::LowRank(LowRankResolvent { precision, half }) => {
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
                par_gemm_lower_into(r.as_mut(), -1.0, pulled.transpose(), pulled.as_ref());
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
            Self::LowRank(LowRankResolvent { half, .. }) => {
                let own = Mat::from_fn(half.nrows(), rows.len(), |i, j| half[(i, rows[j])]);
                par_gemm(own.transpose(), own.as_ref())
            }
        }
    }

    /// The posterior that follows from the prior.
    pub(super) fn posterior(&self, k: MatRef<'_, f64>) -> SitesPosterior<'_> {
        let n = k.nrows();
        let mut covariance = Mat::zeros(n, n);
        let form = match self {
            Self::Scaled(scaled) => {
                let all: Vec<usize> = (0..n).collect();
                let mut push = scaled.half(k, &all);
                let (a, b) = (push.transpose(), push.as_ref());
                par_gemm_lower_into(covariance.as_mut(), -1.0, a, b);
                map_lower(&mut covariance, |i, j, c| k[(i, j)] + c);
                scaled.factor.half_solve_transpose_in_place(push.as_mut());
                for j in 0..n {
                    let column = push.col_as_slice_mut(j).iter_mut().zip(&scaled.scale);
                    column
                        .enumerate()
                        .for_each(|(i, (x, s))| *x = eye(i, j) - s * *x);
                }
                Form::Dense(push)
            }
            Self::LowRank(low) => {
                let (a, b) = (low.half.transpose(), low.half.as_ref());
                par_gemm_lower_into(covariance.as_mut(), 1.0, a, b);
                mirror_lower(&mut covariance);
                Form::LowRank(low)
            }
        };
        SitesPosterior { covariance, form }
    }
}

fn eye(i: usize, j: usize) -> f64 {
    if i == j { 1.0 } else { 0.0 }
}

/// `Sigma` and `P' = I - R K`.
pub(super) struct SitesPosterior<'a> {
    /// `Sigma`, both triangles.
    pub covariance: Mat<f64>,
    form: Form<'a>,
}

enum Form<'a> {
    /// `P'`.
    Dense(Mat<f64>),
    /// `P' = I - T Sigma`.
    LowRank(&'a LowRankResolvent),
}

impl SitesPosterior<'_> {
    /// `Sigma x`.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        match &self.form {
            Form::LowRank(LowRankResolvent { half, .. }) if 2 * half.nrows() < half.ncols() => {
                matvec(half.transpose(), &matvec(half.as_ref(), x))
            }
            _ => matvec(self.covariance.as_ref(), x),
        }
    }

    /// `P' x`.
    pub fn push(&self, x: &[f64]) -> Vec<f64> {
        match &self.form {
            Form::Dense(push) => matvec(push.as_ref(), x),
            Form::LowRank(low) => {
                let moved = self.times(x);
                let all = x.iter().zip(moved.iter().zip(&low.precision));
                all.map(|(x, (s, t))| x - t * s).collect()
            }
        }
    }

    /// `sum_j (R K)_ij^2 weights_j`.
    pub fn reach(&self, i: usize, weights: &[f64]) -> f64 {
        let square = |(j, w): (usize, &f64)| {
            let r = match &self.form {
                Form::Dense(push) => eye(i, j) - push[(i, j)],
                Form::LowRank(low) => low.precision[i] * self.covariance[(j, i)],
            };
            r * r * w
        };
        weights.iter().enumerate().map(square).sum()
    }

    /// The lower triangle of `P' diag(weights) P`; the upper one holds nothing of use.
    pub fn spread(&self, weights: &[f64]) -> Mat<f64> {
        let n = weights.len();
        let mut out = Mat::zeros(n, n);
        match &self.form {
            Form::Dense(push) => {
                let mut weighted = push.clone();
                scale_columns(&mut weighted, weights.iter().copied());
                let (a, b) = (weighted.as_ref(), push.transpose());
                par_gemm_lower_into(out.as_mut(), 1.0, a, b);
            }
            Form::LowRank(low) => {
                // With `V` the weights: `V - T Sigma V - V Sigma T + T W (W' V W) W' T`.
                let inner = par_gemm(low.weighted(weights).as_ref(), low.half.transpose());
                let pulled = low.weighted(&low.precision);
                let right = par_gemm(inner.as_ref(), pulled.as_ref());
                par_gemm_lower_into(out.as_mut(), 1.0, pulled.transpose(), right.as_ref());
                let t = &low.precision;
                for j in 0..n {
                    let known = &self.covariance.col_as_slice(j)[j..];
                    let column = &mut out.col_as_slice_mut(j)[j..];
                    let rows = t[j..].iter().zip(&weights[j..]);
                    for ((out, s), (ti, wi)) in column.iter_mut().zip(known).zip(rows) {
                        *out -= s * (ti * weights[j] + wi * t[j]);
                    }
                    column[0] += weights[j];
                }
            }
        }
        out
    }
}
