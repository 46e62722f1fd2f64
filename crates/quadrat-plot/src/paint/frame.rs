//! Axes, titles and legends of still images.

use super::canvas::{Canvas, cut, width_of, wrapped};
use super::ink::{Anchor, Ink};
use super::swatch::swatch;
use crate::palette::{BAND_OPACITY, GRID, INK, MISSING, MUTED, at};
use crate::prepare::Key;
pub(super) use crate::ticks::ticks;

/// Size of tick labels and axis titles.
pub(super) const SMALL: u32 = 13;
/// Size of legends and panel titles.
pub(super) const TEXT: u32 = 14;
/// Room at the left and right edge of a figure.
pub(super) const EDGE: f64 = 16.0;

const AXIS: &str = "#9aa5b1";

/// A rectangle of the sheet with a scale along each side.
pub(super) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    pub x: (f64, f64),
    pub y: (f64, f64),
}

impl Frame {
    /// The horizontal position of a value, inside the frame.
    pub(super) fn at_x(&self, value: f64) -> f64 {
        let share = (value - self.x.0) / (self.x.1 - self.x.0);
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }

    /// The vertical position of a value, inside the frame.
    pub(super) fn at_y(&self, value: f64) -> f64 {
        let share = (value - self.y.0) / (self.y.1 - self.y.0);
        self.bottom - share.clamp(0.0, 1.0) * (self.bottom - self.top)
    }

    /// Both positions.
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.at_x(x), self.at_y(y))
    }

    /// Ticks, labels and titles; grid lines first, so that the data lie on them.
    pub(super) fn axes(&self, canvas: &mut Canvas, look: &Look<'_>) {
        let (wide, high) = (self.right - self.left, self.bottom - self.top);
        for (value, label) in look
            .y_ticks
            .clone()
            .unwrap_or_else(|| ticks(self.y, high / 45.0))
        {
            let y = self.at_y(value);
            if look.grid_y {
                canvas.line((self.left, y), (self.right, y), Ink::line(GRID, 1.0));
            } else {
                canvas.line((self.left - 4.0, y), (self.left, y), Ink::line(AXIS, 1.0));
            }
            canvas.words(
                (self.left - 8.0, y + 4.5),
                &label,
                SMALL,
                Anchor::End,
                MUTED,
            );
        }
        let x_ticks = look.x_ticks.clone();
        let x_ticks = x_ticks.unwrap_or_else(|| ticks(self.x, wide / 75.0));
        for (value, _) in &x_ticks {
            let x = self.at_x(*value);
            if look.grid_x {
                canvas.line((x, self.top), (x, self.bottom), Ink::line(GRID, 1.0));
            }
            canvas.line(
                (x, self.bottom),
                (x, self.bottom + 4.0),
                Ink::line(AXIS, 1.0),
            );
        }
        for (middle, label) in self.labels(&x_ticks, look.y_room) {
            let place = (middle, self.bottom + 19.0);
            canvas.words(place, label, SMALL, Anchor::Middle, MUTED);
        }
        canvas.line(
            (self.left, self.bottom),
            (self.right, self.bottom),
            Ink::line(AXIS, 1.0),
        );
        let middle = f64::midpoint(self.left, self.right);
        let room = (self.right - EDGE).min(2.0 * (middle - EDGE)).max(60.0);
        canvas.words(
            (middle, self.bottom + 40.0),
            &cut(look.x_title, SMALL, room),
            SMALL,
            Anchor::Middle,
            INK,
        );
        // Above the axis and level: easier to read than words that run upwards.
        let words = cut(
            look.y_title,
            SMALL,
            self.right - self.left + look.y_room - 12.0,
        );
        canvas.words(
            (self.left - look.y_room, self.top - 14.0),
            &words,
            SMALL,
            Anchor::Start,
            INK,
        );
    }

    /// The labels below the frame with their middles: all, or every second, third and so on where
    /// they would touch.
    fn labels<'a>(&self, ticks: &'a [(f64, String)], y_room: f64) -> Vec<(f64, &'a str)> {
        let half = |label: &str| 0.5 * width_of(label, SMALL);
        let placed = |(value, label): &'a (f64, String)| {
            let room = half(label);
            let (left, right) = (self.left - y_room + room, self.right + EDGE - room);
            let x = self.at_x(*value);
            (
                if left < right {
                    x.clamp(left, right)
                } else {
                    x
                },
                label.as_str(),
            )
        };
        let every = |n: usize| ticks.iter().step_by(n).map(placed).collect::<Vec<_>>();
        let is_free = |labels: &Vec<(f64, &str)>| {
            labels.windows(2).all(|pair| {
                let ends = (pair[0].0 + half(pair[0].1), pair[1].0 - half(pair[1].1));
                ends.1 - ends.0 >= 6.0
            })
        };
        let mut choices = (1..=ticks.len().max(1)).map(every);
        choices.find(is_free).unwrap_or_default()
    }
}

/// How the axes of a frame look.
pub(super) struct Look<'a> {
    pub x_title: &'a str,
    pub y_title: &'a str,
    pub grid_x: bool,
    pub grid_y: bool,
    /// Room left of the frame for labels and title.
    pub y_room: f64,
    /// Ticks to use instead of round numbers.
    pub x_ticks: Option<Vec<(f64, String)>>,
    pub y_ticks: Option<Vec<(f64, String)>>,
}

/// The room that labels of a vertical axis and its title need.
pub(super) fn y_room(range: (f64, f64), high: f64) -> f64 {
    let widest = ticks(range, high / 45.0)
        .iter()
        .map(|(_, label)| width_of(label, SMALL))
        .fold(0.0, f64::max);
    widest + 20.0
}

/// Writes the title of a figure; gives the height used.
pub(super) fn title(canvas: &mut Canvas, words: &str, width: f64) -> f64 {
    let mut y = 14.0;
    for line in wrapped(words, 19, width - 2.0 * EDGE).iter().take(2) {
        canvas.bold((EDGE, y + 18.0), line, 19, Anchor::Start, INK);
        y += 26.0;
    }
    y + 4.0
}

/// Writes a legend in rows; gives the height used.
pub(super) fn legend(canvas: &mut Canvas, keys: &[Key], top: f64, width: f64) -> f64 {
    if keys.is_empty() {
        return 0.0;
    }
    let (mut x, mut y) = (EDGE, top + 10.0);
    for key in keys {
        let words = cut(&key.label, TEXT, width - 2.0 * EDGE - 40.0);
        let needed = 31.0 + width_of(&words, TEXT);
        if x > EDGE && x + needed > width - EDGE {
            x = EDGE;
            y += 22.0;
        }
        let middle = (x + 12.0, y);
        match key.shape {
            "bar" => canvas.rect(
                (x + 1.0, y - 6.0),
                (x + 23.0, y + 6.0),
                Ink::fill(key.colour),
            ),
            "band" => canvas.rect(
                (x, y - 6.0),
                (x + 24.0, y + 6.0),
                Ink::fill(key.colour).faint(BAND_OPACITY),
            ),
            "level" => canvas.line((x + 1.0, y), (x + 23.0, y), Ink::line(key.colour, 3.0)),
            "hatch" => hatch(canvas, (x + 1.0, y), key.colour),
            "dot" => canvas.circle(middle, 3.6, Ink::fill(key.colour)),
            "ring" => canvas.circle(middle, 3.8, Ink::line(key.colour, 1.8)),
            _ => swatch(canvas, key, middle),
        }
        canvas.words((x + 31.0, y + 5.0), &words, TEXT, Anchor::Start, INK);
        x += needed + 22.0;
    }
    y + 14.0 - top
}

/// The swatch of regions without a value.
fn hatch(canvas: &mut Canvas, (left, middle): (f64, f64), colour: &str) {
    let (top, bottom) = (middle - 6.0, middle + 6.0);
    canvas.rect((left, top), (left + 22.0, bottom), Ink::fill(MISSING.0));
    for x in [-6.0_f64, 0.0, 6.0, 12.0, 18.0] {
        let (low, high) = (x.max(0.0), (x + 12.0).min(22.0));
        let at = |u: f64| (left + u, bottom - (u - x));
        canvas.line(at(low), at(high), Ink::line(colour, 1.0));
    }
}

/// A colour scale with labels at their places, from 0 to 1.
pub(super) fn colour_bar(
    canvas: &mut Canvas,
    (left, top): (f64, f64),
    wide: f64,
    scale: &[&str],
    labels: &[(f64, String)],
) {
    let steps = 48;
    let x = |i: i32| left + (f64::from(i) / f64::from(steps) * wide * 2.0).round() / 2.0;
    for i in 0..steps {
        let colour = at(scale, (f64::from(i) + 0.5) / f64::from(steps));
        // Overlapping, so that no seam shows at any scale.
        canvas.rect(
            (x(i), top),
            (x((i + 2).min(steps)), top + 9.0),
            Ink::filled(colour),
        );
    }
    for (share, words) in labels {
        // A label keeps within the bar: at its left end it begins, at its right end it ends there.
        let room = width_of(words, SMALL).min(wide);
        let (centre, half) = (left + share * wide, room / 2.0);
        let (anchor, x) = if centre - half < left {
            (Anchor::Start, left)
        } else if centre + half > left + wide {
            (Anchor::End, left + wide)
        } else {
            (Anchor::Middle, centre)
        };
        canvas.line(
            (centre, top + 9.0),
            (centre, top + 12.0),
            Ink::line(AXIS, 1.0),
        );
        canvas.words((x, top + 26.0), words, SMALL, anchor, MUTED);
    }
}

/// The words of a figure without data.
pub(super) fn nothing(canvas: &mut Canvas, top: f64) {
    canvas.words(
        (EDGE, top + 24.0),
        "There is nothing to draw.",
        TEXT,
        Anchor::Start,
        MUTED,
    );
    canvas.set_height(top + 48.0);
}
