//! Sets of many supports: definiteness, gradients, and rows that do not mind each other.

use std::sync::Arc;

use quadrat::support::{Aggregate, Functionals, Region, region_nodes};
use rand_chacha::ChaCha8Rng;

use super::{kernel, log_uniform, plane, star};
use crate::common::{below, random, uniform};

/// A set of stars, boxes, points and nodes.
pub(super) fn mixture(rng: &mut ChaCha8Rng, rows: usize) -> Functionals {
    let mut set = plane();
    for _ in 0..rows {
        let centre = [uniform(rng, -2.0, 2.0), uniform(rng, -2.0, 2.0)];
        let size = log_uniform(rng, 0.02, 5.0);
        match below(rng, 6) {
            0 => set.push_point(&centre).unwrap(),
            1 => {
                let other = size * log_uniform(rng, 0.1, 1.0);
                let edges = [
                    (centre[0], centre[0] + size),
                    (centre[1], centre[1] + other),
                ];
                set.push_box(&edges, Aggregate::Mean).unwrap();
            }
            2 => {
                let points: Vec<_> = (0..3)
                    .map(|k| vec![centre[0] + size * f64::from(k), centre[1]])
                    .collect();
                set.push_nodes(&points, &[0.5, -1.0, 2.0]).unwrap();
            }
            _ => {
                let region = Arc::new(Region::from(star(rng, size, centre)));
                let aggregate = if below(rng, 2) == 0 {
                    Aggregate::Sum
                } else {
                    Aggregate::Mean
                };
                set.push_region(region, aggregate).unwrap();
            }
        }
    }
    set
}

#[test]
fn random_mixtures_are_positive_semi_definite() {
    for (k, family) in ["se", "matern52", "matern12", "matern32", "rq"]
        .iter()
        .cycle()
        .take(500)
        .enumerate()
    {
        let (_, covariance) = kernel(&format!("{family}(x, y, shared = true)"));
        let mut rng = random(100 + k as u64);
        let set = mixture(&mut rng, 8);
        let theta: &[f64] = if *family == "rq" {
            &[1.0, 1.0, 1.0]
        } else {
            &[1.0, 1.0]
        };
        let mut matrix = covariance.matrix(theta, &set);
        let scale: Vec<f64> = (0..8).map(|i| matrix[(i, i)].sqrt()).collect();
        for j in 0..8 {
            for i in 0..8 {
                matrix[(i, j)] /= scale[i] * scale[j];
            }
        }
        let smallest = matrix.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()[0];
        // Eight rows, each entry within the rule's tolerance.
        assert!(smallest > -1e-6, "{family} {k}: {smallest:e}");
    }
}

#[test]
fn gradients_are_differences() {
    for text in [
        "se(x, y)",
        "matern12(x, y)",
        "matern32(x, y, shared = true)",
        "matern52(x, y)",
        "rq(x, y)",
        "se(x, y) * matern52(x) + linear(y)",
    ] {
        let (kernel, covariance) = kernel(text);
        let mut rng = random(77);
        for round in 0..4 {
            let theta = crate::common::theta(&kernel, &mut rng);
            let set = mixture(&mut rng, 7);
            let other = mixture(&mut rng, 3);
            let n = set.len();
            let adjoint = faer::Mat::from_fn(n, n, |i, j| ((i * j + i + j) as f64).sin());
            let across = faer::Mat::from_fn(n, 3, |i, j| ((i + 2 * j) as f64).cos());
            let objective = |theta: &[f64]| -> f64 {
                let (k, c) = (
                    covariance.matrix(theta, &set),
                    covariance.cross(theta, &set, &other),
                );
                let mut sum = 0.0;
                for i in 0..n {
                    sum += (0..n).map(|j| adjoint[(i, j)] * k[(i, j)]).sum::<f64>();
                    sum += (0..3).map(|j| across[(i, j)] * c[(i, j)]).sum::<f64>();
                }
                sum
            };
            let mut gradient = vec![0.0; theta.len()];
            covariance.contract(&theta, &set, adjoint.as_ref(), &mut gradient);
            covariance.contract_cross(&theta, &set, &other, across.as_ref(), &mut gradient);
            let size: f64 = gradient.iter().map(|g| g.abs()).sum();
            for p in 0..theta.len() {
                // Node counts may change within the step: differences are good to the tolerance of
                // the rule over the step.
                let h = 1e-3 * theta[p];
                let at = |s: f64| {
                    let mut t = theta.clone();
                    t[p] += s * h;
                    objective(&t)
                };
                let difference = (8.0 * (at(1.0) - at(-1.0)) - at(2.0) + at(-2.0)) / (12.0 * h);
                let error = (difference - gradient[p]).abs();
                // The tolerance of the rule, 1e-7, over the step of 1e-3; found are 3e-7 of the
                // size.
                assert!(
                    error < 2e-4 * size,
                    "{text} {round} {p}: {difference} {}",
                    gradient[p]
                );
            }
        }
    }
}

#[test]
fn lengthscales_that_shrink_get_more_nodes() {
    // The same region under lengthscales down to a tenth of its size, against nodes chosen for
    // the shortest.
    let (_, covariance) = kernel("rq(x, y)");
    let mut rng = random(6);
    let polygon = star(&mut rng, 1.0, [0.0, 0.0]);
    let region = Region::from(polygon);
    let fine = region_nodes(&region, &[0.05, 0.05], 1e-8).unwrap();
    let (mut regions, mut nodes) = (plane(), plane());
    regions.push_region(region, Aggregate::Mean).unwrap();
    nodes.push_nodes(&fine.points(), &fine.weights).unwrap();
    for lengthscale in [2.0, 0.3, 0.1] {
        let theta = [1.0, lengthscale, lengthscale, 2.0];
        let (got, want) = (
            covariance.matrix(&theta, &regions),
            covariance.matrix(&theta, &nodes),
        );
        // `Covariance::tolerance` is 1e-7, of estimates that may fall short.
        let error = (got[(0, 0)] / want[(0, 0)] - 1.0).abs();
        assert!(error < 1e-6, "{lengthscale}: {error:e}");
    }
}

#[test]
fn rows_do_not_depend_on_how_many_atoms_the_others_have() {
    // A region has no atom in the bulk and a bag of two has two: rows and atoms must not be
    // confused where their numbers happen to agree.
    let (_, covariance) = kernel("se(x, y)");
    let theta = [1.2, 0.8, 1.1];
    let mut set = plane();
    let region = Region::from(star(&mut random(9), 1.0, [0.2, 0.1]));
    set.push_region(region, Aggregate::Mean).unwrap();
    set.push_nodes(&[vec![0.5, 0.5], vec![-1.0, 0.3]], &[1.0, 2.0])
        .unwrap();
    set.push_point(&[0.7, -0.4]).unwrap();
    let mut longer = set.clone();
    longer.push_point(&[3.0, 3.0]).unwrap();
    let (k, more) = (
        covariance.matrix(&theta, &set),
        covariance.matrix(&theta, &longer),
    );
    let adjoint = faer::Mat::from_fn(3, 3, |i, j| 1.0 + (i + j) as f64);
    let padded = faer::Mat::from_fn(
        4,
        4,
        |i, j| if i < 3 && j < 3 { adjoint[(i, j)] } else { 0.0 },
    );
    let (mut g, mut h) = (vec![0.0; 3], vec![0.0; 3]);
    covariance.contract(&theta, &set, adjoint.as_ref(), &mut g);
    covariance.contract(&theta, &longer, padded.as_ref(), &mut h);
    for i in 0..3 {
        // The same sums, of which one has a row of zeros more: rounding.
        assert!((g[i] - h[i]).abs() < 1e-12 * g[i].abs().max(1.0));
        for j in 0..3 {
            assert!((k[(i, j)] - more[(i, j)]).abs() < 1e-14);
        }
    }
}

/// Moments of regions are kept from the first matrix on, which threads make in any order.
#[test]
fn what_was_computed_before_changes_no_bit() {
    for text in ["se(x, y)", "matern32(x, y)", "matern52(x, y)"] {
        let (_, covariance) = kernel(text);
        let set = || {
            let mut rng = random(23);
            let mut set = plane();
            for i in 0..4 {
                let star = star(&mut rng, 1.0, [0.7 * f64::from(i), 0.3]);
                set.push_region(Region::from(star), Aggregate::Mean)
                    .unwrap();
            }
            set
        };
        let asked = [1.3, 0.7, 1.1];
        let alone = covariance.matrix(&asked, &set());
        let used = set();
        let _ = covariance.matrix(&[1.0, 0.3, 2.9], &used);
        assert_eq!(covariance.matrix(&asked, &used), alone, "{text}");
    }
}
