//! The fit beside draws from the posterior that it approximates.

use std::time::Instant;

use serde::Serialize;

use super::Model;
use crate::error::{FitError, InputError};
use crate::inference::mcmc::{self, Marginal, McmcOptions, Trust, sample, sample_pooled};
pub use crate::inference::mcmc::{HyperCheck, RowCheck, Spread};
use crate::inference::sites::LatentGaussian;
use crate::link::Link;
use crate::parameter::{Parameter, Transform};
use crate::posterior::mixture::Posterior;
use crate::posterior::prediction::Prediction;
use crate::problem::assembly::Problem;
use crate::problem::scale::Scale;
use crate::problem::settings::Inference;
use crate::progress::Progress;

/// Half the width of a 95 % interval of a normal distribution, in sds.
const HALF_95: f64 = 1.959_963_984_540_054;

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
        self.trust().worst_r_hat
    }

    /// Smallest effective sample size of any quantity.
    #[must_use]
    pub fn smallest_effective_size(&self) -> f64 {
        self.trust().smallest_size
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
        let remedies = [
            "take more draws (`--draws`)",
            "see `mcmc` in fit.json for which rows these are",
            "bounds or narrower priors for the hyperparameters help",
        ];
        self.trust()
            .warnings(self.rows.iter().copied(), "rows", remedies)
    }

    fn trust(&self) -> Trust {
        let hypers = self.hyperparameters.iter();
        let rows = self.rows.iter().chain(&self.varying);
        let all = hypers
            .map(|h| (h.r_hat, h.effective_size))
            .chain(rows.map(|r| (r.r_hat, r.effective_size)));
        Trust::of(all, (self.divergences, self.draws))
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
            sampled: at.into(),
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
    let pairs = fit.iter().zip(sampled);
    pairs.map(|(fit, at)| RowCheck::new(*fit, at)).collect()
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
