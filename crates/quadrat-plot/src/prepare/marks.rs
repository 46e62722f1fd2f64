//! Marks, ready to draw: from what was seen to a few plain shapes in the units of the axes.

mod extent;
mod glyph;
mod keys;
mod told;

pub(crate) use extent::{extent, with_room};
pub(crate) use glyph::{Glyph, Shape};
pub(crate) use told::at as told_at;

use super::Key;
use super::{MARKS, evenly};
use crate::figure::{Marks, Seen, Side};
use crate::format::count;

/// Length of the arrow at a limit, as a share of the height.
const ARROW: f64 = 0.1;
/// Length of a tick at an edge or in a band, as a share of the height.
const TICK: f64 = 0.04;
/// Rows from which marks are drawn thinner.
const MANY: usize = 300;

/// Marks of one kind, ready to draw.
pub(crate) struct Layer {
    pub bands: Option<Bands>,
    pub glyphs: Vec<Glyph>,
    /// Names of the lines of the tooltips.
    pub titles: Vec<&'static str>,
    pub keys: Vec<Key>,
    /// Whether there are so many marks that they are drawn thinner.
    pub dense: bool,
}

/// The bands of ranks.
pub(crate) struct Bands {
    /// Level lines between the bands.
    pub thresholds: Vec<f64>,
    /// Bands with a tint.
    pub tints: Vec<(f64, f64)>,
    /// Names with the middle of their band.
    pub names: Vec<(f64, String)>,
}

/// Puts marks into a panel with its vertical range.
pub(crate) fn layer(marks: &Marks, y_range: (f64, f64), height: f64, first: bool) -> Layer {
    let kept = evenly(marks.at.len(), MARKS);
    let mut glyphs: Vec<Glyph> = kept
        .iter()
        .map(|&i| Glyph {
            shape: shape(marks, i, y_range, kept.len()),
            told: told::row(marks, i),
        })
        .collect();
    if matches!(marks.seen, Seen::Rates { .. }) {
        // Small dots over large ones.
        glyphs.sort_by(|a, b| size(&b.shape).total_cmp(&size(&a.shape)));
    }
    let bands = match &marks.seen {
        Seen::Ranks {
            thresholds, names, ..
        } => Some(bands(thresholds, names, y_range, height, first)),
        _ => None,
    };
    Layer {
        bands,
        keys: keys::keys(marks, &glyphs),
        dense: glyphs.len() > MANY,
        glyphs,
        titles: told::titles(marks),
    }
}

/// What the caption says of marks that are not drawn.
pub(crate) fn remark(marks: &Marks) -> Option<String> {
    let (all, kept) = (marks.at.len(), evenly(marks.at.len(), MARKS).len());
    (kept < all).then(|| {
        let (kept, all) = (count(kept), count(all));
        format!("{kept} of {all} observed rows are drawn, evenly chosen.")
    })
}

fn size(shape: &Shape) -> f64 {
    match shape {
        Shape::Dot { radius, .. } => *radius,
        _ => f64::INFINITY,
    }
}

fn shape(marks: &Marks, i: usize, y_range: (f64, f64), drawn: usize) -> Shape {
    let (bottom, top) = y_range;
    let high = top - bottom;
    let x = marks.at[i].ends();
    let arrow = |from: f64, side: Side| {
        let length = match side {
            Side::Below => -ARROW * high,
            Side::Above => ARROW * high,
        };
        let to = (from + length).clamp(bottom, top);
        Shape::Arrow { x, from, to }
    };
    match &marks.seen {
        Seen::Intervals { lower, upper } => {
            let open = (lower[i].is_none(), upper[i].is_none());
            let (low, high) = (lower[i].unwrap_or(bottom), upper[i].unwrap_or(top));
            if x.0 < x.1 {
                Shape::Boxed { x, low, high, open }
            } else {
                Shape::Rod {
                    x: x.0,
                    low,
                    high,
                    open,
                }
            }
        }
        Seen::Censored { limit, side } => arrow(limit[i], side[i]),
        Seen::Ranks {
            rank, thresholds, ..
        } => {
            let (low, high) = band(thresholds, rank[i] - 1, y_range);
            let half = (0.3 * (high - low)).min(TICK * (top - bottom) / 2.0);
            let middle = f64::midpoint(low, high);
            let half = if x.0 < x.1 { 0.0 } else { half };
            Shape::Tick {
                x,
                low: middle - half,
                high: middle + half,
            }
        }
        Seen::Rates {
            lower,
            upper,
            exposure,
            per,
        } => {
            let rate = |count: f64| per * count / exposure[i];
            let low = rate(lower[i]);
            match upper[i] {
                None => arrow(low, Side::Above),
                Some(upper) if upper == lower[i] => {
                    let largest = exposure.iter().copied().fold(0.0, f64::max);
                    Shape::Dot {
                        x,
                        y: low,
                        radius: radius(exposure[i] / largest, drawn),
                    }
                }
                Some(upper) => Shape::Pillar {
                    x,
                    low,
                    high: rate(upper),
                },
            }
        }
        Seen::Signs { yes } => {
            let length = if x.0 < x.1 { 0.0 } else { TICK * high };
            // Over a stretch a level bar, half a tick inside the edge.
            let inside = if x.0 < x.1 { TICK * high / 2.0 } else { 0.0 };
            let (low, high) = if yes[i] {
                (top - inside - length, top - inside)
            } else {
                (bottom + inside, bottom + inside + length)
            };
            Shape::Tick { x, low, high }
        }
    }
}

/// Radius in pixels of a dot with a share of the largest exposure: its area grows with it, but
/// stays visible.
fn radius(share: f64, drawn: usize) -> f64 {
    let largest = match drawn {
        0..60 => 9.0,
        60..MANY => 6.5,
        _ => 4.0,
    };
    (share.sqrt() * largest).max(1.8)
}

/// The ends of a band, counted from 0, inside the range.
fn band(thresholds: &[f64], i: usize, y_range: (f64, f64)) -> (f64, f64) {
    let low = if i == 0 { y_range.0 } else { thresholds[i - 1] };
    (low, thresholds.get(i).copied().unwrap_or(y_range.1))
}

fn bands(
    thresholds: &[f64],
    names: &[String],
    y_range: (f64, f64),
    height: f64,
    first: bool,
) -> Bands {
    let mut out = Bands {
        thresholds: thresholds.to_vec(),
        tints: Vec::new(),
        names: Vec::new(),
    };
    if !first {
        // Bands on bands could not be told apart.
        return out;
    }
    let apart = 15.0 / height * (y_range.1 - y_range.0);
    for i in 0..=thresholds.len() {
        let (low, high) = band(thresholds, i, y_range);
        if i % 2 == 1 {
            out.tints.push((low, high));
        }
        let middle = f64::midpoint(low, high);
        if out.names.last().is_none_or(|(y, _)| middle - y >= apart) {
            let number = || (i + 1).to_string();
            out.names
                .push((middle, names.get(i).cloned().unwrap_or_else(number)));
        }
    }
    out
}

#[cfg(test)]
mod tests;
