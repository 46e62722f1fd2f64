//! Violins: areas about the middles of columns, which tell their numbers when pointed at.

use serde_json::{Value, json};

use super::view::{INSET, short};
use super::{Interactive, TICKS, View, domain, labelled, ticked};
use crate::figure::ViolinFigure;
use crate::format::{beside, count, interval};
use crate::palette::{BAND_OPACITY, INK, PREDICTED};
use crate::prepare::{self, Violin, interval_words};

/// Height of the view in pixels.
const HEIGHT: u32 = 420;

pub(super) fn interactive(figure: &ViolinFigure) -> Interactive {
    let drawn = prepare::violins(figure);
    let columns = drawn.shown.len() as f64;
    let names = drawn
        .shown
        .iter()
        .map(|s| (s.middle, s.violin.label.clone()));
    let room = json!({"labelLimit": {"expr": format!("max(60, width / {columns} - 6)")}});
    let x = |mut of: Value| {
        of["type"] = json!("quantitative");
        of["title"] = json!(figure.group.title());
        of["scale"] = domain((0.0, columns), false);
        of["axis"] = labelled(names.clone().collect(), room.clone());
        of
    };
    let y = |field: &str| {
        json!({
            "field": field, "type": "quantitative", "title": null, "scale": domain(drawn.range, false),
            "axis": ticked(drawn.range, TICKS.1, json!({})),
        })
    };
    let edges: Vec<Value> = drawn
        .shown
        .iter()
        .flat_map(|s| edges(s, drawn.range))
        .collect();
    let edges = json!({"values": edges});
    let told: Vec<Value> = drawn.shown.iter().map(|s| told(s, figure.level)).collect();
    let told = json!({"values": told});
    let area = |half: &str, opacity: f64| {
        json!({
            "data": edges,
            "transform": [{"filter": "datum.s > 0"}],
            "mark": {"type": "area", "orient": "horizontal", "color": PREDICTED[0], "opacity": opacity},
            "encoding": {
                "x": x(json!({"field": format!("{half}0")})), "x2": {"field": format!("{half}1")},
                "y": y("v"), "detail": {"field": "g", "type": "nominal"},
            },
        })
    };
    let rule = |from: &str, to: &str, at: &str| {
        json!({
            "data": told,
            "mark": {"type": "rule", "color": INK, "strokeWidth": 1, "strokeDash": [4, 4], "tooltip": null},
            "encoding": {"x": x(json!({"field": from})), "x2": {"field": to}, "y": y(at)},
        })
    };
    let layers = json!([
        {
            "data": told,
            "params": [{"name": "here", "select": {"type": "point", "on": "pointerover", "clear": "pointerout"}}],
            "mark": {"type": "rect", "fill": INK, "tooltip": true},
            "encoding": {
                "x": x(json!({"field": "x0"})), "x2": {"field": "x1"}, "y": {"value": 0}, "y2": {"value": "height"},
                "fillOpacity": {"condition": {"param": "here", "empty": false, "value": 0.05}, "value": 0},
                "tooltip": [
                    {"field": "name", "title": "group"}, {"field": "rows"}, {"field": "median"},
                    {"field": "quartiles"},
                ],
            },
        },
        area("u", BAND_OPACITY),
        area("l", 1.4 * BAND_OPACITY),
        {
            "data": edges,
            "mark": {"type": "line", "color": PREDICTED[0], "strokeWidth": 1.8, "strokeJoin": "round"},
            "encoding": {
                "x": x(json!({"field": "d"})), "y": y("v"),
                "detail": [{"field": "g", "type": "nominal"}, {"field": "s", "type": "nominal"}],
                "order": {"value": null},
            },
        },
        rule("a0", "a1", "low"),
        rule("b0", "b1", "high"),
        interval_of_median(&told, x(json!({"field": "x"})), y("from")),
        median(&told, x(json!({"field": "x"})), y("middle")),
    ]);
    let view = View {
        y_title: figure.value.title(),
        spec: json!({"height": HEIGHT, "layer": layers}),
        inset: INSET,
        ..View::default()
    };
    Interactive {
        views: if drawn.shown.is_empty() {
            Vec::new()
        } else {
            vec![view]
        },
        arrangement: "stack",
        legend: drawn.keys,
        datasets: json!({}),
        caption: prepare::joined("", &drawn.remarks),
    }
}

/// The interval of the median of every violin.
fn interval_of_median(told: &Value, x: Value, y: Value) -> Value {
    json!({
        "data": told,
        "mark": {"type": "rule", "color": INK, "strokeWidth": 3, "tooltip": null},
        "encoding": {"x": x, "y": y, "y2": {"field": "to"}},
    })
}

/// The median of every violin.
fn median(told: &Value, x: Value, y: Value) -> Value {
    json!({
        "data": told,
        "mark": {
            "type": "circle", "color": INK, "stroke": "#ffffff", "strokeWidth": 1.2, "size": 60,
            "opacity": 1, "tooltip": null,
        },
        "encoding": {"x": x, "y": y},
    })
}

/// Both sides of a violin, from the lowest value to the highest: the density on side `s`, and where
/// the areas of the ends of the band begin and end.
fn edges(shape: &Violin<'_>, range: (f64, f64)) -> Vec<Value> {
    let (middle, group) = (shape.middle, shape.middle.floor());
    let near = |x: f64| short(x, (0.0, 1.0));
    let side =
        |s: f64| {
            shape.outline.iter().map(move |[value, density, lower, upper]| {
            json!({
                "g": group, "s": s, "v": short(*value, range), "d": near(middle + s * density),
                "l0": near(middle - lower), "l1": near(middle + lower),
                "u0": near(middle - upper), "u1": near(middle + upper),
            })
        })
        };
    side(-1.0).chain(side(1.0)).collect()
}

/// What a violin tells.
fn told(shape: &Violin<'_>, level: f64) -> Value {
    let (violin, middle) = (shape.violin, shape.middle);
    let ([low, median, high], (from, to)) = (violin.quartiles, violin.median);
    let [(_, a), (_, b)] = shape.quartiles;
    // An interval is about four standard deviations wide.
    let words = beside(median, (to - from) / 4.0);
    json!({
        "name": violin.label, "rows": count(violin.rows), "x": middle,
        "x0": middle - 0.5, "x1": middle + 0.5, "middle": median, "from": from, "to": to,
        "low": low, "high": high,
        "a0": middle - a, "a1": middle + a, "b0": middle - b, "b1": middle + b,
        "median": format!("{words} ({}: {})", interval_words(level), interval(from, to)),
        "quartiles": interval(low, high),
    })
}
