//! Gradients where sites are held at a precision of zero.

use super::tests::Toy;
use super::*;
use crate::inference::Evidence;
use crate::likelihood::local::Local;
use crate::likelihood::{Degrees, Gaussian, Noise, StudentT};

/// That some site is held, and that the gradient is that of central differences.
fn assert_held_gradient(toy: &Toy, options: SiteOptions) {
    let theta = toy.theta();
    let method = options.method;
    let fit = converge(toy, &theta, &options).unwrap();
    assert!(fit.is_held(), "{method:?}");
    let evidence = SiteEvidence::new(toy, options);
    let (_, gradient) = evidence.evaluate(&theta).unwrap();
    for i in 0..theta.len() {
        let at = |part: f64| {
            let mut moved = theta.clone();
            moved[i] *= 1.0 + part;
            evidence.value(&moved).unwrap()
        };
        let numeric = (at(2e-4) - at(-2e-4)) / (4e-4 * theta[i]);
        let error = (gradient[i] - numeric).abs() * theta[i];
        // A millionth of the third derivative, some tens in the logarithm.
        assert!(error < 1e-4, "{method:?} {i}: {} {numeric}", gradient[i]);
    }
}

/// Outliers hold sites at a precision of zero: the evidence is smooth, and its gradient that of its
/// values.
#[test]
fn gradients_beside_outliers_are_central_differences() {
    let values = vec![0.2, 4.0, 0.5, -3.0, 0.1];
    let table = StudentT::new(values, Noise::Learned, Degrees::Known(4.0)).unwrap();
    let mut toy = Toy::new(&[0.0, 0.3, 0.6, 1.2, 1.5], vec![Box::new(table)]);
    toy.parameters[2].start = 0.05;
    for method in [Method::Ep, Method::Laplace] {
        let mut options = SiteOptions::new(method);
        options.tolerance = 1e-11;
        assert_held_gradient(&toy, options);
    }
}

/// The noise of values beside rows that are held, also where steps were shortened and precisions
/// end beside zero.
#[test]
fn gradients_of_values_beside_outliers_are_central_differences() {
    let heavy = StudentT::new(vec![0.2, 4.0, -3.0], Noise::Learned, Degrees::Known(4.0)).unwrap();
    let values = Gaussian::new(vec![0.5, 0.1, -0.2], Noise::Learned).unwrap();
    let x = [0.0, 0.3, 1.2, 0.6, 1.5, 0.8];
    let mut toy = Toy::new(&x, vec![Box::new(heavy), Box::new(values)]);
    toy.parameters[2].start = 0.05;
    for (method, step) in [
        (Method::Ep, 1.0),
        (Method::Ep, 0.3),
        (Method::Laplace, 1.0),
        (Method::Variational, 1.0),
    ] {
        let mut options = SiteOptions::new(method);
        (options.tolerance, options.step) = (1e-11, step);
        assert_held_gradient(&toy, options);
    }
}

/// The same where the covariance is of a low rank.
#[test]
fn gradients_of_many_rows_beside_outliers_are_central_differences() {
    let x: Vec<f64> = (0..260).map(|i| 0.02 * f64::from(i)).collect();
    let value = |i: usize| {
        x[i].sin()
            + if i % 37 == 5 {
                2.0
            } else {
                0.1 * (i as f64).sin()
            }
    };
    let heavy = StudentT::new(
        (0..200).map(value).collect(),
        Noise::Learned,
        Degrees::Known(4.0),
    );
    let values = Gaussian::new((200..260).map(value).collect(), Noise::Learned);
    let tables: Vec<Box<dyn Local>> = vec![Box::new(heavy.unwrap()), Box::new(values.unwrap())];
    let mut toy = Toy::new(&x, tables);
    toy.parameters[2].start = 0.01;
    for method in [Method::Ep, Method::Laplace] {
        let mut options = SiteOptions::new(method);
        options.tolerance = 1e-11;
        let fit = converge(&toy, &toy.theta(), &options).unwrap();
        assert!(fit.sweep.is_low_rank(), "{method:?}");
        assert_held_gradient(&toy, options);
    }
}
