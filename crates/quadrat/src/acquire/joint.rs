//! What is believed of several latent values together.

use crate::linalg::Mat;

/// A joint normal belief about latent values, whose covariance is computed column by column.
pub trait Joint: Sync {
    /// Their means.
    fn mean(&self) -> &[f64];

    /// Their variances, zero or more, of the same length.
    fn variance(&self) -> &[f64];

    /// The covariance of one of them with all.
    fn column(&self, row: usize) -> Vec<f64>;
}

/// A joint normal belief with its whole covariance.
#[derive(Debug, Clone)]
pub struct Dense {
    mean: Vec<f64>,
    variance: Vec<f64>,
    covariance: Mat<f64>,
}

impl Dense {
    /// # Arguments
    /// * `mean` - shape `[m]`
    /// * `covariance` - shape `[m, m]`, symmetric
    #[must_use]
    pub fn new(mean: Vec<f64>, covariance: Mat<f64>) -> Self {
        let own = mean.len().min(covariance.nrows());
        let variance = (0..own).map(|i| covariance[(i, i)].max(0.0)).collect();
        Self {
            mean,
            variance,
            covariance,
        }
    }
}

impl Joint for Dense {
    fn mean(&self) -> &[f64] {
        &self.mean
    }

    fn variance(&self) -> &[f64] {
        &self.variance
    }

    fn column(&self, row: usize) -> Vec<f64> {
        self.covariance.col_as_slice(row).to_vec()
    }
}
