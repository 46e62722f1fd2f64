//! Which totals others determine: a pivoted Cholesky factorisation.

use crate::linalg::Mat;

/// Rows of a positive semi-definite matrix in the order of their pivots.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pivots {
    /// Rows that are new beside those before them, the largest first.
    pub kept: Vec<usize>,
    /// Rows of which at most the tolerance is left beside those.
    pub determined: Vec<usize>,
}

/// Cholesky with diagonal pivoting, `P S P' = L L'`, until no diagonal exceeds the tolerance.
///
/// # Arguments
/// * `matrix` - symmetric and positive semi-definite up to rounding, diagonals of order one
/// * `first` - so many rows come first: the others are looked at when these are exhausted
/// * `tolerance` - below which a diagonal is rounding
///
/// # Numerics
/// What is left of a row beside rows `P` is its Schur complement, which this order keeps from
/// growing; `n r^2` operations for rank `r`.
///
/// # Source
/// Higham 2002, Accuracy and Stability of Numerical Algorithms, section 10.3.
pub(super) fn pivots(matrix: &Mat<f64>, first: usize, tolerance: f64) -> Pivots {
    let n = matrix.nrows();
    let mut left: Vec<f64> = (0..n).map(|i| matrix[(i, i)]).collect();
    let mut factor: Vec<Vec<f64>> = Vec::new();
    let mut kept: Vec<usize> = Vec::new();
    let mut is_kept = vec![false; n];
    for range in [0..first.min(n), first.min(n)..n] {
        loop {
            let open = range.clone().filter(|&i| !is_kept[i]);
            let largest = open.max_by(|a, b| left[*a].total_cmp(&left[*b]).then(b.cmp(a)));
            let Some(at) = largest.filter(|&at| left[at] > tolerance) else {
                break;
            };
            let root = left[at].sqrt();
            let mut column = vec![0.0; n];
            for i in (0..n).filter(|&i| !is_kept[i]) {
                let before: f64 = factor.iter().map(|c: &Vec<f64>| c[i] * c[at]).sum();
                column[i] = (matrix[(i, at)] - before) / root;
                left[i] -= column[i] * column[i];
            }
            is_kept[at] = true;
            kept.push(at);
            factor.push(column);
        }
    }
    Pivots {
        determined: (0..n).filter(|&i| !is_kept[i]).collect(),
        kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three independent rows and two that are made of them, whatever their order.
    #[test]
    fn rows_that_are_made_of_others_are_determined() {
        let rows = [
            [1.0, 0.0, 0.0],
            [0.6, 0.8, 0.0],
            [0.0, 0.6, 0.8],
            [0.8, 0.4, 0.0],
            [0.0, 0.0, 0.0],
        ];
        let gram = Mat::from_fn(5, 5, |i, j| {
            (0..3).map(|k| rows[i][k] * rows[j][k]).sum::<f64>()
        });
        // Rounding of three products.
        let found = pivots(&gram, 0, 1e-14);
        assert_eq!((found.kept.len(), found.determined.len()), (3, 2));
        assert!(found.determined.contains(&4));
        // The last come last: what the first two leave is one direction.
        let found = pivots(&gram, 2, 1e-14);
        assert_eq!(found.kept[..2], [0, 1]);
        assert_eq!((found.kept[2], found.determined), (2, vec![3, 4]));
        assert!(pivots(&gram, 0, 2.0).kept.is_empty());
    }
}
