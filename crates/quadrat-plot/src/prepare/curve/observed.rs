//! Observed points, bars and levels of a curve figure.

use super::Mark;
use crate::figure::{Observed, Panel};
use crate::format::{count, interval, number};
use crate::prepare::{MARKS, evenly};

pub(super) fn observed(panel: &Panel, remarks: &mut Vec<String>) -> Vec<Mark> {
    let usable: Vec<Mark> = panel.observed.iter().filter_map(mark).collect();
    let lost = panel.observed.len() - usable.len();
    if lost > 0 {
        remarks.push(format!(
            "{} observed rows have no finite place or value and are not drawn.",
            count(lost)
        ));
    }
    if usable.len() <= MARKS {
        return usable;
    }
    remarks.push(format!(
        "{} of {} observed rows are drawn, evenly chosen.",
        count(MARKS),
        count(usable.len())
    ));
    let kept = evenly(usable.len(), MARKS);
    let mut next = kept.iter().copied().peekable();
    usable
        .into_iter()
        .enumerate()
        .filter(|(i, _)| next.next_if_eq(i).is_some())
        .map(|(_, mark)| mark)
        .collect()
}

fn mark(observed: &Observed) -> Option<Mark> {
    let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
    match *observed {
        Observed::Bar {
            x0,
            x1,
            height,
            total,
            ref label,
        } => finite(&[x0, x1, height]).then(|| Mark::Bar {
            x0,
            x1,
            height,
            words: bar_words(x0, x1, height, total, label),
        }),
        Observed::Level {
            x0,
            x1,
            y,
            ref label,
        } => finite(&[x0, x1, y]).then(|| Mark::Level {
            x0,
            x1,
            y,
            words: level_words(x0, x1, y, label),
        }),
        Observed::Point {
            x,
            y,
            error,
            ref label,
        } => finite(&[x, y]).then(|| {
            let error = error.filter(|e| e.is_finite() && *e > 0.0);
            let value =
                error.map_or_else(|| number(y), |e| format!("{} ± {}", number(y), number(e)));
            Mark::Point {
                x,
                y,
                error,
                words: with_label(format!("{value} at {}", number(x)), label),
            }
        }),
    }
}

fn bar_words(x0: f64, x1: f64, height: f64, total: Option<f64>, label: &str) -> String {
    let value = match total {
        Some(total) => format!("{} in {}", number(total), interval(x0, x1)),
        None => format!("{} over {}", number(height), interval(x0, x1)),
    };
    with_label(value, label)
}

fn level_words(x0: f64, x1: f64, y: f64, label: &str) -> String {
    with_label(
        format!("{} on average over {}", number(y), interval(x0, x1)),
        label,
    )
}

fn with_label(value: String, label: &str) -> String {
    if label.is_empty() {
        value
    } else {
        format!("{value}; {label}")
    }
}

/// What was observed over the first bar or level that holds a place, in words.
pub(super) fn over(panel: &Panel, middle: f64) -> Option<String> {
    panel.observed.iter().find_map(|o| match o {
        Observed::Bar {
            x0,
            x1,
            height,
            total,
            label,
        } if *x0 <= middle && middle < *x1 => Some(bar_words(*x0, *x1, *height, *total, label)),
        Observed::Level { x0, x1, y, label } if *x0 <= middle && middle < *x1 => {
            Some(level_words(*x0, *x1, *y, label))
        }
        _ => None,
    })
}
