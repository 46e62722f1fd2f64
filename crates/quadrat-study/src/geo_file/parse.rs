//! Reading the text of a GeoJSON file into features that know their bytes.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Feature, GeoFile, entries, key_text};
use crate::diagnostic::{Place, Problem, Problems, Source, Spot, shown};
use crate::numbers::count;

/// How many broken features are listed.
const LISTED: usize = 20;

impl GeoFile {
    /// Reads a file; what is wrong is said with its line.
    pub fn parse(bytes: Vec<u8>, name: &str) -> Result<Self, Problems> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let place = Place {
                file: name.to_owned(),
                spot: Some(Spot::in_bytes(error.as_bytes(), at..at + 1)),
                column_name: None,
            };
            Problem::new(format!("{name} is not valid UTF-8"))
                .at(place)
                .remedy("save it as UTF-8")
        })?;
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        let whole = Whole {
            source: Source::named(name.to_owned(), text.as_str().into()),
        };
        let (features, crs, array) = whole.features()?;
        let mut properties: Vec<String> = Vec::new();
        let mut known: HashSet<&str> = HashSet::new();
        for (name, _) in features.iter().flat_map(|feature| &feature.entries) {
            if known.insert(name) {
                properties.push(name.clone());
            }
        }
        Ok(Self {
            name: name.to_owned(),
            features,
            properties,
            crs,
            array,
            text,
        })
    }
}

struct Whole {
    source: Source,
}

/// Where a feature is broken, what is wrong, and the remedy.
type Broken = (Range<usize>, String, &'static str);

type Parts = (
    Vec<Feature>,
    Option<(String, Range<usize>)>,
    Option<Range<usize>>,
);

impl Whole {
    fn text(&self) -> &str {
        &self.source.text
    }

    /// The bytes of a part of the text.
    fn range(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr() as usize - self.text().as_ptr() as usize;
        start..start + part.len()
    }

    fn refuse(&self, at: &Range<usize>, message: impl Into<String>, remedy: &str) -> Problem {
        Problem::new(message)
            .at(self.source.place(at))
            .remedy(remedy)
    }

    /// A syntax error at its line and column.
    fn broken(&self, error: &serde_json::Error) -> Problem {
        let at = offset(self.text(), error.line(), error.column());
        syntax(&self.source, at, error)
    }

    fn features(&self) -> Result<Parts, Problems> {
        const LIKE: &str =
            "a GeoJSON file is `{\"type\": \"FeatureCollection\", \"features\": [..]}`";
        let text = self.text();
        if text.trim().is_empty() {
            let name = &self.source.name;
            return Err(Problem::new(format!("{name} is empty"))
                .at(self.source.place(&(0..0)))
                .remedy(LIKE)
                .into());
        }
        let root: &RawValue = serde_json::from_str(text).map_err(|error| self.broken(&error))?;
        let span = self.range(root.get());
        let head = span.start..span.start + 1;
        let not_geo = |message: &str| Problems::from(self.refuse(&head, message, LIKE));
        if !root.get().starts_with('{') {
            return Err(not_geo("this is JSON, but not GeoJSON: it is no object"));
        }
        let members = entries(text, &span).map_err(|error| self.broken(&error))?;
        let get = |name: &str| {
            let found = members.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, range)| range.clone())
        };
        let value = |range: &Range<usize>| -> Option<Value> {
            serde_json::from_str(&text[range.clone()]).ok()
        };
        let kind = get("type").and_then(|range| value(&range));
        let crs = get("crs").and_then(|range| {
            let name = value(&range)?;
            let name = name.pointer("/properties/name")?.as_str()?.to_owned();
            Some((name, range))
        });
        match kind.as_ref().and_then(Value::as_str) {
            Some("FeatureCollection") => {}
            Some("Feature") => {
                let feature = self.feature(&span, 1).map_err(|(at, message, remedy)| {
                    Problems::from(self.refuse(&at, message, remedy))
                })?;
                return Ok((vec![feature], crs, None));
            }
            Some(
                other @ ("Point" | "MultiPoint" | "LineString" | "MultiLineString" | "Polygon"
                | "MultiPolygon" | "GeometryCollection"),
            ) => {
                return Err(not_geo(&format!("this is a bare {other} without features")));
            }
            Some("Topology") => {
                return Err(self
                    .refuse(
                        &head,
                        "this is TopoJSON, not GeoJSON",
                        "convert it, such as with `topo2geo`",
                    )
                    .into());
            }
            Some(other) => {
                let message = format!(
                    "this is JSON, but not GeoJSON: its `type` is `{}`",
                    shown(other)
                );
                return Err(not_geo(&message));
            }
            None => return Err(not_geo("this is JSON, but not GeoJSON: it has no `type`")),
        }
        let Some(range) = get("features").filter(|range| text[range.clone()].starts_with('['))
        else {
            return Err(not_geo("the collection has no array `features`"));
        };
        let raw: Vec<&RawValue> =
            serde_json::from_str(&text[range.clone()]).map_err(|error| self.broken(&error))?;
        if raw.is_empty() {
            return Err(self
                .refuse(
                    &range,
                    "the collection has no features",
                    "add at least one feature with a polygon",
                )
                .into());
        }
        let mut features = Vec::with_capacity(raw.len());
        let mut problems = Problems::default();
        let (mut line, mut seen, mut broken) = (1, 0, 0);
        for raw in raw {
            let span = self.range(raw.get());
            line += text.as_bytes()[seen..span.start]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            seen = span.start;
            match self.feature(&span, line) {
                Ok(feature) => features.push(feature),
                // To find its place the file is read from its start.
                Err((at, message, remedy)) => {
                    broken += 1;
                    if broken <= LISTED {
                        problems.push(self.refuse(&at, message, remedy));
                    }
                }
            }
        }
        if broken > LISTED {
            let features = count(broken, "feature");
            let message = format!("{}: {features} cannot be used", self.source.name);
            problems.push(Problem::new(message).tally());
        }
        problems.or((features, crs, Some(range.start + 1..range.end - 1)))
    }

    /// One feature; the error is where it is broken, what is wrong, and the remedy.
    fn feature(&self, span: &Range<usize>, line: usize) -> Result<Feature, Broken> {
        let text = self.text();
        let head = span.start..span.start + 1;
        let like =
            "a feature is `{\"type\": \"Feature\", \"geometry\": {..}, \"properties\": {..}}`";
        if !text[span.clone()].starts_with('{') {
            return Err((head, "this is no feature".to_owned(), like));
        }
        let members =
            entries(text, span).map_err(|error| (head.clone(), error.to_string(), like))?;
        let get = |name: &str| {
            let found = members.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, range)| range.clone())
        };
        let value = |range: Range<usize>| -> Option<Value> {
            serde_json::from_str(&text[range])
                .ok()
                .filter(|value: &Value| !value.is_null())
        };
        if get("type").and_then(value) != Some(Value::from("Feature")) {
            let message = "this is no feature: its `type` is not `Feature`";
            return Err((head, message.to_owned(), like));
        }
        let id = match get("id").and_then(value) {
            None => None,
            Some(id @ (Value::String(_) | Value::Number(_))) => Some(key_text(&id)),
            Some(_) => {
                let at = get("id").unwrap_or(head);
                let message = "the `id` of a feature must be a text or a number";
                return Err((at, message.to_owned(), "mend the id, or remove it"));
            }
        };
        let properties = get("properties");
        let entries = match &properties {
            None => Vec::new(),
            Some(range) => entries(text, range).map_err(|_| {
                let message = "`properties` must be an object or null";
                (range.clone(), message.to_owned(), like)
            })?,
        };
        Ok(Feature {
            line,
            id: id.filter(|id| !id.is_empty()),
            geometry: get("geometry").filter(|range| &text[range.clone()] != "null"),
            properties,
            entries,
            span: span.clone(),
        })
    }
}

/// The byte of a line and column (in bytes) as serde_json counts them, from 1.
pub(super) fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let at = (start + column.saturating_sub(1)).min(text.len().saturating_sub(1));
    (0..=at)
        .rev()
        .find(|&i| text.is_char_boundary(i))
        .unwrap_or(0)
}

/// A syntax error at a byte, with a hint where the cause is common.
fn syntax(source: &Source, at: usize, error: &serde_json::Error) -> Problem {
    let text = &source.text[at..];
    let near = text.trim_start_matches('-');
    let no_number = ["NaN", "nan", "Infinity", "inf"]
        .into_iter()
        .find(|word| near.starts_with(word));
    let words = error.to_string();
    let fact = words.split(" at line ").next().unwrap_or(&words);
    let problem = match no_number {
        Some(word) => Problem::new(format!("`{word}` is no number in JSON"))
            .remedy("write null where a property is missing; a coordinate must be a finite number"),
        None if after_comma(&source.text[..at]) && text.starts_with([']', '}']) => {
            Problem::new("this is not valid JSON: a trailing comma").remedy("remove the comma")
        }
        None if error.is_eof() => Problem::new(format!("the file ends too early: {fact}"))
            .remedy("download or write it again: its end is missing"),
        None => Problem::new(format!("this is not valid JSON: {fact}"))
            .remedy("mend the syntax: texts in double quotes, no comments, no trailing commas"),
    };
    problem.at(source.place(&(at..at + 1)))
}

fn after_comma(text: &str) -> bool {
    text.trim_end().ends_with(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "{\"type\": \"FeatureCollection\", \"features\": [\n {\"type\": \"Feature\", \"id\": 7, \"geometry\": null, \"properties\": {\"b\": 1.50, \"a\": \"x\"}},\n {\"type\": \"Feature\", \"geometry\": {\"type\": \"Point\", \"coordinates\": [1, 2]}, \"properties\": {\"c\": 2.0}}\n]}";

    #[test]
    fn features_know_their_lines_and_properties() {
        let file = GeoFile::parse(TWO.into(), "t.geojson").unwrap();
        assert_eq!(file.properties, ["b", "a", "c"]);
        assert_eq!(file.features[1].line, 3);
        assert_eq!(file.features[0].id.as_deref(), Some("7"));
        assert!(file.features[0].geometry.is_none() && file.features[1].geometry.is_some());
        let spot = file.property_spot(1, "c");
        assert_eq!(
            (spot.line, spot.text.get(spot.column - 1..spot.column + 2)),
            (3, Some("2.0"))
        );
        assert_eq!(key_text(&file.property(1, "c").unwrap()), "2");
        assert_eq!(file.property(0, "c"), None);
    }

    #[test]
    fn broken_syntax_is_pointed_at() {
        for (from, to, fact, line, at) in [
            ("1.50", "NaN", "`NaN` is no number in JSON", 2, "NaN"),
            ("[1, 2]", "[1, 2,]", "trailing comma", 3, "]"),
            ("\n]}", "", "ends too early", 3, "}"),
        ] {
            let problems = GeoFile::parse(TWO.replace(from, to).into(), "t.geojson").unwrap_err();
            let spot = problems.0[0].place.clone().unwrap().spot.unwrap();
            assert!(problems.0[0].message.contains(fact), "{problems}");
            assert_eq!(spot.line, line, "{problems}");
            assert!(spot.text[spot.column - 1..].starts_with(at), "{problems}");
        }
    }

    #[test]
    fn other_json_is_refused() {
        for (text, fact) in [
            ("[1]", "it is no object"),
            ("{}", "it has no `type`"),
            ("{\"type\": \"Topology\"}", "TopoJSON"),
            (
                "{\"type\": \"Polygon\", \"coordinates\": []}",
                "bare Polygon",
            ),
            ("{\"type\": \"FeatureCollection\"}", "no array `features`"),
            (
                "{\"type\": \"FeatureCollection\", \"features\": []}",
                "has no features",
            ),
            (
                "{\"type\": \"FeatureCollection\", \"features\": [3]}",
                "this is no feature",
            ),
            (" \n", "is empty"),
        ] {
            let problems = GeoFile::parse(text.into(), "t.geojson").unwrap_err();
            assert!(problems.to_string().contains(fact), "{problems}");
        }
    }
}
