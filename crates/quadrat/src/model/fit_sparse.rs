//! Fitting through inducing points.

use std::time::Instant;

use super::Model;
use super::averages::{Averaged, Learned, OnlyStops};
use super::bounds::warn_about_bounds;
use super::conclude::{alone, not_converged, summarised};
use super::drawn_sums::{condition_drawn, told_of_beliefs};
use super::fit::is_wanted;
use super::integrate_sparse::{integrate_averages, integrate_streamed, streamed};
use crate::error::{FitError, InputError};
use crate::inference::sparse::{CurvatureOf, SparseOptimum, VariationalPosterior, learn_sparse};
use crate::inference::{Interval, in_pool};
use crate::likelihood::Likelihood;
use crate::posterior::component::Node;
use crate::posterior::mixture::Posterior;
use crate::posterior::summary::FitSummary;
use crate::posterior::{fine_noise, misfit};
use crate::problem::assembly::Problem;
use crate::problem::engine::limits;
use crate::problem::observations::Observations;
use crate::problem::pooled::is_pooled;
use crate::problem::scale::Scale;
use crate::problem::settings::{FitOptions, Hyperparameters, Inference};
use crate::problem::sparse::{Sparse, SparseChoice};
use crate::progress::{Keeper, Progress};
use crate::support::Functionals;

/// Mean counts from which on Poisson counts are judged, and what is too much of their variance.
const LARGE: f64 = 500.0;
const OVERDISPERSED: f64 = 3.0;
/// Passes for one setting, on average, from which on beliefs converge so slowly that a thousand
/// settings would take minutes: five to twenty are usual.
const SLOW: f64 = 50.0;

impl Model {
    /// [`Model::fit`] under [`super::Inference::Sparse`].
    pub(super) fn fit_sparse(
        &self,
        options: &FitOptions,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        let choice = SparseChoice::new(options);
        let problem = self.problem(Inference::Sparse, Some(&choice))?;
        self.learn_in_pool(problem, &choice, options, Vec::new(), started)
    }

    /// What is too large for dense inference, where that was not asked for; `error` says why it is.
    pub(super) fn fit_large(
        &self,
        dense: Problem,
        error: InputError,
        options: &FitOptions,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        let rows = dense.rows();
        drop(dense);
        if options.inference != Inference::Auto || !self.is_of_points(&error) {
            return Err(error.into());
        }
        let choice = SparseChoice::new(options);
        let Ok(problem) = self.problem(Inference::Sparse, Some(&choice)) else {
            return Err(error.into());
        };
        let (points, inducing) = problem.sparse().map_or((0, 0), Sparse::size);
        let told = format!(
            "{rows} rows of {points} points are too many for dense inference: sparse inference through {inducing} inducing points was used; ask for it (`method = \"sparse\"`) to choose them"
        );
        self.learn_in_pool(problem, &choice, options, vec![told], started)
    }

    /// Whether [`Inference::Auto`] means [`Inference::Sparse`] here whatever the fit finds, since
    /// dense inference would need too much memory.
    #[must_use]
    pub fn is_large(&self) -> bool {
        let supports = || self.tables.iter().map(Observations::supports);
        let rows = supports().map(Functionals::len).sum();
        let atoms = supports().map(Functionals::atom_count).sum();
        if limits::all_take(rows, atoms) && !self.tables.iter().any(is_pooled) {
            return false;
        }
        let Ok(dense) = self.problem(Inference::Auto, None) else {
            return false;
        };
        let size = dense.engine().check_size();
        drop(dense);
        size.is_err_and(|error| self.is_of_points(&error)) && self.has_inducing_points()
    }

    /// Whether inducing points can stand for these rows.
    fn has_inducing_points(&self) -> bool {
        let specified = self.specified(Inference::Sparse, true);
        specified.is_ok_and(|model| Sparse::new(&model, &SparseChoice::default()).is_ok())
    }

    /// Whether what is too much are given points, of which inducing points may stand for many;
    /// nodes within boxes and regions are as many as the function is rough, so that inducing points
    /// would be too few.
    fn is_of_points(&self, error: &InputError) -> bool {
        !matches!(error, InputError::TooManyNodes { .. }) || self.are_of_points()
    }

    pub(super) fn learn_in_pool(
        &self,
        problem: Problem,
        choice: &SparseChoice,
        options: &FitOptions,
        warnings: Vec<String>,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        in_pool(options.threads.unwrap_or(0), || {
            let mut problem = problem;
            let progress = options.progress();
            let averaged = self.learn_by_averages(&problem, options, progress);
            let keeper = options.keeper();
            let only_stops = keeper.map(OnlyStops);
            let only_stops = only_stops.as_ref().map(|k| k as &dyn Keeper);
            let known = averaged.found();
            let held = known.map(|known| {
                let free = problem.hold_at(&known.optimum.theta);
                let easier = self.easier(&problem, choice, options.dear);
                let found = search(&mut problem, &easier, options, (progress, only_stops));
                problem.release(free);
                found.map(|found| known.with_belief(found))
            });
            let held = match held.transpose() {
                Err(error) if error.is_recoverable() => None,
                held => held?.flatten(),
            };
            if let Some(learned) = held {
                let found = (learned, known);
                return self.conclude_streamed(problem, found, options, warnings, started);
            }
            let (mut easier, mut keeper) = (Vec::new(), keeper);
            if matches!(averaged, Learned::Stopped) {
                keeper = only_stops;
            } else {
                if let Some(better) = self.better_start(&problem, choice) {
                    let named = problem.prior().named(&better);
                    problem.start_at(&named);
                }
                easier = self.easier(&problem, choice, options.dear);
            }
            let learned = search(&mut problem, &easier, options, (progress, keeper))?;
            self.conclude_streamed(problem, (learned, None), options, warnings, started)
        })
    }

    /// The posterior about what was learned, by averages where there are any.
    fn conclude_streamed(
        &self,
        mut problem: Problem,
        (learned, averaged): (SparseOptimum, Option<&Averaged>),
        options: &FitOptions,
        mut warnings: Vec<String>,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        let inducing_gain = learned.moved.as_ref().map(|(_, gain)| *gain);
        let (_, sparse) = streamed(&problem)?;
        let optimum = &learned.optimum;
        warnings.extend(sparse.warnings());
        warnings.extend(learned_warnings(&learned));
        warn_about_bounds(
            problem.parameters(),
            Some(&self.settings),
            optimum,
            None,
            &mut warnings,
        );
        let Around {
            mut nodes,
            intervals,
            mut is_integrated,
            seen,
            passes,
        } = around(&problem, &learned, averaged, options, &mut warnings)?;
        let evaluations = learned.passes + passes;
        let SparseOptimum { optimum, found, .. } = learned;
        // Conditioning goes on from where learning and integration ended.
        if let Some(sparse) = problem.sparse_mut() {
            (sparse.found, sparse.near) = (Some(found), seen);
        }
        let (components, lost) = match condition_drawn(&mut problem, &self.tables, &nodes) {
            // At the most probable values there is a belief.
            Err(FitError::NotSettled { .. }) if nodes.len() > 1 => {
                (nodes, is_integrated) = (alone(&optimum), false);
                let found = condition_drawn(&mut problem, &self.tables, &nodes)?;
                (found.0, 1.0)
            }
            found => found?,
        };
        if let Some(sparse) = problem.sparse_mut() {
            (sparse.near, sparse.shards) = (Vec::new(), None);
        }
        if lost > 0.0 && is_integrated {
            warnings.push(format!(
                "beliefs about the function did not converge, or no draws that meet the rows were found, at hyperparameters that hold {:.1} % of their posterior; they were left out",
                100.0 * lost
            ));
        } else if lost > 0.0 {
            warnings.push("hyperparameters were not integrated, since beliefs about the function did not converge at many of them: intervals may be too short".to_owned());
        }
        warnings.extend(told_of_beliefs(&components));
        let summary = FitSummary {
            evidence: "elbo".into(),
            integrated: is_integrated,
            evaluations,
            inducing_gain,
            warnings,
            ..summarised(&problem, &optimum, &intervals, &components)?
        };
        let tables = self.tables.clone();
        let mut posterior = Posterior::new(problem, tables, nodes, components, summary);
        let told = warnings_of(&posterior)?;
        posterior.summary.warnings.extend(told);
        posterior.summary.seconds = started.elapsed().as_secs_f64();
        Ok(posterior)
    }
}

/// Searches over all points, and leaves the inducing points where they were moved to.
fn search(
    problem: &mut Problem,
    easier: &[Problem],
    options: &FitOptions,
    (progress, keeper): (&dyn Progress, Option<&dyn Keeper>),
) -> Result<SparseOptimum, FitError> {
    let (streamed, sparse) = streamed(problem)?;
    let easier = easier.iter().filter_map(|part| part.engine().streamed());
    let easier: Vec<_> = easier.collect();
    let moving = match options.move_inducing {
        true => sparse.movable(problem.kernel(), problem.mean())?,
        false => Vec::new(),
    };
    let sparse = &sparse.options;
    let learned = learn_sparse(streamed, &easier, &moving, sparse, progress, keeper)?;
    if let Some((inducing, _)) = &learned.moved
        && let Some(sparse) = problem.sparse_mut()
    {
        sparse.move_inducing(inducing.clone());
    }
    Ok(learned)
}

/// Hyperparameters about an optimum.
struct Around {
    nodes: Vec<Node>,
    intervals: Vec<Interval>,
    is_integrated: bool,
    /// Beliefs at some of them.
    seen: Vec<VariationalPosterior>,
    /// Passes over the rows.
    passes: usize,
}

/// Integrates over the hyperparameters, where that is wanted and does not take too long.
fn around(
    problem: &Problem,
    learned: &SparseOptimum,
    averaged: Option<&Averaged>,
    options: &FitOptions,
    warnings: &mut Vec<String>,
) -> Result<Around, FitError> {
    let heard = (options.progress(), options.keeper());
    let wanted = is_wanted(problem, options.hyperparameters)
        && !learned.stopped
        && learned.curvature != CurvatureOf::Nothing;
    let slow = slowness(learned).filter(|_| options.hyperparameters == Hyperparameters::Auto);
    if let Some(passes) = slow.filter(|_| wanted) {
        warnings.push(format!(
            "hyperparameters were not integrated, since beliefs about the function converge slowly here (some {passes:.0} passes over the rows for every setting): intervals may be too short; `hyperparameters = \"integrate\"` takes the time"
        ));
    }
    let (mut seen, mut passes) = (Vec::new(), 0);
    if wanted && slow.is_none() {
        let found = match averaged {
            Some(known) => integrate_averages(problem, known, heard, warnings)?,
            None => integrate_streamed(problem, learned, heard, warnings)?,
        };
        (seen, passes) = (found.seen, found.passes);
        if let Some(hyper_nodes) = found.hyper_nodes {
            return Ok(Around {
                nodes: hyper_nodes.nodes,
                intervals: hyper_nodes.intervals,
                is_integrated: true,
                seen,
                passes,
            });
        }
    }
    let optimum = &learned.optimum;
    let intervals = match learned.curvature {
        CurvatureOf::Nothing => Vec::new(),
        _ => optimum.intervals(problem.parameters(), 0.95)?,
    };
    Ok(Around {
        nodes: alone(optimum),
        intervals,
        is_integrated: false,
        seen,
        passes,
    })
}

/// What is to be told of what a posterior predicts of its own rows.
fn warnings_of(posterior: &Posterior) -> Result<Vec<String>, FitError> {
    // Some points of a row do not add up to what all of them reported.
    if posterior.problem.sparse().is_some_and(|own| own.is_thinned) {
        return Ok(misfit::no_event(posterior));
    }
    let mut told = posterior.overdispersion()?;
    told.extend(posterior.warnings_of_sums()?);
    told.extend(posterior.warning_of_insides());
    told.extend(misfit::of_known_tables(posterior)?);
    told.extend(fine_noise::warning(posterior)?);
    told.extend(misfit::limits_alone(posterior));
    told.extend(misfit::no_event(posterior));
    Ok(told)
}

/// Passes over the rows for every setting of the hyperparameters so far, where they are many.
fn slowness(learned: &SparseOptimum) -> Option<f64> {
    let passes = learned.passes as f64 / learned.optimum.evaluations.max(1) as f64;
    (passes > SLOW).then_some(passes)
}

/// What to say of how learning went.
fn learned_warnings(learned: &SparseOptimum) -> Vec<String> {
    let mut warnings: Vec<String> = not_converged(&learned.optimum).into_iter().collect();
    match learned.curvature {
        CurvatureOf::Whole => {}
        CurvatureOf::Nothing if learned.stopped => warnings.push(
            "intervals of the hyperparameters were not computed: the fit was stopped".to_owned(),
        ),
        CurvatureOf::Part if learned.stopped => warnings.push(
            "intervals of the hyperparameters are estimates from a part of the data: the fit was stopped"
                .to_owned(),
        ),
        CurvatureOf::Part => warnings.push(
            "intervals of the hyperparameters are estimates from a part of the data: those of all would take longer than the fit"
                .to_owned(),
        ),
        CurvatureOf::Nothing => warnings.push(
            "intervals of the hyperparameters were not computed: their curvature would take longer than the fit"
                .to_owned(),
        ),
    }
    warnings
}

impl Posterior {
    /// What to say of large Poisson counts that lie farther from their fitted means than such
    /// counts do.
    fn overdispersion(&self) -> Result<Vec<String>, FitError> {
        let mut told = Vec::new();
        for (t, table) in self.tables.iter().enumerate() {
            let Likelihood::Poisson(counts) = table.likelihood() else {
                continue;
            };
            let exact = |row: &usize| counts.lower()[*row] == counts.upper()[*row];
            let rows: Vec<usize> = (0..counts.lower().len()).filter(exact).collect();
            let size = rows.len() as f64;
            let mean = rows.iter().map(|&row| counts.lower()[row]).sum::<f64>() / size;
            if rows.is_empty() || mean < LARGE {
                continue;
            }
            let at = table.supports().rows(&rows);
            let at = match table.output() {
                Some(output) => self.at_output(&at, output)?,
                None => at,
            };
            let seen = self.predict(&at, Scale::Response)?;
            let pearson = rows.iter().zip(seen.mean()).map(|(&row, per_exposure)| {
                let fitted = counts.exposure()[row] * per_exposure;
                (counts.lower()[row] - fitted).powi(2) / fitted.max(f64::MIN_POSITIVE)
            });
            let dispersion = pearson.sum::<f64>() / size;
            if dispersion > OVERDISPERSED {
                // Few inducing points cannot follow many rows, however the counts vary.
                let inducing = self.inducing().map_or(0, Functionals::len);
                let cause = match inducing < self.problem.rows() {
                    false => "use `negative_binomial`".to_owned(),
                    true => format!(
                        "either {inducing} inducing points cannot follow them, or they vary more than Poisson counts do: fit with more (`inducing`), and use `negative_binomial` if that changes nothing"
                    ),
                };
                told.push(format!(
                    "table {}: counts of {mean:.0} on average lie {dispersion:.1} times as far from their fitted means, in squares, as Poisson counts do, so that intervals are too narrow: {cause}",
                    t + 1
                ));
            }
        }
        Ok(told)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "fit_sparse_tests.rs"]
mod tests;
