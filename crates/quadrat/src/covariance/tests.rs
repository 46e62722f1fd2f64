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
                    (sum - k[(i, j)]).abs() < 3e-4,
                    "{text} {i} {j}: {} {sum}",
                    k[(i, j)]
                );
            }
        }
    }
}
