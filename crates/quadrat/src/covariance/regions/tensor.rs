//! Averages of a squared exponential over planar sets by interpolation along both columns.
//!
//! `exp(-(x - x')^2 / 2)` is replaced, on the bounding interval of a set, by its interpolant at the
//! Chebyshev points `x_1 .. x_n`; so is the factor along the other column. The average over the
//! set is then `sum_ij W_ij k(., (x_i, y_j))`, `W_ij` the average of the product of two Lagrange
//! polynomials: sums over the edges, exact to rounding. As the kernel is a product, the covariance
//! of two sets is `sum (E_x W')_ij (W E_y)_ij` with `E_x = exp(-(x_i - x'_k)^2 / 2)`: `O(n^3)` for
//! `n^2` nodes a side, and positive semi-definite whatever `n`.
//!
//! # Source
//! Error of the interpolant: Trefethen, *Approximation Theory and Approximation Practice*,
//! theorem 8.2.

use std::ops::Range;
use std::sync::OnceLock;

use pulp::{Arch, Simd, WithSimd};

use super::value::CovarianceValue;
use crate::linalg::{Mat, MatRef, gemm};
use crate::special::exp_simd;
use crate::support::MAX_MOMENTS;

/// Most points along a column: enough for sets of some sixty lengthscales. Larger ones have another
/// rule.
const MAX_POINTS: usize = MAX_MOMENTS;
/// The same for the members of a mixture, of which there are many: the work grows with the third
/// power.
const MAX_MIXED: usize = 48;
/// Most weights of all sets of a side, 128 MB.
const MAX_WEIGHTS: f64 = (1 << 24) as f64;
/// Rows of weights are padded to a multiple of this, the widest register.
const LANES: usize = 8;

/// Nodes on a grid over the bounding box of a set, in scaled coordinates.
pub(super) struct Tensor {
    /// Points along the two columns, padded by repetition of the last.
    x: Vec<f64>,
    y: Vec<f64>,
    points: [usize; 2],
    /// `weights[i * y.len() + j]`; zero in the padding. They sum to one.
    weights: Vec<f64>,
}

impl Tensor {
    /// Most points along a column when there are so many sets under so many kernels.
    pub fn most_points(sets: usize, kernels: usize) -> usize {
        let most = (MAX_WEIGHTS / (sets.max(1) * kernels.max(1)) as f64).sqrt();
        let limit = if kernels > 1 { MAX_MIXED } else { MAX_POINTS };
        (most as usize).clamp(2 * LANES, limit)
    }

    /// Points along a column for a half width in lengthscales: an interpolant that is off by at
    /// most `tolerance`, or more than [`MAX_POINTS`].
    pub fn points(half: f64, tolerance: f64) -> usize {
        // On the ellipse with axes (rho +- 1 / rho) / 2 a kernel reaches exp(b^2 half^2 / 2).
        let needed = |step: usize| {
            let rho = 1.0 + 1.25_f64.powi(step as i32 - 12);
            let b = 0.5 * (rho - 1.0 / rho);
            let growth = 0.5 * (b * half).powi(2);
            ((4.0 / ((rho - 1.0) * tolerance)).ln() + growth) / rho.ln()
        };
        let least = (0..56).map(needed).fold(f64::INFINITY, f64::min);
        // At least two: one would be exact for constants only. The limit comes before the cast.
        let least = least.clamp(1.0, MAX_POINTS as f64).ceil();
        least as usize + 1
    }

    /// A grid of `points` over the set with these `moments` and this bounding box.
    pub fn new(
        moments: MatRef<'_, f64>,
        centre: [f64; 2],
        half: [f64; 2],
        points: [usize; 2],
    ) -> Self {
        let rules = points.map(rule);
        let needed = moments.submatrix(0, 0, points[0], points[1]);
        let along_x = gemm(rules[0].basis.as_ref(), needed);
        let product = gemm(along_x.as_ref(), rules[1].basis.transpose());
        let place = |d: usize| -> Vec<f64> {
            let last = points[d] - 1;
            let padded = points[d].next_multiple_of(LANES);
            let at = |i: usize| centre[d] + half[d] * rules[d].nodes[i.min(last)];
            (0..padded).map(at).collect()
        };
        let (x, y) = (place(0), place(1));
        let mut weights = vec![0.0; points[0] * y.len()];
        for (i, row) in weights.chunks_exact_mut(y.len()).enumerate() {
            for j in 0..points[1] {
                row[j] = product[(i, j)];
            }
        }
        Self {
            x,
            y,
            points,
            weights,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.points[0] * self.points[1]
    }

    pub fn grid(&self) -> NodeGrid<'_> {
        NodeGrid {
            x: &self.x,
            y: &self.y,
            points: self.points,
            weights: &self.weights,
        }
    }
}

/// Chebyshev points and the map from values of Chebyshev polynomials to Lagrange polynomials.
struct Rule {
    nodes: Vec<f64>,
    /// `basis[(i, k)]`: coefficient of `T_k` in the Lagrange polynomial of node `i`.
    basis: Mat<f64>,
}

fn rule(points: usize) -> &'static Rule {
    static RULES: [OnceLock<Rule>; MAX_POINTS + 1] = [const { OnceLock::new() }; MAX_POINTS + 1];
    RULES[points.min(MAX_POINTS)].get_or_init(|| {
        let n = points as f64;
        let angle = |i: usize| std::f64::consts::PI * (i as f64 + 0.5) / n;
        Rule {
            nodes: (0..points).map(|i| -angle(i).cos()).collect(),
            basis: Mat::from_fn(points, points, |i, k| {
                let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
                let share = if k == 0 { 1.0 } else { 2.0 };
                share * sign * (k as f64 * angle(i)).cos() / n
            }),
        }
    })
}

/// Weighted nodes on a grid; a point is the smallest.
#[derive(Clone, Copy)]
pub(super) struct NodeGrid<'a> {
    pub x: &'a [f64],
    pub y: &'a [f64],
    pub points: [usize; 2],
    pub weights: &'a [f64],
}

impl<'a> NodeGrid<'a> {
    /// Places and weights of all nodes.
    pub fn nodes(&self) -> Vec<([f64; 2], f64)> {
        let stride = self.weights.len() / self.points[0];
        let at = |i: usize, j: usize| ([self.x[i], self.y[j]], self.weights[i * stride + j]);
        let rows = 0..self.points[0];
        rows.flat_map(|i| (0..self.points[1]).map(move |j| at(i, j)))
            .collect()
    }

    pub fn of_point([x, y]: &'a [f64; 2]) -> Self {
        Self {
            x: std::slice::from_ref(x),
            y: std::slice::from_ref(y),
            points: [1, 1],
            weights: &[1.0],
        }
    }
}

/// The covariance of two weighted grids under `exp(-(dx^2 + dy^2) / 2)`.
///
/// `buffer` holds the exponentials between two calls of one thread.
pub(super) fn grid_grid(
    a: NodeGrid<'_>,
    b: NodeGrid<'_>,
    slopes: bool,
    buffer: &mut Vec<f64>,
) -> CovarianceValue {
    // The larger grid fills the lanes; only it needs to be padded.
    let (a, b) = if a.weights.len() <= b.weights.len() {
        (a, b)
    } else {
        (b, a)
    };
    let arch = Arch::new();
    if slopes {
        arch.dispatch(Product::<true> { a, b, buffer })
    } else {
        arch.dispatch(Product::<false> { a, b, buffer })
    }
}

struct Product<'a, const SLOPES: bool> {
    a: NodeGrid<'a>,
    b: NodeGrid<'a>,
    buffer: &'a mut Vec<f64>,
}

impl<const SLOPES: bool> WithSimd for Product<'_, SLOPES> {
    type Output = CovarianceValue;

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> CovarianceValue {
        let Self { a, b, buffer } = self;
        let ([nx, ny], [mx, my]) = (a.points, [b.x.len(), b.y.len()]);
        let kinds = 1 + usize::from(SLOPES);
        let needed = kinds * (nx * mx + ny * my);
        if buffer.len() < needed {
            buffer.resize(needed, 0.0);
        }
        let (in_x, rest) = buffer.split_at_mut(nx * mx);
        let (in_y, rest) = rest.split_at_mut(ny * my);
        let (slope_x, slope_y) = if SLOPES {
            rest.split_at_mut(nx * mx)
        } else {
            rest.split_at_mut(0)
        };
        exponentials::<S, SLOPES>(s, &a.x[..nx], b.x, in_x, slope_x);
        exponentials::<S, SLOPES>(s, &a.y[..ny], b.y, in_y, slope_y);

        let stride = a.weights.len() / nx;
        let mut out = CovarianceValue::default();
        let lanes = S::F64_LANES;
        for i in 0..nx {
            let near_x = near(b.x, b.points[0], a.x[i], a.x[i]);
            let at = i * mx + near_x.start..i * mx + near_x.end;
            let row = Row {
                in_x: &in_x[at.clone()],
                slope_x: if SLOPES { &slope_x[at] } else { &[] },
                weights_a: &a.weights[i * stride..][..ny],
                weights_b: &b.weights[near_x.start * my..],
                in_y,
                slope_y,
                width: my,
            };
            let mut from = 0;
            while from < my {
                let wide = from + 4 * lanes <= my;
                let end = from + if wide { 4 * lanes } else { lanes };
                let rows = near(a.y, ny, b.y[from], b.y[end - 1]);
                if wide {
                    row.add::<S, 4, SLOPES>(s, from, rows, &mut out);
                } else {
                    row.add::<S, 1, SLOPES>(s, from, rows, &mut out);
                }
                from = end;
            }
        }
        out
    }
}

/// Distance in lengthscales beyond which a squared exponential is below 1e-18 of its variance.
const REACH: f64 = 9.2;

/// Those of the first `n` ascending points that lie within reach of the interval `[low, high]`.
#[inline(always)]
fn near(points: &[f64], n: usize, low: f64, high: f64) -> Range<usize> {
    let (mut start, mut end) = (0, n);
    while start < end && points[start] < low - REACH {
        start += 1;
    }
    while end > start && points[end - 1] > high + REACH {
        end -= 1;
    }
    start..end
}

/// `exp(-(p_i - q_k)^2 / 2)` and, with slopes, that times `(p_i - q_k)^2`; `q` is padded.
#[inline(always)]
fn exponentials<S: Simd, const SLOPES: bool>(
    s: S,
    p: &[f64],
    q: &[f64],
    value: &mut [f64],
    slope: &mut [f64],
) {
    let half = s.splat_f64s(-0.5);
    let (q_lanes, _) = S::as_simd_f64s(q);
    for (i, &p) in p.iter().enumerate() {
        let p = s.splat_f64s(p);
        let (out, _) = S::as_mut_simd_f64s(&mut value[i * q.len()..][..q.len()]);
        for (o, &q) in out.iter_mut().zip(q_lanes) {
            let u = s.sub_f64s(p, q);
            *o = exp_simd(s, s.mul_f64s(half, s.mul_f64s(u, u)));
        }
        if SLOPES {
            let (slopes, _) = S::as_mut_simd_f64s(&mut slope[i * q.len()..][..q.len()]);
            for ((d, &o), &q) in slopes.iter_mut().zip(&*out).zip(q_lanes) {
                let u = s.sub_f64s(p, q);
                *d = s.mul_f64s(o, s.mul_f64s(u, u));
            }
        }
    }
}

/// One row of the first grid against all of the second.
struct Row<'a> {
    in_x: &'a [f64],
    slope_x: &'a [f64],
    weights_a: &'a [f64],
    weights_b: &'a [f64],
    in_y: &'a [f64],
    slope_y: &'a [f64],
    width: usize,
}

impl Row<'_> {
    /// Adds what `V` registers of columns beginning at `from` contribute.
    #[inline(always)]
    fn add<S: Simd, const V: usize, const SLOPES: bool>(
        &self,
        s: S,
        from: usize,
        rows: Range<usize>,
        out: &mut CovarianceValue,
    ) {
        let zero = s.splat_f64s(0.0);
        let (mut left, mut left_slope) = ([zero; V], [zero; V]);
        for (k, &e) in self.in_x.iter().enumerate() {
            let lanes = S::as_simd_f64s(&self.weights_b[k * self.width + from..]).0;
            let e = s.splat_f64s(e);
            for v in 0..V {
                left[v] = s.mul_add_f64s(e, lanes[v], left[v]);
            }
            if SLOPES {
                let d = s.splat_f64s(self.slope_x[k]);
                for v in 0..V {
                    left_slope[v] = s.mul_add_f64s(d, lanes[v], left_slope[v]);
                }
            }
        }
        let (mut right, mut right_slope) = ([zero; V], [zero; V]);
        for j in rows {
            let w = self.weights_a[j];
            let at = j * self.width + from;
            let lanes = S::as_simd_f64s(&self.in_y[at..]).0;
            let w = s.splat_f64s(w);
            for v in 0..V {
                right[v] = s.mul_add_f64s(w, lanes[v], right[v]);
            }
            if SLOPES {
                let lanes = S::as_simd_f64s(&self.slope_y[at..]).0;
                for v in 0..V {
                    right_slope[v] = s.mul_add_f64s(w, lanes[v], right_slope[v]);
                }
            }
        }
        let (mut k, mut dx, mut dy) = (zero, zero, zero);
        for v in 0..V {
            k = s.mul_add_f64s(left[v], right[v], k);
            if SLOPES {
                dx = s.mul_add_f64s(left_slope[v], right[v], dx);
                dy = s.mul_add_f64s(left[v], right_slope[v], dy);
            }
        }
        out.k += s.reduce_sum_f64s(k);
        if SLOPES {
            out.d[0] += s.reduce_sum_f64s(dx);
            out.d[1] += s.reduce_sum_f64s(dy);
        }
    }
}
