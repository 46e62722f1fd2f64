//! Predictions that meet totals.

use crate::linalg::Mat;
use crate::posterior::prediction::Prediction;

/// Predictions whose groups add up to given totals: see
/// [`Posterior::meet`](crate::model::Posterior::meet).
#[derive(Debug, Clone, PartialEq)]
pub struct Met {
    pub(super) mean: Vec<f64>,
    pub(super) sd: Vec<f64>,
    /// Mean and sd of every group's sum before it met its total.
    pub(super) before: Vec<(f64, f64)>,
    pub(super) marginals: MetMarginals,
    /// Joint draws that were asked for, shape `[m, draws]`.
    pub(super) draws: Mat<f64>,
}

/// What quantiles and probabilities are taken from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum MetMarginals {
    /// Mixtures of normal distributions.
    Normal(Box<Prediction>),
    /// Draws of every row, ascending, a column for each row.
    Drawn(Mat<f64>),
}

impl Met {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mean.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }

    /// Means, in the unit of the rows; their sums are the totals.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Standard deviations.
    #[must_use]
    pub fn sd(&self) -> &[f64] {
        &self.sd
    }

    /// Mean and standard deviation of the sum of every group without its total: how far the total
    /// lies from what the rows say.
    #[must_use]
    pub fn before(&self) -> &[(f64, f64)] {
        &self.before
    }

    /// The `p`-quantile of every row, `0 < p < 1`; NaN outside. Of draws the smallest that a share
    /// `p` of them does not exceed.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Vec<f64> {
        match &self.marginals {
            MetMarginals::Normal(prediction) => prediction.quantile(p),
            MetMarginals::Drawn(_) if !(p > 0.0 && p < 1.0) => vec![f64::NAN; self.len()],
            MetMarginals::Drawn(ascending) => {
                let count = ascending.nrows();
                let at = ((p * count as f64).ceil() as usize).clamp(1, count) - 1;
                (0..self.len()).map(|row| ascending[(at, row)]).collect()
            }
        }
    }

    /// The probability that every row is more than a limit of its own; none where these are not as
    /// many.
    #[must_use]
    pub fn exceedance(&self, limits: &[f64]) -> Option<Vec<f64>> {
        if limits.len() != self.len() {
            return None;
        }
        Some(match &self.marginals {
            MetMarginals::Normal(prediction) => {
                let below = prediction.cdf(limits);
                below.into_iter().map(|p| 1.0 - p).collect()
            }
            MetMarginals::Drawn(ascending) => {
                let share = |(row, limit): (usize, &f64)| {
                    let own = ascending.col_as_slice(row);
                    let below = own.partition_point(|value| value <= limit);
                    (own.len() - below) as f64 / own.len() as f64
                };
                limits.iter().enumerate().map(share).collect()
            }
        })
    }

    /// The joint draws that were asked for, shape `[m, draws]`; the groups of every one add up to
    /// their totals.
    #[must_use]
    pub fn draws(&self) -> &Mat<f64> {
        &self.draws
    }
}
