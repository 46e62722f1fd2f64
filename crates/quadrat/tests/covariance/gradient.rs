//! `contract` against differences of `<G, K(theta)>`, and against the dense contraction.

use faer::{Mat, MatRef};
use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::support::Functionals;

use crate::common::{KERNELS, Shapes, random, supports, theta, uniform};

fn dot(g: MatRef<'_, f64>, k: MatRef<'_, f64>) -> f64 {
    let column = |j| (0..k.nrows()).map(move |i| g[(i, j)] * k[(i, j)]);
    (0..k.ncols()).flat_map(column).sum()
}

/// Derivative of `f` in `theta[p]`: central difference of order six with the given relative step.
///
/// Truncation `step^6 / 140` times a seventh derivative, rounding `2 eps / step`. Step 0.01: 1e-14
/// times some 1e3, and 4e-14. A period is met as a phase of up to 2 pi 6 / 0.5 = 75 radians: step
/// 5e-4 gives 0.04^6 / 140 times the steepness, and 1e-12.
fn difference(theta: &[f64], p: usize, step: f64, f: impl Fn(&[f64]) -> f64) -> f64 {
    let h = step * theta[p];
    let at = |k: f64| {
        let mut moved = theta.to_vec();
        moved[p] += k * h;
        f(&moved)
    };
    let pair = |k: f64| at(k) - at(-k);
    (0.75 * pair(1.0) - 0.15 * pair(2.0) + pair(3.0) / 60.0) / h
}

/// Sum of `|G_ij| sqrt(K_ii K_jj)`: what a rounding error is relative to.
fn size(g: MatRef<'_, f64>, a: &[f64], b: &[f64]) -> f64 {
    let entry = |i: usize, j: usize| g[(i, j)].abs() * (a[i] * b[j]).sqrt();
    let column = |j| (0..a.len()).map(move |i| (i, j));
    (0..b.len())
        .flat_map(column)
        .map(|(i, j)| entry(i, j))
        .sum()
}

/// Every derivative of both contractions against differences; returns the worst relative error.
fn worst(kernel: &Kernel, theta: &[f64], a: &Functionals, b: &Functionals, step: f64) -> f64 {
    let seed = a.len() as u64;
    let rng = &mut random(seed);
    let covariance = Covariance::new(kernel);
    let (da, db) = (covariance.diagonal(theta, a), covariance.diagonal(theta, b));
    let mut adjoint = Mat::from_fn(a.len(), a.len(), |_, _| uniform(rng, -1.0, 1.0));
    for j in 0..a.len() {
        for i in 0..j {
            adjoint[(j, i)] = adjoint[(i, j)];
        }
    }
    let cross = Mat::from_fn(a.len(), b.len(), |_, _| uniform(rng, -1.0, 1.0));
    // Added to what is there.
    let mut gradient = vec![1.0; theta.len()];
    covariance.contract(theta, a, adjoint.as_ref(), &mut gradient);
    let mut gradient_cross = vec![1.0; theta.len()];
    covariance.contract_cross(theta, a, b, cross.as_ref(), &mut gradient_cross);
    let mut worst = 0.0_f64;
    for p in 0..theta.len() {
        let square = difference(theta, p, step, |t| {
            dot(adjoint.as_ref(), covariance.matrix(t, a).as_ref())
        });
        let other = difference(theta, p, step, |t| {
            dot(cross.as_ref(), covariance.cross(t, a, b).as_ref())
        });
        for (got, expected, size) in [
            (gradient[p] - 1.0, square, size(adjoint.as_ref(), &da, &da)),
            (
                gradient_cross[p] - 1.0,
                other,
                size(cross.as_ref(), &da, &db),
            ),
        ] {
            let error = (got - expected).abs() * theta[p] / size;
            if error > worst || error.is_nan() {
                worst = error;
            }
        }
    }
    worst
}

#[test]
fn contractions_are_derivatives_for_every_kernel_and_support() {
    for (index, text) in KERNELS.iter().enumerate() {
        let kernel = Kernel::parse(text).unwrap();
        for shapes in [Shapes::Points, Shapes::Boxes, Shapes::Nodes, Shapes::Mixed] {
            let seed = 100 * index as u64 + shapes as u64;
            let rng = &mut random(seed);
            let theta = theta(&kernel, rng);
            // More rows than one block of columns (16), where a pair is cheap.
            let products =
                text.contains("linear(t)") || text.contains("periodic") || text.contains("rq");
            let n = if products { 5 } else { 18 };
            let a = supports(kernel.columns(), n, shapes, (-1.0, 0.5), rng);
            let b = supports(kernel.columns(), 4, Shapes::Mixed, (-1.0, 0.5), rng);
            let step = if text.contains("periodic") {
                5e-4
            } else {
                0.01
            };
            let worst = worst(&kernel, &theta, &a, &b, step);
            // See `difference`.
            let allowed = if text.contains("periodic") {
                1e-8
            } else {
                1e-9
            };
            println!("{text} {shapes:?} {worst:.1e}");
            assert!(worst < allowed, "{text} {shapes:?}: {worst:e}");
        }
    }
}

#[test]
fn a_contraction_with_unit_matrices_gives_the_dense_derivative() {
    let kernel = Kernel::parse("se(x, y) * matern32(z) + linear(x) + rq(y)").unwrap();
    let rng = &mut random(5);
    let theta = theta(&kernel, rng);
    let a = supports(kernel.columns(), 20, Shapes::Mixed, (-2.0, 1.0), rng);
    let n = a.len();
    let covariance = Covariance::new(&kernel);
    let mut dense = vec![Mat::zeros(n, n); theta.len()];
    for j in 0..n {
        for i in 0..n {
            let (one, other) = (a.rows(&[i]), a.rows(&[j]));
            let mut gradient = vec![0.0; theta.len()];
            let unit = Mat::from_fn(1, 1, |_, _| 1.0);
            covariance.contract_cross(&theta, &one, &other, unit.as_ref(), &mut gradient);
            for (d, g) in dense.iter_mut().zip(&gradient) {
                d[(i, j)] = *g;
            }
        }
    }
    let mut adjoint: Mat<f64> = Mat::from_fn(n, n, |_, _| uniform(rng, -1.0, 1.0));
    for j in 0..n {
        for i in 0..j {
            adjoint[(j, i)] = adjoint[(i, j)];
        }
    }
    let mut whole = vec![0.0; theta.len()];
    covariance.contract(&theta, &a, adjoint.as_ref(), &mut whole);
    let mut crossed = vec![0.0; theta.len()];
    covariance.contract_cross(&theta, &a, &a, adjoint.as_ref(), &mut crossed);
    for p in 0..theta.len() {
        let expected = dot(adjoint.as_ref(), dense[p].as_ref());
        let size: f64 = dense[p]
            .col_iter()
            .flat_map(|c| c.iter().map(|v| v.abs()).collect::<Vec<_>>())
            .sum();
        // Sums of n^2 = 400 terms, each good to some eps.
        assert!(
            (whole[p] - expected).abs() < 1e-14 * size,
            "{p}: {} {expected}",
            whole[p]
        );
        assert!(
            (crossed[p] - expected).abs() < 1e-14 * size,
            "{p}: {} {expected}",
            crossed[p]
        );
    }
}

#[test]
fn the_difference_check_rejects_a_gradient_of_the_wrong_parameters() {
    // The slopes of a kernel whose two lengthscales are exchanged.
    let kernel = Kernel::se(["x", "y"]);
    let rng = &mut random(9);
    let a = supports(kernel.columns(), 6, Shapes::Boxes, (-1.0, 0.5), rng);
    let covariance = Covariance::new(&kernel);
    let theta = [1.0, 0.6, 1.4];
    let adjoint = Mat::from_fn(6, 6, |i, j| ((i + j) as f64).sin());
    let mut gradient = vec![0.0; 3];
    covariance.contract(&theta, &a, adjoint.as_ref(), &mut gradient);
    let f = |t: &[f64]| dot(adjoint.as_ref(), covariance.matrix(t, &a).as_ref());
    let right = (gradient[1] - difference(&theta, 1, 0.01, f)).abs();
    let wrong = (gradient[2] - difference(&theta, 1, 0.01, f)).abs();
    // As `difference` says, of sums of 36 entries; exchanged slopes are off by parts of themselves.
    assert!(right < 1e-10 && wrong > 1e-3, "{right} {wrong}");
}

#[test]
fn contractions_are_derivatives_for_products_over_several_common_columns() {
    for text in [
        "linear(x, y) * se(x)",
        "matern32(x, y) * periodic(x)",
        "rq(x, y) * matern52(y)",
    ] {
        let kernel = Kernel::parse(text).unwrap();
        let rng = &mut random(11);
        let theta = theta(&kernel, rng);
        let a = supports(kernel.columns(), 3, Shapes::Mixed, (-2.0, -0.7), rng);
        let b = supports(kernel.columns(), 2, Shapes::Mixed, (-2.0, -0.7), rng);
        let worst = worst(&kernel, &theta, &a, &b, 2e-3);
        // See `difference`: steps between both of its examples.
        assert!(worst < 1e-9, "{text}: {worst:e}");
    }
}
