//! Draws of whole densities of two columns, with weights, and what is asked of them.
//!
//! Densities are made again from their coefficients whenever they are asked for: all of them at
//! once would not fit into memory.

use crate::linalg::{Mat, cut, dot};
use crate::progress::Watched;

use super::super::curves::Work;
use super::super::loops;
use super::super::pareto::{Smoothed, smooth};
use super::draw::Sample;
use super::functions::Functions;
use super::grid::{CellGrid, Normalisation};
use super::sweep::CoefficientLines;

/// Draws that are normalised at a time.
const BLOCK: usize = 256;
/// What the sum of exponentials may be before each draw is taken off its own largest value.
const USUAL: std::ops::Range<f64> = 1e-200..1e200;

/// Draws of densities.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    lines: CoefficientLines,
    /// What normalises each part of each draw, shape `[draws, parts]`.
    log_sum: Mat<f64>,
    /// Weights of the draws, of sum one.
    pub weights: Vec<f64>,
    /// `1 / sum w^2`.
    pub effective: f64,
    /// Shape of the tail of the weights.
    pub shape: f64,
    /// Of densities of both columns: probabilities along each axis, shape `[draws, cells of the
    /// axis]`.
    pub along: [Mat<f64>; 2],
    /// The same: mean of the product of the two axes, each in its middles as given.
    pub products: Vec<f64>,
}

/// Bands and the mean.
#[derive(Debug, Clone)]
pub(super) struct PointwiseBands {
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
    /// Shape `[draws, parts]`.
    sum: Mat<f64>,
    products: Vec<f64>,
    along: [Mat<f64>; 2],
    /// Sums over boxes, shape `[draws, boxes]`.
    boxes: Mat<f64>,
}

/// Normalises draws and weighs them.
///
/// # Arguments
/// * `mass` - probabilities near those of the draws
/// * `middles` - of the cells of each axis, in any unit
pub(super) fn curves(
    grid: &CellGrid,
    functions: &Functions,
    sample: &Sample,
    mass: &[f64],
    middles: &[Vec<f64>; 2],
    weigh: bool,
    watched: &Watched<'_>,
) -> Curves {
    let lines = CoefficientLines::new(functions, &sample.theta).raised(sample.raised.clone());
    let n = lines.len();
    let joint = grid.kind == Normalisation::Joint;
    let [rows, columns] = if joint { grid.shape() } else { [0; 2] };
    let mut offset = offsets(grid, &lines, mass);
    // Log likelihood of the boxes.
    let mut boxed = vec![0.0; n];
    let mut out = Curves {
        log_sum: Mat::zeros(n, grid.totals.len()),
        weights: Vec::new(),
        effective: n as f64,
        shape: f64::NEG_INFINITY,
        along: [Mat::zeros(n, rows), Mat::zeros(n, columns)],
        products: vec![0.0; if joint { n } else { 0 }],
        lines,
    };
    for block in cut(n, BLOCK) {
        let mut sums = out.sums(grid, block.clone(), &offset, middles);
        let all = || (0..sums.sum.ncols()).flat_map(|p| sums.sum.col_as_slice(p));
        if all().any(|s| !USUAL.contains(s)) {
            out.tops(grid, block.clone(), &mut offset);
            sums = out.sums(grid, block.clone(), &offset, middles);
        }
        for part in 0..grid.totals.len() {
            for (i, draw) in block.clone().enumerate() {
                out.log_sum[(draw, part)] = sums.sum[(i, part)].ln() + offset[(draw, part)];
            }
        }
        if weigh {
            let sum = sums.sum.col_as_slice(0);
            for (b, weight) in grid.patches.weights.iter().enumerate() {
                let pairs = sums.boxes.col_as_slice(b).iter().zip(sum);
                let terms = boxed[block.clone()].iter_mut().zip(pairs);
                terms.for_each(|(o, (p, s))| *o += weight * (p / s).max(f64::MIN_POSITIVE).ln());
            }
        }
        watched.some(block.len(), n);
        if joint {
            out.keep(block, &sums);
        }
    }
    out.weights = vec![1.0 / n as f64; n];
    if weigh {
        let mut log_weight = sample.log_weight.clone();
        let pairs = log_weight.iter_mut().zip(&boxed);
        pairs.for_each(|(w, boxes)| *w += boxes);
        for (part, total) in grid.exact.iter().enumerate() {
            let pairs = log_weight.iter_mut().zip(out.log_sum.col_as_slice(part));
            pairs.for_each(|(w, s)| *w -= total * s);
        }
        let Smoothed {
            weights,
            effective,
            shape,
        } = smooth(&log_weight);
        (out.weights, out.effective, out.shape) = (weights, effective, shape);
    }
    out
}

/// The function of every draw at a cell of large probability of every part.
pub(super) fn offsets(grid: &CellGrid, lines: &CoefficientLines, mass: &[f64]) -> Mat<f64> {
    let (columns, size) = (grid.shape()[1], grid.part());
    let mut out = Mat::zeros(lines.len(), grid.totals.len());
    for (part, mass) in mass.chunks_exact(size).enumerate() {
        let top = (0..size).max_by(|a, b| mass[*a].total_cmp(&mass[*b]));
        let cell = part * size + top.unwrap_or(0);
        let at = lines.at(cell / columns, cell % columns);
        let target = out.col_as_slice_mut(part).iter_mut().zip(at);
        target.for_each(|(o, x)| *o = x + grid.log_measure[cell]);
    }
    out
}

impl Curves {
    /// Keeps what a pass over some draws of densities of both columns gave.
    fn keep(&mut self, block: std::ops::Range<usize>, sums: &Sums) {
        let sum = sums.sum.col_as_slice(0);
        let products = self.products[block.clone()].iter_mut();
        products
            .zip(sums.products.iter().zip(sum))
            .for_each(|(t, (x, s))| *t = x / s);
        for (all, some) in self.along.iter_mut().zip(&sums.along) {
            for j in 0..all.ncols() {
                let target = &mut all.col_as_slice_mut(j)[block.clone()];
                let from = some.col_as_slice(j).iter().zip(sum);
                target
                    .iter_mut()
                    .zip(from)
                    .for_each(|(t, (x, s))| *t = x / s);
            }
        }
    }

    fn sums(
        &self,
        grid: &CellGrid,
        block: std::ops::Range<usize>,
        offset: &Mat<f64>,
        middles: &[Vec<f64>; 2],
    ) -> Sums {
        let (size, columns, lines) = (block.len(), grid.shape()[1], grid.lines());
        let joint = grid.kind == Normalisation::Joint;
        let mut out = Sums {
            sum: Mat::zeros(size, grid.totals.len()),
            products: vec![0.0; size],
            along: [0, 1].map(|a| Mat::zeros(size, if joint { grid.shape()[a] } else { 0 })),
            boxes: Mat::zeros(size, grid.patches.weights.len()),
        };
        let mut inside = vec![0.0; size];
        self.lines
            .visit(block.clone(), 0..grid.shape()[0], |i, line| {
                let part = i / lines;
                let offset = &offset.col_as_slice(part)[block.clone()];
                inside.fill(0.0);
                for j in 0..columns {
                    let column = line.col_as_slice_mut(j);
                    loops::shift(column, offset, grid.log_measure[i * columns + j]);
                    crate::special::exp(column);
                    if !joint {
                        loops::add(out.sum.col_as_slice_mut(part), column);
                        continue;
                    }
                    for (b, share) in grid.patches.of(i * columns + j) {
                        let target = out.boxes.col_as_slice_mut(*b);
                        crate::linalg::add_scaled(*share, column, target);
                    }
                    let [along, across] = &mut out.along;
                    loops::share(
                        column,
                        along.col_as_slice_mut(i),
                        across.col_as_slice_mut(j),
                        middles[1][j],
                        &mut inside,
                    );
                }
                if joint {
                    loops::add(out.sum.col_as_slice_mut(0), out.along[0].col_as_slice(i));
                    let by = middles[0][i];
                    crate::linalg::vectorised(|| {
                        crate::linalg::add_scaled(by, &inside, &mut out.products);
                    });
                }
            });
        out
    }

    /// The largest value of every part of each of some draws.
    fn tops(&self, grid: &CellGrid, block: std::ops::Range<usize>, offset: &mut Mat<f64>) {
        let (columns, lines) = (grid.shape()[1], grid.lines());
        for part in 0..offset.ncols() {
            offset.col_as_slice_mut(part)[block.clone()].fill(f64::NEG_INFINITY);
        }
        self.lines
            .visit(block.clone(), 0..grid.shape()[0], |i, line| {
                let offset = &mut offset.col_as_slice_mut(i / lines)[block.clone()];
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
    pub fn bands(&self, grid: &CellGrid, p: [f64; 2], watched: &Watched<'_>) -> PointwiseBands {
        let [rows, columns] = grid.shape();
        let mut out = PointwiseBands {
            mean: Vec::with_capacity(rows * columns),
            sd: Vec::with_capacity(rows * columns),
            lower: Vec::with_capacity(rows * columns),
            upper: Vec::with_capacity(rows * columns),
        };
        let mut work = Work::default();
        self.lines.visit(0..self.len(), 0..rows, |i, line| {
            let log_sum = self.log_sum.col_as_slice(i / grid.lines());
            for j in 0..columns {
                let column = line.col_as_slice_mut(j);
                loops::subtract(column, log_sum);
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
            let before = |line: usize| self.len() * line / rows;
            watched.some(before(i + 1) - before(i), 0);
        });
        out.mean.chunks_exact_mut(grid.part()).for_each(add_to_one);
        out
    }

    /// Calls `visit(cell, logarithms)` with the log probability of each cell in every draw, but for
    /// the measure of the cell.
    pub fn each_log(&self, grid: &CellGrid, mut visit: impl FnMut(usize, &[f64])) {
        let [rows, columns] = grid.shape();
        self.lines.visit(0..self.len(), 0..rows, |i, line| {
            let log_sum = self.log_sum.col_as_slice(i / grid.lines());
            for j in 0..columns {
                let column = line.col_as_slice_mut(j);
                loops::subtract(column, log_sum);
                visit(i * columns + j, column);
            }
        });
    }

    /// Calls `visit(line, probabilities)` with those of the cells of some lines in every draw,
    /// shape `[draws, cells of the second axis]`.
    pub fn each(
        &self,
        grid: &CellGrid,
        lines: std::ops::Range<usize>,
        mut visit: impl FnMut(usize, &Mat<f64>),
    ) {
        let columns = grid.shape()[1];
        self.lines.visit(0..self.len(), lines, |i, line| {
            let log_sum = self.log_sum.col_as_slice(i / grid.lines());
            for j in 0..columns {
                let column = line.col_as_slice_mut(j);
                loops::shift(column, log_sum, grid.log_measure[i * columns + j]);
                crate::special::exp(column);
            }
            visit(i, line);
        });
    }

    /// Weighted sums of the probabilities of the cells, in every draw.
    ///
    /// # Arguments
    /// * `weights` - of each cell, for every sum
    pub fn sums_of(&self, grid: &CellGrid, weights: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let [rows, columns] = grid.shape();
        let mut out = vec![vec![0.0; self.len()]; weights.len()];
        for block in cut(self.len(), BLOCK) {
            self.lines.visit(block.clone(), 0..rows, |i, line| {
                let log_sum = &self.log_sum.col_as_slice(i / grid.lines())[block.clone()];
                for j in 0..columns {
                    let cell = i * columns + j;
                    if weights.iter().all(|w| w[cell] == 0.0) {
                        continue;
                    }
                    let column = line.col_as_slice_mut(j);
                    loops::shift(column, log_sum, grid.log_measure[cell]);
                    crate::special::exp(column);
                    for (out, weights) in out.iter_mut().zip(weights) {
                        let (by, out) = (weights[cell], &mut out[block.clone()]);
                        if by != 0.0 {
                            crate::linalg::vectorised(|| {
                                crate::linalg::add_scaled(by, column, out);
                            });
                        }
                    }
                }
            });
        }
        out
    }

    /// The probabilities of all cells of one draw.
    pub fn draw(&self, grid: &CellGrid, draw: usize) -> Vec<f64> {
        let [rows, columns] = grid.shape();
        let mut out = Vec::with_capacity(rows * columns);
        self.lines.visit(draw..draw + 1, 0..rows, |i, line| {
            let log_sum = self.log_sum[(draw, i / grid.lines())];
            for j in 0..columns {
                let log = line[(0, j)] - log_sum + grid.log_measure[i * columns + j];
                out.push(log.exp());
            }
        });
        out
    }
}

/// Divides numbers by their sum.
pub(super) fn add_to_one(x: &mut [f64]) {
    let sum: f64 = x.iter().sum();
    x.iter_mut().for_each(|x| *x /= sum);
}
