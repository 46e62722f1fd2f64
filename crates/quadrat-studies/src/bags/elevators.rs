//! Law et al., section 4.2: values of single rows from sums of bags of them.

use std::path::Path;

use anyhow::{Context, Result};
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Hyperparameters, Inducing, Model, Noise, Observations, Scale};
use quadrat::support::Functionals;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, Poisson};

use crate::data::find;
use crate::parquet::numbers;
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::mean;

const FILE: &str = "aggregate/elevators.parquet";
const LABEL: &str = "elevator_target";
/// Columns that the paper leaves out, and the one along which bags are cut.
const DROPPED: [usize; 2] = [14, 16];
const CUT: usize = 7;
const SIZE: (f64, f64) = (30.0, 15.0);
const INDUCING: usize = 100;

/// Runs the study.
///
/// # Errors
/// When the table is not there or a fit fails.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Law et al., section 4.2: elevators, normal bags");
    let rows = read(&find(&settings.data, FILE)?)?;
    let repeats = settings.repeats(1, 3);
    report.setting(format!(
        "{FILE}: {} rows, {} columns; 70 % in bags of {} (sd {}), 10 % to test; {INDUCING} inducing points; {repeats} draws",
        rows.len(),
        rows[0].0.len() - DROPPED.len(),
        SIZE.0,
        SIZE.1
    ));
    report.note("published: MSE .0018, NLL -1.69 (plug-in: the posterior variance is not added); Nystrom .0024, -1.57; constant .010");
    let mut table = Table::new(
        "errors of single test rows",
        &["draw", "bags", "MSE", "NLL (plug-in)", "seconds", "passes"],
    );
    let (mut squares, mut scores) = (Vec::new(), Vec::new());
    for repeat in 0..repeats as u64 {
        let score = one(settings, &rows, repeat)?;
        table.row(vec![
            repeat.to_string(),
            score.bags.to_string(),
            format!("{:.5}", score.square),
            format!("{:.3}", score.nll),
            format!("{:.1}", score.seconds),
            score.evaluations.to_string(),
        ]);
        squares.push(score.square);
        scores.push(score.nll);
    }
    report.tables.push(table);
    report.check("mean squared error", mean(&squares), 0.0, 0.00145);
    report.check("plug-in NLL", mean(&scores), f64::NEG_INFINITY, -1.85);
    Ok(report)
}

type Row = (Vec<f64>, f64);

/// Covariates and labels in the authors' units.
fn read(path: &Path) -> Result<Vec<Row>> {
    let (mut names, mut columns) = numbers(path)?;
    let label = names.iter().position(|n| n == LABEL);
    let label = label.with_context(|| format!("{}: no column {LABEL}", path.display()))?;
    names.remove(label);
    let targets = columns.remove(label);
    let least = DROPPED.into_iter().fold(CUT, usize::max);
    anyhow::ensure!(
        names.len() > least,
        "{} has {} columns besides {LABEL}; the paper has 18",
        path.display(),
        names.len()
    );
    let mut rows = Vec::with_capacity(targets.len());
    for (row, target) in targets.into_iter().enumerate() {
        let numbers = columns.iter().map(|column| column[row]).collect();
        rows.push((numbers, (10.0 * target - 0.12) / 0.66));
    }
    anyhow::ensure!(!rows.is_empty(), "{} has no rows", path.display());
    Ok(rows)
}

struct Score {
    bags: usize,
    square: f64,
    nll: f64,
    seconds: f64,
    evaluations: usize,
}

fn sizes(random: &mut ChaCha8Rng, mut left: usize) -> Result<Vec<usize>> {
    let (mean, variance) = (SIZE.0 - 1.0, SIZE.1 * SIZE.1);
    let odds = variance / mean - 1.0;
    let gamma = Gamma::new(mean / odds, odds)?;
    let mut out = Vec::new();
    while left > 0 {
        let size = 1 + Poisson::new(gamma.sample(random))?.sample(random) as usize;
        out.push(size.min(left));
        left -= size.min(left);
    }
    Ok(out)
}

fn one(settings: &Settings, rows: &[Row], repeat: u64) -> Result<Score> {
    let mut random = settings.random(9_000 + repeat);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.shuffle(&mut random);
    let tenth = rows.len() / 10;
    let (test, rest) = order.split_at(tenth);
    let mut train: Vec<usize> = rest[2 * tenth..].to_vec();
    train.sort_by(|&a, &b| rows[b].0[CUT].total_cmp(&rows[a].0[CUT]));
    let kept: Vec<usize> = (0..rows[0].0.len())
        .filter(|c| !DROPPED.contains(c))
        .collect();
    let scales: Vec<(f64, f64)> = kept
        .iter()
        .map(|&c| {
            let all: Vec<f64> = train.iter().map(|&i| rows[i].0[c]).collect();
            let centre = mean(&all);
            let square: Vec<f64> = all.iter().map(|x| (x - centre).powi(2)).collect();
            (centre, mean(&square).sqrt().max(f64::MIN_POSITIVE))
        })
        .collect();
    let place = |i: usize| -> Vec<f64> {
        let pairs = kept.iter().zip(&scales);
        pairs.map(|(&c, (m, s))| (rows[i].0[c] - m) / s).collect()
    };
    let names: Vec<String> = kept.iter().map(|c| format!("x{c}")).collect();
    let mut bags = Functionals::new(names.clone());
    let (mut values, mut first) = (Vec::new(), 0);
    for size in sizes(&mut random, train.len())? {
        let own = &train[first..first + size];
        // The noise of a sum grows with its size: over the root of the size it is the same for all.
        let root = (size as f64).sqrt();
        let points: Vec<Vec<f64>> = own.iter().map(|&i| place(i)).collect();
        bags.push_nodes(&points, &vec![1.0 / root; size])?;
        values.push(own.iter().map(|&i| rows[i].1).sum::<f64>() / root);
        first += size;
    }
    let count = values.len();
    let kernel: Kernel = format!("se({})", names.join(", ")).parse()?;
    let options = FitOptions::default()
        .with_inducing(Inducing::Number(INDUCING))
        .with_hyperparameters(Hyperparameters::Map)
        .with_seed(settings.seed);
    let posterior = Model::new(kernel)
        .observe(Observations::gaussian(bags, values, Noise::Learned)?)
        .fit(&options)?;
    let mut at = Functionals::new(names);
    test.iter().try_for_each(|&i| at.push_point(&place(i)))?;
    let p = posterior.predict(&at, Scale::Latent)?;
    let mut hypers = posterior.summary().hyperparameters.iter();
    let noise = hypers.find(|h| h.name == "noise.variance");
    let noise = noise.context("no learned noise")?.value;
    let squares: Vec<f64> = test
        .iter()
        .zip(p.mean())
        .map(|(&i, m)| (rows[i].1 - m).powi(2))
        .collect();
    let constant = (2.0 * std::f64::consts::PI * noise).ln();
    let nll: Vec<f64> = squares
        .iter()
        .map(|s| 0.5 * (constant + s / noise))
        .collect();
    Ok(Score {
        bags: count,
        square: mean(&squares),
        nll: mean(&nll),
        seconds: posterior.summary().seconds,
        evaluations: posterior.summary().evaluations,
    })
}
