//! Draws over a plane that are moved to where boxes and areas hold what is known of them, as those
//! of one column ([`super::super::lift`]), by their coefficients.

use std::ops::Range;

use crate::error::LinalgError;
use crate::linalg::{Mat, add_scaled, cut, dot, gemm, gemm_into};

use super::super::basis::Kernel;
use super::super::lift::{ALONG, AS_THEY_ARE, HEAVY, MOST, Wanted, project, settle};
use super::super::loops;
use super::super::odds::Held;
use super::super::split::shares;
use super::super::warning::Warning;
use super::curves::{add_to_one, offsets};
use super::functions::Functions;
use super::grid::CellGrid;
use super::hyper::Component;
use super::left_out::left_out;
use super::patches::Patches;
use super::sweep::{CoefficientLines, Raised};

/// Draws whose boxes are summed at a time.
const BLOCK: usize = 256;

/// What bins should hold in draws about modes.
///
/// # Arguments
/// * `bins` - boxes and areas, of which those of the grid come first
/// * `theta` - the draws, shape `[functions, draws]`
fn wanted(
    (grid, functions, kernel): (&CellGrid, &Functions, Kernel),
    bins: &Patches,
    components: &[Component],
    theta: &Mat<f64>,
) -> Wanted {
    let count = bins.weights.len();
    let mut rows = grid.patches.weights.clone();
    rows.resize(count, 0.0);
    let held = Held {
        of: &|cell| bins.of(cell),
        weights: &rows,
        exact: &grid.counts,
    };
    let mut wanted = Wanted::new(theta.ncols(), bins.weights.clone());
    let mut done = 0;
    // Of the setting with the largest weight.
    let mut left = Vec::new();
    let numbers = shares(components.iter().map(|c| c.weight), theta.ncols());
    for (component, number) in components.iter().zip(numbers) {
        if number == 0 {
            continue;
        }
        let mode = &component.mode;
        let odds = held.odds(&mode.mass);
        if left.is_empty() {
            let hyper = (component.sd, component.lengths);
            let on = (grid, functions);
            left = left_out(on, kernel, hyper, &mode.mass, bins, &odds);
        }
        let sums: Vec<f64> = odds.iter().map(|o| o.probability).collect();
        let mut slopes = bins.within(functions, &mode.mass, &sums);
        let all = functions.project(&mode.mass);
        for (b, p) in sums.iter().enumerate() {
            let by = 1.0 / (1.0 - p);
            let by = if by.is_finite() { by } else { 0.0 };
            let column = slopes.col_as_slice_mut(b).iter_mut().zip(&all);
            column.for_each(|(slope, all)| *slope = by * (*slope - all));
        }
        let mut changes = gemm(theta.subcols(done, number).transpose(), slopes.as_ref());
        for b in 0..count {
            let base = dot(slopes.col_as_slice(b), &mode.theta);
            let column = changes.col_as_slice_mut(b).iter_mut();
            column.for_each(|change| *change -= base);
        }
        mode.factor.half_solve_in_place(slopes.as_mut());
        let sd = |b: usize| {
            let x = slopes.col_as_slice(b);
            dot(x, x).sqrt()
        };
        let sds: Vec<f64> = (0..count).map(sd).collect();
        wanted.say(done, &changes, &odds, &sds, &left);
        done += number;
    }
    wanted
}

/// Coefficients of functions that are nearly one within a bin and zero elsewhere, in columns, shape
/// `[functions, bins]`.
fn indicators(
    grid: &CellGrid,
    functions: &Functions,
    bins: &Patches,
) -> Result<Mat<f64>, LinalgError> {
    let cells = grid.counts.len();
    let can_hold: Vec<f64> = (0..cells)
        .map(|cell| f64::from(u8::from(grid.inside(cell) > 0.0)))
        .collect();
    let square = functions.curvature(&can_hold);
    let n = square.nrows();
    let mut out = Mat::zeros(n, bins.weights.len());
    let mut values = vec![0.0; n];
    for cell in (0..cells).filter(|cell| can_hold[*cell] > 0.0) {
        functions.at(cell, &mut values);
        for (b, share) in bins.evened(cell) {
            add_scaled(share, &values, out.col_as_slice_mut(b));
        }
    }
    project(square, out)
}

/// Moves draws, which are Laplace's, to where boxes hold what they should, and the curve to what
/// they hold on average.
///
/// # Arguments
/// * `theta` - coefficients of the draws, shape `[functions, draws]`
/// * `curve` - the probability of each cell
///
/// # Returns
/// How draws are raised beside their functions, and what should be known of it; none where there
/// are too many bins, and draws are left as they are.
///
/// # Errors
/// Functions that are not independent on the cells.
pub(super) fn lift(
    (grid, functions, kernel): (&CellGrid, &Functions, Kernel),
    components: &[Component],
    theta: &mut Mat<f64>,
    curve: &mut [f64],
) -> Result<Option<(Raised, Vec<Warning>)>, LinalgError> {
    let heavy = |cell: usize| grid.counts[cell] > HEAVY * grid.total;
    let bins = grid
        .patches
        .with_rest(&grid.counts, heavy, |cell| grid.inside(cell));
    let Some(near) = components.first().map(|c| c.mode.mass.as_slice()) else {
        return Ok(None);
    };
    if bins.weights.len() > MOST {
        return Ok(None);
    }
    let along = indicators(grid, functions, &bins)?;
    let wanted = wanted((grid, functions, kernel), &bins, components, theta);
    let push = |theta: &mut Mat<f64>, by: &Mat<f64>| {
        gemm_into(theta.as_mut(), true, 1.0, along.as_ref(), by.transpose());
    };
    let before = theta.clone();
    let look = Look {
        grid,
        bins: &bins,
        near,
    };
    let of = |theta: &Mat<f64>| look.logs(&CoefficientLines::new(functions, theta), None);
    for draw in settle(theta, &wanted, ALONG, of, push).astray() {
        let own = before.col_as_slice(draw);
        theta.col_as_slice_mut(draw).copy_from_slice(own);
    }
    drop(before);
    let mut by = Mat::zeros(theta.ncols(), bins.weights.len());
    let lines = CoefficientLines::new(functions, theta);
    let of = |by: &Mat<f64>| look.logs(&lines, Some(by));
    let missing = settle(&mut by, &wanted, AS_THEY_ARE, of, add);
    let mean = wanted.mean(&of(&by));
    draw_near(functions, &bins, &along, &mean, curve);
    let warnings = wanted.warnings(&missing, &bins.weights);
    Ok(Some((Raised { bins, by }, warnings)))
}

/// Adds a matrix to another.
fn add(to: &mut Mat<f64>, by: &Mat<f64>) {
    for b in 0..by.ncols() {
        add_scaled(1.0, by.col_as_slice(b), to.col_as_slice_mut(b));
    }
}

/// Moves the curve to where bins hold what they should.
///
/// # Arguments
/// * `along` - as of [`indicators`]
fn draw_near(
    functions: &Functions,
    bins: &Patches,
    along: &Mat<f64>,
    wanted: &Wanted,
    curve: &mut [f64],
) {
    let log: Vec<f64> = curve.iter().map(|u| u.ln()).collect();
    let sums = |by: &dyn Fn(usize) -> f64| {
        let mut mass: Vec<f64> = log.iter().enumerate().map(|(j, log)| log + by(j)).collect();
        let top = mass.iter().fold(f64::NEG_INFINITY, |top, x| top.max(*x));
        mass.iter_mut().for_each(|x| *x = (*x - top).exp());
        add_to_one(&mut mass);
        mass
    };
    let logs = |mass: &[f64]| {
        let sums = bins.sums(mass);
        Mat::from_fn(1, sums.len(), |_, b| sums[b].ln())
    };
    let smooth = |theta: &Mat<f64>| functions.eta(theta.col_as_slice(0));
    let mut theta = Mat::zeros(functions.len(), 1);
    let of = |theta: &Mat<f64>| {
        let eta = smooth(theta);
        logs(&sums(&|cell| eta[cell]))
    };
    let push = |theta: &mut Mat<f64>, by: &Mat<f64>| {
        gemm_into(theta.as_mut(), true, 1.0, along.as_ref(), by.transpose());
    };
    let is_astray = settle(&mut theta, wanted, ALONG, of, push).astray().count() > 0;
    if is_astray {
        theta = Mat::zeros(functions.len(), 1);
    }
    let eta = smooth(&theta);
    let raise = |by: &Mat<f64>, cell: usize| {
        let terms = bins.evened(cell).map(|(b, share)| share * by[(0, b)]);
        eta[cell] + terms.sum::<f64>()
    };
    let mut by = Mat::zeros(1, bins.weights.len());
    let of = |by: &Mat<f64>| logs(&sums(&|cell| raise(by, cell)));
    settle(&mut by, wanted, AS_THEY_ARE, of, add);
    curve.copy_from_slice(&sums(&|cell| raise(&by, cell)));
}

/// What bins of draws hold.
struct Look<'a> {
    grid: &'a CellGrid,
    bins: &'a Patches,
    /// Probabilities of cells near those of the draws.
    near: &'a [f64],
}

impl Look<'_> {
    /// The logarithm of the probability of each bin of every draw, shape `[draws, bins]`.
    ///
    /// # Arguments
    /// * `by` - what draws are raised by within bins, of that shape
    fn logs(&self, lines: &CoefficientLines, by: Option<&Mat<f64>>) -> Mat<f64> {
        let mut out = Mat::zeros(lines.len(), self.bins.weights.len());
        let offset = offsets(self.grid, lines, self.near);
        for block in cut(lines.len(), BLOCK) {
            let mut own = offset.col_as_slice(0)[block.clone()].to_vec();
            let mut all = self.sums(lines, by, block.clone(), &own, &mut out);
            if all.iter().any(|sum| !(*sum > 1e-200 && *sum < 1e200)) {
                own.fill(f64::NEG_INFINITY);
                self.each(lines, by, block.clone(), |cell, column| {
                    let measure = self.grid.log_measure[cell];
                    let pairs = own.iter_mut().zip(column.iter());
                    pairs.for_each(|(top, x)| *top = top.max(x + measure));
                });
                all = self.sums(lines, by, block.clone(), &own, &mut out);
            }
            for b in 0..out.ncols() {
                let column = &mut out.col_as_slice_mut(b)[block.clone()];
                let pairs = column.iter_mut().zip(&all);
                pairs.for_each(|(x, all)| *x = (*x / all).ln());
            }
        }
        out
    }

    /// Writes sums over the bins of some draws; returns those over all cells.
    fn sums(
        &self,
        lines: &CoefficientLines,
        by: Option<&Mat<f64>>,
        draws: Range<usize>,
        offset: &[f64],
        out: &mut Mat<f64>,
    ) -> Vec<f64> {
        let mut all = vec![0.0; draws.len()];
        for b in 0..out.ncols() {
            out.col_as_slice_mut(b)[draws.clone()].fill(0.0);
        }
        self.each(lines, by, draws.clone(), |cell, column| {
            loops::shift(column, offset, self.grid.log_measure[cell]);
            crate::special::exp(column);
            loops::add(&mut all, column);
            for (b, share) in self.bins.of(cell) {
                let target = &mut out.col_as_slice_mut(*b)[draws.clone()];
                add_scaled(*share, column, target);
            }
        });
        all
    }

    /// Calls `visit(cell, function)` with the function of some draws at each cell.
    fn each(
        &self,
        lines: &CoefficientLines,
        by: Option<&Mat<f64>>,
        draws: Range<usize>,
        mut visit: impl FnMut(usize, &mut [f64]),
    ) {
        let [rows, columns] = self.grid.shape();
        lines.visit(draws.clone(), 0..rows, |i, line| {
            for j in 0..columns {
                let (cell, column) = (i * columns + j, line.col_as_slice_mut(j));
                if let Some(by) = by {
                    self.bins.raise(by, cell, draws.clone(), column);
                }
                visit(cell, column);
            }
        });
    }
}
