//! The joint mode of all nodes.

use super::curvature::Curvature;
use super::options::PooledOptions;
use super::pinned::Pinned;
use super::pools::{Pools, Slopes};
use crate::error::{FitError, LinalgError};
use crate::inference::converged::{ConvergedMode, of_another};
use crate::inference::sites::LatentGaussian;
use crate::inference::sites::options::JITTERS;
use crate::inference::sites::rows::Rows;
use crate::likelihood::local::Jet;
use crate::linalg::{Mat, dot, symmetric_times};
use crate::link::{Form, QuasiMean};
use crate::parameter;

/// Newton decrements below which steps take the whole curvature.
const NEAR: f64 = 0.3;
/// Smallest fraction of a step. Between a count of zero and one of a million behind `softplus` a
/// function rises from -10 to a million, and a linearisation around -10 holds for a step of one
/// only.
const SMALLEST_STEP: f64 = 1e-10;
/// Where linearised rows allow less than this part of a step, the whole curvature is tried as well.
const SHORT: f64 = 0.1;
/// Relative residual of the linear system of a step, and of one from far, which need not be better
/// than its model.
const STEP_TOLERANCE: f64 = 1e-3;
const FAR_TOLERANCE: f64 = 0.1;
/// Linearisations at the start at most.
pub(super) const ROUNDS: usize = 10;
/// A search ends after so many steps in a row that gain less than this, relative to the log
/// density, and has converged if no node is farther from the mode than this part of its standard
/// deviation: with covariances of a condition number of 1e9 rounding allows no more.
const IDLE: (usize, f64) = (5, 1e-9);
const ARRIVED: f64 = 1e-2;
/// Rounding of the evidence beyond which it is not told: in nats, and as a share of the evidence
/// where rows are many or it is low.
const UNTOLD: (f64, f64) = (1e-3, 1e-6);

/// The mode of the nodes' posterior.
pub struct Mode {
    /// Values of the nodes.
    pub values: Vec<f64>,
    /// `K^-1 (f - m)`.
    pub dual: Vec<f64>,
    /// `z` of every row.
    pub means: Vec<QuasiMean>,
    /// `log p(y_r | z_r)` and its derivatives.
    pub jets: Vec<Jet>,
    /// Laplace's approximation to `log p(y | theta)` in nats, every constant included.
    pub log_evidence: f64,
    /// Steps made.
    pub steps: usize,
    /// Length of the step that was not made, in posterior standard deviations.
    pub residual: f64,
    /// Whether that is below the tolerance, or a step would gain no more than rounding.
    pub converged: bool,
    /// Added to the unit diagonal of the scaled covariance of the rows.
    pub jitter: f64,
    pub(super) covariance: Mat<f64>,
    pub(super) slopes: Slopes,
    /// Rows that are known exactly.
    pub(super) pinned: Pinned,
}

impl Mode {
    /// Precisions of the rows' sites.
    pub(super) fn precisions(&self) -> Vec<f64> {
        precisions(&self.jets)
    }

    /// The mode, unless the search did not converge.
    ///
    /// # Errors
    /// [`FitError::NotConverged`].
    pub fn converged(self) -> Result<Self, FitError> {
        if self.converged {
            return Ok(self);
        }
        Err(FitError::NotConverged {
            method: "laplace",
            sweeps: self.steps,
            residual: self.residual,
        })
    }
}

fn precisions(jets: &[Jet]) -> Vec<f64> {
    jets.iter().map(|jet| (-jet.second).max(0.0)).collect()
}

/// Finds the mode at `theta`, and Laplace's evidence there.
///
/// # Arguments
/// * `problem` - prior of the nodes; its blocks are about the rows
/// * `pools` - what every row sees of the nodes
/// * `theta` - every hyperparameter, natural units
/// * `options` - how accurately
///
/// # Errors
/// [`FitError::Factorisation`] when the covariance is not positive definite even with jitter, or
/// when exact rows determine each other so nearly that rounding decides the evidence. A search that
/// did not end is no error here: see [`Mode::converged`].
///
/// # Numerics
/// A step costs `O(nodes^2 + nodes rows^2 / nodes_per_row + rows^3)`; `K` is computed once.
pub fn find_mode(
    problem: &dyn LatentGaussian,
    pools: &Pools,
    theta: &[f64],
    options: &PooledOptions,
) -> Result<Mode, FitError> {
    find_mode_from(problem, pools, theta, options, Begin::Anew)
}

/// As [`find_mode`], from where a mode is known, or one at hyperparameters near these.
///
/// # Errors
/// Besides, [`FitError::Input`] where a known mode is of other nodes.
pub(super) fn find_mode_from(
    problem: &dyn LatentGaussian,
    pools: &Pools,
    theta: &[f64],
    options: &PooledOptions,
    begin: Begin<'_>,
) -> Result<Mode, FitError> {
    let nodes = problem.prior_mean().len();
    if let Begin::At(known) = begin
        && !known.fits(nodes)
    {
        return Err(of_another());
    }
    let mut rows = Rows::new(problem, theta);
    rows.count = pools.rows();
    let mut search = Search {
        pinned: Pinned::of(&rows, pools),
        k: problem.covariance(theta),
        prior: problem.prior_mean(),
        pools,
        rows: &rows,
        options,
        jitter: 0.0,
    };
    let mut last = None;
    let least = match begin {
        Begin::At(known) => known.jitter,
        Begin::Near(_) | Begin::Anew => 0.0,
    };
    for jitter in JITTERS.into_iter().filter(|jitter| *jitter >= least) {
        search.jitter = jitter;
        match search.run(begin) {
            Ok(Some(found)) if search.is_told(&found.at) => return Ok(search.finish(found)),
            // Jitter is no help: what is known is met all the same, by as large numbers.
            Ok(Some(_)) => {
                last = Some(LinalgError::NotPositiveDefinite {
                    size: search.pinned.len(),
                    pivot: 0,
                });
                break;
            }
            // No function was found that meets what is known.
            Ok(None) => {
                return Err(FitError::NotConverged {
                    method: "laplace",
                    sweeps: ROUNDS,
                    residual: f64::INFINITY,
                });
            }
            Err(error @ LinalgError::NotPositiveDefinite { .. }) => last = Some(error),
            Err(other) => return Err(other.into()),
        }
    }
    let slopes = pools.slopes(&pools.means(search.prior));
    let columns = slopes.columns(pools, search.k.as_ref());
    let (first, second) = (slopes.rows(pools, columns.as_ref()), last);
    let (pair, correlation) = crate::inference::exact_rows::collinear(&first);
    match second {
        Some(_) => Err(FitError::Factorisation {
            kernel: problem.describe(),
            parameters: parameter::describe(problem.parameters(), theta),
            jitter: JITTERS[JITTERS.len() - 1],
            rows: pair,
            correlation,
        }),
        None => Err(FitError::NoStart { starts: 0 }),
    }
}

/// Where a search for the mode begins.
#[derive(Debug, Clone, Copy)]
pub(super) enum Begin<'a> {
    /// At plausible values of the rows.
    Anew,
    /// At the nodes' values at the mode of hyperparameters near these, or nowhere where that is no
    /// use.
    Near(&'a [f64]),
    /// At the mode itself.
    At(&'a ConvergedMode),
}

pub(super) struct Search<'a> {
    pub k: Mat<f64>,
    pub prior: &'a [f64],
    pub pools: &'a Pools,
    pub rows: &'a Rows<'a>,
    /// Those that are known exactly.
    pub pinned: Pinned,
    options: &'a PooledOptions,
    pub jitter: f64,
}

/// A place of the search.
pub(super) struct NewtonIterate {
    pub values: Vec<f64>,
    dual: Vec<f64>,
    pub means: Vec<QuasiMean>,
    pub jets: Vec<Jet>,
    pub objective: f64,
}

struct Found {
    at: NewtonIterate,
    slopes: Slopes,
    /// `log det(I + W C)`; of rows that are known exactly `log(2 pi)` more, and no unit of noise.
    log_det: f64,
    steps: usize,
    residual: f64,
    converged: bool,
}

impl Search<'_> {
    pub fn at(&self, values: Vec<f64>, dual: Vec<f64>) -> NewtonIterate {
        let means = self.pools.means(&values);
        let one = |(row, z): (usize, &QuasiMean)| {
            let (likelihood, own, at) = self.rows.at(row);
            let known = self.pinned.jet(row);
            known.unwrap_or_else(|| likelihood.log_density(own, at, z.value))
        };
        let jets: Vec<Jet> = means.iter().enumerate().map(one).collect();
        let away = values.iter().zip(self.prior).zip(&dual);
        let quadratic: f64 = away.map(|((f, m), b)| (f - m) * b).sum();
        let total: f64 = jets.iter().map(|jet| jet.value).sum();
        NewtonIterate {
            values,
            dual,
            means,
            jets,
            objective: total - 0.5 * quadratic,
        }
    }

    /// The place, moved so that rows that are known exactly are met; none where that fails.
    ///
    /// # Arguments
    /// * `means` - what rows see at a place near
    pub fn met(
        &self,
        means: &[QuasiMean],
        there: NewtonIterate,
    ) -> Result<Option<NewtonIterate>, LinalgError> {
        if self.pinned.is_empty() {
            return Ok(Some(there));
        }
        let place = (there.values, there.dual);
        let met = self.pinned.met(self.k.as_ref(), means, place)?;
        Ok(met.map(|(values, dual)| self.at(values, dual)))
    }

    /// Rounding of `(f - m)' b / 2` where rows are known exactly, in nats: rows that determine each
    /// other, as under a long lengthscale, are met by large duals, of whose products digits cancel.
    fn rounding(&self, at: &NewtonIterate) -> f64 {
        if self.pinned.is_empty() {
            return 0.0;
        }
        let dual = at.dual.iter().enumerate();
        // Entries of K are right to rounding, and err by themselves.
        let squares: f64 = dual.map(|(i, b)| b * b * self.k[(i, i)]).sum();
        0.5 * f64::EPSILON * squares
    }

    /// Whether double precision tells the evidence: beyond, it may have any value and sign.
    fn is_told(&self, at: &NewtonIterate) -> bool {
        self.rounding(at) <= UNTOLD.0.max(UNTOLD.1 * -at.objective)
    }

    /// `m + K b`.
    pub fn moved(&self, dual: &[f64]) -> Vec<f64> {
        let away = symmetric_times(&self.k, dual);
        away.iter().zip(self.prior).map(|(x, m)| m + x).collect()
    }

    /// Whether steps take the whole curvature far from the mode too. Behind `exp` logarithms of
    /// sums are nearly linear, and linearised rows are the better model far from the mode. Behind
    /// `softplus` rows are linear where they are large and curved where they are small: steps of
    /// linearised rows are short where large and small sums are neighbours. Probabilities are
    /// curved at both ends.
    fn takes_whole(&self) -> bool {
        let mut links = (0..self.pools.rows()).map(|row| self.pools.link(row));
        links.any(|link| link.form() == Form::Smooth)
    }

    /// The place after the largest part of a step along which the density does not fall by more
    /// than rounding, and that part; none where there is none.
    fn along(
        &self,
        at: &NewtonIterate,
        (q, x): (&[f64], &[f64]),
        slack: f64,
    ) -> Result<Option<(NewtonIterate, f64)>, LinalgError> {
        let mut part = 1.0;
        while part >= SMALLEST_STEP {
            let shift = |a: &[f64], d: &[f64]| -> Vec<f64> {
                a.iter().zip(d).map(|(a, d)| a + part * d).collect()
            };
            let next = self.at(shift(&at.values, x), shift(&at.dual, q));
            let next = self.met(&at.means, next)?;
            if let Some(next) = next
                && next.objective >= at.objective - slack
            {
                return Ok(Some((next, part)));
            }
            part *= 0.5;
        }
        Ok(None)
    }

    /// The length of a step in posterior standard deviations, `x' (K^-1 + J' W J) x`: sums of what
    /// is positive lose no digits.
    fn length(&self, slopes: &Slopes, precisions: &[f64], (q, x): (&[f64], &[f64])) -> f64 {
        let seen = slopes.gather(self.pools, x);
        // A step does not change the values of rows that are known exactly.
        let of_rows = precisions.iter().zip(&seen).filter(|(w, _)| w.is_finite());
        let of_rows: f64 = of_rows.map(|(w, s)| w * s * s).sum();
        let square = dot(q, x) + of_rows;
        // A length that is not a number must not end the search; rounding may make a square
        // negative.
        match square.is_finite() {
            true => square.max(0.0).sqrt(),
            false => f64::INFINITY,
        }
    }

    fn run(&self, begin: Begin<'_>) -> Result<Option<Found>, LinalgError> {
        let is_known = matches!(begin, Begin::At(_));
        let start = match begin {
            Begin::At(known) => Some(self.at(known.values.clone(), known.dual.clone())),
            Begin::Near(values) => self.near(values),
            Begin::Anew => self.start()?,
        };
        let Some(mut at) = start else {
            return Ok(None);
        };
        let (mut steps, mut idle) = (0, 0);
        let takes_whole = self.takes_whole();
        loop {
            let slopes = self.pools.slopes(&at.means);
            let first: Vec<f64> = at.jets.iter().map(|jet| jet.first).collect();
            let pull = slopes.scatter(self.pools, &first);
            let slope: Vec<f64> = pull.iter().zip(&at.dual).map(|(p, b)| p - b).collect();
            let precisions = precisions(&at.jets);
            let curvature = Curvature::new(self.pools, &self.k, &slopes, &precisions, self.jitter)?;
            let (mut q, mut x) = curvature.solve(&slope);
            self.pinned
                .place_multipliers(&curvature.pulled(&slope), &mut at.jets);
            let residual = self.length(&slopes, &precisions, (&q, &x));
            // Rounding of a sum of many terms is not a fall.
            let rounding = self.rounding(&at);
            let slack = rounding.max(1e-11 * (1.0 + at.objective.abs()));
            let tolerance = self.options.tolerance.max(curvature.rounding(&precisions));
            let has_arrived = idle >= IDLE.0 && residual <= ARRIVED;
            // A step of Newton's gains half the square of its length.
            let is_rounding = 0.5 * residual * residual <= rounding;
            let ended = is_known || residual <= tolerance || has_arrived || is_rounding;
            let finish = |at: NewtonIterate, converged: bool| Found {
                at,
                log_det: curvature.sweep.log_det
                    - 2.0 * self.pinned.normaliser(&curvature.sweep.resolvent.scale),
                slopes: slopes.clone(),
                steps,
                residual,
                converged,
            };
            if ended || steps >= self.options.steps || !residual.is_finite() {
                return Ok(Some(finish(at, ended)));
            }
            let is_near = residual < NEAR;
            let aim = match is_near {
                true => (STEP_TOLERANCE * residual).max(1e-10),
                false => FAR_TOLERANCE,
            };
            let whole = || curvature.solve_all(&slope, &at.means, &at.jets, aim);
            let step = match is_near || takes_whole {
                true => whole(),
                false => None,
            };
            let is_whole = step.is_some();
            if let Some(step) = step {
                (q, x) = (step.q, step.x);
            }
            let mut next = self.along(&at, (&q, &x), slack)?;
            if !is_whole && next.as_ref().is_none_or(|(_, part)| *part < SHORT) {
                // Where linearised rows lead nowhere, the whole curvature may.
                let other = match whole() {
                    Some(step) => self.along(&at, (&step.q, &step.x), slack)?,
                    None => None,
                };
                let objective = |found: &Option<(NewtonIterate, f64)>| {
                    let there = found.as_ref().map(|(there, _)| there.objective);
                    there.unwrap_or(f64::NEG_INFINITY)
                };
                if objective(&other) > objective(&next) {
                    next = other;
                }
            }
            let Some((mut next, _)) = next else {
                // What is left to gain is within rounding.
                return Ok(Some(finish(at, residual <= ARRIVED)));
            };
            // Added steps drift away from `m + K b` by rounding: compute the values anew.
            let again = self.at(self.moved(&next.dual), next.dual.clone());
            next = self.met(&next.means, again)?.unwrap_or(next);
            let gain = next.objective - at.objective;
            let is_idle = gain <= IDLE.1 * (1.0 + at.objective.abs());
            idle = if is_idle { idle + 1 } else { 0 };
            at = next;
            steps += 1;
        }
    }

    fn finish(self, found: Found) -> Mode {
        Mode {
            log_evidence: found.at.objective - 0.5 * found.log_det,
            values: found.at.values,
            dual: found.at.dual,
            means: found.at.means,
            jets: found.at.jets,
            steps: found.steps,
            residual: found.residual,
            converged: found.converged,
            jitter: self.jitter,
            covariance: self.k,
            slopes: found.slopes,
            pinned: self.pinned,
        }
    }
}
