//! What to measure next on recorded data: prices of houses, and temperatures at buoys (Fletcher,
//! sections 6.3 and 6.4).

use anyhow::{Context, Result};
use quadrat::acquire::Policy;
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Hyperparameters, Mean, Model, Noise, Observations};
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::ground::{Ground, Learned, thirds};
use super::play::{End, Rules, error, play};
use crate::data::{columns, find, transpose};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{half_width, mean};

/// What a point, an interval and a rank cost.
const COSTS: [f64; 3] = [10.0, 7.0, 3.0];
/// Width of an interval in sds of the noise.
const WIDTH: f64 = 2.0;
/// Shares of the budget at which errors are told.
const SHARES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// A data set, and how it is played.
struct Field {
    name: &'static str,
    file: &'static str,
    /// Coordinates, and what is measured.
    columns: [&'static str; 3],
    budget: f64,
    steps: usize,
    /// Share of the places that are judged and cannot be measured.
    judged: f64,
    /// Root mean square errors that prototypes reached: by `pace` at known hyperparameters, by
    /// `variance` at learned ones.
    reach: [Option<f64>; 2],
}

const FIELDS: [Field; 2] = [
    Field {
        name: "houses in Xindian",
        file: "active_learning/taiwan_real_estate.csv",
        columns: ["longitude", "latitude", "price_10k_twd_per_ping"],
        budget: 200.0,
        steps: 30,
        judged: 0.2,
        reach: [Some(0.11), Some(0.1)],
    },
    Field {
        name: "buoys of the Pacific",
        file: "active_learning/elnino_buoy_means.csv",
        columns: ["nom_lon", "nom_lat", "air_temp_mean"],
        budget: 100.0,
        steps: 15,
        judged: 1.0 / 3.0,
        reach: [None, None],
    },
];

const POLICIES: [Policy; 8] = [
    Policy::Random,
    Policy::RandomKind,
    Policy::Information,
    Policy::Normalised,
    Policy::PerCost,
    Policy::Pace,
    Policy::Variance,
    Policy::VariancePace,
];

/// Runs the study.
///
/// # Errors
/// [`Missing`](crate::data::Missing); as the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(2, 30);
    let mut report = Report::new("What to measure next, on recorded data (Fletcher, section 6)");
    report.setting(format!(
        "a squared exponential; coordinates and values from 0 to 1; points {}, intervals {}, ranks {} (parted at thirds); intervals are {WIDTH} sds of the noise wide; three points known before; {repeats} runs, each with other places judged",
        COSTS[0], COSTS[1], COSTS[2]
    ));
    report.setting(
        "the noise is known: that of a fit of all places; `known`: so are the other hyperparameters; `learned`: they are learned after every measurement".to_owned(),
    );
    for (f, field) in FIELDS.iter().enumerate() {
        let path = find(&settings.data, field.file)?;
        let whole = whole(field, &path)?;
        report.setting(format!(
            "{}: {} places of `{}`; the noise sd is {:.3}",
            field.name,
            whole.values.len(),
            field.file,
            whole.noise_sd
        ));
        for is_known in [true, false] {
            let runs: Result<Vec<Run>> = (0..repeats)
                .into_par_iter()
                .map(|repeat| {
                    let stream = 10 * (repeat as u64 + 1000 * (2 * f as u64 + u64::from(is_known)));
                    one(settings, field, &whole, is_known, stream)
                })
                .collect();
            table(&mut report, field, is_known, &runs?);
        }
    }
    Ok(report)
}

/// A run: where every policy stood at the shares of the budget, and the errors of simpler ways.
struct Run {
    ends: Vec<[End; SHARES.len()]>,
    /// The mean of all places that could be measured.
    of_mean: f64,
    /// A fit of all of them.
    of_all: f64,
}

/// All places, with the hyperparameters of a fit of them.
fn whole(field: &Field, path: &std::path::Path) -> Result<Ground> {
    let mut own = columns(path, &field.columns)?;
    // From 0 to 360 degrees east: the date line crosses the Pacific.
    own[0].iter_mut().for_each(|x| *x = x.rem_euclid(360.0));
    for column in &mut own {
        let lower = column.iter().copied().fold(f64::INFINITY, f64::min);
        let upper = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        column
            .iter_mut()
            .for_each(|x| *x = (*x - lower) / (upper - lower));
    }
    let values = own.pop().context("no column of values")?;
    let places: Vec<usize> = (0..values.len()).collect();
    let mut ground = Ground {
        dims: vec!["x".to_owned(), "y".to_owned()],
        points: transpose(&own),
        thresholds: thirds(&values),
        values,
        noise_sd: 0.0,
        is_noisy: false,
        width: 0.0,
        learned: Learned::Anew,
        candidates: places.clone(),
        judged: Vec::new(),
    };
    let rows = Observations::gaussian(ground.at(&places)?, ground.values.clone(), Noise::Learned)?;
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let fit = Model::new(Kernel::se(["x", "y"]))
        .observe(rows)
        .fit(&options)?;
    let value = |name: &str| {
        let all = &fit.summary().hyperparameters;
        let found = all.iter().find(|h| h.name == name);
        found.map(|h| h.value).with_context(|| format!("no {name}"))
    };
    ground.noise_sd = value("noise.variance")?.sqrt();
    ground.width = WIDTH * ground.noise_sd;
    ground.learned = Learned::Known {
        variance: value("se.variance")?,
        lengthscales: vec![value("se.lengthscale.x")?, value("se.lengthscale.y")?],
        mean: Mean::default(),
    };
    Ok(ground)
}

fn one(
    settings: &Settings,
    field: &Field,
    whole: &Ground,
    is_known: bool,
    stream: u64,
) -> Result<Run> {
    let mut places = whole.candidates.clone();
    places.shuffle(&mut settings.random(stream));
    let count = (field.judged * places.len() as f64).round() as usize;
    let ground = Ground {
        judged: places[..count].to_vec(),
        candidates: places[count..].to_vec(),
        learned: match is_known {
            true => whole.learned.clone(),
            false => Learned::Anew,
        },
        ..whole.clone()
    };
    let ends = POLICIES.iter().map(|policy| {
        let rules = Rules {
            policy: *policy,
            costs: COSTS,
            budget: field.budget,
            steps: field.steps,
            batch: 1,
        };
        let random = (settings.random(stream + 1), settings.random(stream + 2));
        let ends = play(&ground, &rules, random)?;
        let at = |share: f64| {
            // The last that the share pays for; a run that ends early stays where it was.
            let paid = ends
                .iter()
                .rev()
                .find(|end| end.spent <= share * field.budget);
            paid.or(ends.first())
                .copied()
                .context("nothing was measured")
        };
        Ok([
            at(SHARES[0])?,
            at(SHARES[1])?,
            at(SHARES[2])?,
            at(SHARES[3])?,
        ])
    });
    let ends: Result<Vec<_>> = ends.collect();
    let of = |places: &[usize]| -> Vec<f64> { places.iter().map(|i| ground.values[*i]).collect() };
    let (truth, known) = (of(&ground.judged), of(&ground.candidates));
    Ok(Run {
        ends: ends?,
        of_mean: error(&truth, &vec![mean(&known); truth.len()]),
        of_all: error(&truth, &all(&ground)?),
    })
}

/// What a fit of all places that could be measured predicts of the others.
fn all(ground: &Ground) -> Result<Vec<f64>> {
    let known = ground.candidates.iter().map(|i| ground.values[*i]);
    let noise = Noise::Known(vec![
        ground.noise_sd * ground.noise_sd;
        ground.candidates.len()
    ]);
    let rows = Observations::gaussian(ground.at(&ground.candidates)?, known.collect(), noise)?;
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let fit = Model::new(Kernel::se(["x", "y"]))
        .observe(rows)
        .fit(&options)?;
    let judged = ground.at(&ground.judged)?;
    let p = fit.predict(&judged, quadrat::model::Scale::Latent)?;
    Ok(p.mean().to_vec())
}

fn table(report: &mut Report, field: &Field, is_known: bool, runs: &[Run]) {
    let how = if is_known { "known" } else { "learned" };
    let head = [
        "policy",
        "RMSE at 1/4",
        "1/2",
        "3/4",
        "budget",
        "beside `random`",
        "spent",
        "points",
        "intervals",
        "ranks",
    ];
    let mut table = Table {
        title: format!(
            "{}, {how}: budget {}, at most {} measurements",
            field.name, field.budget, field.steps
        ),
        head: head.map(str::to_owned).to_vec(),
        ..Table::default()
    };
    let average = |of: &dyn Fn(&Run) -> f64| mean(&runs.iter().map(of).collect::<Vec<f64>>());
    let last = SHARES.len() - 1;
    for (p, policy) in POLICIES.iter().enumerate() {
        let mut row = vec![policy.name().to_owned()];
        for share in 0..SHARES.len() {
            row.push(format!("{:.3}", average(&|run| run.ends[p][share].rmse)));
        }
        let ratios: Vec<f64> = runs
            .iter()
            .map(|run| run.ends[p][last].rmse / run.ends[0][last].rmse)
            .collect();
        row.push(format!(
            "{:.3} +- {:.3}",
            mean(&ratios),
            half_width(&ratios)
        ));
        row.push(format!("{:.0}", average(&|run| run.ends[p][last].spent)));
        row.extend(
            (0..3).map(|k| format!("{:.1}", average(&|run| run.ends[p][last].made[k] as f64))),
        );
        table.rows.push(row);
        // What prototypes reached; where hyperparameters are learned, with every rule.
        let reach = match (policy, is_known) {
            (Policy::Pace, true) => field.reach[0],
            (Policy::Variance, false) => field.reach[1],
            _ => None,
        };
        if let (Some(reach), true) = (reach, runs.len() >= 20) {
            let rmse = average(&|run| run.ends[p][last].rmse);
            let what = format!("{}, {how}, {}", field.name, policy.name());
            report.check(what, rmse, 0.0, reach);
        }
    }
    for (name, of) in [
        ("the mean of all other places", average(&|run| run.of_mean)),
        ("a fit of all other places", average(&|run| run.of_all)),
    ] {
        let mut row = vec![name.to_owned()];
        row.resize(SHARES.len(), String::new());
        row.push(format!("{of:.3}"));
        row.resize(table.head.len(), String::new());
        table.rows.push(row);
    }
    report.tables.push(table);
}
