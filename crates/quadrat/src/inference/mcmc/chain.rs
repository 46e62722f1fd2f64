//! One chain of the no-U-turn sampler.

use std::collections::HashMap;

use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use super::McmcOptions;
use super::options::Tally;
use crate::error::FitError;
use crate::special::scalar::normal_quantile;

/// Starts tried before a chain gives up, each nearer to the centre than the one before.
const STARTS: usize = 20;
/// Mean acceptance that the step size is tuned to: higher than usual, for few divergences.
const ACCEPTANCE: f64 = 0.9;

/// A density of positions in coordinates that know no bounds, with its gradient.
pub(crate) trait LogDensity {
    /// Number of coordinates of a position.
    fn size(&self) -> usize;
    /// Number of quantities that are told of a position.
    fn quantities(&self) -> usize;
    /// The quantities that are told of a position.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    fn expand(&mut self, position: &[f64]) -> Result<Vec<f64>, FitError>;
    /// The log density, and its gradient written to `gradient`.
    ///
    /// # Errors
    /// [`FitError::Linalg`] where a covariance cannot be factorised: trajectories end there.
    fn evaluate(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, FitError>;
}

/// Draws of one chain, and what it took.
pub(crate) struct Trace {
    /// Per quantity of [`LogDensity::expand`], the draws.
    pub quantities: Vec<Vec<f64>>,
    /// Divergent trajectories after warm-up.
    pub divergences: usize,
    /// Evaluations of the gradient, warm-up included.
    pub gradients: u64,
}

/// A place where the density cannot be evaluated: the trajectory ends there.
#[derive(Debug, Error)]
enum Nowhere {
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error("the density is not finite")]
    NotFinite,
}

impl LogpError for Nowhere {
    fn is_recoverable(&self) -> bool {
        match self {
            Self::Fit(error) => error.is_recoverable(),
            Self::NotFinite => true,
        }
    }
}

struct Density<T>(T);

impl<T: LogDensity> HasDims for Density<T> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        let size = self.0.size() as u64;
        HashMap::from([
            ("unconstrained_parameter".to_owned(), size),
            ("dim".to_owned(), size),
        ])
    }
}

impl<T: LogDensity> CpuLogpFunc for Density<T> {
    type LogpError = Nowhere;
    type FlowParameters = ();
    type ExpandedVector = ();

    fn dim(&self) -> usize {
        self.0.size()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Nowhere> {
        let value = self.0.evaluate(position, gradient)?;
        if value.is_finite() && gradient.iter().all(|g| g.is_finite()) {
            Ok(value)
        } else {
            Err(Nowhere::NotFinite)
        }
    }

    // Positions are read by another target: the sampler hides what it expands.
    fn expand_vector<R>(&mut self, _rng: &mut R, _at: &[f64]) -> Result<(), CpuMathError>
    where
        R: nuts_rs::rand::Rng + ?Sized,
    {
        Ok(())
    }
}

/// Runs chain number `chain` from a random start, of which centre and spread of every coordinate
/// are given; `reader` is a second copy of the target.
pub(super) fn run<T: LogDensity>(
    mut target: T,
    mut reader: T,
    starts: &[(f64, f64)],
    chain: usize,
    options: &McmcOptions,
    tally: &Tally<'_>,
) -> Result<Trace, FitError> {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    rng.set_stream(chain as u64);
    let start = start(&mut target, starts, &mut rng).ok_or(FitError::NoChain { chain })?;
    let stopped = |draw: usize| {
        move |error: &dyn std::fmt::Display| FitError::ChainStopped {
            chain,
            draw,
            reason: error.to_string(),
        }
    };
    let mut settings = DiagNutsSettings {
        num_tune: options.warm_up as u64,
        num_draws: options.draws as u64,
        ..DiagNutsSettings::default()
    };
    settings.adapt_options.step_size_settings.target_accept = ACCEPTANCE;
    let quantities = target.quantities();
    let math = CpuMath::new(Density(target));
    let mut sampler = settings
        .new_chain(chain as u64, math, &mut rng)
        .map_err(|e| stopped(0)(&e))?;
    sampler.set_position(&start).map_err(|e| stopped(0)(&e))?;
    let mut trace = Trace {
        quantities: vec![Vec::with_capacity(options.draws); quantities],
        divergences: 0,
        gradients: 0,
    };
    for draw in 0..options.warm_up + options.draws {
        let kept = draw >= options.warm_up;
        let (position, progress) = sampler.draw().map_err(|e| stopped(draw)(&e))?;
        if kept {
            let values = reader.expand(&position)?;
            for (out, value) in trace.quantities.iter_mut().zip(values) {
                out.push(value);
            }
        }
        trace.gradients += progress.num_gradients;
        trace.divergences += usize::from(kept && progress.diverging);
        tally.drawn();
    }
    Ok(trace)
}

/// A position with a finite density and no component of the gradient exactly zero, which the
/// sampler refuses.
fn start(
    target: &mut impl LogDensity,
    starts: &[(f64, f64)],
    rng: &mut ChaCha8Rng,
) -> Option<Vec<f64>> {
    let mut gradient = vec![0.0; target.size()];
    (0..STARTS).find_map(|attempt| {
        let shrink = 1.0 - attempt as f64 / STARTS as f64;
        let mut normal = || normal_quantile(rng.random_range(1e-12..1.0));
        let place = |(centre, spread): &(f64, f64)| centre + shrink * spread * normal();
        let position: Vec<f64> = starts.iter().map(place).collect();
        let value = target.evaluate(&position, &mut gradient).ok()?;
        let usable = value.is_finite() && gradient.iter().all(|g| g.is_finite() && *g != 0.0);
        usable.then_some(position)
    })
}
