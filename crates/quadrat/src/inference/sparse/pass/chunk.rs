//! One chunk of a pass: features, moments of its rows, and the derivatives that these gather.

use std::ops::Range;

use super::stream::{PreparedNormal, Stream};
use crate::inference::sparse::bags::Bags;
use crate::inference::sparse::expectation::{of_point, of_sum};
use crate::inference::sparse::features::{ChunkFeatures, ColumnWork, SampledPairs, columns};
use crate::inference::sparse::points::{ExplainedPart, MarginalSlopes, RowPoints};
use crate::inference::sparse::slopes::{CovarianceSlopes, add_explained, for_columns};
use crate::inference::sparse::sums::Depth;
use crate::inference::sparse::sums::Sums;
use crate::likelihood::local::Belief;
use crate::linalg::{
    Mat, add_scaled, dot, gemm, gemm_lower_into, lower_times_into, matvec, mirror_lower, reshape,
    set_scaled, vectorised,
};

/// Work space of one thread.
pub(super) struct Work {
    features: ChunkFeatures,
    pub panel: ColumnWork,
    /// `B = C^-1 A`; after the rows were visited, `A (D + E)`.
    pub b: Mat<f64>,
    pub slope: Mat<f64>,
}

impl Work {
    pub fn new() -> Self {
        Self {
            features: ChunkFeatures::empty(),
            panel: ColumnWork::new(),
            b: Mat::new(),
            slope: Mat::new(),
        }
    }
}

/// Derivatives of the expectations of a chunk in the moments of its points.
pub(super) struct PointSlopes {
    /// In their means, `g`.
    pub mean: Vec<f64>,
    /// In their variances: the diagonal of `D`.
    pub variance: Vec<f64>,
    /// In the covariances within rows about sums, in the order of these.
    pub within: Vec<CovarianceSlopes>,
}

/// Means and variances of the points of a chunk under `q`.
struct Moments {
    mean: Vec<f64>,
    variance: Vec<f64>,
}

/// Adds the rows of a chunk to the sums.
pub(super) fn add_chunk(
    stream: &Stream<'_>,
    at: &PreparedNormal<'_>,
    chunk: usize,
    work: &mut Work,
    sum: &mut Sums,
) {
    let features = match &stream.kept {
        Some(kept) => &kept[chunk],
        None => {
            let whitener = stream.whitener.as_ref();
            let (made, panel) = (&mut work.features, &mut work.panel);
            made.fill(stream.problem, stream.theta, whitener, chunk, panel);
            &*made
        }
    };
    let moments = moments(stream, at, chunk, features, &mut work.b);
    let mut slopes = row_expectations(stream, at.depth, chunk, features, &moments, &work.b, sum);
    if at.depth == Depth::Value {
        return;
    }
    gather(at.depth, features, &mut slopes, &mut work.b, sum);
    if at.depth == Depth::All {
        let (ad, panel, slope) = (work.b.as_ref(), &mut work.panel, &mut work.slope);
        stream.contract(at, chunk, features, &mut slopes, (ad, panel, slope), sum);
    }
}

/// Moments of the points; `b` becomes `B = C^-1 A`, with `A'SA = B'B`.
fn moments(
    stream: &Stream<'_>,
    at: &PreparedNormal<'_>,
    chunk: usize,
    features: &ChunkFeatures,
    b: &mut Mat<f64>,
) -> Moments {
    let a = features.a.as_ref();
    reshape(b, a.nrows(), a.ncols());
    lower_times_into(b.as_mut(), at.spread.as_ref(), a);
    let mut mean = matvec(a.transpose(), at.q.mean());
    let prior = stream.problem.prior_mean(chunk);
    mean.iter_mut().zip(prior).for_each(|(m, p)| *m += p);
    let variance = |j: usize| {
        let column = b.col_as_slice(j);
        features.residual[j] + dot(column, column)
    };
    Moments {
        mean,
        variance: (0..a.ncols()).map(variance).collect(),
    }
}

/// Adds the expectations of the rows, and returns their derivatives.
fn row_expectations(
    stream: &Stream<'_>,
    depth: Depth,
    chunk: usize,
    features: &ChunkFeatures,
    moments: &Moments,
    b: &Mat<f64>,
    sum: &mut Sums,
) -> PointSlopes {
    let bags = stream.problem.bags();
    let n = moments.mean.len();
    let first = bags.chunk_points(chunk).start;
    let mut slopes = PointSlopes {
        mean: vec![0.0; n],
        variance: vec![0.0; n],
        within: Vec::with_capacity(features.within.len()),
    };
    let mut samples = features.within.iter();
    let mut to_own = Vec::new();
    for row in bags.chunk_rows(chunk) {
        let (likelihood, own, at) = stream.rows.at(row);
        let points = bags.row_points(row);
        let here = points.start - first..points.end - first;
        to_own.clear();
        // Derivatives in hyperparameters of the likelihood cost as much as all others: only where
        // asked for.
        to_own.resize(own.len() * usize::from(depth == Depth::All), 0.0);
        if bags.is_single(row) {
            let i = here.start;
            let belief = Belief {
                mean: moments.mean[i],
                variance: moments.variance[i],
            };
            let out = (depth != Depth::Value).then_some((
                &mut slopes.mean[i],
                &mut slopes.variance[i],
                &mut to_own[..],
            ));
            sum.value += of_point(likelihood, own, at, belief, out);
        } else if let Some(sample) = samples.next() {
            let row = RowOfSum {
                row,
                here,
                sample,
                depth,
            };
            sum.value += row.expectation(stream, bags, moments, b, &mut slopes, &mut to_own);
        }
        for (&index, slope) in stream.rows.own(row).iter().zip(&to_own) {
            sum.gradient[index] += slope;
        }
    }
    slopes
}

/// A row about a sum of points.
struct RowOfSum<'a> {
    row: usize,
    /// Its points, counted within the chunk.
    here: Range<usize>,
    sample: &'a SampledPairs,
    depth: Depth,
}

impl RowOfSum<'_> {
    /// The expectation of the row; its derivatives go to `slopes` and `to_own`.
    fn expectation(
        self,
        stream: &Stream<'_>,
        bags: &Bags,
        moments: &Moments,
        b: &Mat<f64>,
        slopes: &mut PointSlopes,
        to_own: &mut [f64],
    ) -> f64 {
        let Self {
            row,
            here,
            sample,
            depth,
        } = self;
        let (likelihood, own, at) = stream.rows.at(row);
        let seen = columns(b.as_ref(), &sample.places);
        let size = sample.points.len();
        let mut part = Mat::zeros(size, size);
        let transposed = seen.as_ref().transpose();
        gemm_lower_into(part.as_mut(), false, 1.0, transposed, seen.as_ref());
        mirror_lower(&mut part);
        let covariance = &sample.residual + &part;
        let low_rank = (!sample.is_full).then(|| ExplainedPart {
            columns: b.as_ref().subcols(here.start, here.len()),
            less: None,
            sample: &part,
        });
        let points = RowPoints {
            link: bags.link(row),
            weights: bags.weights(row),
            mean: &moments.mean[here.clone()],
            variance: &moments.variance[here.clone()],
            sample: &sample.points,
            covariance: &covariance,
            low_rank,
        };
        let mut slope = CovarianceSlopes {
            here: here.clone(),
            block: Mat::new(),
            low_rank: None,
            along: Vec::new(),
            seen: Mat::new(),
        };
        let wanted = depth != Depth::Value;
        if wanted {
            slope.block = Mat::zeros(size, size);
        }
        let out = wanted.then(|| MarginalSlopes {
            to_mean: &mut slopes.mean[here.clone()],
            to_variance: &mut slopes.variance[here],
            to_covariance: &mut slope.block,
            to_low_rank: &mut slope.low_rank,
            to_own,
        });
        let value = of_sum(stream.form, likelihood, own, at, &points, out);
        slopes.within.push(slope);
        value
    }
}

/// Adds the derivatives in `q` of a chunk, and makes `A (D + E)` of `B`, column by column and block
/// by block.
fn gather(
    depth: Depth,
    features: &ChunkFeatures,
    slopes: &mut PointSlopes,
    ad: &mut Mat<f64>,
    sum: &mut Sums,
) {
    let a = features.a.as_ref();
    for (t, x) in sum.in_mean.iter_mut().zip(matvec(a, &slopes.mean)) {
        *t += x;
    }
    for slope in &mut slopes.within {
        if let Some(low) = &slope.low_rank {
            let own = a.subcols(slope.here.start, slope.here.len());
            slope.along = matvec(own, &low.direction);
        }
    }
    for_columns(0..a.ncols(), &slopes.within, |j, explained| {
        let out = ad.col_as_slice_mut(j);
        vectorised(|| {
            set_scaled(slopes.variance[j], features.a.col_as_slice(j), out);
            if let Some((by, along)) = explained {
                add_scaled(by, along, out);
            }
        });
    });
    for (sample, slope) in features.within.iter().zip(&mut slopes.within) {
        let seen = columns(a, &sample.places);
        let mut moved = gemm(seen.as_ref(), slope.block.as_ref());
        if let Some(low) = &slope.low_rank {
            let own = gemm(seen.as_ref(), low.block.as_ref());
            moved += &own;
            if depth == Depth::All {
                add_explained(&mut sum.explained, &own, &seen, low.by, &slope.along);
                slope.seen = own;
            }
        }
        for (j, &place) in sample.places.iter().enumerate() {
            let out = ad.col_as_slice_mut(place);
            vectorised(|| add_scaled(1.0, moved.col_as_slice(j), out));
        }
    }
    let into = sum.in_covariance.as_mut();
    gemm_lower_into(into, true, 1.0, ad.as_ref(), a.transpose());
}
