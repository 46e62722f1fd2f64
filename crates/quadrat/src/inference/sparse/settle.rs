//! The best `q` at one value of the hyperparameters, by natural gradients.
//!
//! In the natural parameters of a normal distribution the natural gradient points to
//!
//! $$ P^* = I - 2 F_S, \qquad (P \mu)^* = F_\mu - 2 F_S \mu $$
//!
//! where the derivatives are those of the expected log-densities.

use super::pass::{Bound, Depth, Stream};
use super::{LogSum, Normal, SparseProblem};
use crate::error::FitError;
use crate::linalg::{Mat, matvec};

/// The smallest part of a step that is tried: where all starts at one level, counts of a million whose rates differ by a factor of a
/// hundred begin with a hundred thousandth.
const SMALLEST_STEP: f64 = 1.0 / 16_777_216.0;
/// Part of a step from which on a change within the rounding of the bound is the last word.
const SMALL_STEP: f64 = 1.0 / 4096.0;
/// Steps of one length after one that was too long.
const PATIENCE: usize = 4;
/// A bound is known to this part of its size, ten times what expectations are: where no step gains, smaller changes say nothing.
const NOISE: f64 = 1e-9;
/// Variance of a point where a search begins, at most: after an exponential link wider ones are worth nothing to sums, or overflow.
const WIDEST: f64 = 1.0;
/// A bound may fall by this part of its size and count as equal.
const ROUNDING: f64 = 1e-12;

/// How accurately, and with what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseOptions {
    /// What is put for expectations of sums.
    pub form: LogSum,
    /// Stop when a step gains less than this, in nats.
    pub tolerance: f64,
    /// Steps at most.
    pub steps: usize,
    /// Variance of the whitened inducing values where a search begins; less where that of a point would exceed 1.
    pub start_variance: f64,
    /// Features of all points are kept between steps where they take no more than this, in bytes.
    pub memory: usize,
}

impl Default for SparseOptions {
    fn default() -> Self {
        Self {
            form: LogSum::Matched,
            tolerance: 1e-6,
            steps: 200,
            start_variance: 0.1,
            memory: 1 << 28,
        }
    }
}

/// What was found.
pub(super) struct Settled {
    pub normal: Normal,
    pub bound: Bound,
    /// Passes over all rows.
    pub passes: usize,
    /// What the last step gained.
    pub gain: f64,
    pub converged: bool,
    /// Whether it was asked to stop before.
    pub stopped: bool,
}

/// Finds the best `q`, begun at `start` or as the options say.
///
/// # Returns
/// `q`, the bound there in nats, and how many passes over the rows it took.
///
/// # Errors
/// [`FitError::NotSettled`] when steps still gain more than the tolerance; else as [`super::bound`].
pub fn settle_sparse(
    problem: &dyn SparseProblem,
    theta: &[f64],
    options: &SparseOptions,
    start: Option<&Normal>,
) -> Result<(Normal, f64, usize), FitError> {
    let stream = Stream::new(problem, theta, options.form, options.memory)?;
    let found = search(&stream, problem, options, start, Depth::Sites, &|| false)?.converged()?;
    Ok((found.normal, found.bound.value, found.passes))
}

impl Settled {
    pub fn converged(self) -> Result<Self, FitError> {
        if self.converged {
            return Ok(self);
        }
        Err(FitError::NotSettled {
            passes: self.passes,
            gain: self.gain,
        })
    }
}

/// The search; its last pass is as deep as `depth`, in most cases without another one. Between passes it may be stopped.
pub(super) fn search(
    stream: &Stream<'_>,
    problem: &dyn SparseProblem,
    options: &SparseOptions,
    start: Option<&Normal>,
    depth: Depth,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Settled, FitError> {
    let mut normal = match start {
        Some(normal) if normal.size() == problem.prior().inducing() => normal.clone(),
        _ => narrow(stream, problem, options)?,
    };
    let mut bound = stream.run(&normal, Depth::Sites);
    if !bound.value.is_finite() && start.is_some() {
        normal = narrow(stream, problem, options)?;
        bound = stream.run(&normal, Depth::Sites);
    }
    let mut passes = 1;
    let (mut step, mut gain, mut before) = (1.0_f64, f64::INFINITY, f64::INFINITY);
    // Steps since one was too long: what failed once fails again soon.
    let mut since = PATIENCE;
    let mut converged = false;
    let mut stopped = false;
    while passes < options.steps && !converged && !stopped {
        let (precision, shift) = target(&normal, &bound);
        let slack = ROUNDING * bound.value.abs();
        let tolerance = options.tolerance.max(slack);
        let mut next = None;
        while step >= SMALLEST_STEP {
            stopped = is_stopped();
            if stopped {
                break;
            }
            if let Ok(moved) = normal.towards(precision.as_ref(), &shift, step) {
                // Gains shrink by about the same factor: the next one may be the last.
                let is_last = gain * (gain / before) < tolerance;
                let there = stream.run(&moved, if is_last { depth } else { Depth::Sites });
                passes += 1;
                if there.value >= bound.value - slack {
                    next = Some((moved, there));
                    break;
                }
                gain = (there.value - bound.value).abs();
                if step <= SMALL_STEP && gain < tolerance.max(NOISE * bound.value.abs()) {
                    break;
                }
            }
            step *= 0.5;
            since = 0;
        }
        let Some((moved, there)) = next else {
            if stopped {
                break;
            }
            // No part of a step gains anything: the bound is flat up to rounding, or the last try was far off.
            converged = gain < tolerance.max(NOISE * bound.value.abs());
            break;
        };
        before = gain;
        gain = there.value - bound.value;
        converged = gain < tolerance * step;
        (normal, bound) = (moved, there);
        since += 1;
        if since > PATIENCE {
            step = (2.0 * step).min(1.0);
        }
    }
    if converged && depth == Depth::All && bound.gradient.is_empty() {
        bound = stream.run(&normal, depth);
        passes += 1;
    }
    Ok(Settled {
        normal,
        bound,
        passes,
        gain,
        converged,
        stopped,
    })
}

/// Where a search begins that knows nothing.
fn narrow(
    stream: &Stream<'_>,
    problem: &dyn SparseProblem,
    options: &SparseOptions,
) -> Result<Normal, FitError> {
    let prior = problem.prior();
    let variances = (0..problem.bags().chunks()).flat_map(|c| prior.diagonal(stream.theta(), c));
    let most = WIDEST / variances.fold(0.0, f64::max);
    Ok(Normal::isotropic(
        prior.inducing(),
        options.start_variance.min(most),
    )?)
}

/// Where the natural gradient points to.
pub(super) fn target(q: &Normal, bound: &Bound) -> (Mat<f64>, Vec<f64>) {
    let n = q.size();
    let precision = Mat::from_fn(n, n, |i, j| {
        -2.0 * bound.in_covariance[(i, j)] + if i == j { 1.0 } else { 0.0 }
    });
    let pull = matvec(bound.in_covariance.as_ref(), q.mean());
    let pairs = bound.in_mean.iter().zip(&pull);
    (precision, pairs.map(|(g, p)| g - 2.0 * p).collect())
}

/// `I - S` as `R R'`, for the reduction of predictive covariances; also by how much a direction was wider than the prior.
pub(super) fn reduction(q: &Normal) -> Result<(Mat<f64>, f64), FitError> {
    let eigen = crate::linalg::symmetric_eigen(q.precision())?;
    let n = q.size();
    let part = |p: f64| 1.0 - 1.0 / p;
    let excess = eigen.values.iter().fold(0.0_f64, |m, &p| m.max(-part(p)));
    let root: Vec<f64> = eigen
        .values
        .iter()
        .map(|&p| part(p).max(0.0).sqrt())
        .collect();
    let out = Mat::from_fn(n, n, |i, j| eigen.vectors[(i, j)] * root[j]);
    Ok((out, excess))
}
