//! Where the search for the hyperparameters of sparse inference begins.

use super::Model;
use crate::error::InputError;
use crate::inference::sparse::learn_sparse;
use crate::problem::assembly::Problem;
use crate::problem::observations::Observations;
use crate::problem::settings::Inducing;
use crate::problem::sparse::{Sparse, SparseChoice};
use crate::progress::Silent;

/// Rows on which starts compete, and their inducing points; by how many nats another has to be
/// better than the first.
const PART_ROWS: usize = 400;
const PART_INDUCING: usize = 40;
const HIGHER: f64 = 0.5;
/// Of each row of a part so many points at most.
const POINTS: usize = 64;
/// Of the first easier problem: its rows and its inducing points, at most.
const BATCH: usize = 4000;
const FEWER: usize = 128;
/// How many times as many rows the next one has.
const GROWTH: usize = 8;
/// What an easier problem may cost of the whole.
const WORTH: f64 = 0.2;

impl Model {
    /// Where a search from one of the starts besides the first ends, if it ends higher, on a few of
    /// the rows: the search of all of them is one, and from a start far from the data it may end at
    /// another optimum. Cycles that all rows suggest come first, since cycles that differ may look
    /// alike to a few of the rows.
    pub(super) fn better_start(
        &self,
        problem: &Problem,
        choice: &SparseChoice,
    ) -> Option<Vec<f64>> {
        if problem.besides.is_empty() && problem.cycles.is_empty() {
            return None;
        }
        let rows: usize = self.tables.iter().map(|t| t.supports.len()).sum();
        let tables = self.thinned((PART_ROWS as f64 / rows as f64).min(1.0))?;
        let choice = SparseChoice {
            inducing: Inducing::Number(PART_INDUCING),
            ..choice.clone()
        };
        let mut part = problem.on(&tables, Some(&choice)).ok()?;
        let usual: Vec<f64> = problem.parameters().iter().map(|p| p.start).collect();
        let mut end_of = |theta: &[f64]| {
            let named = part.prior().named(theta);
            part.start_at(&named);
            let streamed = part.engine().streamed()?;
            let options = &part.sparse()?.options;
            let learned = learn_sparse(streamed, &[], &[], options, &Silent, None).ok()?;
            Some((learned.optimum.log_posterior, learned.optimum.theta))
        };
        let mut starts = problem
            .cycles
            .iter()
            .chain([&usual])
            .chain(&problem.besides);
        let first = starts.next().and_then(|theta| end_of(theta));
        let least = first
            .as_ref()
            .map_or(f64::NEG_INFINITY, |end| end.0 + HIGHER);
        let ends = starts.filter_map(|theta| end_of(theta));
        let higher = ends.filter(|end| end.0 > least);
        let best = higher.max_by(|a, b| a.0.total_cmp(&b.0));
        let moved = first.filter(|_| !problem.cycles.is_empty());
        best.or(moved).map(|end| end.1)
    }

    /// Easier problems, where passes over all points are dear: batches of the rows that grow until
    /// they are all of them, and fewer points of each row; the first batch through fewer inducing
    /// points where there are many, then through all.
    pub(super) fn easier(
        &self,
        problem: &Problem,
        choice: &SparseChoice,
        dear: f64,
    ) -> Vec<Problem> {
        let Some(sparse) = problem.sparse() else {
            return Vec::new();
        };
        let all = sparse.flops();
        if all < dear {
            return Vec::new();
        }
        let rows: usize = self.tables.iter().map(|t| t.supports.len()).sum();
        let inducing = sparse.inducing();
        let share = |size: usize| (size as f64 / rows as f64).min(1.0);
        let is_worth =
            |points: f64| points * (inducing.len() * inducing.len()) as f64 <= WORTH * all;
        let through = |tables: &[Observations], inducing: Inducing| {
            let choice = SparseChoice {
                inducing,
                ..choice.clone()
            };
            let part = problem.on(tables, Some(&choice)).ok()?;
            let flops = part.sparse().map(Sparse::flops)?;
            (flops <= WORTH * all).then_some(part)
        };
        // At least: nodes of boxes and regions are not thinned.
        let points = sparse.points_of_rows(POINTS);
        let mut parts = Vec::new();
        let mut size = BATCH;
        while (size == BATCH || size < rows) && is_worth(share(size) * points as f64) {
            // Rows that are left may say too little: then more are looked at.
            if let Some(tables) = self.thinned(share(size)) {
                if parts.is_empty() && inducing.len() > FEWER {
                    parts.extend(through(&tables, Inducing::Number(FEWER)));
                }
                parts.extend(through(&tables, Inducing::At(Box::new(inducing.clone()))));
            }
            size *= GROWTH;
        }
        parts
    }

    /// About a share of the rows of each table, with fewer points each; none where what is left of
    /// a table says too little.
    fn thinned(&self, share: f64) -> Option<Vec<Observations>> {
        let thin = |table: &Observations| {
            let some = table.rows(&table.evenly(share))?;
            Ok(some.thinned(POINTS))
        };
        let tables = self.tables.iter().map(thin);
        tables.collect::<Result<_, InputError>>().ok()
    }
}
