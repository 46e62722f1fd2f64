//! Heads of arrows.

use super::canvas::Canvas;
use super::ink::Ink;

/// The head of an arrow with its tip at a place.
pub(super) fn head(canvas: &mut Canvas, (x, y): (f64, f64), down: bool, size: f64, line: Ink) {
    let ink = Ink {
        fill: line.line,
        line: None,
        ..line
    };
    let back = if down { -8.0 } else { 8.0 } * size;
    let half = 4.5 * size;
    canvas.polygon(
        vec![(x, y), (x - half, y + back), (x + half, y + back)],
        ink,
    );
}
