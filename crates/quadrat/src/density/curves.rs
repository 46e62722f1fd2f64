//! Draws of whole densities, with weights, and what is asked of them.

use std::ops::Range;

use crate::linalg::{Mat, cut};

use super::counts::CellCounts;
use super::loops;
use super::pareto::{Smoothed, smooth};
use super::split::Sample;

/// Draws whose exponentials are made at a time: they stay in the cache.
const BLOCK: usize = 256;
/// Draws that are turned from cells to rows at a time: a line of the cache.
const TURNED: usize = 8;
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

/// Densities from draws of the function.
///
/// # Arguments
/// * `weigh` - whether draws get importance weights; else all are alike
pub(super) fn curves(counts: &CellCounts, sample: Sample, weigh: bool) -> Curves {
    let Sample {
        mut log_mass,
        mut log_weight,
    } = sample;
    let (n, m) = (log_mass.nrows(), log_mass.ncols());
    let mut memory = vec![0.0; BLOCK * m];
    // The mean under the weights as they come, mended below where they are smoothed.
    let mut mean = vec![0.0; m];
    for rows in cut(n, BLOCK) {
        let size = rows.len();
        let block = &mut memory[..size * m];
        let sum = exponentials(&log_mass, rows.clone(), block);
        let log_sum: Vec<f64> = sum.iter().map(|s| s.0.ln() + s.1).collect();
        let sum: Vec<f64> = sum.iter().map(|s| s.0).collect();
        for j in 0..m {
            loops::subtract(&mut log_mass.col_as_slice_mut(j)[rows.clone()], &log_sum);
        }
        let log_weight = &mut log_weight[rows.clone()];
        log_weight
            .iter_mut()
            .zip(&log_sum)
            .for_each(|(w, s)| *w -= counts.exact_total * s);
        spans(counts, block, &sum, log_weight);
        let by: Vec<f64> = log_weight
            .iter()
            .zip(&sum)
            .map(|(lw, s)| if weigh { raw(*lw) } else { 1.0 } / s)
            .collect();
        for (mean, column) in mean.iter_mut().zip(block.chunks_exact(size)) {
            *mean += crate::linalg::dot(column, &by);
        }
    }
    let Smoothed {
        weights,
        effective,
        shape,
    } = if weigh {
        smooth(&log_weight)
    } else {
        Smoothed {
            weights: vec![1.0 / n as f64; n],
            effective: n as f64,
            shape: f64::NEG_INFINITY,
        }
    };
    let mut out = Curves {
        log_mass,
        weights,
        mean,
        effective,
        shape,
    };
    if weigh {
        out.mend(&log_weight);
    }
    let sum: f64 = out.mean.iter().sum();
    out.mean.iter_mut().for_each(|x| *x /= sum);
    out
}

/// A weight before smoothing, without overflow.
fn raw(log_weight: f64) -> f64 {
    if log_weight.is_finite() {
        log_weight.min(LARGEST).exp()
    } else {
        0.0
    }
}

/// The logarithm beyond which weights are not exponentiated: their sums would overflow.
const LARGEST: f64 = 600.0;

/// Exponentials of some rows, cell after cell, and their sums with what was taken off each row to
/// keep them finite.
fn exponentials(log_mass: &Mat<f64>, rows: Range<usize>, block: &mut [f64]) -> Vec<(f64, f64)> {
    let size = rows.len();
    let copy = |block: &mut [f64], top: &[f64]| {
        for (j, out) in block.chunks_exact_mut(size).enumerate() {
            loops::difference(&log_mass.col_as_slice(j)[rows.clone()], top, out);
        }
    };
    let sums = |block: &[f64]| {
        let mut sum = vec![0.0; size];
        block
            .chunks_exact(size)
            .for_each(|column| loops::add(&mut sum, column));
        sum
    };
    // The function at the first draw in the middle of its mass serves for nearly all; where it does
    // not each row takes its own.
    let m = block.len() / size;
    let largest = (0..m)
        .map(|j| log_mass[(rows.start, j)])
        .fold(f64::NEG_INFINITY, f64::max);
    let mut top = vec![largest; size];
    copy(block, &top);
    crate::special::exp(block);
    let mut sum = sums(block);
    if sum.iter().any(|s| !(*s > 1e-100 && *s < 1e100)) {
        top.fill(f64::NEG_INFINITY);
        for j in 0..m {
            let column = &log_mass.col_as_slice(j)[rows.clone()];
            top.iter_mut().zip(column).for_each(|(t, x)| *t = t.max(*x));
        }
        copy(block, &top);
        crate::special::exp(block);
        sum = sums(block);
    }
    sum.into_iter().zip(top).collect()
}

/// Adds the log likelihood of spans.
fn spans(counts: &CellCounts, block: &[f64], sum: &[f64], log_weight: &mut [f64]) {
    let size = sum.len();
    let mut inside = vec![0.0; size];
    for span in &counts.spans {
        inside.fill(0.0);
        for j in span.cells() {
            let share = span.share(j);
            let column = &block[j * size..(j + 1) * size];
            inside
                .iter_mut()
                .zip(column)
                .for_each(|(s, x)| *s += share * x);
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

    /// From the mean under raw weights to that under smoothed ones: few draws differ.
    fn mend(&mut self, log_weight: &[f64]) {
        let total: f64 = log_weight.iter().map(|lw| raw(*lw)).sum();
        self.mean.iter_mut().for_each(|x| *x /= total);
        let smoothed: f64 = self.weights.iter().sum();
        let mut scale = 1.0;
        // What most weights were divided by.
        if let Some(i) =
            (0..self.weights.len()).min_by(|a, b| log_weight[*a].total_cmp(&log_weight[*b]))
        {
            let (new, old) = (self.weights[i] / smoothed, raw(log_weight[i]) / total);
            if old > 0.0 {
                scale = new / old;
            }
        }
        self.mean.iter_mut().for_each(|x| *x *= scale);
        for i in 0..self.weights.len() {
            let change = self.weights[i] / smoothed - scale * raw(log_weight[i]) / total;
            if change.abs() > 1e-12 * self.weights[i] {
                for (j, mean) in self.mean.iter_mut().enumerate() {
                    *mean += change * self.log_mass[(i, j)].exp();
                }
            }
        }
        self.mean.iter_mut().for_each(|x| *x = x.max(0.0));
    }

    /// Calls `visit(draw, probabilities of all cells)` for every draw in turn.
    pub fn each(&self, mut visit: impl FnMut(usize, &[f64])) {
        let m = self.log_mass.ncols();
        let mut several = vec![0.0; TURNED * m];
        self.blocks(|rows, block| {
            let size = rows.len();
            for first in (0..size).step_by(TURNED) {
                let count = TURNED.min(size - first);
                for j in 0..m {
                    let from = &block[j * size + first..j * size + first + count];
                    from.iter()
                        .enumerate()
                        .for_each(|(i, x)| several[i * m + j] = *x);
                }
                for (i, mass) in several.chunks_exact(m).take(count).enumerate() {
                    visit(rows.start + first + i, mass);
                }
            }
        });
    }

    /// Numbers of every draw: `N` lists.
    ///
    /// # Arguments
    /// * `of` - from the probabilities of all cells
    pub fn map<const N: usize>(&self, of: impl Fn(&[f64]) -> [f64; N]) -> [Vec<f64>; N] {
        let mut out = [(); N].map(|()| Vec::with_capacity(self.len()));
        self.each(|_, mass| {
            out.iter_mut()
                .zip(of(mass))
                .for_each(|(out, x)| out.push(x));
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
    place: Vec<i32>,
}

impl Work {
    /// Weighted quantiles: the smallest value at and below which the weights sum to `p` or more;
    /// `O(n)`.
    pub fn quantiles<const N: usize>(
        &mut self,
        x: &[f64],
        weights: &[f64],
        p: [f64; N],
    ) -> [f64; N] {
        let (least, most) = loops::extremes(x);
        if most <= least || !(most - least).is_finite() {
            return self.sorted(x, weights, p);
        }
        let by = BUCKETS as f64 / (most - least);
        self.buckets.clear();
        self.buckets.resize(BUCKETS, 0.0);
        self.place.clear();
        self.place.resize(x.len(), 0);
        loops::buckets(x, least, by, BUCKETS as i32 - 1, &mut self.place);
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
            self.inside
                .extend(x.iter().copied().zip(weights.iter().copied()));
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
        let x: Vec<f64> = (0..n)
            .map(|i| f64::from(i * 7919 % n).powi(2) / 1e4)
            .collect();
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + f64::from(i % 5)).collect();
        let mut work = Work::default();
        let p = [0.0, 0.025, 0.31, 0.5, 0.975, 1.0];
        let got = work.quantiles(&x, &weights, p);
        let want = work.sorted(&x, &weights, p);
        assert_eq!(got, want);
    }
}
