//! Rows that see sums after a link: log-Gaussian Cox processes and their kin.
//!
//! Row `r` looks at nodes `x_i` with weights `w_ri > 0`, and reports about
//!
//! $$ \eta_r = \sum_i w_{ri}\, \psi(f(x_i)), \qquad y_r \sim p(\cdot \mid \eta_r) $$
//!
//! With `p_ri = w_ri / sum_i w_ri` its latent value is the quasi-arithmetic mean `z_r =
//! psi^-1(sum_i p_ri psi(f_i))`, the ordinary likelihood with its link applies to `z_r`, and the
//! total weight belongs to its exposure. [`Pools`] holds which nodes and shares; a row of one node
//! has `z_r = f_i` and is an ordinary row.
//!
//! # The mode, and the evidence
//! `z_r` is not linear in `f`, so that the joint mode of all nodes is searched,
//!
//! $$ \Psi(f) = \sum_r \log p(y_r \mid z_r(f)) - \tfrac12 (f - m)' K^{-1} (f - m) $$
//!
//! by iterated linearisation: around `f`, `z_r` has the prior covariance `C = J K J'` with `j_r =
//! dz_r / df`, and rows are Laplace sites of precision `W_r = -(log p)''`. With `f = m + K b`
//! nothing needs the inverse of `K`. Far from the mode a step takes the curvature `J' W J`, near
//! it, and behind `softplus` everywhere, all of it (by conjugate gradients). Then
//!
//! $$ \log Z \approx \sum_r \log p(y_r \mid z_r) - \tfrac12 (f - m)' b - \tfrac12 \log\det(I + W C)
//! $$
//!
//! whose curvature drops the second derivatives of `z`: for counts with the `exp` link it is the
//! expected one, and it is exact where totals are met. `adjoint.rs` has the gradient, which is
//! exact for this expression.
//!
//! # The answers
//! At the mode `z_r` agrees with what was counted. But where the values within a row are uncertain,
//! with a variance `s`, as in bins wider than the lengthscale, the mean of `sum_i w_i e^(f_i)` is
//! larger by a factor of about `e^(s / 2)`. Predictions therefore come from weighted draws that
//! meet what the rows report (`lift`): unions of rows are then known as well as the rows.
//!
//! Behind a square, whose sign is open, and without draws, a normal distribution answers around
//! which the linearisation holds on average (`expected.rs`): `z_r` is replaced by the normal belief
//! whose linked value has the mean and variance of `sum_i p_i psi(f_i)`, and the likelihood by its
//! expectation under that belief, as in the variational approximation. A row reports about its sum,
//! which has a second-order part beside the part that is linear in the function
//! (`second_order.rs`). So it says less about the function than if its sum were linear; the
//! variances of predicted sums are corrected for what it says about their second-order parts
//! (`other_sums.rs`).
//!
//! # Source
//! Moller, Syversveen and Waagepetersen 1998 for the process; Bradley and others 2013 (iterated
//! extended Kalman updates) for linearisation of this kind; Law and others 2018, lemma 1, for
//! aggregates after a link, whose bound is replaced by the match of moments.

mod adjoint;
mod converge;
mod curvature;
mod expected;
mod lift;
mod mode;
mod options;
mod other_sums;
mod pinned;
#[cfg(test)]
mod pinned_tests;
mod pools;
mod second_order;
mod start;
#[cfg(test)]
mod start_tests;
#[cfg(test)]
mod steep_tests;
#[cfg(test)]
pub(in crate::inference) mod testing;
#[cfg(test)]
mod tests;
mod total;
mod totals;

pub(crate) use expected::draw_pooled_from;
pub use expected::{condition_pooled, condition_pooled_from, draw_pooled};
pub use lift::{Lift, Ready};
use mode::{Begin, find_mode_from};
pub use mode::{Mode, find_mode};
pub use options::{Draws, PooledOptions};
pub(crate) use other_sums::{OtherSums, SumNodes};
pub use pools::Pools;
pub(in crate::inference) use pools::Slopes;
pub use second_order::SecondOrder;
pub use total::{Total, total};
pub(crate) use totals::{ConditionalDraw, ConditionalMode, NodePrior, evened};

use super::WarmStart;
use super::sites::LatentGaussian;
use crate::error::FitError;
use crate::parameter::Parameter;

/// How far from the mode, in posterior standard deviations, a search that others finish may stop:
/// determinant and gradient are off by some times as much.
const ROUGH: f64 = 1e-5;

/// Relative residual of the system for how the mode moves.
const PRECISE: f64 = 1e-12;

/// The evidence of pooled rows, by Laplace's method.
pub struct PooledEvidence<'a> {
    problem: &'a dyn LatentGaussian,
    pools: &'a Pools,
    options: PooledOptions,
}

impl<'a> PooledEvidence<'a> {
    /// The evidence as a function of the hyperparameters.
    ///
    /// # Arguments
    /// * `problem` - prior of the nodes; its blocks are about the rows
    /// * `pools` - what every row sees of the nodes
    #[must_use]
    pub fn new(problem: &'a dyn LatentGaussian, pools: &'a Pools, options: PooledOptions) -> Self {
        Self {
            problem,
            pools,
            options,
        }
    }

    /// The mode, searched from that of the warm start, and left there.
    fn mode(&self, theta: &[f64], warm_start: &mut WarmStart) -> Result<Mode, FitError> {
        let mut options = self.options;
        if warm_start.is_rough {
            options.tolerance = options.tolerance.max(ROUGH);
        }
        let find = |begin| find_mode_from(self.problem, self.pools, theta, &options, begin);
        let near = warm_start.memory::<LastMode>();
        let found = near.and_then(|last| find(Begin::Near(&last.0)).ok());
        let mode = match found.filter(|mode| mode.converged) {
            Some(mode) => mode,
            None => find(Begin::Anew)?.converged()?,
        };
        warm_start.keep(LastMode(mode.values.clone()));
        Ok(mode)
    }
}

/// The nodes' values where a search for hyperparameters was last.
struct LastMode(Vec<f64>);

impl super::Evidence for PooledEvidence<'_> {
    /// An evaluation that did not converge is an error, from which the search steps back.
    fn evaluate_along(
        &self,
        theta: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError> {
        let mode = self.mode(theta, warm_start)?;
        let log_evidence = mode.log_evidence;
        let tolerance = if warm_start.is_rough { ROUGH } else { PRECISE };
        let gradient = adjoint::gradient(self.problem, self.pools, theta, &mode, tolerance);
        Ok((log_evidence, gradient))
    }

    fn value_along(&self, theta: &[f64], warm_start: &mut WarmStart) -> Result<f64, FitError> {
        Ok(self.mode(theta, warm_start)?.log_evidence)
    }

    /// Error of the evidence, in nats. With counts of 1e9 rounding limits the mode; an evidence
    /// with this error places the optimum within a twentieth of a posterior standard deviation.
    fn rounding(&self) -> f64 {
        1e-3
    }

    fn parameters(&self) -> &[Parameter] {
        self.problem.parameters()
    }
}
