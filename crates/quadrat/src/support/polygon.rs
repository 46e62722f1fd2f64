//! Polygons with holes.

use serde::{Deserialize, Serialize};

use super::region::RegionError;

/// A closed curve, its first vertex not repeated at the end.
pub type Ring = Vec<[f64; 2]>;

/// Disjoint planar polygons with holes, seen as one set.
///
/// Exterior rings run anticlockwise and holes clockwise, so that sums over all edges are integrals
/// over the region (Green), whatever the number of parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Polygon {
    rings: Vec<Ring>,
    area: f64,
    bounds: [(f64, f64); 2],
}

impl Polygon {
    /// From parts, each an exterior ring followed by its holes, in any direction; a closing vertex
    /// may be repeated.
    ///
    /// # Errors
    /// [`RegionError`].
    pub fn new(parts: Vec<Vec<Ring>>) -> Result<Self, RegionError> {
        let mut rings = Vec::new();
        if parts.is_empty() {
            return Err(RegionError::Empty { what: "polygons" });
        }
        for part in parts {
            if part.is_empty() {
                return Err(RegionError::Empty { what: "rings" });
            }
            for (k, mut ring) in part.into_iter().enumerate() {
                if ring.len() > 1 && ring.first() == ring.last() {
                    ring.pop();
                }
                ring.dedup();
                if let Some(vertex) = ring.iter().position(|v| !v.iter().all(|c| c.is_finite())) {
                    let [x, y] = ring[vertex];
                    return Err(RegionError::NotFinite {
                        ring: rings.len(),
                        vertex,
                        x,
                        y,
                    });
                }
                let area = signed_area(&ring);
                if ring.len() < 3 || area == 0.0 {
                    return Err(RegionError::ZeroVolume {
                        what: "ring",
                        index: rings.len(),
                    });
                }
                // Exteriors anticlockwise, holes clockwise.
                if (area > 0.0) != (k == 0) {
                    ring.reverse();
                }
                rings.push(ring);
            }
        }
        let area: f64 = rings.iter().map(|ring| signed_area(ring)).sum();
        if area.is_nan() || area <= 0.0 {
            return Err(RegionError::ZeroVolume {
                what: "region",
                index: 0,
            });
        }
        let along = |d: usize| {
            let all = rings.iter().flatten().map(|v| v[d]);
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), c| {
                (lo.min(c), hi.max(c))
            })
        };
        let bounds = [along(0), along(1)];
        Ok(Self {
            rings,
            area,
            bounds,
        })
    }

    /// An axis-parallel rectangle, edges in either order.
    ///
    /// # Errors
    /// [`RegionError::ZeroVolume`], [`RegionError::NotFinite`].
    pub fn rectangle(x: (f64, f64), y: (f64, f64)) -> Result<Self, RegionError> {
        Self::new(vec![vec![vec![
            [x.0, y.0],
            [x.1, y.0],
            [x.1, y.1],
            [x.0, y.1],
        ]]])
    }

    /// All rings, exteriors anticlockwise and holes clockwise, not closed.
    #[must_use]
    pub fn rings(&self) -> &[Ring] {
        &self.rings
    }

    /// Directed edges `(from, to)` of all rings.
    pub fn edges(&self) -> impl Iterator<Item = ([f64; 2], [f64; 2])> + '_ {
        self.rings.iter().flat_map(|ring| {
            let next = ring.iter().cycle().skip(1);
            ring.iter().copied().zip(next.copied())
        })
    }

    /// Area, holes taken off; positive.
    #[must_use]
    pub fn area(&self) -> f64 {
        self.area
    }

    /// Smallest and largest coordinate along each input.
    #[must_use]
    pub fn bounds(&self) -> [(f64, f64); 2] {
        self.bounds
    }
}

/// Shoelace formula about the first vertex, so that far origins do no harm.
fn signed_area(ring: &[[f64; 2]]) -> f64 {
    let Some(&[x0, y0]) = ring.first() else {
        return 0.0;
    };
    let cross = ring.windows(2).map(|w| {
        let (a, b) = ([w[0][0] - x0, w[0][1] - y0], [w[1][0] - x0, w[1][1] - y0]);
        a[0] * b[1] - a[1] * b[0]
    });
    0.5 * cross.sum::<f64>()
}
