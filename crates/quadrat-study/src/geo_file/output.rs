//! The text of a GeoJSON file again, with more properties; all else stays byte for byte.

use std::io::{self, Write};

use serde_json::Value;

use super::{Feature, GeoFile};

/// Writes one feature per entry of `rows`, each that of the input with `more(row)` added to its
/// properties. A name that the feature has already keeps its old value.
pub fn write(
    out: &mut dyn Write,
    file: &GeoFile,
    rows: &[usize],
    more: impl Fn(usize) -> Vec<(String, Value)>,
) -> io::Result<()> {
    let text = &file.text;
    let (before, after) = match &file.array {
        Some(array) => (&text[..array.start], &text[array.end..]),
        None => ("{\"type\": \"FeatureCollection\", \"features\": [", "]}"),
    };
    write!(out, "{}", before.trim_start())?;
    for (row, &at) in rows.iter().enumerate() {
        write!(out, "{}", if row == 0 { "\n" } else { ",\n" })?;
        feature(out, text, &file.features[at], more(row))?;
    }
    writeln!(out, "\n{}", after.trim())
}

fn feature(
    out: &mut dyn Write,
    text: &str,
    feature: &Feature,
    mut more: Vec<(String, Value)>,
) -> io::Result<()> {
    more.retain(|(name, _)| feature.property(name).is_none());
    let mut added = String::new();
    for (i, (name, value)) in more.iter().enumerate() {
        added.push_str(if i == 0 { "" } else { ", " });
        added.push_str(&format!("{}: {value}", Value::from(name.as_str())));
    }
    let span = &feature.span;
    match &feature.properties {
        None => {
            let end = &text[span.start..span.end - 1];
            write!(out, "{}, \"properties\": {{{added}}}}}", end.trim_end())
        }
        Some(range) => {
            let properties = match text[range.clone()].strip_suffix('}') {
                None => format!("{{{added}}}"),
                Some(_) if feature.entries.is_empty() => format!("{{{added}}}"),
                Some(_) if more.is_empty() => text[range.clone()].to_owned(),
                Some(open) => format!("{}, {added}}}", open.trim_end()),
            };
            let (before, after) = (&text[span.start..range.start], &text[range.end..span.end]);
            write!(out, "{before}{properties}{after}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, rows: &[usize]) -> String {
        let file = GeoFile::parse(text.into(), "t.geojson").unwrap();
        let mut out = Vec::new();
        write(&mut out, &file, rows, |row| {
            vec![("mean".to_owned(), Value::from(row as f64 + 0.5))]
        })
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        let text = r#"{"type": "FeatureCollection", "name": "n", "features": [
{"type": "Feature", "properties": {"a": 1.50 }, "bbox": [0,1], "geometry": null},
{"type": "Feature", "properties": null, "geometry": null},
{"type": "Feature", "geometry": null}
], "more": 1e400}"#;
        let expected = r#"{"type": "FeatureCollection", "name": "n", "features": [
{"type": "Feature", "properties": {"a": 1.50, "mean": 0.5}, "bbox": [0,1], "geometry": null},
{"type": "Feature", "properties": {"mean": 1.5}, "geometry": null},
{"type": "Feature", "geometry": null, "properties": {"mean": 2.5}},
{"type": "Feature", "properties": {"a": 1.50, "mean": 3.5}, "bbox": [0,1], "geometry": null}
], "more": 1e400}
"#;
        assert_eq!(written(text, &[0, 1, 2, 0]), expected);
    }

    #[test]
    fn one_feature_becomes_a_collection() {
        let text = r#"{"type": "Feature", "properties": {}, "geometry": null}"#;
        let again = written(text, &[0]);
        let value: Value = serde_json::from_str(&again).unwrap();
        assert_eq!(value["features"][0]["properties"]["mean"], 0.5);
    }
}
