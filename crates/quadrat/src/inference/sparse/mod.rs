//! Sparse variational inference for rows of any likelihood, also of sums after a link, streamed in
//! chunks.
//!
//! The function is summarised by its values `u` at `M` inducing points. With `L L' = K_uu` and `u =
//! L v`, the posterior of `v` is approximated by `q(v) = N(mu, S)`, and that of the points that
//! rows look at by `p(f | u) q(u)`:
//!
//! $$ m_i = m(x_i) + a_i'\mu, \qquad S_{ij} = k(x_i, x_j) + a_i' (S - I) a_j, \qquad a_i = L^{-1}
//! k_u(x_i) $$
//!
//! The evidence is bounded from below by
//!
//! $$ F = \sum_r E_q \log p(y_r \mid Z_r) - KL(q(v) \,\|\, N(0, I)), \qquad Z_r = \sum_{i \in r}
//! w_i \psi(f_i) $$
//!
//! A row of one point of weight one has its expectation exactly. For a sum after a link mean and
//! variance of `Z_r` are in closed form (behind `softplus` by quadrature and a series), and its
//! expectation is that under the linked normal value with the same mean and variance ([`LogSum`]
//! has others).
//!
//! | symbol | meaning |
//! |---|---|
//! | `M`, `N` | inducing points, points of all rows |
//! | `A` | whitened features `L^-1 K_uX`, `[M, N]`, made chunk by chunk |
//! | `mu`, `S`, `P` | mean, covariance and precision of `q(v)` |
//! | `D` | `dF / dS_ij` within a row |
//!
//! | what | files |
//! |---|---|
//! | what is asked of a model | `problem`, `prior`, `bags`, `shards` |
//! | `K_uu = L L'`, whitened features `A` | `inducing_factor`, `features`, `points` |
//! | `E Z_r`, `Var Z_r` of a row about a sum | `moments`, `control_variate` |
//! | `E_q log p(y_r given Z_r)` | `expectation`, `log_sum`, `log_squares` |
//! | `q` and its divergence `KL` from the prior | `normal`, `variational_posterior` |
//! | the bound `F`, and its derivatives from one pass over the rows | `pass`, `sums`, `slopes` |
//! | the best `q` by natural gradients | `start`, `converge`, `history` |
//! | the best `q` of normal rows, in closed form | `collapsed` |
//! | the bound at the best `q`, a function of `theta` | `evidence` |
//! | the search for `theta` | `learn`, `stages`, `state`, `coarse_to_fine`, `quasi_newton` |
//! | where inducing points are | `k_means`, `moves` |
//!
//! # Source
//! Titsias 2009; Hensman, Matthews and Ghahramani 2015; Law et al. 2018 for sums. Natural
//! gradients: Khan and Lin 2017.

mod bags;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod brute_tests;
mod coarse_to_fine;
mod collapsed;
mod control_variate;
mod converge;
mod evidence;
mod expectation;
mod features;
mod history;
mod inducing_factor;
mod k_means;
mod learn;
mod log_squares;
mod log_sum;
mod moments;
mod moves;
mod normal;
mod options;
mod pass;
mod points;
mod prior;
mod problem;
mod quasi_newton;
mod shards;
mod slopes;
mod stages;
mod start;
mod state;
mod sums;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod testing;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod variational_posterior;

pub use bags::{Bags, Within};
pub use converge::converge_sparse;
pub use evidence::{SparseEvidence, condition_sparse};
pub use k_means::k_means;
pub use learn::{CurvatureOf, SparseOptimum, learn_sparse};
pub use log_sum::LogSum;
pub use moments::sampled_total;
pub use normal::Normal;
pub use options::SparseOptions;
pub use pass::{Bound, bound, sums};
pub use prior::{SparsePrior, UnknownMean};
pub use problem::SparseProblem;
pub use shards::{Pass, Shards};
pub use state::SparseState;
pub use sums::{Depth, Sums};
pub use variational_posterior::VariationalPosterior;
