//! Changes of a map: a feature, a ring, a position, a property.

use serde_json::{Map, Value, json};

use super::Changed;
use crate::draw::Draw;

pub fn change(content: &[u8], draw: &mut Draw) -> Option<Changed> {
    let mut map: Value = serde_json::from_slice(content).ok()?;
    let what = match draw.below(12) {
        0 => whole(&mut map, draw)?,
        1 => deep(&mut map, draw)?,
        2..=4 => feature(&mut map, draw)?,
        _ => ring(&mut map, draw)?,
    };
    Some((serde_json::to_vec(&map).ok()?, what))
}

fn whole(map: &mut Value, draw: &mut Draw) -> Option<String> {
    let (key, value) = draw
        .of(&[
            ("type", json!("Topology")),
            ("type", json!(null)),
            ("type", json!("Feature")),
            ("features", json!([])),
            ("features", json!({})),
            ("features", json!([null])),
            (
                "crs",
                json!({"type": "name", "properties": {"name": "EPSG:3857"}}),
            ),
            ("crs", json!("EPSG:4326")),
            ("bbox", json!([0, 0])),
        ])
        .clone();
    map[key] = value;
    Some(format!("another `{key}` of the collection"))
}

/// Arrays within arrays, in place of coordinates or of a property.
fn deep(map: &mut Value, draw: &mut Draw) -> Option<String> {
    let mut value = json!(1);
    // Text of more than 128 levels is refused by the reader of JSON itself.
    let n = *draw.of(&[20_usize, 100, 126]);
    for _ in 0..n {
        value = json!([value]);
    }
    let place = draw.word(&[
        "/features/0/geometry/coordinates",
        "/features/0/properties",
        "/features/0/properties/k",
        "/features/0/id",
    ]);
    *map.pointer_mut(place)? = value;
    Some(format!("{n} arrays at {place}"))
}

fn feature(map: &mut Value, draw: &mut Draw) -> Option<String> {
    let features = map["features"].as_array_mut()?;
    let at = draw.below(features.len());
    let what = match draw.below(12) {
        0 => {
            features[at]["geometry"] = Value::Null;
            "no geometry"
        }
        1 => {
            features[at].as_object_mut()?.remove("geometry");
            "a geometry that is missing"
        }
        2 => {
            let copy = features[at].clone();
            features.push(copy);
            "again"
        }
        3 => {
            features.remove(at);
            "left out"
        }
        4 => {
            features[at]["properties"] = draw
                .of(&[json!(null), json!([]), json!({}), json!("k")])
                .clone();
            "other properties"
        }
        5 => {
            let value = draw
                .of(&[
                    json!(null),
                    json!(""),
                    json!(1e300),
                    json!(true),
                    json!({"a": 1}),
                    json!("k".repeat(70_000)),
                    json!(-1),
                    json!("\u{0}"),
                    json!("nan"),
                ])
                .clone();
            let properties: &mut Map<String, Value> = features[at]["properties"].as_object_mut()?;
            let keys: Vec<String> = properties.keys().cloned().collect();
            let key = draw.of(&keys).clone();
            properties.insert(key, value);
            "another property"
        }
        6 => {
            features[at]["id"] = draw
                .of(&[json!(null), json!(""), json!(0), json!([1]), json!(1e300)])
                .clone();
            "another id"
        }
        7 => {
            features[at]["type"] = json!("feature");
            "another type"
        }
        8 => {
            features[at]["geometry"]["type"] = draw
                .of(&[
                    json!("Point"),
                    json!("LineString"),
                    json!("GeometryCollection"),
                    json!("Curve"),
                    json!(null),
                    json!("MultiPolygon"),
                    json!("Polygon"),
                ])
                .clone();
            "another type of geometry"
        }
        9 => {
            let properties = features[at]["properties"].as_object_mut()?;
            for name in ["mean", "sd", "upper"] {
                properties.insert(name.into(), json!(1));
            }
            "properties called as those of predictions"
        }
        10 => {
            let other = draw.below(features.len());
            let geometry = features[other]["geometry"].clone();
            features[at]["geometry"] = geometry;
            "the geometry of another"
        }
        _ => {
            features[at]["geometry"]["coordinates"] = draw
                .of(&[
                    json!([]),
                    json!([[]]),
                    json!([[[]]]),
                    json!(null),
                    json!({}),
                    json!([[[0, 0]]]),
                    json!("0 0"),
                ])
                .clone();
            "other coordinates"
        }
    };
    Some(format!("feature {at}: {what}"))
}

/// The first ring of a feature.
fn ring_of(feature: &mut Value) -> Option<&mut Vec<Value>> {
    let is_one = feature["geometry"]["type"] == "Polygon";
    let place = if is_one {
        "/geometry/coordinates/0"
    } else {
        "/geometry/coordinates/0/0"
    };
    feature.pointer_mut(place)?.as_array_mut()
}

fn ring(map: &mut Value, draw: &mut Draw) -> Option<String> {
    let features = map["features"].as_array_mut()?;
    let feature = draw.below(features.len());
    let ring = ring_of(&mut features[feature])?;
    let at = draw.below(ring.len());
    let what = match draw.below(16) {
        0 => {
            ring.swap(1, 2);
            "crosses itself"
        }
        1 => {
            ring.pop();
            "is not closed"
        }
        2 => {
            ring.truncate(1 + draw.below(3));
            "has few vertices"
        }
        3 => {
            let copy = ring[at].clone();
            ring.insert(at, copy);
            "has a vertex twice"
        }
        4 => {
            ring.reverse();
            "runs the other way"
        }
        5 => {
            let x = ring[0][0].clone();
            ring.iter_mut().for_each(|position| position[0] = x.clone());
            "has no area"
        }
        6 => {
            let factor = *draw.of(&[1e-300, 1e-12, 1e-6, 1e6, 1e150, 1e308]);
            for position in ring.iter_mut() {
                let scaled = |value: &Value| value.as_f64().map(|x| x * factor);
                let (x, y) = (scaled(&position[0])?, scaled(&position[1])?);
                *position = json!([x, y]);
            }
            "has another size"
        }
        7 => {
            let (x, y) = (ring[at][0].clone(), ring[at][1].clone());
            ring[at] = json!([x, y, 100.0]);
            "has an altitude"
        }
        8 => {
            ring[at] = draw
                .of(&[
                    json!([1]),
                    json!([]),
                    json!(null),
                    json!("0,0"),
                    json!([null, 1]),
                    json!(["1", 2]),
                    json!([[0, 0]]),
                ])
                .clone();
            "has a broken position"
        }
        9 => {
            let spike = json!([30.0, 60.0]);
            let copy = ring[at].clone();
            ring.insert(at, spike);
            ring.insert(at, copy);
            "has a spike"
        }
        10 => {
            let (first, last) = (ring[0].clone(), ring.len());
            ring.truncate(last - 1);
            let x = first[0].as_f64()? + 1e-13;
            ring.push(json!([x, first[1].clone()]));
            "closes next to where it began"
        }
        11 => {
            *ring = (0..8)
                .map(|k| json!([f64::from(k) * 51.0 - 180.0, 80.0]))
                .collect();
            "goes round the pole"
        }
        _ => {
            let value = draw
                .of(&[
                    json!(1e300),
                    json!(-1e300),
                    json!(1e15),
                    json!(1e-300),
                    json!(181),
                    json!(-400),
                    json!(90.0),
                    json!(1e5),
                    json!(5e-324),
                ])
                .clone();
            ring[at][draw.below(2)] = value;
            "has a vertex far away"
        }
    };
    Some(format!("feature {feature}: its ring {what}"))
}
