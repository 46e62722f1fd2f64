//! Curves as still images.

use super::canvas::{Canvas, cut};
use super::frame::{EDGE, Frame, Look, TEXT, legend, nothing, title, y_room};
use super::ink::{Anchor, Ink};
use super::marks;
use crate::figure::CurveFigure;
use crate::palette::{BAND_OPACITY, BAR, INK, OBSERVED, PREDICTED, REFERENCE};
use crate::prepare::{self, CurvePanel, Mark};

pub(super) fn draw(figure: &CurveFigure, width: f64) -> Canvas {
    let drawn = prepare::curve(figure);
    let mut canvas = Canvas::new(width, 100.0);
    let mut top = title(&mut canvas, &figure.heading.title, width);
    if drawn.panels.is_empty() {
        nothing(&mut canvas, top);
        return canvas;
    }
    top += legend(&mut canvas, &drawn.keys, top, width) + 8.0;
    let height = if drawn.panels.len() > 1 { 230.0 } else { 360.0 };
    let room = drawn
        .panels
        .iter()
        .map(|p| y_room(p.y_range, height))
        .fold(0.0, f64::max);
    let names = marks::names_room(&drawn.panels);
    for panel in &drawn.panels {
        if !panel.panel.title.is_empty() {
            canvas.bold(
                (EDGE, top + 12.0),
                &cut(&panel.panel.title, TEXT, width - 2.0 * EDGE),
                TEXT,
                Anchor::Start,
                INK,
            );
            top += 26.0;
        }
        top += 24.0;
        let frame = Frame {
            left: EDGE + room,
            right: width - EDGE - 8.0 - names,
            top,
            bottom: top + height,
            x: drawn.x_range,
            y: panel.y_range,
        };
        let look = Look {
            x_title: &figure.x.title(),
            y_title: &panel.panel.y.title(),
            grid_x: false,
            grid_y: true,
            y_room: room,
            x_ticks: None,
            y_ticks: None,
        };
        frame.axes(&mut canvas, &look);
        marks::below(&mut canvas, &frame, panel);
        fill(&mut canvas, &frame, panel);
        marks::marks(&mut canvas, &frame, panel, false);
        top = frame.bottom + 60.0;
    }
    canvas.set_height(top - 8.0);
    canvas
}

fn fill(canvas: &mut Canvas, frame: &Frame, panel: &CurvePanel<'_>) {
    for mark in &panel.marks {
        if let Mark::Bar { x0, x1, height, .. } = *mark {
            let (left, right) = (frame.at_x(x0), frame.at_x(x1));
            // A hairline of paper between neighbours, as in the page.
            let gap = if right - left > 3.0 { 0.5 } else { 0.0 };
            canvas.rect(
                (left + gap, frame.at_y(0.0)),
                (right - gap, frame.at_y(height)),
                Ink::fill(BAR),
            );
        }
    }
    marks::marks(canvas, frame, panel, true);
    for (i, band) in panel.bands.iter().enumerate() {
        let colour = PREDICTED[i % PREDICTED.len()];
        for piece in &band.pieces {
            if band.band_label.is_some() && piece.len() > 1 {
                let upper = piece.iter().map(|v| frame.at(v[0], v[3]));
                let lower = piece.iter().rev().map(|v| frame.at(v[0], v[2]));
                canvas.polygon(
                    upper.chain(lower).collect(),
                    Ink::fill(colour).faint(BAND_OPACITY),
                );
            }
        }
        for piece in &band.pieces {
            if let [v] = piece.as_slice() {
                canvas.line(
                    frame.at(v[0], v[2]),
                    frame.at(v[0], v[3]),
                    Ink::line(colour, 2.0).faint(0.5),
                );
                canvas.circle(frame.at(v[0], v[1]), 4.0, Ink::fill(colour));
            } else {
                canvas.path(
                    piece.iter().map(|v| frame.at(v[0], v[1])).collect(),
                    Ink::line(colour, 2.0),
                );
            }
        }
    }
    for mark in &panel.marks {
        observed(canvas, frame, mark);
    }
    for limit in &panel.limits {
        let y = frame.at_y(limit.value);
        let ends = ((frame.left, y), (frame.right, y));
        canvas.line(ends.0, ends.1, Ink::line(INK, 1.2).dashed());
    }
    let radius = if panel.dots.len() > 200 { 1.6 } else { 2.4 };
    for (x, y) in &panel.dots {
        canvas.circle(frame.at(*x, *y), radius, Ink::fill(REFERENCE));
    }
    for x in &panel.rug {
        let x = frame.at_x(*x);
        canvas.line(
            (x, frame.bottom),
            (x, frame.bottom - 9.0),
            Ink::line(INK, 1.2).faint(0.8),
        );
    }
}

fn observed(canvas: &mut Canvas, frame: &Frame, mark: &Mark) {
    let rod = Ink::line(OBSERVED, 1.5);
    match *mark {
        Mark::Bar { .. } => {}
        Mark::Level { x0, x1, y, .. } => {
            canvas.line(frame.at(x0, y), frame.at(x1, y), Ink::line(OBSERVED, 3.0))
        }
        Mark::Point { x, y, error, .. } => {
            if let Some(e) = error {
                canvas.line(frame.at(x, y - e), frame.at(x, y + e), rod);
            }
            canvas.circle(frame.at(x, y), 3.4, Ink::fill(OBSERVED));
        }
    }
}
