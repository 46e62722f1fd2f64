//! Dense linear algebra: a thin layer over `faer`, on one thread where threads do not pay.
//!
//! | symbol | meaning |
//! |---|---|
//! | `n` | rows of the square matrix |
//! | `m` | right-hand sides |
//! | `L` | lower Cholesky factor, `A = L L'` |

mod cholesky;
mod dual;
mod eigen;
mod low_rank;
pub mod packed;
mod scratch;
mod symmetric;
mod vector;

pub use cholesky::Cholesky;
pub use dual::Dual;
pub use eigen::{SymmetricEigen, symmetric_eigen};
pub use faer::{Mat, MatMut, MatRef};
pub use low_rank::low_rank_root;
pub(crate) use symmetric::symmetric_times;
pub use vector::dot;
pub(crate) use vector::{add_scaled, set_scaled, vectorised};

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Par};
use rayon::prelude::*;

/// Below this size one thread is faster than two (a 100 x 100 Cholesky: 21 against 52 us).
const PARALLEL_FROM: usize = 1500;

/// The parallelism of an operation whose smallest large dimension is `n`.
#[must_use]
pub fn parallelism(n: usize) -> Par {
    if n < PARALLEL_FROM {
        Par::Seq
    } else {
        Par::rayon(0)
    }
}

/// Writes `scale * a b` into `out`, or adds it when `accumulate` is set.
///
/// # Arguments
/// * `out` - shape `[n, m]`
/// * `a` - shape `[n, k]`; pass `x.transpose()` for a transposed operand
/// * `b` - shape `[k, m]`
///
/// # Panics
/// When the shapes do not match.
pub fn gemm_into(
    out: MatMut<'_, f64>,
    accumulate: bool,
    scale: f64,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
) {
    let par = parallelism(a.nrows().min(a.ncols()).min(b.ncols()));
    matmul(out, accum(accumulate), a, b, scale, par);
}

fn accum(accumulate: bool) -> Accum {
    match accumulate {
        true => Accum::Add,
        false => Accum::Replace,
    }
}

/// Rows of a product of which a triangle is made that are multiplied at a time: those of the
/// innermost product with AVX-512, a multiple of those with less.
const PANEL: usize = 48;
/// The same of [`lower_times_into`]: half of them go less far beyond the triangle, and lose
/// nothing.
const HALF_PANEL: usize = 24;
/// Columns that one thread multiplies.
const PARALLEL_PANEL: usize = 96;
/// Terms of the sums that are made at a time for a triangle: so many columns of a factor stay in
/// the cache from panel to panel.
const STRIP: usize = 256;

/// Cuts `0..n` into ranges of a length.
pub(crate) fn cut(n: usize, length: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..n)
        .step_by(length)
        .map(move |first| first..(first + length).min(n))
}

/// As [`gemm_into`], but only the lower triangle of a square `out` is computed, in about half the
/// time; the upper stays as it was.
///
/// # Panics
/// When the shapes do not match.
pub fn gemm_lower_into(
    mut out: MatMut<'_, f64>,
    accumulate: bool,
    scale: f64,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
) {
    let n = a.nrows();
    if !accumulate {
        for j in 0..n {
            out.as_mut().col_mut(j).subrows_mut(j, n - j).fill(0.0);
        }
    }
    let mut corner = Mat::zeros(n.min(PANEL), n.min(PANEL));
    for inner in cut(a.ncols(), STRIP) {
        let (a, b) = (
            a.subcols(inner.start, inner.len()),
            b.subrows(inner.start, inner.len()),
        );
        for rows in cut(n, PANEL) {
            let (first, size) = (rows.start, rows.len());
            let left = a.subrows(first, size);
            let (before, on) = (b.subcols(0, first), b.subcols(first, size));
            let panel = out.as_mut().submatrix_mut(first, 0, size, first + size);
            let (beside, mut diagonal) = panel.split_at_col_mut(first);
            gemm_into(beside, true, scale, left, before);
            let mut corner = corner.as_mut().submatrix_mut(0, 0, size, size);
            gemm_into(corner.as_mut(), false, scale, left, on);
            for j in 0..size {
                for i in j..size {
                    diagonal[(i, j)] += corner[(i, j)];
                }
            }
        }
    }
}

/// Some columns of [`gemm_lower_into`], on and below the diagonal.
fn lower_panel(
    out: MatMut<'_, f64>,
    columns: std::ops::Range<usize>,
    scale: f64,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let (n, inner) = (a.nrows(), a.ncols());
    let (first, width) = (columns.start, columns.len());
    let right = b.subcols(first, width);
    let (top, below) = out.subrows_mut(first, n - first).split_at_row_mut(width);
    triangular::matmul(
        top,
        TriangularLower,
        Accum::Replace,
        a.subrows(first, width),
        Rectangular,
        right,
        Rectangular,
        scale,
        parallelism(width.min(inner)),
    );
    gemm_into(below, false, scale, a.get(columns.end.., ..), right);
}

/// Multiplications from which products are worth the threads: a few milliseconds.
const PARALLEL_WORK: usize = 1 << 25;

/// As [`gemm_lower_into`], over threads where that pays; the result does not depend on their
/// number.
///
/// # Panics
/// When the shapes do not match.
pub fn par_gemm_lower_into(
    mut out: MatMut<'_, f64>,
    scale: f64,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
) {
    let n = a.nrows();
    if n * n * a.ncols() < 2 * PARALLEL_WORK {
        return gemm_lower_into(out, false, scale, a, b);
    }
    let chunks = out.as_mut().par_col_chunks_mut(PARALLEL_PANEL).enumerate();
    chunks.for_each(|(i, panel)| {
        let first = i * PARALLEL_PANEL;
        let columns = first..first + panel.ncols();
        lower_panel(panel, columns, scale, a, b);
    });
}

/// As [`gemm`], over threads where that pays; the result does not depend on their number.
///
/// # Panics
/// When the shapes do not match.
#[must_use]
pub fn par_gemm(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    if a.nrows() * a.ncols() * b.ncols() < PARALLEL_WORK {
        return gemm(a, b);
    }
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    let chunks = out.as_mut().par_col_chunks_mut(PARALLEL_PANEL).enumerate();
    chunks.for_each(|(i, panel)| {
        let right = b.subcols(i * PARALLEL_PANEL, panel.ncols());
        gemm_into(panel, false, 1.0, a, right);
    });
    out
}

/// Writes `l b` into `out` for a lower triangular `l`, in about half the time of [`gemm_into`].
///
/// # Arguments
/// * `out` - shape `[n, m]`
/// * `l` - shape `[n, n]`, zero above its diagonal
/// * `b` - shape `[n, m]`
///
/// # Panics
/// When the shapes do not match.
pub fn lower_times_into(mut out: MatMut<'_, f64>, l: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    for rows in cut(l.nrows(), HALF_PANEL) {
        let left = l.submatrix(rows.start, 0, rows.len(), rows.end);
        let target = out.as_mut().subrows_mut(rows.start, rows.len());
        gemm_into(target, false, 1.0, left, b.subrows(0, rows.end));
    }
}

/// Writes `l' b` into `out` for a lower triangular `l`, in about half the time of [`gemm_into`].
///
/// # Panics
/// When the shapes do not match.
pub fn lower_transpose_times_into(
    mut out: MatMut<'_, f64>,
    l: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
) {
    let n = l.nrows();
    for rows in cut(n, PANEL) {
        let from = n - rows.start;
        let left = l.submatrix(rows.start, rows.start, from, rows.len());
        let target = out.as_mut().subrows_mut(rows.start, rows.len());
        let right = b.subrows(rows.start, from);
        gemm_into(target, false, 1.0, left.transpose(), right);
    }
}

/// Gives a matrix another shape in the memory that it has; its entries are arbitrary afterwards.
pub fn reshape(a: &mut Mat<f64>, rows: usize, columns: usize) {
    a.resize_with(rows, columns, |_, _| 0.0);
}

/// Multiplies every column of a matrix by a number of its own.
pub fn scale_columns(a: &mut Mat<f64>, by: impl IntoIterator<Item = f64>) {
    for (j, by) in by.into_iter().enumerate() {
        a.col_as_slice_mut(j).iter_mut().for_each(|x| *x *= by);
    }
}

/// The product `a b`, shape `[a.nrows(), b.ncols()]`.
///
/// # Panics
/// When the shapes do not match.
#[must_use]
pub fn gemm(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    gemm_into(out.as_mut(), false, 1.0, a, b);
    out
}

/// The product `a x` of a matrix of shape `[n, m]` and a vector of length `m`.
///
/// # Panics
/// When the shapes do not match.
///
/// # Numerics
/// In the memory of matrices, which begins at the same place of a cache line always: products of
/// plain vectors have other last bits wherever the allocator puts them.
#[must_use]
pub fn matvec(a: MatRef<'_, f64>, x: &[f64]) -> Vec<f64> {
    let x = Mat::from_fn(x.len(), 1, |i, _| x[i]);
    let mut out = Mat::zeros(a.nrows(), 1);
    gemm_into(out.as_mut(), false, 1.0, a, x.as_ref());
    out.col_as_slice(0).to_vec()
}

/// Side of the tiles in which a triangle is copied to the other: two of them fit the first-level
/// cache, while whole columns against whole rows would miss it at every entry.
const MIRROR_TILE: usize = 32;

/// Copies the lower triangle of a square matrix into the upper one.
pub fn mirror_lower(a: &mut Mat<f64>) {
    map_lower(a, |_, _, value| value);
}

/// Copies the upper triangle of a square matrix into the lower one.
pub fn mirror_upper(a: &mut Mat<f64>) {
    for_lower(a.ncols(), |i, j| a[(i, j)] = a[(j, i)]);
}

/// Replaces every entry of the lower triangle by `value(i, j, entry)`, `i >= j`, and the upper
/// triangle by its mirror image.
pub fn map_lower(a: &mut Mat<f64>, value: impl Fn(usize, usize, f64) -> f64) {
    for_lower(a.ncols(), |i, j| {
        let new = value(i, j, a[(i, j)]);
        a[(i, j)] = new;
        a[(j, i)] = new;
    });
}

/// Calls `visit(i, j)` for every `i >= j` below `n`, tile by tile.
fn for_lower(n: usize, mut visit: impl FnMut(usize, usize)) {
    for first in (0..n).step_by(MIRROR_TILE) {
        for top in (first..n).step_by(MIRROR_TILE) {
            for j in first..(first + MIRROR_TILE).min(n) {
                for i in top.max(j)..(top + MIRROR_TILE).min(n) {
                    visit(i, j);
                }
            }
        }
    }
}

/// A symmetric matrix of size `n` from its lower triangle: `value(i, j)` is called once
/// for every `i >= j`, column by column.
pub fn symmetric_from_fn(n: usize, mut value: impl FnMut(usize, usize) -> f64) -> Mat<f64> {
    let mut out = Mat::zeros(n, n);
    for j in 0..n {
        for i in j..n {
            out[(i, j)] = value(i, j);
        }
    }
    mirror_lower(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_loops() {
        let a = Mat::from_fn(3, 2, |i, j| (i + 2 * j) as f64 - 1.0);
        let b = Mat::from_fn(2, 4, |i, j| (3 * i + j) as f64 * 0.5);
        let c = gemm(a.as_ref(), b.as_ref());
        for i in 0..3 {
            for j in 0..4 {
                let want: f64 = (0..2).map(|k| a[(i, k)] * b[(k, j)]).sum();
                assert_eq!(c[(i, j)], want);
            }
        }
        let mut d = c.clone();
        gemm_into(d.as_mut(), true, -1.0, a.as_ref(), b.as_ref());
        assert_eq!(d, Mat::<f64>::zeros(3, 4));
    }

    /// Of sizes below, at and above that of a panel.
    #[test]
    fn products_of_triangles_agree_with_those_of_squares() {
        for n in [5, PANEL, 2 * PANEL + 7] {
            // Small integers: exact in any order.
            let entry = |i: usize, j: usize| ((3 * i + 5 * j) % 7) as f64 - 3.0;
            let l = Mat::from_fn(n, n, |i, j| if i < j { 0.0 } else { entry(i, j) });
            let right = Mat::from_fn(n, 4, |i, j| entry(j, i));
            let mut got = Mat::from_fn(n, 4, |_, _| f64::NAN);
            lower_times_into(got.as_mut(), l.as_ref(), right.as_ref());
            assert_eq!(got, gemm(l.as_ref(), right.as_ref()));
            lower_transpose_times_into(got.as_mut(), l.as_ref(), right.as_ref());
            assert_eq!(got, gemm(l.transpose(), right.as_ref()));
            let wide = Mat::from_fn(n, STRIP + 3, entry);
            for a in [right.as_ref(), wide.as_ref()] {
                let full = gemm(a, a.transpose());
                for accumulate in [false, true] {
                    let mut lower = Mat::from_fn(n, n, |_, _| 1.0);
                    gemm_lower_into(lower.as_mut(), accumulate, 2.0, a, a.transpose());
                    for j in 0..n {
                        for i in 0..n {
                            let before = if accumulate || i < j { 1.0 } else { 0.0 };
                            let more = if i < j { 0.0 } else { 2.0 * full[(i, j)] };
                            assert_eq!(lower[(i, j)], before + more, "{n}: {i}, {j}");
                        }
                    }
                }
            }
        }
    }

    /// Large enough for threads.
    #[test]
    fn products_over_threads_are_those_of_one() {
        let n = 5 * PARALLEL_PANEL + 7;
        let a = Mat::from_fn(n, 300, |i, j| ((3 * i + 5 * j) % 7) as f64 - 3.0);
        assert!(n * n * 300 > 2 * PARALLEL_WORK);
        let full = gemm(a.as_ref(), a.transpose());
        assert_eq!(par_gemm(a.as_ref(), a.transpose()), full);
        let mut lower = Mat::from_fn(n, n, |_, _| 1.0);
        par_gemm_lower_into(lower.as_mut(), -2.0, a.as_ref(), a.transpose());
        for j in 0..n {
            for i in 0..n {
                let want = if i < j { 1.0 } else { -2.0 * full[(i, j)] };
                assert_eq!(lower[(i, j)], want, "{i}, {j}");
            }
        }
    }

    #[test]
    fn symmetric_from_fn_mirrors_the_lower_triangle() {
        let a = symmetric_from_fn(3, |i, j| (10 * i + j) as f64);
        assert_eq!(a[(0, 2)], 20.0);
        assert_eq!(a[(2, 0)], 20.0);
    }

    #[test]
    fn triangles_are_mirrored_across_tiles() {
        let n = 2 * MIRROR_TILE + 5;
        let full = symmetric_from_fn(n, |i, j| (n * i + j) as f64);
        let mut upper = Mat::from_fn(n, n, |i, j| if i <= j { full[(i, j)] } else { f64::NAN });
        mirror_upper(&mut upper);
        assert_eq!(upper, full);
        let mut lower = Mat::from_fn(n, n, |i, j| if i >= j { full[(i, j)] } else { f64::NAN });
        map_lower(&mut lower, |i, j, value| value + (i + j) as f64);
        let moved = Mat::from_fn(n, n, |i, j| full[(i, j)] + (i + j) as f64);
        assert_eq!(lower, moved);
    }

    #[test]
    fn small_problems_stay_on_one_thread() {
        assert!(matches!(parallelism(1000), Par::Seq));
    }
}
