//! Predictions of a curve figure: ordered, thinned, joined where they go on.

use super::{Band, Slot, observed};
use crate::figure::{Panel, Places, Predicted};
use crate::format::{beside, count, interval};
use crate::prepare::{extremes, interval_words, marks};

/// Predictions drawn in a panel; more are thinned.
pub(super) const PLACES: usize = 1500;

/// Cells touch when their edges are no further apart than this share of a cell, which is rounding.
const TOUCHING: f64 = 1e-6;

/// A predicted row: `(x0, x1)` (equal for points), mean, lower, upper.
pub(super) struct Row {
    x0: f64,
    x1: f64,
    mean: f64,
    lower: f64,
    upper: f64,
    /// Whether the line goes on from the row before.
    joined: bool,
}

pub(super) fn ordered(predicted: &Predicted, remarks: &mut Vec<String>) -> Vec<Row> {
    let at = |i: usize| match &predicted.at {
        Places::Points(points) => (points[i], points[i]),
        Places::Cells(cells) => (cells[i].0.min(cells[i].1), cells[i].0.max(cells[i].1)),
    };
    let n = predicted.at.len().min(predicted.mean.len());
    let mut rows: Vec<Row> = (0..n)
        .map(|i| {
            let (x0, x1) = at(i);
            let mean = predicted.mean[i];
            let lower = predicted
                .lower
                .get(i)
                .copied()
                .filter(|v| v.is_finite())
                .unwrap_or(mean);
            let upper = predicted
                .upper
                .get(i)
                .copied()
                .filter(|v| v.is_finite())
                .unwrap_or(mean);
            Row {
                x0,
                x1,
                mean,
                lower,
                upper,
                joined: true,
            }
        })
        .filter(|row| row.x0.is_finite() && row.x1.is_finite())
        .collect();
    rows.sort_by(|a, b| a.x0.total_cmp(&b.x0).then(a.x1.total_cmp(&b.x1)));
    let all = rows.len();
    // A row without a finite mean breaks the line. So does a cell that does not begin where those
    // before it end: a line through cells that overlap would run back and forth.
    let mut whole = true;
    let mut last_end: Option<f64> = None;
    let cells = matches!(predicted.at, Places::Cells(_));
    rows.retain_mut(|row| {
        if !row.mean.is_finite() {
            whole = false;
            return false;
        }
        let goes_on = last_end.is_some_and(|end| match cells {
            true => (row.x0 - end).abs() <= TOUCHING * (row.x1 - row.x0),
            false => row.x0 > end,
        });
        row.joined = whole && goes_on;
        whole = true;
        last_end = Some(last_end.map_or(row.x1, |end| end.max(row.x1)));
        true
    });
    if rows.len() < n {
        let lost = n - rows.len();
        remarks.push(format!(
            "{} of {} predicted rows have no finite value and are not drawn.",
            count(lost),
            count(n)
        ));
    }
    let kept = extremes(&rows.iter().map(|r| r.mean).collect::<Vec<_>>(), PLACES);
    if kept.len() < rows.len() {
        remarks.push(format!(
            "Drawn from {} of {} predicted rows, peaks and troughs kept.",
            count(kept.len()),
            count(all)
        ));
    }
    thinned(rows, &kept, cells)
}

/// Keeps some rows; what lay between two kept rows breaks the line if any of it did, and cells grow
/// to the next kept one.
fn thinned(rows: Vec<Row>, kept: &[usize], cells: bool) -> Vec<Row> {
    if kept.len() == rows.len() {
        return rows;
    }
    let ends: Vec<(bool, f64)> = kept
        .windows(2)
        .map(|pair| {
            (
                rows[pair[0] + 1..=pair[1]].iter().all(|r| r.joined),
                rows[pair[1]].x0,
            )
        })
        .collect();
    let mut out: Vec<Row> = Vec::with_capacity(kept.len());
    let mut next = 0;
    for (i, mut row) in rows.into_iter().enumerate() {
        if kept.get(next) != Some(&i) {
            continue;
        }
        if next > 0 {
            row.joined = ends[next - 1].0;
        }
        if let (true, Some(&(true, x0))) = (cells, ends.get(next)) {
            row.x1 = x0;
        }
        out.push(row);
        next += 1;
    }
    out
}

pub(super) fn band(rows: &[Row], predicted: &Predicted) -> Band {
    let mut pieces: Vec<Vec<[f64; 4]>> = Vec::new();
    for row in rows {
        if !row.joined || pieces.is_empty() {
            pieces.push(Vec::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push([row.x0, row.mean, row.lower, row.upper]);
            if row.x1 > row.x0 {
                piece.push([row.x1, row.mean, row.lower, row.upper]);
            }
        }
    }
    let label = if predicted.label.is_empty() {
        "Predicted mean".to_owned()
    } else {
        predicted.label.clone()
    };
    let has_band = !predicted.lower.is_empty() && !predicted.upper.is_empty();
    Band {
        label,
        band_label: has_band.then(|| interval_words(predicted.level)),
        pieces,
    }
}

/// The smallest distance of neighbours, which their places must show.
pub(super) fn gap(rows: &[Row]) -> f64 {
    let gaps = rows.windows(2).map(|pair| pair[1].x0 - pair[0].x0);
    gaps.filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min)
}

pub(super) fn slot(row: &Row, gap: f64, predicted: &Predicted, panel: &Panel) -> Slot {
    let middle = f64::midpoint(row.x0, row.x1);
    // An interval is about four standard deviations wide.
    let mut told = beside(row.mean, (row.upper - row.lower) / 4.0);
    if row.lower < row.upper {
        told = format!(
            "{told} ({}: {})",
            interval_words(predicted.level),
            interval(row.lower, row.upper)
        );
    }
    let seen = observed::over(panel, middle);
    let x = if row.x1 > row.x0 {
        interval(row.x0, row.x1)
    } else {
        beside(row.x0, gap)
    };
    Slot {
        x0: row.x0,
        x1: row.x1,
        x,
        predicted: told,
        observed: seen
            .or_else(|| marks::told_at(&panel.marks, middle))
            .unwrap_or_else(|| "–".to_owned()),
    }
}
