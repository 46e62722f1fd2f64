//! A country of a million pixels, of which only the counts of districts are known.

use std::time::Instant;

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inducing, Model, Observations, Posterior, Scale,
};
use quadrat::simulate::{Country, CountryData};
use quadrat::support::Functionals;

use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{coverage, mean, rms};

/// Pixels predicted at a time.
const AT_ONCE: usize = 65_536;
const LEVEL: f64 = 0.95;

/// A country, and what its counts came to.
pub struct Fitted {
    /// The country.
    pub data: CountryData,
    /// What its counts say.
    pub posterior: Posterior,
    /// Phases, errors and checks.
    pub report: Report,
}

/// Runs the study.
///
/// # Errors
/// When the fit fails.
pub fn run(settings: &Settings) -> Result<Report> {
    Ok(fit(settings)?.report)
}

/// Simulates a country, fits its counts and judges the rates of all pixels.
///
/// # Errors
/// When the fit fails.
pub fn fit(settings: &Settings) -> Result<Fitted> {
    let mut report = Report::new("Counts of districts, rates of a million pixels");
    let (plan, inducing) = match settings.quick {
        true => (
            Country {
                districts: 60,
                pixels: 12_000,
                sizes: (13, 1_000),
                covariates: 5,
                seed: settings.seed,
                ..Country::default()
            },
            60,
        ),
        false => (
            Country {
                seed: settings.seed,
                ..Country::default()
            },
            576,
        ),
    };
    report.setting(format!(
        "{} districts of {} to {} pixels, {} in all, {} covariates and two coordinates, {} counts per district on average (simulated, `Country`)",
        plan.districts, plan.sizes.0, plan.sizes.1, plan.pixels, plan.covariates, plan.mean_count
    ));
    report.setting(format!(
        "se over the covariates, one lengthscale each, plus matern32 over the coordinates; Poisson counts, exp link, {inducing} inducing points"
    ));
    let mut clock = Clock::default();
    let data = clock.time("simulate", || Ok(plan.draw()?))?;
    let model = clock.time("read", || model(&data))?;
    let options = FitOptions::default()
        .with_inducing(Inducing::Number(inducing))
        .with_hyperparameters(Hyperparameters::Map)
        .with_seed(settings.seed);
    let posterior = clock.time("fit", || Ok(model.fit(&options)?))?;
    let found = clock.time("predict every pixel", || judge(&posterior, &data))?;
    let summary = posterior.summary();

    let mut times = Table::new("Time on the wall clock", &["phase", "seconds"]);
    for (phase, seconds) in &clock.phases {
        times.row(vec![(*phase).to_owned(), format!("{seconds:.1}")]);
    }
    report.tables.push(times);
    let mut errors = Table::new(
        "Log rates of the pixels: error, and that of the rate of their district for all of its pixels",
        &["", "RMSE", "correlation", "coverage of 95 %", "half width"],
    );
    errors.row(vec![
        "fit".into(),
        format!("{:.3}", found.rmse),
        format!("{:.3}", found.correlation),
        format!("{:.3}", found.coverage),
        format!("{:.3}", found.half_width),
    ]);
    errors.row(vec![
        "rate of the district".into(),
        format!("{:.3}", found.constant),
        format!("{:.3}", found.constant_correlation),
        "-".into(),
        "-".into(),
    ]);
    report.tables.push(errors);
    let fit = clock.phases[2].1;
    report.check(
        "converged",
        f64::from(u8::from(summary.converged)),
        1.0,
        1.0,
    );
    report.check(
        "RMSE over that of the rate of the district",
        found.rmse / found.constant,
        0.0,
        1.0,
    );
    // Of few counts the most probable hyperparameters tell too much.
    let least = if settings.quick { 0.5 } else { 0.85 };
    report.check("coverage of 95 %", found.coverage, least, 1.0);
    report.check("minutes of the fit", fit / 60.0, 0.0, 15.0);
    report.note(format!(
        "{} iterations, {} evaluations, bound {:.1} nats, log posterior {:.2}",
        summary.iterations, summary.evaluations, summary.log_evidence, summary.log_posterior
    ));
    if let Some(gigabytes) = peak_memory() {
        report.check("peak memory in GB", gigabytes, 0.0, 2.0);
    }
    Ok(Fitted {
        data,
        posterior,
        report,
    })
}

/// Seconds of every phase.
#[derive(Default)]
struct Clock {
    phases: Vec<(&'static str, f64)>,
}

impl Clock {
    fn time<T>(&mut self, phase: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let out = work()?;
        self.phases.push((phase, start.elapsed().as_secs_f64()));
        Ok(out)
    }
}

fn names(data: &CountryData) -> Vec<String> {
    let covariates = (0..data.covariates.len()).map(|k| format!("c{}", k + 1));
    covariates.chain(["x".into(), "y".into()]).collect()
}

/// Inputs of a pixel.
fn place(data: &CountryData, pixel: usize) -> Vec<f64> {
    let covariates = data.covariates.iter().map(|column| column[pixel]);
    covariates.chain([data.x[pixel], data.y[pixel]]).collect()
}

pub(super) fn model(data: &CountryData) -> Result<Model> {
    let names = names(data);
    let mut bags = Functionals::new(names.clone());
    for of in data.first.windows(2) {
        let points: Vec<Vec<f64>> = (of[0]..of[1]).map(|i| place(data, i)).collect();
        bags.push_nodes(&points, &data.people[of[0]..of[1]])?;
    }
    let covariates = names[..data.covariates.len()].join(", ");
    let kernel: Kernel = format!("se({covariates}) + matern32(x, y, shared = true)").parse()?;
    let exposure = vec![1.0; data.counts.len()];
    let counts = Poisson::new(data.counts.clone(), exposure, Link::Exp)?;
    Ok(Model::new(kernel).observe(Observations::new(bags, counts)?))
}

/// What the fit knows of the log rates of the pixels.
pub(super) struct Found {
    pub(super) rmse: f64,
    correlation: f64,
    /// Share inside intervals of 95 %.
    pub(super) coverage: f64,
    pub(super) half_width: f64,
    /// Root mean square error of the rate of the district.
    constant: f64,
    constant_correlation: f64,
}

pub(super) fn judge(posterior: &Posterior, data: &CountryData) -> Result<Found> {
    let pixels = data.log_rate.len();
    let (mut means, mut lower, mut upper) = (Vec::new(), Vec::new(), Vec::new());
    for from in (0..pixels).step_by(AT_ONCE) {
        let mut at = Functionals::new(names(data));
        for pixel in from..(from + AT_ONCE).min(pixels) {
            at.push_point(&place(data, pixel))?;
        }
        let p = posterior.predict(&at, Scale::Latent)?;
        means.extend_from_slice(p.mean());
        lower.extend(p.quantile(0.5 * (1.0 - LEVEL)));
        upper.extend(p.quantile(0.5 * (1.0 + LEVEL)));
    }
    let mut constant = Vec::with_capacity(pixels);
    for (of, count) in data.first.windows(2).zip(&data.counts) {
        let people: f64 = data.people[of[0]..of[1]].iter().sum();
        // Half a case where there was none.
        let rate = (count.max(0.5) / people).ln();
        constant.extend(std::iter::repeat_n(rate, of[1] - of[0]));
    }
    let errors = |guess: &[f64]| -> Vec<f64> {
        guess
            .iter()
            .zip(&data.log_rate)
            .map(|(g, f)| g - f)
            .collect()
    };
    let widths: Vec<f64> = lower
        .iter()
        .zip(&upper)
        .map(|(l, u)| 0.5 * (u - l))
        .collect();
    Ok(Found {
        rmse: rms(&errors(&means)),
        correlation: correlation(&means, &data.log_rate),
        coverage: coverage(&data.log_rate, &lower, &upper),
        half_width: mean(&widths),
        constant: rms(&errors(&constant)),
        constant_correlation: correlation(&constant, &data.log_rate),
    })
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (ma, mb) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        ab += (a - ma) * (b - mb);
        aa += (a - ma) * (a - ma);
        bb += (b - mb) * (b - mb);
    }
    ab / (aa * bb).sqrt()
}

/// The most memory that this process has held, where the system tells it.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1e6)
}
