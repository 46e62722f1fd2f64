//! Nodes in balls.

use std::f64::consts::TAU;

use super::{Nodes, gauss_jacobi};

/// Nodes for averages over a ball, exact for polynomials of total degree `degree`.
///
/// The product of a Gauss rule for the radius, of density proportional to `r^(d - 1)`, and on the
/// sphere of equal angles on a circle and Gauss rules for the cosines of the other `d - 2` angles:
/// about `(degree / 2)^d` nodes of positive weight.
///
/// # Arguments
/// * `centre` - one coordinate per dimension, at least one
/// * `radius` - positive; a ball in units of lengthscales is made by scaling the nodes
/// # Panics
/// When `centre` is empty.
/// # Numerics
/// All monomials up to the degree to 1e-13 for 1 to 6 dimensions.
/// # Source
/// Stroud 1971, chapter 2 (spherical product formulas).
/// # Examples
/// ```
/// let nodes = quadrat::quadrature::ball(&[1.0, 0.0, 0.0], 2.0, 5);
/// // The mean square of a coordinate about the centre is r^2 / (d + 2).
/// let square = nodes.mean(|x| (x[0] - 1.0).powi(2));
/// assert!((square - 4.0 / 5.0).abs() < 1e-14);
/// ```
#[must_use]
pub fn ball(centre: &[f64], radius: f64, degree: usize) -> Nodes {
    let dim = centre.len();
    assert!(dim > 0, "a ball has at least one dimension");
    let n = degree / 2 + 1;
    let mut nodes = Nodes::new(dim);
    if dim == 1 {
        let line = gauss_jacobi(n, 0.0, 0.0);
        for (x, w) in line.nodes.iter().zip(&line.weights) {
            nodes.push([centre[0] + radius * x], *w);
        }
        return nodes;
    }
    // With directions in opposite pairs odd powers vanish, and a rule in r^2, of density
    // (r^2)^(d/2 - 1), needs half the degree.
    let radial = gauss_jacobi(degree / 4 + 1, 0.0, 0.5 * dim as f64 - 1.0);
    let directions = sphere(dim, n);
    for (x, w) in radial.nodes.iter().zip(&radial.weights) {
        let r = radius * (0.5 * (1.0 + x)).sqrt();
        for (direction, v) in &directions {
            nodes.push(centre.iter().zip(direction).map(|(c, u)| c + r * u), w * v);
        }
    }
    nodes
}

/// Directions and weights for averages over the unit sphere, exact to degree `2n - 1`, closed under
/// `u -> -u`.
fn sphere(dim: usize, n: usize) -> Vec<(Vec<f64>, f64)> {
    if dim == 2 {
        // An even number of angles, at least 2n.
        return (0..2 * n)
            .map(|k| {
                let (s, c) = (TAU * (k as f64 + 0.5) / (2 * n) as f64).sin_cos();
                (vec![c, s], 1.0 / (2 * n) as f64)
            })
            .collect();
    }
    // Density (1 - t^2)^((d - 3) / 2) of the cosine of the polar angle.
    let power = 0.5 * (dim as f64 - 3.0);
    let polar = gauss_jacobi(n, power, power);
    let lower = sphere(dim - 1, n);
    let mut all = Vec::with_capacity(n * lower.len());
    for (t, w) in polar.nodes.iter().zip(&polar.weights) {
        let across = ((1.0 - t) * (1.0 + t)).sqrt();
        for (direction, v) in &lower {
            let mut u: Vec<f64> = direction.iter().map(|c| c * across).collect();
            u.push(*t);
            all.push((u, w * v));
        }
    }
    all
}

/// `2 d` nodes of equal weight in a ball, exact to degree 3.
///
/// # Panics
/// When `centre` is empty.
/// # Source
/// Stroud 1971, Sn:3-1.
#[must_use]
pub fn ball_degree_3(centre: &[f64], radius: f64) -> Nodes {
    let dim = centre.len();
    assert!(dim > 0, "a ball has at least one dimension");
    let n = dim as f64;
    let r = radius * (n / (n + 2.0)).sqrt();
    let mut nodes = Nodes::new(dim);
    for d in 0..dim {
        for sign in [1.0, -1.0] {
            nodes.push(shifted(centre, &[(d, sign * r)]), 0.5 / n);
        }
    }
    nodes
}

/// At most `2 d^2 + 1` nodes in a ball, exact to degree 5: the centre, both points on every axis
/// and the four on every diagonal of two axes, all at one radius.
///
/// In four dimensions those on the axes have weight zero, which leaves 25. From five dimensions on
/// their weights are negative.
///
/// # Panics
/// When `centre` is empty.
/// # Source
/// Stroud 1971, Sn:5-2, with the free radius chosen such that `rho^2 = (d + 2) / (d + 4)`.
#[must_use]
pub fn ball_degree_5(centre: &[f64], radius: f64) -> Nodes {
    let dim = centre.len();
    assert!(dim > 0, "a ball has at least one dimension");
    let n = dim as f64;
    let r = radius * ((n + 2.0) / (n + 4.0)).sqrt();
    let s = r * 0.5f64.sqrt();
    let cube = (n + 2.0).powi(3);
    let (axis, diagonal) = ((4.0 - n) * (n + 4.0) / (2.0 * cube), (n + 4.0) / cube);
    let middle = 1.0 - 2.0 * n * axis - 2.0 * n * (n - 1.0) * diagonal;
    let mut nodes = Nodes::new(dim);
    nodes.push(centre.iter().copied(), middle);
    for d in 0..dim {
        if axis != 0.0 {
            for sign in [1.0, -1.0] {
                nodes.push(shifted(centre, &[(d, sign * r)]), axis);
            }
        }
        for e in 0..d {
            for (a, b) in [(s, s), (s, -s), (-s, s), (-s, -s)] {
                nodes.push(shifted(centre, &[(d, a), (e, b)]), diagonal);
            }
        }
    }
    nodes
}

fn shifted(centre: &[f64], by: &[(usize, f64)]) -> Vec<f64> {
    let mut x = centre.to_vec();
    by.iter().for_each(|&(d, step)| x[d] += step);
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// `E prod x_d^p_d` over the unit ball, even powers: with `s = sum p`,
    /// `d / (d + s) * prod (p - 1)!! / (d (d + 2) .. (d + s - 2))`.
    fn moment(powers: &[usize]) -> f64 {
        if powers.iter().any(|p| p % 2 == 1) {
            return 0.0;
        }
        let (d, s) = (powers.len(), powers.iter().sum::<usize>());
        let odd: f64 = powers
            .iter()
            .flat_map(|&p| (1..p).step_by(2))
            .map(|k| k as f64)
            .product();
        let below: f64 = (0..s / 2).map(|k| (d + 2 * k) as f64).product();
        d as f64 / (d + s) as f64 * odd / below
    }

    fn powers(dim: usize, total: usize) -> Vec<Vec<usize>> {
        if dim == 1 {
            return vec![vec![total]];
        }
        (0..=total)
            .flat_map(|first| {
                powers(dim - 1, total - first)
                    .into_iter()
                    .map(move |mut rest| {
                        rest.push(first);
                        rest
                    })
            })
            .collect()
    }

    fn error(nodes: &Nodes, dim: usize, degree: usize) -> f64 {
        powers(dim, degree).iter().fold(0.0, |worst, p| {
            let got = nodes.mean(|x| x.iter().zip(p).map(|(x, &k)| x.powi(k as i32)).product());
            f64::max(worst, (got - moment(p)).abs())
        })
    }

    #[test]
    fn rules_are_exact_up_to_their_degree_and_no_further() {
        for dim in 1..=6 {
            let origin = vec![0.0; dim];
            let mut rules = vec![
                (ball_degree_3(&origin, 1.0), 3),
                (ball_degree_5(&origin, 1.0), 5),
            ];
            let highest = [0, 15, 13, 9, 7, 5, 5][dim];
            rules.extend((1..=highest).step_by(2).map(|k| (ball(&origin, 1.0, k), k)));
            for (nodes, degree) in rules {
                for k in 0..=degree {
                    let e = error(&nodes, dim, k);
                    // What the documentation of `ball` states.
                    assert!(e < 1e-13, "{dim} {degree} {k}: {e}");
                }
                let e = error(&nodes, dim, degree + 1);
                // In two dimensions 14 angles average cos^14 with an error of 2^-13, radii with an
                // eighth of it: 1.5e-5, the smallest of all.
                assert!(e > 1e-6, "{dim} {degree}: {e} one degree up");
            }
        }
        assert_eq!(ball_degree_3(&[0.0; 4], 1.0).len(), 8);
        assert_eq!(ball_degree_5(&[0.0; 4], 1.0).len(), 25);
        assert_eq!(ball_degree_5(&[0.0; 3], 1.0).len(), 19);
        assert_eq!(ball(&[0.0; 2], 1.0, 3).len(), 4);
    }

    /// Covariance of the integrals over the balls of section 5.6 of Smith, Alvarez and Lawrence:
    /// 4 dimensions, radii 1 and 2, centres 3 apart, lengthscale 2.
    fn covariance(a: &Nodes, b: &Nodes) -> f64 {
        let volume = |r: f64| 0.5 * PI * PI * r.powi(4);
        let mean = a.mean(|x| {
            b.mean(|y| {
                let r2: f64 = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum();
                (-r2 / 8.0).exp()
            })
        });
        volume(1.0) * volume(2.0) * mean
    }

    #[test]
    fn the_balls_of_the_paper() {
        let (a, b) = ([0.0; 4], [3.0, 0.0, 0.0, 0.0]);
        let exact = covariance(&ball(&a, 1.0, 9), &ball(&b, 2.0, 11));
        let coarser = covariance(&ball(&a, 1.0, 7), &ball(&b, 2.0, 9));
        // Six digits are printed, half of the last is 5e-6. The next rules down tell what these
        // leave.
        assert!((exact / 104.842 - 1.0).abs() < 1e-5, "{exact}");
        assert!((exact / coarser - 1.0).abs() < 1e-6, "{exact} {coarser}");
        // Errors of the two small rules, as measured before: .82 % and .009 %.
        let third = covariance(&ball_degree_3(&a, 1.0), &ball_degree_3(&b, 2.0)) / exact - 1.0;
        let fifth = covariance(&ball_degree_5(&a, 1.0), &ball_degree_5(&b, 2.0)) / exact - 1.0;
        println!("{exact} {third} {fifth}");
        assert!((third.abs() - 0.0082).abs() < 5e-4, "{third}");
        assert!((fifth.abs() - 0.00009).abs() < 2e-5, "{fifth}");
    }
}
