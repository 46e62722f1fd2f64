//! Slopes of linear parts against regression by hand.

use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Mean, Model, Noise, Observations, Setting};
use quadrat::support::Functionals;

/// $K_y = K + \sigma^2 I$ of two rows, inverted by Cramer's rule: with prior variance `v` of the
/// slope its mean is $v x' K_y^{-1} y$ and its variance $v - v^2 x' K_y^{-1} x$.
#[test]
fn a_slope_beside_a_smooth_part_is_that_of_bayesian_regression() {
    let (v, smooth, lengthscale, noise) = (0.7, 2.0, 3.0, 0.1);
    let (t, x, y) = ([1.0, 2.5], [4.0, -1.0], [3.0, 0.5]);
    let kernel = Kernel::se(["t"]) + Kernel::linear(["x"]);
    let mut rows = Functionals::new(vec!["t".into(), "x".into()]);
    for i in 0..2 {
        rows.push_point(&[t[i], x[i]]).unwrap();
    }
    let fixed = |model: Model, name: &str, value: f64| model.set(name, Setting::fixed(value));
    let model = Model::new(kernel)
        .mean(Mean::Zero)
        .observe(Observations::gaussian(rows, y.to_vec(), Noise::Known(vec![noise; 2])).unwrap());
    let model = fixed(model, "se.variance", smooth);
    let model = fixed(model, "se.lengthscale.t", lengthscale);
    let model = fixed(model, "linear.variance", v);
    let slopes = model.fit(&FitOptions::default()).unwrap().slopes().unwrap();

    let k = |i: usize, j: usize| {
        let r = (t[i] - t[j]) / lengthscale;
        smooth * (-0.5 * r * r).exp() + v * x[i] * x[j] + if i == j { noise } else { 0.0 }
    };
    let determinant = k(0, 0) * k(1, 1) - k(0, 1) * k(0, 1);
    let solve = |b: [f64; 2]| {
        [
            (k(1, 1) * b[0] - k(0, 1) * b[1]) / determinant,
            (k(0, 0) * b[1] - k(0, 1) * b[0]) / determinant,
        ]
    };
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let mean = v * dot(x, solve(y));
    let sd = (v - v * v * dot(x, solve(x))).sqrt();
    assert_eq!((slopes.len(), slopes[0].input.as_str()), (1, "x"));
    // Two by two: a dozen operations, of numbers whose differences lose a digit or two.
    assert!(
        (slopes[0].mean - mean).abs() < 1e-12 * mean.abs(),
        "{slopes:?} {mean}"
    );
    assert!((slopes[0].sd - sd).abs() < 1e-12 * sd, "{slopes:?} {sd}");
    // The quantile of 97.5 % of a normal distribution, to as many digits as it is given here.
    let upper = mean + 1.959_963_984_540 * sd;
    assert!((slopes[0].upper - upper).abs() < 1e-9, "{slopes:?} {upper}");
}

#[test]
fn an_input_that_another_part_knows_has_no_slope() {
    let slopes = |kernel: &str| {
        let mut rows = Functionals::new(vec!["t".into(), "x".into()]);
        for i in 0..6 {
            let t = f64::from(i);
            rows.push_point(&[t, (2.0 * t).sin()]).unwrap();
        }
        let y = (0..6).map(|i| f64::from(i * i % 5)).collect();
        let model = Model::new(Kernel::parse(kernel).unwrap())
            .observe(Observations::gaussian(rows, y, Noise::Known(vec![0.5; 6])).unwrap());
        let fitted = super::common::map(&model);
        let names = fitted
            .slopes()
            .unwrap()
            .into_iter()
            .map(|slope| slope.input);
        names.collect::<Vec<String>>()
    };
    assert_eq!(slopes("se(t) + linear(x)"), ["x"]);
    assert_eq!(slopes("linear(t) + linear(x)"), ["t", "x"]);
    assert!(slopes("se(t, x) + linear(x)").is_empty());
    assert!(slopes("se(t) * linear(x)").is_empty());
}
