//! Interpolatory cubature over planar sets from their polynomial moments.
//!
//! A smooth function on the bounding box of a set is replaced by its interpolant at the Padua
//! points, and the interpolant is integrated over the set exactly: the moments of a polygon are
//! sums over its edges. `(p + 1)(p + 2) / 2` nodes whatever the number of vertices; weights may be
//! negative, but their absolute sum stays below the Lebesgue constant, `O(log^2 p)`.
//!
//! # Source
//! Bos, Caliari, De Marchi, Vianello and Xu, *Bivariate Lagrange interpolation at the Padua
//! points*, J. Approx. Theory 143 (2006).

use std::sync::LazyLock;

use crate::linalg::MatRef;
use crate::support::chebyshev_into;

/// Highest degree.
pub(super) const MAX_DEGREE: usize = 16;

static RULES: LazyLock<Vec<Padua>> = LazyLock::new(|| (0..=MAX_DEGREE).map(Padua::new).collect());

/// The Padua points of one degree on `[-1, 1]^2`.
pub(super) struct Padua {
    degree: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    weight: Vec<f64>,
    /// `basis[node * terms + t]`, products of Chebyshev polynomials with their factors.
    basis: Vec<f64>,
}

/// Nodes over a set, in the coordinates of its bounding box, with weights that sum to one.
pub(super) struct PaduaNodes {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub weights: Vec<f64>,
}

impl Padua {
    /// The rule of a degree up to [`MAX_DEGREE`]; degree 0 is the centroid.
    pub fn of(degree: usize) -> &'static Self {
        &RULES[degree.min(MAX_DEGREE)]
    }

    fn new(degree: usize) -> Self {
        let n = degree;
        let mut rule = Self {
            degree,
            x: Vec::new(),
            y: Vec::new(),
            weight: Vec::new(),
            basis: Vec::new(),
        };
        if n == 0 {
            return rule;
        }
        let angle = |j: usize, n: usize| std::f64::consts::PI * j as f64 / n as f64;
        for j in 0..=n {
            for k in (0..=n + 1).filter(|k| (j + k) % 2 == 0) {
                let (x, y) = (angle(j, n).cos(), angle(k, n + 1).cos());
                let (on_x, on_y) = (j == 0 || j == n, k == 0 || k == n + 1);
                let corner = match (on_x, on_y) {
                    (true, true) => 0.5,
                    (false, false) => 2.0,
                    _ => 1.0,
                };
                rule.x.push(x);
                rule.y.push(y);
                rule.weight.push(corner / (n * (n + 1)) as f64);
                let (tx, ty) = (chebyshev(x, n), chebyshev(y, n));
                for (a, b) in exponents(n) {
                    let factor = |e: usize| if e == 0 { 1.0 } else { 2.0 };
                    let half = if a == n { 0.5 } else { 1.0 };
                    rule.basis
                        .push(half * factor(a) * factor(b) * tx[a] * ty[b]);
                }
            }
        }
        rule
    }

    /// Nodes of the average over a set with these moments, in coordinates that map its bounding box
    /// to `[-1, 1]^2`.
    pub fn nodes(&self, moments: MatRef<'_, f64>) -> PaduaNodes {
        let n = self.degree;
        if n == 0 {
            return PaduaNodes {
                x: vec![moments[(1, 0)]],
                y: vec![moments[(0, 1)]],
                weights: vec![1.0],
            };
        }
        let moments: Vec<f64> = exponents(n).map(|at| moments[at]).collect();
        let rows = self.basis.chunks_exact(moments.len()).zip(&self.weight);
        let weights = rows.map(|(row, w)| w * crate::linalg::dot(row, &moments));
        PaduaNodes {
            x: self.x.clone(),
            y: self.y.clone(),
            weights: weights.collect(),
        }
    }
}

/// Pairs of degrees with a sum up to `n`.
fn exponents(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..=n).flat_map(move |a| (0..=n - a).map(move |b| (a, b)))
}

fn chebyshev(x: f64, n: usize) -> Vec<f64> {
    let mut t = vec![0.0; n + 2];
    chebyshev_into(x, &mut t);
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::gauss_legendre;
    use crate::support::ChebyshevMoments;

    /// An L-shape with a hole, inside the unit box.
    fn edges() -> Vec<([f64; 2], [f64; 2])> {
        let outer = [
            [-1.0, -1.0],
            [1.0, -1.0],
            [1.0, -0.25],
            [0.25, 0.0],
            [0.5, 1.0],
            [-1.0, 0.75],
        ];
        let hole = [[-0.5, -0.5], [-0.5, 0.25], [0.0, -0.5]];
        let close = |ring: &[[f64; 2]]| {
            (0..ring.len())
                .map(|i| (ring[i], ring[(i + 1) % ring.len()]))
                .collect::<Vec<_>>()
        };
        [close(&outer), close(&hole)].concat()
    }

    /// The mean of `x^a y^b` by Green's theorem with many nodes.
    fn monomial(a: i32, b: i32) -> f64 {
        let rule = gauss_legendre(20);
        let integral = |a: i32, b: i32| -> f64 {
            let mut sum = 0.0;
            for (p, q) in edges() {
                for (s, w) in rule.on(0.0, 1.0) {
                    let (x, y) = (p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1]));
                    sum += w * (q[1] - p[1]) * x.powi(a + 1) / f64::from(a + 1) * y.powi(b);
                }
            }
            sum
        };
        integral(a, b) / integral(0, 0)
    }

    #[test]
    fn polynomials_up_to_the_degree_are_exact() {
        let moments = ChebyshevMoments::default();
        let table = moments.table(MAX_DEGREE + 1, &edges(), [0.0; 2], [1.0; 2]);
        for degree in 0..=MAX_DEGREE {
            let nodes = Padua::of(degree).nodes(table);
            assert_eq!(
                nodes.weights.len(),
                if degree == 0 {
                    1
                } else {
                    (degree + 1) * (degree + 2) / 2
                }
            );
            let mut beyond: f64 = 0.0;
            for a in 0..=degree as i32 + 2 {
                for b in 0..=degree as i32 + 2 - a {
                    let points = nodes.x.iter().zip(&nodes.y);
                    let sum: f64 = points
                        .zip(&nodes.weights)
                        .map(|((x, y), w)| w * x.powi(a) * y.powi(b))
                        .sum();
                    let error = (sum - monomial(a, b)).abs();
                    // One node at the centroid is exact for degree one.
                    if a + b <= degree.max(1) as i32 {
                        assert!(error < 1e-14, "{degree}: x^{a} y^{b} off by {error:e}");
                    } else {
                        beyond = beyond.max(error);
                    }
                }
            }
            assert!(
                beyond > 1e-7,
                "degree {degree} cannot be exact beyond itself"
            );
        }
    }
}
