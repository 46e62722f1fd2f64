//! Options of sparse inference.

use super::LogSum;

/// Tolerance where differences of gradients are taken, as a part of the usual one.
pub(super) const FINE: f64 = 0.1;

/// Accuracy, limits and start of sparse inference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseOptions {
    /// How expectations of rows about sums are approximated.
    pub form: LogSum,
    /// Stop when less than this is left to gain, in nats.
    pub tolerance: f64,
    /// Passes over the rows, about, at most.
    pub steps: usize,
    /// Variance of the whitened inducing values where a search begins; less where that of a point
    /// would exceed 1.
    pub start_variance: f64,
    /// Features of all points are kept between steps where they take no more than this, in bytes.
    pub memory: usize,
}

impl Default for SparseOptions {
    fn default() -> Self {
        Self {
            form: LogSum::Matched,
            tolerance: 1e-6,
            steps: 200,
            start_variance: 0.1,
            memory: 1 << 28,
        }
    }
}

impl SparseOptions {
    /// For gradients of which differences are taken: `q` is then within half a thousandth of a
    /// standard deviation of its optimum.
    pub(super) fn fine(self) -> Self {
        Self {
            tolerance: FINE * self.tolerance,
            ..self
        }
    }
}
