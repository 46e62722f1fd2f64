//! Do rings bound a set? Where two edges meet, and whether they may.

use std::collections::HashMap;

use geo::line_intersection::{LineIntersection, line_intersection};
use geo::{Coord, Kernel, Line, Orientation, kernels::RobustKernel};

use super::ring::Ring;
use super::ring::{RegionError, RingPlace};

pub(super) use super::planar::Point;

/// Where a point lies relative to one closed curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    /// How often the curve runs round the point anticlockwise; 0 is outside.
    Winding(i32),
    /// On the curve.
    Boundary,
}

fn coord([x, y]: Point) -> Coord<f64> {
    Coord { x, y }
}

/// On which side of the line from `a` to `b` the point `c` lies: 1 left, 0 on it, -1 right; exact
/// for the numbers given (Shewchuk's adaptive predicate).
pub(super) fn side(a: Point, b: Point, c: Point) -> i8 {
    match RobustKernel::orient2d(coord(a), coord(b), coord(c)) {
        Orientation::CounterClockwise => 1,
        Orientation::Collinear => 0,
        Orientation::Clockwise => -1,
    }
}

/// Whether `p`, which lies on the line through `a` and `b`, lies between them.
fn between(a: Point, b: Point, p: Point) -> bool {
    (0..2).all(|d| a[d].min(b[d]) <= p[d] && p[d] <= a[d].max(b[d]))
}

/// The winding number of a ring about a point.
pub(super) fn locate(ring: &[Point], p: Point) -> Location {
    let mut winding = 0;
    let Some(mut a) = ring.last().copied() else {
        return Location::Winding(0);
    };
    for &b in ring {
        let (low, high) = (a[1].min(b[1]), a[1].max(b[1]));
        if low <= p[1] && p[1] <= high && a[0].max(b[0]) >= p[0] {
            let s = side(a, b, p);
            if s == 0 && between(a, b, p) {
                return Location::Boundary;
            }
            if a[1] <= p[1] && b[1] > p[1] && s > 0 {
                winding += 1;
            } else if b[1] <= p[1] && a[1] > p[1] && s < 0 {
                winding -= 1;
            }
        }
        a = b;
    }
    Location::Winding(winding)
}

/// A directed edge of one of the rings.
#[derive(Clone, Copy)]
struct Edge {
    from: Point,
    to: Point,
    ring: usize,
    /// Position within the ring, and how many edges that has.
    index: usize,
    of: usize,
}

impl Edge {
    fn follows(&self, other: &Self) -> bool {
        self.ring == other.ring && (other.index + 1) % other.of == self.index
    }

    fn low(&self, d: usize) -> f64 {
        self.from[d].min(self.to[d])
    }

    fn high(&self, d: usize) -> f64 {
        self.from[d].max(self.to[d])
    }
}

/// Refuses rings whose winding number is not 0 or 1 almost everywhere, and rings that fold back.
///
/// Rings may touch themselves and each other at points, and each other along lines that they walk
/// in opposite directions: sums over all edges are then still integrals over the set.
///
/// # Method
/// Edges that cross properly are refused. At every point where others meet, directed edges must
/// alternate between outgoing and incoming around it, which makes the winding number take two
/// neighbouring values near each connected boundary; that these are 0 and 1 is seen from the
/// position of one point of every ring relative to the others.
pub(super) fn check(rings: &[Ring], places: &[RingPlace]) -> Result<(), RegionError> {
    let edges = sorted_edges(rings);
    let mut meetings: HashMap<[u64; 2], Vec<usize>> = HashMap::new();
    for (i, e) in edges.iter().enumerate() {
        for (j, f) in edges.iter().enumerate().skip(i + 1) {
            if f.low(0) > e.high(0) {
                break;
            }
            if f.low(1) > e.high(1) || f.high(1) < e.low(1) {
                continue;
            }
            meet(e, f, places, |p| {
                // + 0.0 makes the two zeros one.
                let key = p.map(|c| (c + 0.0).to_bits());
                let at = meetings.entry(key).or_default();
                for k in [i, j] {
                    if !at.contains(&k) {
                        at.push(k);
                    }
                }
            })?;
        }
    }
    let mut meetings: Vec<_> = meetings.into_iter().collect();
    meetings.sort_unstable_by_key(|m| m.0);
    for (key, at) in meetings {
        alternate(key.map(f64::from_bits), &edges, &at, places)?;
    }
    nested(rings, places)
}

fn sorted_edges(rings: &[Ring]) -> Vec<Edge> {
    let mut edges: Vec<Edge> = rings
        .iter()
        .enumerate()
        .flat_map(|(ring, vertices)| {
            let of = vertices.len();
            (0..of).map(move |index| Edge {
                from: vertices[index],
                to: vertices[(index + 1) % of],
                ring,
                index,
                of,
            })
        })
        .collect();
    edges.sort_by(|a, b| a.low(0).total_cmp(&b.low(0)));
    edges
}

/// Hands the points where two edges touch to `touch`; refuses those that cross, fold or overlap.
fn meet(
    e: &Edge,
    f: &Edge,
    places: &[RingPlace],
    mut touch: impl FnMut(Point),
) -> Result<(), RegionError> {
    let of_e = [side(f.from, f.to, e.from), side(f.from, f.to, e.to)];
    let of_f = [side(e.from, e.to, f.from), side(e.from, e.to, f.to)];
    if of_e[0] * of_e[1] > 0 || of_f[0] * of_f[1] > 0 {
        return Ok(());
    }
    if of_e == [0, 0] && of_f == [0, 0] {
        let mut shared: Vec<Point> = [e.from, e.to]
            .into_iter()
            .filter(|&p| between(f.from, f.to, p))
            .chain(
                [f.from, f.to]
                    .into_iter()
                    .filter(|&p| between(e.from, e.to, p)),
            )
            .collect();
        shared.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        shared.dedup();
        if shared.len() > 1 {
            let along: f64 = (0..2)
                .map(|d| (e.to[d] - e.from[d]) * (f.to[d] - f.from[d]))
                .sum();
            if e.ring == f.ring {
                // The end at which it turns.
                let turn = if f.follows(e) { e.to } else { shared[0] };
                return Err(RegionError::Folded {
                    ring: places[e.ring],
                    x: turn[0],
                    y: turn[1],
                });
            }
            if along > 0.0 {
                return Err(overlap(e, f, shared[0], places));
            }
        }
        if !(e.follows(f) || f.follows(e)) {
            shared.into_iter().for_each(touch);
        }
        return Ok(());
    }
    if of_e.iter().chain(&of_f).all(|s| *s != 0) {
        let line = |e: &Edge| Line::new(coord(e.from), coord(e.to));
        let at = match line_intersection(line(e), line(f)) {
            Some(LineIntersection::SinglePoint { intersection, .. }) => {
                [intersection.x, intersection.y]
            }
            _ => e.from,
        };
        return Err(overlap(e, f, at, places));
    }
    // Edges that follow each other share the vertex between them, and no other point.
    if !(e.follows(f) || f.follows(e)) {
        let ends = [
            (e.from, of_e[0]),
            (e.to, of_e[1]),
            (f.from, of_f[0]),
            (f.to, of_f[1]),
        ];
        ends.into_iter()
            .filter(|&(p, s)| s == 0 && between(e.from, e.to, p) && between(f.from, f.to, p))
            .for_each(|(p, _)| touch(p));
    }
    Ok(())
}

fn overlap(e: &Edge, f: &Edge, [x, y]: Point, places: &[RingPlace]) -> RegionError {
    if e.ring == f.ring {
        return RegionError::SelfCrossing {
            ring: places[e.ring],
            x,
            y,
        };
    }
    let (first, second) = (e.ring.min(f.ring), e.ring.max(f.ring));
    RegionError::Overlap {
        first: places[first],
        second: places[second],
        x,
        y,
    }
}

/// Around a point where several edges meet, outgoing and incoming ones must alternate.
fn alternate(
    p: Point,
    edges: &[Edge],
    at: &[usize],
    places: &[RingPlace],
) -> Result<(), RegionError> {
    // (far end, outgoing, edge)
    let mut spokes: Vec<(Point, bool, usize)> = Vec::new();
    for &k in at {
        let e = &edges[k];
        if e.to != p {
            spokes.push((e.to, true, k));
        }
        if e.from != p {
            spokes.push((e.from, false, k));
        }
    }
    let upper = |q: Point| q[1] > p[1] || (q[1] == p[1] && q[0] > p[0]);
    spokes.sort_by(|a, b| {
        upper(b.0)
            .cmp(&upper(a.0))
            .then_with(|| side(p, b.0, a.0).cmp(&0))
    });
    // An edge walked in both directions bounds nothing.
    let mut open: Vec<(Point, bool, usize)> = Vec::new();
    for s in spokes {
        match open.last() {
            Some(l) if l.1 != s.1 && upper(l.0) == upper(s.0) && side(p, l.0, s.0) == 0 => {
                open.pop();
            }
            _ => open.push(s),
        }
    }
    for (k, s) in open.iter().enumerate() {
        let next = &open[(k + 1) % open.len()];
        if s.1 == next.1 {
            return Err(overlap(&edges[s.2], &edges[next.2], p, places));
        }
    }
    Ok(())
}

/// Exteriors must lie outside all others, holes inside their exterior and in nothing else.
fn nested(rings: &[Ring], places: &[RingPlace]) -> Result<(), RegionError> {
    for (r, ring) in rings.iter().enumerate() {
        let hole = places[r].ring > 0;
        let next = ring.iter().cycle().skip(1);
        let middles = ring
            .iter()
            .zip(next)
            .map(|(a, b)| [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])]);
        let free = ring.iter().copied().chain(middles).find_map(|p| {
            let around: Option<Vec<i32>> = rings
                .iter()
                .enumerate()
                .map(|(o, other)| match locate(other, p) {
                    _ if o == r => Some(0),
                    Location::Winding(w) => Some(w),
                    Location::Boundary => None,
                })
                .collect();
            around.map(|around| (p, around))
        });
        // A ring that lies on others all along is bounded by what bounds them.
        let Some(([x, y], around)) = free else {
            continue;
        };
        let own = |o: usize| places[o].part == places[r].part;
        if hole {
            let exterior = (0..rings.len()).find(|&o| own(o) && places[o].ring == 0);
            if exterior.is_none_or(|o| around[o] != 1) {
                return Err(RegionError::HoleOutside {
                    ring: places[r],
                    x,
                    y,
                });
            }
        }
        if around.iter().sum::<i32>() != i32::from(hole) {
            // Blame the other ring that lies around it.
            let other = (0..rings.len())
                .find(|&o| around[o] != 0 && !(hole && own(o) && places[o].ring == 0))
                .unwrap_or(r);
            return Err(RegionError::Overlap {
                first: places[r.min(other)],
                second: places[r.max(other)],
                x,
                y,
            });
        }
    }
    Ok(())
}
