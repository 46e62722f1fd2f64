//! Colours and places of text.

use crate::palette::rgb;

/// Where a text is held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Fill and line of a shape.
#[derive(Clone, Copy)]
pub(super) struct Ink {
    pub(super) fill: Option<(u8, u8, u8)>,
    pub(super) line: Option<(u8, u8, u8)>,
    pub(super) width: f64,
    pub(super) opacity: f64,
    pub(super) dashed: bool,
}

impl Ink {
    /// A filled shape without a line.
    pub(super) fn fill(colour: &str) -> Self {
        Self::filled(rgb(colour))
    }

    /// A filled shape without a line, of a colour already mixed.
    pub(super) fn filled(colour: (u8, u8, u8)) -> Self {
        Self {
            fill: Some(colour),
            line: None,
            width: 0.0,
            opacity: 1.0,
            dashed: false,
        }
    }

    /// A line of some width.
    pub(super) fn line(colour: &str, width: f64) -> Self {
        Self {
            fill: None,
            line: Some(rgb(colour)),
            width,
            opacity: 1.0,
            dashed: false,
        }
    }

    /// The same, fainter: an area lets through what lies below, a line is mixed with paper.
    pub(super) fn faint(self, opacity: f64) -> Self {
        let mixed = |c: u8| (255.0 + opacity * (f64::from(c) - 255.0)).round() as u8;
        match self.line {
            Some((r, g, b)) => Self {
                line: Some((mixed(r), mixed(g), mixed(b))),
                ..self
            },
            None => Self { opacity, ..self },
        }
    }

    /// The same with a line around it.
    pub(super) fn outlined(self, colour: &str, width: f64) -> Self {
        Self {
            line: Some(rgb(colour)),
            width,
            ..self
        }
    }

    /// The same with a dashed line.
    pub(super) fn dashed(self) -> Self {
        Self {
            dashed: true,
            ..self
        }
    }
}
