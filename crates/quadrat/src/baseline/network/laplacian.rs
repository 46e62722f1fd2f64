//! Graph Laplacians: what a function that differs between like places costs.

use crate::linalg::{Mat, MatRef, dot, matvec};

/// The cost and its slopes along the function,
///
/// $$ c \, f' (\mathrm{diag}(K 1) - K) f = \tfrac{c}{2} \sum_{uv} K_{uv} (f_u - f_v)^2,
/// \qquad K = \Phi \Phi' $$
///
/// without forming `K`.
///
/// # Arguments
/// * `phi` - features of the places, shape `[n, m]`
/// * `strength` - the factor `c`
///
/// # Source
/// Law et al. 2018, *Variational learning on aggregate outputs with Gaussian processes*,
/// appendix C, equation 31; the sum over pairs of equation 28 is twice the product beside it.
pub(super) fn laplacian(phi: MatRef<'_, f64>, f: &[f64], strength: f64) -> (f64, Vec<f64>) {
    let degrees = matvec(phi, &matvec(phi.transpose(), &vec![1.0; f.len()]));
    let smoothed = matvec(phi, &matvec(phi.transpose(), f));
    let pull: Vec<f64> = (0..f.len())
        .map(|i| strength * (degrees[i] * f[i] - smoothed[i]))
        .collect();
    let cost = dot(f, &pull);
    (cost, pull.into_iter().map(|p| 2.0 * p).collect())
}

/// Features of bags: means of those of their points, shape `[bags, m]`.
pub(super) fn of_bags(phi: MatRef<'_, f64>, bags: &[std::ops::Range<usize>]) -> Mat<f64> {
    Mat::from_fn(bags.len(), phi.ncols(), |bag, j| {
        let own = bags[bag].clone();
        let n = own.len().max(1) as f64;
        own.map(|i| phi[(i, j)]).sum::<f64>() / n
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_over_pairs() {
        let phi = Mat::from_fn(4, 2, |i, j| 0.2 + (1.0 + i as f64) * (0.5 - 0.3 * j as f64));
        let f = [0.3, -1.0, 2.0, 0.7];
        let (cost, slopes) = laplacian(phi.as_ref(), &f, 1.5);
        let like = |u: usize, v: usize| -> f64 { (0..2).map(|j| phi[(u, j)] * phi[(v, j)]).sum() };
        let pairs = (0..16).map(|k| (k / 4, k % 4));
        let sum: f64 = pairs.map(|(u, v)| like(u, v) * (f[u] - f[v]).powi(2)).sum();
        // Both are sums of sixteen products near one.
        assert!((cost - 0.75 * sum).abs() < 1e-13);
        for i in 0..4 {
            let moved = |by: f64| {
                let mut f = f;
                f[i] += by;
                laplacian(phi.as_ref(), &f, 1.5).0
            };
            // Of a square, differences are exact but for rounding.
            assert!((slopes[i] - (moved(0.1) - moved(-0.1)) / 0.2).abs() < 1e-11);
        }
    }

    #[test]
    fn bags_have_the_means_of_their_points() {
        let phi = Mat::from_fn(3, 1, |i, _| [1.0, 3.0, 10.0][i]);
        let means = of_bags(phi.as_ref(), &[0..2, 2..3]);
        assert_eq!([means[(0, 0)], means[(1, 0)]], [2.0, 10.0]);
    }
}
