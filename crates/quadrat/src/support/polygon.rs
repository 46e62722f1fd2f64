//! Polygons with holes.

use serde::{Deserialize, Serialize};

use super::ring::{RegionError, RingPlace};
use super::ring::{Ring, bounds, oriented, signed_area};
use super::topology::{self, Location};

/// Disjoint planar polygons with holes, seen as one set.
///
/// Exterior rings run anticlockwise and holes clockwise, so that sums over all edges are integrals
/// over the region (Green), whatever the number of parts. Rings may touch themselves and each other
/// at points, and each other along lines, as neighbouring parts do; they may not cross or fold
/// back.
///
/// # Examples
/// A square with a square hole:
/// ```
/// use quadrat::support::Polygon;
/// let outer = vec![[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0], [0.0, 0.0]];
/// let hole = vec![[1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]];
/// let frame = Polygon::new(vec![vec![outer, hole]])?;
/// assert_eq!((frame.area(), frame.centroid()), (8.0, [1.5, 1.5]));
/// assert!(frame.contains([1.0, 1.5]) && !frame.contains([1.5, 1.5]));
///
/// let bow_tie = vec![[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]];
/// let refused = Polygon::new(vec![vec![bow_tie]]).unwrap_err();
/// assert!(refused.to_string().contains("crosses itself at (1, 1)"));
/// # Ok::<(), quadrat::support::RegionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Polygon {
    rings: Vec<Ring>,
    area: f64,
    bounds: [(f64, f64); 2],
}

impl Polygon {
    /// From parts, each an exterior ring followed by its holes, in any direction; a closing vertex
    /// and vertices repeated one after the other count once. This is the layout of a GeoJSON
    /// MultiPolygon.
    ///
    /// # Errors
    /// [`RegionError`] for no parts or rings, a vertex that is not finite, a ring of fewer than
    /// three vertices or without area, one that crosses itself or folds back, a hole outside its
    /// exterior, and parts or holes that overlap.
    ///
    /// # Numerics
    /// Exact predicates, so that far origins and touching rings do no harm. `O(n log n)` for `n`
    /// edges that are short against the whole.
    pub fn new(parts: Vec<Vec<Ring>>) -> Result<Self, RegionError> {
        let (mut rings, mut places) = (Vec::new(), Vec::new());
        if parts.is_empty() {
            return Err(RegionError::Empty { what: "polygons" });
        }
        for (part, of) in parts.into_iter().enumerate() {
            if of.is_empty() {
                return Err(RegionError::Empty { what: "rings" });
            }
            for (k, ring) in of.into_iter().enumerate() {
                let place = RingPlace { part, ring: k };
                rings.push(oriented(ring, place)?);
                places.push(place);
            }
        }
        topology::check(&rings, &places)?;
        // Only now, since a ring whose loops cancel has a better name.
        for (ring, &place) in rings.iter().zip(&places) {
            if signed_area(ring) == 0.0 {
                return Err(RegionError::ZeroArea { ring: place });
            }
        }
        let area = total_area(&rings);
        if !area.is_finite() {
            return Err(RegionError::TooLarge);
        }
        if area <= 0.0 {
            return Err(RegionError::Hollow);
        }
        let bounds = bounds(&rings);
        Ok(Self {
            rings,
            area,
            bounds,
        })
    }

    /// An axis-parallel rectangle, edges in either order.
    ///
    /// # Errors
    /// [`RegionError::ZeroArea`], [`RegionError::NotFinite`].
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

    /// Whether a point lies inside or on the boundary; exact for the numbers given.
    #[must_use]
    pub fn contains(&self, point: [f64; 2]) -> bool {
        if (0..2).any(|d| !(self.bounds[d].0 <= point[d] && point[d] <= self.bounds[d].1)) {
            return false;
        }
        let mut winding = 0;
        for ring in &self.rings {
            match topology::locate(ring, point) {
                Location::Boundary => return true,
                Location::Winding(w) => winding += w,
            }
        }
        winding != 0
    }

    /// The centre of mass, which may lie outside.
    ///
    /// # Numerics
    /// Relative to the size of the polygon a few `eps`, wherever its origin.
    #[must_use]
    pub fn centroid(&self) -> [f64; 2] {
        let [(x0, x1), (y0, y1)] = self.bounds;
        let origin = [0.5 * (x0 + x1), 0.5 * (y0 + y1)];
        let mut moment = [0.0; 2];
        for (a, b) in self.edges() {
            let (a, b) = (
                [a[0] - origin[0], a[1] - origin[1]],
                [b[0] - origin[0], b[1] - origin[1]],
            );
            let cross = a[0] * b[1] - a[1] * b[0];
            for d in 0..2 {
                moment[d] += cross * (a[d] + b[d]);
            }
        }
        [0, 1].map(|d| origin[d] + moment[d] / (6.0 * self.area))
    }

    /// Whether area, bounds and directions are those of the rings, as they may not be in one read
    /// from a file that was changed.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let well_formed = self
            .rings
            .iter()
            .all(|r| r.len() > 2 && r.iter().flatten().all(|c| c.is_finite()));
        if self.rings.is_empty() || !well_formed {
            return false;
        }
        let (area, bounds) = (total_area(&self.rings), bounds(&self.rings));
        area > 0.0 && area == self.area && bounds == self.bounds
    }
}

fn total_area(rings: &[Ring]) -> f64 {
    rings.iter().map(|ring| signed_area(ring)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn square(x: f64, y: f64, side: f64) -> Ring {
        vec![[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
    }

    #[test]
    fn what_bounds_no_set_is_refused_with_its_place() {
        let new = Polygon::new;
        let ring = |part, ring| RingPlace { part, ring };
        assert_eq!(new(vec![]), Err(RegionError::Empty { what: "polygons" }));
        assert_eq!(new(vec![vec![]]), Err(RegionError::Empty { what: "rings" }));
        let mut broken = square(0.0, 0.0, 1.0);
        broken[2][1] = f64::INFINITY;
        assert!(matches!(
            new(vec![vec![square(5.0, 5.0, 1.0)], vec![broken]]),
            Err(RegionError::NotFinite { ring: r, vertex: 2, .. }) if r == ring(1, 0)
        ));
        let mut huge = square(0.0, 0.0, 1.0);
        huge[3][0] = -1e76;
        assert!(matches!(
            new(vec![vec![huge]]),
            Err(RegionError::Huge { ring: r, vertex: 3, .. }) if r == ring(0, 0)
        ));
        assert!(new(vec![vec![square(0.0, 0.0, 1e74)]]).is_ok());
        let line = vec![[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]];
        assert_eq!(
            new(vec![vec![line]]),
            Err(RegionError::FewVertices {
                ring: ring(0, 0),
                got: 2
            })
        );
        let flat = vec![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]];
        assert!(matches!(
            new(vec![vec![flat]]),
            Err(RegionError::Folded { .. })
        ));
        let bow_tie = vec![[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]];
        assert_eq!(
            new(vec![vec![bow_tie]]),
            Err(RegionError::SelfCrossing {
                ring: ring(0, 0),
                x: 1.0,
                y: 1.0
            })
        );
        // The same, with a vertex at the crossing, passed twice.
        let knot = vec![
            [0.0, 0.0],
            [1.0, 1.0],
            [2.0, 2.0],
            [2.0, 0.0],
            [1.0, 1.0],
            [0.0, 2.0],
        ];
        assert_eq!(
            new(vec![vec![knot]]),
            Err(RegionError::SelfCrossing {
                ring: ring(0, 0),
                x: 1.0,
                y: 1.0
            })
        );
        let spike = vec![[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        assert_eq!(
            new(vec![vec![spike]]),
            Err(RegionError::Folded {
                ring: ring(0, 0),
                x: 3.0,
                y: 0.0
            })
        );
        // Twice round: winding number two.
        let mut twice = square(0.0, 0.0, 1.0);
        twice.extend(square(0.0, 0.0, 1.0));
        assert!(new(vec![vec![twice]]).is_err());
    }

    #[test]
    fn what_has_no_area_says_why_and_rings_are_counted_from_one() {
        let hollow = vec![vec![square(0.0, 0.0, 1.0), square(0.0, 0.0, 1.0)]];
        assert_eq!(Polygon::new(hollow), Err(RegionError::Hollow));
        let flat = vec![
            vec![square(0.0, 0.0, 1.0)],
            vec![vec![[2.0, 2.0], [3.0, 2.0]]],
        ];
        let message = Polygon::new(flat).unwrap_err().to_string();
        assert!(
            message.starts_with("ring 1 (exterior) of part 2 has"),
            "{message}"
        );
    }

    #[test]
    fn parts_and_holes_must_lie_apart() {
        let new = Polygon::new;
        let outer = || square(0.0, 0.0, 4.0);
        let hole = |x, y, s| square(x, y, s);
        assert!(matches!(
            new(vec![vec![outer(), hole(6.0, 1.0, 1.0)]]),
            Err(RegionError::HoleOutside {
                ring: RingPlace { part: 0, ring: 1 },
                ..
            })
        ));
        for (what, parts) in [
            ("hole across", vec![vec![outer(), hole(3.0, 1.0, 2.0)]]),
            (
                "nested holes",
                vec![vec![outer(), hole(1.0, 1.0, 2.0), hole(1.5, 1.5, 0.5)]],
            ),
            (
                "crossing holes",
                vec![vec![outer(), hole(1.0, 1.0, 1.0), hole(1.5, 1.5, 1.0)]],
            ),
            ("equal parts", vec![vec![outer()], vec![outer()]]),
            (
                "nested parts",
                vec![vec![outer()], vec![hole(1.0, 1.0, 1.0)]],
            ),
            (
                "crossing parts",
                vec![vec![outer()], vec![hole(3.0, 3.0, 2.0)]],
            ),
            (
                "parts that cross at vertices only",
                vec![
                    vec![outer()],
                    vec![vec![[4.0, 4.0], [0.0, 4.0], [2.0, 2.0]]],
                ],
            ),
        ] {
            assert!(
                matches!(new(parts.clone()), Err(RegionError::Overlap { .. })),
                "{what}: {:?}",
                new(parts)
            );
        }
    }

    #[test]
    fn rings_may_touch() {
        let outer = || square(0.0, 0.0, 4.0);
        for (what, parts, area) in [
            (
                "an island in a hole",
                vec![
                    vec![outer(), square(1.0, 1.0, 2.0)],
                    vec![square(1.5, 1.5, 1.0)],
                ],
                13.0,
            ),
            (
                "a part that fills a hole",
                vec![
                    vec![outer(), square(1.0, 1.0, 2.0)],
                    vec![square(1.0, 1.0, 2.0)],
                ],
                16.0,
            ),
            (
                "neighbours",
                vec![vec![outer()], vec![square(4.0, 1.0, 2.0)]],
                20.0,
            ),
            (
                "corner to corner",
                vec![vec![outer()], vec![square(4.0, 4.0, 2.0)]],
                20.0,
            ),
            (
                "a hole along the exterior",
                vec![vec![outer(), square(0.0, 1.0, 2.0)]],
                12.0,
            ),
            (
                "a hole hanging from a vertex of an edge",
                vec![vec![outer(), vec![[2.0, 0.0], [3.0, 1.0], [1.0, 1.0]]]],
                15.0,
            ),
            (
                "a ring that touches itself",
                vec![vec![vec![
                    [2.0, 0.0],
                    [4.0, 0.0],
                    [4.0, 4.0],
                    [0.0, 4.0],
                    [0.0, 0.0],
                    [2.0, 0.0],
                    [1.0, 1.0],
                    [3.0, 1.0],
                ]]],
                15.0,
            ),
        ] {
            let polygon = Polygon::new(parts).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(polygon.area(), area, "{what}");
            assert!(polygon.is_consistent());
        }
    }

    #[test]
    fn a_changed_file_is_inconsistent() {
        let polygon = Polygon::rectangle((0.0, 2.0), (5.0, 1.0)).unwrap();
        let text = serde_json::to_string(&polygon).unwrap();
        let read = |t: &str| serde_json::from_str::<Polygon>(t).unwrap();
        assert_eq!(read(&text), polygon);
        assert!(read(&text).is_consistent());
        assert!(!read(&text.replace("\"area\":8.0", "\"area\":7.0")).is_consistent());
        assert!(!read(&text.replacen("2.0", "3.0", 1)).is_consistent());
    }

    proptest! {
        #[test]
        fn a_star_keeps_area_and_centroid_wherever_it_lies(
            radii in prop::collection::vec(0.2f64..1.0, 5..40),
            far in -1e6f64..1e6,
        ) {
            let n = radii.len() as f64;
            let star: Ring = radii.iter().enumerate().map(|(k, r)| {
                let (s, c) = (std::f64::consts::TAU * k as f64 / n).sin_cos();
                [r * c, r * s]
            }).collect();
            let here = Polygon::new(vec![vec![star.clone()]]).unwrap();
            let moved: Ring = star.iter().map(|v| [v[0] + far, v[1] - far]).collect();
            let there = Polygon::new(vec![vec![moved.clone()]]).unwrap();
            // Moving rounds every coordinate to eps |far|.
            let eps = 4.0 * f64::EPSILON * (1.0 + far.abs());
            prop_assert!((here.area() - there.area()).abs() < 10.0 * eps);
            let (a, b) = (here.centroid(), there.centroid());
            prop_assert!((a[0] + far - b[0]).abs() < 40.0 * eps);
            prop_assert!((a[1] - far - b[1]).abs() < 40.0 * eps);
            prop_assert!(here.contains([0.0, 0.0]) && here.contains(star[0]));
            let shrunk = moved.iter().all(|v| there.contains([far + 0.9 * (v[0] - far), -far + 0.9 * (v[1] + far)]));
            let grown = moved.iter().any(|v| there.contains([far + 1.1 * (v[0] - far), -far + 1.1 * (v[1] + far)]));
            prop_assert!(shrunk && !grown);
        }
    }
}
