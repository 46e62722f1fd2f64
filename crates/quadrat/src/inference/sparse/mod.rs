//! Sparse variational inference for rows of any likelihood, also of sums after a link, streamed in chunks.
//!
//! The function is summarised by its values `u` at `M` inducing points. With `L L' = K_uu` and `u = L v`, the posterior of
//! `v` is approximated by `q(v) = N(mu, S)`, and that of the points that rows look at by `p(f | u) q(u)`:
//!
//! $$ m_i = m(x_i) + a_i'\mu, \qquad S_{ij} = k(x_i, x_j) + a_i' (S - I) a_j, \qquad a_i = L^{-1} k_u(x_i) $$
//!
//! The evidence is bounded from below by
//!
//! $$ F = \sum_r E_q \log p(y_r \mid Z_r) - KL(q(v) \,\|\, N(0, I)), \qquad Z_r = \sum_{i \in r} w_i \psi(f_i) $$
//!
//! A row of one point of weight one has its expectation exactly. For a sum after a link mean and variance of `Z_r` are in closed
//! form, and its expectation is that under the linked normal value with the same mean and variance ([`LogSum`] has others).
//!
//! | symbol | meaning |
//! |---|---|
//! | `M`, `N` | inducing points, points of all rows |
//! | `A` | whitened features `L^-1 K_uX`, `[M, N]`, made chunk by chunk |
//! | `mu`, `S`, `P` | mean, covariance and precision of `q(v)` |
//! | `D` | `dF / dS_ij` within a row |
//!
//! # Source
//! Titsias 2009; Hensman, Matthews and Ghahramani 2015; Law et al. 2018 for sums. Natural gradients: Khan and Lin 2017.

mod bags;
mod collapsed;
mod evidence;
mod expectation;
mod features;
mod inducing;
mod learn;
mod moments;
mod newton;
mod normal;
mod pass;
mod settle;
mod stages;
mod state;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod testing;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use bags::{Bags, Within};
pub use evidence::{Found, SparseEvidence, condition_sparse};
pub use expectation::LogSum;
pub use inducing::k_means;
pub use learn::{CurvatureOf, SparseOptimum, learn_sparse};
pub use moments::sampled_total;
pub use normal::Normal;
pub use pass::{Bound, bound};
pub use settle::{SparseOptions, settle_sparse};
pub use state::SparseState;

use super::sites::Block;
use crate::covariance::Induced;
use crate::linalg::{Mat, MatRef};
use crate::parameter::Parameter;

/// A Gaussian prior at inducing points and at the points of rows.
///
/// Points are counted within their chunk ([`Bags::chunk_points`]). Adjoints are added to `gradient`, one entry per parameter.
pub trait SparsePrior: Sync {
    /// Number of inducing points `M`.
    fn inducing(&self) -> usize;

    /// `K_uu` at `theta`, jitter included, both triangles.
    fn inducing_covariance(&self, theta: &[f64]) -> Mat<f64>;

    /// Writes `K_uX` of a chunk, shape `[M, points]`, into `out`, whatever its shape was.
    fn cross(&self, theta: &[f64], chunk: usize, out: &mut Mat<f64>);

    /// Prior variances of the points of a chunk.
    fn diagonal(&self, theta: &[f64], chunk: usize) -> Vec<f64>;

    /// Prior covariance of some points of a chunk.
    fn within(&self, theta: &[f64], chunk: usize, points: &[usize]) -> Mat<f64>;

    /// Adds `<G, dK_uu>` for a symmetric `G`.
    fn contract_inducing(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]);

    /// Adds `<G, dK_uX>`.
    fn contract_cross(
        &self,
        theta: &[f64],
        chunk: usize,
        adjoint: MatRef<'_, f64>,
        gradient: &mut [f64],
    );

    /// Adds `sum_i g_i dk(x_i, x_i)`.
    fn contract_diagonal(&self, theta: &[f64], chunk: usize, adjoint: &[f64], gradient: &mut [f64]);

    /// Adds `<G, dK>` over some points of a chunk, for a symmetric `G`.
    fn contract_within(
        &self,
        theta: &[f64],
        chunk: usize,
        points: &[usize],
        adjoint: MatRef<'_, f64>,
        gradient: &mut [f64],
    );

    /// Shows every coordinate of the points, by which data are told apart.
    fn coordinates(&self, show: &mut dyn FnMut(f64));
}

/// A prior and what rows reported of it.
pub trait SparseProblem: Sync {
    /// The prior.
    fn prior(&self) -> &dyn SparsePrior;

    /// Which rows look at which points.
    fn bags(&self) -> &Bags;

    /// `m(x)` of the points of a chunk.
    fn prior_mean(&self, chunk: usize) -> &[f64];

    /// The tables of rows, in order; together they cover all rows.
    fn blocks(&self) -> Vec<Block<'_>>;

    /// Every hyperparameter, in the order of `theta`.
    fn parameters(&self) -> &[Parameter];

    /// The kernel expression, for error messages.
    fn describe(&self) -> String;
}

/// A kernel with mean zero, or one that is known.
impl SparsePrior for Induced {
    fn inducing(&self) -> usize {
        self.inducing().len()
    }

    fn inducing_covariance(&self, theta: &[f64]) -> Mat<f64> {
        self.matrix(theta)
    }

    fn cross(&self, theta: &[f64], chunk: usize, out: &mut Mat<f64>) {
        self.cross(theta, chunk, out);
    }

    fn diagonal(&self, theta: &[f64], chunk: usize) -> Vec<f64> {
        self.diagonal(theta, chunk)
    }

    fn within(&self, theta: &[f64], chunk: usize, points: &[usize]) -> Mat<f64> {
        self.within(theta, chunk, points)
    }

    fn contract_inducing(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        self.contract_matrix(theta, adjoint, gradient);
    }

    fn contract_cross(
        &self,
        theta: &[f64],
        chunk: usize,
        adjoint: MatRef<'_, f64>,
        gradient: &mut [f64],
    ) {
        self.contract_cross(theta, chunk, adjoint, gradient);
    }

    fn contract_diagonal(
        &self,
        theta: &[f64],
        chunk: usize,
        adjoint: &[f64],
        gradient: &mut [f64],
    ) {
        self.contract_diagonal(theta, chunk, adjoint, gradient);
    }

    fn contract_within(
        &self,
        theta: &[f64],
        chunk: usize,
        points: &[usize],
        adjoint: MatRef<'_, f64>,
        gradient: &mut [f64],
    ) {
        self.contract_within(theta, chunk, points, adjoint, gradient);
    }

    fn coordinates(&self, show: &mut dyn FnMut(f64)) {
        self.coordinates(show);
    }
}
