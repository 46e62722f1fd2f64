//! What should be known of the rows before a density over a plane is trusted.

use super::super::scale::ColumnScale;
use super::super::warned::open_ends;
use super::super::warning::Warning;
use super::grid::{CellGrid, Normalisation};
use super::pairs::Pairs;

/// Values below which the prior has as much to say.
const FEW: f64 = 20.0;
/// Share of the weight from which one value is told, and from which one cell is.
const TIED: f64 = 0.1;
const CROWDED: f64 = 0.25;
/// The same of all cells of one place along an axis.
const CROWDED_LINE: f64 = 0.35;
/// Distance in scales from which a value is told.
const FAR: f64 = 100.0;
/// Correlation from which columns are told to determine each other.
const DEPENDENT: f64 = 0.9999;

/// Share of the slices without a row from which they are told.
const EMPTY: f64 = 1.0 / 3.0;
/// Share of the rows whose slices are too narrow for the cells, or too far from each other, from
/// which that is told.
const BLURRED: f64 = 0.25;
/// A slice is too coarse where one cell holds more than this of its probability, and too steep
/// where it overlaps with a neighbour by less than this.
const ONE_CELL: f64 = 0.5;
const IN_COMMON: f64 = 0.25;

/// Warnings about the slices of conditional densities.
pub(super) fn look_at(grid: &CellGrid, mass: &[f64]) -> Vec<Warning> {
    let mut out = Vec::new();
    let slices = grid.totals.len();
    let empty = grid.totals.iter().filter(|t| **t == 0.0).count();
    if empty as f64 > EMPTY * slices as f64 {
        out.push(Warning::Empty { empty, slices });
    }
    let of = |i: usize| &mass[i * grid.part()..(i + 1) * grid.part()];
    let share = |is: &dyn Fn(usize) -> bool| {
        let weights = (0..slices).filter(|i| is(*i)).map(|i| grid.totals[i]);
        weights.sum::<f64>() / grid.total
    };
    let coarse = share(&|i| of(i).iter().any(|u| *u > ONE_CELL));
    let in_common = |i: usize, j: usize| {
        let pairs = of(i).iter().zip(of(j));
        pairs.map(|(a, b)| a.min(*b)).sum::<f64>()
    };
    let steep = share(&|i| {
        let after = (i + 1 < slices).then(|| in_common(i, i + 1));
        let before = (i > 0).then(|| in_common(i - 1, i));
        after.into_iter().chain(before).any(|c| c < IN_COMMON)
    });
    if coarse > BLURRED {
        out.push(Warning::Coarse { share: coarse });
    }
    if steep > BLURRED {
        out.push(Warning::Steep { share: steep });
    }
    out
}

/// Warnings about the rows.
pub(super) fn look_out(
    pairs: &Pairs,
    grid: &CellGrid,
    scales: &[ColumnScale; 2],
    log: [bool; 2],
) -> Vec<Warning> {
    let mut out = Vec::new();
    if grid.total < FEW {
        out.push(Warning::Few {
            rows: grid.total.floor() as usize,
        });
    }
    let mut tied = false;
    for axis in [0, 1] {
        let of = |warning: Warning| warning.of_column(axis);
        if axis == 0 && grid.kind == Normalisation::Conditional {
            // Its values are places, which may repeat.
            out.extend(outlier(&scales[axis], log[axis]).map(of));
            continue;
        }
        let (distinct, value, share) = ties(pairs, axis, grid.total);
        if share > TIED && grid.total >= FEW {
            tied = true;
            out.push(of(Warning::Ties { value, share }));
        } else if distinct < grid.shape()[axis] && distinct * 2 < pairs.len() {
            out.push(of(Warning::Rounded {
                rows: pairs.len(),
                distinct,
            }));
        }
        let along = grid.along(axis);
        let line = (0..along.len()).max_by(|a, b| along[*a].total_cmp(&along[*b]));
        if let Some(line) = line.filter(|line| along[*line] > CROWDED_LINE * grid.total)
            && share <= TIED
            && grid.total >= FEW
        {
            let cells = &grid.axes[axis];
            let place = cells.axis.backward(cells.centres[line]);
            let share = along[line] / grid.total;
            out.push(of(Warning::Crowded { place, share }));
        }
        out.extend(outlier(&scales[axis], log[axis]).map(of));
        out.extend(open_ends(&scales[axis], log[axis]).map(of));
    }
    let columns = grid.shape()[1];
    let heaviest =
        (0..grid.counts.len()).max_by(|a, b| grid.counts[*a].total_cmp(&grid.counts[*b]));
    if let Some(cell) = heaviest {
        let share = grid.counts[cell] / grid.total;
        let joint = grid.kind == Normalisation::Joint;
        if share > CROWDED && !tied && grid.total >= FEW && joint {
            let at = [cell / columns, cell % columns];
            let place = [0, 1].map(|a| {
                let cells = &grid.axes[a];
                cells.axis.backward(cells.centres[at[a]])
            });
            out.push(Warning::CrowdedPlane { place, share });
        }
    }
    let correlation = correlation(pairs, scales, grid, log);
    if correlation.abs() > DEPENDENT {
        out.push(Warning::Dependent { correlation });
    }
    out
}

/// The value that lies farthest from the centre, where that is far.
fn outlier(scale: &ColumnScale, log: bool) -> Option<Warning> {
    let above = scale.most - scale.centre > scale.centre - scale.least;
    let farther = if above { scale.most } else { scale.least };
    let distance = (farther - scale.centre).abs() / scale.scale;
    let value = if log { farther.exp() } else { farther };
    (distance > FAR).then_some(Warning::Outlier { value, distance })
}

/// How many different values a column has, the one that weighs most, and its share.
fn ties(pairs: &Pairs, axis: usize, total: f64) -> (usize, f64, f64) {
    let mut values: Vec<(f64, f64)> = pairs.values[axis]
        .iter()
        .enumerate()
        .map(|(i, x)| (*x, pairs.weight(i)))
        .collect();
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut distinct, mut best) = (0, (f64::NAN, 0.0));
    for chunk in values.chunk_by(|a, b| a.0 == b.0) {
        distinct += 1;
        let weight: f64 = chunk.iter().map(|x| x.1).sum();
        if weight > best.1 {
            best = (chunk[0].0, weight);
        }
    }
    (distinct, best.0, best.1 / total)
}

/// The correlation of the columns on their bent axes, so that one value far off decides nothing.
fn correlation(pairs: &Pairs, scales: &[ColumnScale; 2], grid: &CellGrid, log: [bool; 2]) -> f64 {
    let at = |axis: usize, x: f64| {
        let t = if log[axis] { x.ln() } else { x };
        ((t - scales[axis].centre) / scales[axis].scale).asinh()
    };
    let (mut sums, mut squares) = ([0.0; 2], [0.0; 3]);
    for i in 0..pairs.len() {
        let (w, x, y) = (
            pairs.weight(i),
            at(0, pairs.values[0][i]),
            at(1, pairs.values[1][i]),
        );
        sums[0] += w * x;
        sums[1] += w * y;
        squares[0] += w * x * x;
        squares[1] += w * x * y;
        squares[2] += w * y * y;
    }
    let n = grid.total;
    let covariance = squares[1] - sums[0] * sums[1] / n;
    let variances = [
        squares[0] - sums[0] * sums[0] / n,
        squares[2] - sums[1] * sums[1] / n,
    ];
    covariance / (variances[0] * variances[1]).sqrt()
}
