//! Section 5.5, Table 4: how many people the next survey will reach.

use anyhow::Result;
use quadrat::baseline::{BinHeight, Centroid, Predict};
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Mean, Model, Noise, Observations, Scale};
use quadrat::support::{Aggregate, Functionals};
use rand::RngExt;
use rayon::prelude::*;

use super::population::{self, Survey, audience, people, surveys};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{bootstrap, coverage, mean_absolute, rms};

/// Simulations in the paper.
const SIMULATIONS: usize = 1998;
/// Surveys of one simulation, the one to predict included.
const SURVEYS: std::ops::RangeInclusive<usize> = 6..=19;
/// Largest share of the centroid's root mean square error that the integral's may be.
const SHARE: f64 = 0.6;
/// Ways to predict: the Gaussian processes under either prior mean, and no process.
const WAYS: usize = 5;
const NAMES: [&str; WAYS] = [
    "integral",
    "centroid",
    "integral, unknown mean",
    "centroid, unknown mean",
    "overlapping bins",
];
/// Inputs of the density.
const DIMS: [&str; 3] = ["age", "income", "date"];

/// What one simulation gave, in the order of the columns.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How many took part in the last survey.
    pub truth: f64,
    /// Predicted.
    pub predicted: [f64; WAYS],
    /// 95 % intervals of the count; without width where there is none.
    pub intervals: [(f64, f64); WAYS],
}

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let simulations = settings.repeats(100, SIMULATIONS);
    let outcomes = simulate(settings, simulations)?;
    let resamples = if settings.quick { 2_000 } else { 100_000 };

    let mut report = Report::new("Audience of the next survey (binned data, section 5.5, Table 4)");
    report.setting("data: simulated, because the paper's income database cannot be had");
    report.setting(population::STATEMENT);
    report.setting(population::SURVEYS);
    report.setting(format!(
        "{simulations} simulations with people of their own, 6 to 19 surveys each, the last predicted from the others; intervals by {resamples} bootstrap samples"
    ));
    report.setting("all processes: the same se(age, income, date), learned noise, default priors, hyperparameters integrated; mean zero as in the paper, or an unknown constant");

    let measured = Measured::new(&outcomes, resamples, settings);
    report.tables.push(measured.errors(&outcomes));
    report.tables.push(measured.ratios());
    let share = measured.share(0);
    report.check(
        "RMSE of the integral / RMSE of the centroid, zero mean",
        share,
        0.0,
        SHARE,
    );
    report.note("overlapping bins: average of the densities of the surveys that overlap the new one, times its volume");
    Ok(report)
}

/// Errors and their bootstrap intervals.
struct Measured {
    errors: Vec<Vec<f64>>,
    rmse: [(f64, f64); WAYS],
    mae: [(f64, f64); WAYS],
    /// RMSE of the integral over that of the centroid, for either mean.
    share: [(f64, f64); 2],
}

impl Measured {
    fn new(outcomes: &[Outcome], resamples: usize, settings: &Settings) -> Self {
        let errors: Vec<Vec<f64>> = (0..WAYS)
            .map(|m| outcomes.iter().map(|o| o.predicted[m] - o.truth).collect())
            .collect();
        let random = &mut settings.random(u64::MAX);
        let all: [_; 2 * WAYS + 2] = bootstrap(outcomes.len(), resamples, random, |rows| {
            let mut out = [0.0; 2 * WAYS + 2];
            for m in 0..WAYS {
                let (mut squares, mut sizes) = (0.0, 0.0);
                for &row in rows {
                    squares += errors[m][row].powi(2);
                    sizes += errors[m][row].abs();
                }
                out[m] = (squares / rows.len() as f64).sqrt();
                out[WAYS + m] = sizes / rows.len() as f64;
            }
            out[2 * WAYS] = out[0] / out[1];
            out[2 * WAYS + 1] = out[2] / out[3];
            out
        });
        Self {
            errors,
            rmse: std::array::from_fn(|m| all[m]),
            mae: std::array::from_fn(|m| all[WAYS + m]),
            share: [all[2 * WAYS], all[2 * WAYS + 1]],
        }
    }

    fn share(&self, pair: usize) -> f64 {
        rms(&self.errors[2 * pair]) / rms(&self.errors[2 * pair + 1])
    }

    fn errors(&self, outcomes: &[Outcome]) -> Table {
        let head: Vec<&str> = std::iter::once("").chain(NAMES).collect();
        let mut table = Table::new(
            "Errors in people [95 % interval]; coverage of the 95 % interval of the count",
            &head,
        );
        let mut row = |name: &str, cells: [String; WAYS]| {
            table.row(std::iter::once(name.to_owned()).chain(cells).collect());
        };
        let shown = |value: f64, (lo, hi): (f64, f64)| format!("{value:.1} [{lo:.1}, {hi:.1}]");
        let truth: Vec<f64> = outcomes.iter().map(|o| o.truth).collect();
        let covered = |m: usize| {
            let (lower, upper): (Vec<f64>, Vec<f64>) =
                outcomes.iter().map(|o| o.intervals[m]).unzip();
            match m {
                4 => "-".to_owned(),
                _ => format!("{:.3}", coverage(&truth, &lower, &upper)),
            }
        };
        let errors = &self.errors;
        row(
            "RMSE, paper",
            ["126.3 +- 10.7", "223.1 +- 14.9", "-", "-", "-"].map(str::to_owned),
        );
        row(
            "RMSE",
            std::array::from_fn(|m| shown(rms(&errors[m]), self.rmse[m])),
        );
        row(
            "MAE, paper",
            ["73.1 +- 4.5", "143.5 +- 7.5", "-", "-", "-"].map(str::to_owned),
        );
        row(
            "MAE",
            std::array::from_fn(|m| shown(mean_absolute(&errors[m]), self.mae[m])),
        );
        row("coverage", std::array::from_fn(covered));
        table
    }

    fn ratios(&self) -> Table {
        let mut table = Table::new(
            "RMSE of the integral over that of the centroid",
            &["", "share", "95 % interval"],
        );
        table.row(vec![
            "paper".into(),
            format!("{:.3}", 126.3 / 223.1),
            "-".into(),
        ]);
        for (pair, name) in ["zero mean", "unknown mean"].into_iter().enumerate() {
            let (lo, hi) = self.share[pair];
            let share = format!("{:.3}", self.share(pair));
            table.row(vec![name.into(), share, format!("[{lo:.3}, {hi:.3}]")]);
        }
        table
    }
}

/// The simulations, each with random numbers of its own.
///
/// # Errors
/// As the fits.
pub fn simulate(settings: &Settings, simulations: usize) -> Result<Vec<Outcome>> {
    (0..simulations as u64)
        .into_par_iter()
        .map(|s| one(settings, s))
        .collect()
}

fn one(settings: &Settings, stream: u64) -> Result<Outcome> {
    let mut random = settings.random(stream);
    let people = people(&mut random)?;
    let mut all = surveys(random.random_range(SURVEYS), &mut random);
    let counts: Vec<f64> = all.iter().map(|s| audience(&people, s)).collect();
    let (Some(next), Some((&truth, known))) = (all.pop(), counts.split_last()) else {
        anyhow::bail!("a simulation without surveys");
    };
    let observed = Observations::gaussian(supports(&all)?, known.to_vec(), Noise::Learned)?;
    let at = supports(&[next])?;
    let mut centre = Functionals::new(DIMS.map(str::to_owned).to_vec());
    centre.push_point(&next.map(|(a, b)| 0.5 * (a + b)))?;

    let options = FitOptions::default();
    let mut out = Outcome {
        truth,
        predicted: [0.0; WAYS],
        intervals: [(0.0, 0.0); WAYS],
    };
    for (pair, mean) in [Mean::Zero, Mean::Constant].into_iter().enumerate() {
        let model = Model::new(Kernel::se(DIMS)).mean(mean);
        // An observation of the centroid is a density at the centre, with the noise of densities.
        let fit = Centroid::fit(&model, &observed, &options)?;
        let density = fit.posterior().predict(&centre, Scale::Observation)?;
        let fit = model.observe(observed.clone()).fit(&options)?;
        let count = fit.predict(&at, Scale::Observation)?;
        for (m, p, scale) in [(2 * pair, count, 1.0), (2 * pair + 1, density, at.size(0))] {
            out.predicted[m] = scale * p.mean()[0];
            out.intervals[m] = (scale * p.quantile(0.025)[0], scale * p.quantile(0.975)[0]);
        }
    }
    out.predicted[4] = BinHeight::new(&observed)?.predict_response(&at)?.mean()[0];
    Ok(out)
}

fn supports(surveys: &[Survey]) -> Result<Functionals> {
    let mut set = Functionals::new(DIMS.map(str::to_owned).to_vec());
    for survey in surveys {
        set.push_box(survey, Aggregate::Sum)?;
    }
    Ok(set)
}
