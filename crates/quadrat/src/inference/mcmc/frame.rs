//! The coordinates of the values of one latent function at one value of the hyperparameters.
//!
//! The whitened latents `v`, with `z = m + L v` and `K = L L'`, are standard normal before the
//! data, and anything but after precise data. The sampler moves `w` in
//!
//! $$ v = A^{-1} L' c + R^{-T} w, \qquad A = I + L' T L = R R', \qquad c = \nu - T m $$
//!
//! so that `w` would be standard normal *after* the data if the rows were the Gaussian `exp(nu'z -
//! z'T z / 2)`: one of every row, `T` diagonal, or one of all rows where each looks at several
//! values. Where the noise variance of a Gaussian row is a function, `T = 1 / v(g)` follows it: the
//! width of `z` does not pull on `g`. These approximations only choose coordinates: what is sampled
//! is the density of the model, whatever they are, its volume element `1 / det R` included. With `T
//! = 0` and `nu = 0`, `w = v`.
//!
//! # Source
//! Murray and Adams 2010, "Slice sampling covariance hyperparameters of latent Gaussian models",
//! for surrogate data.

use super::adjoint::through_cholesky;
use super::approximation::RowsApproximation;
use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, gemm, matvec};

/// Added to the diagonal of `K`, relative to it: noise of 1e-5 of the prior sd of a row, far above
/// rounding.
pub(super) const JITTER: f64 = 1e-10;

/// The factors of the coordinates.
pub(super) struct Frame {
    /// `L`.
    prior: Cholesky,
    /// `R`.
    posterior: Cholesky,
    /// `T` and `nu`.
    pub rows: RowsApproximation,
    /// `c`.
    pull: Vec<f64>,
    /// `A^-1 L' c`.
    centre: Vec<f64>,
}

/// What moves with the hyperparameters and the approximations, at fixed `w`.
pub(super) struct FrameAdjoint {
    /// Of `L`, its upper triangle zero.
    factor: Mat<f64>,
    /// Of the diagonal of `T` at fixed `c`.
    pub precision: Vec<f64>,
    /// Of `c`.
    pub pull: Vec<f64>,
}

impl Frame {
    /// # Arguments
    /// * `k` - prior covariance, without jitter
    /// * `floor` - added to its diagonal besides the jitter
    /// * `prior_mean` - `m`
    /// * `rows` - what stands in for the rows, precisions >= 0
    ///
    /// # Errors
    /// [`LinalgError::NotPositiveDefinite`].
    pub fn new(
        mut k: Mat<f64>,
        floor: &[f64],
        prior_mean: &[f64],
        rows: RowsApproximation,
    ) -> Result<Self, LinalgError> {
        let n = k.nrows();
        for (i, floor) in floor.iter().enumerate() {
            k[(i, i)] = k[(i, i)] * (1.0 + JITTER) + floor;
        }
        let prior = Cholesky::factor_owned(k)?;
        let scaled = rows.times(prior.lower());
        let mut a = gemm(prior.lower().transpose(), scaled.as_ref());
        for i in 0..n {
            a[(i, i)] += 1.0;
        }
        let posterior = Cholesky::factor_owned(a)?;
        let pull = rows.pull(prior_mean);
        let centre = posterior.solve(&matvec(prior.lower().transpose(), &pull));
        Ok(Self {
            prior,
            posterior,
            rows,
            pull,
            centre,
        })
    }

    /// The whitened latents `v` at `w`.
    pub fn whitened(&self, w: &[f64]) -> Vec<f64> {
        let mut v = w.to_vec();
        self.transpose_solve(&mut v);
        v.iter_mut().zip(&self.centre).for_each(|(v, x)| *v += x);
        v
    }

    /// `z - m` at `v`.
    pub fn latent(&self, v: &[f64]) -> Vec<f64> {
        self.prior.multiply(v)
    }

    /// `log |dv / dw|`.
    pub fn log_volume(&self) -> f64 {
        -0.5 * self.posterior.log_det()
    }

    /// The adjoint of `v` from that of `z`: `L' g`.
    pub fn pull_back(&self, g: &[f64]) -> Vec<f64> {
        matvec(self.prior.lower().transpose(), g)
    }

    /// The adjoint of `w` from that of `v`: `R^-1 vbar`.
    pub fn to_position(&self, v_bar: &[f64]) -> Vec<f64> {
        self.posterior.half_solve(v_bar)
    }

    /// The adjoints of everything that depends on the hyperparameters or the approximations.
    ///
    /// # Arguments
    /// * `v` - whitened latents
    /// * `g` - adjoint of `z`
    /// * `v_bar` - adjoint of `v`, all paths together
    /// * `w_bar` - adjoint of `w`
    pub fn adjoint(&self, v: &[f64], g: &[f64], v_bar: &[f64], w_bar: &[f64]) -> FrameAdjoint {
        let n = v.len();
        let (l, r) = (self.prior.lower(), self.posterior.lower());
        // v = x + R'^-1 w, and -log det R.
        let moved: Vec<f64> = v.iter().zip(&self.centre).map(|(v, x)| v - x).collect();
        let r_bar = Mat::from_fn(n, n, |i, j| {
            let volume = if i == j { r[(i, i)].recip() } else { 0.0 };
            if i >= j {
                -moved[i] * w_bar[j] - volume
            } else {
                0.0
            }
        });
        let s = self.posterior.solve(v_bar);
        let x = &self.centre;
        let mut a_bar = through_cholesky(&self.posterior, &r_bar);
        for j in 0..n {
            for (i, a) in a_bar.col_as_slice_mut(j).iter_mut().enumerate() {
                *a -= 0.5 * (s[i] * x[j] + x[i] * s[j]);
            }
        }
        let la = gemm(l, a_bar.as_ref());
        let scaled = self.rows.times(la.as_ref());
        let l_bar = Mat::from_fn(n, n, |i, j| {
            if i >= j {
                g[i] * v[j] + 2.0 * scaled[(i, j)] + self.pull[i] * s[j]
            } else {
                0.0
            }
        });
        let precision = (0..n)
            .map(|i| (0..=i).map(|j| la[(i, j)] * l[(i, j)]).sum())
            .collect();
        FrameAdjoint {
            factor: l_bar,
            precision,
            pull: matvec(l, &s),
        }
    }

    /// The adjoint of `K`, symmetric.
    pub fn covariance_adjoint(&self, adjoint: &FrameAdjoint) -> Mat<f64> {
        let mut covariance = through_cholesky(&self.prior, &adjoint.factor);
        for i in 0..covariance.nrows() {
            covariance[(i, i)] *= 1.0 + JITTER;
        }
        covariance
    }

    fn transpose_solve(&self, x: &mut [f64]) {
        let n = x.len();
        let column = crate::linalg::MatMut::from_column_major_slice_mut(x, n, 1);
        self.posterior.half_solve_transpose_in_place(column);
    }
}
