//! Whether intervals of pixels hold what they say where only counts of districts are known, and
//! what integrating over the hyperparameters changes.

use std::time::Instant;

use anyhow::Result;
use quadrat::model::{FitOptions, Hyperparameters, Inducing, Inference};
use quadrat::simulate::Country;

use super::country::{judge, model};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, standard_error};
use crate::steps::Steps;

/// Districts, pixels, covariates, expected count of a district, inducing points.
const COUNTRIES: [(usize, usize, usize, f64, usize); 3] = [
    (150, 15_000, 5, 60.0, 100),
    (150, 15_000, 5, 60.0, 200),
    (300, 30_000, 10, 60.0, 200),
];

/// What one fit scores.
struct Score {
    coverage: f64,
    half_width: f64,
    rmse: f64,
    fit: f64,
    predict: f64,
    settings: usize,
}

/// Runs the study.
///
/// # Errors
/// When a fit fails.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Pixels of simulated countries: intervals of 95 %");
    let repeats = settings.repeats(1, 10);
    report.setting(format!(
        "kernel and data as in `bags-country`, smaller; sparse inference; {repeats} countries each"
    ));
    let mut table = Table::new(
        "log rates of all pixels, means over the countries +- one standard error; seconds of the wall clock",
        &[
            "districts",
            "pixels",
            "covariates",
            "inducing",
            "hyperparameters",
            "settings",
            "coverage",
            "half width",
            "RMSE",
            "fit",
            "predict",
        ],
    );
    let ways = [
        ("most probable", Hyperparameters::Map),
        ("integrated", Hyperparameters::Integrate),
    ];
    for plan in COUNTRIES {
        let (districts, pixels, covariates, _, inducing) = plan;
        for (word, how) in ways {
            let name = format!("{districts} districts, {inducing} inducing, {word}");
            if !settings.wants(&name) {
                continue;
            }
            let steps = Steps::new(&name, repeats);
            let scores = (0..repeats as u64)
                .map(|repeat| steps.after(one(settings.seed + repeat, plan, how)))
                .collect::<Result<Vec<Score>>>()?;
            let of = |f: &dyn Fn(&Score) -> f64| scores.iter().map(f).collect::<Vec<f64>>();
            let coverages = of(&|s| s.coverage);
            table.row(vec![
                districts.to_string(),
                pixels.to_string(),
                covariates.to_string(),
                inducing.to_string(),
                word.to_owned(),
                format!("{:.0}", mean(&of(&|s| s.settings as f64))),
                format!(
                    "{:.3} +- {:.3}",
                    mean(&coverages),
                    standard_error(&coverages)
                ),
                format!("{:.3}", mean(&of(&|s| s.half_width))),
                format!("{:.3}", mean(&of(&|s| s.rmse))),
                format!("{:.1}", mean(&of(&|s| s.fit))),
                format!("{:.1}", mean(&of(&|s| s.predict))),
            ]);
        }
    }
    report.tables.push(table);
    Ok(report)
}

fn one(
    seed: u64,
    (districts, pixels, covariates, mean_count, inducing): (usize, usize, usize, f64, usize),
    how: Hyperparameters,
) -> Result<Score> {
    let country = Country {
        districts,
        pixels,
        sizes: (10, 1_000),
        covariates,
        mean_count,
        seed,
    };
    let data = country.draw()?;
    let options = FitOptions::default()
        .with_inference(Inference::Sparse)
        .with_inducing(Inducing::Number(inducing))
        .with_hyperparameters(how)
        .with_seed(seed);
    let start = Instant::now();
    let posterior = model(&data)?.fit(&options)?;
    let fit = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let found = judge(&posterior, &data)?;
    Ok(Score {
        coverage: found.coverage,
        half_width: found.half_width,
        rmse: found.rmse,
        fit,
        predict: start.elapsed().as_secs_f64(),
        settings: posterior.summary().nodes,
    })
}
