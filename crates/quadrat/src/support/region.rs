//! A bounded set with volume that is not an axis-parallel box.

use std::fmt;

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

/// Which ring of a polygon, as in a GeoJSON MultiPolygon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RingPlace {
    /// Part, counted from 0.
    pub part: usize,
    /// Ring within the part: 0 is its exterior, the others are holes.
    pub ring: usize,
}

impl fmt::Display for RingPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.ring == 0 { "exterior" } else { "hole" };
        // People count from 1.
        let (ring, part) = (self.ring + 1, self.part + 1);
        write!(f, "ring {ring} ({kind}) of part {part}")
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
    #[error("{ring}: vertex {} is ({x}, {y}); every coordinate must be a finite number", .vertex + 1)]
    NotFinite {
        /// Where.
        ring: RingPlace,
        /// Vertex, counted from 0.
        vertex: usize,
        /// First coordinate.
        x: f64,
        /// Second coordinate.
        y: f64,
    },
    /// A vertex so far out that areas, or their products, are no numbers.
    #[error("{ring}: vertex {} is ({x:?}, {y:?}), beyond 1e75; mend it, or change the unit of the coordinates", .vertex + 1)]
    Huge {
        /// Where.
        ring: RingPlace,
        /// Vertex, counted from 0.
        vertex: usize,
        /// First coordinate.
        x: f64,
        /// Second coordinate.
        y: f64,
    },
    /// A ring with fewer than three distinct vertices.
    #[error("{ring} has {got} distinct vertices; give at least three, or remove it")]
    FewVertices {
        /// Where.
        ring: RingPlace,
        /// How many it has.
        got: usize,
    },
    /// A ring without area.
    #[error("{ring} has no area; remove it, or give the support as points")]
    ZeroArea {
        /// Where.
        ring: RingPlace,
    },
    /// A ring that crosses itself.
    #[error(
        "{ring} crosses itself at ({x}, {y}); split it there into two parts, or take the loop out"
    )]
    SelfCrossing {
        /// Where.
        ring: RingPlace,
        /// First coordinate of a crossing.
        x: f64,
        /// Second coordinate.
        y: f64,
    },
    /// A ring that runs back along itself.
    #[error("{ring} runs back along itself at ({x}, {y}); take the spike or cut line out")]
    Folded {
        /// Where.
        ring: RingPlace,
        /// First coordinate of a point of the line that is walked twice.
        x: f64,
        /// Second coordinate.
        y: f64,
    },
    /// A hole that is not inside the exterior ring of its part.
    #[error(
        "{ring} lies outside the exterior of its part at ({x}, {y}); make it a part, or move it to the part that it is a hole of"
    )]
    HoleOutside {
        /// Where.
        ring: RingPlace,
        /// First coordinate of a point outside.
        x: f64,
        /// Second coordinate.
        y: f64,
    },
    /// Two rings that cross, or whose areas overlap.
    #[error(
        "{first} and {second} overlap at ({x}, {y}); parts and holes may only touch: remove one, or unite them"
    )]
    Overlap {
        /// One ring.
        first: RingPlace,
        /// The other.
        second: RingPlace,
        /// First coordinate of a common point.
        x: f64,
        /// Second coordinate.
        y: f64,
    },
    /// Holes that leave nothing of the polygon.
    #[error("the holes leave no area of the polygon; take the wrong ones out, or remove it")]
    Hollow,
    /// Coordinates so large that the area is no number.
    #[error("the polygon is too large: its area is no number; change the unit of the coordinates")]
    TooLarge,
    /// A simplex without volume.
    #[error("{what} {} has zero volume; remove it, or give the support as points", .index + 1)]
    ZeroVolume {
        /// What has none.
        what: &'static str,
        /// Which, counted from 0.
        index: usize,
    },
    /// More nodes than can be used.
    #[error(
        "the region needs more than two million nodes at a lengthscale of {lengthscale}; give a longer lengthscale, a looser tolerance, or smaller regions"
    )]
    TooFine {
        /// The shortest lengthscale.
        lengthscale: f64,
    },
    /// No rectangle fits in.
    #[error(
        "no axis-parallel rectangle on a grid of {cells} x {cells} cells fits into the polygon; use points instead"
    )]
    TooThin {
        /// Cells along each input.
        cells: usize,
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
