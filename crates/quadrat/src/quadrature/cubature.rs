//! Rules on one simplex.

use super::gauss_jacobi;

/// Rules whose weights are as large as this in sum are left to the product rule.
const LARGEST_WEIGHTS: f64 = 40.0;

/// A rule for averages over a simplex: `mean f = sum_k weights[k] f(sum_v nodes[k][v] vertex_v)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cubature {
    degree: usize,
    nodes: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl Cubature {
    /// The rule with the fewest nodes known here that is exact for polynomials of total degree
    /// `degree` on simplices of `dim` dimensions.
    ///
    /// | dimensions | degree: nodes |
    /// |---|---|
    /// | 1 | Gauss-Legendre, `2n - 1`: `n` |
    /// | 2 | 1: 1, 2: 3, 4: 6, 5: 7, 8: 16; above by the conical product, `2n - 1`: `n^2` |
    /// | `d >= 3` | 1: 1, 2: `d + 1`, 3: `d + 2`, `2s + 1`: `C(d + s + 1, s)` (Grundmann-Moeller) while the sum of absolute weights is at most 40, else the conical product, `2n - 1`: `n^d` |
    ///
    /// # Panics
    /// When `dim` is zero.
    /// # Numerics
    /// All monomials up to the degree to 1e-13.
    /// # Source
    /// Stroud 1971, Tn:2-1; Radon 1948 (degree 5); Dunavant 1985 (degrees 4, 8); Grundmann &
    /// Moeller 1978; conical products: Stroud 1971, chapter 2.
    /// # Examples
    /// ```
    /// let rule = quadrat::quadrature::Cubature::new(2, 4);
    /// assert_eq!((rule.len(), rule.degree()), (6, 4));
    /// // The mean of the fourth power of a barycentric coordinate is 2! 4! / 6!.
    /// let mean: f64 = rule.iter().map(|(b, w)| w * b[0].powi(4)).sum();
    /// assert!((mean - 1.0 / 15.0).abs() < 1e-15);
    /// ```
    #[must_use]
    pub fn new(dim: usize, degree: usize) -> Self {
        assert!(dim > 0, "a simplex has at least one dimension");
        match (dim, degree) {
            (_, 0 | 1) => Self::grundmann_moeller(dim, 0),
            (1, _) => Self::conical(dim, degree),
            (_, 2) => Self::second(dim),
            (2, 3 | 4) => Self::symmetric(4, 0.0, &DUNAVANT_4, &[]),
            (2, 5) => Self::radon(),
            (2, 6..=8) => Self::symmetric(8, DUNAVANT_8_CENTRE, &DUNAVANT_8, &DUNAVANT_8_MIXED),
            (2, _) => Self::conical(dim, degree),
            _ => {
                let low = Self::grundmann_moeller(dim, degree / 2);
                let size: f64 = low.weights.iter().map(|w| w.abs()).sum();
                if size <= LARGEST_WEIGHTS {
                    low
                } else {
                    Self::conical(dim, degree)
                }
            }
        }
    }

    /// The rule of Grundmann and Moeller of degree `2s + 1`, some of whose weights are negative
    /// from `s = 1` on.
    ///
    /// # Source
    /// Grundmann & Moeller 1978, theorem 4.
    #[must_use]
    pub fn grundmann_moeller(dim: usize, s: usize) -> Self {
        let degree = 2 * s + 1;
        let mut rule = Self::empty(degree);
        for i in 0..=s {
            let side = (degree + dim - 2 * i) as f64;
            // d! 2^-2s side^(2s+1) / (i! (d + 2s + 1 - i)!), multiplied so that nothing overflows.
            let mut weight = if i % 2 == 0 { 1.0 } else { -1.0 } * side;
            (0..s).for_each(|_| weight *= 0.25 * side * side);
            (1..=i).for_each(|k| weight /= k as f64);
            (dim + 1..=degree + dim - i).for_each(|k| weight /= k as f64);
            for part in partitions(s - i, dim + 1) {
                let node = part.iter().map(|&b| (2 * b + 1) as f64 / side).collect();
                rule.push(node, weight);
            }
        }
        rule
    }

    /// The product of Gauss-Jacobi rules on the simplex seen as a collapsed cube; weights positive.
    #[must_use]
    pub fn conical(dim: usize, degree: usize) -> Self {
        let n = degree / 2 + 1;
        let mut rule = Self {
            degree: 2 * n - 1,
            nodes: vec![Vec::new()],
            weights: vec![1.0],
        };
        for k in 1..=dim {
            let line = gauss_jacobi(n, (dim - k) as f64, 0.0);
            let mut next = Self::empty(rule.degree);
            for (node, weight) in rule.iter() {
                let left = 1.0 - node.iter().sum::<f64>();
                for (x, w) in line.nodes.iter().zip(&line.weights) {
                    let mut node = node.to_vec();
                    node.push(0.5 * (1.0 + x) * left);
                    next.push(node, weight * w);
                }
            }
            rule = next;
        }
        for node in &mut rule.nodes {
            let left = 1.0 - node.iter().sum::<f64>();
            node.push(left);
        }
        rule
    }

    /// One node near every vertex, degree 2.
    fn second(dim: usize) -> Self {
        let n = dim as f64;
        let a = (n + 2.0 - (n + 2.0).sqrt()) / ((n + 1.0) * (n + 2.0));
        let mut rule = Self::empty(2);
        for v in 0..=dim {
            let mut node = vec![a; dim + 1];
            node[v] = 1.0 - n * a;
            rule.push(node, 1.0 / (n + 1.0));
        }
        rule
    }

    /// Seven nodes on a triangle, degree 5.
    fn radon() -> Self {
        let root = 15f64.sqrt();
        let orbit = |s: f64| [(6.0 + s * root) / 21.0, (155.0 + s * root) / 1200.0];
        Self::symmetric(5, 9.0 / 40.0, &[orbit(-1.0), orbit(1.0)], &[])
    }

    /// A rule on the triangle of the centre, orbits `[a, weight]` of `(a, a, 1 - 2a)`, and orbits
    /// `[a, b, weight]` of six.
    fn symmetric(degree: usize, centre: f64, pairs: &[[f64; 2]], mixed: &[[f64; 3]]) -> Self {
        let mut rule = Self::empty(degree);
        if centre != 0.0 {
            rule.push(vec![1.0 / 3.0; 3], centre);
        }
        for &[a, w] in pairs {
            for v in 0..3 {
                let mut node = vec![a; 3];
                node[v] = 1.0 - 2.0 * a;
                rule.push(node, w);
            }
        }
        for &[a, b, w] in mixed {
            let c = 1.0 - a - b;
            for node in [
                [a, b, c],
                [a, c, b],
                [b, a, c],
                [b, c, a],
                [c, a, b],
                [c, b, a],
            ] {
                rule.push(node.to_vec(), w);
            }
        }
        // The table has 15 digits.
        let sum: f64 = rule.weights.iter().sum();
        rule.weights.iter_mut().for_each(|w| *w /= sum);
        rule
    }

    fn empty(degree: usize) -> Self {
        Self {
            degree,
            nodes: Vec::new(),
            weights: Vec::new(),
        }
    }

    fn push(&mut self, node: Vec<f64>, weight: f64) {
        self.nodes.push(node);
        self.weights.push(weight);
    }

    /// Total degree of the polynomials it is exact for, at least the one asked for.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Never: every rule has a node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Barycentric coordinates (`dim + 1` of them) and weight of every node.
    pub fn iter(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.nodes
            .iter()
            .map(Vec::as_slice)
            .zip(self.weights.iter().copied())
    }
}

/// Degree 4: `[a, weight]`.
const DUNAVANT_4: [[f64; 2]; 2] = [
    [0.445_948_490_915_965, 0.223_381_589_678_011],
    [0.091_576_213_509_771, 0.109_951_743_655_322],
];

/// Degree 8: weight of the centre, `[a, weight]`, `[a, b, weight]`.
const DUNAVANT_8_CENTRE: f64 = 0.144_315_607_677_787;
const DUNAVANT_8: [[f64; 2]; 3] = [
    [0.459_292_588_292_723, 0.095_091_634_267_285],
    [0.170_569_307_751_760, 0.103_217_370_534_718],
    [0.050_547_228_317_031, 0.032_458_497_623_198],
];
const DUNAVANT_8_MIXED: [[f64; 3]; 1] = [[
    0.008_394_777_409_958,
    0.263_112_829_634_638,
    0.027_230_314_174_435,
]];

/// All ways to write `total` as a sum of `parts` whole numbers, order counting.
fn partitions(total: usize, parts: usize) -> Vec<Vec<usize>> {
    if parts == 1 {
        return vec![vec![total]];
    }
    let mut all = Vec::new();
    for first in 0..=total {
        for mut rest in partitions(total - first, parts - 1) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `E prod b_v^p_v` under the uniform distribution: `d! prod p_v! / (d + |p|)!`.
    fn moment(dim: usize, powers: &[usize]) -> f64 {
        let mut value = 1.0;
        let mut k = dim;
        for &p in powers {
            for j in 1..=p {
                k += 1;
                value *= j as f64 / k as f64;
            }
        }
        value
    }

    /// Largest error over all monomials of one total degree, relative to the largest moment.
    fn error(rule: &Cubature, dim: usize, degree: usize) -> f64 {
        let largest = moment(dim, &[degree]);
        let monomials = partitions(degree, dim + 1).into_iter();
        monomials.fold(0.0, |worst, p| {
            let got: f64 = rule
                .iter()
                .map(|(b, w)| {
                    let powers = b.iter().zip(&p);
                    w * powers.map(|(b, &k)| b.powi(k as i32)).product::<f64>()
                })
                .sum();
            f64::max(worst, (got - moment(dim, &p)).abs() / largest)
        })
    }

    fn exact_up_to_its_degree(rule: &Cubature, dim: usize) {
        let size: f64 = rule.iter().map(|(_, w)| w.abs()).sum();
        for degree in 0..=rule.degree() {
            let e = error(rule, dim, degree);
            // 15 digits in the table, rounding of terms of either sign; the largest moment shrinks
            // like 1 / C(dim + degree, dim).
            let eps = 1e-13 * size.max(1.0);
            assert!(
                e < eps,
                "dim {dim} rule {} of {} nodes, degree {degree}: {e}",
                rule.degree(),
                rule.len()
            );
        }
        let e = error(rule, dim, rule.degree() + 1);
        // Far above rounding.
        assert!(
            e > 1e-10,
            "dim {dim} rule {}: {e} one degree up",
            rule.degree()
        );
    }

    #[test]
    fn rules_are_exact_up_to_their_degree_and_no_further() {
        for dim in 1..=6 {
            let highest = [0, 15, 13, 9, 7, 7, 5][dim];
            for degree in 1..=highest {
                let rule = Cubature::new(dim, degree);
                assert!(rule.degree() >= degree);
                exact_up_to_its_degree(&rule, dim);
            }
            for s in 0..=[0, 5, 5, 4, 3, 3, 2][dim] {
                exact_up_to_its_degree(&Cubature::grundmann_moeller(dim, s), dim);
            }
            exact_up_to_its_degree(&Cubature::conical(dim, 3), dim);
        }
    }

    #[test]
    fn numbers_of_nodes_are_as_documented() {
        let nodes = |dim, degrees: &[usize]| -> Vec<usize> {
            degrees
                .iter()
                .map(|&k| Cubature::new(dim, k).len())
                .collect()
        };
        assert_eq!(nodes(1, &[1, 3, 5, 9]), [1, 2, 3, 5]);
        assert_eq!(nodes(2, &[1, 2, 4, 5, 8, 11]), [1, 3, 6, 7, 16, 36]);
        assert_eq!(nodes(3, &[1, 2, 3, 5, 7]), [1, 4, 5, 15, 35]);
        assert_eq!(nodes(6, &[1, 2, 3, 5]), [1, 7, 8, 36]);
    }

    #[test]
    fn rules_of_one_and_two_dimensions_have_positive_weights_and_inner_nodes() {
        for dim in 1..=2 {
            for degree in 1..=15 {
                let rule = Cubature::new(dim, degree);
                assert!(
                    rule.iter()
                        .all(|(b, w)| w > 0.0 && b.iter().all(|b| *b > 0.0))
                );
            }
        }
    }
}
