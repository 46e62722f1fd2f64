//! The approximation of two chained functions beside draws from the posterior itself.

use anyhow::Result;
use quadrat::inference::mcmc::McmcOptions;
use quadrat::likelihood::Side;
use quadrat::model::{
    FitOptions, Hyperparameters, McmcReport, Model, Posterior, RowCheck, Setting,
};
use quadrat::progress::Silent;
use quadrat::simulate::{Censored, CensoredData, Record};

use super::models::{FAMILIES, Told, model};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::mean;

/// Points of each output.
const POINTS: usize = 30;
/// The model, by its place among all: both outputs, both functions.
const HMOCGP: usize = 5;
/// What an approximation should reach: means apart by so many sds in the median, sds by so much of
/// themselves.
const AIM: (f64, f64) = (0.1, 0.1);
/// What sds of the log variance are held to: the aim is missed by a little, in either direction, as
/// by all that takes the two functions for independent.
const LOG_VARIANCE: f64 = 0.25;
/// Limits of trust in the draws (Vehtari et al. 2021).
const R_HAT: f64 = 1.01;
const EFFECTIVE: f64 = 400.0;

/// Some quantities of the rows.
struct Part<'a> {
    name: &'static str,
    /// By how much of themselves sds may be off.
    limit: f64,
    rows: Vec<&'a RowCheck>,
}

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let plan = Censored {
        points: POINTS,
        record: Record::Clipped,
        seed: settings.seed,
        ..Censored::default()
    };
    let data = plan.draw()?;
    let hidden = data.outputs[0].sides.iter();
    let hidden = hidden.filter(|side| **side == Side::Right).count();
    let mut report = Report::new("Two censored series with noise that changes, fit against draws");
    report.setting(format!(
        "two outputs of {POINTS} points as `quadrat simulate censored --record clipped --points {POINTS}` draws them, {hidden} rows of the first censored; hmocgp: se, one latent process of rank one, the same for the log variances of the noise; mean zero"
    ));
    let draws = settings.repeats(200, 2000);
    let warm_up = if settings.quick { 200 } else { 1000 };
    let options = McmcOptions::default()
        .with_draws(warm_up, draws)
        .with_seed(settings.seed);
    report.setting(format!(
        "no-U-turn sampler: {} chains of {draws} draws after {warm_up} that tune; R-hat and effective sizes are rank-normalised",
        options.chains
    ));
    let model = model(FAMILIES[HMOCGP], Told::AtLeast, &data)?;
    let probable = fit(&model, Hyperparameters::Map)?;

    let mut summaries = Table::new(
        "Fit against draws: means apart in sampled sds, and sds of the fit over sampled ones",
        &[
            "hyperparameters",
            "of",
            "rows",
            "apart, median",
            "at worst",
            "sd ratio, least",
            "median",
            "largest",
        ],
    );
    let mut chains = Table::new(
        "The draws",
        &[
            "hyperparameters",
            "R-hat, worst",
            "effective draws, least",
            "divergences",
            "gradients",
            "seconds",
        ],
    );
    let mut details = Vec::new();
    let held = fit(&held(&model, &probable), Hyperparameters::Map)?;
    let drawn = fit(&as_drawn(&model, &plan, &data)?, Hyperparameters::Map)?;
    let integrated = fit(&model, Hyperparameters::Integrate)?;
    for (name, posterior) in [
        ("most probable", &held),
        ("of the simulation", &drawn),
        ("integrated", &integrated),
    ] {
        let found = posterior.check_by_mcmc(&options, &Silent)?;
        let parts = parts(&found, &data);
        for part in &parts {
            summaries.row(summary(name, part));
        }
        chains.row(vec![
            name.to_owned(),
            format!("{:.4}", found.worst_r_hat()),
            format!("{:.0}", found.smallest_effective_size()),
            found.divergences.to_string(),
            found.gradients.to_string(),
            format!("{:.0}", found.seconds),
        ]);
        check(&mut report, settings, name, &found, &parts);
        if !found.hyperparameters.is_empty() {
            details.push(hyperparameters(&found));
        }
        details.push(first_output(name, &found, &data));
    }
    report.tables.extend([summaries, chains]);
    report.tables.extend(details);
    report.note("`most probable`, `of the simulation`: fit and draws at the same hyperparameters, so that all of the difference is that of the approximation: each function without what is not known of the other, and a normal site in place of a censored row");
    Ok(report)
}

fn fit(model: &Model, hyperparameters: Hyperparameters) -> Result<Posterior> {
    let options = FitOptions::default().with_hyperparameters(hyperparameters);
    Ok(model.fit(&options)?)
}

/// The model with every hyperparameter held where a fit has it; the unknown levels stay integrated.
fn held(model: &Model, posterior: &Posterior) -> Model {
    let hypers = posterior.summary().hyperparameters.iter();
    let learned = hypers.filter(|h| !h.name.contains("mean.constant"));
    learned.fold(model.clone(), |model, hyper| {
        model.set(&hyper.name, Setting::fixed(hyper.value))
    })
}

/// The model with every hyperparameter as in the simulation; the unknown level of the log variance
/// stays integrated.
fn as_drawn(model: &Model, plan: &Censored, data: &CensoredData) -> Result<Model> {
    let logs = [0, 1].map(|d| -> Vec<f64> {
        let noise = data.outputs[d].noise.iter();
        noise.map(|sd| (sd / plan.noise).ln()).collect()
    });
    // The sign of the correlation of the log variances is not told, but seen.
    let centred = |d: usize, i: usize| logs[d][i] - mean(&logs[d]);
    let together: f64 = (0..data.x.len())
        .map(|i| centred(0, i) * centred(1, i))
        .sum();
    let mut held = model.clone();
    for parameter in model.parameters()? {
        let (own, variance, lengthscale, sign) = match parameter.name.strip_prefix("noise.") {
            Some(own) => {
                let (variance, lengthscale) = (plan.noise_variance, plan.noise_lengthscale);
                (own, variance, lengthscale, together.signum())
            }
            None => {
                let own = parameter.name.as_str();
                (
                    own,
                    plan.variance,
                    plan.lengthscale,
                    data.correlation.signum(),
                )
            }
        };
        let shared = (variance * plan.correlation).sqrt();
        let value = match own {
            "coregion.weight.first" => shared,
            "coregion.weight.second" => sign * shared,
            "coregion.kappa.first" | "coregion.kappa.second" => variance * (1.0 - plan.correlation),
            "se.lengthscale.x" => lengthscale,
            _ => anyhow::bail!("the simulation has no `{}`", parameter.name),
        };
        held = held.set(&parameter.name, Setting::fixed(value));
    }
    Ok(held)
}

fn parts<'a>(found: &'a McmcReport, data: &CensoredData) -> [Part<'a>; 3] {
    let censored = |i: usize| data.outputs[0].sides.get(i) == Some(&Side::Right);
    let rows = found.rows.iter().enumerate();
    let (stretch, others): (Vec<_>, Vec<_>) = rows.partition(|(i, _)| censored(*i));
    let strip = |rows: Vec<(usize, &'a RowCheck)>| rows.into_iter().map(|(_, row)| row).collect();
    [
        Part {
            name: "function, rows seen",
            limit: AIM.1,
            rows: strip(others),
        },
        Part {
            name: "function, censored",
            limit: AIM.1,
            rows: strip(stretch),
        },
        Part {
            name: "log variance",
            limit: LOG_VARIANCE,
            rows: found.varying.iter().collect(),
        },
    ]
}

impl Part<'_> {
    fn apart(&self) -> Vec<f64> {
        sorted(self.rows.iter().map(|row| row.mean_difference().abs()))
    }

    fn ratios(&self) -> Vec<f64> {
        sorted(self.rows.iter().map(|row| row.sd_ratio()))
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// NaN of none.
fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n => 0.5 * (sorted[n / 2] + sorted[(n - 1) / 2]),
    }
}

fn summary(name: &str, part: &Part<'_>) -> Vec<String> {
    let (apart, ratios) = (part.apart(), part.ratios());
    let at = |value: Option<&f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
    vec![
        name.to_owned(),
        part.name.to_owned(),
        part.rows.len().to_string(),
        format!("{:.3}", median(&apart)),
        at(apart.last()),
        at(ratios.first()),
        format!("{:.3}", median(&ratios)),
        at(ratios.last()),
    ]
}

fn check(
    report: &mut Report,
    settings: &Settings,
    name: &str,
    found: &McmcReport,
    parts: &[Part<'_>],
) {
    // Some hundred draws do not know their own means to a tenth.
    let few = if settings.quick { 0.15 } else { 0.0 };
    for part in parts {
        let apart = median(&part.apart());
        report.check(
            format!("{name}, {}: means apart in the median", part.name),
            apart,
            0.0,
            AIM.0 + few,
        );
        let ratio = median(&part.ratios());
        report.check(
            format!("{name}, {}: sd ratio in the median", part.name),
            ratio,
            1.0 - part.limit - few,
            1.0 + part.limit + few,
        );
    }
    if !settings.quick {
        report.check(
            format!("{name}: worst R-hat"),
            found.worst_r_hat(),
            0.0,
            R_HAT,
        );
        let least = found.smallest_effective_size();
        let what = format!("{name}: fewest effective draws");
        report.check(what, least, EFFECTIVE, f64::INFINITY);
    }
}

fn hyperparameters(found: &McmcReport) -> Table {
    let mut table = Table::new(
        "Hyperparameters, of positive ones the logarithm: by the fit, integrated, and by sampling",
        &[
            "name",
            "most probable",
            "fit",
            "sd",
            "sampled",
            "sd",
            "R-hat",
            "effective",
        ],
    );
    for hyper in &found.hyperparameters {
        let map = if hyper.logarithm {
            hyper.map.ln()
        } else {
            hyper.map
        };
        let cell = |value: f64| format!("{value:.3}");
        table.row(vec![
            hyper.name.clone(),
            cell(map),
            cell(hyper.fit.mean),
            cell(hyper.fit.sd),
            cell(hyper.sampled.mean),
            cell(hyper.sampled.sd),
            format!("{:.4}", hyper.r_hat),
            format!("{:.0}", hyper.effective_size),
        ]);
    }
    table
}

/// Both functions of the first output, row by row.
fn first_output(name: &str, found: &McmcReport, data: &CensoredData) -> Table {
    let title = format!(
        "The first output, hyperparameters {name}: mean and sd of function and log variance, fit and sampled"
    );
    let mut table = Table::new(
        &title,
        &[
            "x", "censored", "fit", "sd", "sampled", "sd", "fit", "sd", "sampled", "sd",
        ],
    );
    let functions = found.rows.iter().zip(&found.varying);
    let places = data.x.iter().zip(&data.outputs[0].sides);
    for ((x, side), (f, g)) in places.zip(functions) {
        let mut cells = vec![format!("{x:.2}")];
        cells.push(if *side == Side::Right { "yes" } else { "" }.to_owned());
        for row in [f, g] {
            for spread in [row.fit, row.sampled] {
                cells.push(format!("{:.3}", spread.mean));
                cells.push(format!("{:.3}", spread.sd));
            }
        }
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_what_was_found() {
        let data = Censored {
            points: 10,
            ..Censored::default()
        };
        let model = model(FAMILIES[HMOCGP], Told::AtLeast, &data.draw().unwrap()).unwrap();
        let free = model
            .parameters()
            .unwrap()
            .iter()
            .filter(|p| !p.fixed)
            .count();
        assert_eq!(free, 10);
        let posterior = fit(&model, Hyperparameters::Map).unwrap();
        let held = held(&model, &posterior);
        for parameter in held.parameters().unwrap() {
            let hypers = &posterior.summary().hyperparameters;
            let found = hypers.iter().find(|h| h.name == parameter.name).unwrap();
            assert!(parameter.fixed && parameter.start == found.value);
        }
    }

    #[test]
    fn every_hyperparameter_is_known_of_the_simulation() {
        let plan = Censored {
            points: 10,
            ..Censored::default()
        };
        let data = plan.draw().unwrap();
        let model = model(FAMILIES[HMOCGP], Told::AtLeast, &data).unwrap();
        let held = as_drawn(&model, &plan, &data).unwrap();
        let at = |name: &str| {
            let all = held.parameters().unwrap();
            let found = all.into_iter().find(|p| p.name == name).unwrap();
            assert!(found.fixed, "{name}");
            found.start
        };
        for (prefix, variance) in [("", 3.24), ("noise.", 0.49)] {
            // Squares of roots of numbers up to four: a few roundings.
            let weight = |output: &str| at(&format!("{prefix}coregion.weight.{output}"));
            let own = at(&format!("{prefix}coregion.kappa.second"));
            assert!((weight("second").powi(2) + own - variance).abs() < 1e-12);
            let shared = weight("first") * weight("second") / variance;
            assert!((shared.abs() - 0.9).abs() < 1e-12);
        }
        assert_eq!(at("noise.se.lengthscale.x"), 3.0);
    }

    #[test]
    fn medians_are_of_sorted_values() {
        assert_eq!(median(&sorted([3.0, 1.0, 2.0, 4.0].into_iter())), 2.5);
        assert!(median(&[]).is_nan());
    }
}
