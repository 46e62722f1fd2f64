//! What to measure next: all kinds at many places, and a batch of them.

use anyhow::Result;
use quadrat::acquire::{Offer, Places, Plan, Policy, choose, survey};
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Interval, Ordinal, Thresholds};
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior, Setting,
};
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::clock::best;

/// Rows of each of three kinds.
const ROWS: usize = 20;
/// Places: those of the paper's grid, and many.
const PLACES: [usize; 2] = [900, 100_000];
const BATCH: usize = 20;
const ROUNDS: usize = 3;

/// Prints seconds of processor time, on one thread, for the beliefs of all places, and for batches
/// by several policies.
pub fn run() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(on_one_thread)
}

fn on_one_thread() -> Result<()> {
    let posterior = posterior()?;
    let offers = offers();
    println!(
        "seconds of processor time, {} kinds, {} rows:",
        offers.len(),
        3 * ROWS
    );
    for places in PLACES {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut at = Functionals::new(vec!["x".to_owned(), "y".to_owned()]);
        for _ in 0..places {
            at.push_point(&[random.random_range(0.0..2.0), random.random_range(0.0..2.0)])?;
        }
        let askable = Places::new(&posterior, &at, &offers, None)?;
        let believed = best(ROUNDS, || {
            survey(&posterior, &askable, &offers).map(|s| s.len())
        });
        println!(
            "  {places:>7} places  {:<28} {:>8.3}",
            "beliefs", believed.processor
        );
        let survey = survey(&posterior, &askable, &offers)?;
        for (policy, batch) in [
            (Policy::PerCost, 1),
            (Policy::PerCost, BATCH),
            (Policy::Variance, BATCH),
        ] {
            let plan = Plan {
                policy,
                batch,
                ..Plan::default()
            };
            let time = best(ROUNDS, || choose(&survey, &plan).map(|c| c.choices.len()));
            let title = format!("{}, batch of {batch}", policy.name());
            println!("  {places:>7} places  {title:<28} {:>8.3}", time.processor);
        }
    }
    Ok(())
}

fn offers() -> Vec<Offer> {
    let one = |name: &str, table, cost, amount| Offer {
        name: name.to_owned(),
        table,
        cost,
        amount,
        as_interval: false,
        limits: None,
    };
    vec![
        one("point", 0, 10.0, None),
        one("interval", 1, 7.0, Some(0.6)),
        one("ordinal", 2, 3.0, None),
    ]
}

/// Values, intervals and ranks of a wave at random places, hyperparameters known.
fn posterior() -> Result<Posterior> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut table = || -> Result<(Functionals, Vec<f64>)> {
        let mut at = Functionals::new(vec!["x".to_owned(), "y".to_owned()]);
        let mut values = Vec::new();
        for _ in 0..ROWS {
            let place: [f64; 2] = [random.random_range(0.0..2.0), random.random_range(0.0..2.0)];
            at.push_point(&place)?;
            values.push((7.0 * place[0]).sin() * (5.0 * place[1]).cos());
        }
        Ok((at, values))
    };
    let noise = || Noise::Known(vec![0.01; ROWS]);
    let (points, values) = table()?;
    let (strips, seen) = table()?;
    let lower: Vec<f64> = seen.iter().map(|v| v - 0.25).collect();
    let upper: Vec<f64> = seen.iter().map(|v| v + 0.35).collect();
    let (grades, seen) = table()?;
    let thresholds = vec![-0.3, 0.3];
    let ranks = seen
        .iter()
        .map(|v| 1 + thresholds.iter().filter(|t| v > t).count());
    let ranks = Ordinal::new(
        ranks.collect(),
        Thresholds::Known(thresholds.clone()),
        noise(),
    )?;
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    Ok(Model::new(Kernel::se(["x", "y"]))
        .mean(Mean::Zero)
        .observe(Observations::gaussian(points, values, noise())?)
        .observe(Observations::new(
            strips,
            Interval::new(lower, upper, noise())?,
        )?)
        .observe(Observations::new(grades, ranks)?)
        .set("se.variance", Setting::fixed(1.0))
        .set("se.lengthscale.x", Setting::fixed(0.2))
        .set("se.lengthscale.y", Setting::fixed(0.2))
        .fit(&options)?)
}
