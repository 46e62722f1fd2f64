//! Polygons inside of which alone values can be, from a GeoJSON file.

use std::path::Path;

use quadrat::support::Polygon;

use crate::diagnostic::Problems;
use crate::geo_file::outlines;
use crate::table::open_geo;

/// Polygons, and what was mended of them.
#[derive(Debug)]
pub struct Inside {
    polygons: Vec<Polygon>,
    warnings: Vec<String>,
}

impl Inside {
    /// Reads a file; coordinates are those of the columns, whatever their unit.
    ///
    /// # Errors
    /// A file that is none, and polygons that cannot be used.
    pub fn read(path: &Path, shown: &Path) -> Result<Self, Problems> {
        let file = open_geo(path, shown)?;
        let mut warnings = Vec::new();
        let found = outlines(&file, false, None, false, &mut warnings)?;
        Ok(Self {
            polygons: found.into_iter().flatten().map(|o| o.polygon).collect(),
            warnings,
        })
    }

    pub fn polygons(&self) -> &[Polygon] {
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
