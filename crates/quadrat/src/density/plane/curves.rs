//! Draws of whole densities over a plane, with weights, and what is asked of them.
//!
//! Densities are made again from their coefficients whenever they are asked for: all of them at
//! once would not fit into memory.

use crate::linalg::{Mat, cut, dot};

use super::super::curves::Work;
use super::super::loops;
use super::super::pareto::{Smoothed, smooth};
use super::draw::Sample;
use super::functions::Functions;
use super::grid::Grid;
use super::sweep::Lines;

/// Draws that are normalised at a time.
const BLOCK: usize = 256;
/// What the sum of exponentials may be before each draw is taken off its own largest value.
const USUAL: std::ops::Range<f64> = 1e-200..1e200;

/// Draws of densities.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    lines: Lines,
    /// What normalises each draw.
    log_sum: Vec<f64>,
    /// Weights of the draws, of sum one.
    pub weights: Vec<f64>,
    /// `1 / sum w^2`.
    pub effective: f64,
    /// Shape of the tail of the weights.
    pub shape: f64,
    /// Probabilities along each axis, shape `[draws, cells of the axis]`.
    pub along: [Mat<f64>; 2],
    /// Mean of the product of the two axes, each in its middles as given.
    pub products: Vec<f64>,
}

/// Bands and the mean.
#[derive(Debug, Clone)]
pub(super) struct Bands {
    /// Weighted mean of the probability of each cell.
    pub mean: Vec<f64>,
    /// Its standard deviation.
    pub sd: Vec<f64>,
    /// Quantiles of the probability of each cell.
    pub lower: Vec<f64>,
    /// The same.
    pub upper: Vec<f64>,
}

/// What a pass over some draws gives.
struct Sums {
    sum: Vec<f64>,
    products: Vec<f64>,
    along: [Mat<f64>; 2],
}

/// Normalises draws and weighs them.
///
/// # Arguments
/// * `top` - a cell of large probability
/// * `middles` - of the cells of each axis, in any unit
pub(super) fn curves(
    grid: &Grid,
    functions: &Functions,
    sample: &Sample,
    top: (usize, usize),
    middles: &[Vec<f64>; 2],
    weigh: bool,
) -> Curves {
    let lines = Lines::new(functions, &sample.theta);
    let n = lines.len();
    let [rows, columns] = grid.shape();
    let mut offset = lines.at(top.0, top.1);
    let measure = grid.log_measure[top.0 * columns + top.1];
    offset.iter_mut().for_each(|o| *o += measure);
    let mut out = Curves {
        log_sum: vec![0.0; n],
        weights: Vec::new(),
        effective: n as f64,
        shape: f64::NEG_INFINITY,
        along: [Mat::zeros(n, rows), Mat::zeros(n, columns)],
        products: vec![0.0; n],
        lines,
    };
    for block in cut(n, BLOCK) {
        let mut sums = out.sums(grid, block.clone(), &offset, middles);
        if sums.sum.iter().any(|s| !USUAL.contains(s)) {
            out.tops(grid, block.clone(), &mut offset);
            sums = out.sums(grid, block.clone(), &offset, middles);
        }
        for (i, draw) in block.clone().enumerate() {
            out.log_sum[draw] = sums.sum[i].ln() + offset[draw];
            out.products[draw] = sums.products[i] / sums.sum[i];
        }
        for (all, some) in out.along.iter_mut().zip(&sums.along) {
            for j in 0..all.ncols() {
                let target = &mut all.col_as_slice_mut(j)[block.clone()];
                let from = some.col_as_slice(j).iter().zip(&sums.sum);
                target
                    .iter_mut()
                    .zip(from)
                    .for_each(|(t, (x, s))| *t = x / s);
            }
        }
    }
    out.weights = vec![1.0 / n as f64; n];
    if weigh {
        let pairs = sample.log_weight.iter().zip(&out.log_sum);
        let log_weight: Vec<f64> = pairs.map(|(w, s)| w - grid.total * s).collect();
        let Smoothed {
            weights,
            effective,
            shape,
        } = smooth(&log_weight);
        (out.weights, out.effective, out.shape) = (weights, effective, shape);
    }
    out
}

impl Curves {
    fn sums(
        &self,
        grid: &Grid,
        block: std::ops::Range<usize>,
        offset: &[f64],
        middles: &[Vec<f64>; 2],
    ) -> Sums {
        let (size, [rows, columns]) = (block.len(), grid.shape());
        let offset = &offset[block.clone()];
        let mut out = Sums {
            sum: vec![0.0; size],
            products: vec![0.0; size],
            along: [Mat::zeros(size, rows), Mat::zeros(size, columns)],
        };
        let mut inside = vec![0.0; size];
        self.lines.visit(block, 0..rows, |i, line| {
            inside.fill(0.0);
            for j in 0..columns {
                let column = line.col_as_slice_mut(j);
                loops::shift(column, offset, grid.log_measure[i * columns + j]);
                crate::special::exp(column);
                let [along, across] = &mut out.along;
                loops::share(
                    column,
                    along.col_as_slice_mut(i),
                    across.col_as_slice_mut(j),
                    middles[1][j],
                    &mut inside,
                );
            }
            loops::add(&mut out.sum, out.along[0].col_as_slice(i));
            let by = middles[0][i];
            crate::linalg::vectorised(|| {
                crate::linalg::add_scaled(by, &inside, &mut out.products);
            });
        });
        out
    }

    /// The largest value of each of some draws.
    fn tops(&self, grid: &Grid, block: std::ops::Range<usize>, offset: &mut [f64]) {
        let columns = grid.shape()[1];
        let offset = &mut offset[block.clone()];
        offset.fill(f64::NEG_INFINITY);
        self.lines.visit(block, 0..grid.shape()[0], |i, line| {
            for j in 0..columns {
                let measure = grid.log_measure[i * columns + j];
                let pairs = offset.iter_mut().zip(line.col_as_slice(j));
                pairs.for_each(|(o, x)| *o = o.max(x + measure));
            }
        });
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Mean, standard deviation and quantiles of the probability of every cell.
    pub fn bands(&self, grid: &Grid, p: [f64; 2]) -> Bands {
        let [rows, columns] = grid.shape();
        let mut out = Bands {
            mean: Vec::with_capacity(rows * columns),
            sd: Vec::with_capacity(rows * columns),
            lower: Vec::with_capacity(rows * columns),
            upper: Vec::with_capacity(rows * columns),
        };
        let mut work = Work::default();
        self.lines.visit(0..self.len(), 0..rows, |i, line| {
            for j in 0..columns {
                let column = line.col_as_slice_mut(j);
                loops::subtract(column, &self.log_sum);
                let measure = grid.log_measure[i * columns + j];
                let [lower, upper] = work.quantiles(column, &self.weights, p);
                out.lower.push((lower + measure).exp());
                out.upper.push((upper + measure).exp());
                crate::special::exp(column);
                let mean = dot(column, &self.weights);
                let variance = loops::spread(column, &self.weights, mean);
                out.mean.push(measure.exp() * mean);
                out.sd.push(measure.exp() * variance.max(0.0).sqrt());
            }
        });
        let sum: f64 = out.mean.iter().sum();
        out.mean.iter_mut().for_each(|x| *x /= sum);
        out
    }

    /// A weighted sum of the probabilities of some cells, in every draw.
    ///
    /// # Arguments
    /// * `lines` - cells of the first axis that have a weight
    /// * `weight` - of each cell
    pub fn linear(
        &self,
        grid: &Grid,
        lines: std::ops::Range<usize>,
        weight: impl Fn(usize, usize) -> f64,
    ) -> Vec<f64> {
        let columns = grid.shape()[1];
        let mut out = vec![0.0; self.len()];
        for block in cut(self.len(), BLOCK) {
            let (log_sum, out) = (&self.log_sum[block.clone()], &mut out[block.clone()]);
            self.lines.visit(block, lines.clone(), |i, line| {
                for j in 0..columns {
                    let by = weight(i, j);
                    if by != 0.0 {
                        let column = line.col_as_slice_mut(j);
                        loops::shift(column, log_sum, grid.log_measure[i * columns + j]);
                        crate::special::exp(column);
                        crate::linalg::vectorised(|| crate::linalg::add_scaled(by, column, out));
                    }
                }
            });
        }
        out
    }

    /// The probabilities of all cells of one draw.
    pub fn draw(&self, grid: &Grid, draw: usize) -> Vec<f64> {
        let [rows, columns] = grid.shape();
        let mut out = Vec::with_capacity(rows * columns);
        self.lines.visit(draw..draw + 1, 0..rows, |i, line| {
            for j in 0..columns {
                let log = line[(0, j)] - self.log_sum[draw] + grid.log_measure[i * columns + j];
                out.push(log.exp());
            }
        });
        out
    }
}
