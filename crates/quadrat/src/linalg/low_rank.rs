//! Symmetric positive semi-definite matrices of a rank far below their size, as far as rounding
//! goes.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt_pivoting::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::{Par, Spec};

use super::{Mat, MatRef};

/// `L'`, shape `[r, n]`, with `A = L L'`, where `r` is at most `most`; `None` where no such factor
/// is found.
///
/// The covariance of a smooth function at many places is of such a rank, and so is that of any
/// function at places which repeat. Products with `L` then cost `n r` in place of `n^2`.
///
/// # Arguments
/// * `a` - shape `[n, n]`, of which the lower triangle is read
/// * `most` - the highest rank of use
///
/// # Numerics
/// Cholesky's factorisation with pivots, of `A` scaled to a unit diagonal. It ends when no diagonal
/// entry of what is left exceeds `n eps`, so that entry `(i, j)` of what `L L'` leaves out is at
/// most `n eps sqrt(a_ii a_jj)`; rounding adds as much.
///
/// # Source
/// Higham 2002, *Accuracy and Stability of Numerical Algorithms*, section 10.3.
#[must_use]
pub fn low_rank_root(a: MatRef<'_, f64>, most: usize) -> Option<Mat<f64>> {
    let n = a.nrows();
    if n == 0 || most == 0 {
        return None;
    }
    let sd: Vec<f64> = (0..n).map(|i| a[(i, i)].sqrt()).collect();
    if !sd.iter().all(|sd| *sd > 0.0 && sd.is_finite()) {
        return None;
    }
    let mut scaled = Mat::zeros(n, n);
    for j in 0..n {
        let lower = a.col(j).subrows(j, n - j);
        let column = &mut scaled.col_as_slice_mut(j)[j..];
        for ((out, x), s) in column.iter_mut().zip(lower.iter()).zip(&sd[j..]) {
            *out = x / (s * sd[j]);
        }
        column[0] = 1.0;
    }
    let (mut places, mut inverse) = (vec![0_usize; n], vec![0_usize; n]);
    // Over threads the sums of its columns would depend on their number.
    let par = Par::Seq;
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<usize, f64>(
        n,
        par,
        Spec::default(),
    ));
    let stack = MemStack::new(&mut memory);
    let found = cholesky_in_place(
        scaled.as_mut(),
        &mut places,
        &mut inverse,
        par,
        stack,
        Spec::default(),
    );
    let rank = found.ok()?.0.rank;
    if rank > most {
        return None;
    }
    let mut root = Mat::zeros(rank, n);
    for (row, &place) in places.iter().enumerate() {
        let column = root.col_as_slice_mut(place);
        for (j, out) in column.iter_mut().enumerate().take(row + 1) {
            *out = scaled[(row, j)] * sd[place];
        }
    }
    root.as_ref().is_all_finite().then_some(root)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::linalg::{gemm, symmetric_from_fn};

    fn smooth(n: usize, length: f64) -> Mat<f64> {
        symmetric_from_fn(n, |i, j| {
            let d = (i as f64 - j as f64) / length;
            // Variances that differ by four orders.
            let sd = |i: usize| 10_f64.powf(2.0 * i as f64 / n as f64);
            sd(i) * sd(j) * (-0.5 * d * d).exp()
        })
    }

    #[test]
    fn a_smooth_covariance_is_its_root_squared() {
        let n = 300;
        let a = smooth(n, 40.0);
        let root = low_rank_root(a.as_ref(), n / 3).unwrap();
        assert!((20..60).contains(&root.nrows()), "{}", root.nrows());
        let again = gemm(root.transpose(), root.as_ref());
        for j in 0..n {
            for i in 0..n {
                let unit = (a[(i, i)] * a[(j, j)]).sqrt();
                // n eps is left out; sums of r products round as little.
                let error = (again[(i, j)] - a[(i, j)]).abs() / unit;
                assert!(error < 2.0 * n as f64 * f64::EPSILON, "{i} {j}: {error:e}");
            }
        }
    }

    #[test]
    fn repeated_places_count_once() {
        let n = 120;
        let a = symmetric_from_fn(n, |i, j| {
            let d = (i % 7).abs_diff(j % 7) as f64;
            (-d).exp()
        });
        assert_eq!(low_rank_root(a.as_ref(), 40).unwrap().nrows(), 7);
    }

    #[test]
    fn a_rank_above_the_most_is_refused() {
        let n = 100;
        assert!(low_rank_root(smooth(n, 0.5).as_ref(), n / 3).is_none());
        let mut a = smooth(n, 40.0);
        a[(3, 3)] = f64::NAN;
        assert!(low_rank_root(a.as_ref(), n / 3).is_none());
        assert!(low_rank_root(Mat::<f64>::zeros(0, 0).as_ref(), 1).is_none());
    }
}
