//! Likelihoods of positive values with a linked mean.

use quadrat::likelihood::local::{Belief, Circumstances, Local};
use quadrat::likelihood::{Exponential, Gamma, LogNormal, LogSd, Shape};
use quadrat::link::Link;

use crate::contract::{Case, run};
use crate::counts::{EXP_RATIOS, features};

/// Positive values, small, middling and large.
const POSITIVE: [f64; 3] = [0.02, 1.3, 800.0];

/// A likelihood of [`POSITIVE`].
fn positive_values(name: &'static str, likelihood: Box<dyn Local>, own: Vec<Vec<f64>>) -> Case {
    Case {
        name,
        likelihood,
        own,
        features,
        circumstances: |_| Circumstances::default(),
        log_probability: Box::new(|d, row| d.log_density(POSITIVE[row])),
        kinked: false,
        ratios: EXP_RATIOS,
        distances: &[0.0, 0.4, 1.5, -6.0, 40.0],
    }
}

#[test]
fn exponential_keeps_the_contract() {
    for (link, name) in [
        (Link::Exp, "exponential exp"),
        (Link::Softplus, "exponential softplus"),
    ] {
        let waits = Exponential::new(POSITIVE.to_vec(), link).unwrap();
        run(&positive_values(name, Box::new(waits), vec![vec![]]));
    }
}

#[test]
fn gamma_keeps_the_contract() {
    let gamma = |shape| Box::new(Gamma::new(POSITIVE.to_vec(), shape).unwrap());
    // A fraction bends the density at zero, which sums over values do not resolve.
    let shapes = vec![vec![3.0], vec![4.0], vec![60.0]];
    run(&positive_values("gamma", gamma(Shape::Learned), shapes));
    let known = gamma(Shape::Known(2.0));
    run(&positive_values(
        "gamma of a known shape",
        known,
        vec![vec![]],
    ));
}

#[test]
fn lognormal_keeps_the_contract() {
    let lognormal = |sd| Box::new(LogNormal::new(POSITIVE.to_vec(), sd).unwrap());
    // Sums over values reach sixty sds, beyond which a longer tail has more than their tolerance.
    let sds = vec![vec![0.1], vec![0.25], vec![0.5]];
    run(&positive_values(
        "lognormal",
        lognormal(LogSd::Learned),
        sds,
    ));
    let each = (1..=POSITIVE.len()).map(|row| 0.1 * row as f64).collect();
    let each = lognormal(LogSd::Each(each));
    run(&Case {
        circumstances: |row| Circumstances {
            variance: (0.1 * (row + 1) as f64).powi(2),
            ..Circumstances::default()
        },
        ..positive_values("lognormal of sds of rows", each, vec![vec![]])
    });
    let known = lognormal(LogSd::Known(0.3));
    run(&positive_values(
        "lognormal of a known sd",
        known,
        vec![vec![]],
    ));
}

#[test]
fn gamma_of_shape_one_is_exponential() {
    let values = vec![0.02, 1.3, 800.0];
    let one = Gamma::new(values.clone(), Shape::Learned).unwrap();
    let exponential = Exponential::new(values, Link::Exp).unwrap();
    let belief = Belief {
        mean: 0.7,
        variance: 1.9,
    };
    for row in 0..3 {
        // One density by two formulas, and the same quadrature of both: some roundings of the
        // largest term.
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
        let (a, b) = (
            one.log_density(&[1.0], row, 0.4),
            exponential.log_density(&[], row, 0.4),
        );
        close(a.value, b.value);
        close(a.first, b.first);
        close(a.second, b.second);
        let (a, b) = (
            one.expected(&[1.0], row, belief),
            exponential.expected(&[], row, belief),
        );
        close(a.value, b.value);
        let (a, b) = (
            one.tilted(&[1.0], row, belief),
            exponential.tilted(&[], row, belief),
        );
        close(a.log_z, b.log_z);
        close(a.precision, b.precision);
    }
}
