//! Curves: bars, bands, lines, dots, and a column to point at.

mod observed;

use serde_json::{Value, json};

use super::view::{INSET, short};
use super::{Interactive, TICKS, View, domain, marks, ticked};
use crate::figure::{CurveFigure, Limit};
use crate::format::number;
use crate::palette::{BAND_OPACITY, INK, PREDICTED, REFERENCE};
use crate::prepare::{self, Band, Slot};

/// Height of a panel in pixels, alone and among others.
const HEIGHT: (u32, u32) = (380, 240);

pub(super) fn interactive(figure: &CurveFigure) -> Interactive {
    let drawn = prepare::curve(figure);
    let height = if drawn.panels.len() > 1 {
        HEIGHT.1
    } else {
        HEIGHT.0
    };
    let mut views = Vec::new();
    for panel in &drawn.panels {
        let mut layers = marks::below(panel);
        let y = json!({
            "type": "quantitative", "title": null, "scale": domain(panel.y_range, false),
            "axis": ticked(panel.y_range, TICKS.1, json!({})),
        });
        layers.extend(observed::bars(&panel.marks));
        // Below all that can be pointed at itself; marks so many that they hide the predictions lie
        // below these.
        layers.extend(pointer(&panel.slots, drawn.x_range));
        layers.extend(marks::marks(panel, true));
        layers.extend(
            panel
                .bands
                .iter()
                .enumerate()
                .flat_map(|(i, band)| lines(band, PREDICTED[i % PREDICTED.len()], panel.y_range)),
        );
        layers.extend(observed::other_marks(&panel.marks));
        layers.extend(marks::marks(panel, false));
        let label = panel
            .panel
            .reference
            .as_ref()
            .map_or("", |r| r.label.as_str());
        layers.extend(dots(&panel.dots, label));
        layers.extend(limits(&panel.limits));
        layers.extend(rug(&panel.rug));
        if layers.is_empty() {
            layers.push(json!({"mark": "point", "data": {"values": []}}));
        }
        for layer in &mut layers {
            complete(layer, &figure.x.title(), drawn.x_range, &y);
        }
        views.push(View {
            title: panel.panel.title.clone(),
            y_title: panel.panel.y.title(),
            spec: json!({"height": height, "layer": layers}),
            aspect: None,
            inset: INSET,
            ..View::default()
        });
    }
    Interactive {
        views,
        arrangement: "stack",
        legend: drawn.keys,
        datasets: json!({}),
        caption: prepare::joined("", &drawn.remarks),
    }
}

/// Gives a layer the axes of the panel.
fn complete(layer: &mut Value, x_title: &str, x_range: (f64, f64), y: &Value) {
    let Some(layer) = layer.as_object_mut() else {
        return;
    };
    let encoding = layer.entry("encoding").or_insert_with(|| json!({}));
    let axis = json!({
        "type": "quantitative", "title": x_title, "scale": domain(x_range, false),
        "axis": ticked(x_range, TICKS.0, json!({})),
    });
    for (channel, defaults) in [("x", &axis), ("y", y)] {
        match (
            encoding.get_mut(channel).and_then(Value::as_object_mut),
            defaults.as_object(),
        ) {
            (Some(given), Some(defaults)) if !given.contains_key("value") => {
                for (key, value) in defaults {
                    given.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            _ => {}
        }
    }
}

fn lines(band: &Band, colour: &str, y_range: (f64, f64)) -> Vec<Value> {
    let near = |value: f64| short(value, y_range);
    let values: Vec<Value> = band
        .pieces
        .iter()
        .enumerate()
        .flat_map(|(piece, vertices)| {
            vertices
                .iter()
                .map(move |v| json!({"x": v[0], "m": near(v[1]), "l": near(v[2]), "u": near(v[3]), "p": piece}))
        })
        .collect();
    if values.is_empty() {
        return Vec::new();
    }
    let data = json!({"values": values});
    let mut layers = Vec::new();
    if band.band_label.is_some() {
        layers.push(json!({
            "data": data,
            "mark": {"type": "area", "color": colour, "opacity": BAND_OPACITY},
            "encoding": {
                "x": {"field": "x"}, "y": {"field": "l"}, "y2": {"field": "u"},
                "detail": {"field": "p", "type": "nominal"}, "order": {"value": null},
            },
        }));
    }
    layers.push(json!({
        "data": data,
        "mark": {"type": "line", "color": colour, "strokeWidth": 2, "strokeJoin": "round"},
        "encoding": {
            "x": {"field": "x"}, "y": {"field": "m"},
            "detail": {"field": "p", "type": "nominal"}, "order": {"value": null},
        },
    }));
    // A piece of one point has no line: show it as a dot.
    let alone: Vec<Value> = band
        .pieces
        .iter()
        .filter(|p| p.len() == 1)
        .map(|p| json!({"x": p[0][0], "m": p[0][1], "l": p[0][2], "u": p[0][3]}))
        .collect();
    if !alone.is_empty() {
        layers.push(json!({
            "data": {"values": alone},
            "mark": {"type": "rule", "color": colour, "strokeWidth": 2, "opacity": 0.5},
            "encoding": {"x": {"field": "x"}, "y": {"field": "l"}, "y2": {"field": "u"}},
        }));
        layers.push(json!({
            "data": {"values": alone},
            "mark": {"type": "circle", "color": colour, "size": 50, "opacity": 1},
            "encoding": {"x": {"field": "x"}, "y": {"field": "m"}},
        }));
    }
    layers
}

fn dots(dots: &[(f64, f64)], label: &str) -> Option<Value> {
    let values: Vec<Value> = dots
        .iter()
        .map(|(x, y)| json!({"x": x, "y": y, "words": format!("{} at {}", number(*y), number(*x))}))
        .collect();
    let size = if dots.len() > 200 { 10 } else { 20 };
    let title = if label.is_empty() {
        "true value"
    } else {
        label
    };
    (!values.is_empty()).then(|| {
        json!({
            "data": {"values": values},
            "mark": {"type": "circle", "color": REFERENCE, "size": size, "opacity": 0.9},
            "encoding": {
                "x": {"field": "x"}, "y": {"field": "y"}, "tooltip": [{"field": "words", "title": title}],
            },
        })
    })
}

/// Level lines from side to side.
fn limits(limits: &[&Limit]) -> Option<Value> {
    let values: Vec<Value> = limits
        .iter()
        .map(|limit| json!({"y": limit.value}))
        .collect();
    (!values.is_empty()).then(|| {
        json!({
            "data": {"values": values},
            "mark": {"type": "rule", "color": INK, "strokeWidth": 1.2, "strokeDash": [4, 4], "tooltip": null},
            "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": {"field": "y"}},
        })
    })
}

/// Ticks that stand on the horizontal axis.
fn rug(places: &[f64]) -> Option<Value> {
    let values: Vec<Value> = places.iter().map(|x| json!({"x": x})).collect();
    (!values.is_empty()).then(|| {
        json!({
            "data": {"values": values},
            "mark": {"type": "tick", "color": INK, "orient": "vertical", "size": 10, "thickness": 1.2, "opacity": 0.8, "tooltip": null},
            "encoding": {"x": {"field": "x"}, "y": {"value": {"expr": "height - 5"}}},
        })
    })
}

/// Invisible columns, one per predicted row, which darken and tell their row when pointed at.
fn pointer(slots: &[Slot], x_range: (f64, f64)) -> Option<Value> {
    let middle = |i: usize| f64::midpoint(slots[i].x0, slots[i].x1);
    let last = slots.len().saturating_sub(1);
    let values: Vec<Value> = slots
        .iter()
        .enumerate()
        .map(|(i, slot)| {
            let (from, to) = if slot.x1 > slot.x0 {
                (slot.x0, slot.x1)
            } else {
                let from = if i == 0 { x_range.0 } else { f64::midpoint(middle(i - 1), middle(i)) };
                let to = if i == last { x_range.1 } else { f64::midpoint(middle(i), middle(i + 1)) };
                (from, to)
            };
            json!({"x0": from, "x1": to, "at": slot.x, "predicted": slot.predicted, "observed": slot.observed})
        })
        .collect();
    let with_observed = slots.iter().any(|s| s.observed != "–");
    let mut tooltip = vec![json!({"field": "at"}), json!({"field": "predicted"})];
    if with_observed {
        tooltip.push(json!({"field": "observed"}));
    }
    (!values.is_empty()).then(|| {
        json!({
            "data": {"values": values},
            "params": [{"name": "here", "select": {"type": "point", "on": "pointerover", "clear": "pointerout"}}],
            "mark": {"type": "rect", "fill": "#1f2933", "tooltip": true},
            "encoding": {
                "x": {"field": "x0"}, "x2": {"field": "x1"}, "y": {"value": 0}, "y2": {"value": "height"},
                "fillOpacity": {"condition": {"param": "here", "empty": false, "value": 0.07}, "value": 0},
                "tooltip": tooltip,
            },
        })
    })
}
