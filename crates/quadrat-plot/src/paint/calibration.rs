//! Calibration as a still image.

use super::canvas::Canvas;
use super::frame::{EDGE, Frame, Look, SMALL, TEXT, nothing, title, y_room};
use super::ink::{Anchor, Ink};
use crate::figure::CalibrationFigure;
use crate::format::{count, percent};
use crate::palette::{BAR, INK, MUTED, PREDICTED, REFERENCE};
use crate::prepare::{LEFT_OUT_ROWS, evenly, padded, pit_histogram, range, widened};

/// Height of the panels in pixels.
const HIGH: f64 = 230.0;

pub(super) fn draw(figure: &CalibrationFigure, width: f64) -> Canvas {
    let mut canvas = Canvas::new(width, 100.0);
    let mut top = title(&mut canvas, &figure.heading.title, width);
    let mut panels: Vec<(&str, Draw)> = Vec::new();
    if figure.coverage.iter().any(|c| c.total > 0) {
        panels.push(("Do the intervals hold?", coverage));
    }
    if figure.pit.iter().any(|p| p.is_finite()) {
        panels.push(("Where do the rows fall?", histogram));
    }
    if figure
        .rows
        .iter()
        .any(|r| r.observed.is_finite() && r.mean.is_finite())
    {
        panels.push(("Observed against predicted", scatter));
    }
    if panels.is_empty() {
        nothing(&mut canvas, top);
        return canvas;
    }
    canvas.words(
        (EDGE, top + 12.0),
        &figure.reading(),
        TEXT,
        Anchor::Start,
        INK,
    );
    top += 36.0;
    let share = (width - 2.0 * EDGE) / panels.len().max(2) as f64;
    for (i, (words, panel)) in panels.iter().enumerate() {
        let left = EDGE + share * i as f64;
        canvas.bold((left, top + 14.0), words, TEXT, Anchor::Start, INK);
        panel(
            &mut canvas,
            figure,
            Place {
                left,
                right: left + share - 22.0,
                top: top + 50.0,
            },
        );
    }
    canvas.set_height(top + 50.0 + HIGH + 58.0);
    canvas
}

/// Draws a panel at its place.
type Draw = fn(&mut Canvas, &CalibrationFigure, Place);

/// Where a panel lies.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    right: f64,
    top: f64,
}

impl Place {
    fn frame(self, room: f64, x: (f64, f64), y: (f64, f64)) -> Frame {
        Frame {
            left: self.left + room,
            right: self.right,
            top: self.top,
            bottom: self.top + HIGH,
            x,
            y,
        }
    }
}

fn shares(words: impl Fn(f64) -> String) -> Option<Vec<(f64, String)>> {
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(|v| (v, words(v))).to_vec())
}

fn diagonal(canvas: &mut Canvas, frame: &Frame) {
    canvas.line(
        frame.at(frame.x.0, frame.y.0),
        frame.at(frame.x.1, frame.y.1),
        Ink::line(MUTED, 1.2).dashed(),
    );
}

/// One line per level: a tick where rows inside should be, a dot where they are.
fn coverage(canvas: &mut Canvas, figure: &CalibrationFigure, place: Place) {
    let room = 52.0;
    let frame = place.frame(room, (0.0, 1.0), (0.0, 1.0));
    let look = Look {
        x_title: "rows inside",
        y_title: "interval",
        grid_x: true,
        grid_y: false,
        y_room: room,
        x_ticks: shares(|v| format!("{}%", v * 100.0)),
        y_ticks: Some(Vec::new()),
    };
    frame.axes(canvas, &look);
    let levels: Vec<_> = figure.coverage.iter().filter(|c| c.total > 0).collect();
    for (i, c) in levels.iter().enumerate() {
        let y = frame.top + HIGH * (i as f64 + 0.5) / levels.len() as f64;
        canvas.words(
            (frame.left - 8.0, y + 4.5),
            &percent(c.nominal),
            SMALL,
            Anchor::End,
            INK,
        );
        canvas.line((frame.left, y), (frame.right, y), Ink::line(BAR, 4.0));
        let promised = frame.at_x(c.nominal);
        canvas.line(
            (promised, y - 11.0),
            (promised, y + 11.0),
            Ink::line(INK, 2.5),
        );
        canvas.circle((frame.at_x(c.actual()), y), 5.5, Ink::fill(PREDICTED[0]));
        let held = format!("{} of {}", count(c.held), count(c.total));
        canvas.words((frame.right, y - 14.0), &held, SMALL, Anchor::End, INK);
    }
}

fn histogram(canvas: &mut Canvas, figure: &CalibrationFigure, place: Place) {
    let bins = pit_histogram(&figure.pit);
    let total: usize = bins.iter().map(|b| b.2).sum();
    let flat = total as f64 / bins.len().max(1) as f64;
    let top = bins.iter().map(|b| b.2 as f64).fold(flat, f64::max) * 1.08;
    let room = y_room((0.0, top), HIGH);
    let frame = place.frame(room, (0.0, 1.0), (0.0, top));
    let whole = super::frame::ticks((0.0, top), HIGH / 45.0)
        .into_iter()
        .filter(|t| t.0.fract() == 0.0)
        .collect();
    let look = Look {
        x_title: "place in the predicted distribution",
        y_title: "rows",
        grid_x: false,
        grid_y: true,
        y_room: room,
        x_ticks: shares(|v| v.to_string()),
        y_ticks: Some(whole),
    };
    frame.axes(canvas, &look);
    for (from, to, n) in bins {
        let (left, right) = (frame.at_x(from) + 0.5, frame.at_x(to) - 0.5);
        canvas.rect(
            (left, frame.bottom),
            (right, frame.at_y(n as f64)),
            Ink::fill(BAR),
        );
    }
    canvas.line(
        frame.at(0.0, flat),
        frame.at(1.0, flat),
        Ink::line(MUTED, 1.2).dashed(),
    );
}

fn scatter(canvas: &mut Canvas, figure: &CalibrationFigure, place: Place) {
    let usable: Vec<_> = figure
        .rows
        .iter()
        .filter(|r| r.observed.is_finite() && r.mean.is_finite())
        .collect();
    let all = usable
        .iter()
        .flat_map(|r| [r.observed, r.mean, r.lower, r.upper]);
    let span = padded(widened(range(all), false), 0.04);
    let room = y_room(span, HIGH);
    let frame = place.frame(room, span, span);
    let look = Look {
        x_title: figure.predicted_words(),
        y_title: "observed",
        grid_x: true,
        grid_y: true,
        y_room: room,
        x_ticks: None,
        y_ticks: None,
    };
    frame.axes(canvas, &look);
    diagonal(canvas, &frame);
    for i in evenly(usable.len(), LEFT_OUT_ROWS) {
        let row = usable[i];
        let inside = row.lower <= row.observed && row.observed <= row.upper;
        let colour = if inside { PREDICTED[0] } else { REFERENCE };
        if row.lower < row.upper {
            canvas.line(
                frame.at(row.lower, row.observed),
                frame.at(row.upper, row.observed),
                Ink::line(colour, 1.4).faint(0.45),
            );
        }
        canvas.circle(frame.at(row.mean, row.observed), 3.2, Ink::fill(colour));
    }
}
