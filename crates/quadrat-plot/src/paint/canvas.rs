//! A list of shapes that becomes SVG, or PNG through kuva.

use std::fmt::Write;

use kuva::RasterBackend;
use kuva::render::render::Scene;

use super::ink::{Anchor, Ink};
use super::shape::{Shape, short};
use crate::error::PlotError;
use crate::escape::text;
use crate::palette::rgb;

/// Fonts of the SVG, the widest first: text never grows beyond the room made for it.
const FONTS: &str = "'DejaVu Sans', 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// Shapes on a white sheet.
pub(super) struct Canvas {
    width: f64,
    height: f64,
    shapes: Vec<Shape>,
}

impl Canvas {
    /// An empty sheet.
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            shapes: Vec::new(),
        }
    }

    /// Makes the sheet higher or lower.
    pub(super) fn set_height(&mut self, height: f64) {
        self.height = height;
    }

    /// A rectangle between two corners, in any order.
    pub(super) fn rect(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), ink: Ink) {
        let (x, y) = (x0.min(x1), y0.min(y1));
        self.shapes.push(Shape::Rect {
            x,
            y,
            width: (x1 - x0).abs(),
            height: (y1 - y0).abs(),
            ink,
        });
    }

    /// A line through points.
    pub(super) fn path(&mut self, points: Vec<(f64, f64)>, ink: Ink) {
        self.shapes.push(Shape::Path {
            points,
            closed: false,
            ink,
        });
    }

    /// An area between points.
    pub(super) fn polygon(&mut self, points: Vec<(f64, f64)>, ink: Ink) {
        self.shapes.push(Shape::Path {
            points,
            closed: true,
            ink,
        });
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) {
        self.path(vec![from, to], ink);
    }

    /// A polygon: an outer ring and its holes, through which paper shows.
    ///
    /// The raster backend fills every ring on its own, so what lies in a hole must be drawn later
    /// than what is around it.
    pub(super) fn region(&mut self, rings: Vec<Vec<(f64, f64)>>, ink: Ink) {
        self.shapes.push(Shape::Region { rings, ink });
    }

    /// A disc or ring.
    pub(super) fn circle(&mut self, (x, y): (f64, f64), radius: f64, ink: Ink) {
        self.shapes.push(Shape::Circle { x, y, radius, ink });
    }

    /// Words on a base line.
    pub(super) fn words(
        &mut self,
        (x, y): (f64, f64),
        words: &str,
        size: u32,
        anchor: Anchor,
        colour: &str,
    ) {
        self.write((x, y), words, size, anchor, colour, false);
    }

    /// Bold words on a base line.
    pub(super) fn bold(
        &mut self,
        (x, y): (f64, f64),
        words: &str,
        size: u32,
        anchor: Anchor,
        colour: &str,
    ) {
        self.write((x, y), words, size, anchor, colour, true);
    }

    fn write(
        &mut self,
        (x, y): (f64, f64),
        words: &str,
        size: u32,
        anchor: Anchor,
        colour: &str,
        bold: bool,
    ) {
        if !words.is_empty() {
            let words: String = words
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            self.shapes.push(Shape::Text {
                x,
                y,
                words,
                size,
                anchor,
                bold,
                colour: rgb(colour),
            });
        }
    }

    /// The sheet as SVG, with `title` for those who cannot see it.
    pub(super) fn svg(&self, title: &str) -> String {
        let mut out = String::with_capacity(400);
        let (width, height) = (short(self.width), short(self.height));
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" font-family=\"{FONTS}\"><title>{}</title><rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>",
            text(title)
        );
        out.push_str(&self.elements());
        out.push_str("</svg>\n");
        out
    }

    /// The shapes as elements of SVG, without the sheet.
    pub(super) fn elements(&self) -> String {
        let mut out = String::with_capacity(self.shapes.len() * 90);
        for shape in &self.shapes {
            shape.svg(&mut out);
        }
        out
    }

    /// The sheet as PNG.
    pub(super) fn png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        let mut scene = Scene::with_capacity(self.width, self.height, self.shapes.len());
        for shape in &self.shapes {
            shape.add_to(&mut scene);
        }
        RasterBackend {
            scale: scale as f32,
        }
        .render_scene(&scene)
        .map_err(|reason| PlotError::Raster { reason })
    }
}

/// Width of a text in the widest of the fonts, in pixels.
pub(super) fn width_of(words: &str, size: u32) -> f64 {
    let ems: f64 = words
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | '\'' | '|' | ':' | ';' | ' ' => 0.32,
            'f' | 't' | 'r' | '(' | ')' | '-' | '/' => 0.41,
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.95,
            c if c.is_ascii_uppercase() => 0.7,
            c if c.is_ascii() => 0.62,
            c if (c as u32) < 0x2e80 => 0.66,
            _ => 1.0,
        })
        .sum();
    ems * f64::from(size)
}

/// Words cut to a width, with an ellipsis.
pub(super) fn cut(words: &str, size: u32, room: f64) -> String {
    if width_of(words, size) <= room {
        return words.to_owned();
    }
    let mut out = String::new();
    for c in words.chars() {
        out.push(c);
        if width_of(&out, size) + f64::from(size) > room {
            break;
        }
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// Words broken into lines of a width.
pub(super) fn wrapped(words: &str, size: u32, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, size, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_drawing_is_this_svg() {
        let mut canvas = Canvas::new(20.0, 10.0);
        canvas.rect((4.0, 8.0), (1.0, 2.5), Ink::fill("#d5dae1"));
        canvas.line(
            (0.0, 0.0),
            (f64::NAN, 1.0 / 3.0),
            Ink::line("#1f2933", 1.5).dashed().faint(0.5),
        );
        canvas.words((2.0, 3.0), "a < \"b\"\u{1}", 9, Anchor::End, "#000000");
        insta::assert_snapshot!(canvas.svg("T & T"), @r##"<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" viewBox="0 0 20 10" role="img" font-family="'DejaVu Sans', 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, sans-serif"><title>T &amp; T</title><rect width="20" height="10" fill="#ffffff"/><rect x="1" y="2.5" width="3" height="5.5" fill="#d5dae1"/><path d="M0 0L0 0.33" fill="none" stroke="#8f9499" stroke-width="1.5" stroke-linejoin="round" stroke-dasharray="4 4"/><text x="2" y="3" font-size="9" text-anchor="end" fill="#000000">a &lt; &quot;b&quot; </text></svg>"##);
    }

    #[test]
    fn long_words_are_cut_and_long_lines_are_broken() {
        assert_eq!(cut("short", 12, 100.0), "short");
        let out = cut("a very long name of a district", 12, 100.0);
        assert!(out.ends_with('…') && width_of(&out, 12) <= 112.0);
        assert_eq!(wrapped("one two three", 10, 50.0), ["one two", "three"]);
        assert!(wrapped("", 10, 50.0).is_empty());
    }

    #[test]
    fn text_is_drawn_without_fonts_of_the_machine() {
        let blank = Canvas::new(60.0, 20.0).png(1.0).expect("a picture");
        let mut canvas = Canvas::new(60.0, 20.0);
        canvas.words((5.0, 15.0), "$5 µg/L", 12, Anchor::Start, "#000000");
        let written = canvas.png(1.0).expect("a picture");
        assert!(written.len() > blank.len() + 100);
    }
}
