//! The prior at inducing points and at the points of rows.

use crate::covariance::Induced;
use crate::linalg::Mat;
use crate::support::Functionals;

/// What a mean that is unknown adds to covariances; it has no hyperparameters.
pub trait UnknownMean: Sync {
    /// Adds the covariance of its values at two sets to `k`, shape `[a.len(), b.len()]`.
    fn add_covariance(&self, k: &mut Mat<f64>, a: &Functionals, b: &Functionals);

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
            mean.add_covariance(&mut k, self.induced.inducing(), self.induced.inducing());
        }
        k
    }

    /// Writes `K_uX` of a chunk, shape `[M, points]`, into `out`, whatever its shape was.
    pub fn cross(&self, theta: &[f64], chunk: usize, out: &mut Mat<f64>) {
        self.induced.cross(theta, chunk, out);
        if let Some(mean) = self.mean {
            mean.add_covariance(out, self.induced.inducing(), self.induced.chunk(chunk));
        }
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
            mean.add_covariance(&mut k, &at, &at);
        }
        k
    }
}
