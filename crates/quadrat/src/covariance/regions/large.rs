//! Planar regions of many lengthscales: what they have in common, and their edges within reach.
//!
//! Seen from far, the potential of a kernel is that of a point (see [`Potential`]): `H = S - ln r`
//! and a constant, with `S` of a short range. The logarithm integrates to the area that two regions
//! have in common,
//!
//! * `integral_A integral_B k = 2 pi |A and B| + sum_e sum_e' (v . v') int int S(|x - y|) dt dt'`,
//!
//! and only edges within reach of each other count beside it. For two edges `x - y` runs over a
//! parallelogram `P`, over which a function of the distance is integrated by its border once more:
//!
//! * `integral_P S = sum over borders of int s(|u|) (u x du)`,
//! * `integral_P (g - r^-2) u_x^2 = sum over borders of int (2 s - S) r^-2 u_x^2 (u x du)`.
//!
//! Borders are lines. Beyond reach their integrals are angles, within reach nodes lie ever closer
//! towards the foot of the perpendicular from the origin, where the functions are not smooth. So
//! the number of nodes has a limit, however short the lengthscales are. Of parallel edges `P` is a
//! line itself: one integral over the shift, weighted by the length at which it occurs.
//!
//! The average over a region and the value at a point need one such line for every edge.

use pulp::Simd;

use super::outline::{LINES, Outline, Panel};
use super::shared_area::shared_area;
use super::sums::{Buffer, EdgeSums, OfFlux, Summand, is_clear};
use super::value::CovarianceValue;
use crate::kernel::Potential;

/// Below this distance from the origin, in lengthscales, nodes need not lie closer: what is missed
/// is this distance squared.
const FINEST: f64 = 1e-6;
/// The same for parallel edges, where it is the distance itself times their length.
const FINEST_STRIP: f64 = 1e-9;
/// Edges count as parallel where one end leaves the line by less than this many lengthscales:
/// rounding over the angle is as large then as what is made of the angle.
pub(super) const PARALLEL: f64 = 3e-8;

/// `w s`, `w (2 s - S) u_x^2 / r^2`, `w (2 s - S) u_y^2 / r^2`.
struct OfBorder<P>(std::marker::PhantomData<P>);

impl<P: Potential> Summand for OfBorder<P> {
    #[inline(always)]
    fn terms<S: Simd>(s: S, ux2: S::f64s, uy2: S::f64s, w: S::f64s) -> [S::f64s; 3] {
        let r2 = s.add_f64s(ux2, uy2);
        let (short, second) = P::short(s, r2);
        let value = s.mul_f64s(s.splat_f64s(0.5), s.add_f64s(short, second));
        let tiny = s.splat_f64s(f64::MIN_POSITIVE);
        let share = s.div_f64s(s.mul_f64s(w, second), s.max_f64s(r2, tiny));
        [
            s.mul_f64s(w, value),
            s.mul_f64s(share, ux2),
            s.mul_f64s(share, uy2),
        ]
    }
}

/// `w S`, `w (g - r^-2) u_x^2`, `w (g - r^-2) u_y^2`.
struct OfShort<P>(std::marker::PhantomData<P>);

impl<P: Potential> Summand for OfShort<P> {
    #[inline(always)]
    fn terms<S: Simd>(s: S, ux2: S::f64s, uy2: S::f64s, w: S::f64s) -> [S::f64s; 3] {
        let r2 = s.add_f64s(ux2, uy2);
        let slope = s.mul_f64s(w, slope_of_short::<P, S>(s, r2));
        let (short, _) = P::short(s, r2);
        [
            s.mul_f64s(w, short),
            s.mul_f64s(slope, ux2),
            s.mul_f64s(slope, uy2),
        ]
    }
}

/// `w (g - r^-2)` and that times `u_x^2`, `u_y^2`.
struct OfStrip<P>(std::marker::PhantomData<P>);

impl<P: Potential> Summand for OfStrip<P> {
    #[inline(always)]
    fn terms<S: Simd>(s: S, ux2: S::f64s, uy2: S::f64s, w: S::f64s) -> [S::f64s; 3] {
        let slope = s.mul_f64s(w, slope_of_short::<P, S>(s, s.add_f64s(ux2, uy2)));
        [slope, s.mul_f64s(slope, ux2), s.mul_f64s(slope, uy2)]
    }
}

/// `g - r^-2 = -S' / r`.
#[inline(always)]
fn slope_of_short<P: Potential, S: Simd>(s: S, r2: S::f64s) -> S::f64s {
    let (g, _) = P::flux(s, r2);
    let tiny = s.splat_f64s(f64::MIN_POSITIVE);
    s.sub_f64s(g, s.div_f64s(s.splat_f64s(1.0), s.max_f64s(r2, tiny)))
}

/// What lines leave beyond reach: the angle at the origin, and the difference of `sin cos`.
#[derive(Default, Clone, Copy)]
struct Far {
    angle: f64,
    turn: f64,
}

impl Far {
    fn add(&mut self, from: [f64; 2], to: [f64; 2]) {
        self.angle += cross(from, to).atan2(dot(from, to));
        let of = |u: [f64; 2]| {
            let r = u[0].hypot(u[1]);
            (u[0] / r) * (u[1] / r)
        };
        self.turn += of(to) - of(from);
    }

    /// `sum of int r^-2 (u x du)`, `2 int u_x^2 r^-4 (u x du)`, `2 int u_y^2 r^-4 (u x du)`.
    fn integrals(self) -> [f64; 3] {
        [self.angle, self.angle + self.turn, self.angle - self.turn]
    }
}

pub(super) fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

pub(super) fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

pub(super) fn end(p: &Panel) -> [f64; 2] {
    [p.from[0] + p.along[0], p.from[1] + p.along[1]]
}

/// Gauss-Legendre nodes for a stretch of this length that lies so far, from its middle, from where
/// the function is not smooth; right to 1e-14.
fn nodes<P: Potential>(length: f64, distance: f64) -> &'static [(f64, f64)] {
    let x = (2.0 * distance / length).max(1.0 + 1e-9);
    // rho^-2n = 1e-14 for a singularity on the line, which is the worst place.
    let rough = 16.0 / (x + (x * x - 1.0).sqrt()).ln();
    // Of a smooth function, fitted to the errors (n!)^4 (RATE h)^2n / ((2n + 1) (2n)!^3).
    let smooth = 5.0 + 2.5 * (8.0 * length / P::STRETCH).sqrt();
    let most = (LINES.len() - 1) as f64;
    &LINES[rough.max(smooth).ceil().clamp(2.0, most) as usize]
}

/// Cuts `[from, to]`, not negative, into stretches no longer than their distance from a singularity
/// beside zero.
fn graded<P: Potential>(
    from: f64,
    to: f64,
    distance: f64,
    finest: f64,
    mut visit: impl FnMut(f64, f64),
) {
    let mut x = from;
    while x < to {
        let step = x.max(distance).max(finest).min(P::STRETCH);
        let next = if x + 1.2 * step >= to { to } else { x + step };
        visit(x, next);
        x = next;
    }
}

/// Adds the line between two places to the nodes, with weights `u x du`, and what is beyond reach
/// to `far`.
fn line<P: Potential>(from: [f64; 2], to: [f64; 2], buffer: &mut Buffer, far: &mut Far) {
    let along = minus(to, from);
    let length = along[0].hypot(along[1]);
    let e = [along[0] / length, along[1] / length];
    let distance = cross(from, e);
    if length == 0.0 || distance == 0.0 {
        // Seen from the origin there is nothing.
        return;
    }
    // u = t e + distance n.
    let n = [e[1], -e[0]];
    let at = |t: f64| [0, 1].map(|d| t * e[d] + distance * n[d]);
    let (start, stop) = (dot(from, e), dot(from, e) + length);
    let reach = P::reach();
    if distance.abs() >= reach || start >= reach || stop <= -reach {
        far.add(from, to);
        return;
    }
    let half = (reach * reach - distance * distance).sqrt();
    let (low, high) = (start.max(-half), stop.min(half));
    if low >= high {
        far.add(from, to);
        return;
    }
    if start < low {
        far.add(from, at(low));
    }
    if high < stop {
        far.add(at(high), to);
    }
    let mut push = |a: f64, b: f64| {
        let size = b - a;
        let middle = (0.5 * (a + b)).hypot(distance);
        for &(t, w) in nodes::<P>(size.abs(), middle) {
            let [ux, uy] = at(a + t * size);
            buffer.push(ux, uy, w * size.abs() * distance);
        }
    };
    let near = distance.abs();
    if high > 0.0 {
        graded::<P>(low.max(0.0), high, near, FINEST, &mut push);
    }
    if low < 0.0 {
        graded::<P>((-high).max(0.0), -low, near, FINEST, |a, b| push(-b, -a));
    }
}

/// The covariance of the average over a large region and the value at a point.
pub(super) fn large_point<P: Potential>(
    a: &Outline,
    point: [f64; 2],
    buffer: &mut Buffer,
) -> CovarianceValue {
    buffer.clear();
    let mut far = Far::default();
    for p in &a.panels {
        line::<P>(minus(p.from, point), minus(end(p), point), buffer, &mut far);
    }
    let [k, dx, dy] = buffer.sum::<OfFlux<P>>();
    let [angle, x, y] = far.integrals();
    CovarianceValue {
        k: (k + angle) * a.inverse_area,
        d: [(dx + x) * a.inverse_area, (dy + y) * a.inverse_area],
    }
}

/// The covariance of a large region and one that is tiny, and stands for its area nodes.
pub(super) fn large_nodes<P: Potential>(
    a: &Outline,
    b: &Outline,
    buffer: &mut Buffer,
) -> CovarianceValue {
    let mut total = CovarianceValue::default();
    for (place, weight) in b.area_nodes() {
        let one = large_point::<P>(a, place, buffer);
        total.k += weight * one.k;
        total.d[0] += weight * one.d[0];
        total.d[1] += weight * one.d[1];
    }
    total
}

/// The covariance of the averages over two regions, one of them large.
pub(super) fn large_region<P: Potential>(
    a: &Outline,
    b: &Outline,
    buffer: &mut Buffer,
) -> CovarianceValue {
    // One area after the other: their product may be no number.
    let area = shared_area(&a.panels, &b.panels, a.frame(b)) * a.inverse_area;
    let common = std::f64::consts::TAU * (area * b.inverse_area);
    let mut sums = EdgeSums::default();
    for p in &a.panels {
        for q in &b.panels {
            if is_within::<P>(p, q) {
                sums.add(edges::<P>(p, q, buffer));
            }
        }
    }
    let mut value = sums.value(a.inverse_area * b.inverse_area);
    value.k += common;
    value.d[0] += common;
    value.d[1] += common;
    value
}

/// Whether two edges may be within reach of each other.
fn is_within<P: Potential>(p: &Panel, q: &Panel) -> bool {
    let gap = |d: usize| {
        let (x, y) = (p.from[d] + 0.5 * p.along[d], q.from[d] + 0.5 * q.along[d]);
        let half = 0.5 * (p.along[d].abs() + q.along[d].abs());
        ((x - y).abs() - half).max(0.0)
    };
    gap(0).hypot(gap(1)) < P::reach()
}

/// `v v' int int S` and what its slopes need, for two edges.
fn edges<P: Potential>(p: &Panel, q: &Panel, buffer: &mut Buffer) -> EdgeSums {
    let (xx, yy) = (p.along[0] * q.along[0], p.along[1] * q.along[1]);
    if xx == 0.0 && yy == 0.0 {
        return EdgeSums::default();
    }
    let longer = p.length.max(q.length);
    let angle = cross(p.along, q.along) / (p.length * q.length);
    buffer.clear();
    let [h, gx, gy] = if longer <= P::STRETCH && is_clear(p, q) {
        apart::<P>(p, q, buffer)
    } else if angle.abs() * longer <= PARALLEL {
        strip::<P>(p, q, buffer)
    } else {
        parallelogram::<P>(p, q, buffer)
    };
    EdgeSums {
        x: xx * h,
        y: yy * h,
        gx: (xx + yy) * gx,
        gy: (xx + yy) * gy,
    }
}

/// Two short edges apart: a product of rules.
fn apart<P: Potential>(p: &Panel, q: &Panel, buffer: &mut Buffer) -> [f64; 3] {
    let middle = |p: &Panel| [0, 1].map(|d| p.from[d] + 0.5 * p.along[d]);
    let between = minus(middle(p), middle(q));
    let distance = between[0].hypot(between[1]);
    let of = |own: &Panel, other: &Panel| nodes::<P>(own.length, distance - 0.5 * other.length);
    let line = of(q, p);
    for &(t, w) in of(p, q) {
        let x = [0, 1].map(|d| p.from[d] + t * p.along[d] - q.from[d]);
        for &(u, v) in line {
            buffer.push(x[0] - u * q.along[0], x[1] - u * q.along[1], w * v);
        }
    }
    buffer.sum::<OfShort<P>>()
}

/// Two edges at an angle: the border of the parallelogram of their differences.
fn parallelogram<P: Potential>(p: &Panel, q: &Panel, buffer: &mut Buffer) -> [f64; 3] {
    let ends = [p.from, end(p)];
    let others = [q.from, end(q)];
    let corner = |i: usize, j: usize| minus(ends[i], others[j]);
    let ring = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
    let mut far = Far::default();
    for k in 0..4 {
        line::<P>(ring[k], ring[(k + 1) % 4], buffer, &mut far);
    }
    let near = buffer.sum::<OfBorder<P>>();
    let far = far.integrals();
    // The ring runs with the clock where the second edge lies to the left of the first.
    let size = -cross(p.along, q.along);
    [0, 1, 2].map(|k| (near[k] - P::REST * far[k]) / size)
}

/// The shifts at which two parallel edges meet.
pub(super) struct EdgeOverlap {
    /// The shift of the middles, along and across the edges.
    pub shift: f64,
    pub distance: f64,
    /// Direction of the longer one.
    pub e: [f64; 2],
    /// Half the range of shifts, and of those at which the shorter one is met as a whole.
    pub wide: f64,
    pub flat: f64,
    height: f64,
}

impl EdgeOverlap {
    pub fn new(p: &Panel, q: &Panel) -> Self {
        let longer = if p.length >= q.length { p } else { q };
        let e = longer.along.map(|v| v / longer.length);
        let middle = |p: &Panel| [0, 1].map(|d| p.from[d] + 0.5 * p.along[d]);
        let between = minus(middle(p), middle(q));
        Self {
            shift: dot(between, e),
            distance: cross(between, e),
            e,
            wide: 0.5 * (p.length + q.length),
            flat: 0.5 * (p.length - q.length).abs(),
            height: p.length.min(q.length),
        }
    }

    /// The length at which a shift, counted from that of the middles, occurs.
    pub fn weight(&self, from_middle: f64) -> f64 {
        (self.wide - from_middle.abs()).clamp(0.0, self.height)
    }

    /// The difference at a shift.
    pub fn at(&self, shift: f64) -> [f64; 2] {
        let ([x, y], d) = (self.e, self.distance);
        [shift * x + d * y, shift * y - d * x]
    }
}

/// Two parallel edges: an integral over the shift `t`, weighted by the length `W(t)` at which it
/// occurs.
///
/// With `V(t) = integral_0^t W`, `integral W S = integral V t (g - r^-2)`, in which nothing is
/// infinite where the edges lie on one line.
fn strip<P: Potential>(p: &Panel, q: &Panel, buffer: &mut Buffer) -> [f64; 3] {
    let overlap = EdgeOverlap::new(p, q);
    let distance = overlap.distance;
    let reach = P::reach();
    if distance.abs() >= reach {
        return [0.0; 3];
    }
    let half = (reach * reach - distance * distance).sqrt();
    let (wide, flat) = (overlap.wide, overlap.flat);
    let mut second = Vec::new();
    for side in [1.0, -1.0] {
        let shift = side * overlap.shift;
        let weight = |x: f64| overlap.weight(x - shift);
        // V at the start of a stretch; its ends are where W bends.
        let mut start = 0.0;
        let mut from = 0.0;
        let mut second_order = [shift - wide, shift - flat, shift + flat, shift + wide, half];
        second_order.sort_by(f64::total_cmp);
        for bend in second_order {
            let to = bend.min(half);
            if to <= from {
                continue;
            }
            let add = |a: f64, b: f64| {
                let middle = (0.5 * (a + b)).hypot(distance);
                let first = weight(a);
                for &(t, w) in nodes::<P>(b - a, middle.max(b - a)) {
                    let x = a + t * (b - a);
                    let own = weight(x);
                    let sum = start + 0.5 * (first + own) * (x - a);
                    let [ux, uy] = overlap.at(side * x);
                    buffer.push(ux, uy, w * (b - a) * sum * x);
                    second.push(w * (b - a) * own);
                }
                start += 0.5 * (first + weight(b)) * (b - a);
            };
            // On one side of the origin of its own line the function is smooth.
            let finest = if distance == 0.0 && from == 0.0 {
                P::STRETCH
            } else {
                FINEST_STRIP
            };
            graded::<P>(from, to, distance.abs(), finest, add);
            from = to;
        }
    }
    let [value, _, _] = buffer.sum::<OfStrip<P>>();
    buffer.weigh(&second);
    let [_, gx, gy] = buffer.sum::<OfStrip<P>>();
    let size = p.length * q.length;
    [value / size, gx / size, gy / size]
}
