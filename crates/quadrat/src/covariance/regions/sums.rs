//! Sums over pairs of edges and panels.

use super::value::CovarianceValue;
use pulp::{Arch, Simd, WithSimd};

use super::outline::Panel;
use crate::kernel::Potential;

/// `sum w_x w_x' H`, `sum w_y w_y' H`, `sum (w . w') g u_x^2`, `sum (w . w') g u_y^2`.
#[derive(Default, Clone, Copy)]
pub(super) struct EdgeSums {
    pub x: f64,
    pub y: f64,
    pub gx: f64,
    pub gy: f64,
}

impl EdgeSums {
    pub fn add(&mut self, other: Self) {
        self.x += other.x;
        self.y += other.y;
        self.gx += other.gx;
        self.gy += other.gy;
    }

    pub fn value(self, scale: f64) -> CovarianceValue {
        CovarianceValue {
            k: (self.x + self.y) * scale,
            d: [
                (2.0 * self.y + self.gx) * scale,
                (2.0 * self.x + self.gy) * scale,
            ],
        }
    }
}

/// Nodes of the panels that are still to be evaluated; a buffer of one thread.
#[derive(Default)]
pub(super) struct Buffer {
    ux: Vec<f64>,
    uy: Vec<f64>,
    w: Vec<f64>,
    /// For nodes on grids.
    pub grid: Vec<f64>,
}

/// Three sums over lanes of squared differences and weights.
pub(super) trait Summand {
    /// The terms of one lane.
    fn terms<S: Simd>(s: S, ux2: S::f64s, uy2: S::f64s, w: S::f64s) -> [S::f64s; 3];
}

/// `w g` and its derivatives `w (2g - k) u_d^2 / r^2`.
pub(super) struct OfFlux<P>(std::marker::PhantomData<P>);

impl<P: Potential> Summand for OfFlux<P> {
    #[inline(always)]
    fn terms<S: Simd>(s: S, ux2: S::f64s, uy2: S::f64s, w: S::f64s) -> [S::f64s; 3] {
        let r2 = s.add_f64s(ux2, uy2);
        let (g, fall) = P::flux(s, r2);
        let tiny = s.splat_f64s(f64::MIN_POSITIVE);
        let share = s.div_f64s(s.mul_f64s(w, fall), s.max_f64s(r2, tiny));
        [
            s.mul_f64s(w, g),
            s.mul_f64s(share, ux2),
            s.mul_f64s(share, uy2),
        ]
    }
}

/// Sums over pairs of the columns `a = [x, y, w]` and one node `[x, y, w]` after the other.
pub(super) struct Sum<'a, T> {
    pub(super) a: [&'a [f64]; 3],
    pub(super) b: [&'a [f64]; 3],
    pub(super) summand: std::marker::PhantomData<T>,
}

impl<T: Summand> WithSimd for Sum<'_, T> {
    type Output = [f64; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> [f64; 3] {
        let (x, x_tail) = S::as_simd_f64s(self.a[0]);
        let (y, y_tail) = S::as_simd_f64s(self.a[1]);
        let (w, w_tail) = S::as_simd_f64s(self.a[2]);
        let zero = s.splat_f64s(0.0);
        let (mut first, mut second, mut third) = (zero, zero, zero);
        // Weights of the padding are zero.
        let whole = x.len();
        let lanes = whole + usize::from(!x_tail.is_empty());
        for j in 0..self.b[0].len() {
            let bx = s.splat_f64s(self.b[0][j]);
            let by = s.splat_f64s(self.b[1][j]);
            let bw = s.splat_f64s(self.b[2][j]);
            for i in 0..lanes {
                let (x, y, w) = if i < whole {
                    (x[i], y[i], w[i])
                } else {
                    (
                        s.partial_load_f64s(x_tail),
                        s.partial_load_f64s(y_tail),
                        s.partial_load_f64s(w_tail),
                    )
                };
                let (ux, uy) = (s.sub_f64s(x, bx), s.sub_f64s(y, by));
                let (ux2, uy2) = (s.mul_f64s(ux, ux), s.mul_f64s(uy, uy));
                let [f, g, h] = T::terms(s, ux2, uy2, s.mul_f64s(w, bw));
                first = s.add_f64s(first, f);
                second = s.add_f64s(second, g);
                third = s.add_f64s(third, h);
            }
        }
        [
            s.reduce_sum_f64s(first),
            s.reduce_sum_f64s(second),
            s.reduce_sum_f64s(third),
        ]
    }
}

impl Buffer {
    pub fn clear(&mut self) {
        self.ux.clear();
        self.uy.clear();
        self.w.clear();
    }

    pub fn push(&mut self, ux: f64, uy: f64, weight: f64) {
        self.ux.push(ux);
        self.uy.push(uy);
        self.w.push(weight);
    }

    /// Other weights for the same differences.
    pub fn weigh(&mut self, weights: &[f64]) {
        self.w.clear();
        self.w.extend_from_slice(weights);
    }

    /// The sums over the differences in the buffer.
    pub fn sum<T: Summand>(&self) -> [f64; 3] {
        Arch::new().dispatch(Sum::<T> {
            a: [&self.ux, &self.uy, &self.w],
            b: [&[0.0], &[0.0], &[1.0]],
            summand: std::marker::PhantomData,
        })
    }
}

/// Whether two panels are farther apart than the longer one is long.
pub(super) fn is_clear(p: &Panel, q: &Panel) -> bool {
    let middle = |p: &Panel| [0, 1].map(|d| p.from[d] + 0.5 * p.along[d]);
    let (c, e) = (middle(p), middle(q));
    let reach = p.length.max(q.length) + 0.5 * (p.length + q.length);
    (c[0] - e[0]).powi(2) + (c[1] - e[1]).powi(2) >= reach * reach
}
