//! Lines that least squares put through the rows, to see how far these are from them.

use super::column_averages::RowValue;
use super::observations::Observations;
use super::rms::weighted_rms;
use crate::linalg::{Cholesky, Mat};

/// Added to the squares of slopes, relative to them: columns that are alike share one.
const RIDGE: f64 = 1e-9;

/// Root mean square of the densities of every output around their mean.
pub(crate) fn spreads(rows: &[Vec<RowValue>], outputs: usize) -> Vec<f64> {
    let of = |output: usize| {
        let own = || {
            let all = rows.iter().flatten();
            all.filter(move |(_, size, o, _)| *size != 0.0 && *o == output)
        };
        let count = own().map(|(.., n)| n).sum::<f64>();
        let mean = own().map(|(y, size, _, n)| n * y / size).sum::<f64>() / count.max(1.0);
        weighted_rms(own().map(|(y, size, _, n)| (y / size - mean, *n)))
    };
    (0..outputs).map(of).collect()
}

/// Takes the lines of least squares from the values of every output, and leaves its level.
///
/// # Arguments
/// * `lines` - columns, and where their lines are zero
pub(crate) fn take_away(
    rows: &mut [Vec<RowValue>],
    tables: &[Observations],
    lines: &[(usize, f64)],
    outputs: usize,
) {
    if lines.is_empty() {
        return;
    }
    let along = |table: &Observations, row: usize| -> Vec<f64> {
        let each = lines.iter();
        let each = each.map(|&(d, centre)| table.supports().first_moment(row, d, centre));
        each.collect()
    };
    let moments: Vec<Vec<Vec<f64>>> = tables
        .iter()
        .map(|table| {
            (0..table.supports().len())
                .map(|r| along(table, r))
                .collect()
        })
        .collect();
    for output in 0..outputs {
        let Some(slopes) = slopes(rows, &moments, output, lines.len()) else {
            continue;
        };
        for (row, moments) in rows.iter_mut().flatten().zip(moments.iter().flatten()) {
            if row.2 == output {
                row.0 -= slopes.iter().zip(moments).map(|(b, m)| b * m).sum::<f64>();
            }
        }
    }
}

/// Slopes of the densities of an output; none where they are no numbers.
fn slopes(
    rows: &[Vec<RowValue>],
    moments: &[Vec<Vec<f64>>],
    output: usize,
    lines: usize,
) -> Option<Vec<f64>> {
    let own = || {
        let pairs = rows.iter().flatten().zip(moments.iter().flatten());
        pairs.filter(move |((y, size, o, _), _)| *o == output && *size != 0.0 && y.is_finite())
    };
    let mut scales = vec![0.0_f64; lines];
    for ((_, size, ..), moments) in own() {
        let pairs = scales.iter_mut().zip(moments);
        pairs.for_each(|(scale, m)| *scale = scale.max((m / size).abs()));
    }
    let mut square = Mat::zeros(lines + 1, lines + 1);
    let mut seen = vec![0.0; lines + 1];
    for ((y, size, _, n), moments) in own() {
        let averages = moments.iter().zip(&scales);
        let averages = averages.map(|(m, s)| if *s > 0.0 { m / size / s } else { 0.0 });
        let features: Vec<f64> = std::iter::once(1.0).chain(averages).collect();
        for (i, a) in features.iter().enumerate() {
            seen[i] += n * a * y / size;
            for (j, b) in features.iter().enumerate() {
                square[(i, j)] += n * a * b;
            }
        }
    }
    for i in 1..=lines {
        square[(i, i)] += RIDGE * square[(0, 0)];
    }
    let found = Cholesky::factor_owned(square).ok()?.solve(&seen);
    let slopes = found[1..].iter().zip(&scales);
    let slopes: Vec<f64> = slopes
        .map(|(b, s)| if *s > 0.0 { b / s } else { 0.0 })
        .collect();
    slopes.iter().all(|b| b.is_finite()).then_some(slopes)
}
