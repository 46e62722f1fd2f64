//! Moments of planar sets in Chebyshev polynomials.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::linalg::{Mat, MatRef, gemm};
use crate::quadrature::gauss_legendre;

/// Sizes of the tables: the smallest that suffices is made.
const RUNGS: [usize; 5] = [12, 20, 36, 64, MAX_MOMENTS];
/// Most polynomials along a column.
pub(crate) const MAX_MOMENTS: usize = 160;
/// Accuracy of the moments, relative to those of the bounding box.
const ACCURACY: f64 = 1e-14;

/// A directed edge, region on the left.
pub(crate) type Edge = ([f64; 2], [f64; 2]);

/// Averages of `T_k(x) T_l(y)` over a planar set, in coordinates that map its bounding box to
/// `[-1, 1]^2`: made when first asked for, and shared by all copies.
///
/// They are the same under every scaling of the columns, so that they serve all lengthscales.
///
/// # Source
/// Green's theorem: `integral T_k T_l = sum over edges of integral (int T_k dx) T_l dy`. Error of
/// Gauss-Legendre rules: Trefethen, *Approximation Theory and Approximation Practice*,
/// theorem 19.3.
#[derive(Clone, Default)]
pub(crate) struct ChebyshevMoments(Arc<[OnceLock<Mat<f64>>; RUNGS.len()]>);

impl fmt::Debug for ChebyshevMoments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Moments")
    }
}

/// They follow from the region, which is compared.
impl PartialEq for ChebyshevMoments {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl ChebyshevMoments {
    /// The moments with `k` and `l` below `needed` (and some more) of the set with these edges and
    /// this bounding box: always the same numbers, since the first ones asked for are kept.
    pub fn table(
        &self,
        needed: usize,
        edges: &[Edge],
        centre: [f64; 2],
        half: [f64; 2],
    ) -> MatRef<'_, f64> {
        let last = RUNGS.len() - 1;
        let rung = RUNGS.iter().position(|r| *r >= needed).unwrap_or(last);
        self.0[rung]
            .get_or_init(|| averages(edges, centre, half, RUNGS[rung]))
            .as_ref()
    }
}

fn averages(edges: &[Edge], centre: [f64; 2], half: [f64; 2], n: usize) -> Mat<f64> {
    let lines = lines(2 * n);
    let map = |v: &[f64; 2]| [0, 1].map(|d| (v[d] - centre[d]) / half[d]);
    let nodes = edges.iter().flat_map(|(from, to)| {
        let (from, to) = (map(from), map(to));
        let along = [to[0] - from[0], to[1] - from[1]];
        let length = along[0].abs().max(along[1].abs());
        let bucket = (2.0 / length)
            .log2()
            .floor()
            .clamp(0.0, (BUCKETS - 1) as f64);
        // Of an edge along which y does not change there is nothing.
        let line: &[(f64, f64)] = match along[1] == 0.0 {
            true => &[],
            false => &lines[bucket as usize],
        };
        line.iter()
            .map(move |(t, w)| [from[0] + t * along[0], from[1] + t * along[1], w * along[1]])
    });
    let mut moments = Mat::zeros(n, n);
    let mut some = Vec::with_capacity(AT_ONCE);
    let mut nodes = nodes.peekable();
    while nodes.peek().is_some() {
        some.clear();
        some.extend(nodes.by_ref().take(AT_ONCE));
        let part = products(&some, n);
        for l in 0..n {
            for k in 0..n {
                moments[(k, l)] += part[(k, l)];
            }
        }
    }
    let area = moments[(0, 0)];
    for l in 0..n {
        for k in 0..n {
            moments[(k, l)] /= area;
        }
    }
    moments
}

/// Nodes whose polynomials are held at once, 10 MB for the largest tables.
const AT_ONCE: usize = 4096;

/// Sums over some nodes `(x, y, weight)` of `weight int T_k(x) T_l(y)`.
fn products(at: &[[f64; 3]], n: usize) -> Mat<f64> {
    let mut integrals = Mat::zeros(n, at.len());
    let mut values = Mat::zeros(at.len(), n);
    let mut t = vec![0.0; n + 1];
    for (q, [x, y, w]) in at.iter().enumerate() {
        chebyshev_into(*x, &mut t);
        for k in 0..n {
            integrals[(k, q)] = w * match k {
                0 => t[1],
                1 => 0.5 * x * x,
                _ => 0.5 * (t[k + 1] / (k + 1) as f64 - t[k - 1] / (k - 1) as f64),
            };
        }
        chebyshev_into(*y, &mut t);
        for l in 0..n {
            values[(q, l)] = t[l];
        }
    }
    gemm(integrals.as_ref(), values.as_ref())
}

/// Sizes of edges, by halving, for which lines are chosen.
const BUCKETS: usize = 12;

/// Gauss-Legendre rules on `[0, 1]` for edges up to `2^(1 - b)` long, `b = 0, 1, ..`, that
/// integrate products of Chebyshev polynomials of degrees that add up to `degree`.
fn lines(degree: usize) -> Vec<Vec<(f64, f64)>> {
    let exact = degree / 2 + 2;
    let nodes = |bucket: usize| {
        let half = 0.5_f64.powi(bucket as i32);
        // Such a product is at most exp(degree acosh(1 + d)) at a distance d from [-1, 1].
        let needed = |step: i32| {
            let rho = 2.0_f64.powi(step);
            let away = half * 0.5 * (rho - 1.0 / rho);
            let growth = degree as f64 * (1.0 + away).acosh();
            (growth + (6.0 / ACCURACY).ln()) / (2.0 * rho.ln())
        };
        let least = (1..24).map(needed).fold(f64::INFINITY, f64::min);
        exact.min(least.ceil() as usize)
    };
    (0..BUCKETS)
        .map(|b| gauss_legendre(nodes(b)).on(0.0, 1.0).collect())
        .collect()
}

/// `T_0(x) .. `, at least two of them.
pub(crate) fn chebyshev_into(x: f64, t: &mut [f64]) {
    t[0] = 1.0;
    t[1] = x;
    for k in 2..t.len() {
        t[k] = 2.0 * x * t[k - 1] - t[k - 2];
    }
}
