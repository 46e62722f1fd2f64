//! A curve figure, ready to draw.

use super::marks::{self, Layer};
use super::{Key, MARKS, evenly, extremes, interval_words, padded, range, widened};
use crate::figure::{CurveFigure, Marks, Observed, Panel, Places, Predicted, Seen};
use crate::format::{count, interval, number};
use crate::palette::{BAR, OBSERVED, PREDICTED, REFERENCE};

/// Predictions drawn in a panel; more are thinned.
const PLACES: usize = 1500;
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
}

/// An observed row. Infinite ends of a range are cut to the axis and remembered as `open`.
pub(crate) enum Mark {
    Bar {
        x0: f64,
        x1: f64,
        height: f64,
        words: String,
    },
    Level {
        x0: f64,
        x1: f64,
        y: f64,
        words: String,
    },
    Point {
        x: f64,
        y: f64,
        error: Option<f64>,
        words: String,
    },
    Range {
        x: f64,
        lower: f64,
        upper: f64,
        open: (bool, bool),
        words: String,
    },
}

/// A predicted line: unbroken pieces of vertices `(x, mean, lower, upper)`.
pub(crate) struct Band {
    pub label: String,
    pub band_label: Option<String>,
    pub pieces: Vec<Vec<[f64; 4]>>,
}

/// A place to point at, with what to tell there.
pub(crate) struct Slot {
    pub x0: f64,
    pub x1: f64,
    pub x: String,
    pub predicted: String,
    pub observed: String,
}

/// Orders, thins and measures a figure.
pub(crate) fn prepare(figure: &CurveFigure) -> Curve<'_> {
    let mut remarks = Vec::new();
    let height = if figure.panels.len() > 1 {
        230.0
    } else {
        360.0
    };
    let panels: Vec<_> = figure
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
            Mark::Point { x, .. } | Mark::Range { x, .. } => [x, x],
        });
        let supports = panel.panel.marks.iter().flat_map(|m| &m.at);
        vertices
            .chain(marks)
            .chain(supports.flat_map(|s| <[f64; 2]>::from(s.ends())))
            .chain(panel.dots.iter().map(|d| d.0))
            .collect::<Vec<_>>()
    });
    Curve {
        x_range: widened(range(xs), false),
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
            slots = rows.iter().map(|row| slot(row, predicted, panel)).collect();
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
        Mark::Range { lower, upper, .. } => [lower, upper],
    });
    let more_ys = panel.marks.iter().flat_map(marks::extent);
    let span = range(
        ys.chain(mark_ys)
            .chain(more_ys)
            .chain(dots.iter().map(|d| d.1)),
    );
    let span = marks::with_room(&panel.marks, span);
    remarks.extend(panel.marks.iter().filter_map(marks::remark));
    // The scale of ranks has no zero that means anything.
    let ranked = |m: &Marks| matches!(m.seen, Seen::Ranks { .. });
    let free = panel.marks.iter().any(ranked);
    let from_zero =
        has_bars || !free && span.is_some_and(|(low, high)| low >= 0.0 && low < 0.4 * high);
    let y_range = padded(widened(span, from_zero), 0.04);
    let observed_label = match (&panel.observed_label, has_bars) {
        (label, _) if !label.is_empty() => label.clone(),
        (_, true) => "Observed (area of a bar = its total)".to_owned(),
        (_, false) => "Observed".to_owned(),
    };
    CurvePanel {
        panel,
        y_range,
        marks: closed(marks, y_range),
        bands,
        slots,
        dots,
        layers: layers(panel, y_range, height),
        observed_label,
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

/// A predicted row: `(x0, x1)` (equal for points), mean, lower, upper.
struct Row {
    x0: f64,
    x1: f64,
    mean: f64,
    lower: f64,
    upper: f64,
    /// Whether the line goes on from the row before.
    joined: bool,
}

fn ordered(predicted: &Predicted, remarks: &mut Vec<String>) -> Vec<Row> {
    let at = |i: usize| match &predicted.at {
        Places::Points(points) => (points[i], points[i]),
        Places::Cells(cells) => (cells[i].0.min(cells[i].1), cells[i].0.max(cells[i].1)),
    };
    let n = predicted.at.len().min(predicted.mean.len());
    let mut rows: Vec<Row> = (0..n)
        .map(|i| {
            let (x0, x1) = at(i);
            let mean = predicted.mean[i];
            let lower = predicted
                .lower
                .get(i)
                .copied()
                .filter(|v| v.is_finite())
                .unwrap_or(mean);
            let upper = predicted
                .upper
                .get(i)
                .copied()
                .filter(|v| v.is_finite())
                .unwrap_or(mean);
            Row {
                x0,
                x1,
                mean,
                lower,
                upper,
                joined: true,
            }
        })
        .filter(|row| row.x0.is_finite() && row.x1.is_finite())
        .collect();
    rows.sort_by(|a, b| a.x0.total_cmp(&b.x0).then(a.x1.total_cmp(&b.x1)));
    let all = rows.len();
    // A row without a finite mean breaks the line.
    let mut whole = true;
    let mut last_end: Option<f64> = None;
    let cells = matches!(predicted.at, Places::Cells(_));
    rows.retain_mut(|row| {
        if !row.mean.is_finite() {
            whole = false;
            return false;
        }
        let gap =
            cells && last_end.is_some_and(|end| row.x0 - end > 1e-6 * (row.x1 - row.x0).abs());
        row.joined = whole && !gap && last_end.is_some();
        whole = true;
        last_end = Some(row.x1);
        true
    });
    if rows.len() < n {
        let lost = n - rows.len();
        remarks.push(format!(
            "{} of {} predicted rows have no finite value and are not drawn.",
            count(lost),
            count(n)
        ));
    }
    let kept = extremes(&rows.iter().map(|r| r.mean).collect::<Vec<_>>(), PLACES);
    if kept.len() < rows.len() {
        remarks.push(format!(
            "Drawn from {} of {} predicted rows, peaks and troughs kept.",
            count(kept.len()),
            count(all)
        ));
    }
    thinned(rows, &kept, cells)
}

/// Keeps some rows; what lay between two kept rows breaks the line if any of it did, and cells grow to the next kept one.
fn thinned(rows: Vec<Row>, kept: &[usize], cells: bool) -> Vec<Row> {
    if kept.len() == rows.len() {
        return rows;
    }
    let ends: Vec<(bool, f64)> = kept
        .windows(2)
        .map(|pair| {
            (
                rows[pair[0] + 1..=pair[1]].iter().all(|r| r.joined),
                rows[pair[1]].x0,
            )
        })
        .collect();
    let mut out: Vec<Row> = Vec::with_capacity(kept.len());
    let mut next = 0;
    for (i, mut row) in rows.into_iter().enumerate() {
        if kept.get(next) != Some(&i) {
            continue;
        }
        if next > 0 {
            row.joined = ends[next - 1].0;
        }
        if let (true, Some(&(true, x0))) = (cells, ends.get(next)) {
            row.x1 = x0;
        }
        out.push(row);
        next += 1;
    }
    out
}

fn band(rows: &[Row], predicted: &Predicted) -> Band {
    let mut pieces: Vec<Vec<[f64; 4]>> = Vec::new();
    for row in rows {
        if !row.joined || pieces.is_empty() {
            pieces.push(Vec::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push([row.x0, row.mean, row.lower, row.upper]);
            if row.x1 > row.x0 {
                piece.push([row.x1, row.mean, row.lower, row.upper]);
            }
        }
    }
    let label = if predicted.label.is_empty() {
        "Predicted mean".to_owned()
    } else {
        predicted.label.clone()
    };
    let has_band = !predicted.lower.is_empty() && !predicted.upper.is_empty();
    Band {
        label,
        band_label: has_band.then(|| interval_words(predicted.level)),
        pieces,
    }
}

fn slot(row: &Row, predicted: &Predicted, panel: &Panel) -> Slot {
    let middle = f64::midpoint(row.x0, row.x1);
    let mut told = number(row.mean);
    if row.lower < row.upper {
        told = format!(
            "{told} ({}: {})",
            interval_words(predicted.level),
            interval(row.lower, row.upper)
        );
    }
    let seen = panel.observed.iter().find_map(|o| match o {
        Observed::Bar {
            x0,
            x1,
            height,
            total,
            label,
        } if *x0 <= middle && middle < *x1 => Some(bar_words(*x0, *x1, *height, *total, label)),
        Observed::Level { x0, x1, y, label } if *x0 <= middle && middle < *x1 => {
            Some(level_words(*x0, *x1, *y, label))
        }
        _ => None,
    });
    let x = if row.x1 > row.x0 {
        interval(row.x0, row.x1)
    } else {
        number(row.x0)
    };
    Slot {
        x0: row.x0,
        x1: row.x1,
        x,
        predicted: told,
        observed: seen
            .or_else(|| marks::told_at(&panel.marks, middle))
            .unwrap_or_else(|| "–".to_owned()),
    }
}

fn bar_words(x0: f64, x1: f64, height: f64, total: Option<f64>, label: &str) -> String {
    let value = match total {
        Some(total) => format!("{} in {}", number(total), interval(x0, x1)),
        None => format!("{} over {}", number(height), interval(x0, x1)),
    };
    with_label(value, label)
}

fn level_words(x0: f64, x1: f64, y: f64, label: &str) -> String {
    with_label(
        format!("{} on average over {}", number(y), interval(x0, x1)),
        label,
    )
}

fn with_label(value: String, label: &str) -> String {
    if label.is_empty() {
        value
    } else {
        format!("{value}; {label}")
    }
}

fn observed(panel: &Panel, remarks: &mut Vec<String>) -> Vec<Mark> {
    let usable: Vec<Mark> = panel.observed.iter().filter_map(mark).collect();
    let lost = panel.observed.len() - usable.len();
    if lost > 0 {
        remarks.push(format!(
            "{} observed rows have no finite place or value and are not drawn.",
            count(lost)
        ));
    }
    if usable.len() <= MARKS {
        return usable;
    }
    remarks.push(format!(
        "{} of {} observed rows are drawn, evenly chosen.",
        count(MARKS),
        count(usable.len())
    ));
    let kept = evenly(usable.len(), MARKS);
    let mut next = kept.iter().copied().peekable();
    usable
        .into_iter()
        .enumerate()
        .filter(|(i, _)| next.next_if_eq(i).is_some())
        .map(|(_, mark)| mark)
        .collect()
}

fn mark(observed: &Observed) -> Option<Mark> {
    let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
    match *observed {
        Observed::Bar {
            x0,
            x1,
            height,
            total,
            ref label,
        } => finite(&[x0, x1, height]).then(|| Mark::Bar {
            x0,
            x1,
            height,
            words: bar_words(x0, x1, height, total, label),
        }),
        Observed::Level {
            x0,
            x1,
            y,
            ref label,
        } => finite(&[x0, x1, y]).then(|| Mark::Level {
            x0,
            x1,
            y,
            words: level_words(x0, x1, y, label),
        }),
        Observed::Point {
            x,
            y,
            error,
            ref label,
        } => finite(&[x, y]).then(|| {
            let error = error.filter(|e| e.is_finite() && *e > 0.0);
            let value =
                error.map_or_else(|| number(y), |e| format!("{} ± {}", number(y), number(e)));
            Mark::Point {
                x,
                y,
                error,
                words: with_label(format!("{value} at {}", number(x)), label),
            }
        }),
        Observed::Range {
            x,
            lower,
            upper,
            ref label,
        } => {
            let known = x.is_finite() && !lower.is_nan() && !upper.is_nan();
            known.then(|| {
                let words = with_label(
                    format!("{} at {}", interval(lower, upper), number(x)),
                    label,
                );
                Mark::Range {
                    x,
                    lower,
                    upper,
                    open: (lower.is_infinite(), upper.is_infinite()),
                    words,
                }
            })
        }
    }
}

fn closed(marks: Vec<Mark>, y_range: (f64, f64)) -> Vec<Mark> {
    let cut = |v: f64| v.clamp(y_range.0, y_range.1);
    marks
        .into_iter()
        .map(|mark| match mark {
            Mark::Range {
                x,
                lower,
                upper,
                open,
                words,
            } => Mark::Range {
                x,
                lower: cut(lower),
                upper: cut(upper),
                open,
                words,
            },
            other => other,
        })
        .collect()
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
            Mark::Range { .. } => ("rod", OBSERVED),
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
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Heading};

    fn figure(predicted: Predicted, observed: Vec<Observed>) -> CurveFigure {
        CurveFigure {
            heading: Heading::new("a", "A"),
            x: Axis::new("x"),
            panels: vec![Panel {
                predicted: vec![predicted],
                observed,
                ..Panel::default()
            }],
        }
    }

    fn cells(n: usize) -> Predicted {
        Predicted {
            at: Places::Cells((0..n).map(|i| (i as f64, i as f64 + 1.0)).collect()),
            mean: (0..n).map(|i| i as f64).collect(),
            ..Predicted::default()
        }
    }

    #[test]
    fn a_cell_gives_two_vertices_and_a_gap_breaks_the_line() {
        let mut predicted = cells(4);
        predicted.at = Places::Cells(vec![(0.0, 1.0), (1.0, 2.0), (3.0, 4.0), (4.0, 5.0)]);
        let figure = figure(predicted, Vec::new());
        let drawn = prepare(&figure);
        let pieces = &drawn.panels[0].bands[0].pieces;
        assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
        assert_eq!(drawn.x_range, (0.0, 5.0));
    }

    #[test]
    fn a_row_without_a_mean_breaks_the_line_and_is_told() {
        let mut predicted = cells(5);
        predicted.mean[2] = f64::NAN;
        let figure = figure(predicted, Vec::new());
        let drawn = prepare(&figure);
        assert_eq!(drawn.panels[0].bands[0].pieces.len(), 2);
        assert_eq!(
            drawn.remarks,
            ["1 of 5 predicted rows have no finite value and are not drawn."]
        );
    }

    #[test]
    fn many_rows_are_thinned_without_holes_and_this_is_told() {
        let figure = figure(cells(100_000), Vec::new());
        let drawn = prepare(&figure);
        let pieces = &drawn.panels[0].bands[0].pieces;
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].len() <= 2 * (PLACES + 2));
        assert!(pieces[0].windows(2).all(|pair| pair[0][0] <= pair[1][0]));
        assert!(drawn.remarks[0].contains("of 100,000 predicted rows"));
    }

    #[test]
    fn nothing_at_all_still_has_axes() {
        let figure = figure(Predicted::default(), Vec::new());
        let drawn = prepare(&figure);
        assert_eq!(drawn.x_range, (0.0, 1.0));
        assert!(drawn.panels[0].y_range.0 < drawn.panels[0].y_range.1);
    }

    #[test]
    fn one_row_has_an_axis_with_a_width() {
        let predicted = Predicted {
            at: Places::Points(vec![3.0]),
            mean: vec![2.0],
            ..Predicted::default()
        };
        let figure = figure(predicted, Vec::new());
        let drawn = prepare(&figure);
        assert!(drawn.x_range.0 < 3.0 && 3.0 < drawn.x_range.1);
    }

    #[test]
    fn open_ranges_end_at_the_axis() {
        let seen = Observed::Range {
            x: 1.0,
            lower: f64::NEG_INFINITY,
            upper: 2.0,
            label: String::new(),
        };
        let figure = figure(cells(3), vec![seen]);
        let drawn = prepare(&figure);
        let Mark::Range {
            lower,
            upper,
            open,
            ref words,
            ..
        } = drawn.panels[0].marks[0]
        else {
            panic!("a range")
        };
        assert_eq!(
            (lower, upper, open),
            (drawn.panels[0].y_range.0, 2.0, (true, false))
        );
        assert_eq!(words, "up to 2 at 1");
    }

    #[test]
    fn a_zero_width_total_is_not_drawn() {
        let figure = figure(cells(3), vec![Observed::total(1.0, 1.0, 5.0)]);
        let drawn = prepare(&figure);
        assert!(drawn.panels[0].marks.is_empty());
        assert_eq!(drawn.remarks.len(), 1);
    }
}
