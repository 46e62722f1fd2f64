//! Quantiles of mixtures along a line, by interpolation.
//!
//! Where means and variances of all components are analytic along a line, quantiles of the mixture
//! are so too: they solve `F(q, x) = p` for a distribution function with a positive density. On a
//! stretch they are the polynomial through those of some of its rows, which lie as Chebyshev points
//! do,
//!
//! $$ q(x) = \sum_i \frac{w_i}{x - x_i} q_i \Big/ \sum_i \frac{w_i}{x - x_i}, \qquad w_i =
//! \prod_{j \ne i} \frac{1}{x_i - x_j} $$
//!
//! Quantiles of further rows, between those, are found one by one: a stretch whose polynomial
//! misses them is halved.
//!
//! # Source
//! Berrut and Trefethen 2004, "Barycentric Lagrange Interpolation", SIAM Review 46:501.

use std::ops::Range;

use super::normal_mixture::{RowMixtures, Work};
use crate::linalg::{Mat, gemm};

/// Nodes of a polynomial.
pub(super) const NODES: usize = 16;
/// Roundings of the numbers that are interpolated.
pub(super) const ROUNDINGS: f64 = 8.0 * f64::EPSILON;
/// One gap between nodes out of so many is looked at.
const EVERY: usize = 3;
/// Polynomials may miss a quantile by so many sds of the mixture, the smallest on the stretch.
const MISSED: f64 = 1e-10;
/// Rows for every one whose quantiles are found one by one, at least.
const WORTH: usize = 3;

/// A stretch of a line on which all components of the mixtures are analytic.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stretch {
    /// Coordinates along the line, ascending.
    pub x: Vec<f64>,
    /// Which rows of a prediction they are.
    pub rows: Vec<usize>,
}

/// Quantiles of some rows.
pub(crate) struct Interpolated {
    rows: Vec<usize>,
    /// Shape `[rows, levels]`.
    values: Mat<f64>,
}

impl Interpolated {
    /// Each row with the quantile of a level.
    pub fn of_level(&self, level: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let values = self.values.col_as_slice(level);
        self.rows.iter().copied().zip(values.iter().copied())
    }

    /// Which rows they are.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Each quantile as another number.
    pub fn map(&mut self, to: impl Fn(usize, f64) -> f64) {
        for level in 0..self.values.ncols() {
            let values = self.values.col_as_slice_mut(level).iter_mut();
            values
                .zip(&self.rows)
                .for_each(|(q, row)| *q = to(*row, *q));
        }
    }
}

impl Stretch {
    /// Quantiles of those rows that need not be asked one by one.
    ///
    /// # Numerics
    /// Within 1e-9 of the smallest sd of a mixture nearby.
    pub fn quantiles(&self, mixtures: &RowMixtures, levels: &[f64]) -> Vec<Interpolated> {
        let whole = 0..self.x.len();
        let (mut pending, mut out) = (Vec::from([whole]), Vec::new());
        let most = NODES + NODES / EVERY;
        while let Some(part) = pending.pop() {
            // Rows of one place are no stretch.
            if part.len() < WORTH * most || self.x[part.start] == self.x[part.end - 1] {
                continue;
            }
            match self.polynomial(part.clone(), mixtures, levels) {
                Some(values) => out.push(Interpolated {
                    rows: self.rows[part].to_vec(),
                    values,
                }),
                None => {
                    let halves = self.halves(part.clone());
                    // Two neighbouring numbers have no middle between them.
                    if halves.iter().all(|half| half.len() < part.len()) {
                        pending.extend(halves);
                    }
                }
            }
        }
        out
    }

    /// A stretch in two of equal length.
    fn halves(&self, part: Range<usize>) -> [Range<usize>; 2] {
        let x = &self.x[part.clone()];
        let middle = f64::midpoint(x[0], x[x.len() - 1]);
        let split = part.start + x.partition_point(|x| *x < middle);
        [part.start..split, split..part.end]
    }

    /// Quantiles of the rows of a part, shape `[rows, levels]`; none where the polynomial misses
    /// those that are looked at.
    fn polynomial(
        &self,
        part: Range<usize>,
        mixtures: &RowMixtures,
        levels: &[f64],
    ) -> Option<Mat<f64>> {
        let (x, rows) = (&self.x[part.clone()], &self.rows[part]);
        let nodes = nodes(x)?;
        let mut work = Work::default();
        let mut exact = |at: usize| -> Vec<f64> {
            let mixture = mixtures.row(rows[at]);
            levels
                .iter()
                .map(|p| mixture.quantile(*p, &mut work))
                .collect()
        };
        let found: Vec<Vec<f64>> = nodes.iter().map(|at| exact(*at)).collect();
        let known = Mat::from_fn(nodes.len(), levels.len(), |i, level| found[i][level]);
        let values = gemm(basis(x, &nodes).as_ref(), known.as_ref());
        let sds = nodes.iter().map(|at| mixtures.row(rows[*at]).moments().1);
        let least = sds.fold(f64::INFINITY, f64::min);
        let most = found
            .iter()
            .flatten()
            .fold(0.0_f64, |most, q| most.max(q.abs()));
        let may_miss = MISSED * least + ROUNDINGS * most;
        let mut looked_at = nodes.windows(2).step_by(EVERY);
        let is_met = looked_at.all(|ends| {
            let at = nearest(x, f64::midpoint(x[ends[0]], x[ends[1]]));
            let off = |(level, q): (usize, &f64)| (values[(at, level)] - q).abs();
            // What is not a number is not met.
            exact(at)
                .iter()
                .enumerate()
                .map(off)
                .all(|off| off <= may_miss)
        });
        is_met.then_some(values)
    }
}

/// Chebyshev points of the first kind, from the highest to the lowest.
pub(super) fn abscissae() -> impl Iterator<Item = f64> {
    let angle = |i: usize| std::f64::consts::PI * (i as f64 + 0.5) / NODES as f64;
    (0..NODES).map(move |i| angle(i).cos())
}

/// Rows that lie as Chebyshev points do; none where there are not enough at different places.
fn nodes(x: &[f64]) -> Option<Vec<usize>> {
    let (low, high) = (x[0], x[x.len() - 1]);
    let (middle, half) = (f64::midpoint(low, high), 0.5 * (high - low));
    let mut nodes: Vec<usize> = abscissae().map(|t| nearest(x, middle + half * t)).collect();
    nodes.reverse();
    nodes.dedup_by(|a, b| x[*a] <= x[*b]);
    (nodes.len() == NODES).then_some(nodes)
}

/// The row nearest to a coordinate.
fn nearest(x: &[f64], to: f64) -> usize {
    let above = x.partition_point(|x| *x < to).min(x.len() - 1);
    let below = above.saturating_sub(1);
    if to - x[below] < x[above] - to {
        below
    } else {
        above
    }
}

/// What the value at each node adds at each coordinate, shape `[coordinates, nodes]`.
fn basis(x: &[f64], nodes: &[usize]) -> Mat<f64> {
    // Differences of a mean size of one half keep the products of weights near one.
    let unit = 4.0 / (x[x.len() - 1] - x[0]);
    let weight = |i: &usize| {
        let others = nodes.iter().filter(|j| *j != i);
        others.map(|j| 1.0 / (unit * (x[*i] - x[*j]))).product()
    };
    let weights: Vec<f64> = nodes.iter().map(weight).collect();
    let mut out = Mat::zeros(x.len(), nodes.len());
    for (row, x_row) in x.iter().enumerate() {
        let same = nodes.iter().position(|node| x[*node] == *x_row);
        if let Some(same) = same {
            out[(row, same)] = 1.0;
            continue;
        }
        let mut whole = 0.0;
        for (k, (node, weight)) in nodes.iter().zip(&weights).enumerate() {
            let term = weight / (x_row - x[*node]);
            out[(row, k)] = term;
            whole += term;
        }
        (0..nodes.len()).for_each(|k| out[(row, k)] /= whole);
    }
    out
}
