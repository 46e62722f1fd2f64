//! A bounded set with volume that is not an axis-parallel box.

use serde::{Deserialize, Serialize};

use super::{Polygon, Simplices};

/// A bounded set over some of the inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Region {
    /// Polygons with holes over two inputs.
    Polygon(Polygon),
    /// Simplices over any number of inputs.
    Simplices(Simplices),
}

impl Region {
    /// Number of inputs it extends over.
    #[must_use]
    pub fn dim(&self) -> usize {
        match self {
            Self::Polygon(_) => 2,
            Self::Simplices(simplices) => simplices.dim(),
        }
    }

    /// Area, volume or its like in more dimensions; positive, in units of the inputs multiplied.
    #[must_use]
    pub fn volume(&self) -> f64 {
        match self {
            Self::Polygon(polygon) => polygon.area(),
            Self::Simplices(simplices) => simplices.volume(),
        }
    }

    /// The centre of mass, which may lie outside.
    #[must_use]
    pub fn centroid(&self) -> Vec<f64> {
        match self {
            Self::Polygon(polygon) => polygon.centroid().to_vec(),
            Self::Simplices(simplices) => simplices.centroid(),
        }
    }

    /// Smallest and largest coordinate along each input.
    #[must_use]
    pub fn bounds(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Polygon(polygon) => polygon.bounds().to_vec(),
            Self::Simplices(simplices) => simplices.bounds(),
        }
    }

    /// Whether volume and bounds are those of the coordinates, as they may not be in one read from
    /// a file that was changed.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        match self {
            Self::Polygon(polygon) => polygon.is_consistent(),
            Self::Simplices(simplices) => simplices.is_consistent(),
        }
    }
}

impl From<Polygon> for Region {
    fn from(polygon: Polygon) -> Self {
        Self::Polygon(polygon)
    }
}

impl From<Simplices> for Region {
    fn from(simplices: Simplices) -> Self {
        Self::Simplices(simplices)
    }
}
