//! The prior of nodes.

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
