//! Surfaces as still images.

use super::canvas::{Anchor, Canvas, Ink, cut};
use super::frame::{EDGE, Frame, Look, TEXT, colour_bar, nothing, title, y_room};
use crate::figure::SurfaceFigure;
use crate::format::rounded;
use crate::palette::{INK, SPREAD, VALUES, at};
use crate::prepare;

/// Edges and value of a cell.
type Rectangle = ([f64; 4], f64);
/// Title, cells, colours and range of a map.
type Map<'a> = (String, Vec<Rectangle>, &'a [&'a str], (f64, f64));

pub(super) fn draw(figure: &SurfaceFigure, width: f64) -> Canvas {
    let drawn = prepare::surface(figure);
    let mut canvas = Canvas::new(width, 100.0);
    let top = title(&mut canvas, &figure.heading.title, width);
    let unit = if figure.value.label.is_empty() {
        "value".to_owned()
    } else {
        figure.value.title()
    };
    let observed: Vec<Rectangle> = drawn
        .observed
        .iter()
        .map(|a| ([a.x0, a.x1, a.y0, a.y1], a.value))
        .collect();
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
            observed,
            &VALUES[..],
            drawn.value_range,
        ),
        (
            format!("Predicted {unit}"),
            cells(|p| p.mean),
            &VALUES[..],
            drawn.value_range,
        ),
        (
            "Standard deviation".to_owned(),
            cells(|p| p.sd),
            &SPREAD[..],
            drawn.sd_range,
        ),
    ]
    .into_iter()
    .filter(|map| !map.1.is_empty())
    .collect();
    if maps.is_empty() {
        nothing(&mut canvas, top);
        return canvas;
    }
    let count = maps.len().max(2) as f64;
    let room = y_room(drawn.y_range, 240.0);
    let share = (width - 2.0 * EDGE) / count;
    let wide = share - room - 14.0;
    let aspect = if figure.equal_scale {
        ((drawn.y_range.1 - drawn.y_range.0) / (drawn.x_range.1 - drawn.x_range.0)).clamp(0.3, 2.5)
    } else {
        0.9
    };
    let bottom = top + 52.0 + wide * aspect;
    for (i, (words, cells, scale, range)) in maps.iter().enumerate() {
        let left = EDGE + share * i as f64 + room;
        let frame = Frame {
            left,
            right: left + wide,
            top: top + 52.0,
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
            y_title: if i == 0 { &figure.y.title() } else { "" },
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
        frame.axes(&mut canvas, &look);
        let ends = [(0.0, rounded(range.0)), (1.0, rounded(range.1))];
        colour_bar(&mut canvas, (left, bottom + 56.0), wide, scale, &ends);
    }
    canvas.set_height(bottom + 92.0);
    canvas
}

/// Half pixels: neighbours share an edge exactly, without seams.
fn snapped((x, y): (f64, f64)) -> (f64, f64) {
    ((x * 2.0).round() / 2.0, (y * 2.0).round() / 2.0)
}
