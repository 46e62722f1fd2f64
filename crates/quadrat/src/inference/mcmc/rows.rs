//! The rows of all tables at one value of the hyperparameters.

use std::borrow::Cow;

use super::approximation::{Approximation, FirstApproximation, RowsApproximation};
use super::frame::FrameAdjoint;
use super::prior::SampledLatents;
use crate::error::InputError;
use crate::inference::pooled::{Pools, Slopes};
use crate::inference::sites::Block;
use crate::inference::sites::pair::{scale, scale_slope};

/// The rows of all tables.
pub(super) struct SampledRows<'a> {
    /// Tables with the values of their own hyperparameters; the first of those with a second latent
    /// value is `v(g)`, row by row, and NaN until then.
    blocks: Vec<(Block<'a>, Vec<f64>)>,
    /// What rows see of the latent values, where that is not one each.
    pools: Option<&'a Pools>,
}

/// What rows see of latent values.
pub(super) struct LatentValues<'a> {
    /// `z` of every row.
    pub z: Cow<'a, [f64]>,
    /// `dz / df`, where rows see several values.
    slopes: Option<(&'a Pools, Slopes)>,
}

impl LatentValues<'_> {
    /// From slopes in `z` to slopes in the latent values.
    pub fn pull(&self, first: Vec<f64>) -> Vec<f64> {
        match &self.slopes {
            Some((pools, slopes)) => slopes.scatter(pools, &first),
            None => first,
        }
    }
}

/// The log density of all rows, and its derivatives in their latent values.
pub(super) struct LogDensity {
    /// `sum_r log p(y_r | z_r, g_r)`.
    pub value: f64,
    /// In every `z_r`.
    pub first: Vec<f64>,
    /// In every `g_r`.
    pub second: Vec<f64>,
}

impl<'a> SampledRows<'a> {
    pub fn new(latents: SampledLatents<'a>, theta: &[f64]) -> Self {
        let with_own = |block: Block<'a>| {
            let scale = block.second.map(|_| f64::NAN);
            let own = block.own.iter().map(|&i| theta[i]);
            let own = scale.into_iter().chain(own).collect();
            (block, own)
        };
        Self {
            blocks: latents.problem.blocks().into_iter().map(with_own).collect(),
            pools: latents.pools,
        }
    }

    /// What the rows see of latent values `f`.
    pub fn see<'f>(&self, f: &'f [f64]) -> LatentValues<'f>
    where
        'a: 'f,
    {
        let Some(pools) = self.pools else {
            return LatentValues {
                z: f.into(),
                slopes: None,
            };
        };
        let means = pools.means(f);
        LatentValues {
            z: means.iter().map(|mean| mean.value).collect(),
            slopes: Some((pools, pools.slopes(&means))),
        }
    }

    /// Value and noise variance of every row that is Gaussian, at second latent values `second`
    /// where it has one.
    pub fn gaussian(&self, second: &[f64]) -> Vec<Option<(f64, f64)>> {
        let mut out = Vec::new();
        for (block, own) in &self.blocks {
            let mut own = own.clone();
            out.resize(block.first, None);
            for at in 0..block.likelihood.rows() {
                place_scale(block, at, second, &mut own);
                out.push(block.likelihood.gaussian(&own, at));
            }
        }
        out
    }

    /// Refuses Gaussian rows without noise.
    pub fn check(&self, second: &[f64]) -> Result<(), InputError> {
        for (row, gaussian) in self.gaussian(second).into_iter().enumerate() {
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

    /// What stands in for the rows: their joint approximation, or that of each: its site, or its
    /// own density where that is Gaussian.
    pub fn approximation(
        &self,
        approximations: &FirstApproximation,
        second: &[f64],
    ) -> RowsApproximation {
        let sites = match approximations {
            FirstApproximation::Each(sites) => sites,
            FirstApproximation::Joint(joint) => return RowsApproximation::Joint(joint.clone()),
        };
        let mut approximations: Vec<Approximation> =
            sites.iter().map(|s| s.unwrap_or_default()).collect();
        for (row, gaussian) in self.gaussian(second).into_iter().enumerate() {
            if let (None, Some((y, variance))) = (sites[row], gaussian) {
                approximations[row] = Approximation {
                    precision: variance.recip(),
                    shift: y / variance,
                };
            }
        }
        RowsApproximation::Each(approximations)
    }

    /// The log density at latent values of both functions.
    pub fn log_density(&self, z: &[f64], second: &[f64]) -> LogDensity {
        let mut out = LogDensity {
            value: 0.0,
            first: vec![0.0; z.len()],
            second: vec![0.0; second.len()],
        };
        for (block, own) in &self.blocks {
            let mut own = own.clone();
            let mut slopes = vec![[0.0; 3]; own.len()];
            for at in 0..block.likelihood.rows() {
                let row = block.first + at;
                let scaled = place_scale(block, at, second, &mut own);
                let jet = block.likelihood.log_density(&own, at, z[row]);
                out.value += jet.value;
                out.first[row] = jet.first;
                if let Some((i, slope)) = scaled {
                    slopes.fill([0.0; 3]);
                    let likelihood = block.likelihood;
                    likelihood.log_density_slopes(&own, at, z[row], &mut slopes);
                    out.second[i] = slopes[0][0] * slope;
                }
            }
        }
        out
    }

    /// Adds the derivatives in the rows' own hyperparameters, natural units, at fixed coordinates
    /// `w`: those of the log densities, and those of the approximations of Gaussian rows, which
    /// move with their noise; the latter also to the derivatives in the second latent values.
    ///
    /// # Arguments
    /// * `z`, `second` - latent values of both functions
    /// * `approximations`, `adjoint` - approximations of the first function and their adjoints
    pub fn add_slopes(
        &self,
        [z, second]: [&[f64]; 2],
        prior_mean: &[f64],
        approximations: &FirstApproximation,
        adjoint: &FrameAdjoint,
        [d_theta, d_second]: [&mut [f64]; 2],
    ) {
        for (block, own) in self.blocks.iter().filter(|(_, own)| !own.is_empty()) {
            let likelihood = block.likelihood;
            let mut own = own.clone();
            let mut slopes = vec![[0.0; 3]; own.len()];
            // The first slope may be that in `v(g)`, which is no hyperparameter.
            let skip = own.len() - block.own.len();
            for at in 0..likelihood.rows() {
                let row = block.first + at;
                let scaled = place_scale(block, at, second, &mut own);
                if !block.own.is_empty() {
                    slopes.fill([0.0; 3]);
                    likelihood.log_density_slopes(&own, at, z[row], &mut slopes);
                    for (&i, slope) in block.own.iter().zip(&slopes[skip..]) {
                        d_theta[i] += slope[0];
                    }
                }
                if !approximations.follows(row) {
                    continue;
                }
                let Some((y, _)) = likelihood.gaussian(&own, at) else {
                    continue;
                };
                // T = 1 / variance and c = T (y - m); the slope of T is that of (log p)' = T (y -
                // f) at f = y - 1.
                slopes.fill([0.0; 3]);
                likelihood.log_density_slopes(&own, at, y - 1.0, &mut slopes);
                let pull = adjoint.precision[row] + adjoint.pull[row] * (y - prior_mean[row]);
                for (&i, slope) in block.own.iter().zip(&slopes[skip..]) {
                    d_theta[i] += slope[1] * pull;
                }
                if let Some((i, slope)) = scaled {
                    d_second[i] += slopes[0][1] * slope * pull;
                }
            }
        }
    }
}

/// Writes `v(g)` of a row in front of its other hyperparameters, where it has a second latent
/// value; the place of that value, and `dv / dg`.
fn place_scale(
    block: &Block<'_>,
    at: usize,
    second: &[f64],
    own: &mut [f64],
) -> Option<(usize, f64)> {
    let found = block.second?;
    let i = found.first + at;
    own[0] = scale(found.link, second[i]);
    Some((i, scale_slope(found.link, second[i])))
}
