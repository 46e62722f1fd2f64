//! Points and rectangles in place of a region, as the papers have them, for comparison.
//!
//! [`region_nodes`](super::region_nodes) and the edges of polygons do the same job with far fewer
//! nodes; these are what they are compared with.

mod low_discrepancy;
mod random;
mod rectangles;

pub use low_discrepancy::low_discrepancy;
pub use random::random;
pub use rectangles::{Rectangles, rectangles};

use super::Region;
use crate::quadrature::simplex_volume;

/// The simplices of a region with the cumulated shares of the volume, from which to draw.
struct Urn {
    dim: usize,
    simplices: Vec<Vec<f64>>,
    /// Share of the volume up to and with each simplex; the last is one.
    up_to: Vec<f64>,
}

impl Urn {
    fn new(region: &Region) -> Self {
        let (dim, simplices) = (region.dim(), region.simplices());
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = simplices
            .iter()
            .map(|s| {
                sum += simplex_volume(s, dim);
                sum
            })
            .collect();
        up_to.iter_mut().for_each(|v| *v /= sum);
        Self {
            dim,
            simplices,
            up_to,
        }
    }

    /// The simplex that a number in `[0, 1)` falls on.
    fn simplex(&self, u: f64) -> &[f64] {
        let k = self.up_to.partition_point(|v| *v <= u);
        &self.simplices[k.min(self.simplices.len() - 1)]
    }

    /// The image of a point of the unit cube: uniform on the simplex if it is uniform.
    ///
    /// # Source
    /// Grimme 2015, as in Algorithm 1 of Smith, Alvarez and Lawrence.
    fn image(&self, simplex: &[f64], u: impl Fn(usize) -> f64) -> Vec<f64> {
        let dim = self.dim;
        let mut point = vec![0.0; dim];
        let mut product = 1.0;
        for v in 0..=dim {
            let root = if v < dim {
                u(v).powf(1.0 / (dim - v) as f64)
            } else {
                0.0
            };
            // From the first vertex, for the sake of far origins.
            let weight = (1.0 - root) * product;
            for d in 0..dim {
                point[d] += weight * (simplex[v * dim + d] - simplex[d]);
            }
            product *= root;
        }
        (0..dim).map(|d| simplex[d] + point[d]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::Nodes;
    use crate::support::{Polygon, Simplices, region_nodes};

    pub(super) fn frame() -> Region {
        let ring = |a: f64, b: f64| vec![[a, a], [b, a], [b, b], [a, b]];
        let mut outer = ring(0.0, 3.0);
        outer[2] = [3.5, 3.2];
        Polygon::new(vec![vec![outer, ring(1.0, 2.0)]])
            .unwrap()
            .into()
    }

    /// Root mean square error of the averages of bumps about points of the region.
    pub(super) fn error(nodes: &Nodes, region: &Region) -> f64 {
        let l = vec![0.5; region.dim()];
        let exact = region_nodes(region, &l, 1e-8).unwrap();
        let step = exact.len() / 20 + 1;
        let (mut sum, mut n) = (0.0, 0.0);
        for k in (0..exact.len()).step_by(step) {
            let y = exact.point(k);
            let bump = |x: &[f64]| -> f64 {
                let r2: f64 = x.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum();
                (-2.0 * r2).exp()
            };
            sum += (nodes.mean(bump) / exact.mean(bump) - 1.0).powi(2);
            n += 1.0;
        }
        (sum / n).sqrt()
    }

    pub(super) fn average(seeds: u64, of: impl Fn(u64) -> f64) -> f64 {
        (0..seeds).map(of).sum::<f64>() / seeds as f64
    }

    #[test]
    fn points_lie_inside_and_weights_sum_to_one() {
        let region = frame();
        let Region::Polygon(polygon) = &region else {
            unreachable!()
        };
        for nodes in [random(&region, 57, 3), low_discrepancy(&region, 57, 3)] {
            assert_eq!(nodes.len(), 57);
            // Rounding of a sum of 57 terms: n eps / 2 = 6e-15.
            assert!((nodes.weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            assert!(
                nodes
                    .points()
                    .iter()
                    .all(|p| polygon.contains([p[0], p[1]]))
            );
        }
        assert_eq!(random(&region, 9, 1), random(&region, 9, 1));
        assert_ne!(random(&region, 9, 1), random(&region, 9, 2));
        assert_eq!(
            low_discrepancy(&region, 9, 1),
            low_discrepancy(&region, 9, 1)
        );
        assert_ne!(
            low_discrepancy(&region, 9, 1),
            low_discrepancy(&region, 9, 2)
        );
        assert!(random(&region, 0, 1).is_empty());
    }

    #[test]
    fn points_are_uniform_in_three_dimensions() {
        let corner = |k: f64| {
            vec![
                vec![k, 0.0, 0.0],
                vec![k + 1.0, 0.0, 0.0],
                vec![k, 1.0, 0.0],
                vec![k, 0.0, 2.0 - k],
            ]
        };
        let region: Region = Simplices::new(&[corner(0.0), corner(1.0)]).unwrap().into();
        let exact = region_nodes(&region, &[1.0; 3], 1e-6).unwrap();
        for (name, place) in [
            ("random", random as fn(&Region, usize, u64) -> Nodes),
            ("sobol", low_discrepancy),
        ] {
            let nodes = place(&region, 4096, 5);
            for f in [
                |x: &[f64]| x[0],
                |x: &[f64]| x[2],
                |x: &[f64]| x[1] * x[1],
                |x: &[f64]| x[0] * x[2],
            ] {
                let (got, want) = (nodes.mean(f), exact.mean(f));
                // Standard deviations below .6: four standard errors of 4096 points.
                assert!((got - want).abs() < 0.04, "{name}: {got} {want}");
            }
        }
    }

    #[test]
    fn errors_fall_as_they_should() {
        let region = frame();
        let at = |n| {
            [
                average(20, |s| error(&random(&region, n, s), &region)),
                average(20, |s| error(&low_discrepancy(&region, n, s), &region)),
            ]
        };
        let (few, many) = (at(64), at(1024));
        println!("random, low discrepancy: {few:?} {many:?}");
        // n^-1/2 for random points: a quarter; low discrepancy nearly n^-1 or better.
        assert!((0.18..0.35).contains(&(many[0] / few[0])));
        assert!(many[1] < 0.15 * few[1] && few[1] < 0.7 * few[0]);
    }
}
