//! The regions of a map, and what their tooltips say besides.

use serde::{Deserialize, Serialize};

use crate::format::interval;
use crate::prepare::interval_words;

/// A closed ring of vertices `[x, y]`; the first may be repeated at the end.
pub type Ring = Vec<[f64; 2]>;

/// A named region of a map.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MapRegion {
    /// What joins it to a table, such as a code; told in the tooltip.
    pub id: String,
    /// Name for people; empty shows the id alone.
    pub label: String,
    /// The polygons of the region, each an outer ring followed by its holes. Rings may be closed or
    /// not and wound either way.
    pub parts: Vec<Vec<Ring>>,
}

impl MapRegion {
    /// A region from its polygons, each an outer ring followed by its holes.
    pub fn new(
        id: impl Into<String>,
        label: impl Into<String>,
        parts: impl Into<Vec<Vec<Ring>>>,
    ) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            parts: parts.into(),
        }
    }

    /// What people call it: the label, or else the id.
    pub fn name(&self) -> &str {
        if self.label.is_empty() {
            &self.id
        } else {
            &self.label
        }
    }
}

/// A line of every region's tooltip that has no map of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MapRow {
    /// Name of the line, such as "95 % interval".
    pub name: String,
    /// Words for each region; empty words leave the line out.
    pub words: Vec<String>,
}

impl MapRow {
    /// An interval for each region, none where it is missing; infinite ends are told in words.
    pub fn intervals(level: f64, ends: &[Option<(f64, f64)>]) -> Self {
        Self {
            name: interval_words(level),
            words: ends
                .iter()
                .map(|ends| ends.map_or_else(String::new, |(low, high)| interval(low, high)))
                .collect(),
        }
    }
}
