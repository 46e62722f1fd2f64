//! Ranks alone, thresholds learned: whether the lengthscale is found.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Ordinal, Thresholds};
use quadrat::model::{FitOptions, Hyperparameters, Mean, Model, Noise, Observations};
use quadrat::simulate::Mixed;
use quadrat::support::Functionals;
use rayon::prelude::*;

use crate::report::Report;
use crate::settings::Settings;

/// Ranks observed, over ten lengthscales.
const ROWS: usize = 150;

/// Adds what was learned and its check.
pub fn add(settings: &Settings, report: &mut Report) -> Result<()> {
    let repeats = settings.repeats(4, 20);
    let mut learned = (0..repeats as u64)
        .into_par_iter()
        .map(|repeat| lengthscale(settings, repeat))
        .collect::<Result<Vec<f64>>>()?;
    learned.sort_unstable_by(f64::total_cmp);
    let quantile = |p: f64| learned[((repeats - 1) as f64 * p).round() as usize];
    report.note(format!(
        "{ROWS} ranks alone over ten lengthscales, five levels, thresholds learned and noise held at 1 (the unit): learned lengthscale over the true one, median and quartiles of {repeats} draws: {:.2} ({:.2} to {:.2}); prototype .94 (.88 to 1.04)",
        quantile(0.5),
        quantile(0.25),
        quantile(0.75)
    ));
    // The quartiles of the prototype, which a median of twenty leaves once in some thousand times.
    let slack = if settings.quick { 0.1 } else { 0.0 };
    report.check(
        "ranks alone: learned lengthscale over the true one, median",
        quantile(0.5),
        0.88 - slack,
        1.04 + slack,
    );
    Ok(())
}

fn lengthscale(settings: &Settings, repeat: u64) -> Result<f64> {
    let plan = Mixed {
        high: 10.0,
        grid: 401,
        lengthscale: 1.0,
        points: 0,
        intervals: 0,
        ordinals: ROWS,
        seed: settings.seed + 1000 * repeat + 7_000_000,
        ..Mixed::new(1)
    };
    let data = plan.draw()?;
    let x: Vec<f64> = data.ordinals.iter().map(|row| row.place[0]).collect();
    let ranks = data.ordinals.iter().map(|row| row.report).collect();
    let ordinal = Ordinal::new(ranks, Thresholds::Learned(plan.ranks), Noise::Learned)?;
    let options = FitOptions::default()
        .with_hyperparameters(Hyperparameters::Map)
        .with_seed(settings.seed)
        .with_starts(2)
        .with_threads(1);
    let posterior = Model::new(Kernel::se(["x"]))
        .mean(Mean::Zero)
        .observe(Observations::new(Functionals::points("x", &x)?, ordinal)?)
        .fit(&options)?;
    let mut hypers = posterior.summary().hyperparameters.iter();
    let found = hypers.find(|h| h.name.starts_with("se.lengthscale"));
    Ok(found.map_or(f64::NAN, |h| h.value / plan.lengthscale))
}
