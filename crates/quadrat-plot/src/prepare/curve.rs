//! A curve figure, ready to draw.

mod observed;
mod predicted;
mod slots;

use observed::observed;
use predicted::{band, gap, ordered, slot};
pub(crate) use slots::{Band, Mark, Slot};

use super::marks::{self, Layer};
use super::{Key, evenly, padded, range, widened};
use crate::figure::{CurveFigure, Limit, Marks, Panel, Seen};
use crate::format::count;
use crate::palette::{BAR, INK, OBSERVED, PREDICTED, REFERENCE};

/// Reference dots drawn in a panel.
const DOTS: usize = 1500;

/// A figure ready to draw: the axis range of x, the panels and remarks for the caption.
pub(crate) struct Curve<'a> {
    pub x_range: (f64, f64),
    pub panels: Vec<CurvePanel<'a>>,
    pub keys: Vec<Key>,
    pub remarks: Vec<String>,
}

/// A panel ready to draw.
pub(crate) struct CurvePanel<'a> {
    pub panel: &'a Panel,
    pub y_range: (f64, f64),
    pub marks: Vec<Mark>,
    pub bands: Vec<Band>,
    pub slots: Vec<Slot>,
    pub dots: Vec<(f64, f64)>,
    pub layers: Vec<Layer>,
    pub observed_label: String,
    /// Places marked at the horizontal axis, within its range.
    pub rug: Vec<f64>,
    /// The limits within the vertical range.
    pub limits: Vec<&'a Limit>,
}

/// Orders, thins and measures a figure.
pub(crate) fn prepare(figure: &CurveFigure) -> Curve<'_> {
    let mut remarks = Vec::new();
    let height = if figure.panels.len() > 1 {
        230.0
    } else {
        360.0
    };
    let mut panels: Vec<_> = figure
        .panels
        .iter()
        .map(|panel| prepare_panel(panel, height, &mut remarks))
        .collect();
    remarks.dedup();
    let xs = panels.iter().flat_map(|panel| {
        let vertices = panel
            .bands
            .iter()
            .flat_map(|b| b.pieces.iter().flatten().map(|v| v[0]));
        let marks = panel.marks.iter().flat_map(|mark| match *mark {
            Mark::Bar { x0, x1, .. } | Mark::Level { x0, x1, .. } => [x0, x1],
            Mark::Point { x, .. } => [x, x],
        });
        let supports = panel.panel.marks.iter().flat_map(|m| &m.at);
        vertices
            .chain(marks)
            .chain(supports.flat_map(|s| <[f64; 2]>::from(s.ends())))
            .chain(panel.dots.iter().map(|d| d.0))
            .collect::<Vec<_>>()
    });
    let x_range = widened(range(xs), false);
    for panel in &mut panels {
        let (low, high) = x_range;
        let marked = panel.panel.marked.iter().copied();
        panel.rug = marked.filter(|x| low <= *x && *x <= high).collect();
    }
    Curve {
        x_range,
        keys: keys(&panels),
        panels,
        remarks,
    }
}

fn prepare_panel<'a>(panel: &'a Panel, height: f64, remarks: &mut Vec<String>) -> CurvePanel<'a> {
    let mut bands = Vec::new();
    let mut slots = Vec::new();
    for predicted in &panel.predicted {
        let rows = ordered(predicted, remarks);
        if slots.is_empty() {
            let gap = gap(&rows);
            let told = rows.iter().map(|row| slot(row, gap, predicted, panel));
            slots = told.collect();
        }
        bands.push(band(&rows, predicted));
    }
    let (marks, dots) = (observed(panel, remarks), dots(panel, remarks));
    let has_bars = marks.iter().any(|m| matches!(m, Mark::Bar { .. }));
    let ys = bands
        .iter()
        .flat_map(|b| b.pieces.iter().flatten().flat_map(|v| [v[1], v[2], v[3]]));
    let mark_ys = marks.iter().flat_map(|mark| match *mark {
        Mark::Bar { height, .. } => [height, height],
        Mark::Level { y, .. } => [y, y],
        Mark::Point { y, error, .. } => [y - error.unwrap_or(0.0), y + error.unwrap_or(0.0)],
    });
    let more_ys = panel.marks.iter().flat_map(marks::extent);
    let span = range(
        ys.chain(mark_ys)
            .chain(more_ys)
            .chain(dots.iter().map(|d| d.1)),
    );
    let span = super::with_limits(marks::with_room(&panel.marks, span), &panel.limits);
    remarks.extend(panel.marks.iter().filter_map(marks::remark));
    // The scale of ranks has no zero that means anything.
    let ranked = |m: &Marks| matches!(m.seen, Seen::Ranks { .. });
    let free = panel.marks.iter().any(ranked);
    let from_zero =
        has_bars || !free && span.is_some_and(|(low, high)| low >= 0.0 && low < 0.4 * high);
    let y_range = panel
        .domain
        .unwrap_or_else(|| padded(widened(span, from_zero), 0.04));
    let (limits, beyond) = super::limits(&panel.limits, y_range);
    remarks.extend(beyond);
    let observed_label = match (&panel.observed_label, has_bars) {
        (label, _) if !label.is_empty() => label.clone(),
        (_, true) => "Observed (area of a bar = its total)".to_owned(),
        (_, false) => "Observed".to_owned(),
    };
    CurvePanel {
        panel,
        y_range,
        marks,
        bands,
        slots,
        dots,
        layers: layers(panel, y_range, height),
        observed_label,
        rug: Vec::new(),
        limits,
    }
}

fn layers(panel: &Panel, y_range: (f64, f64), height: f64) -> Vec<Layer> {
    let mut banded = false;
    let mut layer = |m| {
        let layer = marks::layer(m, y_range, height, !banded);
        banded |= layer.bands.is_some();
        layer
    };
    panel.marks.iter().map(&mut layer).collect()
}

fn dots(panel: &Panel, remarks: &mut Vec<String>) -> Vec<(f64, f64)> {
    let Some(reference) = &panel.reference else {
        return Vec::new();
    };
    let mut all: Vec<(f64, f64)> = reference
        .x
        .iter()
        .zip(&reference.y)
        .map(|(&x, &y)| (x, y))
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let kept = evenly(all.len(), DOTS);
    if kept.len() < all.len() {
        remarks.push(format!(
            "{} of {} reference dots are drawn.",
            count(kept.len()),
            count(all.len())
        ));
    }
    kept.into_iter().map(|i| all[i]).collect()
}

/// The legend of all panels, each entry once.
fn keys(panels: &[CurvePanel<'_>]) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for key in panels.iter().flat_map(panel_keys) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn panel_keys(panel: &CurvePanel<'_>) -> Vec<Key> {
    let mut keys = Vec::new();
    if let Some(mark) = panel.marks.first() {
        let (shape, colour) = match mark {
            Mark::Bar { .. } => ("bar", BAR),
            Mark::Level { .. } => ("level", OBSERVED),
            Mark::Point { .. } => ("dot", OBSERVED),
        };
        keys.push(Key::new(shape, colour, &panel.observed_label));
    }
    keys.extend(panel.layers.iter().flat_map(|layer| layer.keys.clone()));
    for (i, band) in panel
        .bands
        .iter()
        .enumerate()
        .filter(|(_, band)| !band.pieces.is_empty())
    {
        let colour = PREDICTED[i % PREDICTED.len()];
        keys.push(Key::new("line", colour, &band.label));
        keys.extend(
            band.band_label
                .as_ref()
                .map(|words| Key::new("band", colour, words)),
        );
    }
    if !panel.dots.is_empty() {
        let given = panel
            .panel
            .reference
            .as_ref()
            .map_or("", |r| r.label.as_str());
        keys.push(Key::new(
            "dot",
            REFERENCE,
            if given.is_empty() {
                "True values"
            } else {
                given
            },
        ));
    }
    let limits = panel.limits.iter();
    keys.extend(limits.map(|limit| Key::new("dashes", INK, limit.label.clone())));
    if !panel.rug.is_empty() {
        keys.push(Key::new("tick", INK, panel.panel.marked_label.clone()));
    }
    keys
}

#[cfg(test)]
mod tests;
