//! From figure data to what is drawn: finite, ordered, thinned, with its axis ranges. Shared by the
//! page and the images.

mod correlation;
mod curve;
mod forest;
mod map;
mod marks;
mod range;
mod surface;
mod thin;
mod violin;
mod words;

pub(crate) use correlation::prepare as correlation;
pub(crate) use curve::{Band, CurvePanel, Mark, Slot, prepare as curve};
pub(crate) use forest::prepare as forest;
pub(crate) use map::{Coloured, Map, Ring, prepare as map};
pub(crate) use marks::{Glyph, Layer, Shape};
pub(crate) use range::{flattened, range, spread, widened};
pub(crate) use surface::{Sheet, Shown, prepare as surface};
pub(crate) use thin::{evenly, extremes};
pub(crate) use violin::{Shape as Violin, prepare as violins};
pub(crate) use words::{EXACT_WORDS, interval_words, joined, settle};

use crate::figure::Limit;

/// Observed marks of a kind drawn in a panel of a curve figure.
pub(crate) const MARKS: usize = 3000;
/// Rows drawn of a forest figure.
pub(crate) const FOREST_ROWS: usize = 60;
/// Rows drawn in the observed-against-predicted panel.
pub(crate) const LEFT_OUT_ROWS: usize = 600;
/// Bars of the histogram of probability integral transforms.
const PIT_BINS: usize = 10;

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
