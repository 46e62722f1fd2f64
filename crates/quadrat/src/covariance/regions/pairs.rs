//! Covariances of two planar regions, or of a region and a point, by their boundaries.
//!
//! For a unit variance and scaled coordinates, with edges `e` of `A` and `e'` of `B` given by
//! their vectors `v`, `v'`:
//!
//! * `mean mean k = (1 / (|A| |B|)) sum_e sum_e' (v . v') int_0^1 int_0^1 H(|x - y|) dt dt'`,
//! * `mean k(., y) = (1 / |A|) sum_e int_0^1 g(|x - y|) ((x - y) x v) dt`.
//!
//! Derivatives in `log l_1` follow from `H' = -r g` and from `(v . v') = v_1 v_1' + v_2 v_2'`,
//! of which, areas included, the first part scales as `l_2^2` and the second as `l_1^2`.

use pulp::{Arch, Simd, WithSimd};

use super::large::large_point;
use super::outline::{Compact, Kink, LINES, Outline, Panel};
use super::sums::{Buffer, EdgeSums, OfFlux, Sum, Summand, is_clear};
use super::value::CovarianceValue;
use crate::kernel::Potential;

/// Boundary nodes.
#[derive(Clone, Copy)]
struct Line<'a> {
    x: &'a [f64],
    y: &'a [f64],
    wx: &'a [f64],
    wy: &'a [f64],
}

impl<'a> Line<'a> {
    fn of(outline: &'a Outline, (from, to): (usize, usize)) -> Self {
        Self {
            x: &outline.x[from..to],
            y: &outline.y[from..to],
            wx: &outline.wx[from..to],
            wy: &outline.wy[from..to],
        }
    }
}

/// All pairs of the nodes of two lines.
struct Product<'a, P, const SLOPES: bool> {
    a: Line<'a>,
    b: Line<'a>,
    profile: std::marker::PhantomData<P>,
}

impl<P: Potential, const SLOPES: bool> WithSimd for Product<'_, P, SLOPES> {
    type Output = EdgeSums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> EdgeSums {
        let zero = s.splat_f64s(0.0);
        let mut sums = EdgeSums::default();
        let (ax, ax_tail) = S::as_simd_f64s(self.a.x);
        let (ay, ay_tail) = S::as_simd_f64s(self.a.y);
        let (awx, awx_tail) = S::as_simd_f64s(self.a.wx);
        let (awy, awy_tail) = S::as_simd_f64s(self.a.wy);
        let tail = if ax_tail.is_empty() {
            None
        } else {
            Some([
                s.partial_load_f64s(ax_tail),
                s.partial_load_f64s(ay_tail),
                s.partial_load_f64s(awx_tail),
                s.partial_load_f64s(awy_tail),
            ])
        };
        for j in 0..self.b.x.len() {
            let (bx, by) = (s.splat_f64s(self.b.x[j]), s.splat_f64s(self.b.y[j]));
            let (bwx, bwy) = (self.b.wx[j], self.b.wy[j]);
            let (vx, vy) = (s.splat_f64s(bwx), s.splat_f64s(bwy));
            let column = [bx, by, vx, vy];
            let mut total = [zero; 4];
            for i in 0..ax.len() {
                let lane = [ax[i], ay[i], awx[i], awy[i]];
                boundary::<P, S, SLOPES>(s, lane, column, &mut total);
            }
            if let Some(lane) = tail {
                // Weights of the padding are zero.
                boundary::<P, S, SLOPES>(s, lane, column, &mut total);
            }
            let [sx, sy, gx, gy] = total;
            sums.x += bwx * s.reduce_sum_f64s(sx);
            sums.y += bwy * s.reduce_sum_f64s(sy);
            if SLOPES {
                sums.gx += s.reduce_sum_f64s(gx);
                sums.gy += s.reduce_sum_f64s(gy);
            }
        }
        sums
    }
}

// The bodies of the loops are functions, not closures: only these are sure to be inlined where the
// instruction set is known.

/// Adds `w_x H, w_y H, (w . v) g u_x^2, (w . v) g u_y^2` of one node and lanes of others.
#[inline(always)]
fn boundary<P: Potential, S: Simd, const SLOPES: bool>(
    s: S,
    [x, y, wx, wy]: [S::f64s; 4],
    [bx, by, vx, vy]: [S::f64s; 4],
    total: &mut [S::f64s; 4],
) {
    let (ux, uy) = (s.sub_f64s(x, bx), s.sub_f64s(y, by));
    let (ux2, uy2) = (s.mul_f64s(ux, ux), s.mul_f64s(uy, uy));
    let (h, g) = P::potential(s, s.add_f64s(ux2, uy2));
    total[0] = s.mul_add_f64s(wx, h, total[0]);
    total[1] = s.mul_add_f64s(wy, h, total[1]);
    // Known when compiled, so that values alone do not pay for the second potential.
    if SLOPES {
        let w = s.mul_add_f64s(wx, vx, s.mul_f64s(wy, vy));
        let wg = s.mul_f64s(w, g);
        total[2] = s.mul_add_f64s(wg, ux2, total[2]);
        total[3] = s.mul_add_f64s(wg, uy2, total[3]);
    }
}

/// `w H`, `w g u_x^2`, `w g u_y^2`.
struct OfPotential<P>(std::marker::PhantomData<P>);

impl<P: Potential> Summand for OfPotential<P> {
    #[inline(always)]
    fn terms<S: Simd>(s: S, ux2: S::f64s, uy2: S::f64s, w: S::f64s) -> [S::f64s; 3] {
        let (h, g) = P::potential(s, s.add_f64s(ux2, uy2));
        let wg = s.mul_f64s(w, g);
        [s.mul_f64s(w, h), s.mul_f64s(wg, ux2), s.mul_f64s(wg, uy2)]
    }
}

/// `w k` and its derivatives `w (-kappa'(r) / r) u_d^2`.
struct OfKernel<P>(std::marker::PhantomData<P>);

impl<P: Potential> Summand for OfKernel<P> {
    #[inline(always)]
    fn terms<S: Simd>(s: S, ux2: S::f64s, uy2: S::f64s, w: S::f64s) -> [S::f64s; 3] {
        let (k, slope) = P::radial(s, s.add_f64s(ux2, uy2));
        let share = s.mul_f64s(w, slope);
        [
            s.mul_f64s(w, k),
            s.mul_f64s(share, ux2),
            s.mul_f64s(share, uy2),
        ]
    }
}

/// The covariance of the averages over two regions.
pub(super) fn region_region<P: Potential>(
    a: &Outline,
    b: &Outline,
    slopes: bool,
    buffer: &mut Buffer,
) -> CovarianceValue {
    let arch = Arch::new();
    let product = |run: (usize, usize), nodes: (usize, usize)| {
        let (a, b) = (Line::of(a, run), Line::of(b, nodes));
        let profile = std::marker::PhantomData;
        if slopes {
            arch.dispatch(Product::<P, true> { a, b, profile })
        } else {
            arch.dispatch(Product::<P, false> { a, b, profile })
        }
    };
    let scale = a.inverse_area * b.inverse_area;
    let widest = |o: &Outline| o.panels.iter().fold(0.0, |m: f64, p| m.max(p.length));
    let kink = a.kink::<P>(b.growth);
    let Some(kink) = kink.filter(|k| widest(a).max(widest(b)) > k.finest) else {
        return product((0, a.x.len()), (0, b.x.len())).value(scale);
    };
    let mut sums = EdgeSums::default();
    for q in &b.panels {
        // Runs of panels that are clear of `q` at once, the others one by one.
        let mut run = (0, 0);
        for p in &a.panels {
            if p.length.max(q.length) <= kink.finest || is_clear(p, q) {
                run.1 = p.nodes.1;
                continue;
            }
            if run.0 < run.1 {
                sums.add(product(run, q.nodes));
            }
            run = (p.nodes.1, p.nodes.1);
            sums.add(touching::<P>(p, q, kink, buffer));
        }
        if run.0 < run.1 {
            sums.add(product(run, q.nodes));
        }
    }
    sums.value(scale)
}

/// Nodes on a panel that meets itself.
const SELF: usize = 12;

/// Two panels that are close to each other, halved until the kink of `H` does no harm.
fn touching<P: Potential>(p: &Panel, q: &Panel, kink: Kink, buffer: &mut Buffer) -> EdgeSums {
    buffer.clear();
    let mut stack = vec![(*p, *q, 1.0)];
    while let Some((p, q, weight)) = stack.pop() {
        let end = |p: &Panel| [p.from[0] + p.along[0], p.from[1] + p.along[1]];
        let same = p.from == q.from && p.along == q.along;
        let reversed = p.from == end(&q) && q.from == end(&p);
        if same || reversed {
            // int int f(|t - t'|) = 2 int (1 - u) f(u): no kink inside.
            for &(u, w) in &LINES[SELF] {
                buffer.push(u * p.along[0], u * p.along[1], 2.0 * weight * w * (1.0 - u));
            }
        } else if p.length.max(q.length) <= kink.finest || is_clear(&p, &q) {
            let line = &LINES[kink.nodes(p.length.max(q.length))];
            for &(t, w) in line {
                let x = [0, 1].map(|d| p.from[d] + t * p.along[d] - q.from[d]);
                for &(u, v) in line {
                    buffer.push(x[0] - u * q.along[0], x[1] - u * q.along[1], weight * w * v);
                }
            }
        } else if p.length >= q.length {
            let [first, second] = halves(&p);
            stack.push((first, q, 0.5 * weight));
            stack.push((second, q, 0.5 * weight));
        } else {
            let [first, second] = halves(&q);
            stack.push((p, first, 0.5 * weight));
            stack.push((p, second, 0.5 * weight));
        }
    }
    let [h, gx, gy] = buffer.sum::<OfPotential<P>>();
    let (xx, yy) = (p.along[0] * q.along[0], p.along[1] * q.along[1]);
    EdgeSums {
        x: xx * h,
        y: yy * h,
        gx: (xx + yy) * gx,
        gy: (xx + yy) * gy,
    }
}

fn halves(p: &Panel) -> [Panel; 2] {
    let along = [0.5 * p.along[0], 0.5 * p.along[1]];
    let half = Panel {
        along,
        length: 0.5 * p.length,
        ..*p
    };
    let from = [p.from[0] + along[0], p.from[1] + along[1]];
    [half, Panel { from, ..half }]
}

/// The covariance of the average over a region and the value at a point.
pub(super) fn region_point<P: Potential>(
    a: &Outline,
    point: [f64; 2],
    buffer: &mut Buffer,
) -> CovarianceValue {
    if a.is_large {
        return large_point::<P>(a, point, buffer);
    }
    buffer.clear();
    let kink = a.kink::<P>(1.0);
    let finest = kink.map_or(f64::INFINITY, |k| k.finest);
    let mut stack: Vec<Panel> = Vec::new();
    for p in &a.panels {
        if p.length <= finest || is_clear_of(p, point) {
            for i in p.nodes.0..p.nodes.1 {
                let (ux, uy) = (a.x[i] - point[0], a.y[i] - point[1]);
                buffer.push(ux, uy, ux * a.wy[i] - uy * a.wx[i]);
            }
            continue;
        }
        stack.push(*p);
        while let Some(p) = stack.pop() {
            if p.length > finest && !is_clear_of(&p, point) {
                stack.extend(halves(&p));
                continue;
            }
            for &(t, w) in &LINES[kink.map_or(0, |k| k.nodes(p.length))] {
                let ux = p.from[0] + t * p.along[0] - point[0];
                let uy = p.from[1] + t * p.along[1] - point[1];
                buffer.push(ux, uy, w * (ux * p.along[1] - uy * p.along[0]));
            }
        }
    }
    let [k, dx, dy] = buffer.sum::<OfFlux<P>>();
    CovarianceValue {
        k: k * a.inverse_area,
        d: [dx * a.inverse_area, dy * a.inverse_area],
    }
}

fn is_clear_of(p: &Panel, point: [f64; 2]) -> bool {
    let middle = [0, 1].map(|d| p.from[d] + 0.5 * p.along[d] - point[d]);
    middle[0].hypot(middle[1]) >= 1.5 * p.length
}

/// Area nodes of one side: those of a region, or a point.
#[derive(Clone, Copy)]
pub(super) enum Area<'a> {
    Compact(&'a Compact),
    Point([f64; 2]),
}

impl<'a> Area<'a> {
    fn parts(&'a self) -> (&'a [f64], &'a [f64], &'a [f64]) {
        match self {
            Self::Compact(c) => (&c.nodes.x, &c.nodes.y, &c.nodes.weights),
            Self::Point([x, y]) => (std::slice::from_ref(x), std::slice::from_ref(y), &[1.0]),
        }
    }
}

/// The covariance of two supports by their area nodes.
pub(super) fn area_area<P: Potential>(a: Area<'_>, b: Area<'_>) -> CovarianceValue {
    let (mut a, mut b) = (a.parts(), b.parts());
    if a.0.len() < b.0.len() {
        // The longer side fills the lanes.
        std::mem::swap(&mut a, &mut b);
    }
    let [k, dx, dy] = Arch::new().dispatch(Sum::<OfKernel<P>> {
        a: [a.0, a.1, a.2],
        b: [b.0, b.1, b.2],
        summand: std::marker::PhantomData,
    });
    CovarianceValue { k, d: [dx, dy] }
}
