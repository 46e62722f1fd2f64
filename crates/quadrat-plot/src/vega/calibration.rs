//! Calibration: coverage, transforms, observed against predicted.

use serde_json::{Value, json};

use super::view::INSET;
use super::{Interactive, TICKS, View, domain, ticked};
use crate::figure::CalibrationFigure;
use crate::format::{beside, count, interval, percent};
use crate::palette::{BAR, INK, MUTED, OBSERVED, PREDICTED};
use crate::prepare::{
    LEFT_OUT_ROWS, evenly, interval_words, padded, pit_histogram, range, widened,
};

pub(super) fn interactive(figure: &CalibrationFigure) -> Interactive {
    let mut views = Vec::new();
    let mut add = |title: &str, y_title: &str, spec: Value| {
        views.push(View {
            title: title.to_owned(),
            y_title: y_title.to_owned(),
            spec,
            aspect: Some(0.95),
            inset: INSET,
            ..View::default()
        });
    };
    let mut caption = String::new();
    if figure.coverage.iter().any(|c| c.total > 0) {
        add("Do the intervals hold?", "interval", coverage(figure));
    }
    if figure.pit.iter().any(|p| p.is_finite()) {
        add("Where do the rows fall?", "rows", histogram(figure));
    }
    if figure
        .rows
        .iter()
        .any(|r| r.observed.is_finite() && r.mean.is_finite())
    {
        add(
            "Observed against predicted",
            "observed",
            scatter(figure, &mut caption),
        );
    }
    Interactive {
        views,
        arrangement: "trio",
        legend: Vec::new(),
        datasets: json!({}),
        caption,
    }
}

/// One line per level: a tick where rows inside should be, a dot where they are.
fn coverage(figure: &CalibrationFigure) -> Value {
    let rows: Vec<Value> = figure
        .coverage
        .iter()
        .filter(|c| c.total > 0)
        .map(|c| {
            let held = format!("{} of {}", count(c.held), count(c.total));
            json!({"nominal": c.nominal, "actual": c.actual(), "level": percent(c.nominal), "zero": 0, "one": 1,
                   "told": format!("{held} ({})", percent(c.actual())), "held": held})
        })
        .collect();
    let x = |field: &str| {
        json!({"field": field, "type": "quantitative", "title": "rows inside", "scale": domain((0.0, 1.0), false),
               "axis": {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1], "grid": true}})
    };
    let y = json!({"field": "level", "type": "ordinal", "sort": null, "title": null,
                   "axis": {"grid": false, "labelColor": INK}});
    let tooltip =
        json!([{"field": "level", "title": "interval"}, {"field": "told", "title": "held"}]);
    json!({
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "rule", "color": BAR, "strokeWidth": 4},
                "encoding": {"x": x("zero"), "x2": {"field": "one"}, "y": y},
            },
            {
                "mark": {"type": "tick", "color": INK, "thickness": 2.5, "size": 22, "orient": "vertical", "opacity": 1},
                "encoding": {"x": x("nominal"), "y": y, "tooltip": tooltip},
            },
            {
                "mark": {"type": "circle", "color": PREDICTED[0], "size": 110, "opacity": 1},
                "encoding": {"x": x("actual"), "y": y, "tooltip": tooltip},
            },
            {
                "mark": {"type": "text", "align": "right", "baseline": "bottom", "dy": -13, "fontSize": 12, "color": INK},
                "encoding": {"x": x("one"), "y": y, "text": {"field": "held"}},
            },
        ],
    })
}

fn histogram(figure: &CalibrationFigure) -> Value {
    let bins = pit_histogram(&figure.pit);
    let total: usize = bins.iter().map(|b| b.2).sum();
    let flat = total as f64 / bins.len().max(1) as f64;
    let top = bins.iter().map(|b| b.2 as f64).fold(flat, f64::max) * 1.08;
    let rows: Vec<Value> = bins
        .iter()
        .map(|(from, to, n)| json!({"x0": from, "x1": to, "zero": 0, "n": n, "place": interval(*from, *to), "rows": count(*n)}))
        .collect();
    let y = |field: &str| {
        json!({"field": field, "type": "quantitative", "title": null, "scale": domain((0.0, top), false),
               "axis": {"tickMinStep": 1, "format": "~g"}})
    };
    let x = json!({"field": "x0", "type": "quantitative", "title": "place in the predicted distribution",
                   "scale": domain((0.0, 1.0), false), "axis": {"values": [0, 0.25, 0.5, 0.75, 1], "format": "~g"}});
    json!({
        "layer": [
            {
                "data": {"values": rows},
                "mark": {"type": "rect", "fill": BAR, "stroke": "#ffffff"},
                "encoding": {"x": x, "x2": {"field": "x1"}, "y": y("zero"), "y2": {"field": "n"},
                    "tooltip": [{"field": "place"}, {"field": "rows"}]},
            },
            {
                "data": {"values": [{"x0": 0, "x1": 1, "flat": flat}]},
                "mark": {"type": "rule", "color": MUTED, "strokeDash": [4, 4], "strokeWidth": 1.2},
                "encoding": {"x": x, "x2": {"field": "x1"}, "y": y("flat")},
            },
        ],
    })
}

fn scatter(figure: &CalibrationFigure, caption: &mut String) -> Value {
    let usable: Vec<_> = figure
        .rows
        .iter()
        .filter(|r| r.observed.is_finite() && r.mean.is_finite())
        .collect();
    let kept = evenly(usable.len(), LEFT_OUT_ROWS);
    if kept.len() < usable.len() {
        *caption = format!(
            "{} of {} rows are drawn.",
            count(kept.len()),
            count(usable.len())
        );
    }
    let all = usable
        .iter()
        .flat_map(|r| [r.observed, r.mean, r.lower, r.upper]);
    let span = padded(widened(range(all), false), 0.04);
    let rows: Vec<Value> = kept
        .iter()
        .map(|&i| {
            let row = usable[i];
            let inside = row.lower <= row.observed && row.observed <= row.upper;
            let (lower, upper) = (row.lower.max(span.0), row.upper.min(span.1));
            json!({
                "o": row.observed, "m": row.mean, "l": if lower.is_finite() { lower } else { row.mean },
                "u": if upper.is_finite() { upper } else { row.mean }, "inside": inside,
                "name": row.label, "seen": beside(row.observed, (row.upper - row.lower) / 4.0),
                "told": format!("{} ({}: {})", beside(row.mean, (row.upper - row.lower) / 4.0), interval_words(figure.level), interval(row.lower, row.upper)),
            })
        })
        .collect();
    let axis = |field: &str, title: &str| {
        json!({"field": field, "type": "quantitative", "title": title, "scale": domain(span, false),
               "axis": ticked(span, TICKS.2, json!({"grid": true}))})
    };
    let (x, y) = (axis("m", figure.predicted_words()), axis("o", ""));
    let colour =
        json!({"condition": {"test": "datum.inside", "value": PREDICTED[0]}, "value": "#c2470a"});
    let mut tooltip = vec![
        json!({"field": "seen", "title": "observed"}),
        json!({"field": "told", "title": "predicted"}),
    ];
    if usable.iter().any(|row| !row.label.is_empty()) {
        tooltip.insert(0, json!({"field": "name", "title": "row"}));
    }
    json!({
        "data": {"values": rows},
        "layer": [
            {
                "data": {"values": [{"m": span.0, "o": span.0}, {"m": span.1, "o": span.1}]},
                "mark": {"type": "line", "color": OBSERVED, "strokeDash": [4, 4], "strokeWidth": 1.2},
                "encoding": {"x": x, "y": y},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 1.4, "opacity": 0.45},
                "encoding": {"x": axis("l", figure.predicted_words()), "x2": {"field": "u"}, "y": y, "color": colour, "tooltip": tooltip},
            },
            {
                "mark": {"type": "circle", "size": 36, "opacity": 0.95},
                "encoding": {"x": x, "y": y, "color": colour, "tooltip": tooltip},
            },
        ],
    })
}
