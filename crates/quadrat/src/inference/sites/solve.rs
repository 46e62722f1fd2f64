//! A prior conditioned on rows of any likelihood.

use super::converged::{conditioned, scaled};
use super::options::{JITTERS, SiteOptions, Sites};
use super::process::Process;
use super::resolvent::Resolvent;
use super::rows::Rows;
use super::search::{Half, Ran, Search};
use super::site::Term;
use super::swept::Sweep;
use super::{LatentGaussian, Method, reduce};
use crate::error::{FitError, LinalgError};
use crate::inference::Conditioned;
use crate::inference::converged::{Converged, ConvergedSites, SitesOfOne};
use crate::inference::exact_rows::{ExactRow, contradiction, is_solved};
use crate::inference::rank::root;
use crate::linalg::{Mat, MatRef};
use crate::parameter;

/// The first step of a second attempt.
const CAREFUL: f64 = 0.4;

/// The second function is adrift where its mean is this many prior standard deviations from its
/// prior mean, or units of `g` where a standard deviation is below one: no noise is `e^100` times
/// another.
const ADRIFT: f64 = 100.0;
/// A precision that may stand for zero, in units of the posterior.
const HELD: f64 = 1e-6;
/// A residual with which a fit may be used when all sweeps are done.
const ENOUGH: f64 = 1e-6;

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
    /// Of the second latent function.
    pub(super) second_covariance: Option<Mat<f64>>,
    pub(super) terms: Vec<Term>,
    pub(super) jitter: f64,
    /// That of the options, and whether they ask for no more than a few nodes.
    pub(super) tolerance: f64,
    pub(super) is_coarse: bool,
    /// Of the second latent function.
    pub(super) second: Option<Sweep>,
    /// Of both functions, by how much variational precisions exceed those that rows ask for; empty
    /// where none asks for less than zero.
    pub(super) excess: [Vec<f64>; 2],
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

    /// Whether some site may be held at a precision of zero, which a likelihood that is not
    /// log-concave asks to fall below; steps that were shortened end beside it.
    pub(super) fn is_held(&self) -> bool {
        let first = self.found.sites.iter().zip(&self.sweep.variance);
        let second = self.second.iter().flat_map(|sweep| &sweep.variance);
        let mut all = first.chain(self.found.second.iter().zip(second));
        all.any(|(site, v)| site.precision * v <= HELD && site.shift != 0.0)
    }

    /// Whether the second function has gone where its prior cannot be: expectation propagation
    /// knows points of rest there, with evidences that are none.
    pub(crate) fn is_adrift(&self, problem: &dyn LatentGaussian) -> bool {
        let (Some(prior), Some(sweep), Some(k)) =
            (problem.second(), &self.second, &self.second_covariance)
        else {
            return false;
        };
        let pairs = sweep.mean.iter().zip(prior.prior_mean());
        let mut away = pairs.map(|(mean, prior)| (mean - prior).abs()).enumerate();
        away.any(|(i, away)| away > ADRIFT * k[(i, i)].sqrt().max(1.0))
    }

    /// The fit, unless it did not converge: not even to a millionth of a posterior standard
    /// deviation, on which no digit that anybody reads depends.
    ///
    /// # Errors
    /// [`FitError::NotConverged`].
    pub fn converged(self) -> Result<Self, FitError> {
        if self.found.converged || self.found.residual <= ENOUGH {
            return Ok(self);
        }
        Err(FitError::NotConverged {
            method: self.method.name(),
            sweeps: self.found.sweeps,
            residual: self.found.residual,
        })
    }

    /// What predictions need, of the latent function and of the second one.
    ///
    /// # Errors
    /// [`FitError::Linalg`] when a covariance with its sites is not positive definite even with
    /// jitter.
    pub fn into_conditioned(self) -> Result<Conditioned, FitError> {
        let of_fit = (self.jitter, self.log_evidence);
        let chosen = self.found.second.iter().copied().map(Term::Chosen);
        let of_second: Vec<Term> = chosen.collect();
        let second = self.second.as_ref();
        let sites = ConvergedSites {
            first: SitesOfOne::of(self.terms.clone(), &self.sweep),
            second: second.map(|sweep| SitesOfOne::of(of_second.clone(), sweep)),
            jitter: self.jitter,
            log_evidence: self.log_evidence,
        };
        let one = |sweep: Sweep, k: &Mat<f64>, terms: &[Term]| {
            let factor = match sweep.resolvent {
                Resolvent::Scaled(scaled) => scaled,
                // Predictions are at other places, of which the root knows nothing.
                Resolvent::LowRank(_) => scaled(k.as_ref(), terms, self.jitter)?,
            };
            Ok::<_, LinalgError>(conditioned(terms, (sweep.alpha, factor), of_fit))
        };
        let mut conditioned = one(self.sweep, &self.covariance, &self.terms)?;
        if let (Some(sweep), Some(k)) = (self.second, &self.second_covariance) {
            conditioned.second = Some(Box::new(one(sweep, k, &of_second)?));
        }
        conditioned.converged = Converged::Sites(sites);
        Ok(conditioned)
    }
}

/// Finds the sites at `theta`.
///
/// All rows are updated at once, EP and variational steps with Anderson's acceleration. A Laplace
/// or variational step is halved while its objective falls; EP has no objective that must rise, its
/// steps shrink when it comes no closer to a fixed point.
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
/// A sweep costs one Cholesky factorisation of size `n`, its inverse, and `n` one-dimensional
/// problems; where the covariance is of a rank `r` far below `n`, two products of `n r^2` in place
/// of the former (`low_rank.rs`).
pub fn condition_sites(
    problem: &dyn LatentGaussian,
    theta: &[f64],
    options: &SiteOptions,
) -> Result<SiteFit, FitError> {
    let mut rows = Rows::new(problem, theta);
    rows.is_coarse = options.is_coarse;
    let second = problem.second();
    let of_first = || {
        let (k, parts) = problem.parted(theta).whole();
        let root = root(k.as_ref());
        (k, root, parts)
    };
    let of_second = || {
        let k = second?.covariance(theta);
        let root = root(k.as_ref());
        Some((k, root))
    };
    let ((k, root, parts), of_second) = rayon::join(of_first, of_second);
    let (k_second, root_second) = of_second.unzip();
    let root_second = root_second.flatten();
    let mut processes = vec![Process {
        k: k.as_ref(),
        prior_mean: problem.prior_mean(),
        parts: parts.as_ref(),
        root: root.as_ref().map(Mat::as_ref),
    }];
    if let (Some(second), Some(k)) = (second, &k_second) {
        processes.push(Process {
            k: k.as_ref(),
            prior_mean: second.prior_mean(),
            parts: None,
            root: root_second.as_ref().map(Mat::as_ref),
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
        let mut terms = terms.clone();
        if let [process] = processes.as_slice() {
            reduce::ahead(process, &rows, options, jitter, &mut terms[0]);
        }
        match search.run(terms) {
            Ok(Ran {
                mut halves,
                found,
                shares,
            }) => {
                let Half {
                    terms,
                    sweep,
                    excess,
                } = halves.remove(0);
                let of_second = halves.pop().map(|half| (half.sweep, half.excess));
                let (second, second_excess) = of_second.unzip();
                let exact = || exact_rows(k.as_ref(), &sweep, &terms);
                if exact().next().is_some() && !solves(k.as_ref(), problem.prior_mean(), &sweep) {
                    continue;
                }
                if let Some(error) = contradiction(exact(), || k.clone()) {
                    return Err(error);
                }
                let of_second = second.as_ref().map_or(0.0, |sweep| sweep.log_evidence(0.0));
                return Ok(SiteFit {
                    method: options.method,
                    log_evidence: sweep.log_evidence(shares) + of_second + rows.gaussian_rest(),
                    found,
                    sweep,
                    terms,
                    jitter,
                    tolerance: options.tolerance,
                    is_coarse: options.is_coarse,
                    second,
                    excess: [excess, second_excess.unwrap_or_default()],
                    covariance: k,
                    second_covariance: k_second,
                });
            }
            Err(error) => last = error,
        }
    }
    match last {
        LinalgError::NotPositiveDefinite { .. } => {
            let (rows, correlation) = crate::inference::exact_rows::collinear(&k);
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

/// Finds the sites at `theta`, and insists on them: where expectation propagation does not converge
/// from the sites it was given, or to where nothing is meant, it begins anew, from none and with
/// short steps.
///
/// # Errors
/// As [`condition_sites`]; [`FitError::NotConverged`].
pub fn converge(
    problem: &dyn LatentGaussian,
    theta: &[f64],
    options: &SiteOptions,
) -> Result<SiteFit, FitError> {
    let fit = condition_sites(problem, theta, options)?;
    if options.method != Method::Ep || (fit.found.converged && !fit.is_adrift(problem)) {
        return fit.converged();
    }
    let careful = SiteOptions {
        start: Vec::new(),
        start_second: Vec::new(),
        step: CAREFUL,
        ..options.clone()
    };
    let fit = condition_sites(problem, theta, &careful)?;
    if fit.is_adrift(problem) {
        return Err(FitError::NotConverged {
            method: fit.method.name(),
            sweeps: fit.found.sweeps,
            residual: f64::INFINITY,
        });
    }
    fit.converged()
}

/// Whether `alpha` is what it should be: a factor of a matrix that is singular but for rounding
/// exists, and answers with noise.
fn solves(k: MatRef<'_, f64>, prior_mean: &[f64], sweep: &Sweep) -> bool {
    let moved = sweep.mean.iter().zip(prior_mean);
    let moved: Vec<f64> = moved.map(|(mean, prior)| mean - prior).collect();
    is_solved((0..k.nrows()).map(|i| k[(i, i)]), &sweep.alpha, &moved)
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
