//! Fits of censored values with one or two outputs, with constant noise and with noise that is a function.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Censored, Dispersion, NegativeBinomial, Noise, Side};
use quadrat::link::Link;
use quadrat::model::{FitOptions, Hyperparameters, Model, Observations, Varying};
use quadrat::support::Functionals;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::clock::once;

const ROWS: usize = 100;
const OUTPUTS: [&str; 2] = ["first", "second"];

/// Prints seconds on the wall clock of every fit, on the threads of the machine.
pub fn run(only: Option<&str>) -> Result<()> {
    println!(
        "{:<10} {:>6} {:>8} {:>12} {:>12} {:>10}",
        "model", "rows", "seconds", "evaluations", "iterations", "evidence"
    );
    for (name, model) in models()? {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let (posterior, times) = once(|| model.fit(&options));
        let posterior = posterior?;
        let summary = posterior.summary();
        println!(
            "{name:<10} {:>6} {:>8.2} {:>12} {:>12} {:>10.3}{}",
            summary.rows,
            times.wall,
            summary.evaluations,
            summary.iterations,
            summary.log_evidence,
            if summary.converged {
                ""
            } else {
                "  not converged"
            }
        );
    }
    Ok(())
}

fn models() -> Result<Vec<(&'static str, Model)>> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let x: Vec<f64> = (0..ROWS)
        .map(|i| 10.0 * i as f64 / (ROWS - 1) as f64)
        .collect();
    let set = Functionals::points("x", &x)?;
    let curve = |x: f64| 1.8 * (x / 1.5).sin() + 0.6 * (2.3 * x / 1.5 + 1.0).cos();
    let sd = |x: f64| 0.35 * (0.7 * (x / 3.0).sin()).exp();
    let first: Vec<f64> = x
        .iter()
        .map(|&x| curve(x) + sd(x) * normal(&mut random))
        .collect();
    let second: Vec<f64> = x
        .iter()
        .map(|&x| 0.8 * curve(x) + 0.2 + sd(x) * normal(&mut random))
        .collect();
    let mut sides = vec![Side::None; ROWS];
    let mut seen = first.clone();
    for i in 0..ROWS {
        if (1.3..=5.5).contains(&x[i]) {
            sides[i] = Side::Right;
            seen[i] -= random.random_range(0.05..3.55);
        }
    }
    let capped = || -> Result<Observations> {
        let rows = Censored::new(seen.clone(), &sides, Noise::Learned)?;
        Ok(Observations::new(set.clone(), rows)?)
    };
    let other = || Observations::gaussian(set.clone(), second.clone(), Noise::Learned);
    let se = || Kernel::se(["x"]);
    let mixed = || Kernel::coregion("output", OUTPUTS, 1) * se();
    let cgp = Model::new(se()).observe(capped()?);
    let joint = Model::new(mixed())
        .observe(capped()?.of_output("first"))
        .observe(other()?.of_output("second"));
    let counts: Vec<f64> = x
        .iter()
        .map(|&x| poisson((1.5 + 0.6 * curve(x)).exp(), &mut random))
        .collect();
    let counts = Observations::new(
        set.clone(),
        NegativeBinomial::new(counts, vec![1.0; ROWS], Link::Exp, Dispersion::Learned)?,
    )?;
    let overdispersed = Model::new(se()).observe(counts);
    Ok(vec![
        ("cgp", cgp.clone()),
        ("hcgp", cgp.vary(Varying::Noise, se(), Link::Exp)),
        ("mocgp", joint.clone()),
        (
            "hmocgp",
            joint.clone().vary(Varying::Noise, se(), Link::Exp),
        ),
        ("hmocgp2", joint.vary(Varying::Noise, mixed(), Link::Exp)),
        ("counts", overdispersed.clone()),
        (
            "hcounts",
            overdispersed.vary(Varying::Dispersion, se(), Link::Exp),
        ),
    ])
}

fn normal(random: &mut impl Rng) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
}

fn poisson(mean: f64, random: &mut impl Rng) -> f64 {
    let (mut left, mut count) = (mean, 0.0);
    loop {
        left += (1.0 - random.random::<f64>()).ln();
        if left < 0.0 {
            return count;
        }
        count += 1.0;
    }
}
