//! Surfaces: linked maps; the place pointed at in one is outlined in all.

use serde_json::{Value, json};

use super::{INSET, Interactive, Scale, View, domain, short, tick_format};
use crate::figure::{Area, Pixel, SurfaceFigure};
use crate::format::{interval, number, rounded};
use crate::palette::{INK, SPREAD, VALUES};
use crate::prepare::{self, interval_words};

pub(super) fn interactive(figure: &SurfaceFigure) -> Interactive {
    let drawn = prepare::surface(figure);
    let aspect = if figure.equal_scale {
        ((drawn.y_range.1 - drawn.y_range.0) / (drawn.x_range.1 - drawn.x_range.0)).clamp(0.3, 2.5)
    } else {
        0.85
    };
    let place = |x0: f64, x1: f64, y0: f64, y1: f64| json!({"x0": x0, "x1": x1, "y0": y0, "y1": y1, "x": interval(x0, x1), "y": interval(y0, y1)});
    let with = |mut row: Value, pairs: Vec<(&str, Value)>| {
        for (key, value) in pairs {
            row[key] = value;
        }
        row
    };
    let told = |areas: &[Area]| -> Vec<Value> {
        let one = |a: &Area| {
            let words = if a.label.is_empty() {
                number(a.value)
            } else {
                format!("{}; {}", number(a.value), a.label)
            };
            let values = vec![("mean", json!(short(a.value))), ("words", json!(words))];
            with(place(a.x0, a.x1, a.y0, a.y1), values)
        };
        areas.iter().map(one).collect()
    };
    let (observed, reference) = (told(&drawn.observed), told(&drawn.reference));
    let marked: Vec<Value> = drawn
        .marked
        .iter()
        .map(|[x, y]| json!({"x": x, "y": y}))
        .collect();
    let level = interval_words(figure.level);
    let in_words = |p: &Pixel| {
        let mut words = format!("{} (sd {}", number(p.mean), number(p.sd));
        if p.lower < p.upper {
            words.push_str(&format!("; {level} {}", interval(p.lower, p.upper)));
        }
        words + ")"
    };
    let predicted: Vec<Value> = drawn
        .predicted
        .iter()
        .map(|p| {
            let values = vec![
                ("mean", json!(short(p.mean))),
                ("sd", json!(short(p.sd))),
                ("words", json!(in_words(p))),
            ];
            with(place(p.x0, p.x1, p.y0, p.y1), values)
        })
        .collect();
    let unit = if figure.value.label.is_empty() {
        "value".to_owned()
    } else {
        figure.value.title()
    };
    let has_sd = drawn.predicted.iter().any(|p| p.sd.is_finite());
    let maps = [
        (
            !observed.is_empty(),
            format!("Observed {unit}"),
            "observed",
            "mean",
            &VALUES[..],
            drawn.value_range,
        ),
        (
            !predicted.is_empty(),
            format!("Predicted {unit}"),
            "predicted",
            "mean",
            &VALUES[..],
            drawn.value_range,
        ),
        (
            !reference.is_empty(),
            drawn.reference_title.clone(),
            "reference",
            "mean",
            &VALUES[..],
            drawn.value_range,
        ),
        (
            has_sd,
            "Standard deviation".to_owned(),
            "predicted",
            "sd",
            &SPREAD[..],
            drawn.sd_range,
        ),
    ];
    let views: Vec<View> = maps
        .into_iter()
        .filter(|map| map.0)
        .map(|(_, title, data, field, colours, range)| View {
            title,
            y_title: figure.y.title(),
            scale: Some(Scale {
                stops: colours.iter().map(ToString::to_string).collect(),
                labels: vec![(0.0, rounded(range.0)), (1.0, rounded(range.1))],
            }),
            spec: map(
                figure,
                data,
                field,
                colours,
                range,
                (drawn.x_range, drawn.y_range),
                data == "predicted" && !marked.is_empty(),
            ),
            aspect: Some(aspect),
            inset: INSET,
            ..View::default()
        })
        .collect();
    Interactive {
        arrangement: if views.len() == 4 {
            "maps four"
        } else {
            "maps"
        },
        views,
        legend: drawn.keys,
        datasets: json!({"observed": observed, "predicted": predicted, "reference": reference, "marked": marked}),
        caption: prepare::joined("", &drawn.remarks),
    }
}

fn map(
    figure: &SurfaceFigure,
    data: &str,
    field: &str,
    colours: &[&'static str],
    range: (f64, f64),
    (x_range, y_range): ((f64, f64), (f64, f64)),
    is_marked: bool,
) -> Value {
    let axis = |title: String, range| {
        json!({
            "type": "quantitative", "title": title, "scale": domain(range, false),
            "axis": {"format": tick_format(range), "grid": false, "domain": false, "ticks": true, "tickCount": 5},
        })
    };
    let mut x = axis(figure.x.title(), x_range);
    let mut y = axis(String::new(), y_range);
    // Pointing nowhere, it waits in a corner of the map: outside, it would stretch the page.
    let corner = |end: &str, start: f64| format!("here ? here.{end} : {start}");
    let outline = json!({
        "name": "outline_inner",
        "data": {"values": [{}]},
        "mark": {
            "type": "rect", "clip": true, "fill": null, "stroke": "#ffffff", "strokeWidth": 2.5, "tooltip": null,
            "strokeOpacity": {"expr": "here ? 1 : 0"}
        },
        "encoding": {
            "x": {"datum": {"expr": corner("x0", x_range.0)}, "type": "quantitative"}, "x2": {"datum": {"expr": corner("x1", x_range.0)}},
            "y": {"datum": {"expr": corner("y0", y_range.0)}, "type": "quantitative"}, "y2": {"datum": {"expr": corner("y1", y_range.0)}},
        },
    });
    let mut shadow = outline.clone();
    shadow["name"] = json!("outline_outer");
    shadow["mark"]["stroke"] = json!("#000000");
    shadow["mark"]["strokeWidth"] = json!(4.5);
    let at = |axis: &Value, field: &str| {
        let mut axis = axis.clone();
        axis["field"] = json!(field);
        axis
    };
    // The pointer goes through them, as through the outlines.
    let marks = is_marked.then(|| {
        json!({
            "name": "marked",
            "data": {"name": "marked"},
            "mark": {"type": "point", "clip": true, "filled": true, "fill": "#ffffff", "stroke": INK, "strokeWidth": 1, "size": 14,
                "opacity": 0.9, "tooltip": null},
            "encoding": {"x": at(&x, "x"), "y": at(&y, "y")},
        })
    });
    x["field"] = json!("x0");
    y["field"] = json!("y0");
    let title = if data == "reference" { "truth" } else { data };
    let fields = json!([
        {"field": "x", "title": figure.x.label}, {"field": "y", "title": figure.y.label}, {"field": "words", "title": title}
    ]);
    let cells = json!({
                "data": {"name": data},
                "mark": {"type": "rect", "clip": true, "strokeWidth": 0.8},
                "encoding": {
                    "x": x, "x2": {"field": "x1"}, "y": y, "y2": {"field": "y1"},
                    "fill": {"field": field, "type": "quantitative", "legend": null,
                        "scale": {"domain": [range.0, range.1], "range": colours, "interpolate": "rgb", "zero": false, "nice": false, "clamp": true}},
                    "stroke": {"field": field, "type": "quantitative", "legend": null,
                        "scale": {"domain": [range.0, range.1], "range": colours, "interpolate": "rgb", "zero": false, "nice": false, "clamp": true}},
                    "tooltip": fields,
                },
    });
    let layers = [cells].into_iter().chain(marks).chain([shadow, outline]);
    json!({
        "params": [{"name": "here", "value": null}],
        "layer": layers.collect::<Vec<_>>(),
    })
}
