//! Slivers: polygons so thin that opposite edges say nearly the same with opposite signs.

use std::sync::Arc;

use quadrat::quadrature::gauss_legendre;
use quadrat::support::{Aggregate, Functionals, Polygon, Region};

use super::{Box2, kernel, plane, turned};

/// What is beside a sliver of this length: a square that it crosses, one that it touches, and a
/// place.
fn others(length: f64) -> [Box2; 3] {
    let middle = 0.4 * length;
    [
        [(middle, middle + 1.0), (-0.3, 0.7)],
        [(length, length + 0.5), (0.0, 0.5)],
        [(0.3 * length, 0.3 * length), (0.05, 0.05)],
    ]
}

fn set(sliver: Arc<Region>, length: f64, angle: f64) -> Functionals {
    let mut set = plane();
    set.push_region(sliver, Aggregate::Mean).unwrap();
    for b in others(length) {
        if b[0].0 < b[0].1 {
            set.push_region(turned(b, angle, [0.0; 2]), Aggregate::Mean)
                .unwrap();
        } else {
            let (s, c) = angle.sin_cos();
            let (x, y) = (b[0].0, b[1].0);
            set.push_point(&[c * x - s * y, s * x + c * y]).unwrap();
        }
    }
    set
}

/// A rectangle is a line in the limit, of which an average has a closed form: a sliver differs from
/// it by its width, in lengthscales, and by the rule's own 1e-4 of a variance, which at the kink of
/// the roughest kernel is some 1e-3.
#[test]
fn a_rectangle_that_is_ever_thinner_is_a_line_in_the_end() {
    for family in ["matern12", "matern32", "matern52"] {
        let (_, covariance) = kernel(&format!("{family}(x, y, shared = true)"));
        for (length, angle) in [(2.0, 0.0), (2.0, 0.6), (0.3, 1.1), (20.0, 2.0)] {
            let mut line = plane();
            line.push_box(&[(0.0, length), (0.0, 0.0)], Aggregate::Mean)
                .unwrap();
            for b in others(length) {
                line.push_box(&b, Aggregate::Mean).unwrap();
            }
            let want = covariance.matrix(&[1.0, 1.0], &line);
            for width in [1e-4, 1e-5, 1e-6, 1e-8, 1e-10] {
                let sliver = turned([(0.0, length), (0.0, width)], angle, [0.0; 2]);
                let got = covariance.matrix(&[1.0, 1.0], &set(sliver, length, angle));
                for i in 0..4 {
                    let scale = (want[(0, 0)] * want[(i, i)]).sqrt();
                    let error = (got[(i, 0)] - want[(i, 0)]).abs() / scale;
                    let of_rule = if family == "matern12" { 3e-3 } else { 2e-4 };
                    let most = of_rule + 10.0 * width;
                    assert!(
                        error < most,
                        "{family}, {length} by {width:e}, {i}: {error:e}"
                    );
                }
            }
        }
    }
}

/// The average over a triangle counts the places along it by its width there.
#[test]
fn a_sliver_counts_places_by_its_width_there() {
    let length = 1.5;
    for family in ["matern12", "matern32"] {
        let (_, covariance) = kernel(&format!("{family}(x, y)"));
        for width in [1e-6, 1e-9] {
            let ring = vec![[0.0, 0.0], [length, 0.0], [length, width]];
            let sliver: Region = Polygon::new(vec![vec![ring]]).unwrap().into();
            let got = covariance.matrix(&[1.0, 1.0, 1.0], &set(Arc::new(sliver), length, 0.0));
            // Beside the line, where the kernel has no kink along it.
            let mut nodes = plane();
            let (mut points, mut weights) = (Vec::new(), Vec::new());
            for part in 0..20 {
                let from = f64::from(part) / 20.0;
                for (t, w) in gauss_legendre(8).on(from, from + 0.05) {
                    points.push(vec![length * t, 0.0]);
                    weights.push(2.0 * t * w);
                }
            }
            nodes.push_nodes(&points, &weights).unwrap();
            nodes.push_point(&[0.3 * length, 0.05]).unwrap();
            let want = covariance.matrix(&[1.0, 1.0, 1.0], &nodes);
            let error = (got[(3, 0)] - want[(1, 0)]).abs();
            // The rule of so thin a triangle, beside a place near it at which the kernel is steep:
            // found is 9e-6.
            assert!(error < 2e-4, "{family}, {width:e}: {error:e}");
        }
    }
}
