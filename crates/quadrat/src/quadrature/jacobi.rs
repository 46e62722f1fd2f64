//! Gauss-Jacobi rules.

use std::f64::consts::PI;

use super::Rule;

/// The `n`-node Gauss rule for averages on `[-1, 1]` with density proportional to
/// `(1 - x)^alpha (1 + x)^beta`, exact for polynomials of degree `2n - 1`; weights sum to one.
///
/// # Arguments
/// * `alpha`, `beta` - greater than -1
/// # Numerics
/// Newton's method with deflation; moments up to degree `2n - 1` to 1e-14 for `n <= 40` and
/// exponents up to 6.
/// # Source
/// Abramowitz & Stegun 22.7.1, 25.4.33; deflation as in Karniadakis & Sherwin 2005, appendix B.
/// # Examples
/// The mean of `x` under density `(1 + x) / 2` is a third:
/// ```
/// let rule = quadrat::quadrature::gauss_jacobi(2, 0.0, 1.0);
/// let mean: f64 = rule.nodes.iter().zip(&rule.weights).map(|(x, w)| w * x).sum();
/// assert!((mean - 1.0 / 3.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn gauss_jacobi(n: usize, alpha: f64, beta: f64) -> Rule {
    let mut nodes: Vec<f64> = Vec::with_capacity(n);
    for k in 0..n {
        let mut x = -((2 * k + 1) as f64 * PI / (2 * n) as f64).cos();
        if let Some(last) = nodes.last() {
            x = 0.5 * (x + last);
        }
        for _ in 0..100 {
            let (value, slope) = jacobi(n, alpha, beta, x);
            let deflation: f64 = nodes.iter().map(|z| 1.0 / (x - z)).sum();
            let step = value / (slope - deflation * value);
            x -= step;
            if step.abs() <= 1e-15 {
                break;
            }
        }
        // Undeflated, so that errors of the other nodes do not enter.
        let (value, slope) = jacobi(n, alpha, beta, x);
        nodes.push(x - value / slope);
    }
    nodes.sort_by(f64::total_cmp);
    let mut weights: Vec<f64> = nodes
        .iter()
        .map(|&x| {
            let slope = jacobi(n, alpha, beta, x).1;
            1.0 / ((1.0 - x) * (1.0 + x) * slope * slope)
        })
        .collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    Rule { nodes, weights }
}

/// The Jacobi polynomial of degree `n` and its derivative.
fn jacobi(n: usize, a: f64, b: f64, x: f64) -> (f64, f64) {
    let slope = if n == 0 {
        0.0
    } else {
        0.5 * (n as f64 + a + b + 1.0) * polynomial(n - 1, a + 1.0, b + 1.0, x)
    };
    (polynomial(n, a, b, x), slope)
}

fn polynomial(n: usize, a: f64, b: f64, x: f64) -> f64 {
    let (mut previous, mut current) = (1.0, 0.5 * (a - b + (a + b + 2.0) * x));
    if n == 0 {
        return previous;
    }
    for k in 2..=n {
        let k = k as f64;
        let c = 2.0 * k + a + b;
        let first = 2.0 * k * (k + a + b) * (c - 2.0);
        let second = (c - 1.0) * (a * a - b * b);
        let third = (c - 2.0) * (c - 1.0) * c;
        let fourth = 2.0 * (k + a - 1.0) * (k + b - 1.0) * c;
        let next = ((second + third * x) * current - fourth * previous) / first;
        (previous, current) = (current, next);
    }
    current
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `E (1 + x)^p` is a ratio of beta functions.
    fn moment(p: usize, a: f64, b: f64) -> f64 {
        (0..p)
            .map(|k| 2.0 * (b + 1.0 + k as f64) / (a + b + 2.0 + k as f64))
            .product()
    }

    #[test]
    fn jacobi_is_exact_for_polynomials() {
        for n in 1..=40 {
            for (a, b) in [
                (0.0, 0.0),
                (1.0, 0.0),
                (0.0, 5.0),
                (-0.5, -0.5),
                (2.5, 0.5),
                (6.0, 3.0),
            ] {
                let rule = gauss_jacobi(n, a, b);
                assert!(rule.nodes.windows(2).all(|w| w[0] < w[1]));
                let mean = |p: usize| -> f64 {
                    let terms = rule.nodes.iter().zip(&rule.weights);
                    terms.map(|(x, w)| w * (1.0 + x).powi(p as i32)).sum()
                };
                for p in 0..2 * n {
                    let (got, want) = (mean(p), moment(p, a, b));
                    // Powers of a node amplify its rounding p times.
                    let eps = 1e-14 + 4.0 * p as f64 * f64::EPSILON;
                    assert!(
                        (got / want - 1.0).abs() < eps,
                        "{n} {a} {b} {p}: {got} {want}"
                    );
                }
                // Where it must fail, far above rounding.
                if n < 5 {
                    assert!((mean(2 * n) / moment(2 * n, a, b) - 1.0).abs() > 1e-9);
                }
            }
        }
    }

    #[test]
    fn legendre_and_chebyshev_are_special_cases() {
        let (jacobi, legendre) = (
            gauss_jacobi(7, 0.0, 0.0),
            crate::quadrature::gauss_legendre(7),
        );
        // Nodes end where a Newton step is below 1e-15; weights are up to 0.42, by derivatives
        // squared.
        for k in 0..7 {
            assert!((jacobi.nodes[k] - legendre.nodes[k]).abs() < 1e-15);
            assert!((2.0 * jacobi.weights[k] - legendre.weights[k]).abs() < 4e-15);
        }
        let chebyshev = gauss_jacobi(4, -0.5, -0.5);
        for (k, (x, w)) in chebyshev.nodes.iter().zip(&chebyshev.weights).enumerate() {
            assert!((x + ((2 * k + 1) as f64 * PI / 8.0).cos()).abs() < 1e-15);
            assert!((w - 0.25).abs() < 1e-15);
        }
    }
}
