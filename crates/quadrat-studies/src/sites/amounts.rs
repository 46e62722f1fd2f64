//! Coverage of parts of positive totals that are known exactly or with an error.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Gaussian;
use quadrat::link::Link;
use quadrat::model::{FitOptions, Model, Noise, Observations, Scale};
use quadrat::support::{Aggregate, Functionals};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use super::kinds::{normals, prior};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, standard_error};
use crate::steps::Steps;

/// The range, and places of the truth in each quarter.
const RANGE: usize = 8;
const QUARTERS: usize = 4;
const STEPS: usize = 12;
/// The logarithm of the amount is a draw of se(x) of variance and lengthscale one about this.
const LEVEL: f64 = 5.0;
/// Draws that are looked at.
const DRAWS: usize = 50;
/// Levels of the central intervals.
const LEVELS: [f64; 3] = [0.5, 0.8, 0.95];
/// What the intervals of 95 % hold at least and at most.
const HELD: (f64, f64) = (0.90, 0.97);
/// How far draws may be from exact totals, of these: rounding of sums.
const MET: f64 = 1e-9;

/// What totals are like.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    link: Link,
    /// Upper edges of the rows, in quarters.
    edges: &'static [usize],
    /// The sd of the error, as a part of the average total.
    error: f64,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "years of rain, exact",
        link: Link::Exp,
        edges: &[4, 8, 12, 16, 20, 24, 28, 32],
        error: 0.0,
    },
    Kind {
        name: "uneven bills, exact",
        link: Link::Exp,
        edges: &[1, 4, 5, 11, 12, 20, 22, 32],
        error: 0.0,
    },
    Kind {
        name: "years, an error of 5 %",
        link: Link::Exp,
        edges: &[4, 8, 12, 16, 20, 24, 28, 32],
        error: 0.05,
    },
];

/// What came of a table.
struct Outcome {
    /// Shares of quarters inside the interval of every level.
    inside: [f64; 3],
    /// How far the draws of exact rows are from them, relative to them.
    off: f64,
    /// The least quarter of all draws.
    least: f64,
    settled: bool,
    seconds: f64,
}

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(4, 200);
    let mut report = Report::new("Coverage of parts of positive totals");
    report.setting(format!(
        "{repeats} tables each: the logarithm of the amount is a draw of se(x) with variance 1 and lengthscale 1 about {LEVEL} on [0, {RANGE}]; rows are totals of years or of bills of 1 to 10 quarters"
    ));
    report.setting(
        "default fits (Laplace's method and weighted draws, hyperparameters and unknown mean integrated); share of the quarters inside the central interval +- standard error over tables",
    );
    let mut table = Table::new(
        "Coverage of central intervals of quarters",
        &[
            "totals",
            "50 %",
            "80 %",
            "95 %",
            "draws off by",
            "not converged",
            "s per fit",
        ],
    );
    let steps = Steps::new("amounts", KINDS.len() * repeats);
    for kind in KINDS {
        let outcomes = (0..repeats as u64)
            .into_par_iter()
            .map(|repeat| steps.after(one(kind, settings.random(repeat))))
            .collect::<Result<Vec<Outcome>>>()?;
        told(kind, &outcomes, &mut table, &mut report);
    }
    report.tables.push(table);
    Ok(report)
}

fn told(kind: Kind, outcomes: &[Outcome], table: &mut Table, report: &mut Report) {
    let mut cells = vec![kind.name.to_owned()];
    for (level, want) in LEVELS.iter().enumerate() {
        let shares: Vec<f64> = outcomes.iter().map(|o| o.inside[level]).collect();
        let (share, error) = (mean(&shares), standard_error(&shares));
        cells.push(format!("{share:.3} +- {error:.3}"));
        if level + 1 == LEVELS.len() {
            let slack = 2.0 * error;
            let words = format!("{}: coverage of {want}", kind.name);
            report.check(words, share, HELD.0 - slack, HELD.1 + slack);
        }
    }
    let largest = |of: fn(&Outcome) -> f64| outcomes.iter().map(of).fold(0.0, f64::max);
    let off = largest(|o| o.off);
    if kind.error == 0.0 {
        report.check(
            format!("{}: draws meet their totals", kind.name),
            off,
            0.0,
            MET,
        );
    }
    let least = outcomes
        .iter()
        .map(|o| o.least)
        .fold(f64::INFINITY, f64::min);
    let words = format!("{}: the least quarter of all draws", kind.name);
    report.check(words, least, f64::MIN_POSITIVE, f64::INFINITY);
    let failed = outcomes.iter().filter(|o| !o.settled).count();
    let seconds: Vec<f64> = outcomes.iter().map(|o| o.seconds).collect();
    cells.push(if kind.error == 0.0 {
        format!("{off:.0e}")
    } else {
        "-".to_owned()
    });
    cells.push(failed.to_string());
    cells.push(format!("{:.2}", mean(&seconds)));
    table.row(cells);
}

fn one(kind: Kind, mut random: ChaCha8Rng) -> Result<Outcome> {
    let fine = RANGE * QUARTERS * STEPS;
    let step = RANGE as f64 / fine as f64;
    let x: Vec<f64> = (0..fine).map(|i| step * (i as f64 + 0.5)).collect();
    let f = prior(&x)?.multiply(&normals(fine, &mut random));
    let amounts: Vec<f64> = f.iter().map(|f| step * (LEVEL + f).exp()).collect();
    let quarters: Vec<f64> = amounts.chunks(STEPS).map(|q| q.iter().sum()).collect();
    let starts = || std::iter::once(0).chain(kind.edges.iter().copied());
    let rows: Vec<(usize, usize)> = starts().zip(kind.edges.iter().copied()).collect();
    let mut totals: Vec<f64> = rows
        .iter()
        .map(|(from, to)| quarters[*from..*to].iter().sum())
        .collect();
    let sd = kind.error * mean(&totals);
    for total in &mut totals {
        *total += sd * random.sample::<f64, _>(StandardNormal);
    }
    let boxes = |all: &[(usize, usize)]| {
        let edge = |q: usize| q as f64 / QUARTERS as f64;
        let edges: Vec<(f64, f64)> = all.iter().map(|(a, b)| (edge(*a), edge(*b))).collect();
        Functionals::intervals("x", &edges, Aggregate::Sum)
    };
    let noise = Noise::Known(vec![sd * sd; totals.len()]);
    let reported = Gaussian::new(totals.clone(), noise)?.behind(kind.link)?;
    let posterior = Model::new(Kernel::se(["x"]))
        .observe(Observations::new(boxes(&rows)?, reported)?)
        .fit(&FitOptions::default().with_threads(1))?;
    let each: Vec<(usize, usize)> = (0..quarters.len()).map(|q| (q, q + 1)).collect();
    let at = boxes(&each)?;
    let seen = posterior.predict(&at, Scale::Response)?;
    let inside = LEVELS.map(|level| {
        let [lower, upper] = [-1.0, 1.0].map(|side| seen.quantile(0.5 * (1.0 + side * level)));
        let within = (0..quarters.len()).filter(|&q| (lower[q]..=upper[q]).contains(&quarters[q]));
        within.count() as f64 / quarters.len() as f64
    });
    let draws = posterior.sample_responses(&at, DRAWS, 1)?;
    let (mut off, mut least) = (0.0_f64, f64::INFINITY);
    for draw in 0..DRAWS {
        let column = draws.col_as_slice(draw);
        least = column.iter().copied().fold(least, f64::min);
        for ((from, to), total) in rows.iter().zip(&totals) {
            let sum: f64 = column[*from..*to].iter().sum();
            off = off.max((sum / total - 1.0).abs());
        }
    }
    let summary = posterior.summary();
    Ok(Outcome {
        inside,
        off,
        least,
        settled: summary.converged,
        seconds: summary.seconds,
    })
}
