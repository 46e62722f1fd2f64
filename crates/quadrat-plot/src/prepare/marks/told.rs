//! What tooltips tell of marks.

use crate::figure::{Marks, Seen, Side, Support};
use crate::format::{interval, number};

/// Names of the lines of a tooltip.
pub(super) fn titles(marks: &Marks) -> Vec<&'static str> {
    let own: &[&str] = match &marks.seen {
        Seen::Intervals { .. } => &["value", "at"],
        Seen::Censored { .. } => &["true value", "at"],
        Seen::Ranks { .. } => &["rank", "bounds", "at"],
        Seen::Rates { .. } => &["rate", "count", "exposure", "at"],
        Seen::Signs { .. } => &["observed", "at"],
    };
    let row: &[&str] = if marks.rows.is_empty() { &[] } else { &["row"] };
    [own, row].concat()
}

/// The lines of the tooltip of a row.
pub(super) fn row(marks: &Marks, i: usize) -> Vec<String> {
    let mut told = match &marks.seen {
        Seen::Intervals { lower, upper } => vec![between(lower[i], upper[i])],
        Seen::Censored { limit, side } => vec![match side[i] {
            Side::Below => format!("below {}", number(limit[i])),
            Side::Above => format!("above {}", number(limit[i])),
        }],
        Seen::Ranks {
            rank,
            thresholds,
            names,
        } => {
            let k = rank[i];
            let of = format!("{k} of {}", thresholds.len() + 1);
            let rank = match names.get(k - 1) {
                Some(name) if !name.is_empty() => format!("{name} ({of})"),
                _ => of,
            };
            let low = k.checked_sub(2).and_then(|k| thresholds.get(k)).copied();
            vec![rank, between(low, thresholds.get(k - 1).copied())]
        }
        Seen::Rates {
            lower,
            upper,
            exposure,
            per,
        } => {
            let rate = |count: f64| per * count / exposure[i];
            let exact = upper[i] == Some(lower[i]);
            let (rates, counts) = if exact {
                (number(rate(lower[i])), number(lower[i]))
            } else {
                (
                    between(Some(rate(lower[i])), upper[i].map(rate)),
                    between(Some(lower[i]), upper[i]),
                )
            };
            vec![rates, counts, number(exposure[i])]
        }
        Seen::Signs { yes } => vec![if yes[i] { "yes" } else { "no" }.to_owned()],
    };
    told.push(match marks.at[i] {
        Support::At(x) => number(x),
        Support::Over(x0, x1) => interval(x0, x1),
    });
    told.extend(marks.rows.get(i).cloned());
    told
}

/// What was seen over the first stretch that holds a place, in words.
pub(crate) fn at(all: &[Marks], x: f64) -> Option<String> {
    all.iter().find_map(|marks| {
        let holds = |s: &Support| matches!(s, Support::Over(x0, x1) if *x0 <= x && x < *x1);
        let i = marks.at.iter().position(holds)?;
        let lines: Vec<String> = titles(marks)
            .iter()
            .zip(row(marks, i))
            .map(|(title, words)| format!("{title} {words}"))
            .collect();
        Some(lines.join("; "))
    })
}

fn between(low: Option<f64>, high: Option<f64>) -> String {
    interval(
        low.unwrap_or(f64::NEG_INFINITY),
        high.unwrap_or(f64::INFINITY),
    )
}
