//! Products with symmetric matrices.

use super::{Mat, vectorised};

/// Columns that are taken together: the result is read and written once for all of them.
const BLOCK: usize = 4;
/// Rows that are summed side by side.
const LANES: usize = 8;

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
    let mut out = vec![0.0; n];
    vectorised(
        #[inline(always)]
        || {
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
                    let columns: [&[f64]; BLOCK] =
                        std::array::from_fn(|c| &a.col_as_slice(start + c)[end..]);
                    let (above, below) = out.split_at_mut(end);
                    let own: [f64; BLOCK] = std::array::from_fn(|c| x[start + c]);
                    let sums = both_sides(columns, (&own, &x[end..]), below);
                    above[start..]
                        .iter_mut()
                        .zip(sums)
                        .for_each(|(o, s)| *o += s);
                }
            }
        },
    );
    out
}

/// Adds what a block of the lower triangle gives to the rows below, and returns what its mirror
/// image gives to its own rows.
#[inline(always)]
fn both_sides(
    columns: [&[f64]; BLOCK],
    (own, x): (&[f64; BLOCK], &[f64]),
    out: &mut [f64],
) -> [f64; BLOCK] {
    let split = columns.map(|column| column.as_chunks::<LANES>());
    let (x_head, x_tail) = x.as_chunks::<LANES>();
    let (out_head, out_tail) = out.as_chunks_mut::<LANES>();
    let mut sums = [[0.0; LANES]; BLOCK];
    for (at, (x, out)) in x_head.iter().zip(out_head).enumerate() {
        let block = split.map(|(head, _)| &head[at]);
        for lane in 0..LANES {
            let mut below = out[lane];
            for c in 0..BLOCK {
                below += block[c][lane] * own[c];
                sums[c][lane] += block[c][lane] * x[lane];
            }
            out[lane] = below;
        }
    }
    let mut total = sums.map(|lanes| lanes.iter().sum());
    for (i, (x, out)) in x_tail.iter().zip(out_tail).enumerate() {
        for c in 0..BLOCK {
            let entry = split[c].1[i];
            *out += entry * own[c];
            total[c] += entry * x;
        }
    }
    total
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
