//! The part of the axes that marks need.

use super::ARROW;
use crate::figure::{Marks, Seen, Side};
use crate::prepare::{MARKS, evenly};

/// Numbers that the vertical axis must hold: every finite end of a drawn row, and all thresholds.
pub(crate) fn extent(marks: &Marks) -> Vec<f64> {
    let kept = evenly(marks.at.len(), MARKS).into_iter();
    match &marks.seen {
        Seen::Intervals { lower, upper } => {
            kept.flat_map(|i| [lower[i], upper[i]]).flatten().collect()
        }
        Seen::Censored { limit, .. } => kept.map(|i| limit[i]).collect(),
        Seen::Ranks { thresholds, .. } => thresholds.clone(),
        Seen::Rates {
            lower,
            upper,
            exposure,
            per,
        } => kept
            .flat_map(|i| {
                let rate = |count: f64| per * count / exposure[i];
                [Some(rate(lower[i])), upper[i].map(rate)]
            })
            .flatten()
            .collect(),
        Seen::Signs { .. } => Vec::new(),
    }
}

/// A vertical range with room for arrows and for the outer bands; it goes below zero only where it
/// did, or where an arrow must.
pub(crate) fn with_room(all: &[Marks], span: Option<(f64, f64)>) -> Option<(f64, f64)> {
    let (low, high) = span?;
    let wide = if high > low {
        high - low
    } else {
        low.abs().max(1.0) * 0.5
    };
    let (mut bottom, mut top) = (low, high);
    for marks in all {
        let (down, up) = arrows(marks);
        if let Some(end) = down {
            let wanted = end - ARROW * wide;
            let short_of_zero = low >= 0.0 && end >= 0.5 * ARROW * wide;
            bottom = bottom.min(if short_of_zero {
                wanted.max(0.0)
            } else {
                wanted
            });
        }
        if let Some(end) = up {
            top = top.max(end + ARROW * wide);
        }
        if let Seen::Ranks { thresholds, .. } = &marks.seen
            && let (Some(&first), Some(&last)) = (thresholds.first(), thresholds.last())
        {
            let inner = thresholds.len().saturating_sub(1);
            let step = if inner > 0 {
                0.6 * (last - first) / inner as f64
            } else {
                0.25 * wide
            };
            bottom = bottom.min(first - step);
            top = top.max(last + step);
        }
    }
    Some((bottom, top))
}

/// The lowest end with an arrow down, and the highest with an arrow up.
fn arrows(marks: &Marks) -> (Option<f64>, Option<f64>) {
    let least = |ends: &mut dyn Iterator<Item = f64>| ends.reduce(f64::min);
    let most = |ends: &mut dyn Iterator<Item = f64>| ends.reduce(f64::max);
    let mut kept = evenly(marks.at.len(), MARKS).into_iter();
    match &marks.seen {
        Seen::Intervals { lower, upper } => {
            let mut down = kept.clone().filter(|&i| lower[i].is_none());
            let mut up = kept.filter(|&i| upper[i].is_none());
            (
                least(&mut down.by_ref().filter_map(|i| upper[i])),
                most(&mut up.by_ref().filter_map(|i| lower[i])),
            )
        }
        Seen::Censored { limit, side } => {
            let of = |wanted: Side| kept.clone().filter(move |&i| side[i] == wanted);
            (
                least(&mut of(Side::Below).map(|i| limit[i])),
                most(&mut of(Side::Above).map(|i| limit[i])),
            )
        }
        Seen::Rates {
            lower,
            upper,
            exposure,
            per,
        } => {
            let mut up = kept
                .by_ref()
                .filter(|&i| upper[i].is_none())
                .map(|i| per * lower[i] / exposure[i]);
            (None, most(&mut up))
        }
        Seen::Ranks { .. } | Seen::Signs { .. } => (None, None),
    }
}
