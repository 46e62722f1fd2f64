//! The rows of all tables at one value of the hyperparameters.

use super::frame::{FrameAdjoint, Guide};
use crate::error::InputError;
use crate::inference::sites::{Block, LatentGaussian};

/// Tables with the values of their own hyperparameters.
pub(super) struct Rows<'a>(Vec<(Block<'a>, Vec<f64>)>);

impl<'a> Rows<'a> {
    pub fn new(problem: &'a dyn LatentGaussian, theta: &[f64]) -> Self {
        let with_own = |block: Block<'a>| {
            let own = block.own.iter().map(|&i| theta[i]).collect();
            (block, own)
        };
        Self(problem.blocks().into_iter().map(with_own).collect())
    }

    /// Every row with its value and noise variance, where it is Gaussian.
    pub fn gaussian(&self) -> impl Iterator<Item = (usize, Option<(f64, f64)>)> + '_ {
        self.0.iter().flat_map(|(block, own)| {
            (0..block.likelihood.rows())
                .map(|at| (block.first + at, block.likelihood.gaussian(own, at)))
        })
    }

    /// Refuses Gaussian rows without noise.
    pub fn check(&self) -> Result<(), InputError> {
        for (row, gaussian) in self.gaussian() {
            if let Some((_, variance)) = gaussian
                && !(variance > 0.0 && variance.is_finite())
            {
                return Err(InputError::Range {
                    what: "the noise variance".into(),
                    row,
                    value: variance,
                    requirement: "more than zero to be sampled: a value without noise has no density; give it a small noise variance",
                });
            }
        }
        Ok(())
    }

    /// The guide of every row: its site, or its own density where that is Gaussian.
    pub fn guides(&self, sites: &[Option<Guide>]) -> Vec<Guide> {
        let mut guides: Vec<Guide> = sites.iter().map(|s| s.unwrap_or_default()).collect();
        for (row, gaussian) in self.gaussian() {
            if let (None, Some((y, variance))) = (sites[row], gaussian) {
                guides[row] = Guide {
                    precision: variance.recip(),
                    shift: y / variance,
                };
            }
        }
        guides
    }

    /// `sum_r log p(y_r | z_r)` and its derivative in every `z_r`.
    pub fn log_density(&self, z: &[f64]) -> (f64, Vec<f64>) {
        let mut value = 0.0;
        let mut g = vec![0.0; z.len()];
        for (block, own) in &self.0 {
            for at in 0..block.likelihood.rows() {
                let row = block.first + at;
                let jet = block.likelihood.log_density(own, at, z[row]);
                value += jet.value;
                g[row] = jet.first;
            }
        }
        (value, g)
    }

    /// Adds the derivatives in the rows' own hyperparameters, natural units, at fixed coordinates `w`: those of
    /// the log densities, and those of the guides of Gaussian rows, which move with their noise.
    pub fn add_slopes(
        &self,
        z: &[f64],
        prior_mean: &[f64],
        sites: &[Option<Guide>],
        adjoint: &FrameAdjoint,
        d_theta: &mut [f64],
    ) {
        for (block, own) in self.0.iter().filter(|(_, own)| !own.is_empty()) {
            let likelihood = block.likelihood;
            let mut slopes = vec![[0.0; 3]; own.len()];
            for at in 0..likelihood.rows() {
                let row = block.first + at;
                slopes.fill([0.0; 3]);
                likelihood.log_density_slopes(own, at, z[row], &mut slopes);
                for (&i, slope) in block.own.iter().zip(&slopes) {
                    d_theta[i] += slope[0];
                }
                let (None, Some((y, _))) = (sites[row], likelihood.gaussian(own, at)) else {
                    continue;
                };
                // T = 1 / variance and c = T (y - m); the slope of T is that of (log p)' = T (y - f) at f = y - 1.
                slopes.fill([0.0; 3]);
                likelihood.log_density_slopes(own, at, y - 1.0, &mut slopes);
                let pull = adjoint.precision[row] + adjoint.pull[row] * (y - prior_mean[row]);
                for (&i, slope) in block.own.iter().zip(&slopes) {
                    d_theta[i] += slope[1] * pull;
                }
            }
        }
    }
}
