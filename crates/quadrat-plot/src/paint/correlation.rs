//! Correlations as still images.

use super::canvas::{Canvas, cut, width_of};
use super::frame::{EDGE, TEXT, colour_bar, nothing, title};
use super::ink::{Anchor, Ink};
use crate::figure::CorrelationFigure;
use crate::palette::{GRID, INK, MUTED, SIDES};
use crate::prepare;

/// Height of a row in pixels.
const ROW: f64 = 44.0;
/// Size of the values in narrow columns.
const SMALLEST: u32 = 11;
/// Width of a column in pixels, where there is room.
const COLUMN: f64 = 110.0;

pub(super) fn draw(figure: &CorrelationFigure, width: f64) -> Canvas {
    let mut canvas = Canvas::new(width, 100.0);
    let top = title(&mut canvas, &figure.heading.title, width);
    let square = prepare::correlation(figure);
    if square.is_empty() {
        nothing(&mut canvas, top);
        return canvas;
    }
    let widest = square.names.iter().map(|name| width_of(name, TEXT));
    let room = widest.fold(40.0, f64::max).min(width * 0.3) + 14.0;
    let (left, count) = (EDGE + room, square.names.len());
    let column = COLUMN.min((width - EDGE - left) / count as f64);
    let top = top + 30.0;
    let corner = |row: usize, at: usize| (left + column * at as f64, top + ROW * row as f64);
    for (i, name) in square.names.iter().enumerate() {
        let ((x, _), (_, y)) = (corner(0, i), corner(i, 0));
        let (above, beside) = (cut(name, TEXT, column - 6.0), cut(name, TEXT, room - 12.0));
        let middle = (x + 0.5 * column, top - 9.0);
        canvas.words(middle, &above, TEXT, Anchor::Middle, INK);
        let end = (left - 10.0, y + 0.5 * ROW + 5.0);
        canvas.words(end, &beside, TEXT, Anchor::End, INK);
        let (from, to) = (corner(i, i), corner(i + 1, i + 1));
        cell(&mut canvas, from, to, Ink::fill(GRID));
        words(&mut canvas, from, column, &square.diagonal[i], MUTED);
    }
    for told in &square.cells {
        let (from, to) = (
            corner(told.row, told.column),
            corner(told.row + 1, told.column + 1),
        );
        cell(&mut canvas, from, to, Ink::filled(told.fill));
        let ink = if told.dark { "#ffffff" } else { INK };
        words(&mut canvas, from, column, &told.words, ink);
    }
    let (_, bottom) = corner(count, count);
    let labels = [(0.0, "\u{2212}1"), (0.5, "0"), (1.0, "1")];
    let labels = labels.map(|(at, words)| (at, words.to_owned()));
    let wide = (column * count as f64).max(180.0);
    colour_bar(&mut canvas, (left, bottom + 18.0), wide, &SIDES, &labels);
    canvas.set_height(bottom + 58.0);
    canvas
}

fn cell(canvas: &mut Canvas, (x0, y0): (f64, f64), (x1, y1): (f64, f64), ink: Ink) {
    canvas.rect((x0 + 1.0, y0 + 1.0), (x1 - 1.0, y1 - 1.0), ink);
}

fn words(canvas: &mut Canvas, (x, y): (f64, f64), column: f64, words: &str, ink: &str) {
    // One size for all cells of a figure: that of the widest number.
    let size = if column < 56.0 { SMALLEST } else { TEXT };
    let at = (x + 0.5 * column, y + 0.5 * ROW + 5.0);
    canvas.words(at, words, size, Anchor::Middle, ink);
}
