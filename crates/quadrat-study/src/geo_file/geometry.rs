//! The polygons of features, in the coordinates of the file.

use std::ops::Range;

use geojson::Position;
use quadrat::support::{Polygon, Ring, RingPlace};
use serde_json::Value;

use super::faults::{Bare, Coordinates, Fault, Faults, Unusable, position_at};
use super::parse::offset;
use super::{GeoFile, entries};
use crate::diagnostic::{Problems, Remedy, shown};
use crate::geographic::{continue_over_antimeridian, goes_round};
use crate::numbers::count;

/// How many features without a geometry are named.
const NAMED: usize = 5;

/// The polygon of one feature.
#[derive(Debug, Clone)]
pub struct Outline {
    /// In the coordinates of the file.
    pub polygon: Polygon,
    /// Whether the file has altitudes, which are not used.
    altitude: bool,
    /// What was mended, in words.
    mended: Vec<String>,
}

/// What to do with a ring round the earth.
const SPLIT: &str = "split it along meridians into parts less than 180 degrees wide";
/// What to do where there is no map of degrees.
const PROJECT: &str = "project the file yourself and";

/// A polygon of the file: rings of positions.
type Rings = Vec<Vec<Position>>;

/// The polygons of every feature, which people know by their property `key`; what was mended is
/// told in `warnings`. In degrees, a ring that steps over the antimeridian is continued beyond 180.
/// Features without a geometry have none where they are left out, and are told too.
pub fn outlines(
    file: &GeoFile,
    degrees: bool,
    key: Option<&str>,
    bare: Bare,
    warnings: &mut Vec<String>,
) -> Result<Vec<Option<Outline>>, Problems> {
    let mut outlines = Vec::with_capacity(file.features.len());
    let mut faults = Faults::default();
    for feature in 0..file.features.len() {
        match outline(file, feature, degrees, key) {
            Ok(outline) => outlines.push(Some(outline)),
            Err(why) if bare == Bare::LeftOut && why.is_bare() => outlines.push(None),
            Err(why) => faults.add(why, bare, |why| why.told(file, &file.called(feature, key))),
        }
    }
    let outlines = faults.problems(file).or(outlines)?;
    if bare == Bare::LeftOut {
        warnings.push(without_geometry(file, key, &outlines));
    }
    let raised = outlines
        .iter()
        .flatten()
        .filter(|outline| outline.altitude)
        .count();
    if raised > 0 {
        warnings.push(format!(
            "{}: the third coordinate of {} (altitude) is not used",
            file.name,
            count(raised, "feature")
        ));
    }
    let mended = outlines.iter().enumerate().filter_map(|(i, outline)| {
        let first = outline.as_ref()?.mended.first()?;
        Some(format!("{}:{} {first}", file.name, file.features[i].line))
    });
    let mended: Vec<String> = mended.collect();
    if let Some(first) = mended.first() {
        let features = count(mended.len(), "feature");
        warnings.push(match mended.len() {
            1 => format!("a polygon was mended: {first}"),
            _ => format!("the polygons of {features} were mended, such as {first}"),
        });
    }
    Ok(outlines)
}

/// How many features are left out, and the first of them.
fn without_geometry(file: &GeoFile, key: Option<&str>, outlines: &[Option<Outline>]) -> String {
    let bare = || (0..outlines.len()).filter(|&feature| outlines[feature].is_none());
    let number = bare().count();
    if number == 0 {
        return format!(
            "{}: no feature is without a geometry, so that `empty` leaves none out",
            file.name
        );
    }
    let named: Vec<String> = bare()
        .take(NAMED)
        .map(|feature| file.called(feature, key))
        .collect();
    format!(
        "{}: {} without a geometry left out: {}{}",
        file.name,
        count(number, "feature"),
        named.join(", "),
        if number > NAMED { ", .." } else { "" }
    )
}

fn outline(
    file: &GeoFile,
    at: usize,
    degrees: bool,
    key: Option<&str>,
) -> Result<Outline, Unusable> {
    let feature = &file.features[at];
    let called = file.called(at, key);
    let Some(range) = &feature.geometry else {
        let start = feature.span.start;
        return Err(Fault::bare(format!("{called} has no geometry"), start..start + 1).into());
    };
    let (parts, coordinates) = parts(file, &called, range)?;
    let mut rings = Vec::with_capacity(parts.len());
    let (mut altitude, mut open) = (false, 0);
    for (p, part) in parts.iter().enumerate() {
        let mut part_rings: Vec<Ring> = Vec::with_capacity(part.len());
        for (r, ring) in part.iter().enumerate() {
            let mut vertices = Ring::with_capacity(ring.len());
            for (v, position) in ring.iter().enumerate() {
                let &[x, y, ..] = position.as_slice() else {
                    return Err(Fault::new(
                        format!(
                            "{called}: this position has {}, it needs two",
                            count(position.len(), "coordinate")
                        ),
                        position_at(file, &coordinates, &[p, r, v]),
                        "write `[longitude, latitude]`",
                    )
                    .into());
                };
                altitude |= position.len() > 2;
                vertices.push([x, y]);
            }
            if vertices.len() > 1 && vertices.first() != vertices.last() {
                open += 1;
            }
            if degrees {
                if let Some(what) = goes_round(&vertices) {
                    let ring = RingPlace { part: p, ring: r };
                    return Err(Fault::new(
                        format!(
                            "{called}: {ring} goes round {what}, so that longitude and latitude do not tell its inside"
                        ),
                        position_at(file, &coordinates, &[p, r]),
                        Remedy::or_flags(
                            format!("{SPLIT}, or {PROJECT} add `planar = true`"),
                            format!("{SPLIT}, or {PROJECT} add `--planar`"),
                        ),
                    )
                    .into());
                }
                continue_over_antimeridian(&mut vertices);
            }
            part_rings.push(vertices);
        }
        rings.push(part_rings);
    }
    let (polygon, mends) =
        Polygon::mended(rings).map_err(|error| Unusable::Polygon(error, coordinates))?;
    let mut mended: Vec<String> = mends
        .iter()
        .map(|mend| format!("({called}): {mend}"))
        .collect();
    if open > 0 {
        mended.push(format!(
            "({called}): {} not closed",
            count(open, "ring") + if open == 1 { " was" } else { " were" }
        ));
    }
    Ok(Outline {
        polygon,
        altitude,
        mended,
    })
}

fn parts(
    file: &GeoFile,
    called: &str,
    range: &Range<usize>,
) -> Result<(Vec<Rings>, Coordinates), Fault> {
    const LIKE: &str = "regions are of the types Polygon and MultiPolygon";
    let head = range.start..range.start + 1;
    let refuse = |message: String| Fault::new(message, head.clone(), LIKE);
    let members = entries(&file.text, range)
        .ok()
        .filter(|_| file.text[range.clone()].starts_with('{'))
        .ok_or_else(|| refuse(format!("the geometry of {called} is no object")))?;
    let get = |name: &str| members.iter().rev().find(|(known, _)| known == name);
    let kind = get("type")
        .and_then(|(_, range)| serde_json::from_str::<Value>(&file.text[range.clone()]).ok());
    let one = match kind.as_ref().and_then(Value::as_str) {
        Some("Polygon") => true,
        Some("MultiPolygon") => false,
        Some(
            other @ ("Point" | "MultiPoint" | "LineString" | "MultiLineString"
            | "GeometryCollection"),
        ) => {
            return Err(
                refuse(format!("{called} is a {other}, which has no area")).remedy(
                    if other.ends_with("Point") {
                        "give points as a table with `point`, or a `bag` of points"
                    } else {
                        "remove it, or give its polygons as one MultiPolygon"
                    },
                ),
            );
        }
        Some(other) => {
            return Err(refuse(format!(
                "{called} has the unknown geometry `{}`",
                shown(other)
            )));
        }
        None => return Err(refuse(format!("the geometry of {called} has no `type`"))),
    };
    let Some((_, whole)) = get("coordinates") else {
        return Err(refuse(format!(
            "the geometry of {called} has no `coordinates`"
        )));
    };
    let text = &file.text[whole.clone()];
    let read: serde_json::Result<Vec<Rings>> = if one {
        serde_json::from_str(text).map(|rings| vec![rings])
    } else {
        serde_json::from_str(text)
    };
    let parts = read.map_err(|error| {
        let byte = whole.start + offset(text, error.line(), error.column());
        let words = error.to_string();
        let fact = words.split(" at line ").next().unwrap_or(&words);
        let fact = fact.replace("invalid type: ", "there is ");
        Fault::new(
            format!("{called}: in the coordinates {fact}"),
            byte..byte + 1,
            "a polygon is an array of rings, a ring an array of positions, a position two finite numbers",
        )
    })?;
    let whole = whole.clone();
    if parts.iter().all(|part| part.iter().all(Vec::is_empty)) {
        return Err(Fault::bare(
            format!("the polygon of {called} is empty"),
            whole,
        ));
    }
    Ok((parts, Coordinates { whole, one }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlined(geometry: &str) -> Result<(Vec<Outline>, Vec<String>), Problems> {
        let text = format!(
            "{{\"type\": \"FeatureCollection\", \"features\": [\n{{\"type\": \"Feature\", \"id\": \"a\", \"geometry\": {geometry}, \"properties\": {{}}}}]}}"
        );
        let file = GeoFile::parse(text.into(), "t.geojson").unwrap();
        let mut warnings = Vec::new();
        let all = outlines(&file, true, None, Bare::Refused, &mut warnings)?;
        Ok((all.into_iter().flatten().collect(), warnings))
    }

    #[test]
    fn polygons_with_holes_and_several_parts_are_read() {
        let (outlines, warnings) = outlined(
            r#"{"type": "MultiPolygon", "coordinates": [[[[0,0],[4,0],[4,4],[0,4],[0,0]], [[1,1],[1,2],[2,2],[2,1],[1,1]]], [[[9,0],[10,0],[10,1],[9,0]]]]}"#,
        )
        .unwrap();
        // 16 - 1 + 1/2, exact in binary.
        assert_eq!(outlines[0].polygon.area(), 15.5);
        assert!(warnings.is_empty());
    }

    #[test]
    fn only_studies_of_regions_are_told_of_the_key_that_leaves_features_out() {
        let text = r#"{"type": "FeatureCollection", "features": [
            {"type": "Feature", "geometry": null, "properties": {}}]}"#;
        let file = GeoFile::parse(text.into(), "t.geojson").unwrap();
        let told = |bare| {
            let all = outlines(&file, false, None, bare, &mut Vec::new());
            all.unwrap_err().to_string()
        };
        assert!(told(Bare::Unasked).contains("empty = \"skip\""));
        assert!(told(Bare::Refused).contains("or remove it"));
        assert!(!told(Bare::Refused).contains("skip"));
    }

    #[test]
    fn a_ring_over_the_antimeridian_stays_whole() {
        let (outlines, _) = outlined(
            r#"{"type": "Polygon", "coordinates": [[[179,0],[-179,0],[-179,1],[179,1],[179,0]]]}"#,
        )
        .unwrap();
        assert_eq!(outlines[0].polygon.bounds()[0], (179.0, 181.0));
    }

    #[test]
    fn what_goes_round_a_pole_or_all_longitudes_is_told() {
        let cap: Ring = (0..36)
            .map(|k| [10.0 * f64::from(k) - 180.0, 80.0])
            .collect();
        let closed: Ring = cap.iter().copied().chain([[180.0, 80.0]]).collect();
        let seam: Ring = closed
            .iter()
            .copied()
            .chain([[180.0, 90.0], [-180.0, 90.0]])
            .collect();
        for ring in [&cap, &closed, &seam] {
            assert_eq!(goes_round(ring), Some("a pole"), "{ring:?}");
        }
        let band = |south, north| {
            vec![
                [-180.0, south],
                [180.0, south],
                [180.0, north],
                [-180.0, north],
                [-180.0, south],
            ]
        };
        assert_eq!(goes_round(&band(-90.0, -70.0)), Some("all longitudes"));
        assert_eq!(goes_round(&band(-90.0, 90.0)), Some("all longitudes"));
        // Over the antimeridian, with vertices on both sides of it; narrow; in metres; no ring.
        for fine in [
            vec![
                [179.0, 0.0],
                [180.0, 0.0],
                [-180.0, 0.0],
                [-179.0, 0.0],
                [-179.0, 1.0],
                [179.0, 1.0],
            ],
            vec![[350.0, 10.0], [352.0, 10.0], [352.0, 12.0]],
            vec![[0.0, 0.0], [5e5, 0.0], [5e5, 5e5]],
            vec![[-180.0, 0.0], [180.0, 0.0]],
            vec![[5.0, 0.0], [5.0, 1.0], [5.0, 2.0]],
        ] {
            assert_eq!(goes_round(&fine), None, "{fine:?}");
        }
    }

    #[test]
    fn open_rings_and_altitudes_are_told() {
        let (outlines, warnings) =
            outlined(r#"{"type": "Polygon", "coordinates": [[[0,0,5],[4,0,5],[4,4,5],[0,4,5]]]}"#)
                .unwrap();
        assert_eq!(outlines[0].polygon.area(), 16.0);
        assert!(warnings[0].contains("altitude"), "{warnings:?}");
        assert!(
            warnings[1].contains("t.geojson:2 (the feature with id `a`): 1 ring was not closed"),
            "{warnings:?}"
        );
    }

    #[test]
    fn a_broken_position_is_pointed_at() {
        for (position, fact, token) in [
            ("[4]", "this position has 1 coordinate", "[4]"),
            ("[4,null]", "in the coordinates there is null", "null"),
            (
                "[4,\"4\"]",
                "in the coordinates there is string \"4\"",
                "\"4\"",
            ),
        ] {
            let geometry = format!(
                r#"{{"type": "Polygon", "coordinates": [[[0,0],[4,0],{position},[0,0]]]}}"#
            );
            let problems = outlined(&geometry).unwrap_err();
            let spot = problems.0[0].place.clone().unwrap().spot.unwrap();
            assert!(problems.0[0].message.contains(fact), "{problems}");
            let start = spot.text.find(token).unwrap();
            assert!(
                (start..start + token.len()).contains(&(spot.column - 1)),
                "{problems}"
            );
        }
    }
}
