//! The best `q` at one value of the hyperparameters, by natural gradients.
//!
//! In the natural parameters of a normal distribution the natural gradient points to
//!
//! $$ P^* = I - 2 F_S, \qquad (P \mu)^* = F_\mu - 2 F_S \mu $$
//!
//! where the derivatives are those of the expected log-densities.

use super::history::{History, Natural};
use super::options::SparseOptions;
use super::pass::{Bound, Depth, Stream};
use super::start::begin;
use super::{Normal, SparseProblem, VariationalPosterior};
use crate::error::FitError;
use crate::linalg::{Mat, matvec};
use crate::parameter;

/// The smallest part of a step that is tried: where all starts at one level, counts of a million
/// whose rates differ by a factor of a hundred begin with a hundred thousandth.
const SMALLEST_STEP: f64 = 1.0 / 16_777_216.0;
/// Part of a step from which on a change within the rounding of the bound is the last word.
const SMALL_STEP: f64 = 1.0 / 4096.0;
/// Steps of one length after one that was too long.
const PATIENCE: usize = 4;
/// A bound is known to this part of its size, ten times what expectations are: where no step gains,
/// smaller changes say nothing.
const NOISE: f64 = 1e-9;
/// A squared residual below this share of the tolerance ends a search, however slow it is.
const SURE: f64 = 0.05;
/// After a step of Anderson mixing, which gains about a third of the squared residual, the search
/// may end once that residual is below this many tolerances.
const MIXED: f64 = 4.0;
/// Steps that leave less than this part of the residual approach quickly: from near, a thousandth
/// of it is usual.
const QUICK: f64 = 0.1;

/// Steps that gain more than this, in nats, are far from the end: what the last ones led to says
/// nothing of the next.
const NEAR: f64 = 10.0;
/// A bound may fall by this part of its size and count as equal.
const ROUNDING: f64 = 1e-12;
/// A belief is of use where less than this is left to gain, in nats. The bound lies below that of
/// the best belief by their divergence, and normal beliefs that differ by `d` nats have means
/// within `sqrt(2 d)` of their standard deviations: less than half of one.
const USABLE: f64 = 0.1;
/// Largest ratio of successive gains that is extrapolated as a geometric series.
const SLOWEST: f64 = 0.99;

/// What was found.
pub(super) struct Converged {
    pub normal: Normal,
    pub bound: Bound,
    /// Passes over all rows.
    pub passes: usize,
    /// What the last step gained.
    pub gain: f64,
    /// About what is left to gain, in nats.
    pub left: f64,
    /// As [`VariationalPosterior`] has it.
    rate: Option<f64>,
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
/// [`FitError::NotSettled`] when a tenth of a nat or more is left to gain; [`FitError::NoBound`]
/// where the bound is not finite from the start; else as [`super::bound`].
pub fn converge_sparse(
    problem: &dyn SparseProblem,
    theta: &[f64],
    options: &SparseOptions,
    start: Option<&Normal>,
) -> Result<(Normal, f64, usize), FitError> {
    let stream = Stream::new(problem, theta, options.form, options.memory)?;
    let near = start.map(|normal| (normal.clone(), None));
    let found = search(&stream, problem, options, near, Depth::Sites, &|| false)?;
    let found = found.usable(problem, theta)?;
    Ok((found.normal, found.bound.value, found.passes))
}

impl Converged {
    /// The belief, of these hyperparameters.
    pub fn found(&self, theta: &[f64]) -> VariationalPosterior {
        VariationalPosterior {
            theta: theta.to_vec(),
            normal: self.normal.clone(),
            bound: self.bound.value,
            left: if self.converged { 0.0 } else { self.left },
            is_rough: false,
            rate: self.rate,
        }
    }

    /// Itself where it is of use: it converged, or so nearly that little is left to gain. The bound
    /// holds at any belief.
    pub fn usable(self, problem: &dyn SparseProblem, theta: &[f64]) -> Result<Self, FitError> {
        if self.converged || (self.left < USABLE && self.bound.value.is_finite()) {
            return Ok(self);
        }
        if !self.gain.is_finite() {
            return Err(no_bound(problem, theta));
        }
        Err(FitError::NotSettled {
            passes: self.passes,
            left: self.left,
        })
    }
}

/// The search; its last pass is as deep as `depth`, in most cases without another one. Between
/// passes it may be stopped.
pub(super) fn search(
    stream: &Stream<'_>,
    problem: &dyn SparseProblem,
    options: &SparseOptions,
    start: Option<(Normal, Option<f64>)>,
    depth: Depth,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Converged, FitError> {
    let start = start.filter(|(near, _)| near.size() == problem.prior().inducing());
    let rate = start.as_ref().and_then(|(_, rate)| *rate);
    let near = start.map(|(near, _)| {
        let bound = stream.run(&near, Depth::Sites);
        (near, bound)
    });
    let begun = usize::from(near.is_some());
    let (normal, bound, passes) = match near.filter(|(_, bound)| bound.value.is_finite()) {
        Some((normal, bound)) => (normal, bound, begun),
        None => {
            let (normal, bound) = begin(stream, problem, options)?;
            if !bound.value.is_finite() {
                return Err(no_bound(problem, stream.theta()));
            }
            (normal, bound, begun + 2)
        }
    };
    let mut walk = Walk {
        stream,
        tolerance: options.tolerance,
        depth,
        is_stopped,
        normal,
        bound,
        passes,
        step: 1.0,
        since: PATIENCE,
        gain: f64::INFINITY,
        before: f64::INFINITY,
        left: f64::INFINITY,
        learned: rate,
        rate: None,
        is_full: false,
        mixtures: 0,
        is_mixed: false,
        history: History::default(),
    };
    let (mut converged, mut stopped) = (false, false);
    while !stopped {
        walk.look();
        let known = walk.known();
        let is_small = walk.gain < walk.least() * walk.step
            && match walk.is_mixed {
                true => walk.left < MIXED * walk.least(),
                false => walk.left < 2.0 * known,
            };
        converged = is_small || walk.left < SURE * walk.least() || walk.is_near(walk.left);
        if converged || walk.passes >= options.steps {
            break;
        }
        let ended = match is_stopped() {
            true => Ended::Stopped,
            false if walk.mix() => Ended::Moved,
            false => walk.step(),
        };
        match ended {
            Ended::Moved => {}
            Ended::Stopped => stopped = true,
            // No part of a step gains anything: the bound is flat up to rounding, or something was
            // no number.
            Ended::Stuck => {
                converged = walk.gain < known && walk.left * walk.step < known;
                break;
            }
        }
    }
    let left = walk.to_gain();
    let Walk {
        normal,
        mut bound,
        mut passes,
        gain,
        learned,
        rate,
        ..
    } = walk;
    let is_used = converged || (left < USABLE && !stopped);
    if is_used && depth == Depth::All && bound.gradient.is_empty() {
        bound = stream.run(&normal, depth);
        passes += 1;
    }
    Ok(Converged {
        normal,
        bound,
        passes,
        gain,
        left,
        rate: rate.or(learned),
        converged,
        stopped,
    })
}

fn no_bound(problem: &dyn SparseProblem, theta: &[f64]) -> FitError {
    FitError::NoBound {
        parameters: parameter::describe(problem.parameters(), theta),
    }
}

/// How a step ended.
enum Ended {
    Moved,
    /// No part of it gained anything.
    Stuck,
    Stopped,
}

/// Where a search stands.
struct Walk<'a> {
    stream: &'a Stream<'a>,
    tolerance: f64,
    depth: Depth,
    is_stopped: &'a dyn Fn() -> bool,
    normal: Normal,
    bound: Bound,
    passes: usize,
    step: f64,
    /// Steps since one was too long: what failed once fails again soon.
    since: usize,
    /// What the last step gained, and the one before.
    gain: f64,
    before: f64,
    /// Squared residual in the Fisher norm: what a full step would gain, were the bound linear.
    left: f64,
    /// Which part of that full steps left at most in the search before, unless a mixture made it
    /// doubtful.
    learned: Option<f64>,
    /// The same in this one, 1 where it creeps.
    rate: Option<f64>,
    /// Whether the last step was a full one.
    is_full: bool,
    mixtures: usize,
    /// Whether the last step was to a mixture.
    is_mixed: bool,
    history: History,
}

impl Walk<'_> {
    fn slack(&self) -> f64 {
        ROUNDING * self.bound.value.abs()
    }

    /// Gains from which on steps go on.
    fn least(&self) -> f64 {
        self.tolerance.max(self.slack())
    }

    /// Changes that say something.
    fn known(&self) -> f64 {
        self.least().max(NOISE * self.bound.value.abs())
    }

    /// About what is left to gain, in nats: half of what a full step would, were the bound linear;
    /// or where steps creep the sum of all gains to come, each smaller than the last by as much as
    /// that was.
    fn to_gain(&self) -> f64 {
        let shrinks = (self.gain / self.before).clamp(0.0, SLOWEST);
        let to_come = self.gain.max(0.0) / (1.0 - shrinks);
        (0.5 * self.left).max(to_come)
    }

    /// Notes where the belief leads.
    fn look(&mut self) {
        let aim = target(&self.normal, &self.bound);
        let before = self.left;
        self.left = self.history.note(&self.normal, aim);
        if self.is_full {
            let own = self.left / before;
            self.rate = Some(self.rate.map_or(own, |rate| rate.max(own)));
        }
        if self.is_mixed && self.gain < self.least() {
            // A mixture that gains nothing may have gone to the other side; a step tells.
            self.history.keep_last();
        }
    }

    /// Whether so much of a residual is nothing: where steps leave little of it, half of it is what
    /// is left to gain. One step does not tell, since what creeps is small beside the rest at
    /// first: the search before must have ended so, and this one not yet otherwise.
    fn is_near(&self, left: f64) -> bool {
        let rate = self
            .learned
            .map(|learned| learned.max(self.rate.unwrap_or(0.0)));
        rate.is_some_and(|rate| rate < QUICK) && 0.5 * left < self.least()
    }

    fn run(&mut self, normal: &Normal, is_last: bool) -> Bound {
        self.passes += 1;
        let depth = if is_last { self.depth } else { Depth::Sites };
        self.stream.run(normal, depth)
    }

    /// Goes to where the last beliefs led together, if that is not worse.
    fn mix(&mut self) -> bool {
        let Some((precision, shift)) = self.history.mixed() else {
            return false;
        };
        if let Ok(moved) = Normal::new(precision, shift) {
            let there = self.run(&moved, self.left < MIXED * self.least());
            if there.value >= self.bound.value - self.slack() {
                self.accept(moved, there);
                (self.is_mixed, self.is_full) = (true, false);
                // One may only have confirmed what was known; where more are needed, steps alone
                // would creep.
                self.learned = None;
                self.mixtures += 1;
                if self.mixtures > 1 {
                    self.rate = Some(1.0);
                }
                return true;
            }
        }
        self.history.keep_last();
        false
    }

    /// Goes to where the belief leads, or a part of the way.
    fn step(&mut self) -> Ended {
        let mut change = f64::INFINITY;
        while self.step >= SMALLEST_STEP {
            if (self.is_stopped)() {
                return Ended::Stopped;
            }
            let moved = self.history.last().map(|(precision, shift)| {
                self.normal.towards(precision.as_ref(), shift, self.step)
            });
            if let Some(Ok(moved)) = moved {
                // Gains shrink by about the same factor.
                let next = self.left.min(self.gain * (self.gain / self.before));
                let is_full = self.step == 1.0;
                let after = self
                    .rate
                    .or(self.learned)
                    .map_or(f64::INFINITY, |rate| rate * self.left);
                let is_last = next < self.least() || (is_full && self.is_near(after));
                let there = self.run(&moved, is_last);
                if there.value >= self.bound.value - self.slack() {
                    self.accept(moved, there);
                    (self.is_mixed, self.is_full) = (false, is_full);
                    self.since += 1;
                    if self.since > PATIENCE {
                        self.step = (2.0 * self.step).min(1.0);
                    }
                    return Ended::Moved;
                }
                change = (there.value - self.bound.value).abs();
                if self.step <= SMALL_STEP && change < self.known() {
                    break;
                }
            }
            self.step *= 0.5;
            self.since = 0;
            self.rate = Some(1.0);
        }
        self.gain = change;
        Ended::Stuck
    }

    fn accept(&mut self, normal: Normal, bound: Bound) {
        self.before = self.gain;
        self.gain = bound.value - self.bound.value;
        (self.normal, self.bound) = (normal, bound);
        if self.gain > NEAR {
            self.history.clear();
        }
    }
}

/// Where the natural gradient points to.
pub(super) fn target(q: &Normal, bound: &Bound) -> Natural {
    let n = q.size();
    let precision = Mat::from_fn(n, n, |i, j| {
        -2.0 * bound.in_covariance[(i, j)] + if i == j { 1.0 } else { 0.0 }
    });
    let pull = matvec(bound.in_covariance.as_ref(), q.mean());
    let pairs = bound.in_mean.iter().zip(&pull);
    (precision, pairs.map(|(g, p)| g - 2.0 * p).collect())
}

/// `I - S` as `R R'`, for the reduction of predictive covariances; also by how much a direction was
/// wider than the prior.
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
