//! The referee of estimates: draws from the posterior itself, by the no-U-turn sampler.
//!
//! The estimate has modes at some settings of the hyperparameters, and draws from normals about
//! them, with weights. Here coefficients and hyperparameters are sampled together,
//!
//! $$ p(\theta, \sigma, l \mid y) \propto p(y \mid \eta = \Phi \theta) \, N(\theta; 0,
//! C(\sigma, l)) \, p(\sigma) \, p(l) $$
//!
//! under the same prior and in the same functions, so that Laplace's method, importance weights and
//! the grid or design of settings are all checked at once. What cosines leave out is not.
//!
//! # Source
//! Riihimaki and Vehtari 2014 (draws beside Laplace's method); Hoffman and Gelman 2014,
//! Journal of Machine Learning Research 15:1593 (the sampler, here that of `nuts-rs`).

mod column;
mod frame;
mod posterior;
mod target;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) mod tests;

use std::time::Instant;

use serde::Serialize;

use super::error::DensityError;
use crate::error::FitError;
use crate::inference::mcmc::{
    HyperCheck, Marginal, McmcOptions, RowCheck, Spread, Trust, chains, summarise,
};
use crate::linalg::dot;
use crate::progress::Progress;

use super::loops;
pub(super) use frame::Frame;
pub(super) use posterior::{Block, Look, Posterior};
use target::Target;

/// The most functions that are sampled: a gradient costs the third power of their number.
const MOST_FUNCTIONS: usize = 600;
/// The share of trajectories that may diverge before it is told.
const DIVERGED: f64 = 0.01;
/// The most cells that are compared.
const MOST_CELLS: usize = 400;
/// Mass of the cells that are compared, those of the highest density.
const MASS: f64 = 0.98;

/// An estimate of a density beside draws from its posterior.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DensityCheck {
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
    /// Standard deviation of the log density, then its lengthscales. The fit has no intervals of
    /// them: its settings are a grid, or a design about the most probable ones.
    pub hyperparameters: Vec<HyperCheck>,
    /// Numbers of the cells that are compared: up to 400 of those that hold 98 % of the estimate
    /// and have the highest densities, evenly chosen.
    pub cells: Vec<usize>,
    /// The middle of each of them, along each axis.
    pub places: Vec<Vec<f64>>,
    /// The logarithm of the probability of each of them.
    pub log_density: Vec<RowCheck>,
}

impl DensityCheck {
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

    /// Where the estimate is wrong by the draws, as far as these can be trusted; and why they
    /// cannot, if so.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let checks = self.log_density.iter().copied();
        let remedies = [
            "take more draws of each chain",
            "take its bands for those of an approximation",
            "look at R-hat and effective draws of the hyperparameters",
        ];
        let mut trust = self.trust();
        // The fewest leave out nothing that shows.
        if (self.divergences as f64) < DIVERGED * self.draws as f64 {
            trust.divergences = (0, self.draws);
        }
        trust.warnings(checks, "cells", remedies)
    }

    fn trust(&self) -> Trust {
        let hypers = self.hyperparameters.iter();
        let hypers = hypers.map(|h| (h.r_hat, h.effective_size));
        let cells = self.log_density.iter();
        let all = hypers.chain(cells.map(|c| (c.r_hat, c.effective_size)));
        Trust::of(all, (self.divergences, self.draws))
    }
}

/// One setting of the hyperparameters of an estimate.
pub(super) struct Setting {
    pub sd: f64,
    pub lengths: Vec<f64>,
    /// Posterior probability.
    pub weight: f64,
}

/// A posterior with coordinates to sample it in, and the settings of the estimate, the most
/// probable first.
pub(super) struct Sampled<P> {
    pub posterior: P,
    pub frame: Frame,
    pub settings: Vec<Setting>,
}

/// What is checked.
pub(super) struct Checked<'a, P> {
    pub sampled: &'a Sampled<P>,
    /// Probability of every cell by the estimate, and its density.
    pub mass: &'a [f64],
    pub density: &'a [f64],
    /// The middle of a cell along each axis.
    pub place: &'a dyn Fn(usize) -> Vec<f64>,
    /// Log probabilities of some cells, which ascend, by the draws of the estimate.
    pub spreads: &'a dyn Fn(&[usize]) -> Vec<Spread>,
}

impl<P: Posterior> Checked<'_, P> {
    /// Samples, and sets what was found beside the estimate.
    pub fn check(
        &self,
        options: &McmcOptions,
        progress: &dyn Progress,
    ) -> Result<DensityCheck, DensityError> {
        let started = Instant::now();
        let cells = compared(self.mass, self.density);
        let Sampled {
            posterior, frame, ..
        } = self.sampled;
        let target = || Ok::<_, FitError>(Target::new(posterior, frame, &cells));
        let starts = frame.starts(posterior);
        let traces = chains(target, &starts, options, progress).map_err(|error| {
            DensityError::NotSampled {
                reason: error.to_string(),
            }
        })?;
        let quantities = traces[0].quantities.len();
        let marginals: Vec<Marginal> = (0..quantities)
            .map(|q| {
                let all: Vec<Vec<f64>> = traces.iter().map(|t| t.quantities[q].clone()).collect();
                summarise(&all)
            })
            .collect();
        let (of_cells, of_hypers) = marginals.split_at(cells.len());
        let spreads = (self.spreads)(&cells).into_iter();
        let log_density = spreads
            .zip(of_cells)
            .map(|(fit, at)| RowCheck::new(fit, at));
        Ok(DensityCheck {
            chains: options.chains,
            draws: options.chains * options.draws,
            divergences: traces.iter().map(|t| t.divergences).sum(),
            gradients: traces.iter().map(|t| t.gradients).sum(),
            hyperparameters: self.hypers(of_hypers),
            log_density: log_density.collect(),
            places: cells.iter().map(|cell| (self.place)(*cell)).collect(),
            cells,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    fn hypers(&self, sampled: &[Marginal]) -> Vec<HyperCheck> {
        let settings = &self.sampled.settings;
        let lengths = sampled.len() - 1;
        let each = sampled.iter().enumerate();
        let one = |(k, at): (usize, &Marginal)| {
            let of = |setting: &Setting| match k {
                0 => setting.sd,
                k => setting.lengths[k - 1],
            };
            let logs: Vec<f64> = settings.iter().map(|s| of(s).ln()).collect();
            let weights: Vec<f64> = settings.iter().map(|s| s.weight).collect();
            let mut fit = weighted(&logs, &weights);
            if logs.len() == 1 {
                fit.sd = f64::NAN;
            }
            HyperCheck {
                name: match (k, lengths) {
                    (0, _) => "sd".to_owned(),
                    (_, 1) => "lengthscale".to_owned(),
                    _ => format!("lengthscale {k}"),
                },
                logarithm: true,
                map: settings.first().map_or(f64::NAN, of),
                fit,
                fit_interval: (f64::NAN, f64::NAN),
                sampled: at.into(),
                sampled_interval: (at.lower.exp(), at.upper.exp()),
                r_hat: at.r_hat,
                effective_size: at.effective_size,
            }
        };
        each.map(one).collect()
    }
}

/// Mean and standard deviation of numbers with weights of sum one.
pub(super) fn weighted(numbers: &[f64], weights: &[f64]) -> Spread {
    let mean = dot(numbers, weights);
    let sd = loops::spread(numbers, weights, mean).max(0.0).sqrt();
    Spread { mean, sd }
}

/// Evenly chosen cells among those of the highest density, which hold most of the mass.
fn compared(mass: &[f64], density: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..mass.len()).filter(|j| mass[*j] > 0.0).collect();
    order.sort_by(|a, b| density[*b].total_cmp(&density[*a]));
    let all: f64 = mass.iter().sum();
    let mut inside = 0.0;
    let held = order.iter().take_while(|j| {
        let is_within = inside < MASS * all;
        inside += mass[**j];
        is_within
    });
    let mut held: Vec<usize> = held.copied().collect();
    held.sort_unstable();
    let count = held.len().min(MOST_CELLS);
    (0..count).map(|i| held[i * held.len() / count]).collect()
}

/// Refuses what takes too long, and an estimate that nothing was found for.
pub(super) fn possible(functions: usize, settings: usize) -> Result<(), DensityError> {
    let reason = match (functions, settings) {
        (_, 0) => "the estimate has no setting of the hyperparameters".to_owned(),
        (0..=MOST_FUNCTIONS, _) => return Ok(()),
        _ => format!(
            "it is a density of {functions} functions, and at most {MOST_FUNCTIONS} are sampled: check an estimate from a part of the rows"
        ),
    };
    Err(DensityError::NotSampled { reason })
}
