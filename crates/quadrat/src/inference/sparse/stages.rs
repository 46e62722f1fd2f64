//! The stages of a search for the hyperparameters, and reports of its progress.

use super::SparseState;
use super::quasi_newton::{Ended, QuasiNewtonIterate};
use crate::error::FitError;
use crate::inference::WarmStart;
use crate::inference::free::{FreeSpace, LogPosterior};
use crate::linalg::Mat;
use crate::optimise::{self, minimise};
use crate::progress::{Event, Keeper, Progress};

/// What an iteration must gain for a stage to go on, in nats: the rough and the precise one.
pub(super) const GAINS: [f64; 2] = [5e-2, 1e-3];
/// Iterations of each stage at most.
const ITERATIONS: [usize; 2] = [200, 100];
/// Newton steps that go on from an easier problem, at most, and what may be left to gain at the
/// end, in nats: hyperparameters are then a third of their posterior sd from the optimum, together.
const STEPS: usize = 30;
pub(super) const LEFT: f64 = 5e-2;
/// Last gains from which the number of steps left is estimated.
const SEEN: usize = 5;

/// How a search ended.
pub(super) struct Done {
    pub converged: bool,
    pub reason: String,
    /// The density there, where it was evaluated at the final tolerance.
    pub density: Option<LogPosterior>,
}

/// What was computed, or nothing where the keeper stopped it.
pub(super) fn unless_stopped<T>(result: Result<T, FitError>) -> Result<Option<T>, FitError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(FitError::Stopped) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Runs the stages that are left and updates the state: L-BFGS-B, rough, then precise, or Newton
/// steps where a Hessian is known; for an easier problem the rough stage only. None where no stage
/// was left.
pub(super) fn stages(
    space: &FreeSpace<'_>,
    bounds: &[(f64, f64)],
    state: &mut SparseState,
    watch: &Watch<'_>,
) -> Result<Option<Done>, FitError> {
    let mut ended = None;
    // An easier problem only has to give a start: the rough stage is enough.
    let last = if watch.is_part { 1 } else { GAINS.len() };
    while state.stage < last && space.size() > 0 && !watch.is_stopped() {
        let one = if state.curvature.is_empty() {
            stage
        } else {
            newton
        };
        let Some((best, done)) = unless_stopped(one(space, bounds, state, watch))? else {
            return Ok(ended);
        };
        ended = Some(done);
        watch.progress.report(Event::Start {
            done: state.stage,
            total: GAINS.len(),
            best,
        });
    }
    Ok(ended)
}

/// The density at the state. The `q` found there is kept in the state, also where the keeper stops
/// before it has converged.
fn begin(
    space: &FreeSpace<'_>,
    state: &mut SparseState,
    warm_start: &mut WarmStart,
    watch: &Watch<'_>,
) -> Result<LogPosterior, FitError> {
    state.evaluations += 1;
    let density = space.evaluate(&state.z, warm_start);
    if let Some(found) = warm_start.found() {
        state.found = Some(found.clone());
        watch.keep(state);
    }
    density
}

/// Newton steps from a state with an approximate Hessian, in place of all stages.
fn newton(
    space: &FreeSpace<'_>,
    bounds: &[(f64, f64)],
    state: &mut SparseState,
    watch: &Watch<'_>,
) -> Result<(f64, Done), FitError> {
    let mut warm_start = state.onto(WarmStart::rough());
    let density = begin(space, state, &mut warm_start, watch)?;
    let n = space.size();
    let curvature = state.matrix().unwrap_or_else(|| Mat::identity(n, n));
    let mut at = QuasiNewtonIterate {
        z: state.z.clone(),
        density,
        warm_start,
        curvature,
    };
    let mut gains = Vec::new();
    let mut end = (false, "the largest number of steps was reached".to_owned());
    for step in 0..STEPS {
        let before = at.density.log_posterior;
        let stopped = || watch.is_stopped();
        // The first step is taken however little it promises: the Hessian is that of another
        // problem.
        let goal = if step == 0 { 0.0 } else { LEFT };
        match at.step(space, bounds, goal, &mut state.evaluations, &stopped)? {
            Ended::Moved => {}
            Ended::Flat => {
                end = (true, format!("less than {LEFT} nats are left to gain"));
                break;
            }
            // It was the first step, which is taken even where little is left to gain.
            Ended::Stuck(left) if left < LEFT => {
                end = (true, format!("less than {LEFT} nats are left to gain"));
                break;
            }
            Ended::Stuck(left) => {
                let reason = format!("no step gained anything, though {left:.2} nats seem left");
                end = (false, reason);
                break;
            }
        }
        gains.push(at.density.log_posterior - before);
        state.z.clone_from(&at.z);
        state.found = at.warm_start.found().cloned();
        state.set_matrix(&at.curvature);
        state.iterations += 1;
        watch.step(state, at.density.log_posterior, &gains, LEFT);
    }
    if !watch.is_stopped() {
        state.stage = GAINS.len();
    }
    let best = at.density.log_posterior;
    let done = Done {
        converged: end.0,
        reason: end.1,
        density: Some(at.density),
    };
    Ok((best, done))
}

/// Where progress is reported and the state is kept.
pub(super) struct Watch<'a> {
    pub keeper: Option<&'a dyn Keeper>,
    pub progress: &'a dyn Progress,
    pub fingerprint: u32,
    /// Whether this is an easier problem.
    pub is_part: bool,
}

impl Watch<'_> {
    pub fn is_stopped(&self) -> bool {
        self.keeper.is_some_and(Keeper::is_stopped)
    }

    /// After a step to the state; `goal` is the gain at which the stage ends.
    pub fn step(&self, state: &SparseState, best: f64, gains: &[f64], goal: f64) {
        let last = gains.last().copied().unwrap_or(f64::INFINITY);
        // Gains are taken to shrink by a constant factor, that of the last few steps.
        let left = gains.len().checked_sub(SEEN).and_then(|from| {
            let rate = (last / gains[from]).ln() / (SEEN - 1) as f64;
            (rate < 0.0).then(|| ((goal / last).ln() / rate).max(0.0))
        });
        self.progress.report(Event::Step {
            done: state.iterations,
            best,
            gain: last,
            left,
            is_part: self.is_part,
        });
        self.keep(state);
    }

    /// Where the search stands, also before its first step.
    pub fn keep(&self, state: &SparseState) {
        if let Some(keeper) = self.keeper {
            keeper.keep(&|| state.to_bytes(self.fingerprint));
        }
    }
}

/// One stage of the search, from the state and into it, also where it is stopped.
fn stage(
    space: &FreeSpace<'_>,
    bounds: &[(f64, f64)],
    state: &mut SparseState,
    watch: &Watch<'_>,
) -> Result<(f64, Done), FitError> {
    let is_rough = state.stage == 0;
    let mut warm_start = state.onto(if is_rough {
        WarmStart::rough()
    } else {
        WarmStart::precise()
    });
    warm_start.forget_rate();
    let first = begin(space, state, &mut warm_start, watch)?;
    let goal = GAINS[state.stage];
    let search = optimise::Options {
        max_iterations: ITERATIONS[state.stage],
        gradient_tolerance: 1e-3,
        relative_reduction: goal / first.log_posterior.abs().max(1.0),
        memory: 10,
    };
    let start = state.z.clone();
    let mut best = (first.log_posterior, warm_start.clone());
    let mut known = Some(first);
    let mut gains = Vec::new();
    let mut negative = |z: &[f64], gradient: &mut [f64]| {
        if watch.is_stopped() {
            return None;
        }
        // The search for `q` begins at that of the best point so far: the last step may have gone
        // too far.
        let mut own = best.1.clone();
        // A search for `q` that knows its rate of convergence ends as soon as the value is
        // accurate. Quasi-Newton steps need a more accurate gradient.
        own.forget_rate();
        let density = match known.take() {
            // The search begins where the stage was evaluated.
            Some(first) => first,
            None => {
                state.evaluations += 1;
                space.evaluate(z, &mut own).ok()?
            }
        };
        for (out, g) in gradient.iter_mut().zip(&density.gradient) {
            *out = -g;
        }
        if density.log_posterior > best.0 {
            gains.push(density.log_posterior - best.0);
            best = (density.log_posterior, own);
            state.z = z.to_vec();
            state.found = best.1.found().cloned();
            state.iterations += 1;
            watch.step(state, best.0, &gains, goal);
        }
        Some(-density.log_posterior)
    };
    let report = minimise(&mut negative, &start, bounds, &search);
    if !watch.is_stopped() {
        state.stage += 1;
    }
    let done = Done {
        converged: report.converged,
        reason: report.reason,
        density: None,
    };
    Ok((-report.value, done))
}
