//! One pass over all rows: the bound, and its derivatives in `q` and in the hyperparameters.
//!
//! With `g_i = dF / dm_i`, `q = N(mu, S)`, `D` the derivative in the covariances within rows, and
//! `E` that in their part `A'SA` besides, where a sample stands for the rest
//! ([`control_variate`](super::control_variate)):
//!
//! $$ F_\mu = A g, \quad F_S = A (D + E) A', \quad F_{K_{uX}} = L^{-T} (\mu g' + 2 (S - I) A (D +
//! E) + 2 A E), \quad F_{K_{uu}} = -L^{-T} \mathrm{sym}(\mu F_\mu' + 2 (S - I) F_S + 2 A E A')
//! L^{-1} / 2, \quad F_{K_{bb}} = D $$
//!
//! where `sym` mirrors the lower triangle. Inducing points that move change the bound through
//! `K_uX` and `K_uu` alone:
//!
//! $$ \frac{\partial F}{\partial z_m} = \sum_n (F_{K_{uX}})_{mn} \frac{\partial k(z_m,
//! x_n)}{\partial z_m} + 2 \sum_{m'} (F_{K_{uu}})_{mm'} \frac{\partial k(z_m, z_{m'})}{\partial
//! z_m} $$
//!
//! A pass has four steps for every chunk of rows (`chunk.rs`, `contract.rs`): features of its
//! points, expectations of its rows with their derivatives, what these gather in `q`, and what they
//! contract to in the hyperparameters. What chunks add up to are [`Sums`].

mod bound;
mod chunk;
mod contract;
mod passes;
mod run;
mod stream;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use super::shards::Pass;
use super::sums::{Depth, Sums};
use super::{LogSum, Normal, SparseProblem};
use crate::error::FitError;
use passes::Passes;

pub use bound::Bound;
pub(super) use stream::Stream;

/// Evaluates the bound.
///
/// # Arguments
/// * `theta` - every hyperparameter, natural units
/// * `q` - belief about the whitened inducing values
/// * `form` - what is put for expectations of sums
///
/// # Errors
/// [`FitError::Inducing`] when the covariance of the inducing points has no Cholesky factor;
/// [`FitError::Input`] where `form` does not exist for a row.
///
/// # Numerics
/// `2 N M^2` flops for the value, `5 N M^2` with the gradient, besides the covariances and the
/// pairs within rows. Sums are made in an order that depends neither on threads nor on their
/// number.
pub fn bound(
    problem: &dyn SparseProblem,
    theta: &[f64],
    q: &Normal,
    form: LogSum,
    with_gradient: bool,
) -> Result<Bound, FitError> {
    let stream = Stream::new(problem, theta, form, 0)?;
    let depth = match with_gradient {
        true => Depth::All,
        false => Depth::Value,
    };
    stream.run(q, depth)
}

/// The sums over the rows of a problem, added up.
///
/// # Errors
/// As [`bound`].
pub fn sums(problem: &dyn SparseProblem, pass: &Pass) -> Result<Sums, FitError> {
    let stream = Stream::new(problem, &pass.theta, pass.form, 0)?;
    let mut total = stream.none(pass.depth);
    for sum in stream.sums(&pass.belief, pass.depth)? {
        total.add(&sum);
    }
    Ok(total)
}
