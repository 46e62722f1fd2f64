//! Polygons of a GeoJSON file: inside of which alone values can be, or that rows lie in.

use std::path::Path;

use quadrat::support::Polygon;

use crate::diagnostic::Problems;
use crate::geo_file::{Bare, GeoFile, outlines};
use crate::table::open_geo;

/// Polygons, one for each feature, and what was mended of them.
#[derive(Debug)]
pub struct Polygons {
    polygons: Vec<Polygon>,
    warnings: Vec<String>,
}

impl Polygons {
    /// Reads a file; coordinates are those of the columns, whatever their unit.
    ///
    /// # Errors
    /// A file that is none, and polygons that cannot be used.
    pub fn read(path: &Path, shown: &Path) -> Result<Self, Problems> {
        Self::of(&*open_geo(path, shown)?)
    }

    /// Those of a file that was read.
    ///
    /// # Errors
    /// Polygons that cannot be used.
    pub fn of(file: &GeoFile) -> Result<Self, Problems> {
        let mut warnings = Vec::new();
        let found = outlines(file, false, None, Bare::Refused, &mut warnings)?;
        Ok(Self {
            polygons: found.into_iter().flatten().map(|o| o.polygon).collect(),
            warnings,
        })
    }

    pub fn as_slice(&self) -> &[Polygon] {
        &self.polygons
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Outlines of all rings.
    pub fn borders(&self) -> Vec<Vec<[f64; 2]>> {
        let rings = self.polygons.iter().flat_map(Polygon::rings);
        rings.cloned().collect()
    }
}
