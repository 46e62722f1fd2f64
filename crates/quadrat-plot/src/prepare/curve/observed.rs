//! Observed points, bars and levels of a curve figure.

use super::Mark;
use crate::figure::{Observed, Panel};
use crate::format::{beside, count, interval, number};
use crate::prepare::{MARKS, evenly, range};

/// The share of a range that must show in what lies within it.
const FINE: f64 = 0.01;

/// Distances along both axes that words must show.
#[derive(Clone, Copy)]
struct Fine {
    x: f64,
    y: f64,
}

impl Fine {
    fn of(panel: &Panel) -> Self {
        let share = |ends: Option<(f64, f64)>| ends.map_or(0.0, |(low, high)| FINE * (high - low));
        let xs = panel.observed.iter().flat_map(|o| match *o {
            Observed::Bar { x0, x1, .. } | Observed::Level { x0, x1, .. } => [x0, x1],
            Observed::Point { x, .. } => [x, x],
        });
        let ys = panel.observed.iter().map(|o| match *o {
            Observed::Bar { height, .. } => height,
            Observed::Level { y, .. } | Observed::Point { y, .. } => y,
        });
        Self {
            x: share(range(xs)),
            y: share(range(ys)),
        }
    }
}

pub(super) fn observed(panel: &Panel, remarks: &mut Vec<String>) -> Vec<Mark> {
    let fine = Fine::of(panel);
    let usable: Vec<&Observed> = panel.observed.iter().filter(|o| has_place(o)).collect();
    let lost = panel.observed.len() - usable.len();
    if lost > 0 {
        remarks.push(format!(
            "{} observed rows have no finite place or value and are not drawn.",
            count(lost)
        ));
    }
    if usable.len() <= MARKS {
        return usable.into_iter().map(|o| mark(o, fine)).collect();
    }
    remarks.push(format!(
        "{} of {} observed rows are drawn, evenly chosen.",
        count(MARKS),
        count(usable.len())
    ));
    // Words only for what is drawn.
    let kept = evenly(usable.len(), MARKS);
    kept.iter().map(|i| mark(usable[*i], fine)).collect()
}

fn has_place(observed: &Observed) -> bool {
    let values = match *observed {
        Observed::Bar { x0, x1, height, .. } => [x0, x1, height],
        Observed::Level { x0, x1, y, .. } => [x0, x1, y],
        Observed::Point { x, y, .. } => [x, x, y],
    };
    values.iter().all(|v| v.is_finite())
}

fn mark(observed: &Observed, fine: Fine) -> Mark {
    match *observed {
        Observed::Bar {
            x0,
            x1,
            height,
            total,
            ref label,
        } => Mark::Bar {
            x0,
            x1,
            height,
            words: bar_words((x0, x1), height, total, label, fine),
        },
        Observed::Level {
            x0,
            x1,
            y,
            ref label,
        } => Mark::Level {
            x0,
            x1,
            y,
            words: level_words((x0, x1), y, label, fine),
        },
        Observed::Point {
            x,
            y,
            error,
            ref label,
        } => {
            let error = error.filter(|e| e.is_finite() && *e > 0.0);
            let value = error.map_or_else(
                || beside(y, fine.y),
                |e| format!("{} ± {}", beside(y, e), number(e)),
            );
            Mark::Point {
                x,
                y,
                error,
                words: with_label(format!("{value} at {}", beside(x, fine.x)), label),
            }
        }
    }
}

fn bar_words(
    (x0, x1): (f64, f64),
    height: f64,
    total: Option<f64>,
    label: &str,
    fine: Fine,
) -> String {
    let value = match total {
        Some(total) => format!(
            "{} in {}",
            beside(total, fine.y * (x1 - x0)),
            interval(x0, x1)
        ),
        None => format!("{} over {}", beside(height, fine.y), interval(x0, x1)),
    };
    with_label(value, label)
}

fn level_words((x0, x1): (f64, f64), y: f64, label: &str, fine: Fine) -> String {
    with_label(
        format!("{} on average over {}", beside(y, fine.y), interval(x0, x1)),
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
    let fine = Fine::of(panel);
    let holds = |x0: f64, x1: f64| x0 <= middle && middle < x1;
    panel.observed.iter().find_map(|o| match *o {
        Observed::Bar {
            x0,
            x1,
            height,
            total,
            ref label,
        } if holds(x0, x1) => Some(bar_words((x0, x1), height, total, label, fine)),
        Observed::Level {
            x0,
            x1,
            y,
            ref label,
        } if holds(x0, x1) => Some(level_words((x0, x1), y, label, fine)),
        _ => None,
    })
}
