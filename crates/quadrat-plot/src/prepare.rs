//! From figure data to what is drawn: finite, ordered, thinned, with its axis ranges. Shared by the
//! page and the images.

mod correlation;
mod curve;
mod forest;
mod map;
mod marks;
mod surface;
mod thin;

pub(crate) use correlation::prepare as correlation;
pub(crate) use curve::{Band, CurvePanel, Mark, Slot, prepare as curve};
pub(crate) use forest::prepare as forest;
pub(crate) use map::{Coloured, Map, Ring, prepare as map};
pub(crate) use marks::{Glyph, Layer, Shape};
pub(crate) use surface::{Sheet, Shown, prepare as surface};
pub(crate) use thin::{evenly, extremes};

use crate::figure::Limit;

/// Observed marks of a kind drawn in a panel of a curve figure.
pub(crate) const MARKS: usize = 3000;
/// Rows drawn of a forest figure.
pub(crate) const FOREST_ROWS: usize = 60;
/// Rows drawn in the observed-against-predicted panel.
pub(crate) const LEFT_OUT_ROWS: usize = 600;
/// Bars of the histogram of probability integral transforms.
const PIT_BINS: usize = 10;

/// Predicted standard deviations below this share of the largest mean are what rounding leaves of
/// zero.
const EXACT: f64 = 1e-6;
/// What is told where some are drawn as zero.
pub(crate) const EXACT_WORDS: &str =
    "Standard deviations below 10⁻⁶ of the largest mean are rounding noise and drawn as zero.";
/// Values that differ by less than this share of their size differ by rounding only.
const ALIKE: f64 = 1e-9;

/// An entry of a legend.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// Shape of the swatch: `bar`, `level`, `rod`, `line`, `band`, `dot`, `ring`, `hatch`, and
    /// those of `paint::swatch`.
    pub shape: &'static str,
    /// Colour of the swatch.
    pub colour: &'static str,
    /// Words.
    pub label: String,
}

impl Key {
    /// An entry of a legend.
    pub(crate) fn new(shape: &'static str, colour: &'static str, label: impl Into<String>) -> Self {
        Self {
            shape,
            colour,
            label: label.into(),
        }
    }
}

/// Smallest and largest of the finite numbers, none if there are none.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .filter(|v| v.is_finite())
        .fold(None, |range, v| match range {
            None => Some((v, v)),
            Some((low, high)) => Some((v.min(low), v.max(high))),
        })
}

/// An axis range that has a width and, where asked, holds zero.
pub(crate) fn widened(range: Option<(f64, f64)>, with_zero: bool) -> (f64, f64) {
    let (mut low, mut high) = range.unwrap_or((0.0, 1.0));
    if with_zero {
        low = low.min(0.0);
        high = high.max(0.0);
    }
    if low == high {
        let half = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
        return (low - half, high + half);
    }
    (low, high)
}

/// One value where the ends differ by rounding only.
pub(crate) fn flattened(range: Option<(f64, f64)>) -> Option<(f64, f64)> {
    range.map(|(low, high)| {
        if high - low <= ALIKE * low.abs().max(high.abs()) {
            let middle = f64::midpoint(low, high);
            (middle, middle)
        } else {
            (low, high)
        }
    })
}

/// As [`widened`], for standard deviations: where all are alike, from zero.
pub(crate) fn spread(range: Option<(f64, f64)>) -> (f64, f64) {
    match flattened(range) {
        Some((low, high)) if low == high => (0.0, if high > 0.0 { high } else { 1.0 }),
        other => widened(other, false),
    }
}

/// Sets standard deviations to zero that are nothing beside the means; whether there were any.
pub(crate) fn settle<'a>(
    means: impl Iterator<Item = f64>,
    sds: impl Iterator<Item = &'a mut f64>,
) -> bool {
    let largest = means
        .filter(|m| m.is_finite())
        .map(f64::abs)
        .fold(0.0, f64::max);
    let mut any = false;
    for sd in sds.filter(|sd| **sd != 0.0 && sd.abs() < EXACT * largest) {
        *sd = 0.0;
        any = true;
    }
    any
}

/// A range with a margin on both sides, except at zero.
pub(crate) fn padded(range: (f64, f64), share: f64) -> (f64, f64) {
    let margin = (range.1 - range.0) * share;
    let low = if range.0 == 0.0 {
        0.0
    } else {
        range.0 - margin
    };
    let high = if range.1 == 0.0 {
        0.0
    } else {
        range.1 + margin
    };
    (low, high)
}

/// A range that reaches to limits just outside; what lies farther away would flatten all that is
/// drawn.
pub(crate) fn with_limits(range: Option<(f64, f64)>, limits: &[Limit]) -> Option<(f64, f64)> {
    let (low, high) = range?;
    let reach = 0.5 * (high - low);
    let near = limits.iter().map(|limit| limit.value);
    let near = near.filter(|v| low - reach <= *v && *v <= high + reach);
    self::range(near.chain([low, high]))
}

/// The limits within a range, and what the caption says of the others.
pub(crate) fn limits(limits: &[Limit], (low, high): (f64, f64)) -> (Vec<&Limit>, Option<String>) {
    let inside = |limit: &&Limit| low <= limit.value && limit.value <= high;
    let (drawn, beyond): (Vec<&Limit>, Vec<&Limit>) = limits.iter().partition(inside);
    let beyond: Vec<&str> = beyond.iter().map(|limit| limit.label.as_str()).collect();
    let remark = match beyond.as_slice() {
        [] => None,
        [one] => Some(format!("{one} lies outside the axis.")),
        several => Some(format!("{} lie outside the axis.", several.join(", "))),
    };
    (drawn, remark)
}

/// Share of the transforms in each of ten equal bins, relative to a flat histogram; NaNs are left
/// out.
pub(crate) fn pit_histogram(pit: &[f64]) -> Vec<(f64, f64, usize)> {
    let mut counts = [0_usize; PIT_BINS];
    for &p in pit.iter().filter(|p| p.is_finite()) {
        let bin = (p.clamp(0.0, 1.0) * PIT_BINS as f64) as usize;
        counts[bin.min(PIT_BINS - 1)] += 1;
    }
    let width = 1.0 / PIT_BINS as f64;
    counts
        .iter()
        .enumerate()
        .map(|(i, &n)| (i as f64 * width, (i + 1) as f64 * width, n))
        .collect()
}

/// "95 % interval", or "interval" when the level is not known.
pub(crate) fn interval_words(level: f64) -> String {
    if level > 0.0 && level < 1.0 {
        format!("{} interval", crate::format::percent(level))
    } else {
        "interval".to_owned()
    }
}

/// Joins a caption with remarks, each a sentence.
pub(crate) fn joined(caption: &str, remarks: &[String]) -> String {
    let mut words: Vec<&str> = Vec::new();
    if !caption.trim().is_empty() {
        words.push(caption.trim());
    }
    words.extend(remarks.iter().map(String::as_str));
    words.join(" ")
}
