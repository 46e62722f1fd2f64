//! The prior at inducing points and at the points of rows.

use std::ops::Range;

use crate::covariance::{CrossWork, Induced};
use crate::linalg::{Mat, MatRef, cut, reshape};
use crate::support::Functionals;

/// The covariance that an unknown mean adds to the kernel; it has no hyperparameters.
pub trait UnknownMean: Sync {
    /// Adds the covariance of its values at a set and at a range of another to `k`, shape
    /// `[a.len(), range.len()]`.
    fn add_covariance(
        &self,
        k: &mut Mat<f64>,
        a: &Functionals,
        b: &Functionals,
        range: Range<usize>,
    );

    /// Its variance at a row of a set.
    fn variance(&self, set: &Functionals, row: usize) -> f64;
}

/// A kernel at inducing points and chunks, and a mean that is unknown.
///
/// Points are counted within their chunk ([`super::Bags::chunk_points`]).
#[derive(Clone, Copy)]
pub struct SparsePrior<'a> {
    /// The kernel.
    pub induced: &'a Induced,
    /// The mean, unless it is zero or known.
    pub mean: Option<&'a dyn UnknownMean>,
}

impl SparsePrior<'_> {
    /// Number of inducing points `M`.
    #[must_use]
    pub fn inducing(&self) -> usize {
        self.induced.inducing().len()
    }

    /// `K_uu` at `theta`, jitter included, both triangles.
    #[must_use]
    pub fn inducing_covariance(&self, theta: &[f64]) -> Mat<f64> {
        let mut k = self.induced.matrix(theta);
        if let Some(mean) = self.mean {
            let inducing = self.induced.inducing();
            mean.add_covariance(&mut k, inducing, inducing, 0..inducing.len());
        }
        k
    }

    /// Shows `K_uX` of a chunk by ranges of so many of its points, shape `[M, range.len()]`;
    /// `memory` is for them.
    pub fn cross(
        &self,
        theta: &[f64],
        chunk: usize,
        width: usize,
        (memory, work): (&mut Mat<f64>, &mut CrossWork),
        mut show: impl FnMut(Range<usize>, MatRef<'_, f64>),
    ) {
        let (inducing, at) = (self.induced.inducing(), self.induced.chunk(chunk));
        self.induced.with_cross(theta, chunk, false, |cross| {
            for range in cut(at.len(), width) {
                reshape(memory, inducing.len(), range.len());
                cross.fill(range.clone(), work, memory.as_mut());
                if let Some(mean) = self.mean {
                    mean.add_covariance(memory, inducing, at, range.clone());
                }
                show(range, memory.as_ref());
            }
        });
    }

    /// Prior variances of the points of a chunk.
    #[must_use]
    pub fn diagonal(&self, theta: &[f64], chunk: usize) -> Vec<f64> {
        let mut k = self.induced.diagonal(theta, chunk);
        if let Some(mean) = self.mean {
            let at = self.induced.chunk(chunk);
            let pairs = k.iter_mut().enumerate();
            pairs.for_each(|(i, v)| *v += mean.variance(at, i));
        }
        k
    }

    /// Prior covariance of some points of a chunk.
    #[must_use]
    pub fn within(&self, theta: &[f64], chunk: usize, points: &[usize]) -> Mat<f64> {
        let mut k = self.induced.within(theta, chunk, points);
        if let Some(mean) = self.mean {
            let at = self.induced.chunk(chunk).rows(points);
            mean.add_covariance(&mut k, &at, &at, 0..at.len());
        }
        k
    }
}
