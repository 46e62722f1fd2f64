//! The area that two planar regions have in common, from their edges.
//!
//! A region with its edges directed so that it lies on the left is the signed sum of what lies
//! below each: edges to the left count, edges to the right take away. The area that two regions
//! have in common is then a sum over pairs of edges of the area below both. No cut of one by the
//! other is formed, so that borders that touch, or nearly do, are no special case.

use super::outline::Panel;

/// A box: lower and upper end along both columns.
type Frame = [(f64, f64); 2];

/// The area within a box that contains all that the regions have in common.
///
/// # Numerics
/// Right to rounding, relative to the area of the box times the number of edges.
pub(super) fn shared_area(a: &[Panel], b: &[Panel], frame: Frame) -> f64 {
    let [(left, right), (bottom, top)] = frame;
    if left >= right || bottom >= top {
        return 0.0;
    }
    let within = |panels: &[Panel]| -> Vec<Panel> {
        let matters = |p: &&Panel| {
            let (x, y) = (span(p, 0), span(p, 1));
            x.0 < right && x.1 > left && y.1 > bottom
        };
        panels.iter().filter(matters).copied().collect()
    };
    let (a, b) = (within(a), within(b));
    let mut area = 0.0;
    for p in &a {
        for q in &b {
            let (own, other) = (span(p, 0), span(q, 0));
            let from = own.0.max(other.0).max(left);
            let to = own.1.min(other.1).min(right);
            if from < to {
                let sign = (p.along[0] * q.along[0]).signum();
                area += sign * below(p, q, (from, to), (bottom, top));
            }
        }
    }
    area.max(0.0)
}

fn span(p: &Panel, d: usize) -> (f64, f64) {
    let to = p.from[d] + p.along[d];
    (p.from[d].min(to), p.from[d].max(to))
}

/// The area below both edges and above `bottom`, no higher than `top`, between two places.
fn below(p: &Panel, q: &Panel, (from, to): (f64, f64), (bottom, top): (f64, f64)) -> f64 {
    let slope = |p: &Panel| p.along[1] / p.along[0];
    let height = |p: &Panel, x: f64| p.from[1] + (x - p.from[0]) * slope(p);
    let limited = |x: f64| height(p, x).min(height(q, x)).clamp(bottom, top) - bottom;
    // The limited height is linear between the places where two of the four lines meet.
    let where_at = |p: &Panel, y: f64| p.from[0] + (y - p.from[1]) / slope(p);
    let gap = height(p, from) - height(q, from);
    let mut cuts = [
        from + gap / (slope(q) - slope(p)),
        where_at(p, bottom),
        where_at(p, top),
        where_at(q, bottom),
        where_at(q, top),
        to,
    ];
    cuts.sort_by(f64::total_cmp);
    let mut area = 0.0;
    let mut last = from;
    for x in cuts {
        if x > last && x <= to {
            area += 0.5 * (x - last) * (limited(last) + limited(x));
            last = x;
        }
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(corners: &[[f64; 2]]) -> Vec<Panel> {
        let next = corners.iter().cycle().skip(1);
        let panel = |(p, q): (&[f64; 2], &[f64; 2])| {
            let along = [q[0] - p[0], q[1] - p[1]];
            Panel {
                nodes: (0, 0),
                from: *p,
                along,
                length: along[0].hypot(along[1]),
            }
        };
        corners.iter().zip(next).map(panel).collect()
    }

    fn square(x: f64, y: f64, side: f64) -> Vec<Panel> {
        ring(&[[x, y], [x + side, y], [x + side, y + side], [x, y + side]])
    }

    const ALL: Frame = [(-10.0, 10.0), (-10.0, 10.0)];

    #[test]
    fn squares_share_their_overlap() {
        let one = square(0.0, 0.0, 2.0);
        for (x, y, side, want) in [
            (0.0, 0.0, 2.0, 4.0),
            (1.0, 0.5, 2.0, 1.5),
            (0.5, 0.5, 1.0, 1.0),
            (2.0, 0.0, 2.0, 0.0),
            (2.0, 2.0, 1.0, 0.0),
            (-3.0, -3.0, 9.0, 4.0),
            (5.0, 5.0, 1.0, 0.0),
        ] {
            let area = shared_area(&one, &square(x, y, side), ALL);
            // Rounding of a few areas down to the bottom of the frame, up to 40: 40 eps = 9e-15
            // each.
            assert!((area - want).abs() < 1e-13, "{x} {y} {side}: {area}");
        }
    }

    #[test]
    fn a_hole_is_not_shared() {
        let mut ringed = square(0.0, 0.0, 3.0);
        let hole = ring(&[[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [2.0, 1.0]]);
        ringed.extend(hole);
        let inside = shared_area(&ringed, &square(1.0, 1.0, 1.0), ALL);
        let across = shared_area(&ringed, &square(0.5, 0.5, 1.0), ALL);
        // As of squares.
        assert!(inside.abs() < 1e-13 && (across - 0.75).abs() < 1e-13);
    }

    /// A square and the same turned by 45 degrees, about one centre: an octagon.
    #[test]
    fn a_turned_square_leaves_an_octagon() {
        let root = 2_f64.sqrt();
        let turned = ring(&[[root, 0.0], [0.0, root], [-root, 0.0], [0.0, -root]]);
        let area = shared_area(&square(-1.0, -1.0, 2.0), &turned, ALL);
        // Two to four corners of legs 2 - sqrt 2 are cut off.
        let want = 4.0 - 2.0 * (2.0 - root).powi(2);
        assert!((area - want).abs() < 1e-13, "{area} {want}");
    }
}
