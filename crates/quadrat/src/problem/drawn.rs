//! Sums after a link beside inducing points: draws that meet them, where rows are few.
//!
//! No normal belief about the function holds a sum as surely as its row does without being too sure
//! of what is inside the row. Where all rows have few nodes, inducing points therefore serve to
//! learn the hyperparameters, and the draws of dense inference ([`crate::inference::pooled`])
//! answer, on which inducing points do not bear.

use super::assembly::Problem;
use super::observations::Observations;
use super::outputs;
use super::pooled::{Pooled, is_pooled};
use crate::inference::pooled::{Draws, Lift, PooledOptions, draw_pooled};
use crate::inference::sparse::LogSum;

/// Nodes of all rows at most: a place that is asked then costs as much as some hundred inducing
/// points with all draws of dense inference, and a factor of all nodes takes a second.
const MOST_NODES: usize = 1500;

impl Problem {
    /// Lets draws meet the rows' sums beside inducing points, where rows have few nodes and a link
    /// that allows draws; other forms of expected sums are there to be compared with, and have
    /// none.
    ///
    /// # Arguments
    /// * `tables` - the user's
    /// * `theta` - hyperparameters whose lengthscales the nodes within boxes and regions resolve
    pub fn draw_sums(&mut self, tables: &[Observations], theta: &[f64]) {
        self.drawn = self.nodes_of_sums(tables, theta).map(Box::new);
    }

    /// Without draws that meet the rows' sums beside inducing points.
    pub fn draw_no_sums(&mut self) {
        self.drawn = None;
    }

    fn nodes_of_sums(&self, tables: &[Observations], theta: &[f64]) -> Option<Self> {
        let sparse = self.sparse()?;
        // Bags keep their points; boxes have more nodes here only where the lengthscale is shorter.
        let is_few = sparse.bags.points() <= 2 * MOST_NODES;
        let is_sum = tables.iter().any(is_pooled);
        if !is_few || !is_sum || sparse.options.form != LogSum::Matched {
            return None;
        }
        let restricted = outputs::restrict(self.kernel(), tables).ok()?;
        let mut model = self.model_of(restricted, self.seconds().on(tables).ok()?);
        for (parameter, value) in model.parameters.iter_mut().zip(theta) {
            parameter.start = *value;
        }
        let dense = Self::new(model, None);
        let allows = |pooled: &Pooled| {
            pooled.demand.is_none() && pooled.pools.nodes() <= MOST_NODES && pooled.has_draws()
        };
        let is_allowed = dense.pooled().is_some_and(allows);
        is_allowed.then_some(dense)
    }

    /// The problem over whose nodes there are draws: this one, or the one beside inducing points.
    pub fn drawn(&self) -> &Self {
        self.drawn.as_deref().unwrap_or(self)
    }

    /// Draws that meet the rows' sums beside inducing points; none where there are none, where the
    /// most probable values of the nodes were not found, or where rows do not allow draws.
    pub(super) fn lift(&self, theta: &[f64], draws: Draws) -> Option<Lift> {
        let dense = self.drawn.as_deref()?;
        let options = PooledOptions {
            draws,
            ..PooledOptions::default()
        };
        draw_pooled(
            dense.engine().latent()?,
            &dense.pooled()?.pools,
            theta,
            &options,
        )
    }
}
