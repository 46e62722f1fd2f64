//! Exact rows that a smooth function ties together more tightly than double precision can tell.
//!
//! Ten exact values of a sine under a squared exponential, or five of a line, determine each other
//! to the last digit. Their covariance is then singular to rounding, so that the evidence is rough
//! and hyperparameters cannot be learned. Noise of a variance that is a small share of that of the
//! values makes it smooth again; it is the least of three that does, and it is told.

use super::redundant::Exact;
use super::settings::{FitOptions, Inference};
use super::{Model, Posterior};
use crate::error::{FitError, InputError, plain};
use crate::inference::Factor;
use crate::linalg::Cholesky;

/// Variances of the noise that is tried, as shares of the variance of the values. With the first,
/// rounding moves the evidence of `n` rows by at most `n^2 eps / share`, 2e-4 nats for ten; others
/// follow where functions are still smoother.
const SHARES: [f64; 3] = [1e-10, 1e-8, 1e-6];
/// The same where inference is sparse: its bound counts what inducing points do not say in units of
/// the noise. Gaussian rows only, where rows that are missed by more than their noise are told.
const SHARE_OF_SPARSE: f64 = 1e-6;
/// What is left of the variance of a row beside the other rows, as a share, below which rounding
/// decides: some hundred `eps`.
const LEFT: f64 = 1e-13;
/// The same where the search did not end: rounding moves the evidence by more than a search can
/// pass by.
const ROUGH_FROM: f64 = 1e-9;
/// The most exact rows whose covariance is factorised once more.
const MOST_LOOKED_AT: usize = 2000;

/// What is said where rounding decides and no noise may be added.
const ROUGH: &str = "the rows determine each other to the last digits that double precision has, so that rounding decides";
const HELPS: &str = "a larger noise variance, a smaller variance of the kernel, a shorter lengthscale, or a rougher kernel such as `matern52` helps";

impl Model {
    /// As [`Model::fit_distinct`], with the least noise on exact rows that makes the evidence
    /// smooth.
    pub(super) fn fit_steady(&self, options: &FitOptions) -> Result<Posterior, FitError> {
        if options.inference == Inference::Sparse
            && self.tables.iter().all(|t| t.as_gaussian().is_some())
            && let Some((model, variance)) = self.with_least_noise(SHARE_OF_SPARSE)?
        {
            let mut found = model.fit_distinct(options)?;
            found.summary.warnings.insert(0, told_of_sparse(variance));
            return Ok(found);
        }
        let mut found = self.fit_distinct(options)?;
        // Inducing points have a jitter of their own.
        if found.problem.sparse.is_some() || found.is_steady() {
            return Ok(found);
        }
        let mut quiet = options.clone();
        // What is kept is of the fit above.
        quiet.keeper = None;
        for share in SHARES {
            let Some((model, variance)) = self.with_least_noise(share)? else {
                break;
            };
            let next = match model.fit_distinct(&quiet) {
                Ok(next) => next,
                Err(error) if error.is_recoverable() => continue,
                Err(error) => return Err(error),
            };
            if next.summary.converged && next.is_steady() {
                found = next;
                found.summary.warnings.insert(0, told(variance));
                return Ok(found);
            }
        }
        let warnings = &mut found.summary.warnings;
        let reason = "learning the hyperparameters did not converge";
        if found.summary.converged {
            // Jitter was told.
            if found.summary.jitter == 0.0 {
                warnings.push(format!("{ROUGH} what is inferred: {HELPS}"));
            }
        } else {
            warnings.retain(|w| !w.starts_with(reason));
            warnings.insert(0, format!("{reason}: {ROUGH}: {HELPS}"));
        }
        Ok(found)
    }

    /// The model with noise on its exact rows, and the variance of that noise; `None` where no row
    /// is exact.
    fn with_least_noise(&self, share: f64) -> Result<Option<(Self, f64)>, InputError> {
        let Some(spread) = Exact::new(&self.kernel, &self.tables)?.spread() else {
            return Ok(None);
        };
        let variance = share * spread * spread;
        let mut model = self.clone();
        for table in &mut model.tables {
            table.likelihood.raise_zero_noise(variance);
        }
        Ok((variance > 0.0 && variance.is_finite()).then_some((model, variance)))
    }
}

/// What is told of noise that was added.
fn told(variance: f64) -> String {
    format!(
        "exact rows determine each other to the last digits that double precision has under so smooth a kernel: they were given noise of sd {}; a rougher kernel such as `matern52` may need none, and a `variance` above 0 says it in the study",
        plain(variance.sqrt())
    )
}

fn told_of_sparse(variance: f64) -> String {
    format!(
        "sparse inference weighs rows by their noise, and exact ones have none: they were given noise of sd {}; a `variance` above 0 says it in the study",
        plain(variance.sqrt())
    )
}

impl Posterior {
    /// Whether rounding did not decide.
    fn is_steady(&self) -> bool {
        let left = self.left();
        match self.summary.converged {
            true => left >= LEFT && self.summary.jitter == 0.0,
            // Then there is another reason.
            false => left >= ROUGH_FROM,
        }
    }

    /// The least that is left of the variance of a row beside those before it, as a share; of exact
    /// rows, where others are not Gaussian.
    fn left(&self) -> f64 {
        let Some(component) = self.components.first() else {
            return 1.0;
        };
        if let Factor::Dense(factor) = &component.conditioned.factor {
            return least_left(factor);
        }
        let Ok(exact) = Exact::new(&self.problem.kernel, &self.tables) else {
            return 1.0;
        };
        let is_few = self.problem.pooled.is_none() && exact.supports.len() <= MOST_LOOKED_AT;
        if !is_few || exact.supports.is_empty() || self.problem.is_grid() {
            return 1.0;
        }
        let k = self
            .problem
            .prior_covariance(&component.theta, &exact.supports);
        // Singular to rounding: nothing is left.
        Cholesky::factor_owned(k).map_or(0.0, |factor| least_left(&factor))
    }
}

fn least_left(factor: &Cholesky) -> f64 {
    let lower = factor.lower();
    let share = |row: usize| {
        let all: f64 = (0..=row).map(|k| lower[(row, k)].powi(2)).sum();
        lower[(row, row)].powi(2) / all
    };
    (0..factor.size()).map(share).fold(1.0, f64::min)
}
