//! The bound of the evidence as a function of the hyperparameters.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::collapsed::{collapsed, is_normal};
use super::converge::{reduction, search};
use super::inducing_factor::inducing_factor;
use super::options::SparseOptions;
use super::pass::{Bound, Stream};
use super::shards::Shards;
use super::sums::Depth;
use super::{Normal, SparseProblem, VariationalPosterior};
use crate::error::FitError;
use crate::inference::converged::Converged;
use crate::inference::{Conditioned, Evidence, Factor, WarmStart};
use crate::linalg::Mat;
use crate::parameter::Parameter;
use crate::progress::Keeper;

/// Tolerance in nats while the search for hyperparameters is rough: a precise one follows.
const ROUGH: f64 = 1e-3;
/// Rounding of gradients, about, in nats per row; and the longest step of their finite differences.
const ROUNDING_OF_ROW: f64 = 2e-9;
const LONGEST_DIFFERENCE: f64 = 0.1;
/// An evaluation over more points than this is expensive.
const DEAR: usize = 2000;
/// Passes for `q` after a search was stopped, at most: the first natural-gradient steps gain most.
const SHORT: usize = 6;

/// The bound at the best `q`, as a function of the hyperparameters. As `q` is optimal, the gradient
/// is that at fixed `q`.
pub struct SparseEvidence<'a> {
    problem: &'a dyn SparseProblem,
    options: SparseOptions,
    is_normal: bool,
    passes: AtomicUsize,
    start: Option<&'a VariationalPosterior>,
    moving: Vec<(usize, f64)>,
    keeper: Option<&'a dyn Keeper>,
    is_short: bool,
    has_not_converged: AtomicBool,
    was_stopped: AtomicBool,
    /// The best `q` at every evaluation, where these are kept.
    seen: Option<Mutex<Vec<VariationalPosterior>>>,
}

/// The bound at the best `q`, and its derivatives where wanted.
pub(super) struct BestBound {
    pub value: f64,
    pub gradient: Vec<f64>,
    pub in_places: Vec<f64>,
}

impl<'a> SparseEvidence<'a> {
    /// The bound as a function of the hyperparameters.
    #[must_use]
    pub fn new(problem: &'a dyn SparseProblem, options: SparseOptions) -> Self {
        Self {
            problem,
            options,
            is_normal: is_normal(problem),
            passes: AtomicUsize::new(0),
            start: None,
            moving: Vec::new(),
            keeper: None,
            is_short: false,
            has_not_converged: AtomicBool::new(false),
            was_stopped: AtomicBool::new(false),
            seen: None,
        }
    }

    /// Keeps the `q` that every evaluation finds, for [`Self::into_seen`].
    #[must_use]
    pub fn keeping(self) -> Self {
        Self {
            seen: Some(Mutex::default()),
            ..self
        }
    }

    /// The `q` of all evaluations that converged, in no order; none unless they were kept.
    #[must_use]
    pub fn into_seen(self) -> Vec<VariationalPosterior> {
        let seen = self.seen.and_then(|seen| seen.into_inner().ok());
        seen.unwrap_or_default()
    }

    /// Also computes the derivatives in the coordinates of the inducing points along some columns,
    /// each with the step of its finite differences.
    #[must_use]
    pub(super) fn moving(self, moving: Vec<(usize, f64)>) -> Self {
        Self { moving, ..self }
    }

    /// Begins the search for `q` at this one wherever the warm start has none.
    #[must_use]
    pub fn starting_at(self, start: Option<&'a VariationalPosterior>) -> Self {
        Self { start, ..self }
    }

    /// Every evaluation ends with [`FitError::Stopped`] soon after the keeper stops; the warm start
    /// then has the `q` found so far.
    #[must_use]
    pub fn watched_by(self, keeper: Option<&'a dyn Keeper>) -> Self {
        Self { keeper, ..self }
    }

    /// For a search that was stopped: the value after a few passes, which is a lower bound at any
    /// `q`.
    #[must_use]
    pub(super) fn in_short(mut self) -> Self {
        self.options.steps = SHORT;
        self.options.tolerance = self.options.tolerance.max(ROUGH);
        self.is_short = true;
        self
    }

    /// Whether some value is that of a `q` that had not converged.
    pub(super) fn has_not_converged(&self) -> bool {
        self.has_not_converged.load(Ordering::Relaxed)
    }

    fn is_stopped(&self) -> bool {
        let stopped = self.keeper.is_some_and(Keeper::is_stopped);
        self.was_stopped.fetch_or(stopped, Ordering::Relaxed);
        stopped
    }

    /// Whether some evaluation was stopped.
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        self.was_stopped.load(Ordering::Relaxed)
    }

    /// Points of all rows, and inducing points.
    pub(super) fn size(&self) -> (usize, usize) {
        let inducing = self.problem.prior().inducing();
        (self.points(), inducing)
    }

    fn points(&self) -> usize {
        let shards = self.problem.shards();
        shards.map_or_else(|| self.problem.bags().points(), Shards::points)
    }

    /// Passes over all rows so far.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed)
    }

    /// The best `q` and the bound there, and its gradient where wanted.
    pub(super) fn at(
        &self,
        theta: &[f64],
        warm_start: &mut WarmStart,
        with_gradient: bool,
    ) -> Result<BestBound, FitError> {
        if self.is_stopped() {
            return Err(FitError::Stopped);
        }
        let mut options = self.options;
        if warm_start.is_rough {
            options.tolerance = options.tolerance.max(ROUGH);
        }
        let shift = |&(column, by): &(usize, f64)| self.problem.induced().shift(column, by);
        let stream = Stream::new(self.problem, theta, options.form, options.memory)?
            .moving(self.moving.iter().map(shift).collect());
        let start = warm_start
            .found()
            .or(self.start)
            .filter(|found| found.normal.size() == self.problem.prior().inducing());
        let count = |passes: usize| {
            self.passes.fetch_add(passes, Ordering::Relaxed);
        };
        if self.is_normal {
            // Closed form: one step from any `q`, with the least rounding from a near one.
            let near = match start {
                Some(near) => near.normal.clone(),
                None => {
                    let wide = Normal::isotropic(self.problem.prior().inducing(), 1.0)?;
                    collapsed(&wide, &stream.run(&wide, Depth::Sites)?)?.0
                }
            };
            count(1 + usize::from(start.is_none()) + usize::from(with_gradient));
            let (best, value) = collapsed(&near, &stream.run(&near, Depth::Sites)?)?;
            let found = if with_gradient {
                BestBound::of(stream.run(&best, Depth::All)?)
            } else {
                BestBound {
                    value,
                    gradient: Vec::new(),
                    in_places: Vec::new(),
                }
            };
            warm_start.leave_found(VariationalPosterior {
                theta: theta.to_vec(),
                normal: best,
                bound: value,
                left: 0.0,
                is_rough: false,
                rate: None,
            });
            return Ok(found);
        }
        let depth = if with_gradient {
            Depth::All
        } else {
            Depth::Sites
        };
        let stop = || self.is_stopped();
        let near = start.and_then(|found| {
            let normal = found.at(self.problem, theta, &stream.factor)?;
            Some((normal, found.rate))
        });
        let found = search(&stream, self.problem, &options, near, depth, &stop)?;
        count(found.passes);
        if found.stopped {
            warm_start.leave_found(found.found(theta));
            return Err(FitError::Stopped);
        }
        let found = if self.is_short && found.bound.value.is_finite() {
            let converged = found.converged;
            self.has_not_converged
                .fetch_or(!converged, Ordering::Relaxed);
            found
        } else {
            found.usable(self.problem, theta)?
        };
        let mut left = found.found(theta);
        left.is_rough = warm_start.is_rough;
        if let Some(Ok(mut seen)) = self.seen.as_ref().map(Mutex::lock) {
            seen.push(left.clone());
        }
        warm_start.leave_found(left);
        Ok(BestBound::of(found.bound))
    }
}

impl BestBound {
    fn of(bound: Bound) -> Self {
        Self {
            value: bound.value,
            gradient: bound.gradient,
            in_places: bound.in_places,
        }
    }
}

impl Evidence for SparseEvidence<'_> {
    fn evaluate_along(
        &self,
        theta: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError> {
        let at = self.at(theta, warm_start, true)?;
        Ok((at.value, at.gradient))
    }

    fn value_along(&self, theta: &[f64], warm_start: &mut WarmStart) -> Result<f64, FitError> {
        Ok(self.at(theta, warm_start, false)?.value)
    }

    fn is_dear(&self) -> bool {
        self.points() > DEAR
    }

    fn difference(&self) -> f64 {
        // Gradients err because `q` is off by a thousandth of its spread or so, and with many rows
        // by rounding. With a step `h` rounding makes an error of `rounding / h` in the Hessian,
        // and a one-sided difference one of some `h / 2`: the sum is least where both are equal.
        let rows = self.problem.bags().rows() as f64;
        let least = if self.is_normal { 1e-4 } else { 3e-3 };
        (2.0 * ROUNDING_OF_ROW * rows)
            .sqrt()
            .clamp(least, LONGEST_DIFFERENCE)
    }

    fn parameters(&self) -> &[Parameter] {
        self.problem.parameters()
    }
}

/// The posterior at `theta`: that of the inducing points, in the same form as after conditioning a
/// dense prior.
///
/// # Arguments
/// * `found` - a belief to begin with, which is the answer where it is of the same hyperparameters
///   and no rough one
///
/// # Errors
/// As [`super::converge_sparse`].
pub fn condition_sparse(
    problem: &dyn SparseProblem,
    theta: &[f64],
    options: &SparseOptions,
    found: Option<&VariationalPosterior>,
) -> Result<Conditioned, FitError> {
    let found = match found {
        Some(found) if found.theta == theta && !found.is_rough => found.clone(),
        _ => {
            let evidence = SparseEvidence::new(problem, *options).starting_at(found);
            let mut warm_start = WarmStart::precise();
            let bound = evidence.at(theta, &mut warm_start, false)?.value;
            VariationalPosterior::left(&warm_start, problem, theta, bound)?
        }
    };
    let (factor, jitter) = inducing_factor(problem, theta)?;
    let (root, excess) = reduction(&found.normal)?;
    let mean = found.normal.mean();
    let mut alpha = Mat::from_fn(mean.len(), 1, |i, _| mean[i]);
    factor.half_solve_transpose_in_place(alpha.as_mut());
    Ok(Conditioned {
        alpha: alpha.col_as_slice(0).to_vec(),
        factor: Factor::Sparse {
            factor,
            root,
            excess,
            left: found.left,
        },
        log_evidence: found.bound,
        jitter,
        noise: Vec::new(),
        second: None,
        lift: None,
        levels: Vec::new(),
        converged: Converged::Belief(Box::new(found)),
    })
}
