//! Marks of a curve figure as layers.

use serde_json::{Map, Value, json};

use crate::palette::{BAR, DENSE, INK, MUTED, OBSERVED, THRESHOLD, TINT};
use crate::prepare::{CurvePanel, Glyph, Layer, Shape};

/// Most pixels of the name of a rank.
const NAMES: f64 = 120.0;
/// Width of the unseen line around a thin one, so that it is easily pointed at.
const REACH: f64 = 9.0;

/// What lies below the predictions: bands of ranks, and boxes.
pub(super) fn below(panel: &CurvePanel<'_>) -> Vec<Value> {
    let mut layers = Vec::new();
    for layer in &panel.layers {
        layers.extend(bands(layer));
        let boxes = rows(layer, |shape| match *shape {
            Shape::Boxed { x, low, high, .. } => {
                Some(json!({"x": x.0, "x2": x.1, "y": low, "y2": high}))
            }
            _ => None,
        });
        layers.extend(drawn(
            boxes,
            layer,
            json!({"mark": {"type": "rect", "fill": BAR, "opacity": 0.6}}),
            &["x", "x2", "y", "y2"],
        ));
    }
    layers
}

fn bands(layer: &Layer) -> Vec<Value> {
    let Some(bands) = &layer.bands else {
        return Vec::new();
    };
    let across = |y: Value| {
        let mut encoding = json!({"x": {"value": 0}, "x2": {"value": "width"}});
        if let (Some(all), Value::Object(more)) = (encoding.as_object_mut(), y) {
            all.extend(more);
        }
        encoding
    };
    let tints: Vec<Value> = bands
        .tints
        .iter()
        .map(|(low, high)| json!({"y": low, "y2": high}))
        .collect();
    let thresholds: Vec<Value> = bands.thresholds.iter().map(|y| json!({"y": y})).collect();
    let names: Vec<Value> = bands
        .names
        .iter()
        .map(|(y, name)| json!({"y": y, "name": name}))
        .collect();
    let mut layers = Vec::new();
    if !tints.is_empty() {
        layers.push(json!({
            "data": {"values": tints},
            "mark": {"type": "rect", "fill": INK, "opacity": TINT},
            "encoding": across(json!({"y": {"field": "y"}, "y2": {"field": "y2"}})),
        }));
    }
    layers.push(json!({
        "data": {"values": thresholds},
        "mark": {"type": "rule", "color": THRESHOLD, "strokeWidth": 1, "strokeDash": [4, 4]},
        "encoding": across(json!({"y": {"field": "y"}})),
    }));
    if !names.is_empty() {
        layers.push(json!({
            "data": {"values": names},
            "mark": {
                "type": "text", "align": "left", "baseline": "middle", "dx": 7, "fontSize": 12, "color": MUTED,
                "limit": NAMES,
            },
            "encoding": {
                "x": {"value": "width"}, "y": {"field": "y"}, "text": {"field": "name", "type": "nominal"},
            },
        }));
    }
    layers
}

/// The marks themselves: those that would hide the predictions when asked for `dense` ones, else
/// the others.
pub(super) fn marks(panel: &CurvePanel<'_>, dense: bool) -> Vec<Value> {
    let wanted = panel.layers.iter().filter(|l| l.dense == dense);
    wanted.flat_map(layer).collect()
}

fn layer(layer: &Layer) -> Vec<Value> {
    let thin = if layer.dense { 1.0 } else { 1.6 };
    let small = if layer.dense { 0.6 } else { 1.0 };
    // A thin line, and an unseen one around it to point at.
    let opacity = opacity(layer);
    let lines = |width: f64| {
        json!({"layer": [
            {"mark": {"type": "rule", "color": OBSERVED, "strokeWidth": width, "opacity": opacity}},
            {"mark": {"type": "rule", "color": OBSERVED, "strokeWidth": REACH, "opacity": 0}},
        ]})
    };
    let solid = |width: f64| json!({"mark": {"type": "rule", "color": OBSERVED, "strokeWidth": width, "opacity": opacity}});
    let (upright, level) = (["x", "y", "y2"].as_slice(), ["x", "x2", "y"].as_slice());
    let mut out = Vec::new();
    // Stretches first, so that dots and rings lie on them.
    let stretches = rows(layer, stretch);
    out.extend(drawn(stretches, layer, solid(thin), level));
    let bars = rows(layer, |shape| match *shape {
        Shape::Tick { x, low, .. } if x.0 < x.1 => Some(json!({"x": x.0, "x2": x.1, "y": low})),
        _ => None,
    });
    out.extend(drawn(bars, layer, solid(4.0), level));
    for upper in [false, true] {
        let edges = rows(layer, |shape| match *shape {
            Shape::Boxed { x, low, high, open } => {
                let (is_open, y) = if upper { (open.1, high) } else { (open.0, low) };
                (!is_open).then(|| json!({"x": x.0, "x2": x.1, "y": y}))
            }
            _ => None,
        });
        out.extend(drawn(edges, layer, solid(2.0), level));
    }
    let ticks = rows(layer, |shape| match *shape {
        Shape::Tick { x, low, high } if x.0 == x.1 => Some(json!({"x": x.0, "y": low, "y2": high})),
        _ => None,
    });
    let width = if layer.dense { 1.0 } else { 2.2 };
    out.extend(drawn(ticks, layer, lines(width), upright));
    let pillars = rows(layer, |shape| match *shape {
        Shape::Pillar { x, low, high } => {
            Some(json!({"x": f64::midpoint(x.0, x.1), "y": low, "y2": high}))
        }
        _ => None,
    });
    let width = if layer.dense { 3.0 } else { 6.0 };
    let bar = json!({"mark": {
        "type": "bar", "fill": "#ffffff", "stroke": OBSERVED, "strokeWidth": 1.2, "width": width, "orient": "vertical",
    }});
    out.extend(drawn(pillars, layer, bar, upright));
    let rods = rows(layer, rod);
    out.extend(drawn(rods, layer, lines(thin), upright));
    out.extend(ends(layer, small));
    out.extend(dots(layer, small));
    out
}

fn opacity(layer: &Layer) -> f64 {
    if layer.dense { DENSE } else { 1.0 }
}

/// Level lines over the stretches of rings, dots and bars.
fn stretch(shape: &Shape) -> Option<Value> {
    let (x, y) = match *shape {
        Shape::Arrow { x, from, .. } => (x, from),
        Shape::Dot { x, y, .. } => (x, y),
        Shape::Pillar { x, low, .. } => (x, low),
        _ => return None,
    };
    (x.0 < x.1).then(|| json!({"x": x.0, "x2": x.1, "y": y}))
}

/// Thin upright lines: bars, and stems of arrows.
fn rod(shape: &Shape) -> Option<Value> {
    let (x, low, high) = match *shape {
        Shape::Rod { x, low, high, .. } => (x, low, high),
        Shape::Arrow { x, from, to } => (f64::midpoint(x.0, x.1), from, to),
        Shape::Boxed { x, low, high, open } if open.0 || open.1 => {
            (f64::midpoint(x.0, x.1), low, high)
        }
        _ => return None,
    };
    Some(json!({"x": x, "y": low, "y2": high}))
}

/// Caps and heads of arrows.
fn ends(layer: &Layer, small: f64) -> Vec<Value> {
    let mut out = Vec::new();
    for upper in [false, true] {
        let ends = rows(layer, |shape| {
            let (x, y, is_open, capped, up) = match *shape {
                Shape::Rod { x, high, open, .. } if upper => (x, high, open.1, true, true),
                Shape::Rod { x, low, open, .. } => (x, low, open.0, true, false),
                Shape::Boxed { x, low, high, open } => {
                    let (is_open, y) = if upper { (open.1, high) } else { (open.0, low) };
                    (f64::midpoint(x.0, x.1), y, is_open, false, upper)
                }
                Shape::Arrow { x, from, to } if upper => {
                    (f64::midpoint(x.0, x.1), to, true, false, to > from)
                }
                _ => return None,
            };
            let shape = match (is_open, up) {
                (true, true) => "triangle-up",
                (true, false) => "triangle-down",
                _ if capped => "stroke",
                _ => return None,
            };
            Some(json!({"x": x, "y": y, "shape": shape}))
        });
        let mark = json!({"mark": {
            "type": "point", "color": OBSERVED, "filled": true, "stroke": OBSERVED, "size": 45.0 * small,
            "strokeWidth": 1.6 * small, "opacity": opacity(layer),
        }});
        out.extend(drawn(ends, layer, mark, &["x", "y", "shape"]));
    }
    out
}

/// Rings at limits, and dots of rates.
fn dots(layer: &Layer, small: f64) -> Vec<Value> {
    let rings = rows(layer, |shape| match *shape {
        Shape::Arrow { x, from, .. } => Some(json!({"x": f64::midpoint(x.0, x.1), "y": from})),
        _ => None,
    });
    let ring = json!({"mark": {
        "type": "point", "fill": "#ffffff", "stroke": OBSERVED, "strokeWidth": 1.6 * small, "size": 46.0 * small * small,
        "opacity": opacity(layer),
    }});
    let dots = rows(layer, |shape| match *shape {
        // Vega counts the square around a dot.
        Shape::Dot { x, y, radius } => {
            Some(json!({"x": f64::midpoint(x.0, x.1), "y": y, "size": 4.0 * radius * radius}))
        }
        _ => None,
    });
    let dot = json!({"mark": {
        "type": "point", "fill": OBSERVED, "fillOpacity": 0.4, "stroke": OBSERVED, "strokeWidth": small, "opacity": opacity(layer),
    }});
    let mut out = Vec::new();
    out.extend(drawn(rings, layer, ring, &["x", "y"]));
    out.extend(drawn(dots, layer, dot, &["x", "y", "size"]));
    out
}

/// One row for each glyph that has the shape, with what its tooltip tells.
fn rows(layer: &Layer, shape: impl Fn(&Shape) -> Option<Value>) -> Vec<Value> {
    let told = |glyph: &Glyph| {
        let mut row = shape(&glyph.shape)?;
        if let Some(fields) = row.as_object_mut() {
            let lines = glyph.told.iter().enumerate();
            fields.extend(lines.map(|(i, words)| (format!("t{i}"), json!(words))));
        }
        Some(row)
    };
    layer.glyphs.iter().filter_map(told).collect()
}

/// A layer of rows with fields named like their channels; none without rows.
fn drawn(values: Vec<Value>, layer: &Layer, spec: Value, channels: &[&str]) -> Option<Value> {
    if values.is_empty() {
        return None;
    }
    let mut encoding = Map::new();
    for &channel in channels {
        encoding.insert(
            channel.to_owned(),
            match channel {
                "shape" => json!({"field": "shape", "type": "nominal", "scale": null}),
                "size" => {
                    json!({"field": "size", "type": "quantitative", "scale": null, "legend": null})
                }
                _ => json!({"field": channel}),
            },
        );
    }
    let lines = layer.titles.iter().enumerate();
    let tooltip: Vec<Value> = lines
        .map(|(i, title)| json!({"field": format!("t{i}"), "type": "nominal", "title": title}))
        .collect();
    encoding.insert("tooltip".to_owned(), json!(tooltip));
    let mut out = spec;
    out["data"] = json!({"values": values});
    out["encoding"] = Value::Object(encoding);
    Some(out)
}
