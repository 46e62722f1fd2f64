//! The swatches of marks in legends, the same in still images and on the page.

use super::arrow::head;
use super::canvas::Canvas;
use super::ink::Ink;
use crate::palette::BAR;
use crate::prepare::Key;

/// Draws the swatch of an entry, 24 wide and 14 high, around its middle. Shapes: `capped` (a bar
/// with caps), `box`, `below`, `above` and `beyond` (rings with arrows), `tick`, `dashes`,
/// `bubbles`, `pillar` and `edges`; a line for any other.
pub(super) fn swatch(canvas: &mut Canvas, key: &Key, (x, y): (f64, f64)) {
    let thin = Ink::line(key.colour, 1.6);
    let ring = Ink::fill("#ffffff").outlined(key.colour, 1.6);
    let mut arrow = |x: f64, down: bool| {
        let (from, to) = if down {
            (y - 3.5, y + 7.0)
        } else {
            (y + 3.5, y - 7.0)
        };
        canvas.line((x, from), (x, f64::midpoint(from, to)), thin);
        head(canvas, (x, to), down, 0.7, thin);
        canvas.circle((x, from), 2.8, ring);
    };
    match key.shape {
        "below" => arrow(x, true),
        "above" => arrow(x, false),
        "beyond" => {
            arrow(x - 5.0, true);
            arrow(x + 5.0, false);
        }
        "capped" => {
            canvas.line((x, y - 6.0), (x, y + 6.0), thin);
            for end in [y - 6.0, y + 6.0] {
                canvas.line((x - 4.0, end), (x + 4.0, end), thin);
            }
        }
        "box" => {
            let (low, high) = (y + 5.5, y - 5.5);
            canvas.rect((x - 10.0, low), (x + 10.0, high), Ink::fill(BAR).faint(0.6));
            for end in [low, high] {
                canvas.line((x - 10.0, end), (x + 10.0, end), Ink::line(key.colour, 2.0));
            }
        }
        "tick" => canvas.line((x, y - 6.0), (x, y + 6.0), Ink::line(key.colour, 2.2)),
        "dashes" => canvas.line(
            (x - 12.0, y),
            (x + 12.0, y),
            Ink::line(key.colour, 1.0).dashed(),
        ),
        "bubbles" => {
            for (at, radius) in [(x - 6.0, 2.2), (x + 5.0, 5.8)] {
                canvas.circle((at, y), radius, Ink::fill(key.colour).faint(0.4));
                canvas.circle((at, y), radius, Ink::line(key.colour, 1.0));
            }
        }
        "pillar" => canvas.rect(
            (x - 3.0, y - 6.0),
            (x + 3.0, y + 6.0),
            Ink::fill("#ffffff").outlined(key.colour, 1.2),
        ),
        "edges" => {
            let tick = Ink::line(key.colour, 2.2);
            for at in [-8.0, 0.0] {
                canvas.line((x + at, y - 7.0), (x + at, y - 1.5), tick);
                canvas.line((x + at + 6.0, y + 1.5), (x + at + 6.0, y + 7.0), tick);
            }
        }
        _ => canvas.line((x - 12.0, y), (x + 12.0, y), Ink::line(key.colour, 2.2)),
    }
}

/// The swatch of an entry as elements of SVG, around the middle of a field 22 wide and 14 high.
pub(crate) fn elements(key: &Key) -> String {
    let mut canvas = Canvas::new(22.0, 14.0);
    swatch(&mut canvas, key, (11.0, 7.0));
    canvas.elements()
}
