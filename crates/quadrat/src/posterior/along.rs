//! Marginals at many points along a line, by interpolation.
//!
//! Along one coordinate, between the edges of what was conditioned on, posterior means and
//! variances are analytic. On panels of the line they are Chebyshev series,
//!
//! $$ g(x) = \sum_{j < N} c_j T_j(t), \qquad t = \frac{2 x - a - b}{b - a}, $$
//!
//! from their values at `N` nodes. A panel is halved whose last coefficients do not vanish, or
//! whose series misses some of its places: all nodes of a long one may lie where the rows say
//! nothing. One with no more places than nodes is told place by place. With hundreds of settings of
//! the hyperparameters, each a covariance with all rows, a hundred thousand places take as long as
//! some hundreds. Quantiles of the mixture over these settings are analytic there as well
//! (`stretch.rs`).
//!
//! # Source
//! Trefethen 2019, Approximation Theory and Approximation Practice, chapters 3 and 8.

use std::ops::Range;

use rayon::prelude::*;

use super::marginals::{Marginals, Told};
use super::mixture::Posterior;
use super::stretch::{NODES, ROUNDINGS, Stretch, abscissae};
use crate::error::FitError;
use crate::kernel::Kind;
use crate::linalg::{Mat, gemm, par_gemm};
use crate::support::Functionals;

/// Coefficients of a panel that must vanish.
const LAST: usize = 3;
/// They do where they are below this, in the smallest sd of the panel for means, and in the
/// smallest variance for variances: what series leave out is then below 1e-9 of these.
const VANISHED: f64 = 1e-10;
/// Places of a panel that are told as they are beside its series.
const LOOKED_AT: usize = 6;
/// Series may miss these by so many of their sds, and shares of their variances.
const MISSED: f64 = 1e-9;
/// Panels to begin with where there are no edges, of as many places each.
const PANELS: usize = 8;
/// Fewer places are told one by one.
const LEAST: usize = 2048;
/// Places for every node, at least.
const WORTH: usize = 3;

/// Points along one column of the kernel, in order.
struct Line {
    column: usize,
    /// Coordinates along all columns, of which this one changes.
    place: Vec<f64>,
    x: Vec<f64>,
    /// Which rows they are.
    rows: Vec<usize>,
}

/// A part of a line, and which of its points are there.
#[derive(Clone)]
struct Panel {
    low: f64,
    high: f64,
    points: Range<usize>,
}

impl Posterior {
    /// Means and variances at every node of the hyperparameters, by interpolation; none where
    /// functionals are no points along a line, or few.
    ///
    /// # Numerics
    /// Means within 1e-9 of the smallest sd of a panel, variances within 1e-9 of the smallest of a
    /// panel.
    pub(super) fn along_line(&self, at: &Functionals) -> Result<Option<Told>, FitError> {
        let Some(line) = self.line(at) else {
            return Ok(None);
        };
        let mut left = at.len() / WORTH;
        let seen = self.problem.supports().range(line.column);
        let mut pending = line.panels(&self.edges(line.column), seen);
        if pending.len() * NODES > left {
            return Ok(None);
        }
        let mut told = vec![empty(at.len()); self.components.len()];
        let mut stretches = Vec::new();
        let mut alone: Vec<usize> = Vec::new();
        while !pending.is_empty() {
            let is_worth = |panel: &Panel| panel.points.len() > NODES && panel.low < panel.high;
            let (panels, few): (Vec<Panel>, Vec<Panel>) = pending.into_iter().partition(is_worth);
            alone.extend(few.iter().flat_map(|panel| panel.points.clone()));
            if panels.len() * (NODES + LOOKED_AT) > left {
                alone.extend(panels.iter().flat_map(|panel| panel.points.clone()));
                break;
            }
            if panels.is_empty() {
                break;
            }
            left -= panels.len() * (NODES + LOOKED_AT);
            let found = self.not_interpolated(&line.nodes(at.dims(), &panels)?)?;
            let series = |number: usize| coefficients(&found, number * NODES);
            let series: Vec<Option<Mat<f64>>> = (0..panels.len()).map(series).collect();
            let looked_at: Vec<usize> = panels.iter().flat_map(Panel::looked_at).collect();
            let rows: Vec<usize> = looked_at.iter().map(|point| line.rows[*point]).collect();
            let exact = self.not_interpolated(&at.rows(&rows))?;
            pending = Vec::new();
            for (number, (panel, series)) in panels.iter().zip(series).enumerate() {
                let seen = number * LOOKED_AT..(number + 1) * LOOKED_AT;
                let is_met = |series: &Mat<f64>| {
                    let x: Vec<f64> = looked_at[seen.clone()].iter().map(|p| line.x[*p]).collect();
                    meets(&panel.values(&x, series), &exact, seen.start)
                };
                match series.filter(is_met) {
                    Some(series) => {
                        line.fill(panel, &series, &mut told);
                        stretches.push(line.stretch(panel));
                    }
                    None => pending.extend(line.halves(panel)),
                }
            }
        }
        alone
            .iter_mut()
            .for_each(|point| *point = line.rows[*point]);
        alone.sort_unstable();
        let found = self.not_interpolated(&at.rows(&alone))?;
        for (told, found) in told.iter_mut().zip(found) {
            for (at, &row) in alone.iter().enumerate() {
                told.mean[row] = found.mean[at];
                told.variance[row] = found.variance[at];
            }
            told.unresolved = found.unresolved.iter().map(|at| alone[*at]).collect();
        }
        Ok(Some(Told {
            nodes: told,
            stretches,
        }))
    }

    /// Functionals as points along a line, where they are many.
    fn line(&self, at: &Functionals) -> Option<Line> {
        let is_point = |row: usize| at.is_point(row) && at.size(row) == 1.0;
        let is_many = at.len() >= LEAST && at.atom_count() == at.len();
        if !is_many || self.has_draws() {
            return None;
        }
        let varies = |d: &usize| at.lower(*d).iter().any(|x| *x != at.lower(*d)[0]);
        let mut varying = (0..at.dims().len()).filter(varies);
        let column = varying.next()?;
        let kernel = self.problem.kernel();
        let is_label = kernel.label_columns().contains(&column);
        let is_smooth = !is_label && kernel.output_column() != Some(column);
        if varying.next().is_some() || !is_smooth || !(0..at.len()).all(is_point) {
            return None;
        }
        let x = at.lower(column);
        let mut rows: Vec<usize> = (0..at.len()).collect();
        rows.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
        Some(Line {
            column,
            place: (0..at.dims().len()).map(|d| at.lower(d)[0]).collect(),
            x: rows.iter().map(|&row| x[row]).collect(),
            rows,
        })
    }

    /// Where covariances with what was conditioned on are rough along a column, in order; nowhere
    /// where all leaves of the kernel are analytic.
    fn edges(&self, column: usize) -> Vec<f64> {
        let is_rough =
            |kind: Kind| matches!(kind, Kind::Matern12 | Kind::Matern32 | Kind::Matern52);
        let mut leaves = self.problem.kernel().leaves().iter();
        if !leaves.any(|leaf| is_rough(leaf.kind) && leaf.columns.contains(&column)) {
            return Vec::new();
        }
        let seen = self.problem.supports();
        let (lower, width) = (seen.lower(column), seen.width(column));
        let ends = lower.iter().zip(width).flat_map(|(x, w)| [*x, x + w]);
        let mut edges: Vec<f64> = ends.collect();
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        edges
    }
}

fn empty(rows: usize) -> Marginals {
    Marginals::known(vec![0.0; rows], vec![0.0; rows])
}

impl Line {
    /// Panels between edges, or of as many places each, and the ends of what was seen.
    fn panels(&self, edges: &[f64], seen: (f64, f64)) -> Vec<Panel> {
        let (low, high) = (self.x[0], self.x[self.x.len() - 1]);
        let mut inside = edges.to_vec();
        if edges.is_empty() {
            inside.extend((1..PANELS).map(|k| self.x[k * self.x.len() / PANELS]));
            inside.extend([seen.0, seen.1]);
            inside.sort_by(f64::total_cmp);
        }
        inside.retain(|x| low < *x && *x < high);
        let mut ends = vec![low];
        ends.extend(inside);
        ends.push(high);
        ends.dedup();
        let last = ends.len() - 2;
        let one = |(k, ends): (usize, &[f64])| {
            let from = self.x.partition_point(|x| *x < ends[0]);
            let to = match k == last {
                true => self.x.len(),
                false => self.x.partition_point(|x| *x < ends[1]),
            };
            Panel {
                low: ends[0],
                high: ends[1],
                points: from..to,
            }
        };
        ends.windows(2).enumerate().map(one).collect()
    }

    fn halves(&self, panel: &Panel) -> [Panel; 2] {
        let middle = f64::midpoint(panel.low, panel.high);
        let own = &self.x[panel.points.clone()];
        let split = panel.points.start + own.partition_point(|x| *x < middle);
        [
            Panel {
                high: middle,
                points: panel.points.start..split,
                ..*panel
            },
            Panel {
                low: middle,
                points: split..panel.points.end,
                ..*panel
            },
        ]
    }

    /// The nodes of some panels, one panel after the other.
    fn nodes(&self, dims: &[String], panels: &[Panel]) -> Result<Functionals, FitError> {
        let mut nodes = Functionals::new(dims.to_vec());
        let mut place = self.place.clone();
        for panel in panels {
            let (middle, half) = panel.frame();
            for t in abscissae() {
                place[self.column] = middle + half * t;
                nodes.push_point(&place)?;
            }
        }
        Ok(nodes)
    }

    /// The points of a panel.
    fn stretch(&self, panel: &Panel) -> Stretch {
        Stretch {
            x: self.x[panel.points.clone()].to_vec(),
            rows: self.rows[panel.points.clone()].to_vec(),
        }
    }

    /// Tells the points of a panel from its series.
    fn fill(&self, panel: &Panel, series: &Mat<f64>, told: &mut [Marginals]) {
        let values = panel.values(&self.x[panel.points.clone()], series);
        let rows = &self.rows[panel.points.clone()];
        let count = told.len();
        told.par_iter_mut().enumerate().for_each(|(k, told)| {
            let means = values.col_as_slice(k).iter();
            let both = means.zip(values.col_as_slice(count + k));
            for (&row, (mean, variance)) in rows.iter().zip(both) {
                told.mean[row] = *mean;
                told.variance[row] = *variance;
            }
        });
    }
}

impl Panel {
    /// Some of its points, the first and the last among them.
    fn looked_at(&self) -> impl Iterator<Item = usize> {
        let (first, last) = (self.points.start, self.points.end - 1);
        (0..LOOKED_AT).map(move |k| first + k * (last - first) / (LOOKED_AT - 1))
    }

    /// Values of its series at some coordinates, shape `[coordinates, series]`.
    fn values(&self, x: &[f64], series: &Mat<f64>) -> Mat<f64> {
        let (middle, half) = self.frame();
        let mut terms = Mat::zeros(x.len(), NODES);
        for (i, x) in x.iter().enumerate() {
            let t = (x - middle) / half;
            let (mut before, mut now) = (t, 1.0);
            for j in 0..NODES {
                terms[(i, j)] = now;
                (before, now) = (now, 2.0 * t * now - before);
            }
        }
        par_gemm(terms.as_ref(), series.as_ref())
    }

    /// Middle and half length.
    fn frame(&self) -> (f64, f64) {
        let half = 0.5 * (self.high - self.low);
        (f64::midpoint(self.low, self.high), half)
    }
}

/// Whether series meet what is known of some places, which begin at `first`.
fn meets(values: &Mat<f64>, exact: &[Marginals], first: usize) -> bool {
    let (rows, count) = (values.nrows(), exact.len());
    let largest = |all: &[f64]| all.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    exact.iter().enumerate().all(|(k, exact)| {
        let means = &exact.mean[first..first + rows];
        let variances = &exact.variance[first..first + rows];
        let rounding = [means, variances].map(|all| ROUNDINGS * largest(all));
        (0..rows).all(|i| {
            let variance = variances[i].max(0.0);
            let of_mean = (values[(i, k)] - means[i]).abs();
            let of_variance = (values[(i, count + k)] - variances[i]).abs();
            // What is no number is not met.
            of_mean <= MISSED * variance.sqrt() + rounding[0]
                && of_variance <= MISSED * variance + rounding[1]
        })
    })
}

/// Coefficients of the means at all nodes of the hyperparameters, then of the variances, one series
/// a column; none where some do not vanish.
///
/// # Arguments
/// * `found` - marginals, of which `NODES` from `first` on are those of a panel
fn coefficients(found: &[Marginals], first: usize) -> Option<Mat<f64>> {
    let own = first..first + NODES;
    let is_unresolved = |one: &Marginals| one.unresolved.iter().any(|at| own.contains(at));
    if found.iter().any(is_unresolved) {
        return None;
    }
    let count = found.len();
    let values = Mat::from_fn(NODES, 2 * count, |i, k| match found.get(k) {
        Some(one) => one.mean[first + i],
        None => found[k - count].variance[first + i],
    });
    let t: Vec<f64> = abscissae().collect();
    let transform = Mat::from_fn(NODES, NODES, |j, i| {
        let scale = if j == 0 { 1.0 } else { 2.0 } / NODES as f64;
        scale * (j as f64 * t[i].acos()).cos()
    });
    let series = gemm(transform.as_ref(), values.as_ref());
    let largest = |column: &[f64]| column.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let vanishes = |k: usize, tolerance: f64| {
        let rounding = ROUNDINGS * largest(values.col_as_slice(k));
        // What is not a number does not vanish.
        let last = series.col_as_slice(k)[NODES - LAST..].iter();
        last.map(|c| c.abs()).all(|c| c <= tolerance + rounding)
    };
    let is_told = (0..count).all(|k| {
        let variances = values.col_as_slice(count + k).iter();
        let least = variances
            .fold(f64::INFINITY, |least, v| least.min(*v))
            .max(0.0);
        vanishes(k, VANISHED * least.sqrt()) && vanishes(count + k, VANISHED * least)
    });
    is_told.then_some(series)
}

#[cfg(test)]
#[path = "along_tests.rs"]
mod tests;
