//! Passes over all rows by the threads of a machine.

use rayon::prelude::*;

use super::bound::Bound;
use super::chunk::{Work, add_chunk};
use super::passes::Passes;
use super::stream::{PreparedNormal, Stream};
use crate::error::FitError;
use crate::inference::sparse::Normal;
use crate::inference::sparse::shards::Pass;
use crate::inference::sparse::sums::Depth;
use crate::inference::sparse::sums::Sums;
use crate::linalg::{Mat, mirror_lower};

/// Groups of chunks with a sum each: up to so many threads can work, and the result does not depend
/// on how many do.
const GROUPS: usize = 16;

impl Stream<'_> {
    /// The bound at a belief, with its derivatives.
    ///
    /// # Errors
    /// [`FitError::Shards`] where rows are elsewhere and cannot be asked.
    pub fn run(&self, q: &Normal, depth: Depth) -> Result<Bound, FitError> {
        Ok(self.bound(q, depth, self.sums(q, depth)?))
    }

    /// The bound at a belief, of the sums over all rows.
    pub(super) fn bound(&self, q: &Normal, depth: Depth, sums: Vec<Sums>) -> Bound {
        let mut total = self.none(depth);
        sums.iter().for_each(|sum| total.add(sum));
        mirror_lower(&mut total.in_covariance);
        mirror_lower(&mut total.explained);
        if depth == Depth::All {
            self.contract_inducing(q, &away(q), &mut total);
        }
        Bound {
            value: total.value - q.divergence(),
            in_mean: total.in_mean,
            in_covariance: total.in_covariance,
            gradient: total.gradient,
            in_places: total.in_places,
        }
    }

    pub(super) fn none(&self, depth: Depth) -> Sums {
        let inducing = self.problem.prior().inducing();
        Sums::none(depth, inducing, self.theta.len(), self.shifts.len())
    }

    fn prepared<'q>(&self, q: &'q Normal, depth: Depth) -> PreparedNormal<'q> {
        let size = self.problem.prior().inducing();
        let mut dual = Mat::from_fn(size, 1, |i, _| q.mean()[i]);
        self.factor.half_solve_transpose_in_place(dual.as_mut());
        let mut turn = Mat::new();
        if depth == Depth::All {
            turn = away(q);
            self.factor.half_solve_transpose_in_place(turn.as_mut());
            turn *= faer::Scale(2.0);
        }
        PreparedNormal {
            q,
            spread: q.factor().inverse_factor(),
            dual: dual.col_as_slice(0).to_vec(),
            turn,
            depth,
        }
    }
}

impl Passes for Stream<'_> {
    fn sums(&self, q: &Normal, depth: Depth) -> Result<Vec<Sums>, FitError> {
        if let Some(shards) = self.problem.shards() {
            let pass = Pass {
                theta: self.theta.to_vec(),
                form: self.form,
                belief: q.clone(),
                depth,
            };
            let found = shards.sums(&pass);
            return found.map_err(|reason| FitError::Shards { reason });
        }
        let at = self.prepared(q, depth);
        let chunks = self.problem.bags().chunks();
        let groups = GROUPS.min(chunks);
        let sums = (0..groups)
            .into_par_iter()
            .map_init(Work::new, |work, group| {
                let mut sum = self.none(depth);
                for chunk in group * chunks / groups..(group + 1) * chunks / groups {
                    add_chunk(self, &at, chunk, work, &mut sum);
                }
                sum
            })
            .collect();
        Ok(sums)
    }
}

/// `S - I`.
fn away(q: &Normal) -> Mat<f64> {
    let mut away = q.covariance();
    for i in 0..away.nrows() {
        away[(i, i)] -= 1.0;
    }
    away
}
