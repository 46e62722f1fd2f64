//! Coverage of the latent function for every likelihood, over simulated data sets.

use anyhow::{Context, Result};
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Model, Scale};
use quadrat::support::Functionals;
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;
use rayon::prelude::*;

use super::degenerate;
use super::kinds::{EXPOSURE, KINDS, Kind, normals, prior};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, standard_error};
use crate::steps::Steps;

/// Rows, places that are judged, and the range of both.
const ROWS: usize = 40;
const PLACES: usize = 25;
const RANGE: f64 = 6.0;
/// Levels of the central intervals.
const LEVELS: [f64; 3] = [0.5, 0.8, 0.95];
/// Coverage may be off by this much, plus two standard errors of the simulation.
const SLACK: f64 = 0.04;
/// Of fits with 40 rows so many may find hyperparameters a large factor off: likelihoods that say
/// little leave them open.
const FAR: f64 = 0.05;

/// Share of the places inside the interval of every level, whether the fit settled, and whether its
/// hyperparameters are sensible.
struct Outcome {
    inside: [f64; 3],
    settled: bool,
    at_bound: bool,
    far: bool,
    seconds: f64,
}

/// What is counted of the fits.
type Is = fn(&Outcome) -> bool;

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(6, 200);
    let mut report = Report::new("Coverage of the latent function, for every likelihood");
    report.setting(format!(
        "{repeats} data sets per likelihood: a draw of se(x) with variance 1 and lengthscale 1 on [0, {RANGE}], {ROWS} rows at random places; default fits (expectation propagation, hyperparameters and unknown mean integrated)"
    ));
    report.setting("beside them: values at 30 places of a function drawn to be positive at ten others; ranks with learned thresholds and mean zero; counts over 12 boxes of 10 per unit of rate, the rate summed after the link (by Laplace's method)");
    report.setting("at a bound: a most probable hyperparameter at the end of its range; far off: a lengthscale a factor of ten, or a variance or dispersion a factor of a hundred, from the truth");
    report.setting(format!(
        "share of {PLACES} evenly spaced latent values inside the central interval +- standard error over data sets; counts have exposure {EXPOSURE}"
    ));
    let mut table = Table::new(
        "Coverage of central intervals of the latent function",
        &[
            "likelihood",
            "50 %",
            "80 %",
            "95 %",
            "at a bound",
            "far off",
            "not converged",
            "s per fit",
        ],
    );
    for (k, kind) in KINDS
        .iter()
        .enumerate()
        .filter(|(_, kind)| settings.wants(kind.name))
    {
        let steps = Steps::new(kind.name, repeats);
        let outcomes = (0..repeats as u64)
            .into_par_iter()
            .map(|repeat| steps.after(one(kind, settings.random(1000 * k as u64 + repeat))))
            .collect::<Result<Vec<Outcome>>>()
            .with_context(|| kind.name)?;
        let mut cells = vec![kind.name.to_owned()];
        for (level, want) in LEVELS.iter().enumerate() {
            let shares: Vec<f64> = outcomes.iter().map(|o| o.inside[level]).collect();
            let (share, error) = (mean(&shares), standard_error(&shares));
            cells.push(format!("{share:.3} +- {error:.3}"));
            let slack = SLACK + 2.0 * error;
            report.check(
                format!("{}: coverage of {want}", kind.name),
                share,
                want - slack,
                want + slack,
            );
        }
        let told: [(&str, Is, f64); 3] = [
            ("at a bound", |o| o.at_bound, 0.0),
            ("far off", |o| o.far, FAR),
            ("not converged", |o| !o.settled, 0.0),
        ];
        for (what, is, most) in told {
            let count = outcomes.iter().filter(|o| is(o)).count();
            cells.push(count.to_string());
            let share = count as f64 / outcomes.len() as f64;
            report.check(format!("{}: {what}", kind.name), share, 0.0, most);
        }
        let seconds: Vec<f64> = outcomes.iter().map(|o| o.seconds).collect();
        cells.push(format!("{:.2}", mean(&seconds)));
        table.row(cells);
    }
    report.tables.push(table);
    Ok(report)
}

fn one(kind: &Kind, mut random: ChaCha8Rng) -> Result<Outcome> {
    let uniform = rand_distr::Uniform::new(0.0, RANGE)?;
    let x: Vec<f64> = (0..ROWS).map(|_| uniform.sample(&mut random)).collect();
    let places: Vec<f64> = (0..PLACES)
        .map(|i| RANGE * (i as f64 + 0.5) / PLACES as f64)
        .collect();
    let mut x = kind.places(x, RANGE);
    let rows = x.len();
    x.extend(&places);
    let root = prior(&x)?;
    let f = loop {
        let f = root.multiply(&normals(x.len(), &mut random));
        if kind.admits(&f) {
            break f;
        }
    };
    let tables = kind.tables(&x[..rows], &f[..rows], RANGE, &mut random)?;
    let options = FitOptions::default().with_threads(1);
    let empty = Model::new(Kernel::se(["x"])).mean(kind.mean());
    let model = tables.into_iter().fold(empty, Model::observe);
    let posterior = model.fit(&options)?;
    let p = posterior.predict(&Functionals::points("x", &places)?, Scale::Latent)?;
    let inside = LEVELS.map(|level| {
        let (lower, upper) = (
            p.quantile(0.5 * (1.0 - level)),
            p.quantile(0.5 * (1.0 + level)),
        );
        let within = (0..PLACES).filter(|&i| (lower[i]..=upper[i]).contains(&f[rows + i]));
        within.count() as f64 / PLACES as f64
    });
    let summary = posterior.summary();
    let own = kind.own.iter().copied();
    let truth: Vec<(&str, f64)> = [("se.variance", 1.0), ("se.lengthscale", 1.0)]
        .into_iter()
        .chain(own)
        .collect();
    Ok(Outcome {
        inside,
        at_bound: degenerate::at_bound(&model.parameters()?, summary),
        far: degenerate::is_far(&truth, summary),
        settled: summary.converged,
        seconds: summary.seconds,
    })
}
