//! Choropleth maps; the region pointed at in one is outlined in all.

use serde_json::{Value, json};

use super::{Interactive, Scale, View};
use crate::figure::MapFigure;
use crate::palette::{INK, MISSING, MUTED};
use crate::prepare::{self, Key, Map};

/// Vertices above which maps are drawn on a canvas.
const CANVAS_FROM: usize = 20_000;

pub(super) fn interactive(figure: &MapFigure) -> Interactive {
    let drawn = prepare::map(figure);
    let tooltip = tooltip(figure, &drawn);
    let views = drawn
        .panels
        .iter()
        .enumerate()
        .map(|(j, panel)| View {
            title: panel.title.clone(),
            y_title: panel.unit.clone(),
            scale: panel.legend.as_ref().map(|legend| Scale {
                stops: legend.stops.clone(),
                labels: legend.labels.clone(),
            }),
            spec: map(&drawn, j, &tooltip),
            aspect: Some(drawn.size.1 / drawn.size.0),
            inset: 0,
            canvas: drawn.vertices > CANVAS_FROM,
            exact: false,
        })
        .collect();
    let missing = drawn.hatching.iter().any(|lines| !lines.is_empty());
    Interactive {
        views,
        arrangement: match drawn.columns() {
            1 => "atlas one",
            2 => "atlas two",
            _ => "atlas three",
        },
        legend: if missing {
            vec![Key::new("hatch", MISSING.1, "no value")]
        } else {
            Vec::new()
        },
        datasets: datasets(figure, &drawn),
        caption: prepare::joined("", &drawn.remarks),
    }
}

/// The regions with their colours and words, and the hatching of each panel.
fn datasets(figure: &MapFigure, drawn: &Map) -> Value {
    let regions: Vec<Value> = (0..drawn.regions.len())
        .map(|i| {
            let geometry =
                json!({"type": "MultiPolygon", "coordinates": closed(&drawn.regions[i])});
            feature(figure, drawn, i, geometry)
        })
        .collect();
    let mut out = json!({"regions": regions});
    for (j, panel) in drawn.panels.iter().enumerate() {
        let hatched: Vec<Value> = (0..drawn.regions.len())
            .filter(|&i| panel.colours[i].is_none())
            .map(|i| {
                let geometry = json!({"type": "MultiLineString", "coordinates": drawn.hatching[i]});
                feature(figure, drawn, i, geometry)
            })
            .collect();
        if !hatched.is_empty() {
            out[format!("hatched{j}")] = json!(hatched);
        }
    }
    out
}

/// Polygons as GeoJSON has them: every ring ends where it began.
fn closed(polygons: &[Vec<prepare::Ring>]) -> Vec<Vec<prepare::Ring>> {
    let close = |ring: &prepare::Ring| ring.iter().chain(ring.first()).copied().collect();
    polygons
        .iter()
        .map(|rings| rings.iter().map(close).collect())
        .collect()
}

fn feature(figure: &MapFigure, drawn: &Map, i: usize, geometry: Value) -> Value {
    let region = &figure.regions[i];
    let mut out = json!({"type": "Feature", "geometry": geometry, "i": i, "name": region.name(), "id": region.id});
    for (j, panel) in drawn.panels.iter().enumerate() {
        let (r, g, b) = panel.colours[i].unwrap_or(crate::palette::rgb(MISSING.0));
        out[format!("c{j}")] = json!(format!("#{r:02x}{g:02x}{b:02x}"));
        out[format!("w{j}")] = json!(panel.words[i]);
    }
    for (k, row) in figure.rows.iter().enumerate() {
        let words = &row.words[i];
        out[format!("r{k}")] = json!(if words.is_empty() { "–" } else { words });
    }
    out
}

/// Name, id where it says more, the value of every panel, and the other lines.
fn tooltip(figure: &MapFigure, drawn: &Map) -> Value {
    // A line called "title" becomes the heading of a tooltip, one called "image" a picture.
    let mut used = vec!["title".to_owned(), "image".to_owned()];
    let mut line = |field: String, title: &str, otherwise: &str| {
        let title = if title.trim().is_empty() {
            otherwise
        } else {
            title
        };
        let mut name = title.to_owned();
        let mut n = 2;
        while used.contains(&name) {
            name = format!("{title} {n}");
            n += 1;
        }
        used.push(name.clone());
        json!({"field": field, "type": "nominal", "title": name})
    };
    let mut lines = vec![json!({"field": "name", "type": "nominal", "title": "title"})];
    if figure
        .regions
        .iter()
        .any(|r| r.name() != r.id && !r.id.is_empty())
    {
        lines.push(line("id".to_owned(), "id", "id"));
    }
    for (j, (panel, drawn)) in figure.panels.iter().zip(&drawn.panels).enumerate() {
        lines.push(line(format!("w{j}"), &drawn.title, &panel.value.label));
    }
    for (k, row) in figure.rows.iter().enumerate() {
        lines.push(line(format!("r{k}"), &row.name, "note"));
    }
    json!(lines)
}

fn map(drawn: &Map, panel: usize, tooltip: &Value) -> Value {
    let (wide, high) = drawn.size;
    // The grid has y downwards, like the screen; where the place is too high or too wide, the map
    // is in its middle.
    let scale = format!("min(width / {wide}, height / {high})");
    let middle = format!("[(width - {scale} * {wide}) / 2, (height - {scale} * {high}) / 2]");
    let mut layers = vec![json!({
        "data": {"name": "regions"},
        "mark": {"type": "geoshape", "stroke": drawn.panels[panel].border, "strokeWidth": drawn.border_width(), "strokeJoin": "round"},
        "encoding": {"fill": {"field": format!("c{panel}"), "type": "nominal", "scale": null, "legend": null}, "tooltip": tooltip},
    })];
    if drawn.panels[panel].colours.iter().any(Option::is_none) {
        layers.push(json!({
            "data": {"name": format!("hatched{panel}")},
            "mark": {"type": "geoshape", "fill": "transparent", "stroke": MISSING.1, "strokeWidth": 1},
            "encoding": {"tooltip": tooltip},
        }));
    }
    if let Some(bar) = &drawn.bar {
        let line = json!({"type": "Feature", "geometry": {"type": "LineString", "coordinates": [bar.from, bar.to]}});
        layers.push(json!({
            "name": "outline_bar",
            "data": {"values": [line]},
            "mark": {"type": "geoshape", "filled": false, "stroke": INK, "strokeWidth": 2},
        }));
        layers.push(json!({
            "name": "outline_length",
            "data": {"values": [{"x": bar.to[0], "y": bar.to[1], "words": bar.label}]},
            "mark": {"type": "text", "align": "left", "baseline": "middle", "dx": 8, "fontSize": 12, "color": MUTED},
            "encoding": {
                "longitude": {"field": "x", "type": "quantitative"}, "latitude": {"field": "y", "type": "quantitative"},
                "text": {"field": "words", "type": "nominal"},
            },
        }));
    }
    for (name, colour, line) in [
        ("outline_outer", "#000000", 3.4),
        ("outline_inner", "#ffffff", 1.5),
    ] {
        layers.push(json!({
            "name": name,
            "data": {"name": "regions"},
            "transform": [{"filter": "here !== null && datum.i === here"}],
            "mark": {"type": "geoshape", "fill": "transparent", "stroke": colour, "strokeWidth": line, "strokeJoin": "round"},
        }));
    }
    json!({
        "params": [{"name": "here", "value": null}],
        "projection": {"type": "identity", "scale": {"expr": scale}, "translate": {"expr": middle}},
        "layer": layers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Heading, MapPanel, MapRegion, MapRow};

    fn figure() -> MapFigure {
        let square = |x: f64, side: f64| {
            vec![
                [x, x],
                [x + side, x],
                [x + side, x + side],
                [x, x + side],
                [x, x],
            ]
        };
        let around = MapRegion::new(
            "A1",
            "Around",
            vec![vec![square(0.0, 4.0), square(1.0, 1.0)]],
        );
        let islands = MapRegion::new(
            "B2",
            "",
            vec![vec![square(1.0, 1.0)], vec![square(5.0, 1.0)]],
        );
        let panel = |title: &str, values| MapPanel {
            title: title.to_owned(),
            values,
            ..MapPanel::default()
        };
        let panels = vec![
            panel("image", vec![Some(1.0), Some(2.0)]),
            panel("Predicted", vec![Some(3.0), None]),
            panel("Predicted", vec![Some(3.0), Some(4.0)]),
        ];
        MapFigure::new(Heading::default(), vec![around, islands], panels)
            .unwrap()
            .with_row(MapRow::intervals(0.95, &[Some((1.0, 2.0)), None]))
            .unwrap()
    }

    #[test]
    fn regions_with_holes_and_parts_are_this_geojson() {
        let drawn = interactive(&figure());
        let regions = drawn.datasets["regions"].as_array().unwrap();
        insta::assert_snapshot!(regions[0]["geometry"], @r#"{"coordinates":[[[[0,667],[1333,667],[1333,2000],[0,2000],[0,667]],[[333,1667],[667,1667],[667,1333],[333,1333],[333,1667]]]],"type":"MultiPolygon"}"#);
        insta::assert_snapshot!(regions[1]["geometry"], @r#"{"coordinates":[[[[333,1333],[667,1333],[667,1667],[333,1667],[333,1333]]],[[[1667,0],[2000,0],[2000,333],[1667,333],[1667,0]]]],"type":"MultiPolygon"}"#);
        let told = &regions[1];
        assert_eq!(
            (&told["i"], &told["name"], &told["r0"]),
            (&json!(1), &json!("B2"), &json!("–"))
        );
        assert_eq!(
            (&told["c1"], &told["w1"]),
            (&json!(MISSING.0), &json!("no value"))
        );
    }

    #[test]
    fn only_the_panel_with_a_missing_value_is_hatched() {
        let drawn = interactive(&figure());
        assert_eq!(drawn.datasets["hatched1"].as_array().map(Vec::len), Some(1));
        assert!(drawn.datasets.get("hatched0").is_none());
        let layers: Vec<usize> = drawn
            .views
            .iter()
            .map(|v| v.spec["layer"].as_array().unwrap().len())
            .collect();
        assert_eq!(layers, [3, 4, 3]);
        assert_eq!(drawn.legend.len(), 1);
    }

    #[test]
    fn no_line_of_a_tooltip_hides_another() {
        let drawn = interactive(&figure());
        let lines = drawn.views[0].spec["layer"][0]["encoding"]["tooltip"]
            .as_array()
            .unwrap();
        let titles: Vec<&str> = lines.iter().map(|l| l["title"].as_str().unwrap()).collect();
        assert_eq!(
            titles,
            [
                "title",
                "id",
                "image 2",
                "Predicted",
                "Predicted 2",
                "95\u{a0}% interval"
            ]
        );
    }
}
