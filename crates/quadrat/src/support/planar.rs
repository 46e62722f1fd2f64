//! Convex planar pieces, and the areas that they have in common.
//!
//! # Source
//! Clipping of convex polygons: Sutherland and Hodgman 1974, *Reentrant polygon clipping*.

pub(crate) type Point = [f64; 2];

/// The area that two planar sets have in common, each of disjoint convex pieces whose corners run
/// against the clock.
pub(crate) fn common_area(one: &[Vec<Point>], other: &[Vec<Point>]) -> f64 {
    let mut area = 0.0;
    for piece in one {
        let own = bounds(piece);
        let beside = other.iter().filter(|piece| meet(bounds(piece), own));
        area += beside.map(|other| clipped_area(piece, other)).sum::<f64>();
    }
    area
}

/// Whether a point lies in a convex piece or on its edge.
pub(crate) fn holds(piece: &[Point], point: Point) -> bool {
    let next = piece.iter().cycle().skip(1);
    piece
        .iter()
        .zip(next)
        .all(|(a, b)| turn(*a, *b, point) >= 0.0)
}

/// Smallest and largest coordinates.
pub(crate) fn bounds(piece: &[Point]) -> [(f64, f64); 2] {
    [0, 1].map(|d| {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let wider = |(low, high): (f64, f64), p: &Point| (low.min(p[d]), high.max(p[d]));
        piece.iter().fold(ends, wider)
    })
}

/// Whether two boxes have an area in common.
pub(crate) fn meet(a: [(f64, f64); 2], b: [(f64, f64); 2]) -> bool {
    (0..2).all(|d| a[d].0 < b[d].1 && b[d].0 < a[d].1)
}

/// Twice the signed area of a triangle.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// A triangle whose corners run against the clock.
pub(crate) fn facing(corners: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut corners: Vec<Point> = corners.collect();
    if let [a, b, c] = corners[..]
        && turn(a, b, c) < 0.0
    {
        corners.reverse();
    }
    corners
}

/// The area that two convex polygons have in common; the corners of both run against the clock.
pub(crate) fn clipped_area(piece: &[Point], by: &[Point]) -> f64 {
    let mut kept = piece.to_vec();
    for (k, &from) in by.iter().enumerate() {
        let to = by[(k + 1) % by.len()];
        let mut next = Vec::with_capacity(kept.len() + 1);
        for (i, &p) in kept.iter().enumerate() {
            let q = kept[(i + 1) % kept.len()];
            let (at_p, at_q) = (turn(from, to, p), turn(from, to, q));
            if at_p >= 0.0 {
                next.push(p);
            }
            if (at_p > 0.0 && at_q < 0.0) || (at_p < 0.0 && at_q > 0.0) {
                let share = at_p / (at_p - at_q);
                next.push([p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]);
            }
        }
        kept = next;
    }
    let fan = |i: usize| turn(kept[0], kept[i], kept[i + 1]);
    let twice: f64 = (1..kept.len().saturating_sub(1)).map(fan).sum();
    (0.5 * twice).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a triangle of legs one, and the part of it above the unit square, a triangle of legs
    /// one half.
    #[test]
    fn a_square_cuts_the_top_off_a_triangle() {
        let square = vec![vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]];
        let triangle = facing([[0.0, 0.5], [1.0, 1.5], [1.0, 0.5]].into_iter());
        let above = facing([[0.0, 0.5], [0.5, 1.0], [0.0, 1.0]].into_iter());
        let only = std::slice::from_ref(&triangle);
        let under = common_area(&square, only);
        assert_eq!((under, common_area(&[above], only)), (0.375, 0.0));
        assert!(holds(&triangle, [0.5, 0.75]) && holds(&triangle, [0.5, 1.0]));
        assert!(!holds(&triangle, [0.25, 0.8]));
    }
}
