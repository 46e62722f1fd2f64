//! Whether the interval of the correlation of two outputs holds it.

use anyhow::Result;
use quadrat::model::Hyperparameters;
use quadrat::simulate::{Censored, Record};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::models::{FAMILIES, Family, Told, fit, is_wanted};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, rms, standard_error};
use crate::steps::Steps;

/// The largest size of a correlation that is drawn.
const LARGEST: f64 = 0.95;
/// By how much the coverage of 95 % may be off beside two standard errors: as of functions at the
/// most probable hyperparameters.
const SLACK: f64 = 0.08;
/// MOCGP and HMOCGP, by their places among all.
const MODELS: [usize; 2] = [4, 5];

struct Found {
    truth: f64,
    value: f64,
    lower: f64,
    upper: f64,
}

/// Runs the study.
///
/// # Errors
/// As the fits, but for those that did not settle, which are counted.
pub fn run(settings: &Settings) -> Result<Report> {
    let seeds = settings.repeats(2, 100) as u64;
    let mut report = Report::new("Coverage of the correlation of two outputs");
    report.setting(format!(
        "{seeds} draws as in censored-coverage, clipped at a threshold, but for the correlation of the two functions, which is uniform between -{LARGEST} and {LARGEST}"
    ));
    report.setting("mean zero, defaults of the library; the interval of the correlation is from the normal approximation of the hyperparameters around the most probable ones, whether predictions integrate them or not");
    let families = MODELS.map(|model| FAMILIES[model]);
    let families = families.into_iter().filter(|f| is_wanted(settings, *f));
    let jobs: Vec<(Family, u64)> = families
        .flat_map(|family| (0..seeds).map(move |seed| (family, seed)))
        .collect();
    let steps = Steps::new("censored-correlation", jobs.len());
    let outcomes = jobs
        .par_iter()
        .map(|&(family, seed)| steps.after(one(settings, family, seed)))
        .collect::<Result<Vec<Option<Found>>>>()?;
    let mut table = Table::new(
        "95 % intervals of the correlation: share that holds the true one, of all draws and of those below and above half in size; RMSE of the most probable value; half width",
        &[
            "model",
            "all",
            "below .5",
            "above .5",
            "too low",
            "too high",
            "RMSE",
            "half width",
            "not settled",
        ],
    );
    let mut open = 0;
    for (all, (family, _)) in outcomes
        .chunks(seeds as usize)
        .zip(jobs.iter().step_by(seeds as usize))
    {
        let found: Vec<&Found> = all.iter().flatten().collect();
        open += all.len() - found.len();
        let shares = |is: fn(&Found) -> bool| -> Vec<f64> {
            let some = found.iter().filter(|f| is(f));
            some.map(|f| f64::from(u8::from(f.lower <= f.truth && f.truth <= f.upper)))
                .collect()
        };
        let count = |is: fn(&Found) -> bool| found.iter().filter(|f| is(f)).count().to_string();
        let plus = |v: &[f64]| format!("{:.3} +- {:.3}", mean(v), standard_error(v));
        let inside = shares(|_| true);
        let errors: Vec<f64> = found.iter().map(|f| f.value - f.truth).collect();
        let widths: Vec<f64> = found.iter().map(|f| 0.5 * (f.upper - f.lower)).collect();
        table.row(vec![
            family.name.to_owned(),
            plus(&inside),
            plus(&shares(|f| f.truth.abs() < 0.5)),
            plus(&shares(|f| f.truth.abs() >= 0.5)),
            count(|f| f.upper < f.truth),
            count(|f| f.lower > f.truth),
            format!("{:.3}", rms(&errors)),
            format!("{:.3}", mean(&widths)),
            (all.len() - found.len()).to_string(),
        ]);
        // Few draws do not know their own standard error.
        let few = if inside.len() < 10 { 0.5 } else { 0.0 };
        let error = standard_error(&inside);
        let slack = SLACK + few + if error.is_finite() { 2.0 * error } else { 0.0 };
        report.check(
            format!("{}: coverage of 0.95", family.name),
            mean(&inside),
            0.95 - slack,
            1.0,
        );
    }
    let share = open as f64 / outcomes.len() as f64;
    report.check("share of fits not settled", share, 0.0, 0.02);
    report.tables.push(table);
    Ok(report)
}

/// One fit; none when it did not settle.
fn one(settings: &Settings, family: Family, seed: u64) -> Result<Option<Found>> {
    let own = settings.seed + 1000 * seed;
    let plan = Censored {
        record: Record::Clipped,
        // The sign is drawn by the plan.
        correlation: ChaCha8Rng::seed_from_u64(own).random_range(0.0..LARGEST),
        seed: own,
        ..Censored::default()
    };
    let data = plan.draw()?;
    let map = Hyperparameters::Map;
    let Some(fitted) = fit(family, Told::AtLeast, map, &data, settings.seed)? else {
        return Ok(None);
    };
    let told = fitted.correlation()?;
    Ok(Some(Found {
        truth: data.correlation,
        value: told.value,
        lower: told.lower,
        upper: told.upper,
    }))
}
