//! Forests: a dot and an interval per row.

use serde_json::{Value, json};

use super::view::INSET;
use super::{Interactive, TICKS, View, domain, labelled, ticked};
use crate::figure::{ForestFigure, ForestRow};
use crate::format::{beside, count, interval, number};
use crate::palette::{INK, OBSERVED, PREDICTED, REFERENCE};
use crate::prepare::{self, Key, interval_words};

/// Height of a row in pixels.
const ROW: usize = 22;

/// The mean of a row and, where there is one, its interval.
fn told(row: &ForestRow, level: f64) -> String {
    // An interval is about four standard deviations wide.
    let mean = beside(row.mean, (row.upper - row.lower) / 4.0);
    if row.lower >= row.upper {
        return mean;
    }
    let interval = interval(row.lower, row.upper);
    format!("{mean} ({}: {interval})", interval_words(level))
}

pub(super) fn interactive(figure: &ForestFigure) -> Interactive {
    let drawn = prepare::forest(figure);
    let span = drawn.span;
    let rows: Vec<_> = drawn.rows.iter().enumerate().collect();
    let data: Vec<Value> = rows
        .iter()
        .filter(|(_, row)| row.mean.is_finite())
        .map(|(i, row)| {
            // Rows are placed by number: two rows may have the same name.
            json!({
                "row": i, "name": row.label, "mean": row.mean,
                "lower": row.lower.clamp(span.0, span.1), "upper": row.upper.clamp(span.0, span.1),
                "told": told(row, figure.level),
                "observed": row.observed.filter(|v| v.is_finite()),
                "seen": row.observed.map(number),
                "reference": row.reference.filter(|v| v.is_finite()),
                "true": row.reference.map(number),
            })
        })
        .collect();
    let data_is_empty = data.is_empty();
    let names: Vec<&str> = rows.iter().map(|(_, row)| row.label.as_str()).collect();
    let x = |field: &str| {
        let (scale, axis) = match &drawn.ticks {
            None => (
                domain(span, false),
                ticked(span, TICKS.0, json!({"grid": true})),
            ),
            Some(ticks) => (
                json!({"type": "log", "domain": [span.0, span.1], "nice": false}),
                {
                    let ticks = ticks.iter().map(|&tick| (tick, number(tick)));
                    labelled(ticks.collect(), json!({"grid": true}))
                },
            ),
        };
        json!({"field": field, "type": "quantitative", "title": figure.value.title(), "scale": scale, "axis": axis})
    };
    let y = json!({
        "field": "row", "type": "ordinal", "title": null, "scale": {"domain": (0..rows.len()).collect::<Vec<_>>()},
        "axis": {"labelExpr": "names[datum.value]", "labelLimit": {"expr": "max(80, width * 0.45)"}, "labelColor": "#1f2933", "labelOverlap": false},
    });
    let with_observed = data.iter().any(|row| !row["observed"].is_null());
    let mut tooltip = vec![
        json!({"field": "name", "title": "row"}),
        json!({"field": "told", "title": if figure.label.is_empty() { "predicted" } else { drawn.label }}),
    ];
    if with_observed {
        tooltip.push(json!({"field": "seen", "title": "observed"}));
    }
    let with_reference = data.iter().any(|row| !row["reference"].is_null());
    if with_reference {
        tooltip.push(json!({"field": "true", "title": figure.reference}));
    }
    let mut layers = vec![
        json!({
            "mark": {"type": "rule", "color": PREDICTED[0], "strokeWidth": 5, "opacity": 0.35, "strokeCap": "round"},
            "encoding": {"x": x("lower"), "x2": {"field": "upper"}, "y": y, "tooltip": tooltip},
        }),
        json!({
            "mark": {"type": "circle", "color": PREDICTED[0], "size": 60, "opacity": 1},
            "encoding": {"x": x("mean"), "y": y, "tooltip": tooltip},
        }),
    ];
    if with_observed {
        layers.push(json!({
            "transform": [{"filter": "isValid(datum.observed)"}],
            "mark": {"type": "point", "color": OBSERVED, "size": 60, "strokeWidth": 1.8, "opacity": 1, "filled": false},
            "encoding": {"x": x("observed"), "y": y, "tooltip": tooltip},
        }));
    }
    if with_reference {
        layers.push(json!({
            "transform": [{"filter": "isValid(datum.reference)"}],
            "mark": {"type": "circle", "color": REFERENCE, "size": 40, "opacity": 0.9},
            "encoding": {"x": x("reference"), "y": y, "tooltip": tooltip},
        }));
    }
    let mut legend = vec![Key::new("dot", PREDICTED[0], drawn.label)];
    if drawn.has_intervals {
        legend.push(Key::new("band", PREDICTED[0], interval_words(figure.level)));
    }
    if !drawn.limits.is_empty() {
        let limits = drawn.limits.iter();
        legend.extend(
            limits
                .clone()
                .map(|limit| Key::new("dashes", INK, limit.label.clone())),
        );
        let values: Vec<Value> = limits.map(|limit| json!({"limit": limit.value})).collect();
        layers.push(json!({
            "data": {"values": values},
            "mark": {"type": "rule", "color": INK, "strokeWidth": 1.2, "strokeDash": [4, 4]},
            "encoding": {"x": x("limit"), "y": {"value": 0}, "y2": {"value": "height"}},
        }));
    }
    if with_observed {
        legend.push(Key::new("ring", OBSERVED, "Observed"));
    }
    if with_reference {
        legend.push(Key::new("dot", REFERENCE, figure.reference.clone()));
    }
    let mut remarks = drawn.remarks;
    if figure.rows.len() > rows.len() {
        remarks.push(format!(
            "The first {} of {} rows are drawn.",
            count(rows.len()),
            count(figure.rows.len())
        ));
    }
    let spec = json!({
        "height": (rows.len() * ROW).max(60),
        "params": [{"name": "names", "value": names}],
        "data": {"values": data},
        "layer": layers,
    });
    let mut views = vec![View {
        title: String::new(),
        y_title: String::new(),
        spec,
        aspect: None,
        inset: INSET,
        ..View::default()
    }];
    if data_is_empty {
        views.clear();
        legend.clear();
    }
    Interactive {
        views,
        arrangement: "stack",
        legend,
        datasets: json!({}),
        caption: prepare::joined("", &remarks),
    }
}
