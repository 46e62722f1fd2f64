//! Averages tell of hyperparameters what sums do, without inducing points.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::inference::sites::Method;
use crate::kernel::Kernel;
use crate::likelihood::{Gaussian, Laplace, Likelihood, Noise, Poisson};
use crate::link::Link;
use crate::problem::settings::{Hyperparameters, Inducing, Inference};
use crate::problem::sparse::SparseChoice;
use crate::progress::Silent;
use crate::support::Functionals;

/// Bags of points with weights, one row each.
fn bags(rows: &[(Vec<f64>, Vec<f64>)]) -> Functionals {
    let mut out = Functionals::new(vec!["x".into()]);
    for (places, weights) in rows {
        let points: Vec<Vec<f64>> = places.iter().map(|x| vec![*x]).collect();
        out.push_nodes(&points, weights).unwrap();
    }
    out
}

fn seen(supports: Functionals, likelihood: impl Into<Likelihood>) -> Model {
    Model::new(Kernel::matern32(["x"])).observe(Observations::new(supports, likelihood).unwrap())
}

/// The log evidence of averages at some hyperparameters, and that of another way.
fn evidences(averaged: &Model, other: &Model, way: Inference) -> (f64, f64) {
    let choice = SparseChoice::default();
    let problem = averaged.problem(Inference::Sparse, Some(&choice)).unwrap();
    let (averages, _) = averaged.averages(&problem, &FitOptions::default()).unwrap();
    let other = other.problem(way, None).unwrap();
    let theta: Vec<f64> = problem.parameters().iter().map(|p| 0.8 * p.start).collect();
    let value = |problem: &Problem| problem.evidence().unwrap().value(&theta).unwrap();
    (value(&averages), value(&other))
}

#[test]
fn averages_without_a_link_are_the_rows_themselves() {
    let row = |i: usize| {
        let places = (0..5).map(|j| i as f64 + 0.17 * j as f64).collect();
        (places, vec![0.5, 1.0, 0.2, 2.0, 1.0])
    };
    let rows: Vec<_> = (0..12).map(row).collect();
    let values = (0..12).map(|i| (0.8 * f64::from(i)).sin()).collect();
    let known = Gaussian::new(values, Noise::Known(vec![0.1; 12])).unwrap();
    let model = seen(bags(&rows), known);
    let (averages, exact) = evidences(&model, &model, Inference::Exact);
    // The same matrix.
    assert!((averages - exact).abs() < 1e-9, "{averages} {exact}");
}

/// Laplace's method has no curvature where a density has a kink.
#[test]
fn averages_with_a_kink_are_learned_by_expectation_propagation() {
    let row = |i: usize| (vec![i as f64, i as f64 + 0.3], vec![0.5, 1.0]);
    let rows: Vec<_> = (0..8).map(row).collect();
    let values = (0..8).map(|i| (0.8 * f64::from(i)).sin()).collect();
    let model = seen(bags(&rows), Laplace::new(values, vec![0.2; 8]).unwrap());
    let (averages, dense) = evidences(&model, &model, Inference::Sites(Method::Ep));
    // The same sites.
    assert!((averages - dense).abs() < 1e-6, "{averages} {dense}");
}

#[test]
fn a_sum_at_one_place_is_its_average() {
    let rows: Vec<_> = (0..9)
        .map(|i| (vec![f64::from(i); 4], vec![0.5; 4]))
        .collect();
    let places: Vec<f64> = (0..9).map(f64::from).collect();
    let counts: Vec<f64> = (0..9).map(|i| f64::from(3 + 5 * i % 7)).collect();
    let of = |exposure: f64| Poisson::new(counts.clone(), vec![exposure; 9], Link::Exp).unwrap();
    let sums = seen(bags(&rows), of(1.5));
    // Four weights of a half.
    let points = seen(Functionals::points("x", &places).unwrap(), of(3.0));
    let laplace = Inference::Sites(Method::Laplace);
    let (averages, at_points) = evidences(&sums, &points, laplace);
    // Modes are known to a millionth of a nat.
    assert!(
        (averages - at_points).abs() < 1e-6,
        "{averages} {at_points}"
    );
}

/// Counts of a rate that varies faster than a few inducing points can follow.
fn fast() -> Model {
    let row = |i: usize| {
        let places = (0..12).map(|j| i as f64 + f64::from(j) / 12.0).collect();
        (places, vec![1.0; 12])
    };
    let rows: Vec<_> = (0..40).map(row).collect();
    let count = |i: usize| (60.0 * (1.2 * (0.9 * i as f64).sin()).exp()).round();
    let counts = (0..40).map(count).collect();
    seen(
        bags(&rows),
        Poisson::new(counts, vec![1.0; 40], Link::Exp).unwrap(),
    )
}

fn lengthscale(posterior: &crate::model::Posterior) -> f64 {
    let all = &posterior.summary().hyperparameters;
    let own = all.iter().find(|h| h.name.contains("lengthscale"));
    own.unwrap().value
}

fn sparse(inducing: usize, by_bound: bool) -> FitOptions {
    FitOptions {
        by_bound,
        ..FitOptions::default()
            .with_inducing(Inducing::Number(inducing))
            .with_hyperparameters(Hyperparameters::Map)
    }
}

#[test]
fn hyperparameters_are_those_of_dense_inference() {
    let model = fast();
    let dense = FitOptions::default()
        .with_inference(Inference::Sites(Method::Laplace))
        .with_hyperparameters(Hyperparameters::Map);
    let right = lengthscale(&model.fit(&dense).unwrap());
    let averaged = model.fit(&sparse(30, false)).unwrap();
    let averages = lengthscale(&averaged);
    // The function varies by a factor of three within a row at most.
    assert!((averages / right).ln().abs() < 0.1, "{averages} {right}");
    // What was held while the belief was sought is free again.
    assert!(averaged.summary().hyperparameters.iter().any(|h| !h.fixed));
    assert!(averaged.summary().converged);
}

/// Six periods of a function are too many for eight points.
#[test]
fn the_bound_decides_where_inducing_points_cannot_follow() {
    let model = fast();
    let choice = SparseChoice {
        inducing: Inducing::Number(8),
        ..SparseChoice::default()
    };
    let problem = model.problem(Inference::Sparse, Some(&choice)).unwrap();
    let learned = model.learn_by_averages(&problem, &sparse(8, false), &Silent);
    assert!(learned.found().is_some());
    let fits = [false, true].map(|by_bound| model.fit(&sparse(8, by_bound)).unwrap());
    let [ours, bound] = fits.each_ref().map(lengthscale);
    assert_eq!(ours, bound);
}

/// Stops at once, and would keep states.
#[derive(Default)]
struct Stop {
    kept: AtomicUsize,
}

impl Keeper for Stop {
    fn begun(&self) -> Option<Vec<u8>> {
        None
    }

    fn keep(&self, _: &dyn Fn() -> Vec<u8>) {
        self.kept.fetch_add(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        true
    }
}

#[test]
fn a_stop_is_heard_and_keeps_nothing_that_cannot_be_gone_on_from() {
    let keeper = Arc::new(Stop::default());
    let options = FitOptions::default()
        .with_inducing(Inducing::Number(8))
        .with_keeper(Arc::clone(&keeper) as _);
    let posterior = fast().fit(&options).unwrap();
    let said = posterior.summary().warnings.join("; ");
    assert!(said.contains("stopped"), "{said}");
    assert_eq!(keeper.kept.load(Ordering::Relaxed), 0);
}
