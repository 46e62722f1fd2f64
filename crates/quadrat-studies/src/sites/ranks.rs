//! Ranks of public data sets from their covariates: the ordinal benchmarks of Chu and Ghahramani.

use anyhow::{Context, Result};
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Ordinal, Thresholds};
use quadrat::model::{FitOptions, Hyperparameters, Model, Noise, Observations, Scale};
use quadrat::support::Functionals;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::data;
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, standard_error};

/// A data set cut into ranks.
struct Set {
    name: &'static str,
    file: &'static str,
    inputs: &'static [&'static str],
    output: &'static str,
    cut: Cut,
    /// Rows used, drawn at random.
    rows: usize,
    /// Mean absolute error that prototypes reached, and the most that is accepted.
    reached: f64,
    accepted: f64,
}

/// Where five ranks part.
#[derive(Clone, Copy)]
enum Cut {
    /// As many rows in every rank.
    EqualFrequency,
    /// As long a stretch of the output for every rank.
    EqualLength,
}

const RANKS: usize = 5;

const MPG: &[&str] = &[
    "cylinders",
    "displacement",
    "horsepower",
    "weight",
    "acceleration",
    "model",
    "origin",
];

const SETS: [Set; 5] = [
    Set {
        name: "auto_mpg, equal frequency",
        file: "ordinal/auto_mpg.csv",
        inputs: MPG,
        output: "mpg",
        cut: Cut::EqualFrequency,
        rows: 392,
        reached: 0.286,
        accepted: 0.33,
    },
    Set {
        name: "auto_mpg, equal length",
        file: "ordinal/auto_mpg.csv",
        inputs: MPG,
        output: "mpg",
        cut: Cut::EqualLength,
        rows: 392,
        reached: 0.245,
        accepted: 0.28,
    },
    Set {
        name: "abalone, equal frequency",
        file: "ordinal/abalone.csv",
        inputs: &[
            "Sex=I", "Sex=F", "Length", "Diameter", "Height", "Whole", "Shucked", "Viscera",
            "Shell",
        ],
        output: "rings",
        cut: Cut::EqualFrequency,
        rows: 500,
        reached: 0.67,
        accepted: 0.75,
    },
    Set {
        name: "machine_cpu, equal frequency",
        file: "ordinal/machine_cpu.csv",
        inputs: &["syct", "mmin", "mmax", "cach", "chmin", "chmax"],
        output: "perf",
        cut: Cut::EqualFrequency,
        rows: 209,
        reached: 0.417,
        accepted: 0.6,
    },
    Set {
        name: "stock, equal frequency",
        file: "ordinal/stock.csv",
        inputs: &[
            "company1", "company2", "company3", "company4", "company5", "company6", "company7",
            "company8", "company9",
        ],
        output: "company10",
        cut: Cut::EqualFrequency,
        rows: 500,
        reached: 0.141,
        accepted: 0.17,
    },
];

/// Runs the study.
///
/// # Errors
/// [`data::Missing`]; as the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(1, 20);
    let mut report = Report::new("Ranks from covariates, by expectation propagation");
    report.setting(format!(
        "{repeats} random splits, 75 % of the rows to learn from; five ranks; se with one lengthscale per input, thresholds learned, noise variance one, maximum of the posterior of the hyperparameters"
    ));
    report.setting("mean absolute error of the most probable rank, share of ranks that are right, +- standard error over splits; prototypes ran other splits");
    let mut table = Table::new(
        "Ranks of left-out rows",
        &[
            "",
            "rows",
            "error",
            "right",
            "error, prototype",
            "converged",
            "s per fit",
        ],
    );
    for set in &SETS {
        let outcomes = (0..repeats as u64)
            .into_par_iter()
            .map(|repeat| one(set, settings, repeat))
            .collect::<Result<Vec<Outcome>>>()
            .with_context(|| set.name)?;
        let of = |f: fn(&Outcome) -> f64| -> Vec<f64> { outcomes.iter().map(f).collect() };
        let (errors, right) = (of(|o| o.error), of(|o| o.right));
        let plus = |v: &[f64]| match v.len() {
            1 => format!("{:.3}", v[0]),
            _ => format!("{:.3} +- {:.3}", mean(v), standard_error(v)),
        };
        table.row(vec![
            set.name.to_owned(),
            set.rows.to_string(),
            plus(&errors),
            plus(&right),
            set.reached.to_string(),
            format!("{} of {repeats}", of(|o| o.converged).iter().sum::<f64>()),
            format!("{:.1}", mean(&of(|o| o.seconds))),
        ]);
        // One split of a hundred rows knows the error to about .05.
        let slack = match repeats {
            1 => 0.1,
            2..20 => 2.0 * standard_error(&errors),
            _ => 0.0,
        };
        let what = format!("{}: mean absolute error", set.name);
        report.check(what, mean(&errors), 0.0, set.accepted + slack);
    }
    report.tables.push(table);
    Ok(report)
}

struct Outcome {
    error: f64,
    right: f64,
    converged: f64,
    seconds: f64,
}

fn one(set: &Set, settings: &Settings, repeat: u64) -> Result<Outcome> {
    let path = data::find(&settings.data, set.file)?;
    let names: Vec<&str> = set.inputs.iter().copied().chain([set.output]).collect();
    let mut rows = data::transpose(&data::columns(&path, &names)?);
    rows.shuffle(&mut settings.random(repeat));
    rows.truncate(set.rows);
    let outputs: Vec<f64> = rows.iter().map(|r| r[set.inputs.len()]).collect();
    let thresholds = thresholds(&outputs, set.cut);
    let rank = |y: f64| 1 + thresholds.iter().filter(|t| **t < y).count();
    let known = rows.len() * 3 / 4;
    let mut places = [Functionals::new(owned(set)), Functionals::new(owned(set))];
    for (i, row) in rows.iter().enumerate() {
        places[usize::from(i >= known)].push_point(&row[..set.inputs.len()])?;
    }
    let [at, new] = places;
    let ranks = outputs[..known].iter().map(|y| rank(*y)).collect();
    let ordinal = Ordinal::new(ranks, Thresholds::Learned(RANKS), Noise::Learned)?;
    let options = FitOptions::default()
        .with_hyperparameters(Hyperparameters::Map)
        .with_seed(settings.seed)
        .with_starts(2)
        .with_threads(1);
    let posterior = Model::new(Kernel::se(owned(set)))
        .observe(Observations::new(at, ordinal)?)
        .fit(&options)?;
    let p = posterior.predict(&new, Scale::Observation)?;
    let below: Vec<Vec<f64>> = (0..=RANKS)
        .map(|k| p.cdf(&vec![k as f64; p.len()]))
        .collect();
    let (mut error, mut right) = (0.0, 0.0);
    for i in 0..p.len() {
        let share = |k: usize| below[k][i] - below[k - 1][i];
        let best = (1..=RANKS).max_by(|a, b| share(*a).total_cmp(&share(*b)));
        let (best, truth) = (best.unwrap_or(1), rank(outputs[known + i]));
        error += best.abs_diff(truth) as f64;
        right += f64::from(u8::from(best == truth));
    }
    let summary = posterior.summary();
    Ok(Outcome {
        error: error / p.len() as f64,
        right: right / p.len() as f64,
        converged: f64::from(u8::from(summary.converged)),
        seconds: summary.seconds,
    })
}

fn owned(set: &Set) -> Vec<String> {
    set.inputs.iter().map(|s| s.replace('=', "_")).collect()
}

fn thresholds(outputs: &[f64], cut: Cut) -> Vec<f64> {
    let mut sorted = outputs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    (1..RANKS)
        .map(|k| match cut {
            Cut::EqualFrequency => sorted[k * sorted.len() / RANKS],
            Cut::EqualLength => low + (high - low) * k as f64 / RANKS as f64,
        })
        .collect()
}
