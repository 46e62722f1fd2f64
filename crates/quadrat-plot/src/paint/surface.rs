//! Surfaces as still images.

use super::canvas::{Anchor, Canvas, Ink, cut};
use super::frame::{EDGE, Frame, Look, TEXT, colour_bar, legend, nothing, title, y_room};
use crate::figure::{Area, SurfaceFigure};
use crate::format::rounded;
use crate::palette::{INK, SPREAD, VALUES, at};
use crate::prepare;

/// Edges and value of a cell.
type Rectangle = ([f64; 4], f64);
/// Title, cells, colours, range of a map, and the places marked on it.
type Map<'a> = (
    String,
    Vec<Rectangle>,
    &'a [&'a str],
    (f64, f64),
    &'a [[f64; 2]],
);
/// Room of a map above its frame and below, in pixels.
const ROOM: (f64, f64) = (52.0, 92.0);

pub(super) fn draw(figure: &SurfaceFigure, width: f64) -> Canvas {
    let drawn = prepare::surface(figure);
    let mut canvas = Canvas::new(width, 100.0);
    let mut top = title(&mut canvas, &figure.heading.title, width);
    let unit = if figure.value.label.is_empty() {
        "value".to_owned()
    } else {
        figure.value.title()
    };
    let areas = |areas: &[Area]| -> Vec<Rectangle> {
        let one = |a: &Area| ([a.x0, a.x1, a.y0, a.y1], a.value);
        areas.iter().map(one).collect()
    };
    let cells = |value: fn(&crate::figure::Pixel) -> f64| -> Vec<Rectangle> {
        drawn
            .predicted
            .iter()
            .map(|p| ([p.x0, p.x1, p.y0, p.y1], value(p)))
            .filter(|c| c.1.is_finite())
            .collect()
    };
    let maps: Vec<Map<'_>> = [
        (
            format!("Observed {unit}"),
            areas(&drawn.observed),
            &VALUES[..],
            drawn.value_range,
            &[][..],
        ),
        (
            format!("Predicted {unit}"),
            cells(|p| p.mean),
            &VALUES[..],
            drawn.value_range,
            &drawn.marked[..],
        ),
        (
            drawn.reference_title.clone(),
            areas(&drawn.reference),
            &VALUES[..],
            drawn.value_range,
            &[][..],
        ),
        (
            "Standard deviation".to_owned(),
            cells(|p| p.sd),
            &SPREAD[..],
            drawn.sd_range,
            &drawn.marked[..],
        ),
    ]
    .into_iter()
    .filter(|map| !map.1.is_empty())
    .collect();
    if maps.is_empty() {
        nothing(&mut canvas, top);
        return canvas;
    }
    if !drawn.keys.is_empty() {
        top += legend(&mut canvas, &drawn.keys, top, width) + 8.0;
    }
    // Four make two rows of two.
    let columns = if maps.len() == 4 {
        2
    } else {
        maps.len().max(2)
    };
    let room = y_room(drawn.y_range, 240.0);
    let share = (width - 2.0 * EDGE) / columns as f64;
    let wide = share - room - 14.0;
    let aspect = if figure.equal_scale {
        ((drawn.y_range.1 - drawn.y_range.0) / (drawn.x_range.1 - drawn.x_range.0)).clamp(0.3, 2.5)
    } else {
        0.9
    };
    let high = ROOM.0 + wide * aspect + ROOM.1;
    let first = top;
    for (i, (words, cells, scale, range, marked)) in maps.iter().enumerate() {
        let left = EDGE + share * (i % columns) as f64 + room;
        let top = first + high * (i / columns) as f64;
        let bottom = top + ROOM.0 + wide * aspect;
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
            &cut(words, TEXT, wide + 14.0),
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
        for ([x0, x1, y0, y1], value) in cells {
            let colour = at(scale, (value - range.0) / (range.1 - range.0));
            let (from, to) = (snapped(frame.at(*x0, *y0)), snapped(frame.at(*x1, *y1)));
            canvas.rect(from, to, Ink::filled(colour));
        }
        let ring = Ink::fill("#ffffff").outlined(INK, 0.8);
        for [x, y] in *marked {
            canvas.circle(frame.at(*x, *y), 1.9, ring);
        }
        frame.axes(&mut canvas, &look);
        let ends = [(0.0, rounded(range.0)), (1.0, rounded(range.1))];
        colour_bar(&mut canvas, (left, bottom + 56.0), wide, scale, &ends);
    }
    canvas.set_height(first + high * maps.len().div_ceil(columns) as f64);
    canvas
}

/// Half pixels: neighbours share an edge exactly, without seams.
fn snapped((x, y): (f64, f64)) -> (f64, f64) {
    ((x * 2.0).round() / 2.0, (y * 2.0).round() / 2.0)
}
