//! Rows that are told one after the other, without a fit: as if all had been there from the start.

use quadrat::kernel::Kernel;
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::support::{Aggregate, Functionals};

use crate::common::map;
use crate::mean_lines::{points, vague};

const ROWS: usize = 40;

/// Points in the plane, and boxes where so many rows are there for one.
fn places(every: usize) -> Functionals {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    for i in 0..ROWS {
        let at = |step: f64| (step * (i as f64 + 0.5)).fract() * 10.0;
        let (x, y) = (at(0.618_034), at(0.754_878));
        let width = if i % every == 3 { 1.5 } else { 0.0 };
        set.push_box(&[(x, x + width), (y, y + width)], Aggregate::Mean)
            .unwrap();
    }
    set
}

fn value(i: usize) -> f64 {
    let i = i as f64;
    5.0 + 0.1 * i + (1.3 * i).sin()
}

fn rows(range: std::ops::Range<usize>, noise: f64, every: usize) -> Observations {
    let own: Vec<usize> = range.clone().collect();
    let values = range.map(value).collect();
    let noise = Noise::Known(vec![noise; own.len()]);
    Observations::gaussian(places(every).rows(&own), values, noise).unwrap()
}

/// Of all hyperparameters fixed, so that rows do not change what is believed before them; of the
/// mean next to nothing is.
fn known(kernel: &str, mean: Mean) -> Model {
    let names: &[&str] = match mean {
        Mean::Constant => &["mean.constant"],
        Mean::Linear(_) => &["mean.constant", "mean.linear.x"],
        _ => &[],
    };
    let leaf = kernel.split('(').next().unwrap();
    let model = Model::new(Kernel::parse(kernel).unwrap()).mean(mean);
    let known = [
        ("variance", 2.0),
        ("lengthscale.x", 2.5),
        ("lengthscale.y", 1.5),
    ];
    let known = known.into_iter().fold(model, |model, (name, value)| {
        model.set(&format!("{leaf}.{name}"), Setting::fixed(value))
    });
    vague(known, names)
}

fn close(one: &Posterior, other: &Posterior) {
    let x: Vec<f64> = (0..36).map(|i| 2.0 * f64::from(i / 6)).collect();
    let y: Vec<f64> = (0..36).map(|i| 2.0 * f64::from(i % 6)).collect();
    let at = points(&["x", "y"], &[&x, &y]);
    let told = |posterior: &Posterior| posterior.predict(&at, Scale::Latent).unwrap();
    let (a, b) = (told(one), told(other));
    // Condition 40 x (2 + 9) / .01 = 44,000 at most, times forty rows and eps: 4e-10. Rows without
    // noise are as near as the kernel tells them apart.
    for j in 0..a.len() {
        assert!((a.mean()[j] - b.mean()[j]).abs() < 4e-9);
        assert!((a.sd()[j] - b.sd()[j]).abs() < 4e-9);
    }
    assert_eq!(one.summary().rows, other.summary().rows);
}

#[test]
fn rows_come_one_after_the_other() {
    for (kernel, mean, noise, every) in [
        ("se(x, y)", Mean::Constant, 0.01, 4),
        ("matern32(x, y)", Mean::linear(["x"]), 0.01, ROWS),
        ("matern12(x, y)", Mean::Constant, 0.0, ROWS),
        ("matern12(x, y)", Mean::Zero, 0.1, 20),
    ] {
        let of = |range| rows(range, noise, every);
        let model = known(kernel, mean);
        let all = [0..30, 30..31, 31..ROWS].map(of);
        let whole = map(&all.into_iter().fold(model.clone(), Model::observe));
        let first = map(&model.observe(of(0..30)));
        let told = first.condition(of(30..31)).unwrap();
        let told = told.condition(of(31..ROWS)).unwrap();
        close(&told, &whole);
        // Condition 40 x (2 + 9) / .01 = 44,000 at most, times forty rows and eps: 4e-10, and what
        // is not known of the mean takes as much from the evidence.
        let evidence = |p: &Posterior| p.summary().log_evidence;
        assert!((evidence(&told) - evidence(&whole)).abs() < 4e-8);
    }
}

#[test]
fn integrated_hyperparameters_are_weighed_by_the_rows_that_come() {
    let model = Model::new(Kernel::parse("se(x, y)").unwrap());
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Integrate);
    let of = |range| rows(range, 0.1, ROWS);
    let first = model.observe(of(0..30)).fit(&options).unwrap();
    assert!(first.summary().nodes > 5);
    let once = first.condition(of(30..ROWS)).unwrap();
    let twice = first.condition(of(30..35)).unwrap();
    close(&twice.condition(of(35..ROWS)).unwrap(), &once);
}
