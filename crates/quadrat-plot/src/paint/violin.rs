//! Violins as still images.

use super::canvas::{Canvas, cut};
use super::frame::{EDGE, Frame, Look, SMALL, legend, nothing, title, y_room};
use super::ink::Ink;
use crate::figure::ViolinFigure;
use crate::palette::{BAND_OPACITY, INK, PREDICTED};
use crate::prepare::{self, Violin};

/// Height of the frame, in pixels.
const HIGH: f64 = 400.0;
/// Widest column, in pixels.
const COLUMN: f64 = 300.0;

pub(super) fn draw(figure: &ViolinFigure, width: f64) -> Canvas {
    let mut canvas = Canvas::new(width, 100.0);
    let mut top = title(&mut canvas, &figure.heading.title, width);
    let drawn = prepare::violins(figure);
    if drawn.shown.is_empty() {
        nothing(&mut canvas, top);
        return canvas;
    }
    top += legend(&mut canvas, &drawn.keys, top, width) + 30.0;
    let (room, columns) = (y_room(drawn.range, HIGH), drawn.shown.len() as f64);
    let left = EDGE + room;
    let column = COLUMN.min((width - EDGE - 8.0 - left) / columns);
    let frame = Frame {
        left,
        right: left + column * columns,
        top,
        bottom: top + HIGH,
        x: (0.0, columns),
        y: drawn.range,
    };
    let name = |shape: &Violin<'_>| {
        // Narrow columns have no room for a name: some are left out in place of all being cut.
        let room = if column < 40.0 { 120.0 } else { column - 6.0 };
        (shape.middle, cut(&shape.violin.label, SMALL, room))
    };
    let look = Look {
        x_title: &figure.group.title(),
        y_title: &figure.value.title(),
        grid_x: false,
        grid_y: true,
        y_room: room,
        x_ticks: Some(drawn.shown.iter().map(name).collect()),
        y_ticks: None,
    };
    frame.axes(&mut canvas, &look);
    for shape in &drawn.shown {
        violin(&mut canvas, &frame, shape);
    }
    canvas.set_height(frame.bottom + 52.0);
    canvas
}

fn violin(canvas: &mut Canvas, frame: &Frame, shape: &Violin<'_>) {
    let (colour, middle) = (PREDICTED[0], shape.middle);
    let edge = |side: f64, which: usize| {
        let rows = shape.outline.iter();
        rows.map(move |row| frame.at(middle + side * row[which], row[0]))
    };
    let around = |canvas: &mut Canvas, which: usize, opacity: f64| {
        let points =
            edge(-1.0, which).chain(edge(1.0, which).collect::<Vec<_>>().into_iter().rev());
        canvas.polygon(points.collect(), Ink::fill(colour).faint(opacity));
    };
    // Twice: what is sure is darker than what may be.
    around(canvas, 3, BAND_OPACITY);
    around(canvas, 2, 1.4 * BAND_OPACITY);
    for side in [-1.0, 1.0] {
        canvas.path(edge(side, 1).collect(), Ink::line(colour, 1.8));
    }
    for (value, half) in shape.quartiles {
        let ends = (
            frame.at(middle - half, value),
            frame.at(middle + half, value),
        );
        canvas.line(ends.0, ends.1, Ink::line(INK, 1.0).dashed());
    }
    let (low, high) = shape.violin.median;
    let place = frame.at(middle, shape.violin.quartiles[1]);
    if low.is_finite() && high.is_finite() {
        let ends = (frame.at(middle, low), frame.at(middle, high));
        canvas.line(ends.0, ends.1, Ink::line(INK, 3.0));
    }
    if shape.violin.quartiles[1].is_finite() {
        canvas.circle(place, 4.2, Ink::fill(INK).outlined("#ffffff", 1.2));
    }
}
