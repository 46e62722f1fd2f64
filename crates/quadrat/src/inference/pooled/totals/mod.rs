//! Sums after `exp` that are known exactly: the mode, and draws that meet every one of them.
//!
//! Rows of [`Pools`] behind `exp` see `z_r(f) = log sum_i p_ri e^(f_i)`, and `z_r = t_r` is known.
//! Where many tables have the same nodes, the same rows and the same prior they differ in `t`
//! alone: covariances are made and factorised once for all of them.
//!
//! With `J` the slopes of `z` at a place `f`, a step of Gauss and Newton goes to the mode of the
//! rows that are linear there,
//!
//! $$ f \leftarrow m + K J' S^{-1} (J (f - m) + t - z(f)), \qquad S = J K J' $$
//!
//! Rows without error have the evidence `p(t) = N(J (f - m); 0, S)` there, by Laplace's method.
//! Draws split as in [`lift`](super::Lift): with `G = K J' S^-1` and `g ~ N(m, K)`
//!
//! $$ f = g + G b, \quad z(f) = t, \qquad
//!    \log w = \log N(J (g - m) + b; 0, S) - \log|\det J(f) G| $$
//!
//! The mean of `w` is an unbiased estimate of the evidence.
//!
//! # Source
//! As [`lift`](super::Lift): Matheron's rule, and weights by a change of variables.

mod draw;
mod mode;
#[cfg(test)]
mod tests;

pub(crate) use draw::Drawn;
pub(crate) use mode::Known;

pub(crate) use super::lift::weigh::evened;

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat};

/// Added to the diagonal of the covariance that is factorised, relative to it: draws err by a
/// ten-thousandth of their prior sd.
const JITTER: f64 = 1e-8;

/// The prior of the nodes, `f ~ N(m, K)`.
#[derive(Debug, Clone)]
pub(crate) struct NodePrior {
    /// `m`, length `nodes`.
    pub mean: Vec<f64>,
    /// `K`, shape `[nodes, nodes]`.
    pub covariance: Mat<f64>,
}

impl NodePrior {
    /// `L` of `K = L L'`, with zeros above the diagonal, for draws `m + L x`.
    ///
    /// # Errors
    /// As [`Cholesky::factor`].
    pub fn root(&self) -> Result<Mat<f64>, LinalgError> {
        let mut k = self.covariance.clone();
        for i in 0..k.nrows() {
            k[(i, i)] *= 1.0 + JITTER;
        }
        let factor = Cholesky::factor_owned(k)?;
        let l = factor.lower();
        let at = |i: usize, j: usize| if i < j { 0.0 } else { l[(i, j)] };
        Ok(Mat::from_fn(l.nrows(), l.ncols(), at))
    }
}
