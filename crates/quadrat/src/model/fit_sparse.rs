//! Fitting through inducing points.

use std::time::Instant;

use super::Model;
use super::bounds::warn_about_bounds;
use super::conclude::{Spread, alone, hypers, spread};
use super::drawn_sums::{condition_drawn, told_of_beliefs};
use crate::error::{FitError, InputError};
use crate::inference::in_pool;
use crate::inference::sparse::{
    CurvatureOf, SparseEvidence, SparseOptimum, SparseOptions, SparseProblem, VariationalPosterior,
    learn_sparse,
};
use crate::likelihood::Likelihood;
use crate::posterior::correlation::correlations;
use crate::posterior::levels::mean_hypers;
use crate::posterior::mixture::Posterior;
use crate::posterior::summary::FitSummary;
use crate::posterior::{fine_noise, misfit};
use crate::problem::assembly::Problem;
use crate::problem::observations::Observations;
use crate::problem::scale::Scale;
use crate::problem::settings::Inducing;
use crate::problem::settings::{FitOptions, Hyperparameters, Inference};
use crate::problem::sparse::{Sparse, SparseChoice, is_point};
use crate::progress::{Keeper, Progress, Silent};

/// Mean counts from which on Poisson counts are judged, and what is too much of their variance.
const LARGE: f64 = 500.0;
const OVERDISPERSED: f64 = 3.0;
/// Settings of the hyperparameters at most: fifty to four hundred are usual, and where
/// beliefs converge badly the search for more finds the noise of their evidence.
const SETTINGS: usize = 600;
/// A setting may take this many times the passes that the search allowed for one belief: one that
/// does not converge is integrated as if it had no probability.
const PATIENT: usize = 5;
/// Passes for one setting, on average, from which on beliefs converge so slowly that a thousand
/// settings would take minutes: five to twenty are usual.
const SLOW: f64 = 50.0;
/// Of the first easier problem: its rows, the points of each and its inducing points, at most.
const ROWS: usize = 4000;
/// How many times as many rows the next one has.
const GROWTH: usize = 8;
const POINTS: usize = 64;
const FEWER: usize = 128;
/// What it may cost of the whole.
const WORTH: f64 = 0.2;

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

    /// Whether [`Inference::Auto`] means [`Inference::Sparse`] here, since dense inference would
    /// need too much memory.
    #[must_use]
    pub fn is_large(&self) -> bool {
        let Ok(dense) = self.problem(Inference::Auto, None) else {
            return false;
        };
        dense
            .engine()
            .check_size()
            .is_err_and(|error| self.is_of_points(&error))
            && self
                .problem(Inference::Sparse, Some(&SparseChoice::default()))
                .is_ok()
    }

    /// Whether what is too much are given points, of which inducing points may stand for many;
    /// nodes within boxes and regions are as many as the function is rough, so that inducing points
    /// would be too few.
    fn is_of_points(&self, error: &InputError) -> bool {
        let are_points = |table: &Observations| {
            let set = table.supports();
            (0..set.atom_count()).all(|atom| is_point(set, atom))
        };
        !matches!(error, InputError::TooManyNodes { .. }) || self.tables.iter().all(are_points)
    }

    fn learn_in_pool(
        &self,
        problem: Problem,
        choice: &SparseChoice,
        options: &FitOptions,
        warnings: Vec<String>,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        in_pool(options.threads.unwrap_or(0), || {
            let mut problem = problem;
            if let Some(better) = self.better_start(&problem, choice) {
                let named = problem.prior().named(&better);
                problem.start_at(&named);
            }
            let easier = self.easier(&problem, choice, options.dear);
            self.learn_streamed(problem, &easier, options, warnings, started)
        })
    }

    /// Easier problems, where passes over all points are dear: batches of the rows that grow until
    /// they are all of them, and fewer points of each row; the first batch through fewer inducing
    /// points where there are many, then through all.
    fn easier(&self, problem: &Problem, choice: &SparseChoice, dear: f64) -> Vec<Problem> {
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
        let batch = |size: usize| {
            let thin = |table: &Observations| {
                let table = table.rows(&table.evenly(share(size)))?;
                let supports = table.supports.thinned(POINTS);
                Ok(Observations { supports, ..table })
            };
            let tables = self.tables.iter().map(thin);
            // Rows that are left may say too little: then more are looked at.
            tables.collect::<Result<Vec<_>, InputError>>().ok()
        };
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
        let mut size = ROWS;
        while (size == ROWS || size < rows) && is_worth(share(size) * points as f64) {
            if let Some(tables) = batch(size) {
                if parts.is_empty() && inducing.len() > FEWER {
                    parts.extend(through(&tables, Inducing::Number(FEWER)));
                }
                parts.extend(through(&tables, Inducing::At(Box::new(inducing.clone()))));
            }
            size *= GROWTH;
        }
        parts
    }

    fn learn_streamed(
        &self,
        mut problem: Problem,
        easier: &[Problem],
        options: &FitOptions,
        mut warnings: Vec<String>,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        let silent = Silent;
        let progress: &dyn Progress = options.progress.as_deref().map_or(&silent, |p| p);
        let (streamed, sparse) = parts(&problem)?;
        let keeper = options.keeper.as_deref().map(|k| k as &dyn Keeper);
        let easier = easier
            .iter()
            .filter_map(|easier| easier.engine().streamed());
        let easier: Vec<_> = easier.collect();
        let moving = match options.move_inducing {
            true => sparse.movable(problem.kernel(), problem.mean())?,
            false => Vec::new(),
        };
        let sparse = &sparse.options;
        let learned = learn_sparse(streamed, &easier, &moving, sparse, progress, keeper)?;
        let inducing_gain = learned.moved.as_ref().map(|(_, gain)| *gain);
        if let Some((inducing, _)) = &learned.moved
            && let Some(sparse) = problem.sparse_mut()
        {
            sparse.move_inducing(inducing.clone());
        }
        let (_, sparse) = parts(&problem)?;
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
        let mut evaluations = learned.passes;
        let (mut integrated, mut seen) = (None, Vec::new());
        let wanted = is_integrated(&problem, &learned, options.hyperparameters);
        let slow = slowness(&learned).filter(|_| options.hyperparameters == Hyperparameters::Auto);
        if let Some(passes) = slow.filter(|_| wanted) {
            warnings.push(format!(
                "hyperparameters were not integrated, since beliefs about the function converge slowly here (some {passes:.0} passes over the rows for every setting): intervals may be too short; `hyperparameters = \"integrate\"` takes the time"
            ));
        }
        if wanted && slow.is_none() {
            let found = integrate_streamed(&problem, &learned, (progress, keeper), &mut warnings)?;
            evaluations += found.passes;
            (integrated, seen) = (found.spread, found.seen);
        }
        let mut is_integrated = integrated.is_some();
        let (mut nodes, intervals) = match integrated {
            Some(found) => (found.nodes, found.intervals),
            None => {
                let intervals = match learned.curvature {
                    CurvatureOf::Nothing => Vec::new(),
                    _ => optimum.intervals(problem.parameters(), 0.95)?,
                };
                (alone(optimum), intervals)
            }
        };
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
            sparse.near = Vec::new();
        }
        if lost > 0.0 && is_integrated {
            warnings.push(format!(
                "beliefs about the function did not converge at hyperparameters that hold {:.1} % of their posterior; they were left out",
                100.0 * lost
            ));
        } else if lost > 0.0 {
            warnings.push("hyperparameters were not integrated, since beliefs about the function did not converge at many of them: intervals may be too short".to_owned());
        }
        warnings.extend(told_of_beliefs(&components));
        let mut hyperparameters = hypers(problem.parameters(), &optimum.theta, &intervals);
        hyperparameters.extend(mean_hypers(&problem, &components));
        let summary = FitSummary {
            inference: problem.engine().name().into(),
            structure: problem.engine().structure().into(),
            converged: optimum.converged,
            log_evidence: optimum.log_evidence,
            log_posterior: optimum.log_posterior,
            evidence: "elbo".into(),
            hyperparameters,
            integrated: is_integrated,
            nodes: components.len(),
            rows: problem.rows(),
            iterations: optimum.iterations,
            evaluations,
            seconds: 0.0,
            jitter: components
                .iter()
                .fold(0.0, |most, c| most.max(c.conditioned.jitter)),
            inducing_gain,
            variational_bound: None,
            correlations: correlations(&problem, &optimum)?,
            warnings,
        };
        let tables = self.tables.clone();
        let mut posterior = Posterior::new(problem, tables, nodes, components, summary);
        let mut told = posterior.overdispersion()?;
        told.extend(posterior.warnings_of_sums()?);
        told.extend(posterior.warning_of_insides());
        posterior.summary.warnings.extend(told);
        let told = [
            misfit::of_known_tables(&posterior)?,
            fine_noise::warning(&posterior)?,
        ];
        posterior
            .summary
            .warnings
            .extend(told.into_iter().flatten());
        posterior.summary.seconds = started.elapsed().as_secs_f64();
        Ok(posterior)
    }
}

/// What integration over the hyperparameters found.
struct Integrated {
    /// None where it was stopped.
    spread: Option<Spread>,
    /// Beliefs at its settings.
    seen: Vec<VariationalPosterior>,
    /// Passes over the rows.
    passes: usize,
}

fn integrate_streamed(
    problem: &Problem,
    learned: &SparseOptimum,
    (progress, keeper): (&dyn Progress, Option<&dyn Keeper>),
    warnings: &mut Vec<String>,
) -> Result<Integrated, FitError> {
    let (streamed, sparse) = parts(problem)?;
    let patient = SparseOptions {
        steps: PATIENT * sparse.options.steps,
        ..sparse.options
    };
    let evidence = SparseEvidence::new(streamed, patient)
        .starting_at(Some(&learned.found))
        .watched_by(keeper)
        .keeping();
    let lattice = (problem.engine().has_lattice(), SETTINGS);
    let mut told = Vec::new();
    let found = spread(&evidence, &learned.optimum, lattice, progress, &mut told);
    let (passes, was_stopped) = (evidence.passes(), evidence.was_stopped());
    // Nodes are missing, which says nothing of the posterior; after the last one a stop changes
    // nothing.
    let spread = if was_stopped {
        warnings.push("hyperparameters were not integrated: the fit was stopped".to_owned());
        None
    } else {
        warnings.append(&mut told);
        Some(found?)
    };
    let mut seen = evidence.into_seen();
    seen.retain(|found| {
        let mut nodes = spread.iter().flat_map(|spread| &spread.nodes);
        nodes.any(|node| node.theta == found.theta)
    });
    Ok(Integrated {
        spread,
        seen,
        passes,
    })
}

/// The rows as sparse inference sees them, and its settings.
fn parts(problem: &Problem) -> Result<(&dyn SparseProblem, &Sparse), InputError> {
    let streamed = problem.engine().streamed();
    streamed.zip(problem.sparse()).ok_or(InputError::Empty)
}

/// Whether hyperparameters are integrated: where it is asked for, or takes little.
fn is_integrated(problem: &Problem, learned: &SparseOptimum, asked: Hyperparameters) -> bool {
    let free = problem.parameters().iter().filter(|p| !p.fixed).count();
    let wanted = match asked {
        Hyperparameters::Map => false,
        Hyperparameters::Integrate => true,
        Hyperparameters::Auto => problem.engine().is_integrated(free),
    };
    wanted && free > 0 && !learned.stopped && learned.curvature != CurvatureOf::Nothing
}

/// Passes over the rows for every setting of the hyperparameters so far, where they are many.
fn slowness(learned: &SparseOptimum) -> Option<f64> {
    let passes = learned.passes as f64 / learned.optimum.evaluations.max(1) as f64;
    (passes > SLOW).then_some(passes)
}

/// What to say of how learning went.
fn learned_warnings(learned: &SparseOptimum) -> Vec<String> {
    let mut warnings = Vec::new();
    if !learned.optimum.converged {
        warnings.push(format!(
            "learning the hyperparameters did not converge: {}",
            learned.optimum.reason
        ));
    }
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
                let inducing = self.inducing().map_or(0, crate::support::Functionals::len);
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
