//! What is believed of several latent values together.

use crate::error::InputError;
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
    ///
    /// # Errors
    /// [`InputError::Shape`] for other sizes.
    pub fn new(mean: Vec<f64>, covariance: Mat<f64>) -> Result<Self, InputError> {
        let expected = mean.len();
        let sides = [
            ("the rows of the covariance", covariance.nrows()),
            ("the columns of the covariance", covariance.ncols()),
        ];
        for (what, got) in sides {
            if got != expected {
                return Err(InputError::Shape {
                    what,
                    expected,
                    got,
                });
            }
        }
        let variance = (0..expected).map(|i| covariance[(i, i)].max(0.0));
        Ok(Self {
            variance: variance.collect(),
            mean,
            covariance,
        })
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
