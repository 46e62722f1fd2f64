//! Coverage of the prevalence of districts, some of which were surveyed.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Binomial, Sigmoid};
use quadrat::model::{FitOptions, Model, Observations, Scale};
use quadrat::support::{Aggregate, Functionals};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;
use rayon::prelude::*;

use super::kinds::{normals, prior};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, standard_error};
use crate::steps::Steps;

/// Districts that share out the range, every how many of them was left out, and places in each.
const DISTRICTS: usize = 16;
const LEFT_OUT: usize = 4;
const STEPS: usize = 20;
const RANGE: f64 = 6.0;
/// The log of the odds is a draw of se(x) of variance and lengthscale one about this.
const LEVEL: f64 = -1.2;
/// People that are tested in a district.
const TESTED: (u64, u64) = (10, 120);
/// Levels of the central intervals.
const LEVELS: [f64; 3] = [0.5, 0.8, 0.95];
/// Coverage may be off by this much, plus two standard errors of the simulation.
const SLACK: f64 = 0.04;

/// Shares of the districts inside the interval of every level: of those surveyed and of the others;
/// and whether the fit settled.
struct Outcome {
    surveyed: [f64; 3],
    others: [f64; 3],
    settled: bool,
    seconds: f64,
}

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(4, 200);
    let mut report = Report::new("Coverage of the prevalence of districts");
    report.setting(format!(
        "{repeats} data sets: the log of the odds is a draw of se(x) with variance 1 and lengthscale 1 about {LEVEL} on [0, {RANGE}]; {DISTRICTS} districts of equal width; in three of four {} to {} people are tested, drawn at random among all of the district", TESTED.0, TESTED.1
    ));
    report.setting("the prevalence of a district is the average of the probability over it; default fits (Laplace's method and weighted draws, hyperparameters and unknown mean integrated)");
    report.setting("share of the districts whose prevalence is inside the central interval +- standard error over data sets");
    let steps = Steps::new("prevalence", repeats);
    let outcomes = (0..repeats as u64)
        .into_par_iter()
        .map(|repeat| steps.after(one(settings.random(repeat))))
        .collect::<Result<Vec<Outcome>>>()?;
    let mut table = Table::new(
        "Coverage of central intervals of the prevalence",
        &[
            "districts",
            "50 %",
            "80 %",
            "95 %",
            "not converged",
            "s per fit",
        ],
    );
    let failed = outcomes.iter().filter(|o| !o.settled).count();
    let seconds: Vec<f64> = outcomes.iter().map(|o| o.seconds).collect();
    for (name, of) in [
        (
            "surveyed",
            (|o: &Outcome| o.surveyed) as fn(&Outcome) -> [f64; 3],
        ),
        ("not surveyed", |o| o.others),
    ] {
        let mut cells = vec![name.to_owned()];
        for (level, want) in LEVELS.iter().enumerate() {
            let shares: Vec<f64> = outcomes.iter().map(|o| of(o)[level]).collect();
            let (share, error) = (mean(&shares), standard_error(&shares));
            cells.push(format!("{share:.3} +- {error:.3}"));
            let slack = SLACK + 2.0 * error;
            report.check(
                format!("{name}: coverage of {want}"),
                share,
                want - slack,
                want + slack,
            );
        }
        cells.push(failed.to_string());
        cells.push(format!("{:.2}", mean(&seconds)));
        table.row(cells);
    }
    report.check(
        "not converged".to_owned(),
        failed as f64 / outcomes.len() as f64,
        0.0,
        0.0,
    );
    report.tables.push(table);
    Ok(report)
}

fn one(mut random: ChaCha8Rng) -> Result<Outcome> {
    let fine = DISTRICTS * STEPS;
    let step = RANGE / fine as f64;
    let x: Vec<f64> = (0..fine).map(|i| step * (i as f64 + 0.5)).collect();
    let f = prior(&x)?.multiply(&normals(fine, &mut random));
    let truth: Vec<f64> = f
        .chunks(STEPS)
        .map(|f| {
            let each = f.iter().map(|f| Sigmoid::Logit.value(LEVEL + f));
            each.sum::<f64>() / STEPS as f64
        })
        .collect();
    let is_surveyed = |d: usize| d % LEFT_OUT != LEFT_OUT - 2;
    let edge = |d: usize| RANGE * d as f64 / DISTRICTS as f64;
    let boxes = |all: &[usize]| {
        let edges: Vec<(f64, f64)> = all.iter().map(|&d| (edge(d), edge(d + 1))).collect();
        Functionals::intervals("x", &edges, Aggregate::Mean)
    };
    let (surveyed, others): (Vec<usize>, Vec<usize>) =
        (0..DISTRICTS).partition(|&d| is_surveyed(d));
    let tested: Vec<u64> = surveyed
        .iter()
        .map(|_| random.random_range(TESTED.0..=TESTED.1))
        .collect();
    let draws = surveyed.iter().zip(&tested);
    let infected = draws
        .map(|(&d, &n)| Ok(rand_distr::Binomial::new(n, truth[d])?.sample(&mut random) as f64))
        .collect::<Result<Vec<f64>>>()?;
    let tested = tested.into_iter().map(|n| n as f64).collect();
    let rows = Binomial::new(infected, tested, Sigmoid::Logit)?;
    let posterior = Model::new(Kernel::se(["x"]))
        .observe(Observations::new(boxes(&surveyed)?, rows)?)
        .fit(&FitOptions::default().with_threads(1))?;
    let inside = |of: &[usize]| -> Result<[f64; 3]> {
        let p = posterior.predict(&boxes(of)?, Scale::Response)?;
        Ok(LEVELS.map(|level| {
            let [lower, upper] = [-1.0, 1.0].map(|side| p.quantile(0.5 * (1.0 + side * level)));
            let within = (0..of.len()).filter(|&i| (lower[i]..=upper[i]).contains(&truth[of[i]]));
            within.count() as f64 / of.len() as f64
        }))
    };
    let summary = posterior.summary();
    Ok(Outcome {
        surveyed: inside(&surveyed)?,
        others: inside(&others)?,
        settled: summary.converged,
        seconds: summary.seconds,
    })
}
