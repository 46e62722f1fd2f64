//! The shapes of a drawing, as SVG and for the raster backend.

use std::fmt::Write;

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor, TextSpan};

use super::ink::{Anchor, Ink};
use crate::escape::text;

/// One shape with its ink.
pub(super) enum Shape {
    Rect {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        ink: Ink,
    },
    Path {
        points: Vec<(f64, f64)>,
        closed: bool,
        ink: Ink,
    },
    Region {
        rings: Vec<Vec<(f64, f64)>>,
        ink: Ink,
    },
    Circle {
        x: f64,
        y: f64,
        radius: f64,
        ink: Ink,
    },
    Text {
        x: f64,
        y: f64,
        words: String,
        size: u32,
        anchor: Anchor,
        bold: bool,
        colour: (u8, u8, u8),
    },
}

impl Shape {
    /// The shape as an element of SVG.
    pub(super) fn svg(&self, out: &mut String) {
        let _ = match self {
            Self::Rect {
                x,
                y,
                width,
                height,
                ink,
            } => write!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>",
                short(*x),
                short(*y),
                short(*width),
                short(*height),
                paint(ink)
            ),
            Self::Path {
                points,
                closed,
                ink,
            } => write!(
                out,
                "<path d=\"{}\"{}/>",
                trace(points, *closed),
                paint(ink)
            ),
            Self::Region { rings, ink } => {
                let d: String = rings.iter().map(|ring| trace(ring, true)).collect();
                write!(out, "<path fill-rule=\"evenodd\" d=\"{d}\"{}/>", paint(ink))
            }
            Self::Circle { x, y, radius, ink } => {
                write!(
                    out,
                    "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>",
                    short(*x),
                    short(*y),
                    short(*radius),
                    paint(ink)
                )
            }
            Self::Text {
                x,
                y,
                words,
                size,
                anchor,
                bold,
                colour,
            } => {
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                let weight = if *bold { " font-weight=\"bold\"" } else { "" };
                let (x, y) = (short(*x), short(*y));
                let (words, fill) = (text(words), hex(*colour));
                write!(
                    out,
                    "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight} fill=\"{fill}\">{words}</text>"
                )
            }
        };
    }

    /// Adds the shape to a scene of the raster backend.
    pub(super) fn add_to(&self, scene: &mut Scene) {
        let colour = |c: (u8, u8, u8)| Color::Rgb(c.0, c.1, c.2);
        scene.add(match self {
            Self::Region { rings, ink } => {
                // The backend fills every ring on its own: holes are painted over with paper.
                for (i, ring) in rings.iter().enumerate() {
                    let paper = Ink {
                        fill: Some((255, 255, 255)),
                        ..*ink
                    };
                    let path = Self::Path {
                        points: ring.clone(),
                        closed: true,
                        ink: if i == 0 { *ink } else { paper },
                    };
                    path.add_to(scene);
                }
                return;
            }
            Self::Rect {
                x,
                y,
                width,
                height,
                ink,
            } => Primitive::Rect {
                x: *x,
                y: *y,
                width: *width,
                height: *height,
                fill: ink.fill.map_or(Color::None, colour),
                stroke: ink.line.map(colour),
                stroke_width: ink.line.map(|_| ink.width),
                opacity: Some(ink.opacity),
            },
            Self::Circle { x, y, radius, ink } => Primitive::Circle {
                cx: *x,
                cy: *y,
                r: *radius,
                fill: ink.fill.map_or(Color::None, colour),
                fill_opacity: Some(ink.opacity),
                stroke: ink.line.map(colour),
                stroke_width: ink.line.map(|_| ink.width),
            },
            Self::Path {
                points,
                closed: false,
                ink,
            } if !ink.dashed && ink.opacity == 1.0 => Primitive::PolyLine {
                points: points.clone(),
                stroke: ink.line.map_or(Color::None, colour),
                stroke_width: ink.width,
                stroke_dasharray: None,
            },
            Self::Path {
                points,
                closed,
                ink,
            } => Primitive::Path(Box::new(PathData {
                d: trace(points, *closed),
                fill: ink.fill.map(colour),
                stroke: ink.line.map_or(Color::None, colour),
                stroke_width: ink.width,
                opacity: Some(ink.opacity),
                stroke_dasharray: ink.dashed.then(|| "4 4".to_owned()),
            })),
            Self::Text {
                x,
                y,
                words,
                size,
                anchor,
                bold,
                colour: ink,
            } => {
                // Spans, because plain text of the backend is never bold and reads dollars as
                // mathematics.
                let span = TextSpan {
                    bold: *bold,
                    ..TextSpan::plain(words.as_str())
                };
                Primitive::RichText {
                    x: *x,
                    y: *y,
                    spans: vec![span],
                    size: *size,
                    anchor: match anchor {
                        Anchor::Start => TextAnchor::Start,
                        Anchor::Middle => TextAnchor::Middle,
                        Anchor::End => TextAnchor::End,
                    },
                    color: Some(colour(*ink)),
                }
            }
        });
    }
}

fn trace(points: &[(f64, f64)], closed: bool) -> String {
    let mut out = String::with_capacity(points.len() * 14);
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(
            out,
            "{}{} {}",
            if i == 0 { "M" } else { "L" },
            short(*x),
            short(*y)
        );
    }
    if closed {
        out.push('Z');
    }
    out
}

fn paint(ink: &Ink) -> String {
    let mut out = match ink.fill {
        Some(fill) => format!(" fill=\"{}\"", hex(fill)),
        None => " fill=\"none\"".to_owned(),
    };
    if let Some(line) = ink.line {
        let _ = write!(
            out,
            " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
            hex(line),
            short(ink.width)
        );
    }
    if ink.dashed {
        out.push_str(" stroke-dasharray=\"4 4\"");
    }
    if ink.opacity < 1.0 {
        let _ = write!(out, " opacity=\"{}\"", short(ink.opacity));
    }
    out
}

fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A coordinate with two decimals at most; what is not finite lies at the origin.
pub(super) fn short(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}
