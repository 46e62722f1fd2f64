//! Sums after a link beside inducing points, and rows at points beside a normal belief: draws that
//! meet them, where rows are few.
//!
//! No normal belief about the function holds a sum as surely as its row does without being too sure
//! of what is inside the row. Where all rows have few nodes, inducing points therefore serve to
//! learn the hyperparameters, and the draws of dense inference ([`crate::inference::pooled`])
//! answer, on which inducing points do not bear.

use super::assembly::Problem;
use super::observations::Observations;
use super::outputs;
use super::pooled::{FEWEST_DRAWS, FEWEST_OF_ALL, Pooled, is_pooled};
use super::specified::Taken;
use crate::error::InputError;
use crate::inference::pooled::{Draws, Lift, PooledOptions, draw_pooled};
use crate::inference::sites::Method;
use crate::inference::sparse::LogSum;

/// Most nodes of all rows together: their Cholesky factor takes some tenths of a second.
const MOST_NODES: usize = 1000;
/// Operations that draws may take, a tenth of those in dense inference: some three seconds. Of 300
/// nodes and 20 rows there are as many draws as there; of 1,000 and 50, a third.
const MOST_WORK: f64 = 3e9;
/// Operations that factors of the nodes may take at all hyperparameters together.
const MOST_FACTORS: f64 = 5e10;

impl Problem {
    /// Lets draws meet the rows' sums beside inducing points, where rows have few nodes and a link
    /// that allows draws; other forms of expected sums are there to be compared with, and have
    /// none, nor have rows with fewer points than those they stand for.
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
        let is_whole = !sparse.is_thinned && sparse.options.form == LogSum::Matched;
        if !is_few || !is_sum || !is_whole {
            return None;
        }
        let restricted = outputs::restrict(self.kernel(), tables).ok()?;
        let mut model = self.model_of(restricted, self.seconds().on(tables).ok()?);
        for (parameter, value) in model.parameters.iter_mut().zip(theta) {
            parameter.start = *value;
        }
        allows_draws(Self::new(model, None))
    }

    /// Lets draws meet rows at points behind a link, where these are few; returns whether it does.
    ///
    /// # Arguments
    /// * `tables` - the user's
    pub fn draw_points(&mut self, tables: &[Observations]) -> Result<bool, InputError> {
        let is_point = |table: &Observations| {
            let supports = &table.supports;
            (0..supports.len()).all(|row| supports.is_point(row) && supports.size(row) == 1.0)
        };
        let is_behind = |table: &Observations| table.likelihood.mean_link().is_some();
        let has_seconds = !self.seconds().each().is_empty();
        if !tables.iter().all(is_point) || !tables.iter().any(is_behind) || has_seconds {
            return Ok(false);
        }
        let restricted = outputs::restrict(self.kernel(), tables)?;
        let mut model = self.model_of(restricted, self.seconds().on(tables)?);
        model.method = Some(Method::Laplace);
        model.taken = Taken::Sums;
        self.drawn = allows_draws(Self::new(model, None)).map(Box::new);
        Ok(self.drawn.is_some())
    }

    /// Draws that are to meet what rows report of their sums, see [`Pooled::draws`]; beside other
    /// inference fewer.
    pub fn draws(&self, share: f64, count: usize) -> Draws {
        let Some(pooled) = self.drawn().pooled() else {
            return Draws::default();
        };
        let mut draws = pooled.draws(share, count);
        if self.drawn.is_some() {
            let nodes = pooled.pools.nodes() as f64;
            if nodes.powi(3) * count as f64 > MOST_FACTORS {
                return Draws::default();
            }
            let most = (share * MOST_WORK / pooled.work()) as usize;
            draws.count = draws.count.min(most.max(FEWEST_DRAWS));
        }
        draws
    }

    /// The problem over whose nodes there are draws: this one, or the one beside it.
    pub fn drawn(&self) -> &Self {
        self.drawn.as_deref().unwrap_or(self)
    }

    /// Draws that meet the rows, beside inducing points or a normal belief about rows at points.
    /// None where there are none, where the most probable values of the nodes were not found, or
    /// where rows do not allow draws.
    pub(crate) fn lift(&self, theta: &[f64], draws: Draws) -> Option<Lift> {
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

/// A problem over few nodes, whose draws take little.
fn allows_draws(dense: Problem) -> Option<Problem> {
    let allows = |pooled: &Pooled| {
        let is_few = pooled.demand.is_none() && pooled.pools.nodes() <= MOST_NODES;
        is_few && pooled.has_draws() && MOST_WORK >= FEWEST_OF_ALL * pooled.work()
    };
    dense.pooled().is_some_and(allows).then_some(dense)
}
