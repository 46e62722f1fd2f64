//! Where atoms of supports lie, and what they have in common.

use std::sync::Arc;

use crate::error::InputError;
use crate::support::{Functionals, Placed, Point, Region, common_area, facing, holds};

/// Supports with the pieces of their regions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Footprints {
    pub set: Functionals,
    /// The two columns that all regions lie along, in order.
    plane: Option<[usize; 2]>,
    /// Of every region of the set.
    shapes: Vec<Shape>,
}

/// A region over two columns.
#[derive(Debug, Clone, PartialEq)]
struct Shape {
    region: Arc<Region>,
    /// Whether the columns run the other way than the axes of the region.
    is_swapped: bool,
    pieces: Vec<Vec<Point>>,
}

const OTHER_REGIONS: InputError = InputError::Unavailable {
    what: "what these regions have in common",
    remedy: "regions must be planar, and all along the same two inputs; use the posterior for others",
};

impl Footprints {
    /// # Errors
    /// [`InputError::Unavailable`] for regions that are not planar, or in several planes.
    pub fn new(set: Functionals) -> Result<Self, InputError> {
        let mut plane = None;
        let mut shapes = Vec::with_capacity(set.regions().len());
        for placed in set.regions() {
            let (own, shape) = Shape::of(placed).ok_or(OTHER_REGIONS)?;
            if *plane.get_or_insert(own) != own {
                return Err(OTHER_REGIONS);
            }
            shapes.push(shape);
        }
        Ok(Self { set, plane, shapes })
    }

    /// # Errors
    /// [`InputError::Unavailable`] where regions of both lie in different planes.
    pub fn check_plane(&self, other: &Self) -> Result<(), InputError> {
        match (self.plane, other.plane) {
            (Some(own), Some(others)) if own != others => Err(OTHER_REGIONS),
            _ => Ok(()),
        }
    }

    /// Whether an atom is the value at one place.
    pub fn is_place(&self, atom: usize) -> bool {
        let mut columns = 0..self.set.dims().len();
        self.set.region(atom).is_none() && columns.all(|d| self.set.width(d)[atom] == 0.0)
    }

    /// The volume of an atom that has one along all columns.
    pub fn volume(&self, atom: usize) -> Option<f64> {
        let shape = self.shape(atom).zip(self.plane);
        let is_free = |d: &usize| shape.is_none_or(|(_, plane)| !plane.contains(d));
        let columns = (0..self.set.dims().len()).filter(is_free);
        let sides: f64 = columns.map(|d| self.set.width(d)[atom]).product();
        let volume = sides * shape.map_or(1.0, |(shape, _)| shape.region.volume());
        (volume > 0.0).then_some(volume)
    }

    /// Where an atom begins, as a key: its place where it is one.
    pub fn key(&self, atom: usize) -> Vec<u64> {
        let columns = 0..self.set.dims().len();
        // Of both zeros the positive one.
        let bits = |d: usize| (self.set.lower(d)[atom] + 0.0).to_bits();
        columns.map(bits).collect()
    }

    /// Whether a place lies in an atom: boxes are without their upper ends, regions with all.
    pub fn holds(&self, atom: usize, place: &[f64]) -> bool {
        let shape = self.shape(atom).zip(self.plane);
        let in_shape = |(shape, [x, y]): (&Shape, [usize; 2])| shape.contains([place[x], place[y]]);
        (0..place.len()).all(|d| {
            shape.is_some_and(|(_, plane)| plane.contains(&d))
                || covered(self.span(d, atom), (place[d], place[d])) > 0.0
        }) && shape.is_none_or(in_shape)
    }

    /// The share of an atom of `at` that lies in an atom here; of what has no width along a column,
    /// whether it does.
    pub fn share(&self, source: usize, at: &Self, atom: usize) -> f64 {
        let (own, others) = (self.shape(source), at.shape(atom));
        let plane = own.and(self.plane).or(others.and(at.plane));
        let mut share = 1.0;
        for d in 0..self.set.dims().len() {
            if plane.is_some_and(|plane| plane.contains(&d)) {
                continue;
            }
            share *= covered(self.span(d, source), at.span(d, atom));
            if share == 0.0 {
                return 0.0;
            }
        }
        let Some(plane) = plane else {
            return share;
        };
        let both = plane.iter().all(|&d| {
            let ((a, b), (c, e)) = (self.span(d, source), at.span(d, atom));
            a <= e && c <= b
        });
        if !both {
            return 0.0;
        }
        let spans = |set: &Self, atom: usize| plane.map(|d| set.span(d, atom));
        share
            * match (own, others) {
                (Some(p), Some(q)) if p.region == q.region => 1.0,
                (Some(p), Some(q)) => common_area(&p.pieces, &q.pieces) / q.region.volume(),
                (Some(p), None) => {
                    let (common, area) = p.in_box(spans(at, atom));
                    common / area
                }
                (None, Some(q)) => {
                    let spans = spans(self, source);
                    let (common, _) = q.in_box(spans);
                    // A place within counts as such.
                    let is_box = spans.iter().all(|(low, high)| high > low);
                    common / if is_box { q.region.volume() } else { 1.0 }
                }
                (None, None) => 1.0,
            }
    }

    /// The squared distance of an atom of `at` from one here, every column in its scale; from a
    /// region that of the middle.
    pub fn distance(&self, source: usize, at: &Self, atom: usize, scale: &[f64]) -> f64 {
        let shape = self.shape(source).zip(self.plane);
        let mut sum = 0.0;
        for d in 0..scale.len() {
            if shape.is_none_or(|(_, plane)| !plane.contains(&d)) {
                let ((a, b), (c, e)) = (self.span(d, source), at.span(d, atom));
                sum += ((a.max(c) - b.min(e)).max(0.0) / scale[d]).powi(2);
            }
        }
        let Some((shape, plane)) = shape else {
            return sum;
        };
        let middle = plane.map(|d| {
            let (low, high) = at.span(d, atom);
            0.5 * (low + high)
        });
        sum + shape.distance(middle, plane.map(|d| scale[d]))
    }

    fn shape(&self, atom: usize) -> Option<&Shape> {
        self.set.region(atom).map(|region| &self.shapes[region])
    }

    /// Both ends along a column.
    fn span(&self, d: usize, atom: usize) -> (f64, f64) {
        let low = self.set.lower(d)[atom];
        (low, low + self.set.width(d)[atom])
    }
}

/// The share of an interval or place that lies in another. Intervals are without their upper ends.
fn covered((low, high): (f64, f64), (from, to): (f64, f64)) -> f64 {
    let within = |x: f64, low: f64, high: f64| low <= x && x < high || x == low;
    match (high > low, to > from) {
        (true, true) => (high.min(to) - low.max(from)).max(0.0) / (to - from),
        (_, false) => f64::from(u8::from(within(from, low, high))),
        (false, true) => f64::from(u8::from(within(low, from, to))),
    }
}

impl Shape {
    fn of(placed: &Placed) -> Option<([usize; 2], Self)> {
        let [Some(x), Some(y)] = placed.columns[..] else {
            return None;
        };
        let is_swapped = x > y;
        let (a, b) = if is_swapped { (1, 0) } else { (0, 1) };
        let simplices = placed.region.simplices();
        let pieces = simplices.iter().map(|s| {
            let corners = s.chunks_exact(2);
            facing(corners.map(|p| [p[a], p[b]]))
        });
        let shape = Self {
            region: Arc::clone(&placed.region),
            is_swapped,
            pieces: pieces.collect(),
        };
        Some(([x.min(y), x.max(y)], shape))
    }

    /// Whether a point lies inside or on the boundary.
    fn contains(&self, [x, y]: Point) -> bool {
        match &*self.region {
            Region::Polygon(polygon) if self.is_swapped => polygon.contains([y, x]),
            Region::Polygon(polygon) => polygon.contains([x, y]),
            Region::Simplices(_) => self.pieces.iter().any(|piece| holds(piece, [x, y])),
        }
    }

    /// The area in common with a box, and that of the box. A box without area counts by its middle,
    /// as if of area one.
    fn in_box(&self, [(x0, x1), (y0, y1)]: [(f64, f64); 2]) -> (f64, f64) {
        let area = (x1 - x0) * (y1 - y0);
        if area > 0.0 {
            let corners = vec![[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
            return (common_area(&self.pieces, &[corners]), area);
        }
        let middle = [0.5 * (x0 + x1), 0.5 * (y0 + y1)];
        (f64::from(u8::from(self.contains(middle))), 1.0)
    }

    /// The squared distance of a point.
    fn distance(&self, point: Point, scale: Point) -> f64 {
        if self.contains(point) {
            return 0.0;
        }
        let from_point = |p: &Point| [0, 1].map(|d| (p[d] - point[d]) / scale[d]);
        let mut least = f64::INFINITY;
        for piece in &self.pieces {
            let next = piece.iter().cycle().skip(1);
            for (a, b) in piece.iter().zip(next) {
                let (a, b) = (from_point(a), from_point(b));
                let along = [b[0] - a[0], b[1] - a[1]];
                let length = along[0] * along[0] + along[1] * along[1];
                let foot = -(a[0] * along[0] + a[1] * along[1]) / length;
                let foot = foot.clamp(0.0, 1.0);
                let gap = [a[0] + foot * along[0], a[1] + foot * along[1]];
                least = least.min(gap[0] * gap[0] + gap[1] * gap[1]);
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::{Aggregate, Polygon, Side};

    fn triangle() -> Arc<Region> {
        let ring = vec![[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]];
        Arc::new(Polygon::new(vec![vec![ring]]).unwrap().into())
    }

    /// By hand: the triangle has area 4; the box `[0, 2] x [0, 1]` touches its long side at a
    /// corner.
    #[test]
    fn a_triangle_shares_half_of_itself_with_the_box_inside() {
        let mut set = Functionals::new(["x", "y", "t"].map(str::to_owned).to_vec());
        let from_to = |a: f64, b: f64| Some(Side::Interval(a, b));
        set.push_product(
            triangle(),
            &[None, None, from_to(0.0, 2.0)],
            Aggregate::Mean,
        )
        .unwrap();
        set.push_box(&[(0.0, 2.0), (0.0, 1.0), (1.0, 5.0)], Aggregate::Sum)
            .unwrap();
        set.push_point(&[2.0, 1.0, 0.0]).unwrap();
        set.push_point(&[4.0, 2.0, 3.0]).unwrap();
        let set = Footprints::new(set).unwrap();
        let share = |a, b| set.share(a, &set, b);
        assert_eq!((share(0, 0), share(1, 1), share(2, 2)), (1.0, 1.0, 1.0));
        // Half of the triangle, of whose time one of two; the box, of whose time one of four.
        assert_eq!((share(1, 0), share(0, 1)), (0.25, 0.25));
        // A corner on the boundary lies inside, and a box is without its upper ends.
        assert_eq!((share(0, 2), share(1, 2), share(2, 0)), (1.0, 0.0, 1.0));
        assert_eq!((share(0, 3), share(3, 0)), (0.0, 0.0));
        let volumes = [0, 1, 2].map(|atom| set.volume(atom));
        assert_eq!(volumes, [Some(8.0), Some(8.0), None]);
        let held = [[2.0, 1.0, 0.0], [2.0, 1.0, 2.0], [2.1, 1.0, 0.0]].map(|x| set.holds(0, &x));
        assert_eq!(
            (held, set.holds(1, &[0.0, 0.5, 1.0])),
            ([true, false, false], true)
        );
        // The foot on `x + 2 y = 4` of (4, 2) is 4 / sqrt 5 away.
        let distance = set.distance(0, &set, 3, &[1.0; 3]);
        assert!((distance - (16.0 / 5.0 + 1.0)).abs() < 1e-12, "{distance}");
    }

    #[test]
    fn columns_may_come_in_the_other_order() {
        let mut set = Functionals::new(["x", "y"].map(str::to_owned).to_vec());
        set.push_region(triangle(), Aggregate::Sum).unwrap();
        set.push_point(&[3.0, 0.25]).unwrap();
        let swapped = set.select(&["y".to_owned(), "x".to_owned()]).unwrap();
        for set in [set, swapped] {
            let set = Footprints::new(set).unwrap();
            assert_eq!((set.share(0, &set, 1), set.share(0, &set, 0)), (1.0, 1.0));
        }
    }
}
