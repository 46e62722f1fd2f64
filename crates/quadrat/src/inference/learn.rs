//! Type-II maximum a posteriori: the hyperparameters that maximise log evidence + log prior.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::free::{FreeSpace, LogPosterior};
use super::refine::{Refined, refine};
use super::watched::Watched;
use super::{Evidence, WarmStart};
use crate::error::FitError;
use crate::linalg::Mat;
use crate::optimise::{self, Report, minimise};
use crate::progress::{Event, Keeper, Progress, Silent};

/// Two optima are distinct when a free coordinate differs by more than this (in `log theta`).
const DISTINCT: f64 = 0.1;
/// A start counts as converged below this projected gradient, in nats per unit of a free
/// coordinate.
const FLAT_ENOUGH: f64 = 1e-2;

/// How to search.
#[derive(Clone, Copy)]
pub struct LearnOptions<'a> {
    /// Number of starts, at least 1. The first is `Parameter::start` of every parameter.
    pub starts: usize,
    /// Seed of the other starts.
    pub seed: u64,
    /// Starts besides these, all parameters, natural units.
    pub also: &'a [Vec<f64>],
    /// Threads; 0: those of the current rayon pool. The result does not depend on it.
    pub threads: usize,
    /// Told of every finished start.
    pub progress: &'a dyn Progress,
    /// Asked whether to stop; then the best of all evaluations is the answer, which is not refined.
    pub keeper: Option<&'a dyn Keeper>,
    /// Stopping rules of one start.
    pub search: optimise::Options,
}

impl Default for LearnOptions<'_> {
    fn default() -> Self {
        Self {
            starts: 5,
            seed: 1,
            also: &[],
            threads: 0,
            progress: &Silent,
            keeper: None,
            // Newton refinement does the rest.
            search: optimise::Options {
                gradient_tolerance: 1e-3,
                relative_reduction: 1e-9,
                ..optimise::Options::default()
            },
        }
    }
}

impl LearnOptions<'_> {
    /// Whether the search is to stop, or was stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.keeper.is_some_and(Keeper::is_stopped)
    }
}

/// What one start did.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Where it began, all parameters, natural units.
    pub from: Vec<f64>,
    /// Where it ended.
    pub theta: Vec<f64>,
    /// Log posterior density there; `-inf` when the start could not be evaluated.
    pub log_posterior: f64,
    /// Whether the optimiser's stopping rule was met.
    pub converged: bool,
    /// Accepted steps.
    pub iterations: usize,
    /// Evaluations of the evidence.
    pub evaluations: usize,
    /// Why it stopped.
    pub reason: String,
}

/// An optimum other than the best.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalOptimum {
    /// All parameters, natural units.
    pub theta: Vec<f64>,
    /// Log evidence in nats.
    pub log_evidence: f64,
    /// Log posterior density, per unit of the free coordinates.
    pub log_posterior: f64,
}

/// The best optimum found.
#[derive(Debug, Clone)]
pub struct Optimum {
    /// All parameters, natural units, fixed ones included.
    pub theta: Vec<f64>,
    /// Log evidence in nats, priors excluded.
    pub log_evidence: f64,
    /// Log evidence + log prior density per unit of the free coordinates (`log theta`).
    pub log_posterior: f64,
    /// Hessian of the *negative* log posterior in the free coordinates, shape `[free, free]`, in
    /// the order of the parameters that are not fixed. The identity (scaled), and not converged,
    /// where the evidence cannot be evaluated beside the optimum.
    pub hessian: Mat<f64>,
    /// Largest component of the projected gradient, nats per unit of a free coordinate.
    pub projected_gradient: f64,
    /// Indices of the parameters that ended on a bound.
    pub at_bound: Vec<usize>,
    /// Steps of all starts and of Newton refinement.
    pub iterations: usize,
    /// Evaluations of the evidence in all.
    pub evaluations: usize,
    /// Whether the optimum is stationary: a projected gradient below 1e-4 nats, or less than 1e-6
    /// nats left to gain by Newton's estimate; or [`Evidence::rounding`] where no step is better.
    pub converged: bool,
    /// Why the winning start stopped.
    pub reason: String,
    /// Every start, in order.
    pub starts: Vec<Start>,
    /// Distinct other local optima, best first.
    pub others: Vec<LocalOptimum>,
}

/// Maximises log evidence + log prior over the parameters that are not fixed.
///
/// Several starts run in parallel: the first from `Parameter::start`, the others from quantiles of
/// the priors at the points of a low-discrepancy sequence (a flat prior counts as normal around the
/// start), and those the caller knows of. The best end is refined by Newton steps, so that it does
/// not depend on the path.
///
/// # Errors
/// When no start can be evaluated, the error of the first, or [`FitError::NoStart`] when the
/// evidence was not finite; [`FitError::Input`] for invalid parameters, and at once for any error
/// that is not recoverable.
///
/// # Numerics
/// Reproducible to about 1e-8 in `log theta` where the posterior is not flat; identical for any
/// number of threads. Non-convergence is reported in `converged`.
///
/// # Source
/// Rasmussen & Williams 2006, section 5.4.1.
pub fn maximise(evidence: &dyn Evidence, options: &LearnOptions<'_>) -> Result<Optimum, FitError> {
    let space = FreeSpace::new(evidence)?;
    let bounds = space.bounds();
    let Ends { from, ends, winner } = search(evidence, &space, options)?;
    let watched = Watched {
        evidence,
        keeper: options.keeper,
    };
    let space = FreeSpace::new(&watched)?;
    let best = match in_pool(options.threads, || refine(&space, &ends[winner].0.x)) {
        Err(FitError::Stopped) => unrefined(&space, &ends[winner].0),
        refined => refined?,
    };
    let starts: Vec<Start> = ends
        .iter()
        .zip(&from)
        .map(|((end, error), from)| Start {
            from: from.clone(),
            theta: space.theta(&end.x),
            log_posterior: -end.value,
            converged: end.converged,
            iterations: end.iterations,
            evaluations: end.evaluations,
            reason: error
                .as_ref()
                .filter(|_| end.value.is_infinite())
                .map_or_else(|| end.reason.clone(), ToString::to_string),
        })
        .collect();
    let (others, extra) = distinct(&space, &best, ends.iter().map(|(end, _)| end));
    let units = space.units();
    let n = space.size();
    Ok(Optimum {
        theta: space.theta(&best.z),
        log_evidence: best.density.log_evidence,
        log_posterior: best.density.log_posterior,
        hessian: Mat::from_fn(n, n, |i, j| best.curvature[(i, j)] / (units[i] * units[j])),
        projected_gradient: best.projected_gradient,
        at_bound: (0..n)
            .filter(|i| best.z[*i] <= bounds[*i].0 || best.z[*i] >= bounds[*i].1)
            .map(|i| space.indices()[i])
            .collect(),
        iterations: starts.iter().map(|s| s.iterations).sum::<usize>() + best.steps,
        evaluations: starts.iter().map(|s| s.evaluations).sum::<usize>() + best.evaluations + extra,
        converged: best.converged,
        reason: if options.is_stopped() {
            "it was stopped".into()
        } else if best.converged || !starts[winner].converged {
            starts[winner].reason.clone()
        } else {
            "the gradient does not vanish at the best point".into()
        },
        starts,
        others,
    })
}

/// Where the starts ended.
struct Ends {
    from: Vec<Vec<f64>>,
    ends: Vec<(Report, Option<FitError>)>,
    /// The best of them.
    winner: usize,
}

/// Where the best start ended, and the evaluations of all; it is not refined: where the search of
/// a dearer problem may begin.
///
/// # Errors
/// As [`maximise`].
pub fn explore(
    evidence: &dyn Evidence,
    options: &LearnOptions<'_>,
) -> Result<(Vec<f64>, usize), FitError> {
    let space = FreeSpace::new(evidence)?;
    let Ends { ends, winner, .. } = search(evidence, &space, options)?;
    let evaluations = ends.iter().map(|(end, _)| end.evaluations).sum();
    Ok((space.theta(&ends[winner].0.x), evaluations))
}

fn search(
    evidence: &dyn Evidence,
    space: &FreeSpace<'_>,
    options: &LearnOptions<'_>,
) -> Result<Ends, FitError> {
    let bounds = space.bounds();
    let from = starting_points(evidence, space, options);
    let finished = Mutex::new((0, f64::NEG_INFINITY));
    let has_answer = AtomicBool::new(false);
    let watch = Watch {
        // The first evaluation is made whatever is asked: without it there is no answer.
        is_over: &|| has_answer.load(Ordering::Relaxed) && options.is_stopped(),
        evaluated: &|| {
            if !has_answer.swap(true, Ordering::Relaxed) {
                options.keeper.inspect(|keeper| keeper.can_stop());
            }
        },
    };
    let run = |theta: &Vec<f64>| {
        let begin = space.coordinates_of(theta);
        let outcome = one_start(space, &begin, &bounds, &options.search, &watch);
        if let Ok(mut state) = finished.lock() {
            state.0 += 1;
            state.1 = state.1.max(-outcome.0.value);
            options.progress.report(Event::Start {
                done: state.0,
                total: from.len(),
                best: state.1,
            });
        }
        outcome
    };
    let ends: Vec<(Report, Option<FitError>)> =
        in_pool(options.threads, || from.par_iter().map(run).collect());
    if let Some(fatal) = ends
        .iter()
        .find_map(|(_, e)| e.clone().filter(|e| !e.is_recoverable()))
    {
        return Err(fatal);
    }
    // Strictly better wins, so that ties go to the earliest start.
    let mut winner: Option<usize> = None;
    for (i, (end, _)) in ends.iter().enumerate() {
        if end.value.is_finite() && winner.is_none_or(|w| end.value < ends[w].0.value) {
            winner = Some(i);
        }
    }
    let Some(winner) = winner else {
        // The first start is the most sensible place: its error is the one to mend.
        let reason = ends.into_iter().find_map(|(_, error)| error);
        return Err(reason.unwrap_or(FitError::NoStart { starts: from.len() }));
    };
    Ok(Ends { from, ends, winner })
}

/// Runs `work` in a pool of its own, or in the current one for 0 threads.
///
/// A worker of another pool that waited for it there would take up further work of its own pool
/// meanwhile, one fit inside the other, until its stack is full: so it waits behind a thread that
/// has no other work.
pub(crate) fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = (threads > 0).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
    let Some(Ok(pool)) = pool else {
        // No threads to be had: the current pool gives the same result.
        return work();
    };
    if rayon::current_thread_index().is_none() {
        return pool.install(work);
    }
    let joined = std::thread::scope(|scope| scope.spawn(|| pool.install(work)).join());
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What starts that search at once know of each other, and of who may stop them.
struct Watch<'a> {
    is_over: &'a (dyn Fn() -> bool + Sync),
    evaluated: &'a (dyn Fn() + Sync),
}

fn one_start(
    space: &FreeSpace<'_>,
    from: &[f64],
    bounds: &[(f64, f64)],
    search: &optimise::Options,
    watch: &Watch<'_>,
) -> (Report, Option<FitError>) {
    let mut last_error = None;
    let mut warm_start = WarmStart::coarse();
    let mut negative = |z: &[f64], gradient: &mut [f64]| {
        if (watch.is_over)() {
            return None;
        }
        match space.evaluate(z, &mut warm_start) {
            Ok(density) => {
                (watch.evaluated)();
                for (out, g) in gradient.iter_mut().zip(&density.gradient) {
                    *out = -g;
                }
                Some(-density.log_posterior)
            }
            Err(error) => {
                last_error = Some(error);
                None
            }
        }
    };
    let report = minimise(&mut negative, from, bounds, search);
    (report, last_error)
}

/// Where a start ended, as it is: nothing is claimed of a maximum, nor of the curvature there.
fn unrefined(space: &FreeSpace<'_>, end: &Report) -> Refined {
    let n = space.size();
    let log_posterior = -end.value;
    Refined {
        density: LogPosterior {
            log_posterior,
            log_evidence: log_posterior - space.log_prior(&end.x).0,
            gradient: end.gradient.iter().map(|g| -g).collect(),
        },
        z: end.x.clone(),
        curvature: Mat::identity(n, n),
        projected_gradient: end.projected_gradient,
        converged: false,
        steps: 0,
        evaluations: 0,
    }
}

/// The additive recurrence of Roberts: point `k` has coordinates `frac(shift_j + k g^-(j+1))`, `g`
/// the positive root of `g^(d+1) = g + 1`.
fn starting_points(
    evidence: &dyn Evidence,
    space: &FreeSpace<'_>,
    options: &LearnOptions<'_>,
) -> Vec<Vec<f64>> {
    let parameters = evidence.parameters();
    let first: Vec<f64> = parameters.iter().map(|p| p.start).collect();
    let dimensions = space.size();
    if dimensions == 0 {
        return vec![first];
    }
    let mut root: f64 = 2.0;
    for _ in 0..50 {
        root = (1.0 + root).powf(1.0 / (dimensions + 1) as f64);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let shifts: Vec<f64> = (0..dimensions).map(|_| rng.random()).collect();
    let mut points = vec![first.clone()];
    for k in 1..options.starts.max(1) {
        let mut theta = first.clone();
        for (j, i) in space.indices().iter().enumerate() {
            let step = root.powi(-(j as i32 + 1));
            let u = (shifts[j] + k as f64 * step).fract();
            // The outer twentieths are too far out to be worth a start.
            theta[*i] = parameters[*i].start_at(0.05 + 0.9 * u);
        }
        points.push(theta);
    }
    points.extend_from_slice(options.also);
    points
}

/// The ends of starts that are stationary, and differ from the best and from each other.
fn distinct<'e>(
    space: &FreeSpace<'_>,
    best: &Refined,
    ends: impl Iterator<Item = &'e Report>,
) -> (Vec<LocalOptimum>, usize) {
    let mut candidates: Vec<&Report> = ends
        .filter(|end| end.value.is_finite() && end.projected_gradient < FLAT_ENOUGH)
        .collect();
    candidates.sort_by(|a, b| a.value.total_cmp(&b.value));
    let far = |a: &[f64], b: &[f64]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > DISTINCT);
    let mut kept: Vec<&Report> = Vec::new();
    for end in candidates {
        if far(&end.x, &best.z) && kept.iter().all(|other| far(&end.x, &other.x)) {
            kept.push(end);
        }
    }
    let evaluations = kept.len();
    let others = kept
        .into_iter()
        .filter_map(|end| {
            let density = space.value(&end.x, &mut WarmStart::precise()).ok()?;
            Some(LocalOptimum {
                theta: space.theta(&end.x),
                log_evidence: density.log_evidence,
                log_posterior: density.log_posterior,
            })
        })
        .collect();
    (others, evaluations)
}

#[cfg(test)]
#[path = "learn_tests.rs"]
mod tests;
