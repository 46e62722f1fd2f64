//! Closed lines of edges, and what is wrong with them.

use std::fmt;

use thiserror::Error;

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

/// A closed curve, its first vertex not repeated at the end.
pub type Ring = Vec<[f64; 2]>;

/// Largest coordinate, of either sign: products of areas are numbers.
pub(super) const LARGEST: f64 = 1e75;

/// The ring without repeated vertices, anticlockwise if an exterior and clockwise if a hole.
pub(super) fn oriented(mut ring: Ring, place: RingPlace) -> Result<Ring, RegionError> {
    if let Some(vertex) = ring.iter().position(|v| !v.iter().all(|c| c.is_finite())) {
        let [x, y] = ring[vertex];
        return Err(RegionError::NotFinite {
            ring: place,
            vertex,
            x,
            y,
        });
    }
    if let Some(vertex) = ring
        .iter()
        .position(|v| v.iter().any(|c| c.abs() > LARGEST))
    {
        let [x, y] = ring[vertex];
        return Err(RegionError::Huge {
            ring: place,
            vertex,
            x,
            y,
        });
    }
    distinct(&mut ring);
    if ring.len() < 3 {
        return Err(RegionError::FewVertices {
            ring: place,
            got: ring.len(),
        });
    }
    if (signed_area(&ring) > 0.0) != (place.ring == 0) {
        ring.reverse();
    }
    Ok(ring)
}

/// Takes out a closing vertex and vertices that repeat the one before.
pub(super) fn distinct(ring: &mut Ring) {
    ring.dedup();
    while ring.len() > 1 && ring.first() == ring.last() {
        ring.pop();
    }
}

/// Shoelace formula about the first vertex, so that far origins do no harm.
pub(super) fn signed_area(ring: &[[f64; 2]]) -> f64 {
    let Some(&[x0, y0]) = ring.first() else {
        return 0.0;
    };
    let cross = ring.windows(2).map(|w| {
        let (a, b) = ([w[0][0] - x0, w[0][1] - y0], [w[1][0] - x0, w[1][1] - y0]);
        a[0] * b[1] - a[1] * b[0]
    });
    0.5 * cross.sum::<f64>()
}

pub(super) fn bounds(rings: &[Ring]) -> [(f64, f64); 2] {
    [0, 1].map(|d| {
        let all = rings.iter().flatten().map(|v| v[d]);
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), c| {
            (lo.min(c), hi.max(c))
        })
    })
}
