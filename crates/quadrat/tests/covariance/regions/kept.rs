//! Pairs of regions that are computed once for a matrix and its gradient.

use super::kernel;
use super::sets::mixture;
use crate::common::random;
use faer::Mat;

const KERNELS: [&str; 6] = [
    "se(x, y)",
    "matern12(x, y)",
    "matern32(x, y, shared = true)",
    "matern52(x, y) + matern32(x, y)",
    "rq(x, y)",
    "matern32(x, y) * se(x) + linear(y)",
];

/// The largest difference of two matrices, relative to `sqrt(K_ii K_jj)`.
fn off(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    let size = |i: usize, j: usize| (b[(i, i)] * b[(j, j)]).sqrt();
    let pairs = (0..b.ncols()).flat_map(|j| (0..b.nrows()).map(move |i| (i, j)));
    pairs
        .map(|(i, j)| (a[(i, j)] - b[(i, j)]).abs() / size(i, j))
        .fold(0.0, f64::max)
}

#[test]
fn what_was_kept_changes_neither_matrix_nor_gradient() {
    for text in KERNELS {
        let (kernel, covariance) = kernel(text);
        let mut rng = random(31);
        for round in 0..6 {
            let theta = crate::common::theta(&kernel, &mut rng);
            let set = mixture(&mut rng, 20);
            let n = set.len();
            let adjoint = Mat::from_fn(n, n, |i, j| ((i * j + i + j) as f64).sin());
            let (matrix, kept) = covariance.matrix_kept(&theta, &set, false);
            // The same sums; those with slopes may be rounded in another order.
            let error = off(&matrix, &covariance.matrix(&theta, &set));
            assert!(error < 1e-13, "{text} {round}: {error:e}");
            let (mut with, mut without) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
            covariance.contract_kept(&theta, &set, &kept, adjoint.as_ref(), &mut with);
            covariance.contract(&theta, &set, adjoint.as_ref(), &mut without);
            let size: f64 = without.iter().map(|g| g.abs()).sum();
            for (with, without) in with.iter().zip(&without) {
                // Pairs are taken from one side of the diagonal, and computed from both: as far
                // apart as the rule is off, 1e-7.
                let error = (with - without).abs();
                assert!(error < 1e-6 * size, "{text} {round}: {with} {without}");
            }
        }
    }
}

#[test]
fn rough_covariances_are_right_to_some_digits() {
    let mut rougher = 0;
    for text in KERNELS {
        let (kernel, covariance) = kernel(text);
        let mut rng = random(32);
        for round in 0..6 {
            let theta = crate::common::theta(&kernel, &mut rng);
            let set = mixture(&mut rng, 20);
            let (rough, _) = covariance.matrix_kept(&theta, &set, true);
            let error = off(&rough, &covariance.matrix(&theta, &set));
            // 1e-4, and up to ten times as much at the kink of the roughest kernel.
            assert!(error < 1e-3, "{text} {round}: {error:e}");
            rougher += usize::from(error > 1e-7);
        }
    }
    // Else nothing would be saved.
    assert!(rougher > 10, "{rougher}");
}
