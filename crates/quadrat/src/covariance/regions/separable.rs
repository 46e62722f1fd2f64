//! Planar regions under a kernel of one column times a kernel of the other, by their edges.
//!
//! In scaled coordinates, with `G = c |z| + R(z)` the second antiderivative of a kernel `k` of one
//! column (see [`Profile::tail`]), `k = 2 c delta + R''`. Taking the two columns apart one after
//! the other,
//!
//! `integral_A integral_B k_1 k_2 = 4 c_1 c_2 |A and B| - 2 c_1 T - U`, with
//!
//! * `T = sum_e sum_e' sign int R_2(y - y') dx` where one edge lies above the other, `sign` that of
//!   `v_x v_x'`,
//! * `U = sum_e sum_e' v_y v_y' int int R_1(x - x') k_2(y - y') dt dt'`.
//!
//! Both count within reach only. For two edges the differences run over a parallelogram, and `U` is
//! an integral of `R_1 K_2` over its border, `K_2` the antiderivative of `k_2`. All functions are
//! analytic but where a difference is zero, so that few nodes serve lines that are cut there.
//!
//! The same holds with any of the kernels replaced by its derivative in the logarithm of the
//! lengthscale.

use pulp::{Arch, Simd, WithSimd};

use super::large::{EdgeOverlap, PARALLEL, cross, end, minus};
use super::outline::{LINES, Outline, Panel};
use super::shared_area::shared_area;
use super::value::CovarianceValue;
use crate::covariance::plan::ProfileFamily;
use crate::kernel::{Potential, Profile};

/// What is evaluated of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The kernel.
    Value,
    /// `R`, the second antiderivative less its growth.
    Tail,
    /// The odd antiderivative, which has a limit beyond reach.
    Integral,
    /// Nothing depends on this column.
    One,
}

impl Part {
    fn is_short(self) -> bool {
        matches!(self, Self::Value | Self::Tail)
    }
}

/// The kernels of the two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Separable(pub [ProfileFamily; 2]);

/// Differences along the two columns, weights, and the parts of both kernels at them.
#[derive(Default)]
pub(super) struct LineDifferences {
    u: [Vec<f64>; 2],
    w: Vec<f64>,
    value: [Vec<f64>; 2],
    slope: [Vec<f64>; 2],
}

struct Fill<'a, P> {
    part: Part,
    u: &'a [f64],
    value: &'a mut [f64],
    slope: &'a mut [f64],
    profile: std::marker::PhantomData<P>,
}

impl<P: Profile> WithSimd for Fill<'_, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (u, u_tail) = S::as_simd_f64s(self.u);
        let (value, value_tail) = S::as_mut_simd_f64s(self.value);
        let (slope, slope_tail) = S::as_mut_simd_f64s(self.slope);
        for ((u, v), d) in u.iter().zip(value).zip(slope) {
            (*v, *d) = part::<P, S>(s, self.part, *u);
        }
        if !u_tail.is_empty() {
            let (v, d) = part::<P, S>(s, self.part, s.partial_load_f64s(u_tail));
            s.partial_store_f64s(value_tail, v);
            s.partial_store_f64s(slope_tail, d);
        }
    }
}

#[inline(always)]
fn part<P: Profile, S: Simd>(s: S, part: Part, u: S::f64s) -> (S::f64s, S::f64s) {
    let z = s.abs_f64s(u);
    match part {
        Part::Value => P::value(s, z),
        Part::Tail => P::tail(s, z),
        Part::Integral => {
            let (value, slope) = P::integral(s, z);
            let is_left = s.less_than_f64s(u, s.splat_f64s(0.0));
            let odd = |v| s.select_f64s(is_left, s.neg_f64s(v), v);
            (odd(value), odd(slope))
        }
        Part::One => (s.splat_f64s(1.0), s.splat_f64s(1.0)),
    }
}

fn fill<P: Profile>(part: Part, u: &[f64], value: &mut Vec<f64>, slope: &mut Vec<f64>) {
    value.resize(u.len(), 0.0);
    slope.resize(u.len(), 0.0);
    Arch::new().dispatch(Fill::<P> {
        part,
        u,
        value,
        slope,
        profile: std::marker::PhantomData,
    });
}

/// `c` of a family: half its integral.
fn half_area<P: Profile>() -> f64 {
    P::HALF_AREA
}

fn reach<P: Potential>() -> f64 {
    P::reach()
}

fn stretch<P: Potential>() -> f64 {
    P::STRETCH
}

/// A straight line of differences `from + t e`, `t` in `[0, length]`.
struct Straight {
    from: [f64; 2],
    e: [f64; 2],
    length: f64,
}

impl LineDifferences {
    fn clear(&mut self) {
        self.u.iter_mut().for_each(Vec::clear);
        self.w.clear();
    }

    /// Sums of the products of two parts over all nodes, and with the slope of either.
    fn sums(&mut self, Separable(families): Separable, parts: [Part; 2]) -> [f64; 3] {
        for d in 0..2 {
            let (value, slope) = (&mut self.value[d], &mut self.slope[d]);
            with_profile!(families[d], fill::<P>(parts[d], &self.u[d], value, slope));
        }
        let mut sums = [0.0; 3];
        for (i, w) in self.w.iter().enumerate() {
            let [x, y] = [self.value[0][i], self.value[1][i]];
            sums[0] += w * x * y;
            sums[1] += w * self.slope[0][i] * y;
            sums[2] += w * x * self.slope[1][i];
        }
        sums
    }

    /// Adds nodes along a line where the short parts reach, cut where a difference is zero and at
    /// the places in `cuts`.
    fn add(
        &mut self,
        Separable(families): Separable,
        parts: [Part; 2],
        line: &Straight,
        cuts: &[f64],
        weight: impl Fn(f64) -> f64,
    ) {
        let (mut low, mut high) = (0.0_f64, line.length);
        let mut all: Vec<f64> = cuts.to_vec();
        let reaches = families.map(|family| with_profile!(family, reach::<P>()));
        let stretches = families.map(|family| with_profile!(family, stretch::<P>()));
        for d in 0..2 {
            if parts[d] == Part::One {
                continue;
            }
            if line.e[d] == 0.0 {
                if parts[d].is_short() && line.from[d].abs() > reaches[d] {
                    return;
                }
                continue;
            }
            let at = |u: f64| (u - line.from[d]) / line.e[d];
            let (one, other) = (at(-reaches[d]), at(reaches[d]));
            if parts[d].is_short() {
                low = low.max(one.min(other));
                high = high.min(one.max(other));
            }
            all.extend([one, at(0.0), other]);
        }
        all.push(high);
        all.sort_by(f64::total_cmp);
        let mut from = low;
        for to in all {
            if to <= from || to > high {
                continue;
            }
            let middle = 0.5 * (from + to);
            let pieces = (0..2).filter(|&d| parts[d] != Part::One).map(|d| {
                let place = line.from[d] + middle * line.e[d];
                match place.abs() > reaches[d] {
                    true => 1.0,
                    false => (to - from) * line.e[d].abs() / stretches[d],
                }
            });
            let pieces = pieces.fold(1.0, f64::max).ceil();
            let step = (to - from) / pieces;
            for piece in 0..pieces as usize {
                for &(share, w) in &LINES[LINES.len() - 1] {
                    let t = from + (piece as f64 + share) * step;
                    self.u[0].push(line.from[0] + t * line.e[0]);
                    self.u[1].push(line.from[1] + t * line.e[1]);
                    self.w.push(w * step * weight(t));
                }
            }
            from = to;
        }
    }
}

fn straight(from: [f64; 2], to: [f64; 2]) -> Straight {
    let along = minus(to, from);
    let length = along[0].hypot(along[1]);
    let e = match length > 0.0 {
        true => along.map(|v| v / length),
        false => [0.0; 2],
    };
    Straight { from, e, length }
}

impl Separable {
    /// Beyond this distance, in lengthscales, nothing is left.
    pub(super) fn reach(self) -> f64 {
        let reaches = self.0.map(|family| with_profile!(family, reach::<P>()));
        reaches[0].hypot(reaches[1])
    }

    /// The covariance of the averages over two regions.
    pub(super) fn region_region(
        self,
        a: &Outline,
        b: &Outline,
        lines: &mut LineDifferences,
    ) -> CovarianceValue {
        let [c1, c2] = self
            .0
            .map(|family| 2.0 * with_profile!(family, half_area::<P>()));
        let frame = a.frame(b);
        // One area after the other: their product may be no number.
        let common = shared_area(&a.panels, &b.panels, frame) * a.inverse_area;
        let common = c1 * c2 * (common * b.inverse_area);
        let [t, u] = self.borders(a, b, lines);
        let scale = a.inverse_area * b.inverse_area;
        let of = |t: f64, u: f64| common - (c1 * t + u) * scale;
        CovarianceValue {
            k: of(t[0], u[0]),
            d: [of(t[0], u[1]), of(t[2], u[2])],
        }
    }

    /// `T` and `U`, each with its derivatives.
    fn borders(self, a: &Outline, b: &Outline, lines: &mut LineDifferences) -> [[f64; 3]; 2] {
        let reaches = self.0.map(|family| with_profile!(family, reach::<P>()));
        let gap = |p: &Panel, q: &Panel, d: usize| {
            let (x, y) = (p.from[d] + 0.5 * p.along[d], q.from[d] + 0.5 * q.along[d]);
            (x - y).abs() - 0.5 * (p.along[d].abs() + q.along[d].abs())
        };
        let (mut t, mut u) = ([0.0; 3], [0.0; 3]);
        for p in &a.panels {
            for q in &b.panels {
                let gaps = [gap(p, q, 0), gap(p, q, 1)];
                if gaps[1] >= reaches[1] || gaps[0] >= reaches[0] {
                    continue;
                }
                if gaps[0] < 0.0 && p.along[0] * q.along[0] != 0.0 {
                    add(&mut t, self.above(p, q, lines), 1.0);
                }
                let weight = p.along[1] * q.along[1];
                if weight != 0.0 {
                    add(&mut u, self.edges(p, q, lines), weight);
                }
            }
        }
        [t, u]
    }

    /// `int R_2(y - y') dx` over the places that both edges pass, with the sign of `v_x v_x'`.
    fn above(self, p: &Panel, q: &Panel, lines: &mut LineDifferences) -> [f64; 3] {
        let span = |p: &Panel| {
            let to = p.from[0] + p.along[0];
            (p.from[0].min(to), p.from[0].max(to))
        };
        let (own, other) = (span(p), span(q));
        let (low, high) = (own.0.max(other.0), own.1.min(other.1));
        if low >= high {
            return [0.0; 3];
        }
        let height = |p: &Panel, x: f64| p.from[1] + (x - p.from[0]) / p.along[0] * p.along[1];
        let between = |x: f64| height(p, x) - height(q, x);
        let rise = (between(high) - between(low)) / (high - low);
        let line = Straight {
            from: [0.0, between(low)],
            e: [0.0, rise],
            length: high - low,
        };
        let parts = [Part::One, Part::Tail];
        lines.clear();
        lines.add(self, parts, &line, &[], |_| 1.0);
        let sign = (p.along[0] * q.along[0]).signum();
        lines.sums(self, parts).map(|v| sign * v)
    }

    /// `int int R_1 k_2 dt dt'` of two edges.
    fn edges(self, p: &Panel, q: &Panel, lines: &mut LineDifferences) -> [f64; 3] {
        lines.clear();
        let size = cross(p.along, q.along);
        let longer = p.length.max(q.length);
        if size.abs() * longer <= PARALLEL * p.length * q.length {
            let overlap = EdgeOverlap::new(p, q);
            let wide = overlap.wide;
            let line = Straight {
                from: overlap.at(overlap.shift - wide),
                e: overlap.e,
                length: 2.0 * wide,
            };
            let parts = [Part::Tail, Part::Value];
            let cuts = [wide - overlap.flat, wide + overlap.flat];
            lines.add(self, parts, &line, &cuts, |t| overlap.weight(t - wide));
            let size = p.length * q.length;
            return lines.sums(self, parts).map(|v| v / size);
        }
        let (ends, others) = ([p.from, end(p)], [q.from, end(q)]);
        let corner = |i: usize, j: usize| minus(ends[i], others[j]);
        let ring = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
        let parts = [Part::Tail, Part::Integral];
        for k in 0..4 {
            let line = straight(ring[k], ring[(k + 1) % 4]);
            if line.e[0] != 0.0 {
                let along = line.e[0];
                lines.add(self, parts, &line, &[], |_| along);
            }
        }
        lines.sums(self, parts).map(|v| v / size)
    }

    /// The covariance of the average over a region and the value at a point.
    pub(super) fn region_point(
        self,
        a: &Outline,
        point: [f64; 2],
        lines: &mut LineDifferences,
    ) -> CovarianceValue {
        lines.clear();
        let parts = [Part::Integral, Part::Value];
        for p in &a.panels {
            let line = straight(minus(p.from, point), minus(end(p), point));
            if line.e[1] != 0.0 {
                let along = line.e[1];
                lines.add(self, parts, &line, &[], |_| along);
            }
        }
        let [k, dx, dy] = lines.sums(self, parts).map(|v| v * a.inverse_area);
        CovarianceValue { k, d: [dx, dy] }
    }
}

fn add(sum: &mut [f64; 3], values: [f64; 3], weight: f64) {
    sum.iter_mut()
        .zip(values)
        .for_each(|(s, v)| *s += weight * v);
}
