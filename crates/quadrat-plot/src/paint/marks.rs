//! Marks of a curve figure as still images.

use super::arrow::head;
use super::canvas::{Canvas, cut, width_of};
use super::frame::{Frame, SMALL};
use super::ink::{Anchor, Ink};
use crate::palette::{BAR, DENSE, INK, MUTED, OBSERVED, THRESHOLD, TINT};
use crate::prepare::{CurvePanel, Shape};

/// Most room for the names of ranks.
const NAMES: f64 = 130.0;
/// How far a stem ends before the tip of its arrow, in pixels.
const STEM: f64 = 4.0;

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
                Ink::line(THRESHOLD, 1.0).dashed(),
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

/// The marks themselves: those that would hide the predictions when asked for `dense` ones, else
/// the others.
pub(super) fn marks(canvas: &mut Canvas, frame: &Frame, panel: &CurvePanel<'_>, dense: bool) {
    for layer in panel.layers.iter().filter(|l| l.dense == dense) {
        for glyph in &layer.glyphs {
            shape(canvas, frame, &glyph.shape, dense);
        }
    }
}

fn shape(canvas: &mut Canvas, frame: &Frame, shape: &Shape, dense: bool) {
    let line = |width: f64, thinner: f64| {
        if dense {
            Ink::line(OBSERVED, thinner).faint(DENSE)
        } else {
            Ink::line(OBSERVED, width)
        }
    };
    let thin = line(1.6, 1.0);
    let small = if dense { 0.6 } else { 1.0 };
    match *shape {
        Shape::Rod { x, low, high, open } => {
            let mut path = Vec::with_capacity(6);
            let half = 4.0 * small;
            let ((px, bottom), (_, top)) = (frame.at(x, low), frame.at(x, high));
            if open.0 {
                path.push((px, bottom - STEM));
            } else {
                path.extend([(px - half, bottom), (px + half, bottom), (px, bottom)]);
            }
            if open.1 {
                path.push((px, top + STEM));
            } else {
                path.extend([(px, top), (px - half, top), (px + half, top)]);
            }
            canvas.path(path, thin);
            for (is_open, y, down) in [(open.0, bottom, true), (open.1, top, false)] {
                if is_open {
                    head(canvas, (px, y), down, small, thin);
                }
            }
        }
        Shape::Boxed { x, low, high, open } => {
            let middle = f64::midpoint(x.0, x.1);
            for (is_open, end, other) in [(open.0, low, high), (open.1, high, low)] {
                if is_open {
                    let (from, to) = (frame.at(middle, other), frame.at(middle, end));
                    arrow(canvas, from, to, thin, small);
                } else {
                    canvas.line(frame.at(x.0, end), frame.at(x.1, end), line(2.0, 1.0));
                }
            }
        }
        Shape::Arrow { x, from, to } => {
            let middle = f64::midpoint(x.0, x.1);
            stretch(canvas, frame, x, from);
            let (from, to) = (frame.at(middle, from), frame.at(middle, to));
            arrow(canvas, from, to, thin, small);
            let ring = Ink {
                fill: Some((255, 255, 255)),
                ..thin
            };
            canvas.circle(from, 3.4 * small, ring);
        }
        Shape::Tick { x, low, high } => {
            let ink = if x.0 < x.1 {
                line(4.0, 3.0)
            } else {
                line(2.2, 1.0)
            };
            canvas.line(frame.at(x.0, low), frame.at(x.1, high), ink);
        }
        Shape::Dot { x, y, radius } => {
            stretch(canvas, frame, x, y);
            let at = frame.at(f64::midpoint(x.0, x.1), y);
            // The raster backend fades fills but not lines: one circle for each.
            canvas.circle(at, radius, Ink::fill(OBSERVED).faint(0.4));
            canvas.circle(at, radius, line(1.0, 0.7));
        }
        Shape::Pillar { x, low, high } => {
            stretch(canvas, frame, x, low);
            let middle = f64::midpoint(x.0, x.1);
            let ((px, bottom), (_, top)) = (frame.at(middle, low), frame.at(middle, high));
            let half = if dense { 1.5 } else { 3.0 };
            canvas.rect(
                (px - half, bottom),
                (px + half, top),
                Ink {
                    fill: Some((255, 255, 255)),
                    ..line(1.2, 0.8)
                },
            );
        }
    }
}

/// The stretch over which a row was observed, if it was one.
fn stretch(canvas: &mut Canvas, frame: &Frame, x: (f64, f64), y: f64) {
    if x.0 < x.1 {
        canvas.line(frame.at(x.0, y), frame.at(x.1, y), Ink::line(OBSERVED, 1.6));
    }
}

/// A stem with a head.
fn arrow(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64), ink: Ink, size: f64) {
    let down = to.1 >= from.1;
    // Ends within the head, so that it does not blunt the tip.
    let end = if down {
        (to.1 - STEM).max(from.1)
    } else {
        (to.1 + STEM).min(from.1)
    };
    canvas.line(from, (to.0, end), ink);
    head(canvas, to, down, size, ink);
}
