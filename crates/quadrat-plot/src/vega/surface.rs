//! Surfaces: linked maps; the place pointed at in one is outlined in all.

use serde_json::{Value, json};

use super::view::{INSET, short};
use super::{Interactive, Scale, TICKS, View, domain, ticked};
use crate::figure::{Area, Pixel, SurfaceFigure};
use crate::format::{beside, interval, number};
use crate::palette::{BORDER, INK};
use crate::prepare::{self, Sheet, Shown, interval_words};

pub(super) fn interactive(figure: &SurfaceFigure) -> Interactive {
    let drawn = prepare::surface(figure);
    // Means, observed and true values have one scale, that of the first map.
    let values_range = drawn.sheets.first().map_or((0.0, 1.0), |sheet| sheet.range);
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
            let values = vec![
                ("mean", json!(short(a.value, values_range))),
                ("words", json!(words)),
            ];
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
    let rings = drawn.borders.iter().enumerate();
    let vertices = rings.flat_map(|(i, ring)| ring.iter().map(move |v| (i, v)));
    let borders: Vec<Value> = vertices
        .map(|(i, [x, y])| json!({"x": short(*x, drawn.x_range), "y": short(*y, drawn.y_range), "ring": i}))
        .collect();
    let level = interval_words(figure.level);
    let in_words = |p: &Pixel| {
        let mut words = format!("{} (sd {}", beside(p.mean, p.sd), number(p.sd));
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
                ("mean", json!(short(p.mean, values_range))),
                ("sd", json!(short(p.sd, (0.0, p.sd)))),
                ("words", json!(in_words(p))),
            ];
            let mut row = with(place(p.x0, p.x1, p.y0, p.y1), values);
            for (i, chance) in p.chances.iter().enumerate() {
                row[chance_field(i)] = json!(short(*chance, (0.0, 1.0)));
            }
            row
        })
        .collect();
    let view = |sheet: &Sheet| View {
        title: sheet.title.clone(),
        y_title: figure.y.title(),
        scale: Some(Scale {
            stops: sheet.colours.iter().map(ToString::to_string).collect(),
            labels: sheet.labels.clone(),
        }),
        spec: map(
            figure,
            sheet,
            (drawn.x_range, drawn.y_range),
            (
                (!marked.is_empty()).then(|| drawn.radius()),
                !borders.is_empty(),
            ),
        ),
        aspect: Some(drawn.aspect),
        exact: figure.equal_scale,
        inset: INSET,
        ..View::default()
    };
    let views: Vec<View> = drawn.sheets.iter().map(view).collect();
    Interactive {
        arrangement: if views.len() == 4 {
            "maps four"
        } else {
            "maps"
        },
        views,
        legend: drawn.keys,
        datasets: json!({"observed": observed, "predicted": predicted, "reference": reference, "marked": marked, "borders": borders}),
        caption: prepare::joined("", &drawn.remarks),
    }
}

/// The field of a probability among the predicted cells.
fn chance_field(i: usize) -> String {
    format!("chance{i}")
}

fn map(
    figure: &SurfaceFigure,
    sheet: &Sheet,
    (x_range, y_range): ((f64, f64), (f64, f64)),
    (marked, has_borders): (Option<f64>, bool),
) -> Value {
    let (data, field) = match sheet.shown {
        Shown::Observed => ("observed", "mean".to_owned()),
        Shown::Reference => ("reference", "mean".to_owned()),
        Shown::Mean => ("predicted", "mean".to_owned()),
        Shown::Sd => ("predicted", "sd".to_owned()),
        Shown::Chance(i) => ("predicted", chance_field(i)),
    };
    let marked = marked.filter(|_| data == "predicted");
    let (range, colours) = (sheet.range, sheet.colours);
    let axis = |title: String, range| {
        json!({
            "type": "quantitative", "title": title, "scale": domain(range, false),
            "axis": ticked(range, TICKS.2, json!({"grid": false, "domain": false, "ticks": true})),
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
    let marks = marked.map(|radius| {
        json!({
            "name": "marked",
            "data": {"name": "marked"},
            "mark": {"type": "point", "clip": true, "filled": true, "fill": "#ffffff", "stroke": INK, "strokeWidth": 1, "size": (4.0 * radius * radius).round(),
                "opacity": 0.9, "tooltip": null},
            "encoding": {"x": at(&x, "x"), "y": at(&y, "y")},
        })
    });
    let outlines = |(colour, width): (&str, f64)| {
        json!({
            "name": format!("outline_border_{width}").replace('.', "_"),
            "data": {"name": "borders"},
            "mark": {"type": "line", "clip": true, "color": colour, "strokeWidth": width, "tooltip": null},
            "encoding": {
                "x": at(&x, "x"), "y": at(&y, "y"), "detail": {"field": "ring", "type": "nominal"},
                "order": {"value": null},
            },
        })
    };
    let outlines: Vec<Value> = match has_borders {
        true => BORDER.map(outlines).to_vec(),
        false => Vec::new(),
    };
    x["field"] = json!("x0");
    y["field"] = json!("y0");
    let title = if data == "reference" { "truth" } else { data };
    let fields = json!([
        {"field": "x", "title": figure.x.label}, {"field": "y", "title": figure.y.label}, {"field": "words", "title": title}
    ]);
    let mut fields = fields;
    if let (Shown::Chance(_), Some(fields)) = (sheet.shown, fields.as_array_mut()) {
        fields.push(json!({"field": field, "title": sheet.title, "format": ".3"}));
    }
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
    let layers = [cells]
        .into_iter()
        .chain(outlines)
        .chain(marks)
        .chain([shadow, outline]);
    json!({
        "params": [{"name": "here", "value": null}],
        "layer": layers.collect::<Vec<_>>(),
    })
}
