//! Which policy learns most for a budget, over many costs of points, intervals and ranks: the
//! paper's section 6.2.

use anyhow::{Context, Result};
use quadrat::acquire::Policy;
use rayon::prelude::*;

use super::play::{End, Rules, play};
use super::world::World;
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{half_width, mean};

/// Places along each of two dimensions.
const SIDE: usize = 20;
/// Lengthscales: that of the paper, and one at which there is more to learn in 60.
const LENGTHSCALES: [f64; 2] = [0.2, 0.5];
const BUDGET: f64 = 60.0;
const STEPS: usize = 20;
/// Measurements of a batch, where batches are played.
const BATCH: usize = 5;

/// What the paper varies: points 8 to 12, intervals 6 to 9, ranks 2 to 4, no interval dearer than a
/// point. These are 57; the paper counts 54.
fn costs() -> Vec<[f64; 3]> {
    let mut all = Vec::new();
    for point in 8..=12 {
        for interval in 6..=9 {
            for rank in 2..=4 {
                if interval <= point {
                    all.push([point, interval, rank].map(f64::from));
                }
            }
        }
    }
    all
}

/// The policies that are played, how many at once, and how they are called.
fn players() -> Vec<(Policy, usize, String)> {
    let one = |policy: Policy| (policy, 1, policy.name().to_owned());
    let mut all: Vec<_> = [
        Policy::Random,
        Policy::RandomKind,
        Policy::Normalised,
        Policy::Information,
        Policy::PerCost,
        Policy::Pace,
        Policy::Variance,
        Policy::VariancePace,
    ]
    .map(one)
    .to_vec();
    all.push((
        Policy::PerCost,
        BATCH,
        format!("per-cost, batches of {BATCH}"),
    ));
    all.push((
        Policy::Variance,
        BATCH,
        format!("variance, batches of {BATCH}"),
    ));
    all
}

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(1, 10);
    let costs = costs();
    let costs: Vec<[f64; 3]> = match settings.quick {
        true => costs.into_iter().step_by(18).collect(),
        false => costs,
    };
    let players = players();
    let mut report = Report::new("What to measure next, for a budget (Fletcher, section 6.2)");
    report.setting(format!(
        "functions of variance one on {SIDE} x {SIDE} places of [0, 2]^2; noise sd 0.1; ranks part at the thirds of the function; intervals are 0.6 wide; three points known before; budget {BUDGET}, at most {STEPS} measurements; hyperparameters known"
    ));
    report.setting(format!(
        "{} costs x {repeats} functions; numbers are means of ratios to `random` on the same function, +- half of 95 % intervals; KL(N(f, s^2) || N(m, v + s^2)) is a mean over places",
        costs.len()
    ));
    for (l, lengthscale) in LENGTHSCALES.into_iter().enumerate() {
        let world = World::new(2, SIDE, lengthscale)?;
        let runs: Vec<(usize, [f64; 3])> = (0..repeats)
            .flat_map(|repeat| costs.iter().map(move |costs| (repeat, *costs)))
            .collect();
        let ends: Result<Vec<Vec<End>>> = runs
            .par_iter()
            .enumerate()
            .map(|(run, (_, costs))| {
                let stream = 10 * (run as u64 + 1000 * l as u64);
                let ground = world.ground(&mut settings.random(stream));
                let one = |(policy, batch, _): &(Policy, usize, String)| {
                    let rules = Rules {
                        policy: *policy,
                        costs: *costs,
                        budget: BUDGET,
                        steps: STEPS,
                        batch: *batch,
                    };
                    let random = (settings.random(stream + 1), settings.random(stream + 2));
                    let ends = play(&ground, &rules, random)?;
                    ends.last()
                        .copied()
                        .context("a budget that pays for nothing")
                };
                players.iter().map(one).collect()
            })
            .collect();
        table(&mut report, lengthscale, &players, &ends?);
    }
    Ok(report)
}

fn table(
    report: &mut Report,
    lengthscale: f64,
    players: &[(Policy, usize, String)],
    ends: &[Vec<End>],
) {
    let mut table = Table {
        title: format!("Lengthscale {lengthscale}, beside `random`"),
        head: [
            "policy",
            "RMSE",
            "KL",
            "spent",
            "points",
            "intervals",
            "ranks",
        ]
        .map(str::to_owned)
        .to_vec(),
        ..Table::default()
    };
    for (p, (_, _, name)) in players.iter().enumerate() {
        let ratio = |of: fn(&End) -> f64| -> Vec<f64> {
            ends.iter().map(|run| of(&run[p]) / of(&run[0])).collect()
        };
        let (rmse, kl) = (ratio(|end| end.rmse), ratio(|end| end.kl));
        let average = |of: &dyn Fn(&End) -> f64| {
            mean(&ends.iter().map(|run| of(&run[p])).collect::<Vec<f64>>())
        };
        let shown = |all: &[f64]| format!("{:.3} +- {:.3}", mean(all), half_width(all));
        let mut row = vec![name.clone(), shown(&rmse), shown(&kl)];
        row.push(format!("{:.1}", average(&|end| end.spent)));
        row.extend((0..3).map(|k| format!("{:.1}", average(&|end| end.made[k] as f64))));
        table.rows.push(row);
        // Of prototypes: variance per cost .83 of random at lengthscale .2, information per cost
        // .90; with few runs their error is a tenth.
        let most = match (name.as_str(), lengthscale < 0.3) {
            ("variance", true) => 0.9,
            ("per-cost", true) => 0.95,
            ("variance", false) => 0.8,
            _ => continue,
        };
        if ends.len() >= 100 {
            report.check(
                format!("RMSE of {name}, lengthscale {lengthscale}"),
                mean(&rmse),
                0.0,
                most,
            );
        }
    }
    report.tables.push(table);
}

#[cfg(test)]
mod tests {
    use super::super::play::divergence;
    use super::*;

    #[test]
    fn no_interval_is_dearer_than_a_point() {
        // Five times four times three, less the three with intervals at 9 and points at 8.
        assert_eq!(costs().len(), 57);
        assert!(costs().iter().all(|[point, interval, _]| interval <= point));
    }

    /// Nothing where the truth is known; more for what is wrong, and for what is surely wrong.
    #[test]
    fn divergences_are_zero_at_the_truth() {
        assert!(divergence(&[0.3], &[0.3], &[0.0], 0.1).abs() < 1e-15);
        let wrong = divergence(&[0.3], &[0.5], &[0.2], 0.1);
        let sure = divergence(&[0.3], &[0.5], &[0.0], 0.1);
        assert!(wrong > 0.0 && sure > wrong);
    }
}
