//! The referee: draws from the posterior itself, by the no-U-turn sampler.
//!
//! Latent values and free hyperparameters are sampled together, for any rows on a Gaussian prior:
//!
//! $$ p(z, \phi \mid y) \propto N(z; m, K(\phi)) \, p(\phi) \prod_r p(y_r \mid z_r, \phi) $$
//!
//! The sampler moves in coordinates in which that density is nearly standard normal (`frame.rs`,
//! `coordinate.rs`). Those coordinates are taken from an approximation, the density is not: where
//! the approximation is bad, sampling takes longer and stays right. Every gradient with free
//! hyperparameters costs `O(n^3)`, which bounds `n` to about a thousand.
//!
//! Where the noise variance or dispersion of rows is a function too, its values `g` are sampled
//! beside `z`, in coordinates of their own:
//!
//! $$ p(z, g, \phi \mid y) \propto N(z; m, K(\phi)) \, N(g; m_g, K_g(\phi)) \, p(\phi) \prod_r
//! p(y_r \mid z_r, v(g_r), \phi) $$
//!
//! Nothing is taken to be independent given the data: that is what the approximations are checked
//! for.
//!
//! Rows that are sums after a link ([`Pools`]) see several values, the nodes: those are sampled,
//! `log p(y_r | z_r)` is taken at `z_r = psi^-1(sum_i p_ri psi(f_i))`, and `z_r` is what is told.
//!
//! | symbol | meaning |
//! |---|---|
//! | `n` | latent values: rows, or nodes |
//! | `z`, `v`, `w` | latent values; whitened by the prior, `z = m + L v`; whitened by the approximations |
//! | `g` | second latent values, of the log noise variance or dispersion |
//! | `phi`, `u` | free hyperparameters: as they are optimised; on the whole line |
//! | `L`, `R` | Cholesky factors of `K` and of `A = I + L' T L` |
//! | `T`, `nu`, `c` | precision and shift of the approximations; `nu - T m` |
//!
//! # Source
//! Hoffman and Gelman 2014, Journal of Machine Learning Research 15:1593 (the sampler, here that of
//! `nuts-rs`); Murray and Adams 2010 (coordinates).

mod adjoint;
mod approximation;
mod approximations;
mod chain;
mod compared;
mod coordinate;
mod diagnose;
mod frame;
mod joint;
mod options;
mod prior;
mod process;
mod rows;
mod target;

use std::sync::atomic::AtomicUsize;

pub(crate) use adjoint::through_cholesky;
pub(crate) use chain::{LogDensity, Trace};
pub(crate) use compared::Trust;
pub use compared::{HyperCheck, RowCheck, Spread};
pub use diagnose::{effective_size, r_hat};
pub use options::McmcOptions;
use options::Tally;
use prior::SampledLatents;
use rayon::prelude::*;
use rows::SampledRows;
use target::Target;

use super::pooled::Pools;
use super::sites::LatentGaussian;
use crate::error::{FitError, InputError};
use crate::progress::Progress;

/// Most latent values of the first function that are sampled: rows, or places within rows that are
/// sums after a link.
pub const MAX_LATENTS: usize = 1000;
/// What [`MAX_LATENTS`] is about, where rows are sums after a link.
pub(crate) const PLACES: &str = "places within rows that are sums after a link";
/// Fewest draws per chain from which anything is concluded.
const MIN_DRAWS: usize = 20;

/// What the draws say about one quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marginal {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Quantile 0.025.
    pub lower: f64,
    /// Quantile 0.5.
    pub median: f64,
    /// Quantile 0.975.
    pub upper: f64,
    /// See [`r_hat`].
    pub r_hat: f64,
    /// See [`effective_size`].
    pub effective_size: f64,
}

/// What sampling found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// The latent value of every row.
    pub latents: Vec<Marginal>,
    /// Its draws, those of all chains one after the other.
    pub draws_of_latents: Vec<Vec<f64>>,
    /// The second latent value of every row that has one.
    pub second: Vec<Marginal>,
    /// Every free hyperparameter, by its index, in its free coordinate
    /// ([`crate::parameter::Parameter::to_free`]).
    pub hyperparameters: Vec<(usize, Marginal)>,
    /// Trajectories after warm-up that left the region where the steps are accurate: draws near
    /// there are missing.
    pub divergences: usize,
    /// Draws kept, over all chains.
    pub draws: usize,
    /// Evaluations of the gradient, warm-up included.
    pub gradients: u64,
}

/// Samples latent values and free hyperparameters of a problem.
///
/// # Arguments
/// * `problem` - prior, rows and hyperparameters with their priors and bounds
/// * `theta` - hyperparameters where the chains begin, natural units: best the most probable ones
/// * `progress` - told of every draw
///
/// # Returns
/// Means, sds, quantiles and convergence per quantity, in the order of the rows and of the
/// parameters.
///
/// # Errors
/// [`FitError::Input`] for more than [`MAX_LATENTS`] rows, too few draws, an unusable
/// hyperparameter or a Gaussian row without noise; [`FitError::NoChain`],
/// [`FitError::ChainStopped`].
///
/// # Numerics
/// Covariances carry a jitter of 1e-10 of their diagonal.
pub fn sample(
    problem: &dyn LatentGaussian,
    theta: &[f64],
    options: &McmcOptions,
    progress: &dyn Progress,
) -> Result<Sampled, FitError> {
    run(problem.into(), theta, options, progress)
}

/// As [`sample`], of rows that see means after a link.
///
/// # Arguments
/// * `problem` - prior of the nodes; its blocks are about the rows
/// * `pools` - what every row sees of the nodes
/// * `theta`, `options`, `progress` - as for [`sample`]
///
/// # Returns
/// As [`sample`]; the latent value of a row is its `z_r`, see [`Pools`].
///
/// # Errors
/// As [`sample`], with at most [`MAX_LATENTS`] nodes.
pub fn sample_pooled(
    problem: &dyn LatentGaussian,
    pools: &Pools,
    theta: &[f64],
    options: &McmcOptions,
    progress: &dyn Progress,
) -> Result<Sampled, FitError> {
    let pools = Some(pools);
    run(SampledLatents { problem, pools }, theta, options, progress)
}

/// Refuses what cannot be sampled, before anything is computed.
///
/// # Arguments
/// * `problem`, `theta` - as for [`sample`]
/// * `pools` - as for [`sample_pooled`], where rows see means after a link
///
/// # Errors
/// [`InputError::TooManyToSample`] for more than [`MAX_LATENTS`] latent values;
/// [`InputError::Range`] for a Gaussian row without noise.
pub fn check(
    problem: &dyn LatentGaussian,
    pools: Option<&Pools>,
    theta: &[f64],
) -> Result<(), InputError> {
    let latents = SampledLatents { problem, pools };
    if latents.values() > MAX_LATENTS {
        return Err(InputError::TooManyToSample {
            what: match pools {
                Some(_) => PLACES,
                None => "rows",
            },
            got: latents.values(),
            limit: MAX_LATENTS,
        });
    }
    SampledRows::new(latents, theta).check(latents.second_mean())
}

fn run(
    latents: SampledLatents<'_>,
    theta: &[f64],
    options: &McmcOptions,
    progress: &dyn Progress,
) -> Result<Sampled, FitError> {
    let problem = latents.problem;
    check(problem, latents.pools, theta)?;
    // Once, so that an input that cannot be sampled is refused before anything runs.
    let target = Target::new(latents, theta)?;
    let seen = target.seen();
    let approximations = target.approximations();
    let guided = || Target::guided(latents, theta, approximations.clone());
    let mut traces = chains(guided, &target.starts(theta), options, progress)?;
    let free: Vec<usize> = (0..problem.parameters().len())
        .filter(|i| !problem.parameters()[*i].fixed)
        .collect();
    for set in problem.mirrored() {
        let place = |i: &usize| Some(seen + free.iter().position(|f| f == i)?);
        let of = |i: &usize| Some((place(i)?, theta[*i]));
        let set: Vec<(usize, f64)> = set.iter().filter_map(of).collect();
        traces.iter_mut().for_each(|trace| fold(trace, &set));
    }
    let quantities = traces[0].quantities.len();
    let marginals: Vec<Marginal> = (0..quantities)
        .into_par_iter()
        .map(|q| {
            let chains: Vec<Vec<f64>> = traces.iter().map(|t| t.quantities[q].clone()).collect();
            summarise(&chains)
        })
        .collect();
    let (values, hyperparameters) = marginals.split_at(seen);
    let (first, second) = values.split_at(latents.rows());
    let draws_of = |q: usize| {
        traces
            .iter()
            .flat_map(move |t| t.quantities[q].iter().copied())
    };
    Ok(Sampled {
        latents: first.to_vec(),
        draws_of_latents: (0..latents.rows()).map(|q| draws_of(q).collect()).collect(),
        second: second.to_vec(),
        hyperparameters: free
            .into_iter()
            .zip(hyperparameters.iter().copied())
            .collect(),
        divergences: traces.iter().map(|t| t.divergences).sum(),
        draws: options.chains * options.draws,
        gradients: traces.iter().map(|t| t.gradients).sum(),
    })
}

/// Runs the chains of any density.
///
/// # Arguments
/// * `target` - makes a copy of the density
/// * `starts` - centre and spread of every coordinate where chains begin
/// * `progress` - told of every draw
///
/// # Errors
/// [`FitError::Input`] for too few draws; [`FitError::NoChain`], [`FitError::ChainStopped`].
pub(crate) fn chains<T: LogDensity>(
    target: impl Fn() -> Result<T, FitError> + Sync,
    starts: &[(f64, f64)],
    options: &McmcOptions,
    progress: &dyn Progress,
) -> Result<Vec<Trace>, FitError> {
    if options.chains == 0 || options.draws < MIN_DRAWS {
        return Err(InputError::Unavailable {
            what: "sampling without chains or with fewer than 20 draws each",
            remedy: "ask for at least one chain, and for hundreds of draws",
        }
        .into());
    }
    let tally = Tally {
        done: AtomicUsize::new(0),
        total: options.chains * (options.warm_up + options.draws),
        progress,
    };
    (0..options.chains)
        .into_par_iter()
        .map(|chain| chain::run(target()?, target()?, starts, chain, options, &tally))
        .collect()
}

/// Changes the signs of a set of quantities, all at once, in the draws in which they point away
/// from the values given: the posterior is the same for both signs, and a mean over both would be
/// nothing.
fn fold(trace: &mut Trace, set: &[(usize, f64)]) {
    let scale = |q: usize| -> f64 {
        let draws = &trace.quantities[q];
        draws.iter().map(|x| x * x).sum::<f64>() / draws.len().max(1) as f64
    };
    // In units of their own size, so that no quantity decides alone.
    let along: Vec<(usize, f64)> = set
        .iter()
        .map(|&(q, value)| (q, value / scale(q).max(f64::MIN_POSITIVE)))
        .collect();
    let draws = set.first().map_or(0, |(q, _)| trace.quantities[*q].len());
    for draw in 0..draws {
        let toward = |(q, value): &(usize, f64)| trace.quantities[*q][draw] * value;
        if along.iter().map(toward).sum::<f64>() < 0.0 {
            for (q, _) in set {
                trace.quantities[*q][draw] *= -1.0;
            }
        }
    }
}

/// Means, quantiles and convergence of a quantity from its draws in every chain.
pub(crate) fn summarise(chains: &[Vec<f64>]) -> Marginal {
    let mut all = chains.concat();
    all.sort_unstable_by(f64::total_cmp);
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let square = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let quantile = |p: f64| {
        let at = p * (count - 1.0);
        let (below, share) = (at.floor(), at.fract());
        let i = below as usize;
        all[i] + share * (all[(i + 1).min(all.len() - 1)] - all[i])
    };
    Marginal {
        mean,
        sd: (square / (count - 1.0)).sqrt(),
        lower: quantile(0.025),
        median: quantile(0.5),
        upper: quantile(0.975),
        r_hat: r_hat(chains),
        effective_size: effective_size(chains),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod pair_tests;
#[cfg(test)]
mod pooled_tests;
#[cfg(test)]
mod tests;
