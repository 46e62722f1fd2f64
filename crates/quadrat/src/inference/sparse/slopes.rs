//! Derivatives in the covariances within rows, as a pass needs them.

use std::ops::Range;

use super::points::LowRankSlope;
use crate::linalg::{Mat, add_scaled, gemm_lower_into};

/// Derivatives in the covariances of a row about a sum.
pub(super) struct CovarianceSlopes {
    /// Its points, counted within the chunk.
    pub here: Range<usize>,
    /// In those of its sample.
    pub block: Mat<f64>,
    /// In the part of them that inducing points explain, `E`, besides.
    pub low_rank: Option<LowRankSlope>,
    /// `A l`, at last `L^-T A l`.
    pub along: Vec<f64>,
    /// `A E` of the sample, at last `L^-T A E`.
    pub seen: Mat<f64>,
}

/// Calls `act` for every column of a chunk; where its row has a part of low rank, with `by l_j` and
/// the vector `along` that it multiplies.
pub(super) fn for_columns(
    columns: Range<usize>,
    slopes: &[CovarianceSlopes],
    mut act: impl FnMut(usize, Option<(f64, &[f64])>),
) {
    let mut next = columns.start;
    for slope in slopes {
        let here = slope.here.start.max(columns.start)..slope.here.end.min(columns.end);
        if let (Some(low), false) = (&slope.low_rank, here.is_empty()) {
            (next..here.start).for_each(|j| act(j, None));
            next = here.end;
            for j in here {
                let l = low.direction[j - slope.here.start];
                act(j, Some((low.by * l, &slope.along)));
            }
        }
    }
    (next..columns.end).for_each(|j| act(j, None));
}

/// Adds `own seen' + by along along'` to the lower triangle of `explained`.
pub(super) fn add_explained(
    explained: &mut Mat<f64>,
    own: &Mat<f64>,
    seen: &Mat<f64>,
    by: f64,
    along: &[f64],
) {
    // One product of all columns: to update the triangle twice would take longer.
    let with = |a: &Mat<f64>, by: f64| {
        let n = a.ncols();
        let mut out = Mat::zeros(a.nrows(), n + 1);
        out.as_mut().subcols_mut(0, n).copy_from(a);
        add_scaled(by, along, out.col_as_slice_mut(n));
        out
    };
    let (left, right) = (with(own, by), with(seen, 1.0));
    let right = right.as_ref().transpose();
    gemm_lower_into(explained.as_mut(), true, 1.0, left.as_ref(), right);
}
