//! Learning the hyperparameters of sparse inference.
//!
//! An outer quasi-Newton search over the hyperparameters, each of whose evaluations finds the best `q` by natural gradients from
//! where the last one ended: first to a thousandth of a nat, then to a millionth. Both stop on nats gained, not on a part of a bound
//! that may be of any size.

use super::evidence::SparseEvidence;
use super::state::fingerprint;
use super::{Normal, SparseOptions, SparseProblem, SparseState};
use crate::error::FitError;
use crate::inference::free::FreeSpace;
use crate::inference::{Optimum, Start, Trail};
use crate::linalg::Mat;
use crate::optimise::{self, Report, minimise, projected_gradient};
use crate::progress::{Event, Keeper, Progress};

/// What an iteration must gain for a stage to go on, in nats: the rough and the precise one.
const GAINS: [f64; 2] = [5e-2, 1e-3];
/// Iterations of each stage at most.
const ITERATIONS: [usize; 2] = [200, 100];
/// Flops up to which the curvature is worth its evaluations.
const AFFORDABLE: f64 = 3e11;
/// Gains from which the number of steps that are left is guessed.
const SEEN: usize = 5;
/// A projected gradient that counts as none, in nats per unit of a free coordinate.
const FLAT: f64 = 2e-2;

/// What was learned.
#[derive(Debug, Clone)]
pub struct SparseOptimum {
    /// The optimum. Without curvature its Hessian is the identity.
    pub optimum: Optimum,
    /// Passes over all rows.
    pub passes: usize,
    /// Whether the curvature was computed.
    pub has_curvature: bool,
    /// Whether the keeper stopped the search.
    pub stopped: bool,
    /// The best belief about the whitened inducing values there.
    pub normal: Normal,
}

/// Maximises the bound plus the log prior density of the hyperparameters, from their starts or from what the keeper kept.
///
/// # Errors
/// [`FitError::Input`] when a parameter is not valid, or what was kept is of another fit; the error of the start when it cannot be evaluated;
/// [`FitError::NotSettled`] when no `q` is found at the end.
///
/// # Numerics
/// Some ten passes over the rows for every ten iterations of the search, more while it is far. The curvature, which gives the
/// hyperparameters their intervals, is computed where it is affordable.
pub fn learn_sparse(
    problem: &dyn SparseProblem,
    options: &SparseOptions,
    progress: &dyn Progress,
    keeper: Option<&dyn Keeper>,
) -> Result<SparseOptimum, FitError> {
    let evidence = SparseEvidence::new(problem, *options);
    let space = FreeSpace::new(&evidence)?;
    let bounds = space.bounds();
    let start: Vec<f64> = problem.parameters().iter().map(|p| p.start).collect();
    let kept = keeper.and_then(Keeper::begun);
    // A look at all data: only where it is wanted.
    let of = keeper.map_or(0, |_| fingerprint(problem, &start));
    let mut state = match kept {
        Some(bytes) => SparseState::from_bytes(&bytes, of, space.size())?,
        None => SparseState::new(space.coordinates_of(&start)),
    };
    let watch = Watch {
        keeper,
        progress,
        fingerprint: of,
    };
    let mut ended = None;
    while state.stage < GAINS.len() && space.size() > 0 && !watch.is_stopped() {
        let report = stage(&space, &bounds, &mut state, &watch)?;
        progress.report(Event::Start {
            done: state.stage,
            total: GAINS.len(),
            best: -report.value,
        });
        ended = Some(report);
    }
    let mut trail = Trail::precise();
    if let Some(normal) = &state.normal {
        trail.leave_normal(normal.clone());
    }
    let density = space.evaluate(&state.z, &mut trail)?;
    state.evaluations += 1;
    let negative: Vec<f64> = density.gradient.iter().map(|g| -g).collect();
    let flatness = projected_gradient(&state.z, &negative, &bounds);
    let n = space.size();
    let size = problem.prior().inducing() as f64;
    let flops = 15.0 * n as f64 * problem.bags().points() as f64 * size * size;
    let stopped = watch.is_stopped() && state.stage < GAINS.len();
    let curvature = (n > 0 && flops < AFFORDABLE && !stopped)
        .then(|| space.curvature(&state.z, &density.gradient, &trail, &mut state.evaluations))
        .transpose();
    let curvature = match curvature {
        Err(error) if error.is_recoverable() => None,
        other => other?,
    };
    let units = space.units();
    let hessian = match &curvature {
        Some(c) => Mat::from_fn(n, n, |i, j| c[(i, j)] / (units[i] * units[j])),
        None => Mat::identity(n, n),
    };
    let theta = space.theta(&state.z);
    let (is_done, reason) = match &ended {
        _ if stopped => (false, format!("stopped after {} steps", state.iterations)),
        Some(report) => (report.converged, report.reason.clone()),
        None => (true, "nothing was to be learned".to_owned()),
    };
    let optimum = Optimum {
        theta: theta.clone(),
        log_evidence: density.log_evidence,
        log_posterior: density.log_posterior,
        hessian,
        projected_gradient: flatness,
        at_bound: (0..n)
            .filter(|&i| state.z[i] <= bounds[i].0 || state.z[i] >= bounds[i].1)
            .map(|i| space.indices()[i])
            .collect(),
        iterations: state.iterations,
        evaluations: state.evaluations,
        converged: is_done || (flatness < FLAT && !stopped),
        reason: reason.clone(),
        starts: vec![Start {
            from: start,
            theta,
            log_posterior: density.log_posterior,
            converged: is_done,
            iterations: state.iterations,
            evaluations: state.evaluations,
            reason,
        }],
        others: Vec::new(),
    };
    let normal = match trail.normal() {
        Some(normal) => normal.clone(),
        None => Normal::isotropic(problem.prior().inducing(), 1.0)?,
    };
    Ok(SparseOptimum {
        passes: evidence.passes(),
        optimum,
        has_curvature: curvature.is_some() || n == 0,
        stopped,
        normal,
    })
}

/// Who is told of steps.
struct Watch<'a> {
    keeper: Option<&'a dyn Keeper>,
    progress: &'a dyn Progress,
    fingerprint: u32,
}

impl Watch<'_> {
    fn is_stopped(&self) -> bool {
        self.keeper.is_some_and(Keeper::is_stopped)
    }

    /// After a step to the state; `goal` is the gain at which the stage ends.
    fn step(&self, state: &SparseState, best: f64, gains: &[f64], goal: f64) {
        let last = gains.last().copied().unwrap_or(f64::INFINITY);
        // Over the last few steps, gains shrink by about the same factor.
        let left = gains.len().checked_sub(SEEN).and_then(|from| {
            let rate = (last / gains[from]).ln() / (SEEN - 1) as f64;
            (rate < 0.0).then(|| ((goal / last).ln() / rate).max(0.0))
        });
        self.progress.report(Event::Step {
            done: state.iterations,
            best,
            gain: last,
            left,
        });
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
) -> Result<Report, FitError> {
    let is_rough = state.stage == 0;
    let mut trail = if is_rough {
        Trail::rough()
    } else {
        Trail::precise()
    };
    if let Some(normal) = &state.normal {
        trail.leave_normal(normal.clone());
    }
    let first = space.evaluate(&state.z, &mut trail)?;
    state.evaluations += 1;
    let goal = GAINS[state.stage];
    let search = optimise::Options {
        max_iterations: ITERATIONS[state.stage],
        gradient_tolerance: 1e-3,
        relative_reduction: goal / first.log_posterior.abs().max(1.0),
        memory: 10,
    };
    let start = state.z.clone();
    let mut best = (first.log_posterior, trail.clone());
    let mut known = Some(first);
    let mut gains = Vec::new();
    let mut negative = |z: &[f64], gradient: &mut [f64]| {
        if watch.is_stopped() {
            return None;
        }
        // From the best point, not from a step that went too far.
        let mut own = best.1.clone();
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
            state.normal = best.1.normal().cloned();
            state.iterations += 1;
            watch.step(state, best.0, &gains, goal);
        }
        Some(-density.log_posterior)
    };
    let report = minimise(&mut negative, &start, bounds, &search);
    if state.normal.is_none() {
        state.normal = best.1.normal().cloned();
    }
    if !watch.is_stopped() {
        state.stage += 1;
    }
    Ok(report)
}
