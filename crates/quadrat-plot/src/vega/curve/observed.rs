//! Observed points, bars and levels as layers.

use serde_json::{Value, json};

use crate::palette::{BAR, OBSERVED};
use crate::prepare::Mark;

pub(super) fn bars(marks: &[Mark]) -> Option<Value> {
    let values: Vec<Value> = marks
        .iter()
        .filter_map(|mark| match mark {
            Mark::Bar {
                x0,
                x1,
                height,
                words,
            } => Some(json!({"x0": x0, "x1": x1, "y": height, "zero": 0, "words": words})),
            _ => None,
        })
        .collect();
    (!values.is_empty()).then(|| {
        json!({
            "data": {"values": values},
            "mark": {"type": "rect", "fill": BAR, "stroke": "#ffffff", "strokeWidth": 1},
            "encoding": {
                "x": {"field": "x0"}, "x2": {"field": "x1"}, "y": {"field": "zero"}, "y2": {"field": "y"},
                "tooltip": [{"field": "words", "title": "observed"}],
            },
        })
    })
}

pub(super) fn other_marks(marks: &[Mark]) -> Vec<Value> {
    let (mut levels, mut rules, mut points) = (Vec::new(), Vec::new(), Vec::new());
    for mark in marks {
        match mark {
            Mark::Bar { .. } => {}
            Mark::Level { x0, x1, y, words } => {
                levels.push(json!({"x0": x0, "x1": x1, "y": y, "words": words}))
            }
            Mark::Point { x, y, error, words } => {
                if let Some(e) = error {
                    rules.push(json!({"x": x, "l": y - e, "u": y + e, "words": words}));
                }
                points.push(json!({"x": x, "y": y, "words": words}));
            }
        }
    }
    let tooltip = json!([{"field": "words", "title": "observed"}]);
    let mut layers = Vec::new();
    if !levels.is_empty() {
        layers.push(json!({
            "data": {"values": levels},
            "mark": {"type": "rule", "color": OBSERVED, "strokeWidth": 3},
            "encoding": {"x": {"field": "x0"}, "x2": {"field": "x1"}, "y": {"field": "y"}, "tooltip": tooltip},
        }));
    }
    if !rules.is_empty() {
        layers.push(json!({
            "data": {"values": rules},
            "mark": {"type": "rule", "color": OBSERVED, "strokeWidth": 1.5},
            "encoding": {"x": {"field": "x"}, "y": {"field": "l"}, "y2": {"field": "u"}, "tooltip": tooltip},
        }));
    }
    if !points.is_empty() {
        layers.push(json!({
            "data": {"values": points},
            "mark": {"type": "circle", "color": OBSERVED, "size": 34, "opacity": 0.85},
            "encoding": {"x": {"field": "x"}, "y": {"field": "y"}, "tooltip": tooltip},
        }));
    }
    layers
}
