//! Squared distances in many dimensions, and their derivatives, as matrix products.

use faer::{Mat, MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};

use super::tile::{Tile, WithSlopes};
use crate::linalg::{dot, gemm_into, vectorised};

/// From so many dimensions on, distances and their derivatives are matrix products, `|x - y|^2 =
/// |x|^2 + |y|^2 - 2 x'y`: cheaper by several times, and exact to rounding of `|x|^2`, about the
/// middle of one side.
pub(super) const WIDE: usize = 8;

/// Coordinates of both sides about the middle of the columns, over lengthscales.
pub(super) struct Wide {
    /// Rows `x', |x|^2, 1` of the lanes.
    lanes: Mat<f64>,
    /// Rows `-2 y', 1, |y|^2` of the columns.
    columns: Mat<f64>,
    /// Columns `x` of the lanes, and rows of their squares; empty unless slopes are wanted.
    turned: Mat<f64>,
    squares: Mat<f64>,
    /// The largest squared length.
    longest: f64,
}

/// Squared lengths, over lengthscales, up to which differences of products are distances: their
/// rounding is some `eps` of it, here 1e-9.
const LONGEST: f64 = 4e6;

impl Wide {
    /// # Arguments
    /// * `a`, `b` - coordinates of lanes and columns, dimension by dimension
    pub fn new(a: &[&[f64]], b: &[&[f64]], inverse: &[f64], slopes: WithSlopes) -> Self {
        let dims = inverse.len();
        let size = |side: &[&[f64]]| side.first().map_or(0, |x| x.len());
        let (n, m) = (size(a), size(b));
        let middles: Vec<f64> = b
            .iter()
            .map(|b| b.iter().sum::<f64>() / m.max(1) as f64)
            .collect();
        // Coordinates, their sums of squares in column `square`, and ones in the other of the last
        // two.
        let scaled = |side: &[&[f64]], size: usize, square: usize| {
            let mut out = Mat::zeros(size, dims + 2);
            let mut lengths = vec![0.0; size];
            for (d, x) in side.iter().enumerate() {
                let (middle, by) = (middles[d], inverse[d]);
                let own = out.col_as_slice_mut(d);
                vectorised(|| {
                    for ((o, length), x) in own.iter_mut().zip(&mut lengths).zip(*x) {
                        *o = (x - middle) * by;
                        *length += *o * *o;
                    }
                });
            }
            out.col_as_slice_mut(square).copy_from_slice(&lengths);
            out.col_as_slice_mut(2 * dims + 1 - square).fill(1.0);
            out
        };
        let (lanes, mut columns) = (scaled(a, n, dims), scaled(b, m, dims + 1));
        for d in 0..dims {
            columns
                .col_as_slice_mut(d)
                .iter_mut()
                .for_each(|y| *y *= -2.0);
        }
        let longest = lanes.col_as_slice(dims).iter();
        let longest = longest.chain(columns.col_as_slice(dims + 1));
        let longest = longest.fold(0.0, |most: f64, x| most.max(*x));
        let (mut turned, mut squares) = (Mat::new(), Mat::new());
        if slopes == WithSlopes::Yes {
            turned = lanes.subcols(0, dims).transpose().to_owned();
            squares = Mat::from_fn(n, dims, |i, d| lanes[(i, d)].powi(2));
        }
        Self {
            lanes,
            columns,
            turned,
            squares,
            longest,
        }
    }

    /// Whether places are near enough to the middle for distances by products.
    pub fn is_exact(&self) -> bool {
        self.longest <= LONGEST
    }

    /// `out[j * na + i] = |x_i - y_j|^2` of a tile, over lengthscales; rounding may leave it below
    /// zero.
    pub fn squared_distances(&self, tile: &Tile, out: &mut [f64]) {
        let (n, m) = (tile.a.len(), tile.b.len());
        let out = MatMut::from_column_major_slice_mut(out, n, m);
        let lanes = self.lanes.subrows(tile.a.start, n);
        gemm_into(
            out,
            false,
            1.0,
            lanes,
            self.columns.subrows(tile.b.start, m).transpose(),
        );
    }

    /// As [`squared_gaps`](super::radial::squared_gaps); overwrites `adjoint`.
    pub fn squared_gaps(&self, tile: &Tile, slope: &[f64], adjoint: &mut [f64], sums: &mut [f64]) {
        let (n, m, dims) = (tile.a.len(), tile.b.len(), sums.len());
        let (mut rows, mut columns) = (vec![0.0; n], vec![0.0; m]);
        Arch::new().dispatch(Weigh {
            slope,
            adjoint,
            rows: &mut rows,
            columns: &mut columns,
        });
        // sum_i x_i^2 r_i + sum_j y_j^2 c_j - 2 sum_j (X'G)_j y_j, with sums r of rows and c of
        // columns.
        let mut turned = Mat::zeros(dims, m);
        let weights = MatRef::from_column_major_slice(&*adjoint, n, m);
        let lanes = self.turned.subcols(tile.a.start, n);
        gemm_into(turned.as_mut(), false, 1.0, lanes, weights);
        let mut turned = turned.transpose().to_owned();
        for (d, sum) in sums.iter_mut().enumerate() {
            let y = &self.columns.col_as_slice(d)[tile.b.clone()];
            let by = turned.col_as_slice_mut(d);
            // Of y it is -2 y that is held.
            let pairs = by.iter_mut().zip(y.iter().zip(&columns));
            vectorised(|| pairs.for_each(|(t, (y, c))| *t += 0.25 * y * c));
            *sum += dot(y, by);
            *sum += dot(&self.squares.col_as_slice(d)[tile.a.clone()], &rows);
        }
    }
}

/// Multiplies the adjoint by slopes and sums its rows and columns.
struct Weigh<'a> {
    slope: &'a [f64],
    adjoint: &'a mut [f64],
    rows: &'a mut [f64],
    columns: &'a mut [f64],
}

impl WithSimd for Weigh<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let n = self.rows.len();
        let (rows, rows_tail) = S::as_mut_simd_f64s(self.rows);
        let tiles = self
            .slope
            .chunks_exact(n)
            .zip(self.adjoint.chunks_exact_mut(n));
        for (total, (slope, adjoint)) in self.columns.iter_mut().zip(tiles) {
            let (slope, slope_tail) = S::as_simd_f64s(slope);
            let (adjoint, adjoint_tail) = S::as_mut_simd_f64s(adjoint);
            let mut sum = s.splat_f64s(0.0);
            for ((r, g), &k) in rows.iter_mut().zip(adjoint).zip(slope) {
                *g = s.mul_f64s(*g, k);
                *r = s.add_f64s(*r, *g);
                sum = s.add_f64s(sum, *g);
            }
            *total = s.reduce_sum_f64s(sum);
            for ((r, g), k) in rows_tail.iter_mut().zip(adjoint_tail).zip(slope_tail) {
                *g *= k;
                *r += *g;
                *total += *g;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::covariance::radial::{self, Coordinates};

    /// Both ways, with points that coincide and others that are far away, on a tile within.
    #[test]
    fn products_agree_with_differences() {
        let (n, m, dims) = (13, 7, WIDE + 1);
        let place =
            |i: usize, d: usize| 3.0 * ((0.618 * i as f64 + 0.37 * d as f64) % 1.0) + d as f64;
        let side = |n: usize, from: usize| -> Vec<Vec<f64>> {
            let column = |d| (0..n).map(|i| place(from + i, d)).collect();
            (0..dims).map(column).collect()
        };
        // The last of one side are the first of the other.
        let (a, b) = (side(n, 0), side(m, n - 3));
        let inverse: Vec<f64> = (0..dims).map(|d| 0.5 + 0.3 * d as f64).collect();
        let [all_a, all_b] =
            [&a, &b].map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let wide = Wide::new(&all_a, &all_b, &inverse, WithSlopes::Yes);
        let tile = Tile { a: 2..n, b: 1..m };
        let points = Coordinates {
            a: a.iter().map(|x| &x[tile.a.clone()]).collect(),
            b: b.iter().map(|x| &x[tile.b.clone()]).collect(),
        };
        let size = tile.len();
        let (mut want, mut got) = (vec![0.0; size], vec![f64::NAN; size]);
        radial::squared_distances(&inverse, &points, &mut want);
        wide.squared_distances(&tile, &mut got);
        for (got, want) in got.iter().zip(&want) {
            // Rounding of squared lengths of some hundreds.
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
        let slope: Vec<f64> = want.iter().map(|r| (-0.02 * r).exp()).collect();
        let adjoint: Vec<f64> = (0..size).map(|i| (1.7 * i as f64).sin()).collect();
        let (mut want, mut got) = (vec![1.0; dims], vec![1.0; dims]);
        radial::squared_gaps(&points, &inverse, &slope, &adjoint, &mut want);
        wide.squared_gaps(&tile, &slope, &mut adjoint.clone(), &mut got);
        for (got, want) in got.iter().zip(&want) {
            // The same, and so many terms.
            assert!((got - want).abs() < 1e-12 * size as f64, "{got} {want}");
        }
    }
}
