//! Gauss rules in one dimension.

use std::f64::consts::PI;

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

/// The Gauss-Hermite rule for expectations under the standard normal density, `n <= 64` nodes:
/// `E[f(Z)] = sum_k weights[k] f(nodes[k])`, exact for polynomials of degree `2n - 1`.
///
/// # Numerics
/// The nodes are the eigenvalues of the Jacobi matrix with off-diagonal `sqrt(k)` (Golub & Welsch 1969), found by
/// bisection on its Sturm sequence and polished by Newton's method on the normalised recurrence.
#[must_use]
pub fn gauss_hermite(n: usize) -> Rule {
    let mut nodes = vec![0.0; n];
    let mut weights = vec![0.0; n];
    let bound = 2.0 * (n as f64).sqrt() + 1.0;
    for k in 0..n {
        let (mut low, mut high) = (-bound, bound);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if below(n, middle) > k {
                high = middle;
            } else {
                low = middle;
            }
        }
        let mut x = 0.5 * (low + high);
        for _ in 0..3 {
            let (value, previous) = hermite(n, x);
            // h_n' = sqrt(n) h_(n-1) for the normalised polynomials.
            x -= value / ((n as f64).sqrt() * previous);
        }
        nodes[k] = x;
        weights[k] = 1.0 / (n as f64 * hermite(n, x).1.powi(2));
    }
    for k in 0..n / 2 {
        let node = 0.5 * (nodes[n - 1 - k] - nodes[k]);
        (nodes[k], nodes[n - 1 - k]) = (-node, node);
    }
    if n % 2 == 1 {
        nodes[n / 2] = 0.0;
    }
    Rule { nodes, weights }
}

/// Eigenvalues of the Jacobi matrix below `x`.
fn below(n: usize, x: f64) -> usize {
    let mut pivot = -x;
    let mut count = usize::from(pivot < 0.0);
    for k in 1..n {
        let divisor = if pivot == 0.0 { 1e-300 } else { pivot };
        pivot = -x - k as f64 / divisor;
        count += usize::from(pivot < 0.0);
    }
    count
}

/// `He_n / sqrt(n!)` and `He_(n-1) / sqrt((n-1)!)` at `x`.
fn hermite(n: usize, x: f64) -> (f64, f64) {
    let (mut previous, mut current) = (0.0, 1.0);
    for k in 0..n {
        let k = k as f64;
        let next = (x * current - k.sqrt() * previous) / (k + 1.0).sqrt();
        (previous, current) = (current, next);
    }
    (current, previous)
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
        assert!((integral - (3f64.exp() - 1f64.exp())).abs() < 1e-13);
    }

    #[test]
    fn hermite_gives_normal_moments() {
        for n in [1, 2, 3, 10, 21, 32, 64] {
            let rule = gauss_hermite(n);
            let moment = |p: i32| -> f64 {
                rule.nodes
                    .iter()
                    .zip(&rule.weights)
                    .map(|(x, w)| w * x.powi(p))
                    .sum()
            };
            assert!((moment(0) - 1.0).abs() < 1e-13, "{n}: {}", moment(0));
            if n >= 2 {
                assert!((moment(2) - 1.0).abs() < 1e-13);
            }
            if n >= 4 {
                assert!((moment(6) - 15.0).abs() < 1e-11);
            }
        }
        // E exp(Z) = exp(1/2).
        let rule = gauss_hermite(32);
        let got: f64 = rule
            .nodes
            .iter()
            .zip(&rule.weights)
            .map(|(x, w)| w * x.exp())
            .sum();
        assert!((got - 0.5f64.exp()).abs() < 1e-13);
    }
}
