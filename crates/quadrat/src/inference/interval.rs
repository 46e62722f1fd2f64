//! Marginal intervals of the hyperparameters.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::integrate::{Integration, IntervalShape};
use super::learn::Optimum;
use super::profile::principal_steps;
use crate::error::FitError;
use crate::linalg::Mat;
use crate::parameter::Parameter;
use crate::special::scalar::normal_quantile;

/// Draws from the split normal density of a central composite design.
const DRAWS: usize = 20_000;

/// Principal directions of a normal approximation.
struct Principal {
    /// The free parameters.
    free: Vec<usize>,
    /// Their units.
    units: Vec<f64>,
    /// One principal standard deviation per column, in these units.
    steps: Mat<f64>,
}

/// A marginal interval with its median, in natural units.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Index of the parameter.
    pub parameter: usize,
    /// Median.
    pub median: f64,
    /// Lower end: quantile `(1 - level) / 2`.
    pub lower: f64,
    /// Upper end: quantile `(1 + level) / 2`.
    pub upper: f64,
}

impl Optimum {
    /// Equal-tailed intervals of every free parameter from the normal approximation in its free
    /// coordinate, kept inside the bounds.
    ///
    /// # Arguments
    /// * `parameters` - those of the evidence that was maximised
    /// * `level` - probability inside, for example 0.95
    ///
    /// # Errors
    /// [`FitError::Linalg`] when the Hessian is not finite.
    ///
    /// # Numerics
    /// Directions that are flat or bend upwards count as having a standard deviation of 3 in
    /// `log theta`. Too narrow when rows are few: prefer [`Integration::intervals`].
    pub fn intervals(
        &self,
        parameters: &[Parameter],
        level: f64,
    ) -> Result<Vec<Interval>, FitError> {
        let Principal { free, units, steps } = self.principal(parameters)?;
        let z = normal_quantile(0.5 + 0.5 * level);
        Ok(free
            .iter()
            .enumerate()
            .map(|(k, i)| {
                let variance: f64 = (0..free.len()).map(|j| steps[(k, j)].powi(2)).sum();
                let centre = parameters[*i].to_free(self.theta[*i]);
                let half = z * variance.sqrt() * units[k];
                natural(parameters, *i, [centre - half, centre, centre + half])
            })
            .collect())
    }

    /// Draws of all parameters from the same normal approximation, in natural units, kept inside
    /// the bounds.
    ///
    /// # Errors
    /// As [`Self::intervals`].
    pub fn draws(
        &self,
        parameters: &[Parameter],
        count: usize,
        seed: u64,
    ) -> Result<Vec<Vec<f64>>, FitError> {
        let Principal { free, units, steps } = self.principal(parameters)?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut one = || {
            let z: Vec<f64> = free
                .iter()
                .map(|_| StandardNormal.sample(&mut random))
                .collect();
            let mut theta = self.theta.clone();
            for (k, &i) in free.iter().enumerate() {
                let moved: f64 = z.iter().enumerate().map(|(j, z)| steps[(k, j)] * z).sum();
                let (lower, upper) = parameters[i].free_bounds();
                let phi = parameters[i].to_free(self.theta[i]) + units[k] * moved;
                theta[i] = parameters[i].from_free(phi.clamp(lower, upper));
            }
            theta
        };
        Ok((0..count).map(|_| one()).collect())
    }

    /// The principal directions of the normal approximation.
    fn principal(&self, parameters: &[Parameter]) -> Result<Principal, FitError> {
        let free: Vec<usize> = free_indices(parameters);
        let units: Vec<f64> = free.iter().map(|i| parameters[*i].free_unit()).collect();
        let scaled = Mat::from_fn(free.len(), free.len(), |i, j| {
            self.hessian[(i, j)] * units[i] * units[j]
        });
        let steps = principal_steps(&scaled)?;
        Ok(Principal { free, units, steps })
    }
}

impl Integration {
    /// Equal-tailed marginal intervals of every free parameter, in natural units.
    ///
    /// On a lattice, every node stands for its cell: the marginal is a mixture of normal densities
    /// as wide as the projected cell, drawn towards the mean so that mean and variance stay those
    /// of the nodes (West 1993). On a central composite design it is the split normal density that
    /// the design was stretched by.
    ///
    /// # Arguments
    /// * `parameters` - those of the evidence that was integrated
    /// * `level` - probability inside, for example 0.95
    #[must_use]
    pub fn intervals(&self, parameters: &[Parameter], level: f64) -> Vec<Interval> {
        let tails = [0.5 - 0.5 * level, 0.5, 0.5 + 0.5 * level];
        let free = free_indices(parameters);
        let split = match &self.shape {
            IntervalShape::Design {
                mode,
                steps,
                stretch,
            } => Some(split_normal(mode, steps, stretch)),
            IntervalShape::Lattice { .. } => None,
        };
        free.iter()
            .enumerate()
            .map(|(k, i)| {
                let ends = match (&self.shape, &split) {
                    (IntervalShape::Lattice { spread }, _) => {
                        let cells: Vec<Cell> = self
                            .nodes
                            .iter()
                            .zip(spread)
                            .map(|(node, spread)| Cell {
                                centre: parameters[*i].to_free(node.theta[*i]),
                                weight: node.weight,
                                variance: spread[k],
                            })
                            .collect();
                        tails.map(|u| smooth_quantile(&cells, u))
                    }
                    (IntervalShape::Design { .. }, Some(draws)) => {
                        let mut sorted: Vec<f64> = draws.iter().map(|z| z[k]).collect();
                        sorted.sort_by(f64::total_cmp);
                        tails.map(|u| sorted[((u * DRAWS as f64) as usize).min(DRAWS - 1)])
                    }
                    (IntervalShape::Design { .. }, None) => [f64::NAN; 3],
                };
                natural(parameters, *i, ends)
            })
            .collect()
    }
}

fn free_indices(parameters: &[Parameter]) -> Vec<usize> {
    (0..parameters.len())
        .filter(|i| !parameters[*i].fixed)
        .collect()
}

/// From lower end, median and upper end in the free coordinate.
fn natural(parameters: &[Parameter], index: usize, free: [f64; 3]) -> Interval {
    let parameter = &parameters[index];
    let (least, most) = parameter.free_bounds();
    let [lower, median, upper] = free.map(|at| parameter.from_free(at.max(least).min(most)));
    Interval {
        parameter: index,
        median,
        lower,
        upper,
    }
}

/// A node seen along one coordinate.
struct Cell {
    centre: f64,
    weight: f64,
    variance: f64,
}

/// The quantile `u` of the weighted nodes, each smoothed by a normal kernel of its own variance and
/// drawn towards the mean so that the total variance is that of the nodes.
fn smooth_quantile(cells: &[Cell], u: f64) -> f64 {
    let mean: f64 = cells.iter().map(|c| c.centre * c.weight).sum();
    let variance: f64 = cells
        .iter()
        .map(|c| c.weight * (c.centre - mean).powi(2))
        .sum();
    let kernel: f64 = cells.iter().map(|c| c.weight * c.variance).sum();
    if variance <= 0.0 || kernel <= 0.0 {
        return mean;
    }
    let narrow = (0.5 * variance / kernel).min(1.0);
    let shrink = (1.0 - narrow * kernel / variance).sqrt();
    let cdf = |at: f64| -> f64 {
        cells
            .iter()
            .map(|c| {
                let centre = mean + shrink * (c.centre - mean);
                0.5 * c.weight * libm::erfc((centre - at) / (2.0 * narrow * c.variance).sqrt())
            })
            .sum()
    };
    let span = cells.iter().fold(0.0, |a: f64, c| {
        a.max((c.centre - mean).abs() + 10.0 * c.variance.sqrt())
    });
    let (mut low, mut high) = (mean - span, mean + span);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < u {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Draws `mode + steps * (stretch_sign |t|)`, every side as probable as it is wide.
fn split_normal(mode: &[f64], steps: &Mat<f64>, stretch: &[[f64; 2]]) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..DRAWS)
        .map(|_| {
            let t: Vec<f64> = stretch
                .iter()
                .map(|[below, above]| {
                    let size =
                        normal_quantile(0.5 + 0.5 * rng.random::<f64>().min(1.0 - 1e-12)).abs();
                    if rng.random::<f64>() * (below + above) < *below {
                        -below * size
                    } else {
                        above * size
                    }
                })
                .collect();
            (0..mode.len())
                .map(|i| mode[i] + (0..mode.len()).map(|j| steps[(i, j)] * t[j]).sum::<f64>())
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes over a normal density, one kernel sd apart or closer, smooth to that density: what the
    /// kernels add is taken from the spread of the nodes.
    #[test]
    fn quantiles_of_nodes_over_a_normal_density_are_its_own() {
        let (mean, sd) = (3.0, 2.0);
        // Kernels of half an sd, and as wide as the density, which are narrowed.
        for kernel in [0.5, 1.0] {
            let at = |k: i32| 0.5 * f64::from(k);
            let density = |z: f64| (-0.5 * z * z).exp();
            let total: f64 = (-20..=20).map(|k| density(at(k))).sum();
            let cells: Vec<Cell> = (-20..=20)
                .map(|k| Cell {
                    centre: mean + sd * at(k),
                    weight: density(at(k)) / total,
                    variance: (kernel * sd) * (kernel * sd),
                })
                .collect();
            for u in [0.025, 0.3, 0.5, 0.975] {
                let want = mean + sd * normal_quantile(u);
                let got = smooth_quantile(&cells, u);
                // Sums over such nodes are integrals to exp(-2 pi^2), 3e-9; the density at these
                // quantiles is at least 0.03.
                assert!((got - want).abs() < 1e-6, "{kernel} {u}: {got} {want}");
            }
        }
    }
}
