#![allow(clippy::unwrap_used, clippy::panic)]

use super::super::testing::{SeGrid, SePoints};
use super::*;
use crate::linalg::{gemm, matvec};
use crate::parameter::PriorDensity;

fn wave(n: usize) -> SePoints {
    SePoints::wave(n, PriorDensity::Flat)
}

/// Largest relative difference between a gradient and central differences of the value.
fn gradient_error(problem: &dyn LinearGaussian, theta: &[f64]) -> f64 {
    let (_, gradient) = evidence_and_gradient(problem, theta).unwrap();
    let mut worst: f64 = 0.0;
    for i in 0..theta.len() {
        // Truncation h^2 = 1e-10, rounding eps |L| / h = 1e-9.
        let h = 1e-5 * theta[i];
        let shifted = |sign: f64| {
            let mut t = theta.to_vec();
            t[i] += sign * h;
            condition(problem, &t).unwrap().log_evidence
        };
        let numeric = (shifted(1.0) - shifted(-1.0)) / (2.0 * h);
        worst = worst
            .max((numeric - gradient[i]).abs() * theta[i] / (1.0 + gradient[i].abs() * theta[i]));
    }
    worst
}

#[test]
fn evidence_of_two_rows_is_the_bivariate_normal_density() {
    let problem = SePoints::new(vec![0.0, 1.0], vec![0.5, -0.2], PriorDensity::Flat);
    let got = condition(&problem, &[2.0, 1.5, 0.3]).unwrap();
    let (a, b) = (2.3, 2.0 * (-0.5 / 2.25f64).exp());
    let det = a * a - b * b;
    let form = (a * 0.25 + a * 0.04 - 2.0 * b * 0.5 * -0.2) / det;
    let want = -0.5 * form - 0.5 * det.ln() - (2.0 * std::f64::consts::PI).ln();
    // Some ten roundings of terms up to two, of eps each.
    assert!((got.log_evidence - want).abs() < 1e-14);
    assert_eq!(got.jitter, 0.0);
}

#[test]
fn no_rows_give_evidence_one() {
    let problem = SePoints::new(vec![], vec![], PriorDensity::Flat);
    assert_eq!(
        condition(&problem, &[1.0, 1.0, 0.1]).unwrap().log_evidence,
        0.0
    );
}

#[test]
fn dense_gradient_is_the_derivative() {
    // What `gradient_error` says of its differences, 1e-9, with room for a third derivative and an
    // evidence that is right to ten roundings.
    assert!(gradient_error(&wave(25), &[1.4, 0.8, 0.15]) < 1e-7);
}

#[test]
fn the_gradient_check_rejects_a_wrong_gradient() {
    struct Wrong(SePoints);
    impl LinearGaussian for Wrong {
        fn rows(&self) -> usize {
            self.0.rows()
        }
        fn residual(&self) -> &[f64] {
            self.0.residual()
        }
        fn gram(&self, theta: &[f64]) -> Gram {
            self.0.gram(theta)
        }
        fn noise(&self, theta: &[f64], variances: &mut [f64]) {
            self.0.noise(theta, variances);
        }
        fn contract(
            &self,
            theta: &[f64],
            adjoint: &Gram,
            noise_adjoint: &[f64],
            gradient: &mut [f64],
        ) {
            self.0.contract(theta, adjoint, noise_adjoint, gradient);
            gradient[1] *= 1.001;
        }
        fn describe(&self) -> String {
            self.0.describe()
        }
        fn parameters(&self) -> &[Parameter] {
            self.0.parameters()
        }
    }
    // A thousandth of a derivative of order one; a hundred times what right gradients may be off.
    assert!(gradient_error(&Wrong(wave(25)), &[1.4, 0.8, 0.15]) > 1e-5);
}

#[test]
fn a_grid_equals_its_dense_twin() {
    for sizes in [&[9][..], &[5, 7], &[3, 4, 5], &[1, 6], &[6, 1]] {
        for rank_one in [false, true] {
            let grid = SeGrid::new(sizes, rank_one, false);
            let dense = SeGrid::new(sizes, rank_one, true);
            let mut theta = vec![1.7];
            theta.extend((0..sizes.len()).map(|d| 0.9 + 0.2 * d as f64));
            theta.push(0.2);
            // Up to 60 rows of condition at most 60 x 1.7 / 0.2 = 510, a little more with the
            // rank-one part: n eps times that is 7e-12, of inverses up to 1 / 0.2 and evidences up
            // to a hundred.
            let (value, gradient) = evidence_and_gradient(&grid, &theta).unwrap();
            let (want, want_gradient) = evidence_and_gradient(&dense, &theta).unwrap();
            assert!(
                (value - want).abs() < 1e-9,
                "{sizes:?} {rank_one}: {value} {want}"
            );
            for (g, w) in gradient.iter().zip(&want_gradient) {
                assert!(
                    (g - w).abs() < 1e-9 * (1.0 + w.abs()),
                    "{sizes:?} {rank_one}: {g} {w}"
                );
            }
            let a = condition(&grid, &theta).unwrap();
            let b = condition(&dense, &theta).unwrap();
            for (a, b) in a.alpha.iter().zip(&b.alpha) {
                // All as above: n eps times the condition, 7e-12, of entries up to five.
                assert!((a - b).abs() < 1e-9);
            }
            let inverse = b.factor.inverse().unwrap();
            assert!(a.factor.inverse().is_none());
            for (i, d) in a.factor.inverse_diagonal().iter().enumerate() {
                // As above.
                assert!((d - inverse[(i, i)]).abs() < 1e-9);
            }
            let n = grid.rows();
            let cross = Mat::from_fn(n, 3, |i, j| ((i * (j + 1)) as f64 * 0.3).cos());
            let solved = gemm(inverse.as_ref(), cross.as_ref());
            let want = gemm(cross.transpose(), solved.as_ref());
            for factor in [&a.factor, &b.factor] {
                let w = factor.whiten(cross.clone());
                let got = gemm(w.transpose(), w.as_ref());
                // As above.
                assert!((got.as_ref() - want.as_ref()).norm_max() < 1e-9);
                let mut x = cross.clone();
                factor.solve_in_place(x.as_mut());
                // As above.
                assert!((x.as_ref() - solved.as_ref()).norm_max() < 1e-9);
                let block = factor.inverse_block(&[0, n - 1]);
                // As above.
                assert!((block[(0, 1)] - inverse[(0, n - 1)]).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn grid_gradient_is_the_derivative() {
    let grid = SeGrid::new(&[6, 5], true, false);
    // As of dense rows.
    assert!(gradient_error(&grid, &[1.2, 0.8, 1.1, 0.3]) < 1e-7);
}

#[test]
fn uneven_noise_on_a_grid_is_refused() {
    let mut grid = SeGrid::new(&[3, 3], false, false);
    grid.first_noise = 2.0;
    let error = condition(&grid, &[1.0, 1.0, 1.0, 0.1]).unwrap_err();
    assert!(matches!(
        error,
        FitError::Input(InputError::Unavailable { .. })
    ));
    assert!(!error.is_recoverable());
}

#[test]
fn jitter_is_added_only_when_needed_and_reported() {
    let x: Vec<f64> = (0..12).map(|i| 0.05 * f64::from(i)).collect();
    let problem = SePoints::new(x, vec![1.0; 12], PriorDensity::Flat);
    assert_eq!(condition(&problem, &[1.0, 1.0, 1e-6]).unwrap().jitter, 0.0);
    let conditioned = condition(&problem, &[1.0, 1.0, 0.0]).unwrap();
    assert!((1e-12..=1e-8).contains(&conditioned.jitter));
    // The rows are still reproduced: K alpha = r up to the jitter.
    let Gram::Dense(k) = problem.gram(&[1.0, 1.0, 0.0]) else {
        panic!()
    };
    for fitted in matvec(k.as_ref(), &conditioned.alpha) {
        assert!((fitted - 1.0).abs() < 1e-5);
    }
    let grid = SeGrid::new(&[12, 12], false, false);
    assert!(condition(&grid, &[1.0, 9.0, 9.0, 0.0]).unwrap().jitter > 0.0);
}

#[test]
fn an_impossible_covariance_names_kernel_parameters_and_rows() {
    struct Broken(SePoints);
    impl LinearGaussian for Broken {
        fn rows(&self) -> usize {
            3
        }
        fn residual(&self) -> &[f64] {
            self.0.residual()
        }
        fn gram(&self, _: &[f64]) -> Gram {
            Gram::Dense(Mat::from_fn(3, 3, |i, j| match (i, j) {
                (1, 2) | (2, 1) => 1.5,
                _ if i == j => 1.0,
                _ => 0.0,
            }))
        }
        fn noise(&self, _: &[f64], variances: &mut [f64]) {
            variances.fill(0.0);
        }
        fn contract(&self, _: &[f64], _: &Gram, _: &[f64], _: &mut [f64]) {}
        fn describe(&self) -> String {
            "broken(x)".to_owned()
        }
        fn parameters(&self) -> &[Parameter] {
            self.0.parameters()
        }
    }
    let error = condition(&Broken(wave(3)), &[1.0, 2.0, 0.0]).unwrap_err();
    assert!(error.is_recoverable());
    let FitError::Factorisation {
        kernel,
        parameters,
        jitter,
        rows,
        correlation,
    } = error
    else {
        panic!()
    };
    assert_eq!(kernel, "broken(x)");
    assert!(parameters.contains("se.lengthscale = 2.0"));
    assert_eq!((jitter, rows, correlation), (1e-6, (1, 2), 1.5));
}

/// Rows are alike by their correlation, whatever their variances are.
#[test]
fn the_most_collinear_rows_are_those_of_the_largest_correlation() {
    let correlation = |i: usize, j: usize| match (i.min(j), i.max(j)) {
        (1, 3) => -0.9,
        (a, b) if a == b => 1.0,
        (a, b) => 0.1 * (a + b) as f64,
    };
    let sds = [5.0, 0.1, 3.0, 0.02];
    let k = Mat::from_fn(4, 4, |i, j| sds[i] * sds[j] * correlation(i, j));
    let (rows, found) = collinear(&k);
    assert_eq!(rows, (1, 3));
    // A few roundings.
    assert!((found + 0.9).abs() < 1e-15, "{found}");
}
