//! Gauss rules in one dimension, cubature on simplices and balls.

mod ball;
mod compress;
mod cubature;
mod jacobi;
mod needles;
mod simplex;

use std::f64::consts::PI;

pub use ball::{ball, ball_degree_3, ball_degree_5};
pub use compress::compress;
pub use cubature::Cubature;
pub use jacobi::gauss_jacobi;
pub use needles::needle_nodes;
pub use simplex::{Nodes, simplex_nodes, simplex_volume};

/// Nodes and weights of a rule: `integral = sum_k weights[k] f(nodes[k])`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Nodes, ascending.
    pub nodes: Vec<f64>,
    /// Weights, positive.
    pub weights: Vec<f64>,
}

impl Rule {
    /// The rule moved from `[-1, 1]` to `[lower, upper]`, as `(node, weight)` pairs.
    pub fn on(&self, lower: f64, upper: f64) -> impl Iterator<Item = (f64, f64)> + '_ {
        let half = 0.5 * (upper - lower);
        let middle = 0.5 * (lower + upper);
        self.nodes
            .iter()
            .zip(&self.weights)
            .map(move |(x, w)| (middle + half * x, half * w))
    }
}

/// The Gauss-Legendre rule with `n` nodes on `[-1, 1]`, exact for polynomials of degree `2n - 1`.
///
/// # Numerics
/// Newton's method on the three-term recurrence; every even moment up to degree
/// `2n - 2` is right to 4e-15 for `n <= 128`.
///
/// # Source
/// Abramowitz & Stegun 25.4.29.
///
/// # Examples
/// ```
/// let rule = quadrat::quadrature::gauss_legendre(3);
/// let fourth: f64 = rule.on(-1.0, 1.0).map(|(x, w)| w * x.powi(4)).sum();
/// assert!((fourth - 0.4).abs() < 1e-15);
/// ```
#[must_use]
pub fn gauss_legendre(n: usize) -> Rule {
    let mut nodes = vec![0.0; n];
    let mut weights = vec![0.0; n];
    for k in 0..n.div_ceil(2) {
        let mut x = (PI * (k as f64 + 0.75) / (n as f64 + 0.5)).cos();
        if 2 * k + 1 == n {
            x = 0.0;
        }
        let mut slope = 0.0;
        for _ in 0..8 {
            let (value, derivative) = legendre(n, x);
            slope = derivative;
            let step = value / derivative;
            x -= step;
            if step.abs() <= 1e-16 {
                break;
            }
        }
        // P_n' at the node again, where the last step moved it.
        slope = if 2 * k + 1 == n {
            slope
        } else {
            legendre(n, x).1
        };
        let weight = 2.0 / ((1.0 - x) * (1.0 + x) * slope * slope);
        (nodes[n - 1 - k], nodes[k]) = (x, -x);
        (weights[n - 1 - k], weights[k]) = (weight, weight);
    }
    Rule { nodes, weights }
}

/// The Legendre polynomial `P_n(x)` and its derivative, `|x| < 1`.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut previous, mut current) = (0.0, 1.0);
    for j in 0..n {
        let j = j as f64;
        let next = ((2.0 * j + 1.0) * x * current - j * previous) / (j + 1.0);
        (previous, current) = (current, next);
    }
    let derivative = n as f64 * (previous - x * current) / ((1.0 - x) * (1.0 + x));
    (current, derivative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legendre_is_exact_for_polynomials() {
        for n in 1..=128 {
            let rule = gauss_legendre(n);
            assert!(rule.nodes.windows(2).all(|w| w[0] < w[1]));
            for degree in [0, 2, 4, 2 * n - 2] {
                if degree < 2 * n {
                    let sum: f64 = rule
                        .on(-1.0, 1.0)
                        .map(|(x, w)| w * x.powi(degree as i32))
                        .sum();
                    // Eighteen eps of at most two: roundings of up to 128 terms are of either sign.
                    let want = 2.0 / (degree as f64 + 1.0);
                    assert!((sum - want).abs() < 4e-15, "n {n} degree {degree}: {sum}");
                }
            }
        }
        // Degree 2n is where it must fail.
        let sum: f64 = gauss_legendre(3)
            .on(-1.0, 1.0)
            .map(|(x, w)| w * x.powi(6))
            .sum();
        assert!((sum - 2.0 / 7.0).abs() > 1e-2);
    }

    #[test]
    fn legendre_nodes_match_published_digits() {
        // Abramowitz & Stegun, table 25.4.
        let rule = gauss_legendre(5);
        assert!((rule.nodes[4] - 0.906_179_845_938_664).abs() < 1e-15);
        assert!((rule.weights[4] - 0.236_926_885_056_189_1).abs() < 1e-15);
        assert_eq!(rule.nodes[2], 0.0);
        assert!((rule.weights[2] - 128.0 / 225.0).abs() < 1e-15);
    }

    #[test]
    fn a_rule_moves_to_any_interval() {
        let integral: f64 = gauss_legendre(20)
            .on(1.0, 3.0)
            .map(|(x, w)| w * x.exp())
            .sum();
        // Twenty nodes leave nothing of an exponential; rounding of 20 terms of a sum of 17: n eps
        // 17 = 8e-14 at worst.
        assert!((integral - (3f64.exp() - 1f64.exp())).abs() < 1e-13);
    }
}
