//! The loop that finds the sites.

use rayon::prelude::*;

use super::accelerate::History;
use super::pair::{Pair, PairRow};
use super::sweep::{Site, Sweep, Term};
use super::{Block, LatentGaussian, Method, Reply, ep, laplace, variational};
use crate::error::{FitError, LinalgError};
use crate::inference::exact::{ExactRow, contradiction, is_solved};
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
/// The first step of a second attempt.
const CAREFUL: f64 = 0.4;
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
    /// The first step, as a share of that to the sites that rows ask for.
    pub step: f64,
    /// Sites to begin with; empty: none.
    pub start: Vec<Site>,
    /// The same of the second latent function.
    pub start_second: Vec<Site>,
}

impl SiteOptions {
    /// The defaults: to 1e-9 standard deviations, in at most 300 sweeps.
    #[must_use]
    pub fn new(method: Method) -> Self {
        Self {
            method,
            tolerance: 1e-9,
            sweeps: 300,
            step: 1.0,
            start: Vec::new(),
            start_second: Vec::new(),
        }
    }
}

/// The sites that were found, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Sites {
    /// One per row; those of Gaussian rows are empty.
    pub sites: Vec<Site>,
    /// One per row that has a second latent value.
    pub second: Vec<Site>,
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
    pub(super) second: Option<SecondFit>,
}

/// What was found of the second latent function.
pub(super) struct SecondFit {
    pub sweep: Sweep,
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

    /// What predictions need, of the latent function and of the second one.
    #[must_use]
    pub fn into_conditioned(self) -> Conditioned {
        let (log_evidence, jitter) = (self.log_evidence, self.jitter);
        let one = |sweep: Sweep| Conditioned {
            alpha: sweep.alpha,
            factor: Factor::Scaled {
                factor: sweep.factor,
                scale: sweep.scale,
            },
            log_evidence,
            jitter,
            second: None,
        };
        Conditioned {
            second: self.second.map(|second| Box::new(one(second.sweep))),
            ..one(self.sweep)
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
/// [`FitError::Factorisation`] when the covariance is not positive definite even with jitter;
/// [`FitError::Contradiction`] when Gaussian rows without noise cannot all be right. Sites that
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
    let second = problem.second();
    let k_second = second.map(|second| second.covariance(theta));
    let mut processes = vec![Process {
        k: k.as_ref(),
        prior_mean: problem.prior_mean(),
    }];
    if let (Some(second), Some(k)) = (second, &k_second) {
        processes.push(Process {
            k: k.as_ref(),
            prior_mean: second.prior_mean(),
        });
    }
    let terms = rows.first_terms(options, &processes);
    let mut last = LinalgError::NotPositiveDefinite {
        size: rows.count,
        pivot: 0,
    };
    for jitter in JITTERS {
        let search = Search {
            processes: &processes,
            rows: &rows,
            options,
            jitter,
        };
        match search.run(terms.clone()) {
            Ok((mut halves, found, shares)) => {
                let second = (halves.len() > 1).then(|| halves.pop()).flatten();
                let Some(Half { terms, sweep }) = halves.pop() else {
                    break;
                };
                let exact = || exact_rows(k.as_ref(), &sweep, &terms);
                // A factor of a matrix that is singular but for rounding exists, and answers with noise.
                let diagonal = (0..k.nrows()).map(|i| k[(i, i)]);
                if exact().next().is_some() && !is_solved(diagonal, &sweep.alpha) {
                    continue;
                }
                if let Some(error) = contradiction(exact(), || k.clone()) {
                    return Err(error);
                }
                let of_second = second.as_ref().map_or(0.0, |s| s.sweep.log_evidence(0.0));
                return Ok(SiteFit {
                    method: options.method,
                    log_evidence: sweep.log_evidence(shares) + of_second,
                    found,
                    sweep,
                    terms,
                    jitter,
                    second: second.map(|half| SecondFit { sweep: half.sweep }),
                    covariance: k,
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

/// Finds the sites at `theta`, and insists on them: where expectation propagation does not converge from the sites it
/// was given it begins anew, from none and with short steps.
///
/// # Errors
/// As [`condition_sites`]; [`FitError::NotConverged`].
pub fn settle(
    problem: &dyn LatentGaussian,
    theta: &[f64],
    options: &SiteOptions,
) -> Result<SiteFit, FitError> {
    let fit = condition_sites(problem, theta, options)?;
    if fit.found.converged || options.method != Method::Ep {
        return fit.converged();
    }
    let careful = SiteOptions {
        start: Vec::new(),
        start_second: Vec::new(),
        step: CAREFUL,
        ..options.clone()
    };
    condition_sites(problem, theta, &careful)?.converged()
}

/// The Gaussian rows that have no noise to speak of, and how far the posterior mean passes by them.
fn exact_rows<'a>(
    k: MatRef<'a, f64>,
    sweep: &'a Sweep,
    terms: &'a [Term],
) -> impl Iterator<Item = ExactRow> + 'a {
    terms
        .iter()
        .enumerate()
        .filter_map(move |(row, term)| match *term {
            Term::Gaussian { value, variance } if variance < 1e-9 * k[(row, row)] => {
                Some(ExactRow {
                    row,
                    noise: variance,
                    prior: k[(row, row)],
                    misfit: value - sweep.mean[row],
                })
            }
            _ => None,
        })
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

    /// The second latent value of a row, as seen by the row's likelihood; with its index.
    pub(super) fn second(&self, row: usize) -> Option<(PairRow<'_>, usize)> {
        let last = self.blocks.partition_point(|(b, _)| b.first <= row);
        let (block, own) = &self.blocks[last.max(1) - 1];
        let second = block.second?;
        let row = row - block.first;
        let pair = PairRow {
            likelihood: block.likelihood,
            rest: own,
            row,
            link: second.link,
        };
        Some((pair, second.first + row))
    }

    fn first_terms(&self, options: &SiteOptions, processes: &[Process<'_>]) -> Vec<Vec<Term>> {
        let k = processes[0].k;
        let one = |row: usize| {
            let (likelihood, own, at) = self.at(row);
            let pair = self.second(row);
            if pair.is_none()
                && let Some((value, variance)) = likelihood.gaussian(own, at)
            {
                return Term::Gaussian { value, variance };
            }
            if let Some(&site) = options.start.get(row) {
                return Term::Chosen(site);
            }
            // As precise as the prior at a plausible value: Newton's steps from the prior mean may overshoot.
            let precision = k[(row, row)].max(f64::MIN_POSITIVE).recip();
            let guess = match pair {
                None => likelihood.guess(own, at),
                Some((pair, i)) => pair.guess(processes[1].prior_mean[i]),
            };
            let shift = precision * guess;
            let usable = precision.is_finite() && shift.is_finite();
            Term::Chosen(if usable {
                Site { precision, shift }
            } else {
                Site::default()
            })
        };
        let mut terms = vec![(0..self.count).map(one).collect()];
        if let Some(second) = processes.get(1) {
            let start = |i: usize| options.start_second.get(i).copied().unwrap_or_default();
            terms.push(
                (0..second.prior_mean.len())
                    .map(|i| Term::Chosen(start(i)))
                    .collect(),
            );
        }
        terms
    }
}

/// A latent function at its coordinates.
struct Process<'a> {
    k: MatRef<'a, f64>,
    prior_mean: &'a [f64],
}

struct Search<'a> {
    processes: &'a [Process<'a>],
    rows: &'a Rows<'a>,
    options: &'a SiteOptions,
    jitter: f64,
}

/// Of one latent function: the terms, and the sweep that was made with them.
struct Half {
    terms: Vec<Term>,
    sweep: Sweep,
}

/// Sweeps, the sites they were made with, and what the rows replied.
struct State {
    /// The latent function, and the second one where there is one.
    halves: Vec<Half>,
    /// The sites that the rows ask for, in the same order.
    asked: Vec<Vec<Site>>,
    shares: f64,
    residual: f64,
}

impl Search<'_> {
    fn state(&self, terms: Vec<Vec<Term>>) -> Result<State, LinalgError> {
        let half = |(process, terms): (&Process<'_>, Vec<Term>)| {
            let sweep = Sweep::new(process.k, process.prior_mean, &terms, self.jitter)?;
            Ok(Half { terms, sweep })
        };
        let halves = self.processes.iter().zip(terms).map(half);
        let halves = halves.collect::<Result<Vec<Half>, LinalgError>>()?;
        let replies: Vec<(Reply, Option<(usize, Site)>)> = (0..self.rows.count)
            .into_par_iter()
            .with_min_len(ROWS_PER_TASK)
            .map(|row| self.ask(&halves, row))
            .collect();
        // Summed in order, so that the result does not depend on the number of threads.
        let shares = replies.iter().map(|(r, _)| r.share).sum();
        let worst = |most: f64, (r, _): &(Reply, _)| {
            if r.residual.is_nan() {
                f64::INFINITY
            } else {
                most.max(r.residual)
            }
        };
        let residual = replies.iter().fold(0.0, worst);
        let mut asked = vec![replies.iter().map(|(r, _)| r.site).collect::<Vec<Site>>()];
        if let Some(second) = halves.get(1) {
            let mut sites = vec![Site::default(); second.terms.len()];
            for (i, site) in replies.iter().filter_map(|(_, second)| *second) {
                sites[i] = site;
            }
            asked.push(sites);
        }
        Ok(State {
            halves,
            asked,
            shares,
            residual,
        })
    }

    fn ask(&self, halves: &[Half], row: usize) -> (Reply, Option<(usize, Site)>) {
        let Half { terms, sweep } = &halves[0];
        let Term::Chosen(site) = terms[row] else {
            return (Reply::default(), None);
        };
        let (belief, alpha) = (sweep.belief(row), sweep.alpha[row]);
        if let (Some((pair, i)), Some(second)) = (self.rows.second(row), halves.get(1)) {
            let Term::Chosen(of_second) = second.terms[i] else {
                return (Reply::default(), None);
            };
            let (mut reply, asked) = pair.reply(
                self.options.method,
                Pair {
                    f: belief,
                    g: second.sweep.belief(i),
                },
                Pair {
                    f: sweep.cavity[row],
                    g: second.sweep.cavity[i],
                },
                Pair {
                    f: alpha,
                    g: second.sweep.alpha[i],
                },
                Pair {
                    f: site,
                    g: of_second,
                },
            );
            self.hold(row, site, &mut reply);
            return (reply, Some((i, asked)));
        }
        let (likelihood, own, at) = self.rows.at(row);
        if belief.variance == 0.0 {
            // The prior knows the row: nothing can be learned from it.
            let reply = Reply {
                share: likelihood.log_density(own, at, belief.mean).value,
                ..Reply::default()
            };
            return (reply, None);
        }
        let mut reply = match self.options.method {
            Method::Laplace => laplace::reply(likelihood, own, at, belief, alpha),
            Method::Variational => variational::reply(likelihood, own, at, belief, alpha, site),
            Method::Ep => ep::reply(likelihood, own, at, belief, sweep.cavity[row], alpha),
        };
        self.hold(row, site, &mut reply);
        (reply, None)
    }

    /// Keeps a site from becoming too precise for the arithmetic.
    fn hold(&self, row: usize, site: Site, reply: &mut Reply) {
        let most = MOST_PRECISE / self.processes[0].k[(row, row)].max(f64::MIN_POSITIVE);
        if reply.site.precision > most {
            reply.site.shift *= most / reply.site.precision;
            reply.site.precision = most;
            // Held there, it can only come to rest against itself.
            let moved = (reply.site.shift - site.shift).abs();
            let unit = site.shift.abs().max(most.sqrt());
            let held = site.precision >= (1.0 - 1e-9) * most;
            reply.residual = if held { moved / unit } else { 1.0 };
        }
    }

    /// Sites and those asked for as numbers of order one: precisions and shifts in units of the prior.
    fn coordinates(&self, state: &State) -> (Vec<f64>, Vec<f64>) {
        let (mut point, mut image) = (Vec::new(), Vec::new());
        for ((half, asked), process) in state.halves.iter().zip(&state.asked).zip(self.processes) {
            for (i, (term, asked)) in half.terms.iter().zip(asked).enumerate() {
                let Term::Chosen(site) = term else { continue };
                let k = process.k[(i, i)];
                for (out, site) in [(&mut point, site), (&mut image, asked)] {
                    out.push(site.precision * k);
                    out.push(site.shift * k.sqrt());
                }
            }
        }
        (point, image)
    }

    /// The terms at such coordinates.
    fn terms_at(&self, state: &State, x: &[f64]) -> Vec<Vec<Term>> {
        let mut at = 0;
        let halves = state.halves.iter().zip(self.processes);
        let mut half = |(half, process): (&Half, &Process<'_>)| {
            let one = |(i, term): (usize, &Term)| match term {
                Term::Chosen(_) => {
                    let k = process.k[(i, i)].max(f64::MIN_POSITIVE);
                    let site = Site {
                        precision: (x[at] / k).max(0.0),
                        shift: x[at + 1] / k.sqrt(),
                    };
                    at += 2;
                    Term::Chosen(site)
                }
                fixed @ Term::Gaussian { .. } => *fixed,
            };
            half.terms.iter().enumerate().map(one).collect()
        };
        halves.map(&mut half).collect()
    }

    /// What rounding leaves of a residual: it grows with the largest precision in units of the prior.
    fn rounding(&self, state: &State) -> f64 {
        let halves = state.halves.iter().zip(self.processes);
        let strengths = halves.flat_map(|(half, process)| {
            let strength = |(i, term): (usize, &Term)| match term {
                Term::Chosen(site) => site.precision * process.k[(i, i)],
                Term::Gaussian { .. } => 0.0,
            };
            half.terms.iter().enumerate().map(strength)
        });
        64.0 * f64::EPSILON * strengths.fold(0.0, f64::max)
    }

    /// What must not fall: the log density at the mean, or the bound; EP has none.
    fn objective(&self, state: &State) -> Option<f64> {
        let Half { terms, sweep } = state.halves.first()?;
        let of_second = |second: &Half| second.sweep.log_evidence(0.0);
        match self.options.method {
            Method::Laplace => {
                let at_mean = state.shares + gaussian_at_mean(terms, sweep);
                Some(at_mean - 0.5 * sweep.quadratic)
            }
            Method::Variational => {
                let second = state.halves.get(1).map_or(0.0, of_second);
                Some(sweep.log_evidence(state.shares) + second)
            }
            Method::Ep => None,
        }
    }

    fn run(&self, terms: Vec<Vec<Term>>) -> Result<(Vec<Half>, Sites, f64), LinalgError> {
        let mut state = self.state(terms)?;
        let mut sweeps = 1;
        let mut step = self.options.step;
        let mut history = History::default();
        let mut tolerance = self.options.tolerance.max(self.rounding(&state));
        let (mut closest, mut waited) = (state.residual, 0);
        // Newton's steps to a mode need no help.
        let mut may_combine = self.options.method != Method::Laplace;
        while state.residual > tolerance && sweeps < self.options.sweeps {
            let objective = self.objective(&state);
            let combined = if step == self.options.step && may_combine {
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
        let sites = |half: &Half| -> Vec<Site> {
            let site = |term: &Term| match term {
                Term::Chosen(site) => *site,
                Term::Gaussian { .. } => Site::default(),
            };
            half.terms.iter().map(site).collect()
        };
        let found = Sites {
            sites: sites(&state.halves[0]),
            second: state.halves.get(1).map(sites).unwrap_or_default(),
            sweeps,
            residual: state.residual,
            converged: state.residual <= tolerance,
        };
        Ok((state.halves, found, state.shares))
    }
}

/// Between the sites of a state and those that its rows asked for.
fn stepped(state: &State, step: f64) -> Vec<Vec<Term>> {
    let between = |(term, asked): (&Term, &Site)| match term {
        Term::Chosen(site) => {
            let mix = |old: f64, new: f64| old + step * (new - old);
            let next = Site {
                precision: mix(site.precision, asked.precision).max(0.0),
                shift: mix(site.shift, asked.shift),
            };
            let usable = next.precision.is_finite() && next.shift.is_finite();
            Term::Chosen(if usable { next } else { *site })
        }
        fixed @ Term::Gaussian { .. } => *fixed,
    };
    let halves = state.halves.iter().zip(&state.asked);
    halves
        .map(|(half, asked)| half.terms.iter().zip(asked).map(between).collect())
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
