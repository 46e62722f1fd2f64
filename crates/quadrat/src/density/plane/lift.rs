//! Draws over a plane that are moved to where boxes and areas hold what is known of them, as those
//! of one column ([`super::super::lift`]), by their coefficients.

use crate::error::LinalgError;
use crate::linalg::{Mat, MatRef, add_scaled, cut, dot, gemm, gemm_into};

use super::super::lift::{MOST, Wanted, project, settle};
use super::super::loops;
use super::super::split::shares;
use super::curves::offsets;
use super::functions::Functions;
use super::grid::CellGrid;
use super::hyper::Component;
use super::patches::Patches;
use super::sweep::CoefficientLines;

/// Draws whose boxes are summed at a time.
const BLOCK: usize = 256;

/// What the logarithms of the boxes of the draws of a component should be, shape `[draws, boxes]`.
///
/// # Arguments
/// * `theta` - the draws, shape `[functions, draws]`
fn wanted(
    grid: &CellGrid,
    (functions, patches): (&Functions, &Patches),
    component: &Component,
    theta: MatRef<'_, f64>,
) -> Mat<f64> {
    let mode = &component.mode;
    let sums = patches.sums(&mode.mass);
    let h = patches.within(functions, &mode.mass, &sums);
    // What normalises the mode: it is not part of its function.
    let cells = mode.eta.iter().zip(&grid.log_measure).zip(&mode.mass);
    let most = cells.max_by(|a, b| a.1.total_cmp(b.1));
    let all = most.map_or(0.0, |((eta, measure), mass)| eta + measure - mass.ln());
    let log = |(b, sum): (usize, &f64)| {
        sum.max(f64::MIN_POSITIVE).ln() + all - dot(h.col_as_slice(b), &mode.theta)
    };
    let base: Vec<f64> = sums.iter().enumerate().map(log).collect();
    let mut out = gemm(theta.transpose(), h.as_ref());
    for (b, base) in base.iter().enumerate() {
        out.col_as_slice_mut(b)
            .iter_mut()
            .for_each(|wanted| *wanted += base);
    }
    out
}

/// Coefficients of functions that are nearly one within a box and zero elsewhere, in columns, shape
/// `[functions, boxes]`.
fn indicators(
    grid: &CellGrid,
    functions: &Functions,
    patches: &Patches,
) -> Result<Mat<f64>, LinalgError> {
    let cells = grid.counts.len();
    let can_hold: Vec<f64> = (0..cells)
        .map(|cell| f64::from(u8::from(grid.inside(cell) > 0.0)))
        .collect();
    let square = functions.curvature(&can_hold);
    let n = square.nrows();
    let mut out = Mat::zeros(n, patches.weights.len());
    let mut values = vec![0.0; n];
    for cell in (0..cells).filter(|cell| can_hold[*cell] > 0.0) {
        let entries = patches.of(cell);
        let all: f64 = entries.iter().map(|(_, share)| share).sum();
        functions.at(cell, &mut values);
        for (b, share) in entries {
            add_scaled(share / all.max(1.0), &values, out.col_as_slice_mut(*b));
        }
    }
    project(square, out)
}

/// Moves draws, which are Laplace's, to where boxes hold what they should.
///
/// # Errors
/// Functions that are not independent on the cells.
pub(super) fn lift(
    grid: &CellGrid,
    functions: &Functions,
    components: &[Component],
    theta: &mut Mat<f64>,
) -> Result<(), LinalgError> {
    let patches = grid.patches.with_rest(grid.total, |cell| grid.inside(cell));
    let Some(near) = components.first().map(|c| c.mode.mass.as_slice()) else {
        return Ok(());
    };
    if patches.weights.len() > MOST {
        return Ok(());
    }
    let along = indicators(grid, functions, &patches)?;
    let mut should = Mat::zeros(theta.ncols(), patches.weights.len());
    let mut done = 0;
    let counts = shares(components.iter().map(|c| c.weight), theta.ncols());
    for (component, count) in components.iter().zip(counts) {
        let draws = theta.subcols(done, count);
        let own = wanted(grid, (functions, &patches), component, draws);
        for b in 0..own.ncols() {
            let column = &mut should.col_as_slice_mut(b)[done..done + count];
            column.copy_from_slice(own.col_as_slice(b));
        }
        done += count;
    }
    let wanted = Wanted {
        logs: should,
        weights: &patches.weights,
    };
    let look = |theta: &Mat<f64>| {
        logs(
            grid,
            &patches,
            &CoefficientLines::new(functions, theta),
            near,
        )
    };
    let raise = |theta: &mut Mat<f64>, by: &Mat<f64>| {
        gemm_into(theta.as_mut(), true, 1.0, along.as_ref(), by.transpose());
    };
    for (draw, from) in settle(theta, &wanted, look, raise).into_iter().enumerate() {
        if from != draw {
            let column = theta.col_as_slice(from).to_vec();
            theta.col_as_slice_mut(draw).copy_from_slice(&column);
        }
    }
    Ok(())
}

/// `log S_b` of every draw, shape `[draws, boxes]`.
///
/// # Arguments
/// * `mass` - probabilities near those of the draws
fn logs(grid: &CellGrid, patches: &Patches, lines: &CoefficientLines, mass: &[f64]) -> Mat<f64> {
    let [rows, columns] = grid.shape();
    let mut out = Mat::zeros(lines.len(), patches.weights.len());
    let offset = offsets(grid, lines, mass);
    let offset = offset.col_as_slice(0);
    for block in cut(lines.len(), BLOCK) {
        lines.visit(block.clone(), 0..rows, |i, line| {
            for j in 0..columns {
                let cell = i * columns + j;
                let column = line.col_as_slice_mut(j);
                loops::shift(column, &offset[block.clone()], grid.log_measure[cell]);
                crate::special::exp(column);
                for (b, share) in patches.of(cell) {
                    let target = &mut out.col_as_slice_mut(*b)[block.clone()];
                    add_scaled(*share, column, target);
                }
            }
        });
    }
    for b in 0..out.ncols() {
        let column = out.col_as_slice_mut(b).iter_mut().zip(offset);
        column.for_each(|(x, offset)| *x = x.ln() + offset);
    }
    out
}
