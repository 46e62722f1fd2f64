//! Marginals of many functionals beside rows along a line.
//!
//! Rows and functionals are passed once on the way up and once on the way down: what the rows below
//! say, and what those above say on top of it. That takes as long as the evidence, where one
//! functional after the other takes the product of both numbers.
//!
//! # Source
//! Durbin and Koopman 2012, "Time Series Analysis by State Space Methods", section 4.4.

use rayon::prelude::*;

use super::component::Component;
use super::marginals::Marginals;
use super::mixture::Posterior;
use crate::covariance::Chain;
use crate::inference::{Factor, RowFactor};
use crate::support::Functionals;

/// Fewer are told one by one.
const LEAST: usize = 128;
/// Told at a time, at most.
const MOST: usize = 1 << 16;

impl Posterior {
    /// Means and variances at every node of the hyperparameters; none where rows or functionals are
    /// not along a line, or functionals are few.
    pub(super) fn smoothed(&self, at: &Functionals) -> Option<Vec<Marginals>> {
        if at.len() < LEAST || self.has_draws() {
            return None;
        }
        let rows: Vec<usize> = (0..at.len()).collect();
        let parts = rows.chunks(MOST).map(|rows| {
            let part = at.rows(rows);
            Some((self.problem.engine().chain_beside(&part)?, part))
        });
        let parts: Vec<(Chain, Functionals)> = parts.collect::<Option<_>>()?;
        let nodes = self.components.par_iter();
        let nodes: Option<Vec<Marginals>> = nodes.map(|c| self.smoothed_at(c, &parts)).collect();
        let mut nodes = nodes?;
        self.mend(at, &mut nodes);
        Some(nodes)
    }

    fn smoothed_at(
        &self,
        component: &Component,
        parts: &[(Chain, Functionals)],
    ) -> Option<Marginals> {
        let conditioned = &component.conditioned;
        let (factor, basis) = match &conditioned.factor {
            Factor::Rows(factor) => (factor, None),
            Factor::Basis(basis) => (basis.factor(), Some(basis)),
            _ => return None,
        };
        // Where the chain lost digits the matrix answered, with jitter.
        if !matches!(factor, RowFactor::Line(_)) {
            return None;
        }
        let theta = &component.theta;
        let residual = &self.problem.engine().normal()?.residual;
        let prior = self.problem.prior();
        let mut all = Marginals::default();
        for (chain, part) in parts {
            let factor = chain.factor(theta, &conditioned.noise)?;
            let (mut mean, variance) = match basis {
                Some(basis) => {
                    let columns = prior.functions(theta, part);
                    basis.given_along(&factor, columns.as_ref(), residual, &conditioned.levels)
                }
                None => factor.told(residual),
            };
            let level = self.problem.mean().means(part);
            mean.iter_mut()
                .zip(level)
                .for_each(|(m, level)| *m += level);
            all.add_known((mean, variance), &prior.variance_apart(theta, part));
        }
        Some(all)
    }
}
