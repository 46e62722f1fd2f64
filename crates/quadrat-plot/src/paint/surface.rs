//! Surfaces as still images.

use super::canvas::{Canvas, cut};
use super::frame::{EDGE, Frame, Look, TEXT, colour_bar, legend, nothing, title, y_room};
use super::ink::{Anchor, Ink};
use crate::figure::SurfaceFigure;
use crate::palette::{BORDER, INK, at};
use crate::prepare::{self, Shown};

/// Room of a map above its frame and below, in pixels.
const ROOM: (f64, f64) = (52.0, 92.0);

pub(super) fn draw(figure: &SurfaceFigure, width: f64) -> Canvas {
    let drawn = prepare::surface(figure);
    let mut canvas = Canvas::new(width, 100.0);
    let mut top = title(&mut canvas, &figure.heading.title, width);
    if drawn.sheets.is_empty() {
        nothing(&mut canvas, top);
        return canvas;
    }
    if !drawn.keys.is_empty() {
        top += legend(&mut canvas, &drawn.keys, top, width) + 8.0;
    }
    let columns = drawn.columns();
    let room = y_room(drawn.y_range, 240.0);
    let share = (width - 2.0 * EDGE) / columns as f64;
    let wide = share - room - 14.0;
    let high = ROOM.0 + wide * drawn.aspect + ROOM.1;
    let first = top;
    for (i, sheet) in drawn.sheets.iter().enumerate() {
        let left = EDGE + share * (i % columns) as f64 + room;
        let top = first + high * (i / columns) as f64;
        let bottom = top + ROOM.0 + wide * drawn.aspect;
        let frame = Frame {
            left,
            right: left + wide,
            top: top + ROOM.0,
            bottom,
            x: drawn.x_range,
            y: drawn.y_range,
        };
        canvas.bold(
            (left, top + 16.0),
            &cut(&sheet.title, TEXT, wide + 14.0),
            TEXT,
            Anchor::Start,
            INK,
        );
        let look = Look {
            x_title: &figure.x.title(),
            y_title: if i % columns == 0 {
                &figure.y.title()
            } else {
                ""
            },
            grid_x: false,
            grid_y: false,
            y_room: room,
            x_ticks: None,
            y_ticks: None,
        };
        let (low, width) = (sheet.range.0, sheet.range.1 - sheet.range.0);
        for ([x0, x1, y0, y1], value) in drawn.cells(sheet.shown) {
            let colour = at(sheet.colours, (value - low) / width);
            let (from, to) = (snapped(frame.at(x0, y0)), snapped(frame.at(x1, y1)));
            canvas.rect(from, to, Ink::filled(colour));
        }
        for (colour, width) in BORDER {
            for ring in &drawn.borders {
                // Held to the frame: an outline that leaves it runs along its edge.
                let points = ring.iter().map(|&[x, y]| frame.at(x, y)).collect();
                canvas.path(points, Ink::line(colour, width));
            }
        }
        if matches!(sheet.shown, Shown::Mean | Shown::Sd | Shown::Chance(_)) {
            let ring = Ink::fill("#ffffff").outlined(INK, 0.8);
            for [x, y] in &drawn.marked {
                canvas.circle(frame.at(*x, *y), drawn.radius(), ring);
            }
        }
        frame.axes(&mut canvas, &look);
        let bar = (left, bottom + 56.0);
        colour_bar(&mut canvas, bar, wide, sheet.colours, &sheet.labels);
    }
    canvas.set_height(first + high * drawn.sheets.len().div_ceil(columns) as f64);
    canvas
}

/// Half pixels: neighbours share an edge exactly, without seams.
fn snapped((x, y): (f64, f64)) -> (f64, f64) {
    ((x * 2.0).round() / 2.0, (y * 2.0).round() / 2.0)
}
