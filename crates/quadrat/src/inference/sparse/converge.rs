//! The best `q` at one value of the hyperparameters, by natural gradients.
//!
//! In the natural parameters of a normal distribution the natural gradient points to
//!
//! $$ P^* = I - 2 F_S, \qquad (P \mu)^* = F_\mu - 2 F_S \mu $$
//!
//! where the derivatives are those of the expected log-densities.

use super::history::{History, Natural};
use super::options::SparseOptions;
use super::pass::{Bound, Stream};
use super::start::begin;
use super::sums::Depth;
use super::{Normal, SparseProblem, VariationalPosterior};
use crate::error::FitError;
use crate::linalg::{Mat, matvec};
use crate::parameter;

/// Smallest fraction of a step that is tried. Counts of a million whose rates differ by a factor of
/// a hundred, begun at one common rate, need 1e-5 at first.
const SMALLEST_STEP: f64 = 1.0 / 16_777_216.0;
/// Once steps are cut to this fraction, a change of the bound within its rounding ends the search.
const SMALL_STEP: f64 = 1.0 / 4096.0;
/// After a step had to be cut, so many steps keep its length before it is doubled.
const PATIENCE: usize = 4;
/// Relative error of the bound: ten times that of the expected log-densities. Where no step raises
/// the bound, smaller changes are taken for rounding.
const NOISE: f64 = 1e-9;
/// A squared residual below this share of the tolerance ends a search, however slowly it converges.
const SURE: f64 = 0.05;
/// After a step of Anderson mixing, which gains about a third of the squared residual, the search
/// may end once that residual is below this many tolerances.
const MIXED: f64 = 4.0;
/// Convergence is quick where a full step leaves less than this part of the squared residual. Near
/// the optimum a thousandth is usual.
const QUICK: f64 = 0.1;

/// A step that gains more than this, in nats, is far from the optimum. The history is then dropped:
/// Anderson mixing needs a map that is nearly linear.
const NEAR: f64 = 10.0;
/// A bound that falls by less than this part of its size counts as unchanged.
const ROUNDING: f64 = 1e-12;
/// `q` is of use where less than this is left to gain, in nats. Its bound lies below the best one
/// by the divergence from the best `q`, and normal distributions with a divergence of `d` nats have
/// means within `sqrt(2 d)` standard deviations of each other: less than half of one.
const USABLE: f64 = 0.1;
/// Largest ratio of successive gains that is extrapolated as a geometric series.
const SLOWEST: f64 = 0.99;

/// Where a search ended.
pub(super) struct SearchEnd {
    pub normal: Normal,
    pub bound: Bound,
    /// Passes over all rows.
    pub passes: usize,
    /// What the last step gained.
    pub gain: f64,
    /// About what is left to gain, in nats.
    pub left: f64,
    /// The rate of convergence, as in [`VariationalPosterior`].
    rate: Option<f64>,
    pub converged: bool,
    /// Whether it was stopped from outside before it converged.
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

impl SearchEnd {
    /// The variational posterior at these hyperparameters.
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

    /// Itself where it converged, or so nearly that little is left to gain; else an error. The
    /// bound holds at any `q`.
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

/// Natural-gradient steps with Anderson mixing until they converge. The derivatives that `depth`
/// asks for come from the last pass, in most cases without a further one. `is_stopped` is asked
/// between passes.
pub(super) fn search(
    stream: &Stream<'_>,
    problem: &dyn SparseProblem,
    options: &SparseOptions,
    start: Option<(Normal, Option<f64>)>,
    depth: Depth,
    is_stopped: &dyn Fn() -> bool,
) -> Result<SearchEnd, FitError> {
    let start = start.filter(|(near, _)| near.size() == problem.prior().inducing());
    let rate = start.as_ref().and_then(|(_, rate)| *rate);
    let with_bound = |(near, _)| stream.run(&near, Depth::Sites).map(|bound| (near, bound));
    let near = start.map(with_bound).transpose()?;
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
            false if walk.mix()? => Ended::Moved,
            false => walk.step()?,
        };
        match ended {
            Ended::Moved => {}
            Ended::Stopped => stopped = true,
            // No fraction of a step raises the bound: it is flat up to rounding, or was not a
            // number.
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
        bound = stream.run(&normal, depth)?;
        passes += 1;
    }
    Ok(SearchEnd {
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
    /// No fraction of it raised the bound.
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
    /// Steps since the length was last cut: a length that failed is not tried again at once.
    since: usize,
    /// What the last step gained, and the one before.
    gain: f64,
    before: f64,
    /// Squared residual in the Fisher norm: what a full step would gain, were the bound linear.
    left: f64,
    /// `rate` of the search before; none once a mixture was taken, after which it may not hold.
    learned: Option<f64>,
    /// Rate of convergence: the largest part of `left` that a full step left; 1 where steps had to
    /// be cut or mixed more than once.
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

    /// The smallest gain for which the search goes on.
    fn least(&self) -> f64 {
        self.tolerance.max(self.slack())
    }

    /// The smallest change of the bound that is not taken for rounding.
    fn known(&self) -> f64 {
        self.least().max(NOISE * self.bound.value.abs())
    }

    /// Estimate of what is left to gain, in nats: half the squared residual, which is right where
    /// the bound is quadratic; or, where that is larger, the sum of the gains to come if they
    /// shrink by the ratio of the last two.
    fn to_gain(&self) -> f64 {
        let shrinks = (self.gain / self.before).clamp(0.0, SLOWEST);
        let to_come = self.gain.max(0.0) / (1.0 - shrinks);
        (0.5 * self.left).max(to_come)
    }

    /// Adds the natural-gradient step from `q` to the history, and updates residual and rate.
    fn look(&mut self) {
        let aim = target(&self.normal, &self.bound);
        let before = self.left;
        self.left = self.history.note(&self.normal, aim);
        if self.is_full {
            let own = self.left / before;
            self.rate = Some(self.rate.map_or(own, |rate| rate.max(own)));
        }
        if self.is_mixed && self.gain < self.least() {
            // A mixture without a gain may have passed the optimum: a plain step has to show.
            self.history.keep_last();
        }
    }

    /// Whether `q` has converged where the squared residual is `left`. If convergence is quick,
    /// half of it is what is left to gain. One quick step does not show that convergence is quick:
    /// a component that converges slowly is small beside the others at first. So the search before
    /// must have been quick at its end, and this one must not have been slow so far.
    fn is_near(&self, left: f64) -> bool {
        let rate = self
            .learned
            .map(|learned| learned.max(self.rate.unwrap_or(0.0)));
        rate.is_some_and(|rate| rate < QUICK) && 0.5 * left < self.least()
    }

    fn run(&mut self, normal: &Normal, is_last: bool) -> Result<Bound, FitError> {
        self.passes += 1;
        let depth = if is_last { self.depth } else { Depth::Sites };
        self.stream.run(normal, depth)
    }

    /// Moves to the Anderson mixture of the last steps, if the bound is not lower there.
    fn mix(&mut self) -> Result<bool, FitError> {
        let Some((precision, shift)) = self.history.mixed() else {
            return Ok(false);
        };
        if let Ok(moved) = Normal::new(precision, shift) {
            let there = self.run(&moved, self.left < MIXED * self.least())?;
            if there.value >= self.bound.value - self.slack() {
                self.accept(moved, there);
                (self.is_mixed, self.is_full) = (true, false);
                // A single mixture may only have sped up the end. Where a second one is needed,
                // plain steps converge slowly.
                self.learned = None;
                self.mixtures += 1;
                if self.mixtures > 1 {
                    self.rate = Some(1.0);
                }
                return Ok(true);
            }
        }
        self.history.keep_last();
        Ok(false)
    }

    /// Takes a natural-gradient step, cut until the bound does not fall.
    fn step(&mut self) -> Result<Ended, FitError> {
        let mut change = f64::INFINITY;
        while self.step >= SMALLEST_STEP {
            if (self.is_stopped)() {
                return Ok(Ended::Stopped);
            }
            let moved = self.history.last().map(|(precision, shift)| {
                self.normal.towards(precision.as_ref(), shift, self.step)
            });
            if let Some(Ok(moved)) = moved {
                // The next gain, if gains shrink by a constant factor.
                let next = self.left.min(self.gain * (self.gain / self.before));
                let is_full = self.step == 1.0;
                let after = self
                    .rate
                    .or(self.learned)
                    .map_or(f64::INFINITY, |rate| rate * self.left);
                let is_last = next < self.least() || (is_full && self.is_near(after));
                let there = self.run(&moved, is_last)?;
                if there.value >= self.bound.value - self.slack() {
                    self.accept(moved, there);
                    (self.is_mixed, self.is_full) = (false, is_full);
                    self.since += 1;
                    if self.since > PATIENCE {
                        self.step = (2.0 * self.step).min(1.0);
                    }
                    return Ok(Ended::Moved);
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
        Ok(Ended::Stuck)
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

/// Natural parameters after a full natural-gradient step: `P*` and `(P mu)*`.
pub(super) fn target(q: &Normal, bound: &Bound) -> Natural {
    let n = q.size();
    let precision = Mat::from_fn(n, n, |i, j| {
        -2.0 * bound.in_covariance[(i, j)] + if i == j { 1.0 } else { 0.0 }
    });
    let pull = matvec(bound.in_covariance.as_ref(), q.mean());
    let pairs = bound.in_mean.iter().zip(&pull);
    (precision, pairs.map(|(g, p)| g - 2.0 * p).collect())
}

/// `R` with `R R' = I - S`, which reduces the prior's predictive covariances to those of `q`.
/// Directions of which `S` is wider than the prior count as zero; the second value is the largest
/// excess of their variance over the prior's, 1.
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
