//! Dense linear algebra: a thin layer over `faer`, on one thread where threads do not pay.
//!
//! | symbol | meaning |
//! |---|---|
//! | `n` | rows of the square matrix |
//! | `m` | right-hand sides |
//! | `L` | lower Cholesky factor, `A = L L'` |

mod cholesky;
mod eigen;
mod low_rank;
mod scratch;

pub use cholesky::Cholesky;
pub use eigen::{SymmetricEigen, symmetric_eigen};
pub use faer::{Mat, MatMut, MatRef};
pub use low_rank::low_rank_root;

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

/// Rows or columns of a triangle that are multiplied at a time: twice those of the innermost product, of which smaller ones make poor use.
const PANEL: usize = 96;

/// Cuts `0..n` into panels.
fn panels(n: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..n)
        .step_by(PANEL)
        .map(move |first| first..(first + PANEL).min(n))
}

/// As [`gemm_into`], but only the lower triangle of a square `out` is computed, in about half the time; the upper stays as it was.
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
    for columns in panels(a.nrows()) {
        let panel = out.as_mut().subcols_mut(columns.start, columns.len());
        lower_panel(panel, columns, accumulate, scale, a, b);
    }
}

/// Some columns of [`gemm_lower_into`].
fn lower_panel(
    out: MatMut<'_, f64>,
    columns: std::ops::Range<usize>,
    accumulate: bool,
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
        accum(accumulate),
        a.subrows(first, width),
        Rectangular,
        right,
        Rectangular,
        scale,
        parallelism(width.min(inner)),
    );
    gemm_into(below, accumulate, scale, a.get(columns.end.., ..), right);
}

/// Multiplications from which products are worth the threads: a few milliseconds.
const PARALLEL_WORK: usize = 1 << 25;

/// As [`gemm_lower_into`], over threads where that pays; the result does not depend on their number.
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
    let chunks = out.as_mut().par_col_chunks_mut(PANEL).enumerate();
    chunks.for_each(|(i, panel)| {
        let columns = i * PANEL..i * PANEL + panel.ncols();
        lower_panel(panel, columns, false, scale, a, b);
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
    let chunks = out.as_mut().par_col_chunks_mut(PANEL).enumerate();
    chunks.for_each(|(i, panel)| {
        let right = b.subcols(i * PANEL, panel.ncols());
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
    for rows in panels(l.nrows()) {
        let left = l.submatrix(rows.start, 0, rows.len(), rows.end);
        let target = out.as_mut().subrows_mut(rows.start, rows.len());
        gemm_into(target, false, 1.0, left, b.subrows(0, rows.end));
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
#[must_use]
pub fn matvec(a: MatRef<'_, f64>, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.nrows()];
    gemm_into(
        MatMut::from_column_major_slice_mut(&mut out, a.nrows(), 1),
        false,
        1.0,
        a,
        MatRef::from_column_major_slice(x, x.len(), 1),
    );
    out
}

/// Sums that [`dot`] makes side by side: one alone would wait for every addition.
const LANES: usize = 8;

/// The inner product of two vectors of equal length.
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let (a_head, a_tail) = a.as_chunks::<LANES>();
    let (b_head, b_tail) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a_head.iter().zip(b_head) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let tail: f64 = a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + tail
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
            let mut lower = Mat::from_fn(n, n, |_, _| 1.0);
            let (a, b) = (right.as_ref(), right.transpose());
            gemm_lower_into(lower.as_mut(), true, 2.0, a, b);
            let full = gemm(a, b);
            for j in 0..n {
                for i in 0..n {
                    let want = if i < j { 1.0 } else { 1.0 + 2.0 * full[(i, j)] };
                    assert_eq!(lower[(i, j)], want, "{n}: {i}, {j}");
                }
            }
        }
    }

    /// Large enough for threads.
    #[test]
    fn products_over_threads_are_those_of_one() {
        let n = 5 * PANEL + 7;
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
    fn inner_products_of_any_length() {
        for n in 0..20_u32 {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            // Small integers: exact in any order.
            assert_eq!(
                dot(&a, &a),
                f64::from(n * n.saturating_sub(1) * (2 * n).saturating_sub(1) / 6)
            );
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
