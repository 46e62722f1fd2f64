//! A forest figure, ready to draw: its rows and axis.

use super::{FOREST_ROWS, limits, padded, range, widened, with_limits};
use crate::figure::{ForestFigure, ForestRow, Limit};

/// How far beyond the outermost dots intervals are drawn on a logarithmic axis, as a factor.
const REACH: f64 = 30.0;
/// Margin of a logarithmic axis, as a factor.
const MARGIN: f64 = 1.15;

/// The rows that are drawn, and the axis.
pub(crate) struct Forest<'a> {
    pub rows: &'a [ForestRow],
    /// Ends of the axis.
    pub span: (f64, f64),
    /// Ticks of a logarithmic axis; none: the axis is linear.
    pub ticks: Option<Vec<f64>>,
    /// What the dots are.
    pub label: &'a str,
    /// The limits within the axis.
    pub limits: Vec<&'a Limit>,
    /// Whether any row has an interval.
    pub has_intervals: bool,
    pub remarks: Vec<String>,
}

/// Measures a figure.
pub(crate) fn prepare(figure: &ForestFigure) -> Forest<'_> {
    let rows = &figure.rows[..figure.rows.len().min(FOREST_ROWS)];
    let means = range(rows.iter().map(|row| row.mean));
    let values = rows.iter().flat_map(|r| {
        let marks = [r.observed, r.reference].map(|v| v.unwrap_or(f64::NAN));
        [r.mean, r.lower, r.upper, marks[0], marks[1]]
    });
    let mut remarks = Vec::new();
    let logarithmic = means.filter(|(low, _)| figure.logarithmic && *low > 0.0);
    let (span, ticks) = match logarithmic {
        None => {
            let own = with_limits(range(values), &figure.limits);
            let own = || padded(widened(own, false), 0.04);
            (figure.domain.unwrap_or_else(own), None)
        }
        Some((low, high)) => {
            let (from, to) = range(values.filter(|v| *v > 0.0)).unwrap_or((low, high));
            let (from, to) = (from.max(low / REACH), to.min(high * REACH));
            let span = (from / MARGIN, to * MARGIN);
            if rows.iter().any(|r| r.lower < span.0 || r.upper > span.1) {
                remarks.push("Intervals that reach farther are cut off at the axis.".to_owned());
            }
            (span, Some(log_ticks(span)))
        }
    };
    let (limits, beyond) = limits(&figure.limits, span);
    remarks.extend(beyond);
    Forest {
        limits,
        has_intervals: rows.iter().any(|row| row.lower < row.upper),
        rows,
        span,
        ticks,
        label: match figure.label.as_str() {
            "" => "Predicted mean",
            label => label,
        },
        remarks,
    }
}

/// One, two and five times powers of ten; fewer where they would crowd.
fn log_ticks((low, high): (f64, f64)) -> Vec<f64> {
    let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let steps: &[f64] = match (high / low).log10() {
        wide if wide > 4.0 => &[1.0],
        wide if wide > 2.0 => &[1.0, 3.0],
        _ => &[1.0, 2.0, 5.0],
    };
    decades
        .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
        .filter(|tick| (low..=high).contains(tick))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(rows: &[(f64, f64, f64)], logarithmic: bool) -> ForestFigure {
        let row = |&(mean, lower, upper): &(f64, f64, f64)| ForestRow {
            mean,
            lower,
            upper,
            ..ForestRow::default()
        };
        ForestFigure {
            rows: rows.iter().map(row).collect(),
            logarithmic,
            ..ForestFigure::default()
        }
    }

    #[test]
    fn a_logarithmic_axis_has_round_ticks_and_cuts_what_reaches_far() {
        let near = figure(&[(1.0, 0.5, 2.0), (3.0, 2.0, 6.0)], true);
        let near = prepare(&near);
        assert_eq!(near.ticks.unwrap(), [0.5, 1.0, 2.0, 5.0]);
        assert!(near.remarks.is_empty());
        let far = figure(&[(1.0, 1e-9, 1e9), (3.0, 2.0, 6.0)], true);
        let far = prepare(&far);
        assert!(far.span.0 > 0.01 && far.span.1 < 200.0, "{:?}", far.span);
        assert_eq!(far.remarks.len(), 1);
        assert_eq!(far.ticks.unwrap().len(), 8);
    }

    #[test]
    fn what_is_not_above_zero_has_a_linear_axis() {
        let plain = figure(&[(0.0, -1.0, 1.0)], true);
        let plain = prepare(&plain);
        assert!(plain.ticks.is_none() && plain.span.0 < -1.0);
    }
}
