//! Regions and bags as the rows of a table refer to them.

use std::ops::Range;
use std::sync::Arc;

use quadrat::support::{Polygon, Region};

use crate::geo_file::GeoFile;
use crate::kept::retain;

/// Which shape each row looks at.
#[derive(Debug, Clone)]
pub struct Shapes {
    /// The dimensions that every shape extends over.
    pub dims: Vec<String>,
    /// The header of the keys.
    pub header: String,
    /// The key of every row.
    pub keys: Vec<String>,
    /// The shape of every row.
    pub of_row: Vec<usize>,
    /// The shapes.
    pub kind: Kind,
}

/// The shapes of a file.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Polygons, one per feature.
    Regions(Arc<Regions>),
    /// Weighted points.
    Bags(Arc<Bags>),
}

/// The polygons of a file, one per feature.
#[derive(Debug)]
pub struct Regions {
    /// The file.
    pub file: Arc<GeoFile>,
    /// In the coordinates of the file; none of features without a geometry, which no row looks at.
    pub given: Vec<Option<Polygon>>,
    /// In the coordinates of the model.
    pub regions: Vec<Option<Arc<Region>>>,
}

/// Bags of weighted points, by column: a million points are a few columns, not a million vectors.
#[derive(Debug)]
pub struct Bags {
    /// The file, as it is shown to people.
    pub name: String,
    /// The column of the weights, where they are not all one.
    pub weight: Option<String>,
    /// The points, one bag after the other.
    pub points: Points,
}

/// Weighted points, bag by bag.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Points {
    /// `coordinates[d][point]`, in the coordinates of the model.
    pub coordinates: Vec<Vec<f64>>,
    /// Weights as given, none negative; all zero only in bags that are to be left out.
    pub weights: Vec<f64>,
    /// Bag `i` has the points `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
}

impl Points {
    /// Which points a bag has.
    pub fn of(&self, bag: usize) -> Range<usize> {
        self.offsets[bag]..self.offsets[bag + 1]
    }

    /// The sum of the weights of a bag.
    pub fn total(&self, bag: usize) -> f64 {
        self.weights[self.of(bag)].iter().sum()
    }
}

impl Shapes {
    /// What integrates to the row's size: the area of a region, the weight of a bag.
    pub fn size(&self, row: usize) -> f64 {
        let at = self.of_row[row];
        match &self.kind {
            Kind::Regions(regions) => regions.regions[at].as_ref().map_or(0.0, |r| r.volume()),
            Kind::Bags(bags) => bags.points.total(at),
        }
    }

    /// Whether a row looks at a bag without any weight, or a region without a geometry.
    pub fn is_empty(&self, row: usize) -> bool {
        match &self.kind {
            Kind::Regions(regions) => regions.regions[self.of_row[row]].is_none(),
            Kind::Bags(_) => self.size(row) == 0.0,
        }
    }

    /// Why rows that look at empty shapes are left out: "their bags have no weight".
    pub fn why_empty(&self) -> &'static str {
        match &self.kind {
            Kind::Regions(_) => "regions have no geometry",
            Kind::Bags(_) => "bags have no weight",
        }
    }

    /// The regions, if they are regions.
    pub fn regions(&self) -> Option<&Arc<Regions>> {
        match &self.kind {
            Kind::Regions(regions) => Some(regions),
            Kind::Bags(_) => None,
        }
    }

    /// The file the shapes come from, as it is shown to people.
    pub fn file(&self) -> &str {
        match &self.kind {
            Kind::Regions(regions) => &regions.file.name,
            Kind::Bags(bags) => &bags.name,
        }
    }

    /// "regions" or "bags".
    pub fn noun(&self) -> &'static str {
        match &self.kind {
            Kind::Regions(_) => "region",
            Kind::Bags(_) => "bag",
        }
    }

    /// How many different shapes the rows look at.
    pub fn distinct(&self) -> usize {
        let mut used = self.of_row.clone();
        used.sort_unstable();
        used.dedup();
        used.len()
    }

    /// Keeps the rows that `keep` says.
    pub fn retain(&mut self, keep: &[bool]) {
        retain(&mut self.keys, keep);
        retain(&mut self.of_row, keep);
    }
}
