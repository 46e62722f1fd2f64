//! The same curve reported by every kind of instrument: times of fits beside that of values.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Bernoulli, Binomial, Censored, Degrees, Dispersion, Exponential, Gamma, Gaussian, Interval,
    Laplace, Likelihood, NegativeBinomial, Ordinal, Poisson, Shape, Side, Sigmoid, StudentT,
    Thresholds, Truncated,
};
use quadrat::link::Link;
use quadrat::model::{FitOptions, Hyperparameters, Model, Noise, Observations};
use quadrat::support::Functionals;

use crate::clock::once;

const ROWS: usize = 30;
/// Counts below this are hidden, and values below these censored or never recorded.
const HIDDEN: f64 = 3.0;
const CENSORED: f64 = -0.5;
const CUT: f64 = -1.6;
const TRIALS: f64 = 20.0;

/// Prints seconds of processor time of fits with integrated hyperparameters, on one thread, and
/// their ratios to that of values.
pub fn run() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(on_one_thread)
}

fn on_one_thread() -> Result<()> {
    println!("{ROWS} points, hyperparameters integrated: seconds of processor time, beside values");
    let mut of_values = f64::NAN;
    for (name, likelihood) in kinds()? {
        let set = Functionals::points("x", &places())?;
        let model = Model::new(Kernel::se(["x"])).observe(Observations::new(set, likelihood)?);
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Integrate);
        let (fit, times) = once(|| model.fit(&options));
        fit?;
        if of_values.is_nan() {
            of_values = times.processor;
        }
        let ratio = times.processor / of_values;
        println!("  {name:<32} {:>8.3} {ratio:>8.1}", times.processor);
    }
    Ok(())
}

fn places() -> Vec<f64> {
    (0..ROWS).map(|i| i as f64 / 3.0).collect()
}

/// Numbers in (0, 1) without a pattern: multiples of the golden section, and others of each row.
fn even(row: usize, which: usize) -> f64 {
    let x = (row as f64 + 0.5) * 0.618_033_988_749_894_9 + which as f64 * 0.367_879_441_171_442_3;
    x.fract()
}

/// Counts with the curve as the logarithm of their rate, and about their scatter.
fn counts(curve: &[f64]) -> Vec<f64> {
    let one = |(i, f): (usize, &f64)| {
        let rate = (f + 1.0).exp();
        (rate + rate.sqrt() * 3.0 * (even(i, 2) - 0.5))
            .max(0.0)
            .round()
    };
    curve.iter().enumerate().map(one).collect()
}

fn kinds() -> Result<Vec<(&'static str, Likelihood)>> {
    let curve: Vec<f64> = places().iter().map(|x| 1.5 * (1.2 * x).sin()).collect();
    let rows = || curve.iter().enumerate();
    let noisy =
        |size: f64| -> Vec<f64> { rows().map(|(i, f)| f + size * (even(i, 1) - 0.5)).collect() };
    let (values, quiet) = (noisy(1.0), noisy(0.2));
    let chance = |f: f64| 1.0 / (1.0 + (-2.0 * f).exp());
    let counts = counts(&curve);
    let yes = rows().map(|(i, f)| even(i, 3) < chance(*f)).collect();
    let successes = rows().map(|(i, f)| {
        let scatter = 4.0 * (even(i, 4) - 0.5);
        (TRIALS * chance(*f) + scatter).clamp(0.0, TRIALS).round()
    });
    let times: Vec<f64> = rows().map(|(i, f)| f.exp() * -even(i, 5).ln()).collect();
    let once = || vec![1.0; ROWS];
    let known = |variance: f64| Noise::Known(vec![variance; ROWS]);
    let ends = |y: &f64| match *y < HIDDEN {
        true => (0.0, HIDDEN - 1.0),
        false => (*y, *y),
    };
    let (least, most) = counts.iter().map(ends).unzip();
    let low: Vec<f64> = values.iter().map(|y| (2.0 * y).floor() / 2.0).collect();
    let high = low.iter().map(|y| y + 0.5).collect();
    let ranks = values
        .iter()
        .map(|y| 1 + usize::from(*y > -0.8) + usize::from(*y > 0.8));
    let side = |y: &f64| match *y < CENSORED {
        true => Side::Left,
        false => Side::None,
    };
    let sides: Vec<Side> = values.iter().map(side).collect();
    let limited = values.iter().map(|y| y.max(CENSORED)).collect();
    let kept = values.iter().map(|y| y.max(CUT + 0.02)).collect();
    let student =
        |values: &[f64]| StudentT::new(values.to_vec(), Noise::Learned, Degrees::Known(4.0));
    Ok(vec![
        (
            "values",
            Gaussian::new(values.clone(), Noise::Learned)?.into(),
        ),
        ("outliers", student(&values)?.into()),
        ("outliers, little noise", student(&quiet)?.into()),
        (
            "values, Laplace noise",
            Laplace::new(values.clone(), vec![0.3; ROWS])?.into(),
        ),
        (
            "counts",
            Poisson::new(counts.clone(), once(), Link::Exp)?.into(),
        ),
        (
            "counts, dispersed",
            NegativeBinomial::new(counts.clone(), once(), Link::Exp, Dispersion::Learned)?.into(),
        ),
        (
            "counts, small ones hidden",
            Poisson::ranges(least, most, once(), Link::Exp)?.into(),
        ),
        ("yes and no", Bernoulli::new(yes, Sigmoid::Logit).into()),
        (
            "successes among trials",
            Binomial::new(successes.collect(), vec![TRIALS; ROWS], Sigmoid::Logit)?.into(),
        ),
        (
            "waiting times",
            Exponential::new(times.clone(), Link::Exp)?.into(),
        ),
        ("positive values", Gamma::new(times, Shape::Learned)?.into()),
        ("intervals", Interval::new(low, high, known(0.1))?.into()),
        (
            "grades",
            Ordinal::new(
                ranks.collect(),
                Thresholds::Known(vec![-0.8, 0.8]),
                known(0.1),
            )?
            .into(),
        ),
        (
            "values with a limit",
            Censored::new(limited, &sides, Noise::Learned)?.into(),
        ),
        (
            "values never seen below a limit",
            Truncated::new(
                kept,
                vec![CUT; ROWS],
                vec![f64::INFINITY; ROWS],
                Noise::Learned,
            )?
            .into(),
        ),
    ])
}
