//! Regions as simplices, and nodes on them.

use geo::{Coord, LineString, TriangulateEarcut};

use super::functional::Functional;
use super::mend::{overlaid, put_back};
use super::polygon::Polygon;
use super::region::Region;
use super::ring::RegionError;
use super::ring::{Ring, signed_area};
use crate::quadrature::{Nodes, simplex_nodes};

impl Polygon {
    /// Disjoint triangles that make up the polygon, corners at its vertices.
    ///
    /// # Numerics
    /// Ear clipping; the areas add up to [`Self::area`] to 1e-12.
    #[must_use]
    pub fn triangles(&self) -> Vec<[[f64; 2]; 3]> {
        self.parts()
            .into_iter()
            .flat_map(|part| {
                let want: f64 = part.iter().map(|ring| signed_area(ring)).sum();
                let lost = |t: &Vec<[[f64; 2]; 3]>| (area(t) - want).abs();
                let cut = clipped(&part);
                if lost(&cut) <= 1e-12 * want {
                    return cut;
                }
                // Rings that touch may defeat ear clipping; drawn anew they no longer do.
                let parts = vec![part];
                let raw = overlaid(&parts);
                let anew = [put_back(&raw, &parts), raw];
                let others = anew.iter().map(|parts| {
                    let oriented = parts.iter().map(|p| facing(p));
                    oriented.flat_map(|p| clipped(&p)).collect::<Vec<_>>()
                });
                others.fold(cut, |best, t| if lost(&t) < lost(&best) { t } else { best })
            })
            .collect()
    }

    /// Exteriors, each followed by its holes.
    fn parts(&self) -> Vec<Vec<Ring>> {
        let mut parts: Vec<Vec<Ring>> = Vec::new();
        for ring in self.rings() {
            match parts.last_mut() {
                Some(part) if signed_area(ring) < 0.0 => part.push(ring.clone()),
                _ => parts.push(vec![ring.clone()]),
            }
        }
        parts
    }
}

fn facing(part: &[Ring]) -> Vec<Ring> {
    let turned = part.iter().enumerate().map(|(k, ring)| {
        let mut ring = ring.clone();
        super::ring::distinct(&mut ring);
        if (signed_area(&ring) > 0.0) != (k == 0) {
            ring.reverse();
        }
        ring
    });
    turned.filter(|ring| ring.len() > 2).collect()
}

fn area(triangles: &[[[f64; 2]; 3]]) -> f64 {
    triangles.iter().map(|t| signed_area(t).abs()).sum()
}

/// Ear clipping of an exterior and its holes.
fn clipped(part: &[Ring]) -> Vec<[[f64; 2]; 3]> {
    let Some((exterior, holes)) = part.split_first() else {
        return Vec::new();
    };
    // About a vertex, for the sake of far origins.
    let [x0, y0] = exterior[0];
    let line = |ring: &Ring| -> LineString<f64> {
        let shifted = ring.iter().map(|v| Coord {
            x: v[0] - x0,
            y: v[1] - y0,
        });
        shifted.collect()
    };
    let polygon = geo::Polygon::new(line(exterior), holes.iter().map(line).collect());
    let raw = polygon.earcut_triangles_raw();
    let vertices = part.concat();
    raw.triangle_indices
        .chunks_exact(3)
        .map(|t| [vertices[t[0]], vertices[t[1]], vertices[t[2]]])
        .filter(|t| signed_area(t) != 0.0)
        .collect()
}

impl Region {
    /// Disjoint simplices that make up the region, each as its vertices one after the other
    /// (`(dim + 1) * dim` numbers).
    #[must_use]
    pub fn simplices(&self) -> Vec<Vec<f64>> {
        match self {
            Self::Polygon(polygon) => {
                let triangles = polygon.triangles().into_iter();
                triangles.map(|t| t.concat()).collect()
            }
            Self::Simplices(simplices) => simplices.iter().map(<[f64]>::to_vec).collect(),
        }
    }
}

/// Nodes for averages over a region of functions that vary over given lengthscales.
///
/// The fallback for every kernel, and a judge of methods for particular ones: `w_a' K(X_a, X_b)
/// w_b` is positive semi-definite whatever the weights.
///
/// # Arguments
/// * `lengthscales` - one per input of the region, positive
/// * `tolerance` - of the covariance of an average with itself or the value at a point, relative to
///   the standard deviations, under a squared-exponential kernel; between 1e-14 and 1e-3
/// # Errors
/// [`RegionError::Shape`] for the wrong number of lengthscales or ones that are not positive,
/// [`RegionError::TooFine`].
/// # Numerics
/// See [`simplex_nodes`]. Rougher kernels have a kink where both points meet, so that the variance
/// of an average converges slowly. Its relative error for a star of diameter 2 with a hole,
/// lengthscale 0.25:
///
/// | tolerance | nodes | Se | Matern52 | Matern32 | Matern12 |
/// |---|---|---|---|---|---|
/// | 1e-4 | 234 | 6e-7 | 6e-5 | 4e-4 | 7e-3 |
/// | 1e-6 | 432 | 2e-7 | 3e-5 | 3e-4 | 5e-3 |
/// | 1e-8 | 932 | 3e-12 | 2e-6 | 2e-5 | 1e-3 |
///
/// [`Nodes::disagreement`] with [`finer_region_nodes`] was 1 to 7 times the error for the rough
/// kernels, and more for the smooth one.
/// # Examples
/// ```
/// use quadrat::support::{Polygon, region_nodes};
/// let triangle = Polygon::new(vec![vec![vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]])?;
/// let nodes = region_nodes(&triangle.into(), &[1.0, 1.0], 1e-6)?;
/// assert_eq!(nodes.len(), 16);
/// assert!((nodes.mean(|x| x[0] * x[1]) - 1.0 / 12.0).abs() < 1e-14);
/// # Ok::<(), quadrat::support::RegionError>(())
/// ```
pub fn region_nodes(
    region: &Region,
    lengthscales: &[f64],
    tolerance: f64,
) -> Result<Nodes, RegionError> {
    placed(region, lengthscales, tolerance, false)
}

/// The same pieces with a finer rule on each: [`Nodes::disagreement`] with these estimates the
/// error of [`region_nodes`] under any kernel.
///
/// # Errors
/// As [`region_nodes`].
pub fn finer_region_nodes(
    region: &Region,
    lengthscales: &[f64],
    tolerance: f64,
) -> Result<Nodes, RegionError> {
    placed(region, lengthscales, tolerance, true)
}

fn placed(
    region: &Region,
    lengthscales: &[f64],
    tolerance: f64,
    finer: bool,
) -> Result<Nodes, RegionError> {
    let positive = |l: &&f64| l.is_finite() && **l > 0.0;
    let got = lengthscales.iter().filter(positive).count();
    if lengthscales.len() != region.dim() || got != region.dim() {
        return Err(RegionError::Shape {
            what: "the list of positive lengthscales".into(),
            got,
            expected: region.dim(),
        });
    }
    simplex_nodes(&region.simplices(), lengthscales, tolerance, finer).ok_or_else(|| {
        RegionError::TooFine {
            lengthscale: lengthscales.iter().copied().fold(f64::INFINITY, f64::min),
        }
    })
}

impl From<Nodes> for Functional {
    /// The weighted sum, which is the average over what the nodes were placed on.
    fn from(nodes: Nodes) -> Self {
        Self::nodes(nodes.points(), nodes.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::Simplices;
    use crate::support::mend::tests::features;

    fn star(n: usize, far: f64) -> Polygon {
        let vertex = |k: usize| {
            let (s, c) = (std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
            let r = if k.is_multiple_of(2) { 1.0 } else { 0.45 };
            [far + r * c, -far + r * s]
        };
        let hole = |k: usize| {
            let (s, c) = (std::f64::consts::TAU * k as f64 / 5.0).sin_cos();
            [far + 0.3 * c, -far + 0.3 * s]
        };
        let rings = vec![(0..n).map(vertex).collect(), (0..5).map(hole).collect()];
        Polygon::new(vec![rings]).unwrap()
    }

    #[test]
    fn triangles_make_up_the_polygon() {
        for far in [0.0, 1e6] {
            let polygon = star(14, far);
            let triangles = polygon.triangles();
            // What the documentation states.
            assert!((area(&triangles) / polygon.area() - 1.0).abs() < 1e-12);
            // Cut at vertices: n + 2 h - 2 triangles.
            assert_eq!(triangles.len(), 14 + 5);
            for t in &triangles {
                let middle = [0, 1].map(|d| (t[0][d] + t[1][d] + t[2][d]) / 3.0);
                assert!(polygon.contains(middle));
            }
        }
    }

    #[test]
    fn real_polygons_are_triangulated_to_rounding() {
        for name in [
            "nc_sids",
            "ny8_leukemia",
            "scotland_lip",
            "breast_cancer_counties",
        ] {
            let Some(features) = features(name) else {
                continue;
            };
            let mut worst = 0.0f64;
            for parts in features {
                let Ok((polygon, _)) = Polygon::mended_within(parts, 0.05) else {
                    panic!("{name}")
                };
                let lost = (area(&polygon.triangles()) / polygon.area() - 1.0).abs();
                worst = worst.max(lost);
            }
            println!("{name}: {worst:e}");
            // Drawn anew on a grid of 2^-30 where rings touch.
            assert!(worst < 1e-8, "{name}: {worst}");
        }
    }

    #[test]
    fn nodes_give_moments_of_the_polygon() {
        let polygon = star(14, 0.0);
        let centroid = polygon.centroid();
        let region = Region::from(polygon);
        for l in [10.0, 0.5, 0.1] {
            // Rounding of sums over some thousand nodes, whose moments cancel to zero; weights are
            // areas over their sum.
            let nodes = region_nodes(&region, &[l, l], 1e-6).unwrap();
            assert!((nodes.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!((nodes.mean(|x| x[0]) - centroid[0]).abs() < 1e-13);
            assert!((nodes.mean(|x| x[1]) - centroid[1]).abs() < 1e-13);
        }
        assert!(matches!(
            region_nodes(&region, &[1.0, -1.0], 1e-6),
            Err(RegionError::Shape { got: 1, .. })
        ));
        assert!(matches!(
            region_nodes(&region, &[1e-5, 1e-5], 1e-6),
            Err(RegionError::TooFine { .. })
        ));
    }

    #[test]
    fn a_square_in_closed_form() {
        // Variance of the average of a separable kernel over a rectangle is a product.
        let side = |w: f64| {
            let z = w / std::f64::consts::SQRT_2;
            let root = std::f64::consts::PI.sqrt();
            2.0 * (0.5 * root * z * libm::erf(z) - 0.5 * (1.0 - (-z * z).exp())) / (z * z)
        };
        for size in [0.3, 1.0, 4.0, 12.0] {
            let square = Polygon::rectangle((0.0, size), (0.0, 0.5 * size)).unwrap();
            let want = side(size) * side(0.5 * size);
            for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
                let region = Region::from(square.clone());
                let nodes = region_nodes(&region, &[1.0, 1.0], tolerance).unwrap();
                let finer = finer_region_nodes(&region, &[1.0, 1.0], tolerance).unwrap();
                let se = |x: &[f64], y: &[f64]| {
                    (-0.5 * ((x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2))).exp()
                };
                let got = nodes.mean(|x| nodes.mean(|y| se(x, y)));
                let error = (got / want - 1.0).abs();
                let estimate = nodes.disagreement(&finer, se);
                println!(
                    "{size} {tolerance:e}: {} nodes, {error:e}, estimated {estimate:e}",
                    nodes.len()
                );
                // The tables were measured on other shapes.
                assert!(error < 2.0 * tolerance);
                // Relative to the variance itself, which is small for large regions.
                assert!(estimate < 4.0 * tolerance / want.sqrt());
                assert!(estimate > 0.2 * error);
            }
        }
    }

    #[test]
    fn rough_kernels_converge_slowly() {
        let region = Region::from(star(14, 0.0));
        // Errors of the variance of the average for tolerances of 1e-4, 1e-6, 1e-8: at most one and
        // a half to three times those in the words of `region_nodes`.
        type Case = (&'static str, fn(f64) -> f64, [f64; 3]);
        let kernels: [Case; 4] = [
            ("se", |r| (-0.5 * r * r).exp(), [1e-4, 1e-6, 1e-8]),
            (
                "matern52",
                |r| {
                    let z = 5f64.sqrt() * r;
                    (1.0 + z + z * z / 3.0) * (-z).exp()
                },
                [2e-4, 1e-4, 5e-6],
            ),
            (
                "matern32",
                |r| {
                    let z = 3f64.sqrt() * r;
                    (1.0 + z) * (-z).exp()
                },
                [8e-4, 5e-4, 5e-5],
            ),
            ("matern12", |r| (-r).exp(), [1.3e-2, 1e-2, 2e-3]),
        ];
        for (l, finer) in [(1.0, 0.1), (0.25, 0.25)] {
            let judge = region_nodes(&region, &[finer * l; 2], 1e-4).unwrap();
            for (name, kernel, reached) in kernels {
                let k = |x: &[f64], y: &[f64]| kernel((x[0] - y[0]).hypot(x[1] - y[1]) / l);
                let of = |nodes: &Nodes| nodes.mean(|x| nodes.mean(|y| k(x, y)));
                let want = of(&judge);
                for (tolerance, reached) in [1e-4, 1e-6, 1e-8].into_iter().zip(reached) {
                    let nodes = region_nodes(&region, &[l; 2], tolerance).unwrap();
                    let finer = finer_region_nodes(&region, &[l; 2], tolerance).unwrap();
                    let error = (of(&nodes) / want - 1.0).abs();
                    let estimate = nodes.disagreement(&finer, k);
                    println!(
                        "{name} l {l} {tolerance:e}: {} nodes ({} judge), {error:.1e}, estimated {estimate:.1e}",
                        nodes.len(),
                        judge.len()
                    );
                    assert!(error < reached, "{name} {l} {tolerance}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_functional_of_three_inputs() {
        let corner = vec![
            vec![0.0, 0.0, 0.0],
            vec![1.0, 0.0, 0.0],
            vec![0.0, 1.0, 0.0],
            vec![0.0, 0.0, 1.0],
        ];
        let region = Region::from(Simplices::new(&[corner]).unwrap());
        let nodes = region_nodes(&region, &[2.0; 3], 1e-6).unwrap();
        // Rules are exact for a product of two coordinates: rounding of a sum of 0.05.
        assert!((nodes.mean(|x| x[0] * x[1]) - 1.0 / 20.0).abs() < 1e-14);
        let n = nodes.len();
        let Functional::Nodes { points, weights } = nodes.into() else {
            panic!("nodes become nodes")
        };
        assert_eq!((points.len(), weights.len(), points[0].len()), (n, n, 3));
    }
}
