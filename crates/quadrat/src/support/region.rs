//! A bounded set with volume that is not an axis-parallel box.

use serde::{Deserialize, Serialize};
use thiserror::Error;

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

    /// Smallest and largest coordinate along each input.
    #[must_use]
    pub fn bounds(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Polygon(polygon) => polygon.bounds().to_vec(),
            Self::Simplices(simplices) => simplices.bounds(),
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

/// Why coordinates do not describe a region.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RegionError {
    /// Nothing to build a region from.
    #[error("the region has no {what}; give at least one")]
    Empty {
        /// Polygons, rings, simplices.
        what: &'static str,
    },
    /// A vertex that is NaN or infinite.
    #[error("vertex {vertex} of ring {ring} is ({x}, {y}); every coordinate must be finite")]
    NotFinite {
        /// Ring, counted from 0 over all parts.
        ring: usize,
        /// Vertex, counted from 0.
        vertex: usize,
        /// First coordinate.
        x: f64,
        /// Second coordinate.
        y: f64,
    },
    /// A ring or simplex without volume.
    #[error("{what} {index} has zero volume; remove it, or give the support as points")]
    ZeroVolume {
        /// Ring or simplex.
        what: &'static str,
        /// Which, counted from 0.
        index: usize,
    },
    /// Vertices of the wrong number, or of the wrong number of coordinates.
    #[error("{what} has {got}, expected {expected}")]
    Shape {
        /// What was counted.
        what: String,
        /// How many there are.
        got: usize,
        /// How many there must be.
        expected: usize,
    },
}
