//! Answers of posteriors: scores of rows, many places, saved models, rows that are told later.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Dispersion, Gamma, NegativeBinomial, Poisson, Shape};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior, Prediction, Scale,
    Setting,
};
use quadrat::support::{Aggregate, Functionals};
use quadrat::validation::{HeldOut, row_scores};

use crate::clock::{Times, once};

/// Rows that are scored, and values that a score asks of each: quantiles and nodes of its integral,
/// two ends of an interval, and the transform.
const ROWS: usize = 24;
const ASKED: usize = 75;
const PLACES: usize = 100_000;

/// Prints seconds of processor time on one thread, and ratios.
pub fn run() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        scores()?;
        places()?;
        saved()?;
        told()
    })
}

fn print(what: &str, ours: Times, other: (&str, Times)) {
    println!(
        "{what:<44} {:>9.3} s, {} {:>9.3} s: 1 to {:.2}",
        ours.processor,
        other.0,
        other.1.processor,
        other.1.processor / ours.processor
    );
}

/// Values that rise and fall, and counts of about these means.
fn rise(rows: usize) -> Vec<f64> {
    let one = |i: usize| {
        let x = i as f64 / rows as f64;
        // Neighbours differ, as noise would have it.
        let other = if i.is_multiple_of(2) { 0.8 } else { 1.25 };
        other * (3.0 + 1.5 * (6.0 * x).sin()).exp().sqrt()
    };
    (0..rows).map(one).collect()
}

fn integrated(model: &Model) -> Result<Posterior> {
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Integrate);
    Ok(model.fit(&options)?)
}

/// Scores of rows against as many values of each asked one by one.
fn scores() -> Result<()> {
    let amounts = rise(ROWS);
    let counts: Vec<f64> = amounts.iter().map(|y| y.round()).collect();
    let ones = vec![1.0; ROWS];
    let at: Vec<f64> = (0..ROWS).map(|i| i as f64).collect();
    let at = Functionals::points("t", &at)?;
    let gamma = Gamma::new(amounts.clone(), Shape::Learned)?;
    let wide = NegativeBinomial::new(counts.clone(), ones.clone(), Link::Exp, Dispersion::Learned)?;
    let poisson = Poisson::new(counts.clone(), ones, Link::Exp)?;
    let tables = [
        (Observations::new(at.clone(), gamma)?, &amounts),
        (Observations::new(at.clone(), wide)?, &counts),
        (Observations::new(at.clone(), poisson)?, &counts),
    ];
    for (table, values) in tables {
        let name = table.likelihood().name();
        let posterior = integrated(&Model::new(Kernel::se(["t"])).observe(table))?;
        let told = posterior.predict(&at, Scale::Observation)?;
        let reported: Vec<HeldOut> = values.iter().map(|y| HeldOut::Value(*y)).collect();
        let (scores, ours) = once(|| row_scores(&told, &reported, 0));
        scores?;
        let (_, apart) = once(|| one_by_one(&told, values));
        print(
            &format!("scores of {ROWS} `{name}` rows"),
            ours,
            ("one by one", apart),
        );
    }
    Ok(())
}

fn one_by_one(told: &Prediction, values: &[f64]) -> f64 {
    (0..ASKED)
        .map(|_| told.cdf(values).iter().sum::<f64>())
        .sum()
}

/// Many places after a hundred bins: integrated hyperparameters against the likeliest.
fn places() -> Result<()> {
    let bins: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i), f64::from(i + 1))).collect();
    let bins = Functionals::intervals("t", &bins, Aggregate::Mean)?;
    let table = Observations::gaussian(bins, rise(100), Noise::Learned)?;
    let at: Vec<f64> = (0..PLACES).map(|i| 1e-3 * i as f64).collect();
    let at = Functionals::points("t", &at)?;
    for kernel in ["se(t)", "matern32(t)"] {
        let model = Model::new(Kernel::parse(kernel)?).observe(table.clone());
        let all = integrated(&model)?;
        let map = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let map = model.fit(&map)?;
        let told = |posterior: &Posterior| -> Result<f64> {
            let told = posterior.predict(&at, Scale::Response)?;
            let ends = told.tabulate(&[0.025, 0.5, 0.975], &[]).quantiles;
            Ok(ends.iter().flatten().sum())
        };
        let (sum, ours) = once(|| told(&all));
        let (other, alone) = once(|| told(&map));
        sum?;
        other?;
        let what = format!(
            "{PLACES} places, `{kernel}`, {} settings",
            all.summary().nodes
        );
        print(&what, ours, ("`map`", alone));
    }
    Ok(())
}

/// A saved model of two hundred counts, loaded, against its fit.
fn saved() -> Result<()> {
    let rows = 200;
    let counts: Vec<f64> = rise(rows).iter().map(|y| y.round()).collect();
    let at: Vec<f64> = (0..rows).map(|i| i as f64).collect();
    let at = Functionals::points("t", &at)?;
    let counts = Poisson::new(counts, vec![1.0; rows], Link::Exp)?;
    let model = Model::new(Kernel::se(["t"])).observe(Observations::new(at.clone(), counts)?);
    let (posterior, fit) = once(|| integrated(&model));
    let posterior = posterior?;
    let bytes = posterior.to_bytes();
    let (loaded, load) = once(|| Posterior::from_bytes(&bytes));
    loaded?;
    let what = format!(
        "a model of {rows} counts, {} kB, loaded",
        bytes.len() / 1000
    );
    print(&what, load, ("its fit", fit));
    Ok(())
}

/// One row more than two thousand in the plane, told without a fit, against all rows conditioned.
fn told() -> Result<()> {
    let rows = 2_000;
    let mut places = Functionals::new(vec!["x".to_owned(), "y".to_owned()]);
    for i in 0..=rows {
        let at = |step: f64| (step * i as f64).fract() * 20.0;
        places.push_point(&[at(0.618_034), at(0.754_878)])?;
    }
    let values = rise(rows + 1);
    let table = |range: std::ops::Range<usize>| {
        let own: Vec<usize> = range.clone().collect();
        let (values, noise) = (values[range].to_vec(), Noise::Known(vec![0.1; own.len()]));
        Observations::gaussian(places.rows(&own), values, noise)
    };
    // What is not learned does not change with the rows.
    let known = ["variance", "lengthscale.x", "lengthscale.y"];
    let model = Model::new(Kernel::parse("matern32(x, y)")?).mean(Mean::Zero);
    let model = known.iter().fold(model, |model, name| {
        model.set(&format!("matern32.{name}"), Setting::fixed(2.0))
    });
    let fit = |range| -> Result<Posterior> {
        let model = model.clone().observe(table(range)?);
        Ok(model.fit(&FitOptions::default())?)
    };
    let (first, more) = (fit(0..rows)?, table(rows..rows + 1)?);
    let (told, ours) = once(|| first.condition(more));
    let (all, anew) = once(|| fit(0..rows + 1));
    let evidence = |posterior: Posterior| posterior.summary().log_evidence;
    println!("evidence {:.1e} apart", evidence(told?) - evidence(all?));
    print("one row told to 2,000", ours, ("all anew", anew));
    Ok(())
}
