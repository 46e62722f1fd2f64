//! Products with symmetric matrices.

use pulp::{Arch, Simd, WithSimd};

use super::Mat;

/// Columns that are taken together: the result is read and written once for all of them.
const BLOCK: usize = 4;

/// The product `a x` of a symmetric matrix and a vector, of which only the lower triangle is read.
///
/// # Arguments
/// * `a` - shape `[n, n]`
/// * `x` - shape `[n]`
///
/// # Panics
/// When the shapes do not match.
///
/// # Numerics
/// Half of the memory of a general product, which large ones wait for.
#[must_use]
pub(crate) fn symmetric_times(a: &Mat<f64>, x: &[f64]) -> Vec<f64> {
    let n = x.len();
    assert!((a.nrows(), a.ncols()) == (n, n), "shapes differ");
    Arch::new().dispatch(SymmetricTimes { a, x })
}

struct SymmetricTimes<'a> {
    a: &'a Mat<f64>,
    x: &'a [f64],
}

impl WithSimd for SymmetricTimes<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> Vec<f64> {
        let Self { a, x } = self;
        let n = x.len();
        let mut out = vec![0.0; n];
        for start in (0..n).step_by(BLOCK) {
            let end = (start + BLOCK).min(n);
            for j in start..end {
                out[j] += a[(j, j)] * x[j];
                for i in j + 1..end {
                    out[i] += a[(i, j)] * x[j];
                    out[j] += a[(i, j)] * x[i];
                }
            }
            // Nothing is below the last block, which may be a narrower one.
            if end < n {
                let below = |c: usize| &a.col_as_slice(start + c)[end..];
                let columns = [below(0), below(1), below(2), below(3)];
                let own = [x[start], x[start + 1], x[start + 2], x[start + 3]];
                let sums = both_sides(s, columns, (own, &x[end..]), &mut out[end..]);
                for (c, sum) in sums.into_iter().enumerate() {
                    out[start + c] += sum;
                }
            }
        }
        out
    }
}

/// Adds what a block of the lower triangle gives to the rows below, and returns what its mirror
/// image gives to its own rows.
#[inline(always)]
fn both_sides<S: Simd>(
    s: S,
    [a, b, c, d]: [&[f64]; BLOCK],
    (own, x): ([f64; BLOCK], &[f64]),
    out: &mut [f64],
) -> [f64; BLOCK] {
    let (a, a_tail) = S::as_simd_f64s(a);
    let (b, b_tail) = S::as_simd_f64s(b);
    let (c, c_tail) = S::as_simd_f64s(c);
    let (d, d_tail) = S::as_simd_f64s(d);
    let (x, x_tail) = S::as_simd_f64s(x);
    let (out, out_tail) = S::as_mut_simd_f64s(out);
    let (left, right) = (
        [s.splat_f64s(own[0]), s.splat_f64s(own[1])],
        [s.splat_f64s(own[2]), s.splat_f64s(own[3])],
    );
    let zero = s.splat_f64s(0.0);
    let (mut of_a, mut of_b, mut of_c, mut of_d) = (zero, zero, zero, zero);
    for ((((a, b), (c, d)), x), out) in a.iter().zip(b).zip(c.iter().zip(d)).zip(x).zip(out) {
        let ab = s.mul_add_f64s(*a, left[0], s.mul_f64s(*b, left[1]));
        let cd = s.mul_add_f64s(*c, right[0], s.mul_f64s(*d, right[1]));
        *out = s.add_f64s(*out, s.add_f64s(ab, cd));
        of_a = s.mul_add_f64s(*a, *x, of_a);
        of_b = s.mul_add_f64s(*b, *x, of_b);
        of_c = s.mul_add_f64s(*c, *x, of_c);
        of_d = s.mul_add_f64s(*d, *x, of_d);
    }
    let mut sums = [of_a, of_b, of_c, of_d].map(|of| s.reduce_sum_f64s(of));
    for (column, tail) in [a_tail, b_tail, c_tail, d_tail].into_iter().enumerate() {
        for ((entry, x), out) in tail.iter().zip(x_tail).zip(&mut *out_tail) {
            *out += entry * own[column];
            sums[column] += entry * x;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matvec;

    #[test]
    fn products_of_every_size_are_those_of_the_whole_matrix() {
        for n in [0, 1, 3, 4, 5, 12, 13, 36, 67, 131] {
            // Small whole numbers, whose sums are exact; the upper triangle is not looked at.
            let entry = |i: usize, j: usize| ((i * 7 + j * 7 + i * j) % 11) as f64 - 5.0;
            let whole = Mat::from_fn(n, n, entry);
            let lower = Mat::from_fn(n, n, |i, j| if i < j { f64::NAN } else { entry(i, j) });
            let x: Vec<f64> = (0..n).map(|i| (i % 5) as f64 - 2.0).collect();
            assert_eq!(
                symmetric_times(&lower, &x),
                matvec(whole.as_ref(), &x),
                "{n}"
            );
        }
    }
}
