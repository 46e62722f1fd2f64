//! Whitened features of a chunk, and what they leave of its covariance.

use super::SparseProblem;
use super::points::in_chunk;
use crate::covariance::CrossWork;
use crate::linalg::{Mat, MatRef, dot, gemm_lower_into, lower_times_into, mirror_lower, reshape};

/// What a pass needs of a chunk that depends on the hyperparameters alone, not on `q`.
pub(super) struct ChunkFeatures {
    /// `A = L^-1 K_uX`.
    pub a: Mat<f64>,
    /// `k_ii - a_i'a_i`.
    pub residual: Vec<f64>,
    /// The sample of every row about a sum with its residual covariance, in the order of the rows.
    pub within: Vec<SampledPairs>,
}

/// Columns of a chunk that are handled at a time: of some hundred inducing points they stay in the
/// second-level cache from the kernel to the product, and more of them do not make products faster.
pub(super) const WIDTH: usize = 128;

/// Work space of one thread for `WIDTH` columns.
pub(super) struct ColumnWork {
    pub cross: Mat<f64>,
    pub work: CrossWork,
}

impl ColumnWork {
    pub fn new() -> Self {
        Self {
            cross: Mat::new(),
            work: CrossWork::default(),
        }
    }
}

/// The pairs of a row that are used.
pub(super) struct SampledPairs {
    /// Counted within the row.
    pub points: Vec<usize>,
    /// Counted within the chunk.
    pub places: Vec<usize>,
    /// Whether these are all points of the row.
    pub is_full: bool,
    /// `K - A'A` over them.
    pub residual: Mat<f64>,
}

impl ChunkFeatures {
    /// `whitener` is `L^-1`.
    pub fn new(
        problem: &dyn SparseProblem,
        theta: &[f64],
        whitener: MatRef<'_, f64>,
        chunk: usize,
    ) -> Self {
        let mut out = Self::empty();
        out.fill(problem, theta, whitener, chunk, &mut ColumnWork::new());
        out
    }

    /// Empty, to be filled.
    pub fn empty() -> Self {
        Self {
            a: Mat::new(),
            residual: Vec::new(),
            within: Vec::new(),
        }
    }

    /// Computes those of another chunk in place.
    pub fn fill(
        &mut self,
        problem: &dyn SparseProblem,
        theta: &[f64],
        whitener: MatRef<'_, f64>,
        chunk: usize,
        panel: &mut ColumnWork,
    ) {
        let (bags, prior) = (problem.bags(), problem.prior());
        let (a, residual) = (&mut self.a, &mut self.residual);
        *residual = prior.diagonal(theta, chunk);
        reshape(a, prior.inducing(), residual.len());
        let memory = (&mut panel.cross, &mut panel.work);
        prior.cross(theta, chunk, WIDTH, memory, |range, cross| {
            let target = a.as_mut().subcols_mut(range.start, range.len());
            lower_times_into(target, whitener, cross);
            for j in range {
                let column = a.col_as_slice(j);
                residual[j] = (residual[j] - dot(column, column)).max(0.0);
            }
        });
        self.within.clear();
        for row in bags.chunk_rows(chunk).filter(|&row| !bags.is_single(row)) {
            let points = bags.sample(row);
            let places = in_chunk(bags, chunk, row, &points);
            let mut own = prior.within(theta, chunk, &places);
            let seen = columns(a.as_ref(), &places);
            gemm_lower_into(
                own.as_mut(),
                true,
                -1.0,
                seen.as_ref().transpose(),
                seen.as_ref(),
            );
            mirror_lower(&mut own);
            let is_full = bags.is_full(row);
            if is_full {
                for (i, &place) in places.iter().enumerate() {
                    self.residual[place] = own[(i, i)].max(0.0);
                }
            }
            self.within.push(SampledPairs {
                points,
                places,
                is_full,
                residual: own,
            });
        }
    }

    /// About how many numbers the features of all chunks of a problem hold.
    pub fn demand(problem: &dyn SparseProblem) -> usize {
        let bags = problem.bags();
        let pairs: usize = (0..bags.rows())
            .filter(|&row| !bags.is_single(row))
            .map(|row| bags.sample_size(row).pow(2))
            .sum();
        bags.points() * (problem.prior().inducing() + 1) + pairs
    }
}

/// Some columns, side by side.
pub(super) fn columns(a: MatRef<'_, f64>, places: &[usize]) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), places.len());
    for (j, &place) in places.iter().enumerate() {
        out.col_mut(j).copy_from(a.col(place));
    }
    out
}
