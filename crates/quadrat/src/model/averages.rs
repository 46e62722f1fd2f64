//! Hyperparameters of sparse inference, learned without inducing points where rows are few.
//!
//! The bound of sparse inference lies the farther below the evidence the faster the function
//! varies, since inducing points are few. What maximises it as a rule varies too slowly, and
//! intervals are too narrow, whatever is integrated about that maximum. Where a few rows hold many
//! points each, dense inference learns the hyperparameters instead: from some points of every row,
//! whose average before the link stands for their sum after it ([`Problem::of_averages`]). Inducing
//! points then find the belief about the function at these hyperparameters, from all points.

use std::ops::Deref;

use super::Model;
use super::fit::learning;
use crate::error::FitError;
use crate::inference::sparse::{CurvatureOf, LogSum, SparseOptimum};
use crate::inference::{Evidence, LearnOptions, Optimum, Watched, maximise};
use crate::problem::assembly::Problem;
use crate::problem::observations::Observations;
use crate::problem::settings::FitOptions;
use crate::problem::sparse::{Sparse, are_points};
use crate::progress::{Keeper, Progress};

/// Most rows: their covariance is factorised at every evaluation.
const ROWS: usize = 2000;
/// Points of each row that its average is taken over. In simulated countries, whose rows have a
/// hundred, 64 changed coverage by .02 at most, at ten times the time.
const POINTS: usize = 16;
/// Operations of an evaluation: of every pair of points for its value and for each free
/// hyperparameter, and of the factors, over the cube of the rows.
const PAIR: f64 = 10.0;
const FACTORS: f64 = 5.0;
/// Passes over all points that an evaluation of the bound takes, of three times the points times
/// squared inducing points each: dense evaluations must not cost more than that saves.
const PASSES: f64 = 30.0;
/// Operations that cost next to nothing: some tenth of a second.
const LITTLE: f64 = 3e8;
/// By how many nats a row the bound may lie below the evidence. In simulated countries that of 100
/// inducing points was .7 to 1 below that of 300, and pixels were told about as well; with 40 for
/// trees in a forest (`examples/trees`) it was ten below its own maximum, and they were told far
/// worse.
const MOST_BELOW: f64 = 2.0;
/// Operations of an evaluation from which on there is one start.
const DEAR: f64 = 3e9;

/// Hyperparameters that dense inference of averages learned.
pub(super) struct Averaged {
    /// The averages.
    problem: Problem,
    pub optimum: Optimum,
}

/// What came of it.
pub(super) enum Learned {
    /// Hyperparameters.
    Averaged(Box<Averaged>),
    /// Averages cannot tell them: the bound has to.
    Nothing,
    /// The keeper stopped the search.
    Stopped,
}

impl Learned {
    /// The hyperparameters, where averages told them.
    pub fn found(&self) -> Option<&Averaged> {
        match self {
            Self::Averaged(found) => Some(found),
            _ => None,
        }
    }
}

impl Model {
    /// Learns the hyperparameters of a sparse problem from averages, where these are affordable and
    /// say what the rows say.
    pub(super) fn learn_by_averages(
        &self,
        problem: &Problem,
        options: &FitOptions,
        progress: &dyn Progress,
    ) -> Learned {
        let Some((averages, operations)) = self.averages(problem, options) else {
            return Learned::Nothing;
        };
        let usual = learning(&averages, options, progress);
        let suggested = averages.besides.iter().chain(&averages.cycles);
        let also: Vec<Vec<f64>> = suggested.cloned().collect();
        let learn = LearnOptions {
            starts: if operations > DEAR { 1 } else { usual.starts },
            also: &also,
            ..usual
        };
        let keeper = options.keeper();
        let search = || {
            let evidence = averages.evidence()?;
            maximise(&Watched { evidence, keeper }, &learn)
        };
        match search() {
            // Where no optimum was reached, their evidence could not be followed: inducing points
            // learn, and both searches are paid for.
            Ok(optimum) if !optimum.converged && !keeper.is_some_and(Keeper::is_stopped) => {
                Learned::Nothing
            }
            Ok(optimum) => Learned::Averaged(Box::new(Averaged {
                problem: averages,
                optimum,
            })),
            Err(FitError::Stopped) => Learned::Stopped,
            Err(_) => Learned::Nothing,
        }
    }

    /// The averages, and the operations of one evaluation of their evidence.
    fn averages(&self, problem: &Problem, options: &FitOptions) -> Option<(Problem, f64)> {
        let sparse = problem.sparse()?;
        let free = problem.parameters().iter().filter(|p| !p.fixed).count();
        let is_usual = sparse.options.form == LogSum::Matched && !options.move_inducing;
        let has_seconds = !problem.seconds().each().is_empty();
        if options.by_bound || free == 0 || !is_usual || has_seconds {
            return None;
        }
        let rows = problem.rows();
        let points = self.points_of_averages(sparse, rows)?;
        let pairs = 0.5 * (points * points) as f64;
        let operations = PAIR * (free as f64 + 2.0) * pairs + FACTORS * (rows as f64).powi(3);
        if operations > LITTLE.max(PASSES * sparse.flops()) {
            return None;
        }
        let tables = self.tables.iter().cloned();
        let tables: Vec<Observations> = tables.map(|table| table.thinned(POINTS)).collect();
        let averages = problem.of_averages(&tables).ok()?;
        averages.engine().check_size().ok()?;
        Some((averages, operations))
    }

    /// Points of the averages of so many rows; none where rows are too many, look at boxes or
    /// regions, or at one point each, about which the bound says as much.
    fn points_of_averages(&self, sparse: &Sparse, rows: usize) -> Option<usize> {
        let points = sparse.points_of_rows(POINTS);
        let is_worth = rows <= ROWS && points > rows && self.are_of_points();
        is_worth.then_some(points)
    }

    /// Whether rows look at points only.
    pub(super) fn are_of_points(&self) -> bool {
        let mut tables = self.tables.iter();
        tables.all(|table| are_points(table.supports()))
    }
}

impl Averaged {
    /// The evidence of the averages; evaluations end with [`FitError::Stopped`] after the keeper
    /// stops.
    pub fn evidence<'a>(
        &'a self,
        keeper: Option<&'a dyn Keeper>,
    ) -> Result<Box<dyn Evidence + 'a>, FitError> {
        let evidence = self.problem.evidence()?;
        Ok(Box::new(Watched { evidence, keeper }))
    }

    /// These hyperparameters with the belief that was found at them; none where its bound lies so
    /// far below the evidence that the inducing points cannot follow such a function: one that they
    /// can follow, as the bound prefers it, is then nearer to the rows.
    pub fn with_belief(&self, found: SparseOptimum) -> Option<SparseOptimum> {
        let own = &self.optimum;
        let (stopped, bound) = (found.stopped, found.optimum.log_evidence);
        let below = own.log_evidence - bound;
        if !stopped && below > MOST_BELOW * self.problem.rows() as f64 {
            return None;
        }
        let optimum = Optimum {
            log_evidence: bound,
            log_posterior: bound + own.log_posterior - own.log_evidence,
            converged: own.converged && !stopped,
            reason: match stopped {
                true => found.optimum.reason,
                false => own.reason.clone(),
            },
            ..own.clone()
        };
        Some(SparseOptimum {
            optimum,
            curvature: CurvatureOf::Whole,
            ..found
        })
    }
}

/// A keeper that stops a fit, and keeps nothing of what another fit would go on from.
pub(super) struct OnlyStops<K>(pub K);

impl<K> Keeper for OnlyStops<K>
where
    K: Deref<Target: Keeper> + Sync,
{
    fn begun(&self) -> Option<Vec<u8>> {
        None
    }

    fn keep(&self, _: &dyn Fn() -> Vec<u8>) {}

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "averages_tests.rs"]
mod tests;
