//! Quick sanity; the contract lives in `tests/covariance.rs`.

use super::*;
use crate::support::Aggregate;

#[test]
fn boxes_of_every_family_equal_riemann_sums() {
    for text in [
        "se(x)",
        "matern12(x)",
        "matern32(x)",
        "matern52(x)",
        "rq(x)",
        "periodic(x)",
        "linear(x)",
        "se(x) * periodic(x)",
        "matern32(x) * linear(x)",
        "se(x) + constant",
    ] {
        let kernel = Kernel::parse(text).unwrap();
        let theta: Vec<f64> = (0..kernel.parameters().len())
            .map(|i| 1.3 - 0.2 * i as f64)
            .collect();
        let covariance = Covariance::new(&kernel);
        let mut a = Functionals::new(vec!["x".into()]);
        let edges = [(0.0, 0.3), (0.2, 2.9), (-1.0, 0.1), (1.1, 1.1), (0.5, 5.0)];
        for e in edges {
            a.push_box(&[e], Aggregate::Mean).unwrap();
        }
        let k = covariance.matrix(&theta, &a);
        let diagonal = covariance.diagonal(&theta, &a);
        let steps = 400;
        let grid = |(s, t): (f64, f64)| -> Vec<f64> {
            (0..steps)
                .map(|i| s + (t - s) * (i as f64 + 0.5) / steps as f64)
                .collect()
        };
        for i in 0..edges.len() {
            // A few last places of values up to ten.
            assert!((diagonal[i] - k[(i, i)]).abs() < 1e-14);
            for j in 0..edges.len() {
                let mut sum = 0.0;
                for &x in &grid(edges[i]) {
                    for &y in &grid(edges[j]) {
                        sum += kernel.value(&theta, &[x], &[y]);
                    }
                }
                sum /= (steps * steps) as f64;
                assert!(
                    // Midpoints of 400 cells each way are off by h^2 / 24 of second derivatives: by
                    // 1.1e-5 at most of these, as three times as many cells tell.
                    (sum - k[(i, j)]).abs() < 3e-5,
                    "{text} {i} {j}: {} {sum}",
                    k[(i, j)]
                );
            }
        }
    }
}

/// Hours with gaps and equal bins: a factor tabulated by lags is the same as pair by pair, slopes
/// too.
#[test]
fn what_lies_on_a_lattice_is_as_elsewhere() {
    for text in [
        "se(x)",
        "matern12(x)",
        "matern52(x)",
        "rq(x)",
        "periodic(x)",
        "se(x) * periodic(x)",
        "matern32(x) * linear(x)",
    ] {
        let kernel = Kernel::parse(text).unwrap();
        let covariance = Covariance::new(&kernel);
        let theta: Vec<f64> = (0..kernel.parameters().len())
            .map(|i| 1.3 - 0.2 * i as f64)
            .collect();
        for width in [0.0, 0.25] {
            let mut rows = Functionals::new(vec!["x".into()]);
            for k in [7, 0, 2, 3, 5, 6, 9, 10, 12, 13, 15, 16] {
                let lower = 0.1 + 0.25 * f64::from(k);
                rows.push_box(&[(lower, lower + width)], Aggregate::Mean)
                    .unwrap();
            }
            let n = rows.len();
            let adjoint = Mat::from_fn(n + 1, n + 1, |i, j| {
                let value = (1.0 + (i + j) as f64).sin() + ((i * j) as f64).cos();
                if i.max(j) < n { value } else { 0.0 }
            });
            let seen = |rows: &Functionals| {
                let n = rows.len();
                let mut gradient = vec![0.0; theta.len()];
                covariance.contract(
                    &theta,
                    rows,
                    adjoint.as_ref().submatrix(0, 0, n, n),
                    &mut gradient,
                );
                (covariance.matrix(&theta, rows), gradient)
            };
            let (tabulated, slopes) = seen(&rows);
            // One row that lies nowhere on it: nothing repeats.
            let off = std::f64::consts::E;
            rows.push_box(&[(off, off + width)], Aggregate::Mean)
                .unwrap();
            let (direct, want) = seen(&rows);
            // Rounding of coordinates up to 4, of quadratures in the products.
            for j in 0..n {
                for i in 0..n {
                    let (a, b) = (tabulated[(i, j)], direct[(i, j)]);
                    assert!((a - b).abs() < 1e-13, "{text} {width} {i} {j}: {a} {b}");
                }
            }
            for (a, b) in slopes.iter().zip(&want) {
                assert!((a - b).abs() < 1e-11, "{text} {width}: {slopes:?} {want:?}");
            }
        }
    }
}
