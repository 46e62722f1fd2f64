//! The loop that finds the sites.

use rayon::prelude::*;

use super::accelerate::History;
use super::sweep::{Site, Sweep, Term};
use super::{Block, LatentGaussian, Method, Reply, ep, laplace, variational};
use crate::error::{FitError, LinalgError};
use crate::inference::{Conditioned, Factor};
use crate::linalg::{Mat, MatRef};
use crate::parameter;

/// Rows asked by one task.
const ROWS_PER_TASK: usize = 32;
/// Jitters tried in turn, relative to the scaled covariance's unit diagonal.
pub(in crate::inference) const JITTERS: [f64; 5] = [0.0, 1e-12, 1e-10, 1e-8, 1e-6];
/// Sites may be this many times more precise than the prior.
const MOST_PRECISE: f64 = 1e10;
/// Sweeps in a row that come no closer before EP is damped.
const PATIENCE: usize = 3;
/// The smallest part of a step.
const SMALLEST_STEP: f64 = 0.02;

/// How sites are found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SiteOptions {
    /// Which approximation.
    pub method: Method,
    /// Stop when no row's posterior moves by more than this many standard deviations, or than rounding moves it.
    pub tolerance: f64,
    /// Sweeps at most.
    pub sweeps: usize,
    /// Sites to begin with; empty: none.
    pub start: Vec<Site>,
}

impl SiteOptions {
    /// The defaults: to 1e-9 standard deviations, in at most 300 sweeps.
    #[must_use]
    pub fn new(method: Method) -> Self {
        Self {
            method,
            tolerance: 1e-9,
            sweeps: 300,
            start: Vec::new(),
        }
    }
}

/// The sites that were found, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Sites {
    /// One per row; those of Gaussian rows are empty.
    pub sites: Vec<Site>,
    /// Sweeps made.
    pub sweeps: usize,
    /// Largest distance of a row from its fixed point, in posterior standard deviations.
    pub residual: f64,
    /// Whether that is below the tolerance.
    pub converged: bool,
}

/// A prior conditioned on its rows.
pub struct SiteFit {
    /// Which approximation.
    pub method: Method,
    /// The approximation to `log p(y | theta)` in nats, every constant included.
    pub log_evidence: f64,
    /// What was found.
    pub found: Sites,
    pub(super) sweep: Sweep,
    pub(super) covariance: Mat<f64>,
    pub(super) terms: Vec<Term>,
    pub(super) jitter: f64,
}

impl SiteFit {
    /// Posterior means of the rows' latent values.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.sweep.mean
    }

    /// Posterior variances of the rows' latent values.
    #[must_use]
    pub fn variance(&self) -> &[f64] {
        &self.sweep.variance
    }

    /// The fit, unless it did not converge.
    ///
    /// # Errors
    /// [`FitError::NotConverged`].
    pub fn converged(self) -> Result<Self, FitError> {
        if self.found.converged {
            return Ok(self);
        }
        Err(FitError::NotConverged {
            method: self.method.name(),
            sweeps: self.found.sweeps,
            residual: self.found.residual,
        })
    }

    /// What predictions need.
    #[must_use]
    pub fn into_conditioned(self) -> Conditioned {
        Conditioned {
            alpha: self.sweep.alpha,
            factor: Factor::Scaled {
                factor: self.sweep.factor,
                scale: self.sweep.scale,
            },
            log_evidence: self.log_evidence,
            jitter: self.jitter,
        }
    }
}

/// Finds the sites at `theta`.
///
/// All rows are updated at once, EP and variational steps with Anderson's acceleration. A Laplace or variational step is halved while its objective falls; EP has no objective that must
/// rise, its steps shrink when it comes no closer to a fixed point.
///
/// # Arguments
/// * `problem` - prior and rows
/// * `theta` - every hyperparameter, natural units
/// * `options` - which approximation, how accurately
///
/// # Errors
/// [`FitError::Factorisation`] when the covariance is not positive definite even with jitter. Sites that
/// did not converge are no error here: see [`Sites::converged`].
///
/// # Numerics
/// A sweep costs one Cholesky factorisation of size `n`, its inverse, and `n` one-dimensional problems.
pub fn condition_sites(
    problem: &dyn LatentGaussian,
    theta: &[f64],
    options: &SiteOptions,
) -> Result<SiteFit, FitError> {
    let k = problem.covariance(theta);
    let rows = Rows::new(problem, theta);
    let terms = rows.first_terms(options, k.as_ref());
    let mut last = LinalgError::NotPositiveDefinite {
        size: terms.len(),
        pivot: 0,
    };
    for jitter in JITTERS {
        let search = Search {
            k: k.as_ref(),
            prior_mean: problem.prior_mean(),
            rows: &rows,
            options,
            jitter,
        };
        match search.run(terms.clone()) {
            Ok((sweep, terms, found, shares)) => {
                return Ok(SiteFit {
                    method: options.method,
                    log_evidence: sweep.log_evidence(shares),
                    found,
                    sweep,
                    covariance: k,
                    terms,
                    jitter,
                });
            }
            Err(error) => last = error,
        }
    }
    match last {
        LinalgError::NotPositiveDefinite { .. } => {
            let (rows, correlation) = crate::inference::exact::collinear(&k);
            Err(FitError::Factorisation {
                kernel: problem.describe(),
                parameters: parameter::describe(problem.parameters(), theta),
                jitter: JITTERS[JITTERS.len() - 1],
                rows,
                correlation,
            })
        }
        other => Err(other.into()),
    }
}

/// The rows of all blocks at one value of the hyperparameters.
pub(in crate::inference) struct Rows<'a> {
    pub blocks: Vec<(Block<'a>, Vec<f64>)>,
    pub count: usize,
}

impl<'a> Rows<'a> {
    pub fn new(problem: &'a dyn LatentGaussian, theta: &[f64]) -> Self {
        let with_own = |block: Block<'a>| {
            let own = block.own_values(theta);
            (block, own)
        };
        Self {
            blocks: problem.blocks().into_iter().map(with_own).collect(),
            count: problem.prior_mean().len(),
        }
    }

    /// Block, own hyperparameters and row in the block.
    pub fn at(&self, row: usize) -> (&'a dyn crate::likelihood::local::Local, &[f64], usize) {
        let last = self.blocks.partition_point(|(b, _)| b.first <= row);
        let (block, own) = &self.blocks[last.max(1) - 1];
        (block.likelihood, own, row - block.first)
    }

    fn first_terms(&self, options: &SiteOptions, k: MatRef<'_, f64>) -> Vec<Term> {
        let one = |row: usize| {
            let (likelihood, own, at) = self.at(row);
            if let Some((value, variance)) = likelihood.gaussian(own, at) {
                return Term::Gaussian { value, variance };
            }
            if let Some(&site) = options.start.get(row) {
                return Term::Chosen(site);
            }
            // As precise as the prior at a plausible value: Newton's steps from the prior mean may overshoot.
            let precision = k[(row, row)].max(f64::MIN_POSITIVE).recip();
            let shift = precision * likelihood.guess(own, at);
            let usable = precision.is_finite() && shift.is_finite();
            Term::Chosen(if usable {
                Site { precision, shift }
            } else {
                Site::default()
            })
        };
        (0..self.count).map(one).collect()
    }
}

struct Search<'a> {
    k: MatRef<'a, f64>,
    prior_mean: &'a [f64],
    rows: &'a Rows<'a>,
    options: &'a SiteOptions,
    jitter: f64,
}

/// A sweep, the sites it was made with, and what the rows replied.
struct State {
    terms: Vec<Term>,
    sweep: Sweep,
    replies: Vec<Reply>,
    shares: f64,
    residual: f64,
}

impl Search<'_> {
    fn state(&self, terms: Vec<Term>) -> Result<State, LinalgError> {
        let sweep = Sweep::new(self.k, self.prior_mean, &terms, self.jitter)?;
        let ask = |row: usize| self.ask(&sweep, &terms, row);
        let replies: Vec<Reply> = (0..terms.len())
            .into_par_iter()
            .with_min_len(ROWS_PER_TASK)
            .map(ask)
            .collect();
        // Summed in order, so that the result does not depend on the number of threads.
        let shares = replies.iter().map(|r| r.share).sum();
        let worst = |most: f64, r: &Reply| {
            if r.residual.is_nan() {
                f64::INFINITY
            } else {
                most.max(r.residual)
            }
        };
        let residual = replies.iter().fold(0.0, worst);
        Ok(State {
            terms,
            sweep,
            replies,
            shares,
            residual,
        })
    }

    fn ask(&self, sweep: &Sweep, terms: &[Term], row: usize) -> Reply {
        let Term::Chosen(site) = terms[row] else {
            return Reply::default();
        };
        let (likelihood, own, at) = self.rows.at(row);
        let (belief, alpha) = (sweep.belief(row), sweep.alpha[row]);
        if belief.variance == 0.0 {
            // The prior knows the row: nothing can be learned from it.
            return Reply {
                share: likelihood.log_density(own, at, belief.mean).value,
                ..Reply::default()
            };
        }
        let mut reply = match self.options.method {
            Method::Laplace => laplace::reply(likelihood, own, at, belief, alpha),
            Method::Variational => variational::reply(likelihood, own, at, belief, alpha, site),
            Method::Ep => ep::reply(likelihood, own, at, belief, sweep.cavity[row], alpha),
        };
        let most = MOST_PRECISE / self.k[(row, row)].max(f64::MIN_POSITIVE);
        if reply.site.precision > most {
            reply.site.shift *= most / reply.site.precision;
            reply.site.precision = most;
            // Held there, it can only come to rest against itself.
            let moved = (reply.site.shift - site.shift).abs();
            let unit = site.shift.abs().max(most.sqrt());
            let held = site.precision >= (1.0 - 1e-9) * most;
            reply.residual = if held { moved / unit } else { 1.0 };
        }
        reply
    }

    /// Sites and those asked for as numbers of order one: precisions and shifts in units of the prior.
    fn coordinates(&self, state: &State) -> (Vec<f64>, Vec<f64>) {
        let (mut point, mut image) = (Vec::new(), Vec::new());
        for (row, (term, reply)) in state.terms.iter().zip(&state.replies).enumerate() {
            let Term::Chosen(site) = term else { continue };
            let k = self.k[(row, row)];
            for (out, site) in [(&mut point, site), (&mut image, &reply.site)] {
                out.push(site.precision * k);
                out.push(site.shift * k.sqrt());
            }
        }
        (point, image)
    }

    /// The terms at such coordinates.
    fn terms_at(&self, state: &State, x: &[f64]) -> Vec<Term> {
        let mut at = 0;
        let one = |(row, term): (usize, &Term)| match term {
            Term::Chosen(_) => {
                let k = self.k[(row, row)].max(f64::MIN_POSITIVE);
                let site = Site {
                    precision: (x[at] / k).max(0.0),
                    shift: x[at + 1] / k.sqrt(),
                };
                at += 2;
                Term::Chosen(site)
            }
            fixed @ Term::Gaussian { .. } => *fixed,
        };
        state.terms.iter().enumerate().map(one).collect()
    }

    /// What rounding leaves of a residual: it grows with the largest precision in units of the prior.
    fn rounding(&self, state: &State) -> f64 {
        let strength = |(row, term): (usize, &Term)| match term {
            Term::Chosen(site) => site.precision * self.k[(row, row)],
            Term::Gaussian { .. } => 0.0,
        };
        let terms = state.terms.iter().enumerate();
        64.0 * f64::EPSILON * terms.map(strength).fold(0.0, f64::max)
    }

    /// What must not fall: the log density at the mean, or the bound; EP has none.
    fn objective(&self, state: &State) -> Option<f64> {
        match self.options.method {
            Method::Laplace => {
                let at_mean = state.shares + gaussian_at_mean(&state.terms, &state.sweep);
                Some(at_mean - 0.5 * state.sweep.quadratic)
            }
            Method::Variational => Some(state.sweep.log_evidence(state.shares)),
            Method::Ep => None,
        }
    }

    fn run(&self, terms: Vec<Term>) -> Result<(Sweep, Vec<Term>, Sites, f64), LinalgError> {
        let mut state = self.state(terms)?;
        let mut sweeps = 1;
        let mut step = 1.0;
        let mut history = History::default();
        let mut tolerance = self.options.tolerance.max(self.rounding(&state));
        let (mut closest, mut waited) = (state.residual, 0);
        // Newton's steps to a mode need no help.
        let mut may_combine = self.options.method != Method::Laplace;
        while state.residual > tolerance && sweeps < self.options.sweeps {
            let objective = self.objective(&state);
            let combined = if step == 1.0 && may_combine {
                let (point, image) = self.coordinates(&state);
                history.push(point, image);
                history.combined().map(|x| self.terms_at(&state, &x))
            } else {
                None
            };
            may_combine = self.options.method != Method::Laplace;
            let is_combined = combined.is_some();
            let next = self.state(combined.unwrap_or_else(|| stepped(&state, step)))?;
            sweeps += 1;
            let fell = match (objective, self.objective(&next)) {
                // Rounding of a sum of many terms is not a fall.
                (Some(old), Some(new)) => new.is_nan() || new < old - 1e-10 * (1.0 + old.abs()),
                _ => !next.residual.is_finite(),
            };
            if is_combined && (fell || next.residual > state.residual) {
                // Not the place for it: a plain step from here, and a new history.
                history.clear();
                may_combine = false;
                continue;
            }
            if fell && step > SMALLEST_STEP {
                step *= 0.5;
                history.clear();
                continue;
            }
            state = next;
            tolerance = self.options.tolerance.max(self.rounding(&state));
            if self.options.method == Method::Ep {
                if state.residual < 0.9 * closest {
                    (closest, waited) = (state.residual, 0);
                } else {
                    waited += 1;
                    if waited >= PATIENCE {
                        step = (step * 0.6_f64).max(SMALLEST_STEP);
                        (closest, waited) = (state.residual, 0);
                    }
                }
            } else {
                step = (2.0 * step).min(1.0);
            }
        }
        let found = Sites {
            sites: state
                .terms
                .iter()
                .map(|term| match term {
                    Term::Chosen(site) => *site,
                    Term::Gaussian { .. } => Site::default(),
                })
                .collect(),
            sweeps,
            residual: state.residual,
            converged: state.residual <= tolerance,
        };
        Ok((state.sweep, state.terms, found, state.shares))
    }
}

/// Between the sites of a state and those that its rows asked for.
fn stepped(state: &State, step: f64) -> Vec<Term> {
    let between = |(term, reply): (&Term, &Reply)| match term {
        Term::Chosen(site) => {
            let mix = |old: f64, new: f64| old + step * (new - old);
            let next = Site {
                precision: mix(site.precision, reply.site.precision).max(0.0),
                shift: mix(site.shift, reply.site.shift),
            };
            let usable = next.precision.is_finite() && next.shift.is_finite();
            Term::Chosen(if usable { next } else { *site })
        }
        fixed @ Term::Gaussian { .. } => *fixed,
    };
    state
        .terms
        .iter()
        .zip(&state.replies)
        .map(between)
        .collect()
}

/// Log density of the Gaussian rows at the posterior mean, up to a constant.
fn gaussian_at_mean(terms: &[Term], sweep: &Sweep) -> f64 {
    let one = |(term, alpha): (&Term, &f64)| match term {
        Term::Gaussian { variance, .. } => -0.5 * variance * alpha * alpha,
        Term::Chosen(_) => 0.0,
    };
    terms.iter().zip(&sweep.alpha).map(one).sum()
}
