//! The fit beside draws from the posterior that it approximates.

use std::time::Instant;

use serde::Serialize;

use super::Model;
use crate::error::{FitError, InputError};
use crate::inference::mcmc::{self, Marginal, McmcOptions, sample, sample_pooled};
use crate::inference::sites::LatentGaussian;
use crate::link::Link;
use crate::parameter::{Parameter, Transform};
use crate::posterior::mixture::Posterior;
use crate::posterior::prediction::Prediction;
use crate::problem::assembly::Problem;
use crate::problem::scale::Scale;
use crate::problem::settings::Inference;
use crate::progress::Progress;

/// R-hat above which chains disagree (Vehtari et al. 2021).
const R_HAT: f64 = 1.01;
/// Effective sample size below which means, sds and R-hat themselves are not known well (Vehtari et
/// al. 2021).
const EFFECTIVE: f64 = 400.0;
/// Means that are farther apart than this, in sds, are told.
const APART: f64 = 0.5;
/// Sds that differ by more than this factor are told.
const RATIO: f64 = 1.5;
/// Half the width of a 95 % interval of a normal distribution, in sds.
const HALF_95: f64 = 1.959_963_984_540_054;

/// Mean and spread of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

/// The latent value of one row, by the fit and by sampling.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RowCheck {
    /// By the fit, hyperparameters integrated where the fit does.
    pub fit: Spread,
    /// By sampling.
    pub sampled: Spread,
    /// Rank-normalised split R-hat.
    pub r_hat: f64,
    /// Effective sample size.
    pub effective_size: f64,
}

impl RowCheck {
    /// By how many of its sampled sds the mean of the fit is off.
    #[must_use]
    pub fn mean_difference(&self) -> f64 {
        (self.fit.mean - self.sampled.mean) / self.sampled.sd
    }

    /// The sd of the fit over the sampled sd.
    #[must_use]
    pub fn sd_ratio(&self) -> f64 {
        self.fit.sd / self.sampled.sd
    }
}

/// One free hyperparameter, by the fit and by sampling.
///
/// Means and sds are those of its logarithm where it is positive, since that is where its posterior
/// is nearly symmetric; intervals are in its own unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HyperCheck {
    /// Its public name.
    pub name: String,
    /// Whether means and sds are those of its logarithm.
    pub logarithm: bool,
    /// Its most probable value, in its own unit.
    pub map: f64,
    /// By the fit: over the nodes where hyperparameters are integrated, else the normal
    /// approximation; an sd of NaN where the fit has no interval.
    pub fit: Spread,
    /// Central 95 % interval by the fit, in its own unit; NaN where it has none.
    pub fit_interval: (f64, f64),
    /// By sampling.
    pub sampled: Spread,
    /// Central 95 % interval by sampling, in its own unit.
    pub sampled_interval: (f64, f64),
    /// Rank-normalised split R-hat.
    pub r_hat: f64,
    /// Effective sample size.
    pub effective_size: f64,
}

/// What a check by sampling found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct McmcReport {
    /// Chains.
    pub chains: usize,
    /// Draws kept, over all chains.
    pub draws: usize,
    /// Divergent trajectories among them.
    pub divergences: usize,
    /// Evaluations of the gradient, warm-up included.
    pub gradients: u64,
    /// Wall-clock time.
    pub seconds: f64,
    /// The free hyperparameters, in the order of the model. The unknown constant mean is not among
    /// them: both methods integrate it with the latent function.
    pub hyperparameters: Vec<HyperCheck>,
    /// The latent values, in the order of the tables; of a sum after a link over several places,
    /// that of its average: the logarithm of the mean rate for the `exp` link, its positive root
    /// for the `square` link. Of these the fit tells the normal distribution that has the mean and
    /// variance of the sum after the link: where they differ from the draws, that may be the
    /// summary and not the posterior (by .3 sd for 50 values of variance 4 that are independent).
    pub rows: Vec<RowCheck>,
    /// The second latent values ([`Model::vary`](super::Model::vary)): those of noise variances,
    /// then those of dispersions, each in the order of the tables that have one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub varying: Vec<RowCheck>,
}

impl McmcReport {
    /// Largest R-hat of any quantity.
    #[must_use]
    pub fn worst_r_hat(&self) -> f64 {
        let all = self.quantities().map(|(r_hat, _)| r_hat);
        all.fold(0.0, |worst, r| if r.is_nan() { r } else { r.max(worst) })
    }

    /// Smallest effective sample size of any quantity.
    #[must_use]
    pub fn smallest_effective_size(&self) -> f64 {
        let all = self.quantities().map(|(_, size)| size);
        all.fold(
            f64::INFINITY,
            |least, n| {
                if n.is_nan() { n } else { n.min(least) }
            },
        )
    }

    /// Per row, by how many of its sampled sds the mean of the fit is off.
    #[must_use]
    pub fn mean_differences(&self) -> Vec<f64> {
        self.rows.iter().map(RowCheck::mean_difference).collect()
    }

    /// Per row, the sd of the fit over the sampled sd.
    #[must_use]
    pub fn sd_ratios(&self) -> Vec<f64> {
        self.rows.iter().map(RowCheck::sd_ratio).collect()
    }

    /// Where the fit is wrong by the draws, as far as these can be trusted; and why they cannot, if
    /// so: chains that disagree, few effective draws, divergences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut out = Vec::new();
        let (r_hat, size) = (self.worst_r_hat(), self.smallest_effective_size());
        if r_hat.is_nan() || r_hat > R_HAT {
            out.push(format!(
                "the chains of the check do not agree (R-hat up to {r_hat:.3}, above {R_HAT}): take more draws (`--draws`) before judging the fit by them"
            ));
        }
        if size.is_nan() || size < EFFECTIVE {
            out.push(format!(
                "the check has few effective draws (down to {size:.0}, below {EFFECTIVE:.0}): its own means and sds are rough; take more draws (`--draws`)"
            ));
        }
        let is_known = r_hat <= R_HAT && size >= EFFECTIVE;
        let apart = |row: &&RowCheck| {
            row.mean_difference().abs() > APART || row.sd_ratio().ln().abs() > RATIO.ln()
        };
        let rows = self.rows.iter().filter(apart).count();
        if is_known && rows > 0 {
            out.push(format!(
                "by the check the fit is wrong at {rows} of {} rows (means more than {APART} sd apart, or sds by more than a factor of {RATIO}): trust the draws, and see `mcmc` in fit.json for which rows these are",
                self.rows.len()
            ));
        }
        if self.divergences > 0 {
            out.push(format!(
                "{} of {} trajectories of the check diverged: it may have missed a part of the posterior; bounds or narrower priors for the hyperparameters help",
                self.divergences, self.draws
            ));
        }
        out
    }

    /// R-hat and effective sample size of everything.
    fn quantities(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let hypers = self.hyperparameters.iter();
        let rows = self.rows.iter().chain(&self.varying);
        hypers
            .map(|h| (h.r_hat, h.effective_size))
            .chain(rows.map(|r| (r.r_hat, r.effective_size)))
    }
}

/// Most points of bags in rows that add them up: every evaluation compares every pair.
const MAX_ATOMS: usize = 4000;

/// The rows in table order as a sampler sees them.
fn latent(problem: &Problem) -> Result<&dyn LatentGaussian, InputError> {
    problem.engine().latent().ok_or(InputError::Unavailable {
        what: "sampling the posterior of sparse inference",
        remedy: "sample the rows without inducing points",
    })
}

/// Refuses what [`Posterior::check_by_mcmc`] cannot sample.
fn check(problem: &Problem, theta: &[f64]) -> Result<(), InputError> {
    if let Some(got) = problem.pooled().and_then(|pooled| pooled.demand) {
        return Err(InputError::TooManyToSample {
            what: mcmc::PLACES,
            got,
            limit: mcmc::MAX_LATENTS,
        });
    }
    problem.engine().check_size()?;
    let atoms = problem.supports().atom_count();
    if atoms > MAX_ATOMS {
        return Err(InputError::TooManyToSample {
            what: "points, boxes and regions in all rows",
            got: atoms,
            limit: MAX_ATOMS,
        });
    }
    let pools = problem.pooled().map(|pooled| &pooled.pools);
    mcmc::check(latent(problem)?, pools, theta)
}

impl Model {
    /// Refuses, before any fit, what [`Posterior::check_by_mcmc`] would refuse after it.
    ///
    /// # Errors
    /// As there, and as [`Model::fit`] for input that it refuses.
    pub fn check_can_be_sampled(&self) -> Result<(), InputError> {
        let rows = self.tables.iter().map(|t| t.supports.len()).sum();
        if rows > mcmc::MAX_LATENTS {
            return Err(InputError::TooManyToSample {
                what: "rows",
                got: rows,
                limit: mcmc::MAX_LATENTS,
            });
        }
        let problem = self.problem(Inference::Auto, None)?;
        let problem = problem.in_table_order(&self.tables)?;
        let starts: Vec<f64> = problem.parameters().iter().map(|p| p.start).collect();
        check(&problem, &starts)
    }
}

impl Posterior {
    /// Draws from the posterior itself, by the no-U-turn sampler, and sets the fit beside it.
    ///
    /// The priors and bounds of the hyperparameters are those of the fit; the free ones are sampled
    /// together with the latent values of all rows, also where every row is Gaussian. Where the
    /// noise variance or dispersion is a function, so are its values, without the independence of
    /// the two functions that the fit assumes. Of sums after a link, the values at all nodes are
    /// sampled. What stands beside sparse inference are draws from the posterior of all rows,
    /// without inducing points.
    ///
    /// # Arguments
    /// * `options` - chains, draws and seed
    /// * `progress` - told of every draw
    ///
    /// # Errors
    /// [`InputError::TooManyToSample`] for more than 1,000 rows or nodes within rows, or 4,000
    /// points of bags whose values are added up; [`InputError::Range`] for a Gaussian row without
    /// noise, which has no density; else as [`sample`]. [`Model::check_can_be_sampled`] tells
    /// before a fit.
    ///
    /// # Numerics
    /// `O(n^3)` per step of the sampler with `n` rows or nodes: seconds for tens of rows, minutes
    /// for hundreds, hours for a thousand. A covariance carries a jitter of 1e-10 of its diagonal,
    /// the fit none unless it says so.
    pub fn check_by_mcmc(
        &self,
        options: &McmcOptions,
        progress: &dyn Progress,
    ) -> Result<McmcReport, FitError> {
        let started = Instant::now();
        let problem = self.problem.in_table_order(&self.tables)?;
        let theta = &self.components[0].theta;
        check(&problem, theta)?;
        let rows = latent(&problem)?;
        let sampled = match problem.pooled() {
            Some(pooled) => sample_pooled(rows, &pooled.pools, theta, options, progress),
            None => sample(rows, theta, options, progress),
        }?;
        let fit = self.of_rows(&problem)?;
        let seconds = problem.seconds().each().iter();
        let varying = seconds.filter_map(|second| self.varying_of(second, &second.supports));
        let varying: Vec<Spread> = varying.flat_map(|fit| spreads(&fit)).collect();
        let hypers = sampled.hyperparameters.iter();
        let hypers = hypers.map(|(i, at)| self.hyper_check(*i, &problem.parameters()[*i], at));
        Ok(McmcReport {
            chains: options.chains,
            draws: sampled.draws,
            divergences: sampled.divergences,
            gradients: sampled.gradients,
            hyperparameters: hypers.collect(),
            rows: side_by_side(&fit, &sampled.latents),
            varying: side_by_side(&varying, &sampled.second),
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    /// The latent value of every row, by the fit.
    fn of_rows(&self, problem: &Problem) -> Result<Vec<Spread>, FitError> {
        let Some(pooled) = problem.pooled() else {
            return Ok(spreads(&self.predict(problem.supports(), Scale::Latent)?));
        };
        let (at, mut out) = (&pooled.observed, Vec::new());
        for table in &self.tables {
            let rows: Vec<usize> = (out.len()..).take(table.supports.len()).collect();
            let at = at.rows(&rows);
            let fit = match table.likelihood.mean_link() {
                Some(link) => self.latent_totals(&at, link)?,
                None => self.predict(&at, Scale::Latent)?,
            };
            let mut found = spreads(&fit);
            for (k, (row, spread)) in rows.iter().zip(&mut found).enumerate() {
                // The mean over several nodes takes the positive root.
                if pooled.pools.link(*row) == Link::Square && pooled.pools.row(*row).0.len() > 1 {
                    let (mean, sd) = fit.size_of(k);
                    *spread = Spread { mean, sd };
                }
            }
            out.extend(found);
        }
        Ok(out)
    }

    fn hyper_check(&self, index: usize, parameter: &Parameter, at: &Marginal) -> HyperCheck {
        let found = self
            .summary
            .hyperparameters
            .iter()
            .find(|hyper| hyper.name == parameter.name);
        let map = found.map_or(self.components[0].theta[index], |hyper| hyper.value);
        // An interval that was left out is told as the value itself.
        let found = found.filter(|hyper| hyper.lower < hyper.upper);
        let interval = found.map_or((f64::NAN, f64::NAN), |hyper| (hyper.lower, hyper.upper));
        let fit = if self.nodes.len() > 1 {
            let phi = |theta: &[f64]| parameter.to_free(theta[index]);
            let over = |value: &dyn Fn(f64) -> f64| -> f64 {
                let nodes = self.nodes.iter();
                nodes.map(|n| n.weight * value(phi(&n.theta))).sum()
            };
            let mean = over(&|phi| phi);
            Spread {
                mean,
                sd: over(&|phi| (phi - mean).powi(2)).sqrt(),
            }
        } else {
            let (lower, upper) = (parameter.to_free(interval.0), parameter.to_free(interval.1));
            Spread {
                mean: parameter.to_free(map),
                sd: (upper - lower) / (2.0 * HALF_95),
            }
        };
        HyperCheck {
            name: parameter.name.clone(),
            logarithm: parameter.transform == Transform::Log,
            map,
            fit,
            fit_interval: interval,
            sampled: spread(at),
            sampled_interval: (parameter.from_free(at.lower), parameter.from_free(at.upper)),
            r_hat: at.r_hat,
            effective_size: at.effective_size,
        }
    }
}

fn spreads(fit: &Prediction) -> Vec<Spread> {
    let each = fit.mean().iter().zip(fit.sd());
    each.map(|(&mean, &sd)| Spread { mean, sd }).collect()
}

fn side_by_side(fit: &[Spread], sampled: &[Marginal]) -> Vec<RowCheck> {
    let one = |(&fit, at): (&Spread, &Marginal)| RowCheck {
        fit,
        sampled: spread(at),
        r_hat: at.r_hat,
        effective_size: at.effective_size,
    };
    fit.iter().zip(sampled).map(one).collect()
}

fn spread(at: &Marginal) -> Spread {
    Spread {
        mean: at.mean,
        sd: at.sd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three rows on which fit and draws agree, and one more of this fit.
    fn report(mean: f64, sd: f64, r_hat: f64, effective_size: f64) -> McmcReport {
        let row = |mean: f64, sd: f64| RowCheck {
            fit: Spread { mean, sd },
            sampled: Spread { mean: 1.0, sd: 2.0 },
            r_hat,
            effective_size,
        };
        McmcReport {
            chains: 4,
            draws: 4000,
            divergences: 0,
            gradients: 1,
            seconds: 1.0,
            hyperparameters: Vec::new(),
            rows: vec![row(1.0, 2.0), row(0.5, 2.5), row(1.5, 1.6), row(mean, sd)],
            varying: Vec::new(),
        }
    }

    /// Half a sd, or a factor of 1.5, is told of the rows where it is so; unless the draws are not
    /// to be trusted, which is told instead.
    #[test]
    fn a_fit_is_called_wrong_by_draws_that_can_be_trusted() {
        let told = |report: McmcReport| report.warnings().join("; ");
        assert_eq!(told(report(1.0, 2.0, 1.0, 900.0)), "");
        for (mean, sd) in [(2.1, 2.0), (-0.1, 2.0), (1.0, 3.1), (1.0, 1.3)] {
            let own = told(report(mean, sd, 1.0, 900.0));
            assert!(own.contains("wrong at 1 of 4 rows"), "{mean} {sd}: {own}");
            let own = told(report(mean, sd, 1.02, 900.0));
            assert!(own.contains("do not agree") && !own.contains("wrong at"));
            let own = told(report(mean, sd, 1.0, 300.0));
            assert!(own.contains("few effective") && !own.contains("wrong at"));
        }
    }
}
