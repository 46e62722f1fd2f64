//! Lines of equal density: marching squares, closed at the edges of the cells.

use std::collections::BTreeMap;

/// A side of a square between four nodes: from a node to the next along the first axis, or along
/// the second.
type Side = (bool, usize, usize);

/// Closed lines on which a function over a plane has a value; linear between nodes, zero beyond
/// them.
///
/// # Arguments
/// * `x`, `y` - nodes along the axes, with the ends that lie beyond them
/// * `value` - by the numbers of a node, those of the ends included
pub fn contours(
    x: &[f64],
    y: &[f64],
    value: impl Fn(usize, usize) -> f64,
    level: f64,
) -> Vec<Vec<[f64; 2]>> {
    let is_in = |i: usize, j: usize| value(i, j) >= level;
    // Where a line enters a square it leaves it: each side knows the two it is joined to.
    let mut joined: BTreeMap<Side, Vec<Side>> = BTreeMap::new();
    for i in 0..x.len() - 1 {
        for j in 0..y.len() - 1 {
            let sides = [
                (false, i, j),
                (true, i + 1, j),
                (false, i, j + 1),
                (true, i, j),
            ];
            let ends = [
                [(i, j), (i + 1, j)],
                [(i + 1, j), (i + 1, j + 1)],
                [(i, j + 1), (i + 1, j + 1)],
                [(i, j), (i, j + 1)],
            ];
            let crossed: Vec<Side> = sides
                .into_iter()
                .zip(ends)
                .filter(|(_, [a, b])| is_in(a.0, a.1) != is_in(b.0, b.1))
                .map(|(side, _)| side)
                .collect();
            let mut join = |a: Side, b: Side| {
                joined.entry(a).or_default().push(b);
                joined.entry(b).or_default().push(a);
            };
            match *crossed.as_slice() {
                [a, b] => join(a, b),
                [a, b, c, d] => {
                    // A saddle: the middle says which corners hang together.
                    let corners = [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)];
                    let sum: f64 = corners.iter().map(|c| value(c.0, c.1)).sum();
                    if (0.25 * sum >= level) == is_in(i, j) {
                        join(a, b);
                        join(c, d);
                    } else {
                        join(a, d);
                        join(b, c);
                    }
                }
                _ => {}
            }
        }
    }
    let place = |side: Side| {
        let (along_second, i, j) = side;
        let (k, l) = if along_second { (i, j + 1) } else { (i + 1, j) };
        let (a, b) = (value(i, j), value(k, l));
        let share = (level - a) / (b - a);
        [x[i] + share * (x[k] - x[i]), y[j] + share * (y[l] - y[j])]
    };
    let mut out = Vec::new();
    while let Some((&first, _)) = joined.first_key_value() {
        let mut ring = Vec::new();
        let mut at = Some(first);
        while let Some(side) = at {
            ring.push(place(side));
            let next = joined.remove(&side).unwrap_or_default();
            at = next.into_iter().find(|side| joined.contains_key(side));
        }
        out.push(ring);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cone_has_round_lines_and_two_have_two() {
        let nodes: Vec<f64> = (0..41).map(|i| f64::from(i) - 20.0).collect();
        let cone = |i: usize, j: usize| 20.0 - nodes[i].hypot(nodes[j]);
        let rings = contours(&nodes, &nodes, cone, 10.0);
        assert_eq!(rings.len(), 1);
        for [x, y] in &rings[0] {
            // Linear between nodes a unit apart: the chord of a circle of radius ten errs by 1/80.
            assert!((x.hypot(*y) - 10.0).abs() < 0.02, "{x} {y}");
        }
        let two = |i: usize, j: usize| {
            let at = |c: f64| 8.0 - (nodes[i] - c).hypot(nodes[j]);
            at(-9.0).max(at(9.0)).max(0.0)
        };
        assert_eq!(contours(&nodes, &nodes, two, 3.0).len(), 2);
    }

    #[test]
    fn saddles_close_their_lines() {
        let nodes = [0.0, 1.0, 2.0, 3.0];
        let corner = |i: usize, j: usize| match (i, j) {
            (1, 1) | (2, 2) => 1.0,
            _ => 0.0,
        };
        assert_eq!(contours(&nodes, &nodes, corner, 0.6).len(), 2);
        assert_eq!(contours(&nodes, &nodes, corner, 0.4).len(), 1);
    }
}
