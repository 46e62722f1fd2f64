//! Moments of the function at the points of a row, under `q`.

use super::bags::Bags;

use crate::linalg::Mat;
use crate::linalg::MatRef;
use crate::link::Link;

/// The points of one row under `q`.
pub(super) struct RowPoints<'a> {
    pub link: Link,
    pub weights: &'a [f64],
    pub mean: &'a [f64],
    pub variance: &'a [f64],
    /// The points whose pairs are used, counted within the row.
    pub sample: &'a [usize],
    /// Covariance of the sample, symmetric; its diagonal is not read.
    pub covariance: &'a Mat<f64>,
    /// The part of the covariance that is used for every pair, where the rest is sampled.
    pub low_rank: Option<ExplainedPart<'a>>,
}

/// Derivatives in the marginals of the points of a row, which are added to.
pub(super) struct MarginalSlopes<'a> {
    pub to_mean: &'a mut [f64],
    pub to_variance: &'a mut [f64],
    /// In the covariances of the sample, overwritten: zero on its diagonal, `(i, j)` and `(j, i)`
    /// count as two.
    pub to_covariance: &'a mut Mat<f64>,
    /// In the part of low rank; untouched where nothing depends on it.
    pub to_low_rank: &'a mut Option<LowRankSlope>,
    /// In the own hyperparameters of the likelihood.
    pub to_own: &'a mut [f64],
}

/// The sample of a row as places in its chunk.
pub(super) fn in_chunk(bags: &Bags, chunk: usize, row: usize, sample: &[usize]) -> Vec<usize> {
    let first = bags.row_points(row).start - bags.chunk_points(chunk).start;
    sample.iter().map(|i| first + i).collect()
}

/// The part of low rank of the covariance of the points of a row.
#[derive(Clone, Copy)]
pub(super) struct ExplainedPart<'a> {
    /// `B`, a column for every point; the part is `B'B`.
    pub columns: MatRef<'a, f64>,
    /// `W`, where the part is `B'B - W'W`; there are no adjoints for that.
    pub less: Option<MatRef<'a, f64>>,
    /// The part among the sample.
    pub sample: &'a Mat<f64>,
}

/// Derivatives in the part of low rank: `by l l'` over all pairs, and `block` over those of the
/// sample.
pub(super) struct LowRankSlope {
    pub by: f64,
    pub direction: Vec<f64>,
    pub block: Mat<f64>,
}
