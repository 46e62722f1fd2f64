//! Figures inside the page.

use std::collections::BTreeSet;

use serde_json::json;

use crate::escape::{id as plain, json as script, text};
use crate::figure::{CalibrationFigure, Figure};
use crate::paint;
use crate::palette::{BAND_OPACITY, MISSING};
use crate::prepare::Key;
use crate::vega::{Interactive, Scale, View, interactive};

/// Marks in a view above which it is drawn on a canvas instead of as SVG.
const CANVAS_FROM: usize = 2500;

/// Size in bytes from which a still image is kept as PNG.
const STILL_SVG: usize = 150_000;

/// How to read the calibration figure, unless the caller says it better.
const CALIBRATION_CAPTION: &str = "Left: the tick is the share of rows an interval promises to hold, the dot the share it \
     held. Middle: even bars mean that predicted distributions are neither too wide nor too narrow. Right: rows outside \
     their interval are orange.";

/// Ids given so far.
#[derive(Default)]
pub(super) struct Ids(BTreeSet<String>);

impl Ids {
    fn take(&mut self, wanted: &str) -> String {
        let base = match plain(wanted) {
            name if name.is_empty() => "figure".to_owned(),
            name => name,
        };
        let mut id = base.clone();
        let mut n = 2;
        while !self.0.insert(id.clone()) {
            id = format!("{base}-{n}");
            n += 1;
        }
        id
    }
}

/// A figure with its title, legend, views, still image and caption.
pub(super) fn figure(figure: &Figure, ids: &mut Ids) -> String {
    let title = if figure.title().is_empty() {
        String::new()
    } else {
        format!("<h2>{}</h2>\n", text(figure.title()))
    };
    let reading = match figure {
        Figure::Calibration(figure) => format!(
            "<p class=\"reading\"><strong>{}</strong></p>\n",
            text(&figure.reading())
        ),
        _ => String::new(),
    };
    block(figure, &(title + &reading), ids)
}

/// The calibration figure under its one-sentence reading.
pub(super) fn calibration(calibration: &CalibrationFigure, ids: &mut Ids) -> String {
    let mut calibration = calibration.clone();
    if calibration.heading.title.is_empty() {
        calibration.heading.title = "Can the intervals be believed?".to_owned();
    }
    if calibration.heading.id.is_empty() {
        calibration.heading.id = "calibration".to_owned();
    }
    if calibration.heading.caption.is_empty() {
        calibration.heading.caption = CALIBRATION_CAPTION.to_owned();
    }
    let head = format!(
        "<h2>{}</h2>\n<p class=\"reading\">Each row was left out and predicted from the others. <strong>{}</strong></p>\n",
        text(&calibration.heading.title),
        text(&calibration.reading())
    );
    block(&Figure::Calibration(calibration), &head, ids)
}

fn block(figure: &Figure, head: &str, ids: &mut Ids) -> String {
    let id = ids.take(figure.id());
    let drawn = interactive(figure);
    let mut out = format!("<figure class=\"block\" id=\"{id}\" data-figure=\"{id}\"");
    if drawn.arrangement.starts_with("maps") || drawn.arrangement.starts_with("atlas") {
        out.push_str(" data-linked=\"true\"");
    }
    if drawn.arrangement.starts_with("square") {
        out.push_str(" data-told=\"true\"");
    }
    out.push_str(&format!(">\n{head}"));
    if !drawn.legend.is_empty() {
        out.push_str("<ul class=\"legend\">");
        out.extend(
            drawn
                .legend
                .iter()
                .map(|entry| format!("<li>{}{}</li>", swatch(entry), text(&entry.label))),
        );
        out.push_str("</ul>\n");
    }
    out.push_str(&format!("<div class=\"views {}\">\n", drawn.arrangement));
    out.extend(drawn.views.iter().map(place));
    out.push_str("</div>\n");
    out.push_str("<p class=\"figure-error\">The interactive figure could not be drawn; this is its still image.</p>\n");
    if drawn.views.is_empty() {
        out.push_str("<p class=\"note\">There is nothing to draw.</p>\n");
    } else {
        out.push_str(&format!("<div class=\"still\">{}</div>\n", still(figure)));
    }
    if !drawn.caption.is_empty() {
        out.push_str(&format!(
            "<figcaption>{}</figcaption>\n",
            text(&drawn.caption)
        ));
    }
    let Interactive {
        views, datasets, ..
    } = drawn;
    let views: Vec<_> = views.into_iter().map(|v| view(v, &datasets)).collect();
    out.push_str(&format!(
        "<script type=\"application/json\">{}</script>\n</figure>\n",
        script(&json!({"views": views, "datasets": datasets}))
    ));
    out
}

/// The still image for readers without scripts and for print shops: SVG, or PNG when that is
/// smaller.
fn still(figure: &Figure) -> String {
    // The page has the title already.
    let mut untitled = figure.clone();
    untitled.clear_title();
    let svg = paint::svg(&untitled);
    if svg.len() < STILL_SVG {
        return svg;
    }
    match paint::png(&untitled, 2.0) {
        Ok(png) => {
            let (title, data) = (text(figure.title()), base64(&png));
            format!("<img alt=\"{title}\" src=\"data:image/png;base64,{data}\">")
        }
        Err(_) => svg,
    }
}

pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = char::from(LETTERS[(bits >> (18 - 6 * i) & 63) as usize]);
            out.push(if i <= chunk.len() { letter } else { '=' });
        }
    }
    out
}

fn view(view: View, datasets: &serde_json::Value) -> serde_json::Value {
    let marks = marks(&view.spec, datasets);
    json!({
        "spec": view.spec, "aspect": view.aspect, "inset": view.inset, "exact": view.exact,
        "renderer": if view.canvas || marks > CANVAS_FROM { "canvas" } else { "svg" },
    })
}

/// Rows of data of a view whose marks are one per row.
fn marks(spec: &serde_json::Value, datasets: &serde_json::Value) -> usize {
    let rows = |layer: &serde_json::Value| {
        let data = &layer["data"];
        let values = data["name"]
            .as_str()
            .map_or(&data["values"], |name| &datasets[name]);
        values.as_array().map_or(0, Vec::len)
    };
    let is_path =
        |layer: &serde_json::Value| matches!(layer["mark"]["type"].as_str(), Some("line" | "area"));
    spec["layer"].as_array().map_or(0, |layers| {
        layers.iter().filter(|l| !is_path(l)).map(rows).sum()
    })
}

fn place(view: &View) -> String {
    let mut out = String::from("<div class=\"view\">");
    if !view.title.is_empty() {
        out.push_str(&format!("<h3>{}</h3>", text(&view.title)));
    }
    if !view.y_title.is_empty() {
        out.push_str(&format!("<p class=\"axis\">{}</p>", text(&view.y_title)));
    }
    out.push_str("<div class=\"plot\"></div>");
    if let Some(scale) = &view.scale {
        out.push_str(&colour_scale(scale));
    }
    out.push_str("</div>\n");
    out
}

/// A colour bar with its labels below.
fn colour_scale(scale: &Scale) -> String {
    let labels: String = scale
        .labels
        .iter()
        .map(|(share, words)| {
            // A label keeps within the bar: at its left end it begins, at its right end it ends
            // there.
            format!(
                "<span style=\"left:{:.1}%\"><b style=\"--at:{:.1}%\">{}</b></span>",
                share * 100.0,
                share * -100.0,
                text(words)
            )
        })
        .collect();
    format!(
        "<div class=\"scale\"><i style=\"background:linear-gradient(90deg,{})\"></i><div>{labels}</div></div>",
        scale.stops.join(",")
    )
}

fn swatch(entry: &Key) -> String {
    let colour = entry.colour;
    let shape = match entry.shape {
        "bar" => format!("<rect x=\"2\" y=\"2\" width=\"18\" height=\"10\" fill=\"{colour}\"/>"),
        "band" => format!(
            "<rect x=\"0\" y=\"2\" width=\"22\" height=\"10\" fill=\"{colour}\" opacity=\"{BAND_OPACITY}\"/>"
        ),
        "level" => format!("<path d=\"M1 7h20\" stroke=\"{colour}\" stroke-width=\"3\"/>"),
        "hatch" => format!(
            "<rect x=\"2\" y=\"1\" width=\"18\" height=\"12\" fill=\"{}\"/><path d=\"M2 7L8 1M2 13L14 1M8 13L20 1M14 13L20 7\" stroke=\"{colour}\"/>",
            MISSING.0
        ),
        "dot" => format!("<circle cx=\"11\" cy=\"7\" r=\"3.4\" fill=\"{colour}\"/>"),
        "ring" => format!(
            "<circle cx=\"11\" cy=\"7\" r=\"3.6\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>"
        ),
        "line" => format!("<path d=\"M0 7h22\" stroke=\"{colour}\" stroke-width=\"2.2\"/>"),
        _ => paint::swatch(entry),
    };
    format!(
        "<svg width=\"22\" height=\"14\" viewBox=\"0 0 22 14\" aria-hidden=\"true\">{shape}</svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::{Ids, base64};

    #[test]
    fn bytes_become_letters() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in cases {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn ids_are_unique_and_plain() {
        let mut ids = Ids::default();
        assert_eq!(ids.take("a b"), "a-b");
        assert_eq!(ids.take("a-b"), "a-b-2");
        assert_eq!(ids.take("\"<>"), "figure");
        assert_eq!(ids.take(""), "figure-2");
    }
}
