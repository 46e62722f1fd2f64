//! What the functions leave out of the prior of the log odds of bins.
//!
//! Functions are at most some hundred products of cosines. Where lengthscales are short these make
//! up a part of the variance alone, and districts look more certain by their neighbours than the
//! kernel says. Of log odds with the slope `x` in the function on the cells, with the products of
//! all cosines `T = C_1' x C_2` and their covariances `M_1`, `M_2` along the two axes, the products
//! `T_-` that are not taken have
//!
//! $$ \sigma^2 \sum_{ij} T_{-ij} (M_1 T_- M_2)_{ij} $$

use crate::linalg::{Mat, add_scaled, gemm};

use super::super::basis::Kernel;
use super::super::odds::Odds;
use super::functions::{Functions, norm};
use super::grid::CellGrid;
use super::orders::COSINES;
use super::patches::Patches;
use super::prior::AxisCovariance;

/// Cosines of an axis, shape `[cosines, cells]`.
fn cosines(cells: usize) -> Mat<f64> {
    let count = cells.min(COSINES);
    let angle = std::f64::consts::PI / cells as f64;
    Mat::from_fn(count, cells, |k, j| {
        norm(cells, k) * (angle * k as f64 * (j as f64 + 0.5)).cos()
    })
}

/// The variance of the log odds of each bin that the functions leave out.
///
/// # Arguments
/// * `sd`, `lengths` - of the kernel
/// * `mass` - the probability of each cell
/// * `odds` - of the bins there
pub(super) fn left_out(
    (grid, functions): (&CellGrid, &Functions),
    kernel: Kernel,
    (sd, lengths): (f64, [f64; 2]),
    mass: &[f64],
    bins: &Patches,
    odds: &[Odds],
) -> Vec<f64> {
    let columns = grid.shape()[1];
    let [one, two] = grid.shape().map(cosines);
    let covariance = |a: usize, count: usize| {
        AxisCovariance::new(kernel, &grid.axes[a], lengths[a], count).value
    };
    let (first, second) = (covariance(0, one.nrows()), covariance(1, two.nrows()));
    let mut of: Vec<Vec<(usize, f64)>> = vec![Vec::new(); bins.weights.len()];
    for (cell, u) in mass.iter().enumerate() {
        let entries = bins.of(cell).iter();
        entries.for_each(|(b, share)| of[*b].push((cell, share * u)));
    }
    // The transpose of `C_1' x C_2`, line after line of the cells.
    let transform = |entries: &[(usize, f64)]| {
        let mut out = Mat::zeros(two.nrows(), one.nrows());
        for line in entries.chunk_by(|a, b| a.0 / columns == b.0 / columns) {
            let mut along = vec![0.0; two.nrows()];
            for (cell, x) in line {
                add_scaled(*x, two.col_as_slice(cell % columns), &mut along);
            }
            let at = one.col_as_slice(line[0].0 / columns);
            for (k, by) in at.iter().enumerate() {
                add_scaled(*by, &along, out.col_as_slice_mut(k));
            }
        }
        out
    };
    let whole: Vec<(usize, f64)> = mass.iter().copied().enumerate().collect();
    let whole = transform(&whole);
    let variance = |(entries, odds): (&Vec<(usize, f64)>, &Odds)| {
        let p = odds.probability;
        let (own, rest) = (1.0 / (p * (1.0 - p)), 1.0 / (1.0 - p));
        if !own.is_finite() || !rest.is_finite() {
            return 0.0;
        }
        let mut t = transform(entries);
        for k in 0..t.ncols() {
            let column = t.col_as_slice_mut(k).iter_mut();
            let pairs = column.zip(whole.col_as_slice(k));
            pairs.for_each(|(t, whole)| *t = own * *t - rest * whole);
        }
        // A shift of the whole function changes no odds.
        t[(0, 0)] = 0.0;
        for i in functions.q..functions.len() {
            let (k, l) = functions.order(i);
            t[(l, k)] = 0.0;
        }
        let moved = gemm(gemm(second.as_ref(), t.as_ref()).as_ref(), first.as_ref());
        let sum: f64 = (0..t.ncols())
            .map(|k| crate::linalg::dot(t.col_as_slice(k), moved.col_as_slice(k)))
            .sum();
        sd * sd * sum.max(0.0)
    };
    of.iter().zip(odds).map(variance).collect()
}
