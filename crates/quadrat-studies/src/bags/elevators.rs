//! Law et al., section 4.2: values of single rows from sums of bags of them.

use std::path::Path;

use anyhow::{Context, Result};
use quadrat::baseline::{Constant, Predict};
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Hyperparameters, Inducing, Model, Noise, Observations, Scale};
use quadrat::support::Functionals;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, Poisson};

use super::simple::{self, Scores, Task};
use crate::data::find;
use crate::parquet::numbers;
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::mean;
use crate::steps::Steps;

const FILE: &str = "aggregate/elevators.parquet";
const LABEL: &str = "elevator_target";
/// Columns that the paper leaves out, and the one along which bags are cut.
const DROPPED: [usize; 2] = [14, 16];
const CUT: usize = 7;
const SIZE: (f64, f64) = (30.0, 15.0);
const INDUCING: usize = 100;
const METHODS: [&str; 5] = [
    "ours",
    "Nystrom",
    "network",
    "bag-pixel",
    "mean of all bags",
];
const BESIDE: &str = "beside simple methods, means over the draws +- one standard error; p: Wilcoxon's signed-rank test over the draws. Nystrom has one lengthscale for all columns; it and the network have their settings by a further tenth of the rows, in bags, and the network its end of training by another; the noise of simple methods is that of their bags' residuals";

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
    let mut all: Vec<Scores> = METHODS
        .into_iter()
        .map(|method| Scores {
            method,
            square: Vec::new(),
            nll: Vec::new(),
        })
        .collect();
    let steps = Steps::new("draws", repeats);
    for repeat in 0..repeats as u64 {
        let score = steps.after(one(settings, &rows, repeat))?;
        table.row(vec![
            repeat.to_string(),
            score.bags.to_string(),
            format!("{:.5}", score.square),
            format!("{:.3}", score.nll),
            format!("{:.1}", score.seconds),
            score.evaluations.to_string(),
        ]);
        let own = [(score.square, score.nll)].into_iter().chain(score.beside);
        for (scores, (square, nll)) in all.iter_mut().zip(own) {
            scores.square.push(square);
            scores.nll.push(nll);
        }
    }
    report.tables.push(table);
    report.tables.push(simple::table(BESIDE, &all));
    report.check("mean squared error", mean(&all[0].square), 0.0, 0.00145);
    report.check("plug-in NLL", mean(&all[0].nll), f64::NEG_INFINITY, -1.85);
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
    /// Those of the simple methods.
    beside: [(f64, f64); METHODS.len() - 1],
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
    let train = along(rows, &rest[2 * tenth..]);
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
    let bags = Bags::new(rows, train.clone(), (&names, &place), &mut random)?;
    let count = bags.values.len();
    let kernel: Kernel = format!("se({})", names.join(", ")).parse()?;
    let options = FitOptions::default()
        .with_inducing(Inducing::Number(INDUCING))
        .with_hyperparameters(Hyperparameters::Map)
        .with_seed(settings.seed);
    let posterior = Model::new(kernel.clone())
        .observe(bags.observed(Noise::Learned)?)
        .fit(&options)?;
    let mut at = Functionals::new(names.clone());
    test.iter().try_for_each(|&i| at.push_point(&place(i)))?;
    let p = posterior.predict(&at, Scale::Latent)?;
    let mut hypers = posterior.summary().hyperparameters.iter();
    let noise = hypers.find(|h| h.name == "noise.variance");
    let noise = noise.context("no learned noise")?.value;
    let judged = |means: &[f64], noise: f64| {
        let pairs = test.iter().zip(means);
        let squares: Vec<f64> = pairs.map(|(&i, m)| (rows[i].1 - m).powi(2)).collect();
        let square = mean(&squares);
        let constant = (2.0 * std::f64::consts::PI * noise).ln();
        (square, 0.5 * (constant + square / noise))
    };
    let (square, nll) = judged(p.mean(), noise);
    // Drawn last, so that what is above does not depend on it.
    let others = Bags::new(
        rows,
        along(rows, &rest[..tenth]),
        (&names, &place),
        &mut random,
    )?;
    let known = |bags: &Bags| bags.observed(Noise::Known(vec![noise; bags.values.len()]));
    let stop = along(rows, &rest[tenth..2 * tenth]);
    let stop = known(&Bags::new(rows, stop, (&names, &place), &mut random)?)?;
    let rows = known(&bags)?;
    let task = Task {
        train: &rows,
        points: &bags.points,
        chosen_by: (&others.supports, &others.values),
        stop: &stop,
        group: &vec![0; names.len()],
        kernel: &kernel,
        landmarks: INDUCING,
        seed: settings.seed,
    };
    let one = |method: &dyn Predict| -> Result<(f64, f64)> {
        let of_bags = method.predict_response(&others.supports)?;
        let pairs = of_bags.mean().iter().zip(&others.values);
        let squares: Vec<f64> = pairs.map(|(m, y)| (m - y).powi(2)).collect();
        let means = method.predict_response(&at)?;
        Ok(judged(means.mean(), mean(&squares)))
    };
    let loss = |mean: f64, y: f64| (mean - y).powi(2);
    Ok(Score {
        bags: count,
        square,
        nll,
        seconds: posterior.summary().seconds,
        evaluations: posterior.summary().evaluations,
        beside: [
            one(&simple::nystrom(&task, loss)?)?,
            one(&simple::network(&task, loss)?)?,
            one(&simple::bag_pixel(&task)?)?,
            one(&Constant::new(&rows)?)?,
        ],
    })
}

/// Rows from the highest to the lowest along the column that bags are cut along.
fn along(rows: &[Row], some: &[usize]) -> Vec<usize> {
    let mut some = some.to_vec();
    some.sort_by(|&a, &b| rows[b].0[CUT].total_cmp(&rows[a].0[CUT]));
    some
}

/// Bags of rows. The noise of a sum grows with its size: sums over the root of the size have that
/// of a single row.
struct Bags {
    supports: Functionals,
    points: Vec<Vec<f64>>,
    values: Vec<f64>,
}

impl Bags {
    fn new(
        rows: &[Row],
        of: Vec<usize>,
        (names, place): (&[String], &dyn Fn(usize) -> Vec<f64>),
        random: &mut ChaCha8Rng,
    ) -> Result<Self> {
        let points: Vec<Vec<f64>> = of.iter().map(|&i| place(i)).collect();
        let (mut supports, mut values) = (Functionals::new(names.to_vec()), Vec::new());
        let mut first = 0;
        for size in sizes(random, of.len())? {
            let own = first..first + size;
            let root = (size as f64).sqrt();
            supports.push_nodes(&points[own.clone()], &vec![1.0 / root; size])?;
            values.push(of[own].iter().map(|&i| rows[i].1).sum::<f64>() / root);
            first += size;
        }
        Ok(Self {
            supports,
            points,
            values,
        })
    }

    fn observed(&self, noise: Noise) -> Result<Observations> {
        let (supports, values) = (self.supports.clone(), self.values.clone());
        Ok(Observations::gaussian(supports, values, noise)?)
    }
}
