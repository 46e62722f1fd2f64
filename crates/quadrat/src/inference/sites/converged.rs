//! From sites that were found to the posterior, by algebra alone.

use super::LatentGaussian;
use super::options::JITTERS;
use super::process::Process;
use super::resolvent::{Resolvent, Scaled};
use super::site::Term;
use super::sweep::SolvedSweep;
use super::swept::Sweep;
use crate::error::{FitError, LinalgError};
use crate::inference::converged::{Converged, ConvergedSites, SitesOfOne, of_another};
use crate::inference::{Conditioned, Factor};
use crate::linalg::MatRef;

/// What predictions need of one latent function.
///
/// # Arguments
/// * `alpha`, `scaled`, `jitter` - what a sweep with these terms found
pub(super) fn conditioned(
    terms: &[Term],
    (alpha, scaled): (Vec<f64>, Scaled),
    (jitter, log_evidence): (f64, f64),
) -> Conditioned {
    let Scaled { factor, scale } = scaled;
    Conditioned {
        alpha,
        factor: Factor::Scaled { factor, scale },
        log_evidence,
        jitter,
        noise: terms.iter().map(Term::noise).collect(),
        second: None,
        lift: None,
        levels: Vec::new(),
        converged: Converged::Closed,
    }
}

/// The dense factor of sites, with the least jitter that it takes.
pub(super) fn scaled(
    k: MatRef<'_, f64>,
    terms: &[Term],
    least: f64,
) -> Result<Scaled, LinalgError> {
    let mean = vec![0.0; terms.len()];
    let attempts = JITTERS.iter().filter(|jitter| **jitter >= least);
    let mut last = LinalgError::NotPositiveDefinite {
        size: terms.len(),
        pivot: 0,
    };
    for jitter in attempts {
        match SolvedSweep::new(k, &mean, terms, *jitter) {
            Ok(solved) => return Ok(solved.resolvent),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl SitesOfOne {
    /// The terms with which a sweep was made.
    pub(super) fn of(terms: Vec<Term>, sweep: &Sweep) -> Self {
        let alpha = match sweep.resolvent {
            Resolvent::Scaled(_) => Vec::new(),
            Resolvent::LowRank(_) => sweep.alpha.clone(),
        };
        Self { terms, alpha }
    }

    /// Whether it is of these rows, and made of numbers.
    fn fits(&self, process: &Process<'_>) -> bool {
        let is_usable = |term: &Term| match term {
            Term::Gaussian { value, variance } => value.is_finite() && *variance >= 0.0,
            Term::Chosen(site) => {
                site.shift.is_finite() && site.precision.is_finite() && site.precision >= 0.0
            }
        };
        let rows = process.prior_mean.len();
        self.terms.len() == rows
            && self.terms.iter().all(is_usable)
            && (self.alpha.is_empty() || self.alpha.len() == rows)
            && self.alpha.iter().all(|a| a.is_finite())
    }

    /// What a sweep with these terms finds.
    fn solution(
        &self,
        process: &Process<'_>,
        jitter: f64,
    ) -> Result<(Vec<f64>, Scaled), LinalgError> {
        if self.alpha.is_empty() {
            let (solved, _) = SolvedSweep::of(process, &self.terms, jitter)?;
            return Ok((solved.alpha, solved.resolvent));
        }
        // Predictions are at other places, of which the root knows nothing.
        let scaled = scaled(process.k, &self.terms, jitter)?;
        Ok((self.alpha.clone(), scaled))
    }
}

/// What predictions need, of the latent function and of the second one, from the sites that
/// [`converge`](super::converge) found at the same hyperparameters: the same numbers.
///
/// # Errors
/// [`FitError::Linalg`] where a covariance is not positive definite; [`FitError::Input`] where the
/// sites are of other rows.
///
/// # Numerics
/// A covariance and its factor, `O(n^3)`; no row is asked.
pub fn condition_converged(
    problem: &dyn LatentGaussian,
    theta: &[f64],
    found: &ConvergedSites,
) -> Result<Conditioned, FitError> {
    let (k, parts) = problem.parted(theta).whole();
    let first = Process {
        k: k.as_ref(),
        prior_mean: problem.prior_mean(),
        parts: parts.as_ref(),
        root: None,
    };
    let prior = problem.second();
    let of_second = prior.map(|second| second.covariance(theta));
    let second = prior.zip(of_second.as_ref()).map(|(prior, k)| Process {
        k: k.as_ref(),
        prior_mean: prior.prior_mean(),
        parts: None,
        root: None,
    });
    let fits = match (&found.second, &second) {
        (Some(sites), Some(process)) => sites.fits(process),
        (None, None) => true,
        _ => false,
    };
    let is_usable = found.jitter >= 0.0 && found.jitter.is_finite();
    if !fits || !found.first.fits(&first) || !is_usable || !found.log_evidence.is_finite() {
        return Err(of_another());
    }
    let one = |sites: &SitesOfOne, process: &Process<'_>| {
        let solution = sites.solution(process, found.jitter)?;
        let of_fit = (found.jitter, found.log_evidence);
        Ok::<_, LinalgError>(conditioned(&sites.terms, solution, of_fit))
    };
    let mut conditioned = one(&found.first, &first)?;
    if let (Some(sites), Some(process)) = (&found.second, &second) {
        conditioned.second = Some(Box::new(one(sites, process)?));
    }
    conditioned.converged = Converged::Sites(found.clone());
    Ok(conditioned)
}
