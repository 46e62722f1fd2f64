//! Forests as still images.

use super::canvas::{Canvas, cut, width_of};
use super::frame::{EDGE, Frame, Look, SMALL, legend, nothing, title};
use super::ink::{Anchor, Ink};
use crate::figure::ForestFigure;
use crate::format::number;
use crate::palette::{INK, OBSERVED, PREDICTED, REFERENCE};
use crate::prepare::{self, Key, interval_words};

/// Height of a row in pixels.
const ROW: f64 = 24.0;

pub(super) fn draw(figure: &ForestFigure, width: f64) -> Canvas {
    let mut canvas = Canvas::new(width, 100.0);
    let mut top = title(&mut canvas, &figure.heading.title, width);
    let drawn = prepare::forest(figure);
    let rows = drawn.rows;
    if rows.iter().all(|row| !row.mean.is_finite()) {
        nothing(&mut canvas, top);
        return canvas;
    }
    let mut keys = vec![Key::new("dot", PREDICTED[0], drawn.label)];
    if drawn.has_intervals {
        keys.push(Key::new("band", PREDICTED[0], interval_words(figure.level)));
    }
    if rows
        .iter()
        .any(|row| row.observed.is_some_and(f64::is_finite))
    {
        keys.push(Key::new("ring", OBSERVED, "Observed"));
    }
    if rows
        .iter()
        .any(|row| row.reference.is_some_and(f64::is_finite))
    {
        keys.push(Key::new("dot", REFERENCE, figure.reference.clone()));
    }
    let limits = drawn.limits.iter();
    keys.extend(limits.map(|limit| Key::new("dashes", INK, limit.label.clone())));
    top += legend(&mut canvas, &keys, top, width) + 8.0;
    // Places on a logarithmic axis are those of logarithms.
    let place = |v: f64| match &drawn.ticks {
        None => v,
        Some(_) => v.clamp(drawn.span.0, drawn.span.1).log10(),
    };
    let span = (place(drawn.span.0), place(drawn.span.1));
    let x_ticks = drawn.ticks.as_ref();
    let x_ticks = x_ticks.map(|ticks| ticks.iter().map(|&t| (place(t), number(t))).collect());
    let room = rows
        .iter()
        .map(|r| width_of(&r.label, SMALL))
        .fold(40.0, f64::max)
        .min(width * 0.36)
        + 14.0;
    let bottom = top + ROW * rows.len() as f64;
    let frame = Frame {
        left: EDGE + room,
        right: width - EDGE - 8.0,
        top,
        bottom,
        x: span,
        y: (0.0, 1.0),
    };
    let look = Look {
        x_title: &figure.value.title(),
        y_title: "",
        grid_x: true,
        grid_y: false,
        y_room: room,
        x_ticks,
        y_ticks: Some(Vec::new()),
    };
    frame.axes(&mut canvas, &look);
    for limit in &drawn.limits {
        let x = frame.at_x(place(limit.value));
        let ends = ((x, frame.top), (x, frame.bottom));
        canvas.line(ends.0, ends.1, Ink::line(INK, 1.2).dashed());
    }
    for (i, row) in rows.iter().enumerate() {
        let y = top + ROW * (i as f64 + 0.5);
        canvas.words(
            (frame.left - 10.0, y + 4.5),
            &cut(&row.label, SMALL, room - 12.0),
            SMALL,
            Anchor::End,
            INK,
        );
        if !row.mean.is_finite() {
            continue;
        }
        let end = |v: f64| {
            if v.is_nan() {
                frame.at_x(place(row.mean))
            } else {
                frame.at_x(place(v))
            }
        };
        canvas.rect(
            (end(row.lower), y - 3.0),
            (end(row.upper), y + 3.0),
            Ink::fill(PREDICTED[0]).faint(0.35),
        );
        canvas.circle(
            (frame.at_x(place(row.mean)), y),
            4.2,
            Ink::fill(PREDICTED[0]),
        );
        if let Some(seen) = row.observed.filter(|v| v.is_finite()) {
            canvas.circle((frame.at_x(place(seen)), y), 4.4, Ink::line(OBSERVED, 2.0));
        }
        if let Some(known) = row.reference.filter(|v| v.is_finite()) {
            canvas.circle((frame.at_x(place(known)), y), 3.2, Ink::fill(REFERENCE));
        }
    }
    canvas.set_height(bottom + 56.0);
    canvas
}
