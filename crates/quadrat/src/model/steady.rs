//! Exact rows that a smooth function ties together more tightly than double precision can tell.
//!
//! Ten exact values of a sine under a squared exponential, or five of a line, determine each other
//! to the last digit. Their covariance is then singular to rounding, so that the evidence is rough
//! and hyperparameters cannot be learned. Noise of a variance that is a small share of that of the
//! values makes it smooth again; it is the least of three that does, and it is told.

use super::Model;
use super::redundant::ExactRows;
use crate::error::{FitError, InputError, plain};
use crate::inference::exact_rows::{ExactRow, contradiction};
use crate::inference::{Conditioned, Factor, RowFactor};
use crate::kernel::{Kernel, Kind, Role};
use crate::linalg::Cholesky;
use crate::posterior::component::Component;
use crate::posterior::mixture::Posterior;
use crate::problem::settings::{FitOptions, Hyperparameters, Inference, Setting};

/// Variances of the noise that is tried, as shares of the variance of the values, to the nearest
/// power of ten. With the first, rounding moves the evidence of `n` rows by at most `n^2 eps /
/// share`, 2e-4 nats for ten; others follow where functions are still smoother.
const SHARES: [f64; 3] = [1e-10, 1e-8, 1e-6];
/// The same where exact rows contradict each other before hyperparameters are known, in turn.
const LOOSE: [f64; 5] = [1e-2, 1e-4, 1e-6, 1e-8, 1e-10];
/// The same where inference is sparse: its bound counts what inducing points do not say in units of
/// the noise. Gaussian rows only, where rows that are missed by more than their noise are told.
const SHARE_OF_SPARSE: f64 = 1e-6;
/// And least of all known noise: inducing points have a jitter of a hundredth of this, which is so
/// much more noise.
const LITTLE_OF_SPARSE: f64 = 1e-8;
/// What is left of the variance of a row beside the other rows, as a share, below which rounding
/// decides: some hundred `eps`.
const LEFT: f64 = 1e-13;
/// The same where the search did not end: rounding moves the evidence, and its slopes, by more than
/// a search can pass by. Seven exact values of a parabola stop one where 1e-8 is left.
const ROUGH_FROM: f64 = 1e-6;
/// In sds of noise that a row was given for the search: a row missed by more is contradicted.
const MISSED: f64 = 10.0;
/// The most exact rows whose covariance is factorised once more.
const MOST_LOOKED_AT: usize = 2000;

/// What is said where rounding decides and no noise may be added.
const ROUGH: &str = "the rows determine each other to the last digits that double precision has, so that rounding decides";
const HELPS: &str =
    "a larger noise variance, a smaller variance of the kernel, or a shorter lengthscale";

/// Which rows are given noise.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Raised {
    /// Those without any.
    Exact,
    /// Those with less, too.
    Less,
}

impl Model {
    /// As [`Model::fit_distinct`], with the least noise on exact rows that makes the evidence
    /// smooth.
    pub(super) fn fit_steady(&self, options: &FitOptions) -> Result<Posterior, FitError> {
        let is_normal = self.tables.iter().all(|t| t.as_gaussian().is_some());
        if options.inference == Inference::Sparse && is_normal {
            return self.fit_steady_sparse(options);
        }
        if let Some(model) = self.near_cycles(options)? {
            let near = FitOptions {
                starts: 1,
                ..options.clone()
            };
            return model.fit_steadily(&near);
        }
        self.fit_steadily(options)
    }

    fn fit_steadily(&self, options: &FitOptions) -> Result<Posterior, FitError> {
        let mut found = match self.fit_distinct(options) {
            Ok(found) => found,
            Err(error @ (FitError::Contradiction { .. } | FitError::Factorisation { .. })) => {
                return self.fit_loosely(options, error);
            }
            Err(error) => return Err(error),
        };
        // Inducing points have a jitter of their own.
        if found.problem.sparse().is_some() || found.is_steady() {
            return Ok(found);
        }
        let mut quiet = options.clone();
        // What is kept is of the fit above.
        quiet.keeper = None;
        for share in SHARES {
            let Some((model, variance)) = self.with_least_noise(share, Raised::Less)? else {
                break;
            };
            let next = match model.fit_distinct(&quiet) {
                Ok(next) => next,
                Err(error) if error.is_recoverable() => continue,
                Err(error) => return Err(error),
            };
            if next.summary.converged && next.is_steady() {
                found = next;
                found.summary.warnings.insert(0, self.told(variance));
                return Ok(found);
            }
        }
        let warnings = &mut found.summary.warnings;
        let reason = "learning the hyperparameters did not converge";
        if found.summary.converged {
            // Jitter was told.
            if found.summary.jitter == 0.0 {
                warnings.push(format!("{ROUGH} what is inferred: {}", self.helps()));
            }
        } else {
            warnings.retain(|w| !w.starts_with(reason));
            warnings.insert(0, format!("{reason}: {ROUGH}: {}", self.helps()));
        }
        Ok(found)
    }

    /// The same of normal rows where inference is sparse: exact rows are given noise, those of next
    /// to none as much as inducing points can tell, or more where nothing is found without it.
    fn fit_steady_sparse(&self, options: &FitOptions) -> Result<Posterior, FitError> {
        let exact = self.with_least_noise(SHARE_OF_SPARSE, Raised::Exact)?;
        let model = exact.as_ref().map_or(self, |(model, _)| model);
        let little = model.with_least_noise(LITTLE_OF_SPARSE, Raised::Less)?;
        let model = little.as_ref().map_or(model, |(model, _)| model);
        let mut little = little.as_ref().map(|(_, variance)| *variance);
        let mut first = model.fit_distinct(options);
        let is_lost = match &first {
            Ok(found) => !found.summary.converged,
            Err(error) => error.is_recoverable(),
        };
        if is_lost
            && let Some((more, variance)) = model.with_least_noise(SHARE_OF_SPARSE, Raised::Less)?
        {
            let mut quiet = options.clone();
            quiet.keeper = None;
            let next = more.fit_distinct(&quiet);
            if next.as_ref().is_ok_and(|found| found.summary.converged) {
                (first, little) = (next, Some(variance));
            }
        }
        let mut found = first?;
        let told = exact.map(|(_, variance)| told_of_sparse(variance));
        let told = told.into_iter().chain(little.map(told_of_little));
        found.summary.warnings.splice(0..0, told);
        Ok(found)
    }

    /// The model whose search begins where searches with less and less noise on exact rows, and on
    /// those of little noise, lead, where a period is to be learned from them; `None` where there
    /// are no such rows, or no such period. Each of the periods at which these rows nearly agree is
    /// an optimum as narrow as the noise is small, and no search passes from one to another: the
    /// right one is chosen while they are wide.
    fn near_cycles(&self, options: &FitOptions) -> Result<Option<Self>, FitError> {
        if self.with_least_noise(LOOSE[0], Raised::Less)?.is_none() {
            return Ok(None);
        }
        let parameters = self.parameters()?;
        let mut pairs = self.kernel.parameters().iter().zip(&parameters);
        if !pairs.any(|(own, p)| matches!(own.role, Role::Period(_)) && !p.fixed) {
            return Ok(None);
        }
        let mut quick = options.clone().with_hyperparameters(Hyperparameters::Map);
        quick.keeper = None;
        let mut from = None;
        for share in LOOSE {
            let here = from.as_ref().unwrap_or(self);
            let Some((model, _)) = here.with_least_noise(share, Raised::Less)? else {
                break;
            };
            match model.fit_distinct(&quick) {
                // With less noise rounding decides.
                Ok(found) if !found.summary.converged && from.is_some() => break,
                Ok(found) => {
                    from = Some(here.clone().starting_at(&found));
                    quick.starts = 1;
                }
                Err(error) if error.is_recoverable() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(from)
    }

    /// Where exact rows contradict each other wherever the search for hyperparameters begins, as
    /// values under a periodic kernel whose period is not known yet: by searches with less and less
    /// noise on them, each begun where the last one ended, and judged by where they end.
    ///
    /// # Errors
    /// `contradiction` where nothing is learned, or no search ends;
    /// [`FitError::Contradiction`] of the row that is missed most where the last one ends.
    fn fit_loosely(
        &self,
        options: &FitOptions,
        contradiction: FitError,
    ) -> Result<Posterior, FitError> {
        if self.parameters()?.iter().all(|p| p.fixed) {
            return Err(contradiction);
        }
        // What is kept is of the fit that did not begin.
        let mut own = options.clone();
        own.keeper = None;
        let quick = own.clone().with_hyperparameters(Hyperparameters::Map);
        let (mut from, mut last) = (self.clone(), contradiction);
        let (mut least, mut unsettled) = (None, None);
        for share in LOOSE {
            let Some((model, variance)) = from.with_least_noise(share, Raised::Less)? else {
                break;
            };
            let found = match model.fit_distinct(&quick) {
                Ok(found) => found,
                Err(error) if error.is_recoverable() => continue,
                Err(error) => return Err(error),
            };
            from = from.starting_at(&found);
            if share > SHARES[SHARES.len() - 1] {
                continue;
            }
            match found.missed(variance) {
                Some(missed) => last = missed,
                None if found.summary.converged => least = Some((model, variance)),
                None => unsettled = Some((model, variance)),
            }
        }
        // A search that did not end says so itself: its rows do not contradict each other.
        let Some((model, variance)) = least.or(unsettled) else {
            return Err(last);
        };
        let mut found = model.fit_distinct(&own)?;
        found.summary.warnings.insert(0, told_of_search(variance));
        Ok(found)
    }

    /// The model whose searches begin where one ended.
    fn starting_at(mut self, found: &Posterior) -> Self {
        let free = found.problem.parameters().iter().zip(&found.nodes[0].theta);
        for (parameter, value) in free.filter(|(p, _)| !p.fixed) {
            let known = self.settings.iter_mut().find(|(n, _)| *n == parameter.name);
            match known {
                Some((_, setting)) => setting.start = Some(*value),
                None => self = self.set(&parameter.name, Setting::start(*value)),
            }
        }
        self
    }

    /// The model with noise on its exact rows, and where that is asked on those whose known
    /// variance is less, and the variance of that noise; `None` where there is no such row.
    fn with_least_noise(
        &self,
        share: f64,
        raised: Raised,
    ) -> Result<Option<(Self, f64)>, InputError> {
        let Some(spread) = ExactRows::or_known(&self.kernel, &self.tables)?.spread() else {
            return Ok(None);
        };
        let variance = rounded(share * spread * spread);
        let mut model = self.clone();
        let mut is_raised = false;
        for table in &mut model.tables {
            let below = if raised == Raised::Less {
                variance
            } else {
                0.0
            };
            is_raised |= table.likelihood.raise_noise(below, variance);
        }
        let is_number = variance > 0.0 && variance.is_finite();
        Ok((is_raised && is_number).then_some((model, variance)))
    }

    /// What is told of noise that was added.
    fn told(&self, variance: f64) -> String {
        let rougher = rougher(&self.kernel).map(|kind| {
            let name = kind.name();
            format!("a rougher kernel such as `{name}` may need none, and ")
        });
        format!(
            "exact rows determine each other to the last digits that double precision has under so smooth a kernel: they were given noise of sd {}; {}a `variance` above 0 says it in the study",
            plain(variance.sqrt()),
            rougher.unwrap_or_default()
        )
    }

    /// What helps where rounding decides.
    fn helps(&self) -> String {
        match rougher(&self.kernel) {
            Some(kind) => format!(
                "{HELPS}, or a rougher kernel such as `{}` helps",
                kind.name()
            ),
            None => format!("{HELPS} helps"),
        }
    }
}

/// The next rougher kernel than the smoothest of a sum or product; none is rougher than `matern12`.
fn rougher(kernel: &Kernel) -> Option<Kind> {
    let has = |kinds: &[Kind]| {
        kernel
            .leaves()
            .iter()
            .any(|leaf| kinds.contains(&leaf.kind))
    };
    if has(&[Kind::Se, Kind::Rq, Kind::Periodic]) {
        return Some(Kind::Matern52);
    }
    let next = [
        (Kind::Matern52, Kind::Matern32),
        (Kind::Matern32, Kind::Matern12),
    ];
    let next = next.into_iter().find(|(own, _)| has(&[*own]));
    next.map(|(_, rougher)| rougher)
}

/// The nearest power of ten: one more row, which moves the spread a little, does not move the
/// noise.
fn rounded(variance: f64) -> f64 {
    10f64.powf(variance.log10().round())
}

/// What is told of noise without which no search could begin.
fn told_of_search(variance: f64) -> String {
    format!(
        "exact rows contradict each other where the search for the hyperparameters begins: they were given noise of sd {}, within which they agree where it ended; a `start` nearer to that may need none",
        plain(variance.sqrt())
    )
}

fn told_of_sparse(variance: f64) -> String {
    format!(
        "sparse inference weighs rows by their noise, and exact ones have none: they were given noise of sd {}; a `variance` above 0 says it in the study",
        plain(variance.sqrt())
    )
}

/// What is told of noise that rows of next to none were given.
fn told_of_little(variance: f64) -> String {
    format!(
        "some known noise is smaller beside the values than inducing points can tell: it was raised to an sd of {}; a dense `method` takes it as it is",
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

    /// The row that contradicts the others most: the one that was given noise of a variance and is
    /// missed by far more than that.
    fn missed(&self, variance: f64) -> Option<FitError> {
        let component = self.components.first()?;
        let Conditioned { alpha, noise, .. } = &component.conditioned;
        let problem = &self.problem;
        if noise.len() != problem.supports().len() {
            return None;
        }
        // The curve leaves `v_i alpha_i` of a row.
        let rows = (0..noise.len()).filter(|&row| noise[row] == variance);
        let rows = rows.map(|row| ExactRow {
            row,
            noise: 0.0,
            // Rows are judged by the noise alone: a variance that was learned may be anything.
            prior: variance / (MISSED * MISSED),
            misfit: variance * alpha[row],
        });
        let rows = rows.filter(|row| row.misfit.abs() > MISSED * variance.sqrt());
        let k = || {
            problem
                .prior()
                .covariance(&component.theta, problem.supports())
        };
        contradiction(rows, k).map(|error| problem.in_user_rows(error))
    }

    /// The least that is left of the variance of a row beside those before it, as a share; of exact
    /// rows, where others are not Gaussian.
    fn left(&self) -> f64 {
        let Some(component) = self.components.first() else {
            return 1.0;
        };
        match &component.conditioned.factor {
            Factor::Rows(factor) => return self.left_by(component, factor),
            Factor::Basis(basis) => return self.left_by(component, basis.factor()),
            Factor::Kronecker(_) => return 1.0,
            _ => {}
        }
        let Ok(exact) = ExactRows::new(self.problem.kernel(), &self.tables) else {
            return 1.0;
        };
        let is_few = self.problem.pooled().is_none() && exact.supports.len() <= MOST_LOOKED_AT;
        if !is_few || exact.supports.is_empty() {
            return 1.0;
        }
        let k = self
            .problem
            .prior()
            .covariance(&component.theta, &exact.supports);
        // Singular to rounding: nothing is left.
        Cholesky::factor_owned(k).map_or(0.0, |factor| least_left(&factor))
    }

    /// The same of rows that were conditioned on by this factor.
    fn left_by(&self, component: &Component, factor: &RowFactor) -> f64 {
        match factor {
            RowFactor::Dense(factor) => least_left(factor),
            RowFactor::Line(factor) => {
                let prior = self.problem.prior();
                let rows = prior.variance_apart(&component.theta, self.problem.supports());
                let noise = &component.conditioned.noise;
                let whole: Vec<f64> = rows.iter().zip(noise).map(|(v, n)| v + n).collect();
                factor.least_left(&whole)
            }
        }
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
