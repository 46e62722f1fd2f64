//! Marks of a curve figure as still images.

use super::canvas::{Anchor, Canvas, Ink, cut, width_of};
use super::frame::{Frame, SMALL};
use crate::palette::{BAR, INK, MUTED, OBSERVED, TINT};
use crate::prepare::{CurvePanel, Shape};

/// Most room for the names of ranks.
const NAMES: f64 = 130.0;

/// The room right of the frames that the names of ranks need.
pub(super) fn names_room(panels: &[CurvePanel<'_>]) -> f64 {
    let bands = panels
        .iter()
        .flat_map(|p| p.layers.iter().filter_map(|l| l.bands.as_ref()));
    bands
        .flat_map(|b| &b.names)
        .map(|(_, name)| width_of(name, SMALL).min(NAMES))
        .fold(0.0, f64::max)
}

/// What lies below the predictions: bands of ranks, and boxes.
pub(super) fn below(canvas: &mut Canvas, frame: &Frame, panel: &CurvePanel<'_>) {
    for bands in panel.layers.iter().filter_map(|l| l.bands.as_ref()) {
        for &(low, high) in &bands.tints {
            canvas.rect(
                (frame.left, frame.at_y(low)),
                (frame.right, frame.at_y(high)),
                Ink::fill(INK).faint(TINT),
            );
        }
        for &y in &bands.thresholds {
            let y = frame.at_y(y);
            canvas.line(
                (frame.left, y),
                (frame.right, y),
                Ink::line(MUTED, 1.0).dashed(),
            );
        }
        for (y, name) in &bands.names {
            canvas.words(
                (frame.right + 7.0, frame.at_y(*y) + 4.5),
                &cut(name, SMALL, NAMES),
                SMALL,
                Anchor::Start,
                MUTED,
            );
        }
    }
    for glyph in panel.layers.iter().flat_map(|l| &l.glyphs) {
        if let Shape::Boxed { x, low, high, .. } = glyph.shape {
            canvas.rect(
                frame.at(x.0, low),
                frame.at(x.1, high),
                Ink::fill(BAR).faint(0.6),
            );
        }
    }
}

/// What lies above the predictions.
pub(super) fn above(canvas: &mut Canvas, frame: &Frame, panel: &CurvePanel<'_>) {
    for layer in &panel.layers {
        for glyph in &layer.glyphs {
            shape(canvas, frame, &glyph.shape, layer.dense);
        }
    }
}

fn shape(canvas: &mut Canvas, frame: &Frame, shape: &Shape, dense: bool) {
    let thin = Ink::line(OBSERVED, if dense { 1.0 } else { 1.6 });
    let small = if dense { 0.6 } else { 1.0 };
    match *shape {
        Shape::Rod { x, low, high, open } => {
            canvas.line(frame.at(x, low), frame.at(x, high), thin);
            for (is_open, end, down) in [(open.0, low, true), (open.1, high, false)] {
                let at = frame.at(x, end);
                if is_open {
                    head(canvas, at, down, small);
                } else {
                    let half = 4.0 * small;
                    canvas.line((at.0 - half, at.1), (at.0 + half, at.1), thin);
                }
            }
        }
        Shape::Boxed { x, low, high, open } => {
            let middle = f64::midpoint(x.0, x.1);
            for (is_open, end, other) in [(open.0, low, high), (open.1, high, low)] {
                if is_open {
                    canvas.line(frame.at(middle, other), frame.at(middle, end), thin);
                    head(canvas, frame.at(middle, end), end < other, small);
                } else {
                    let edge = Ink::line(OBSERVED, 2.0);
                    canvas.line(frame.at(x.0, end), frame.at(x.1, end), edge);
                }
            }
        }
        Shape::Arrow { x, from, to } => {
            let middle = f64::midpoint(x.0, x.1);
            stretch(canvas, frame, x, from);
            canvas.line(frame.at(middle, from), frame.at(middle, to), thin);
            head(canvas, frame.at(middle, to), to <= from, small);
            let ring = Ink::fill("#ffffff").outlined(OBSERVED, 1.6);
            canvas.circle(frame.at(middle, from), 3.4 * small, ring);
        }
        Shape::Tick { x, low, high } if x.0 < x.1 => canvas.line(
            frame.at(x.0, low),
            frame.at(x.1, high),
            Ink::line(OBSERVED, 4.0),
        ),
        Shape::Tick { x, low, high } => canvas.line(
            frame.at(x.0, low),
            frame.at(x.1, high),
            Ink::line(OBSERVED, if dense { 1.0 } else { 2.2 }),
        ),
        Shape::Dot { x, y, radius } => {
            stretch(canvas, frame, x, y);
            let at = frame.at(f64::midpoint(x.0, x.1), y);
            // The raster backend fades fills but not lines: one circle for each.
            canvas.circle(at, radius, Ink::fill(OBSERVED).faint(0.4));
            canvas.circle(at, radius, Ink::line(OBSERVED, 1.0));
        }
        Shape::Pillar { x, low, high, open } => {
            stretch(canvas, frame, x, low);
            let middle = f64::midpoint(x.0, x.1);
            let ((px, bottom), (_, top)) = (frame.at(middle, low), frame.at(middle, high));
            let half = if dense { 1.5 } else { 3.0 };
            canvas.rect(
                (px - half, bottom),
                (px + half, top),
                Ink::fill("#ffffff").outlined(OBSERVED, 1.2),
            );
            if open {
                head(canvas, (px, top), false, 1.0);
            }
        }
    }
}

/// The stretch over which a row was observed, if it was one.
fn stretch(canvas: &mut Canvas, frame: &Frame, x: (f64, f64), y: f64) {
    if x.0 < x.1 {
        canvas.line(frame.at(x.0, y), frame.at(x.1, y), Ink::line(OBSERVED, 1.6));
    }
}

/// The head of an arrow with its tip at a place.
pub(super) fn head(canvas: &mut Canvas, (x, y): (f64, f64), down: bool, size: f64) {
    let back = if down { -8.0 } else { 8.0 } * size;
    let half = 4.5 * size;
    canvas.polygon(
        vec![(x, y), (x - half, y + back), (x + half, y + back)],
        Ink::fill(OBSERVED),
    );
}
