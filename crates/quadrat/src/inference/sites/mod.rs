//! Rows of any likelihood on a Gaussian prior, each replaced by a Gaussian site.
//!
//! With latent values `z ~ N(m, K)`, one per row, the posterior is approximated by
//!
//! $$ q(z) \propto N(z; m, K) \prod_r \exp(\nu_r z_r - T_r z_r^2 / 2) $$
//!
//! Rows that are Gaussian have a known site. For the others, Laplace's method, expectation
//! propagation and the variational approximation differ in how they choose `(T_r, nu_r)` from what
//! the posterior believes about `z_r` (`laplace.rs`, `ep.rs`, `variational.rs`), and in what a row
//! contributes to the evidence:
//!
//! $$ \log Z = \sum_r c_r - \tfrac12 \alpha'(\mu - m) - \tfrac12 \log\det(I + T K), \quad \alpha =
//! K^{-1}(\mu - m) $$
//!
//! | approximation | `T_r` | `nu_r` | `c_r` |
//! |---|---|---|---|
//! | Laplace | `-(log p)''(mu_r)` | `(log p)' + T_r mu_r` | `log p(y_r; mu_r)` |
//! | EP | moments of cavity times likelihood | same | `log Z_r + log(s_c / s) / 2 + s_c alpha_r^2 / 2` |
//! | variational | `-E_q (log p)''` | `E_q (log p)' + T_r mu_r` | `E_q log p + T_r s_r / 2` |
//! | Gaussian row | `1 / v` | `y / v` | `log N(y_r; mu_r, v)` |
//!
//! `s` is the posterior variance of `z_r`, `s_c` that of its cavity (the posterior without site
//! `r`). Of the three only the variational one is a bound. A precision that a likelihood which is
//! not log-concave would make negative is raised to zero; the variational precisions are then
//! those, not negative, of the highest bound (`project.rs`).
//!
//! | symbol | meaning |
//! |---|---|
//! | `T`, `nu` | precision and shift of the sites |
//! | `mu`, `s` | posterior mean and variance of every row |
//! | `R` | `(K + T^-1)^-1` |
//! | `G` | `d log Z / d K` |
//!
//! Sites are found by `solve.rs` (the entry), `search.rs` (the iteration, damping), `sweep.rs` and
//! `low_rank.rs` (the algebra); the gradient of the evidence is in `adjoint.rs`, with `held.rs`
//! where sites of expectation propagation are held at zero.
//!
//! A row may have a second latent value, its noise variance or dispersion as a function
//! (`pair.rs`): then the evidence has the last two terms once for every latent function.

pub(in crate::inference) mod accelerate;
mod adjoint;
mod block;
mod converged;
mod ep;
mod evidence;
mod held;
mod laplace;
mod low_rank;
mod method;
pub(in crate::inference) mod options;
pub(crate) mod pair;
mod pair_jacobian;
pub(in crate::inference) mod process;
mod project;
mod reduce;
pub(in crate::inference) mod resolvent;
pub(in crate::inference) mod rows;
pub(in crate::inference) mod search;
pub(in crate::inference) mod site;
pub(in crate::inference) mod solve;
pub(in crate::inference) mod sweep;
pub(in crate::inference) mod swept;
mod variational;

pub use block::{Block, LatentGaussian, Second, SecondPrior};
pub use converged::condition_converged;
pub use evidence::SiteEvidence;
pub use method::Method;
pub use options::{SiteOptions, Sites};
pub use site::{Parted, Site};
pub use solve::{SiteFit, condition_sites, converge};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod held_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(in crate::inference) mod mixed_testing;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod pair_bound_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(in crate::inference) mod pair_testing;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod pair_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod slow_tests;
#[cfg(test)]
pub(in crate::inference) mod tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod vague_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod warm_start_tests;
