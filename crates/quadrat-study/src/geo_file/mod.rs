//! GeoJSON files: features that know where they stand in the text, their polygons, their properties
//! as a table, and the same text again with predictions among the properties.

mod entries;
mod faults;
mod geometry;
mod output;
mod parse;
pub mod wkb;

use std::ops::Range;

use serde_json::Value;

use crate::diagnostic::{Place, Spot, shown};
use entries::Entries;

pub use faults::Bare;
pub use geometry::{Outline, outlines};
pub use output::write;

/// A GeoJSON file whose syntax is known to be right.
#[derive(Debug)]
pub struct GeoFile {
    /// The path as it is shown to people.
    pub name: String,
    /// Its features, in order; at least one.
    pub features: Vec<Feature>,
    /// Names of all properties in order of first appearance.
    pub properties: Vec<String>,
    /// The name of the coordinate system of a `crs` member (of GeoJSON before 2016).
    pub crs: Option<(String, Range<usize>)>,
    /// Where the array of features stands, without its brackets; absent when the file is one
    /// feature.
    array: Option<Range<usize>>,
    text: String,
}

/// A feature; ranges are bytes of the file.
#[derive(Debug)]
pub struct Feature {
    /// The whole feature.
    pub span: Range<usize>,
    /// Its line, from 1.
    pub line: usize,
    /// Its `id`, as text.
    pub id: Option<String>,
    /// Its geometry; absent when null or missing.
    pub geometry: Option<Range<usize>>,
    /// The value of its `properties`, which may be null; absent when missing.
    properties: Option<Range<usize>>,
    /// Names and values of its properties.
    entries: Vec<(String, Range<usize>)>,
}

impl GeoFile {
    /// A property as the file has it; `None` when it is missing or null.
    pub fn property(&self, feature: usize, name: &str) -> Option<Value> {
        let range = self.features[feature].property(name)?;
        let value = serde_json::from_str(&self.text[range.clone()]).ok()?;
        Some(value).filter(|value: &Value| !value.is_null())
    }

    /// Where a property stands, or the feature when it lacks it.
    pub fn property_spot(&self, feature: usize, name: &str) -> Spot {
        let feature = &self.features[feature];
        let head = feature.span.start..feature.span.start + 1;
        self.spot(&feature.property(name).cloned().unwrap_or(head))
    }

    /// A stretch of the file, cut to its first line.
    pub fn spot(&self, range: &Range<usize>) -> Spot {
        Spot::in_bytes(self.text.as_bytes(), range.clone())
    }

    /// A stretch of the file as a place.
    pub fn place(&self, range: &Range<usize>) -> Place {
        Place {
            file: self.name.clone(),
            spot: Some(self.spot(range)),
            column_name: None,
        }
    }

    /// Where a feature begins.
    pub fn feature_place(&self, feature: usize) -> Place {
        let start = self.features[feature].span.start;
        self.place(&(start..start + 1))
    }

    /// Whether every feature has an `id`.
    pub fn has_ids(&self) -> bool {
        self.features.iter().all(|feature| feature.id.is_some())
    }

    /// A feature in words: its property `key` when it has that, else its `id`, else its number.
    pub fn called(&self, feature: usize, key: Option<&str>) -> String {
        let property = key.and_then(|key| Some((key, key_text(&self.property(feature, key)?))));
        let id = self.features[feature].id.clone().map(|id| ("id", id));
        match property.or(id) {
            Some((key, value)) => {
                let (key, value) = (shown(key), shown(&value));
                format!("the feature with {key} `{value}`")
            }
            None => format!("feature {}", feature + 1),
        }
    }
}

impl Feature {
    fn property(&self, name: &str) -> Option<&Range<usize>> {
        let found = self.entries.iter().find(|(known, _)| known == name);
        found.map(|(_, range)| range)
    }
}

/// A value of JSON as a key: whole numbers without a decimal point, texts as they are.
pub fn key_text(value: &Value) -> String {
    /// Beyond this not every whole number is a double.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(x) if number.is_f64() && x.fract() == 0.0 && x.abs() < WHOLE => format!("{x:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The properties of a range, in the order of the file.
fn entries(text: &str, range: &Range<usize>) -> serde_json::Result<Vec<(String, Range<usize>)>> {
    let Entries(entries) = serde_json::from_str(&text[range.clone()])?;
    let part = &text[range.clone()];
    let place = |raw: &str| {
        let start = range.start + (raw.as_ptr() as usize - part.as_ptr() as usize);
        start..start + raw.len()
    };
    Ok(entries
        .into_iter()
        .map(|(name, raw)| (name, place(raw.get())))
        .collect())
}
