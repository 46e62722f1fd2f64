//! Draws of whole densities, with weights, and what is asked of them.

use crate::linalg::{Mat, cut, gemm, vectorised};

use super::counts::Counts;
use super::newton::Problem;
use super::pareto::{Smoothed, smooth};
use super::split::Sample;

/// Draws whose exponentials are made at a time: they stay in the cache.
const BLOCK: usize = 256;
/// Buckets of the search for quantiles.
const BUCKETS: usize = 512;

/// Draws of the log probabilities of all cells.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    /// `log u`, shape `[draws, cells]`.
    pub log_mass: Mat<f64>,
    /// Weights of the draws, of sum one.
    pub weights: Vec<f64>,
    /// Weighted mean of `u`.
    pub mean: Vec<f64>,
    /// `1 / sum w^2`.
    pub effective: f64,
    /// Shape of the tail of the weights.
    pub shape: f64,
}

/// Densities from coefficients.
///
/// # Arguments
/// * `weigh` - whether draws get importance weights; else all are alike
pub(super) fn curves(problem: &Problem<'_>, sample: &Sample, weigh: bool) -> Curves {
    let phi = problem.basis.phi.as_ref();
    let mut log_mass = gemm(sample.theta.as_ref(), phi.transpose());
    let (n, m) = (log_mass.nrows(), log_mass.ncols());
    let exact: Vec<(usize, f64)> = problem.counts.exact.iter().copied().enumerate().filter(|y| y.1 > 0.0).collect();
    let mut log_weight = sample.log_weight.clone();
    let mut block = vec![0.0; BLOCK * m];
    for j in 0..m {
        let by = problem.log_measure[j];
        log_mass.col_as_slice_mut(j).iter_mut().for_each(|x| *x += by);
    }
    for rows in cut(n, BLOCK) {
        let size = rows.len();
        let mut top = vec![f64::NEG_INFINITY; size];
        for j in 0..m {
            let column = &log_mass.col_as_slice(j)[rows.clone()];
            top.iter_mut().zip(column).for_each(|(t, x)| *t = t.max(*x));
        }
        let block = &mut block[..size * m];
        for (j, out) in block.chunks_exact_mut(size).enumerate() {
            let column = &log_mass.col_as_slice(j)[rows.clone()];
            out.iter_mut().zip(column.iter().zip(&top)).for_each(|(o, (x, t))| *o = x - t);
        }
        crate::special::exp(block);
        let mut sum = vec![0.0; size];
        for column in block.chunks_exact(size) {
            sum.iter_mut().zip(column).for_each(|(s, x)| *s += x);
        }
        let log_sum: Vec<f64> = sum.iter().zip(&top).map(|(s, t)| s.ln() + t).collect();
        for j in 0..m {
            let column = &mut log_mass.col_as_slice_mut(j)[rows.clone()];
            column.iter_mut().zip(&log_sum).for_each(|(x, s)| *x -= s);
        }
        let log_weight = &mut log_weight[rows.clone()];
        for (j, y) in &exact {
            let column = &log_mass.col_as_slice(*j)[rows.clone()];
            log_weight.iter_mut().zip(column).for_each(|(w, x)| *w += y * x);
        }
        spans(&problem.counts, block, &sum, log_weight);
    }
    let Smoothed { weights, effective, shape } = if weigh {
        smooth(&log_weight)
    } else {
        Smoothed { weights: vec![1.0 / n as f64; n], effective: n as f64, shape: f64::NEG_INFINITY }
    };
    let mut out = Curves { log_mass, weights, mean: Vec::new(), effective, shape };
    out.mean = out.average();
    out
}

/// Adds the log likelihood of spans.
fn spans(counts: &Counts, block: &[f64], sum: &[f64], log_weight: &mut [f64]) {
    let size = sum.len();
    let mut inside = vec![0.0; size];
    for span in &counts.spans {
        inside.fill(0.0);
        for j in span.cells() {
            let share = span.share(j);
            let column = &block[j * size..(j + 1) * size];
            inside.iter_mut().zip(column).for_each(|(s, x)| *s += share * x);
        }
        for ((w, inside), sum) in log_weight.iter_mut().zip(&inside).zip(sum) {
            *w += span.weight * (inside / sum).ln();
        }
    }
}

impl Curves {
    /// How many.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Calls `visit(first draw, block)` with the probabilities of some draws, cell after cell.
    pub fn blocks(&self, mut visit: impl FnMut(std::ops::Range<usize>, &[f64])) {
        let m = self.log_mass.ncols();
        let mut block = vec![0.0; BLOCK * m];
        for rows in cut(self.len(), BLOCK) {
            let size = rows.len();
            let block = &mut block[..size * m];
            for (j, out) in block.chunks_exact_mut(size).enumerate() {
                out.copy_from_slice(&self.log_mass.col_as_slice(j)[rows.clone()]);
            }
            crate::special::exp(block);
            visit(rows, block);
        }
    }

    fn average(&self) -> Vec<f64> {
        let m = self.log_mass.ncols();
        let mut mean = vec![0.0; m];
        self.blocks(|rows, block| {
            let size = rows.len();
            let weights = &self.weights[rows];
            for (mean, column) in mean.iter_mut().zip(block.chunks_exact(size)) {
                *mean += crate::linalg::dot(column, weights);
            }
        });
        let sum: f64 = mean.iter().sum();
        mean.iter_mut().for_each(|x| *x /= sum);
        mean
    }

    /// A number of every draw.
    ///
    /// # Arguments
    /// * `of` - from the probabilities of all cells
    pub fn map(&self, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let m = self.log_mass.ncols();
        let mut out = Vec::with_capacity(self.len());
        let mut one = vec![0.0; m];
        self.blocks(|rows, block| {
            let size = rows.len();
            for i in 0..size {
                one.iter_mut().enumerate().for_each(|(j, x)| *x = block[j * size + i]);
                out.push(of(&one));
            }
        });
        out
    }

    /// Quantiles of the log probability of a cell.
    pub fn quantiles<const N: usize>(&self, cell: usize, p: [f64; N], work: &mut Work) -> [f64; N] {
        work.quantiles(self.log_mass.col_as_slice(cell), &self.weights, p)
    }
}

/// Memory of [`Work::quantiles`].
#[derive(Debug, Default)]
pub(super) struct Work {
    buckets: Vec<f64>,
    inside: Vec<(f64, f64)>,
    place: Vec<u32>,
}

impl Work {
    /// Weighted quantiles: the smallest value at and below which the weights sum to `p` or more; `O(n)`.
    pub fn quantiles<const N: usize>(&mut self, x: &[f64], weights: &[f64], p: [f64; N]) -> [f64; N] {
        let (least, most) = vectorised(|| {
            x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)))
        });
        if !(most > least) || !(most - least).is_finite() {
            return self.sorted(x, weights, p);
        }
        let by = BUCKETS as f64 / (most - least);
        self.buckets.clear();
        self.buckets.resize(BUCKETS, 0.0);
        self.place.clear();
        self.place.extend(x.iter().map(|x| (((x - least) * by) as u32).min(BUCKETS as u32 - 1)));
        for (place, w) in self.place.iter().zip(weights) {
            self.buckets[*place as usize] += w;
        }
        let total: f64 = self.buckets.iter().sum();
        p.map(|p| {
            let wanted = p * total;
            let (mut before, mut bucket) = (0.0, BUCKETS - 1);
            for (i, w) in self.buckets.iter().enumerate() {
                if before + w >= wanted {
                    bucket = i;
                    break;
                }
                before += w;
            }
            self.inside.clear();
            let pairs = self.place.iter().zip(x.iter().zip(weights));
            let here = pairs.filter(|(place, _)| **place as usize == bucket);
            self.inside.extend(here.map(|(_, (x, w))| (*x, *w)));
            quantile(&mut self.inside, wanted - before).unwrap_or(most)
        })
    }

    fn sorted<const N: usize>(&mut self, x: &[f64], weights: &[f64], p: [f64; N]) -> [f64; N] {
        let total: f64 = weights.iter().sum();
        p.map(|p| {
            self.inside.clear();
            self.inside.extend(x.iter().copied().zip(weights.iter().copied()));
            quantile(&mut self.inside, p * total).unwrap_or(f64::NAN)
        })
    }
}

fn quantile(pairs: &mut [(f64, f64)], wanted: f64) -> Option<f64> {
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    let found = pairs.iter().find(|(_, w)| {
        sum += w;
        sum >= wanted
    });
    found.or(pairs.last()).map(|p| p.0)
}


#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_sorting() {
        let n = 3001_u32;
        let x: Vec<f64> = (0..n).map(|i| f64::from(i * 7919 % n).powi(2) / 1e4).collect();
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + f64::from(i % 5)).collect();
        let mut work = Work::default();
        let p = [0.0, 0.025, 0.31, 0.5, 0.975, 1.0];
        let got = work.quantiles(&x, &weights, p);
        let want = work.sorted(&x, &weights, p);
        assert_eq!(got, want);
    }
}
