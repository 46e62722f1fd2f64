//! Learning the hyperparameters and conditioning.

use std::time::Instant;

use super::Model;
use super::certificate::Certificate;
use super::coarse_to_fine::{coarse_to_fine, compete};
use super::conclude::{SearchOutcome, conclude};
use super::redundant::warning;
use crate::error::{FitError, InputError};
use crate::inference::{LearnOptions, Optimum, in_pool, sites::Method};
use crate::kernel::Role;
use crate::posterior::mixture::Posterior;
use crate::problem::assembly::Problem;
use crate::problem::extent::reach;
use crate::problem::settings::{FitOptions, Hyperparameters, Inference};
use crate::progress::Progress;

/// Most rows for which hyperparameters are integrated at all: every node keeps its factor.
const INTEGRATED_ROWS: usize = 4000;
/// Times that nodes within rows are placed anew, each followed by a search from where the last one
/// ended: lengthscales that get shorter every time have no end.
const PLACED_ANEW: usize = 3;

impl Model {
    /// Learns the hyperparameters and conditions on the observations: exactly where every row is
    /// Gaussian, else by the approximation that the options name.
    ///
    /// # Errors
    /// [`FitError::Input`] for input that cannot be used, before any work;
    /// [`FitError::Factorisation`] when the covariance is singular even with jitter;
    /// [`FitError::Contradiction`] when rows without noise cannot all be right;
    /// [`FitError::NoStart`] when no start of the optimiser could be evaluated;
    /// [`FitError::NotConverged`] when the sites of an approximation do not converge at the
    /// hyperparameters found; where the options leave the choice, the variational approximation has
    /// then taken the place of expectation propagation, and did not converge either.
    ///
    /// # Numerics
    /// Exact rows that follow from other exact rows are left out with a warning, see
    /// [`Self::redundant_rows`]. Of rows that count the events of other rows again differences are
    /// taken, with a warning, see [`counted_once`](super::counted_once). Where the covariance is
    /// singular to rounding, jitter of up to 1e-6 of the variance of each row is added and reported
    /// in the summary's warnings.
    pub fn fit(&self, options: &FitOptions) -> Result<Posterior, FitError> {
        if let Some((model, told)) = self.counting_once()? {
            let mut posterior = model.fit(options)?;
            posterior.summary.warnings.splice(0..0, told);
            return Ok(posterior);
        }
        let redundant = self.redundant_rows()?;
        if let Some(warning) = warning(&redundant, &|row| format!("row {row}")) {
            let mut posterior = self.without(&redundant)?.fit_steady(options)?;
            posterior.left_out = reach(&self.kernel, &self.tables)?;
            posterior.summary.warnings.insert(0, warning);
            return Ok(posterior);
        }
        self.fit_steady(options)
    }

    /// As [`Self::fit`] where no exact row follows from others.
    pub(super) fn fit_distinct(&self, options: &FitOptions) -> Result<Posterior, FitError> {
        if self.scattered {
            return self.constrained_where_likely(options)?.fit(options);
        }
        let mut posterior = self.fit_by_its_size(options, Instant::now())?;
        posterior.summary.warnings.extend(self.far_lines());
        let narrowed = self.narrowed_means(&posterior);
        posterior.summary.warnings.extend(narrowed);
        Ok(posterior)
    }

    fn fit_by_its_size(
        &self,
        options: &FitOptions,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        if options.inference == Inference::Sparse {
            return self.fit_sparse(options, started);
        }
        let problem = self.problem(options.inference, None)?;
        if let Some(posterior) = self.fit_many_counts(&problem, options, started)? {
            return Ok(posterior);
        }
        if let Err(error) = problem.engine().check_size() {
            return self.fit_large(problem, error, options, started);
        }
        // The answer does not depend on how many there are.
        in_pool(options.threads.unwrap_or(0), || {
            fit_or_fall_back(self, problem, options, started)
        })
    }
}

/// As [`fit`]; by the variational approximation where expectation propagation was not asked for and
/// does not converge, at the starts of the hyperparameters, in a whole search or where that ends,
/// or where its evidence is far above the bound there.
fn fit_or_fall_back(
    model: &Model,
    problem: Problem,
    options: &FitOptions,
    started: Instant,
) -> Result<Posterior, FitError> {
    if options.inference != Inference::Auto || !problem.engine().may_fall_back() {
        return fit(model, problem, options, started);
    }
    let mut reason = "expectation propagation did not converge".to_owned();
    let is_far_above = |posterior: &Posterior| {
        let certificate = Certificate::of(&posterior.summary);
        certificate.is_some_and(|certificate| certificate.is_far_above())
    };
    if problem.engine().converges() {
        match fit(model, problem, options, started) {
            Err(FitError::NotConverged { .. } | FitError::NoStart { .. }) => {}
            Ok(posterior) if is_far_above(&posterior) => {
                let (evidence, bound) = (
                    posterior.summary.log_evidence,
                    posterior.summary.variational_bound,
                );
                reason = format!(
                    "the log evidence by expectation propagation, {evidence:.2}, was far above its variational lower bound, {:.2}",
                    bound.unwrap_or(f64::NAN)
                );
            }
            found => return found,
        }
    }
    let variational = Inference::Sites(Method::Variational);
    let problem = model.problem(variational, None)?;
    let options = options.clone().with_inference(variational);
    let mut posterior = fit(model, problem, &options, started)?;
    let warning = format!("{reason}; the variational approximation was used");
    posterior.summary.warnings.insert(0, warning);
    Ok(posterior)
}

fn fit(
    model: &Model,
    mut problem: Problem,
    options: &FitOptions,
    started: Instant,
) -> Result<Posterior, FitError> {
    let progress = options.progress();
    is_integrated(&problem, options.hyperparameters)?;
    let mut learn = learning(&problem, options, progress);
    learn.keeper = options.keeper();
    let (searched_coarsely, rivals) =
        coarse_to_fine(model, &mut problem, options.inference, &mut learn)?;
    let mut optimum = compete(&problem, &learn, rivals)?;
    if !learn.is_stopped() && ends_sharp(&problem, &optimum) {
        // Along a line cycles may be no sharper. A matrix holds them, where there is room for one.
        let whole = model.problem_with_sharp_cycles(options.inference)?;
        if whole.engine().check_size().is_ok() {
            return fit(model, whole, options, started);
        }
    }
    let mut evaluations = searched_coarsely + optimum.evaluations;
    learn.starts = 1;
    for _ in 0..PLACED_ANEW {
        if learn.is_stopped() {
            break;
        }
        let Some(placed) = problem.with_nodes_for(&model.tables, &optimum.theta)? else {
            break;
        };
        match compete(&placed, &learn, Vec::new()) {
            Ok(next) => (problem, optimum) = (placed, next),
            // Then the nodes stay; a warning tells where they are too far apart.
            Err(error) if error.is_recoverable() => break,
            Err(error) => return Err(error),
        }
        evaluations += optimum.evaluations;
    }
    let integrated = is_integrated(&problem, options.hyperparameters)?;
    let found = SearchOutcome {
        evaluations,
        optimum,
        integrated,
        settings: Some(&model.settings),
        progress,
        keeper: learn.keeper,
        started,
    };
    conclude(problem, model.tables.clone(), found)
}

/// Whether a search ended where the lengthscales of periodic leaves along a line end.
fn ends_sharp(problem: &Problem, optimum: &Optimum) -> bool {
    let Some(least) = problem.engine().least_periodic() else {
        return false;
    };
    let own = problem.kernel().parameters();
    let mut at_bound = optimum
        .at_bound
        .iter()
        .filter_map(|&i| own.get(i).zip(optimum.theta.get(i)));
    at_bound.any(|(own, value)| own.role == Role::PeriodicLengthscale && *value < 1.01 * least)
}

/// Whether hyperparameters are integrated.
///
/// # Errors
/// [`InputError::Unavailable`] above so many rows that every value could keep its factor.
pub(super) fn is_integrated(
    problem: &Problem,
    hyperparameters: Hyperparameters,
) -> Result<bool, InputError> {
    let integrated = is_wanted(problem, hyperparameters);
    if integrated && problem.rows() > INTEGRATED_ROWS {
        return Err(InputError::Unavailable {
            what: "integration of the hyperparameters above 4,000 rows",
            remedy: "use hyperparameters = \"map\": with so many rows they are well determined",
        });
    }
    Ok(integrated)
}

/// Whether integration is wanted: some are free, and it is asked for or takes little.
pub(super) fn is_wanted(problem: &Problem, asked: Hyperparameters) -> bool {
    let free = problem.parameters().iter().filter(|p| !p.fixed).count();
    free > 0
        && match asked {
            Hyperparameters::Map => false,
            Hyperparameters::Integrate => true,
            Hyperparameters::Auto => problem.engine().is_integrated(free),
        }
}

impl Posterior {
    /// Whether hyperparameters are at their most probable values only because integrating them was
    /// not asked for: [`Hyperparameters::Auto`] takes those, and
    /// [`Hyperparameters::Integrate`] would not.
    #[must_use]
    pub fn could_be_integrated(&self) -> bool {
        let wants = |asked| is_integrated(&self.problem, asked).is_ok_and(|wanted| wanted);
        !self.summary.integrated
            && !wants(Hyperparameters::Auto)
            && wants(Hyperparameters::Integrate)
    }
}

/// How hyperparameters are searched; from one start where all are fixed.
pub(super) fn learning<'a>(
    problem: &Problem,
    options: &FitOptions,
    progress: &'a dyn Progress,
) -> LearnOptions<'a> {
    let is_free = problem.parameters().iter().any(|p| !p.fixed);
    LearnOptions {
        starts: if is_free { options.starts.max(1) } else { 1 },
        seed: options.seed,
        progress,
        ..LearnOptions::default()
    }
}
