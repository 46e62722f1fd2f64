//! A table on cells of its own: the reference shares no node with the fit.

use anyhow::Result;
use faer::{Mat, MatRef};
use quadrat::inference::mcmc::Sampled;
use quadrat::inference::pooled::Pools;
use quadrat::inference::sites::{Block, LatentGaussian};
use quadrat::likelihood::{Gaussian, Noise, Poisson};
use quadrat::link::Link;
use quadrat::parameter::Parameter;

use super::tables::Table;

/// The noise variance of rows that report nothing.
const NOTHING: f64 = 1e12;

/// The log rate in the middle of every cell, seen by counts of bins; every cell is a row too, which
/// reports nothing, so that the sampler tells its values.
pub(super) struct Cells {
    edges: Vec<(f64, f64)>,
    mean: Vec<f64>,
    covariance: Mat<f64>,
    counts: Poisson,
    nothing: Gaussian,
    bins: usize,
    pools: Pools,
}

impl Cells {
    pub fn new(table: &Table) -> Result<Self> {
        let edges: Vec<(f64, f64)> = table.cells().collect();
        let n = edges.len();
        let bins: Vec<(f64, f64)> = table.bins().collect();
        let mut pools = Pools::new(n);
        for bin in 0..bins.len() {
            let own = bin * table.per_bin()..(bin + 1) * table.per_bin();
            pools.push(Link::Exp, own.map(|i| (i, edges[i].1 - edges[i].0)));
        }
        (0..n).for_each(|i| pools.push(Link::Exp, [(i, 1.0)]));
        let middle = |i: usize| 0.5 * (edges[i].0 + edges[i].1);
        let covariance = Mat::from_fn(n, n, |i, j| {
            let d = 3.0_f64.sqrt() * (middle(i) - middle(j)).abs() / table.lengthscale;
            table.variance * (1.0 + d) * (-d).exp()
        });
        let widths: Vec<f64> = bins.iter().map(|(a, b)| b - a).collect();
        Ok(Self {
            mean: vec![table.mean(); n],
            covariance,
            counts: table.with_exposures(widths)?,
            nothing: Gaussian::new(vec![0.0; n], Noise::Known(vec![NOTHING; n]))?,
            bins: bins.len(),
            pools,
            edges,
        })
    }

    pub fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Mean and sd of the sum over an interval, over all draws.
    pub fn moments(&self, run: &Sampled, (from, to): (f64, f64)) -> (f64, f64) {
        // Halves of bins end where cells do.
        let slack = 1e-9 * (to - from);
        let inside = |i: &usize| self.edges[*i].0 > from - slack && self.edges[*i].1 < to + slack;
        let own: Vec<usize> = (0..self.edges.len()).filter(inside).collect();
        let values = &run.draws_of_latents[self.bins..];
        let draws = values[0].len();
        let sum = |draw: usize| -> f64 {
            let width = |i: usize| self.edges[i].1 - self.edges[i].0;
            own.iter().map(|&i| width(i) * values[i][draw].exp()).sum()
        };
        let sums: Vec<f64> = (0..draws).map(sum).collect();
        let mean = crate::statistics::mean(&sums);
        let squares: f64 = sums.iter().map(|x| (x - mean).powi(2)).sum();
        (mean, (squares / (draws as f64 - 1.0)).sqrt())
    }
}

impl LatentGaussian for Cells {
    fn prior_mean(&self) -> &[f64] {
        &self.mean
    }

    fn covariance(&self, _: &[f64]) -> Mat<f64> {
        self.covariance.clone()
    }

    fn contract_covariance(&self, _: &[f64], _: MatRef<'_, f64>, _: &mut [f64]) {}

    fn blocks(&self) -> Vec<Block<'_>> {
        let block = |likelihood, first| Block {
            likelihood,
            first,
            own: &[],
            second: None,
        };
        vec![block(&self.counts, 0), block(&self.nothing, self.bins)]
    }

    fn parameters(&self) -> &[Parameter] {
        &[]
    }

    fn describe(&self) -> String {
        "matern32(x)".to_owned()
    }
}
