//! Default fits of every likelihood, hyperparameters free, beside draws from the posterior itself.

use anyhow::{Context, Result};
use quadrat::inference::mcmc::McmcOptions;
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, McmcReport, Model, Observations};
use quadrat::progress::Silent;
use quadrat::support::Functionals;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::kinds::{Few, few, normals, prior};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::mean;
use crate::steps::Steps;

/// Rows, and the range of their places in lengthscales.
const ROWS: usize = 20;
const RANGE: f64 = 4.0;
/// What is asked: means apart by so many sds, sds off by so much of themselves.
const ASKED: (f64, f64) = (0.1, 0.1);
/// The same of nothing but hard constraints, where expectation propagation is known to be
/// over-confident.
const CONSTRAINED: (f64, f64) = (0.3, 0.4);
/// Limits of trust in the draws.
const R_HAT: f64 = 1.02;
const EFFECTIVE: f64 = 400.0;

/// Runs the study.
///
/// # Errors
/// As the fits and the sampler.
pub fn run(settings: &Settings) -> Result<Report> {
    let draws = settings.repeats(300, 2000);
    let warm_up = if settings.quick { 300 } else { 1000 };
    let options = McmcOptions::default()
        .with_draws(warm_up, draws)
        .with_seed(settings.seed);
    let mut report = Report::new("Every likelihood, fit against draws");
    report.setting(format!(
        "one draw of se(x) with variance 1 and lengthscale 1, {ROWS} rows at random places of [0, {RANGE}]; default fits, hyperparameters and unknown mean integrated, beside the no-U-turn sampler on latent values and hyperparameters together: {} chains of {draws} draws after {warm_up} that tune",
        options.chains
    ));
    report.setting("latent values of the rows: means apart in sampled sds, sd of the fit over the sampled one; hyperparameters: the same of their logarithms, the one that is farthest off");
    let mut table = Table::new(
        "Fit against draws",
        &[
            "likelihood",
            "apart, median",
            "at worst",
            "sd ratio, least",
            "median",
            "largest",
            "hyperparameters apart",
            "sd ratio",
            "R-hat, worst",
            "effective draws, least",
            "divergences",
        ],
    );
    let kinds: Vec<Few> = few()
        .into_iter()
        .filter(|f| settings.wants(f.name))
        .collect();
    let steps = Steps::new("likelihoods", kinds.len());
    let found = kinds
        .par_iter()
        .enumerate()
        .map(|(k, kind)| {
            let found = one(kind, settings.random(50 + k as u64), &options);
            steps.after(found.with_context(|| kind.name))
        })
        .collect::<Result<Vec<McmcReport>>>()?;
    for (kind, found) in kinds.iter().zip(&found) {
        table.row(row(kind.name, found));
        let (apart, ratios) = of_rows(found);
        let (far, wide) = match kind.name.starts_with("positive") {
            true => CONSTRAINED,
            false => ASKED,
        };
        let (worst_r_hat, least) = (found.worst_r_hat(), found.smallest_effective_size());
        report.check(
            format!("{}: means apart, median", kind.name),
            middle(&apart),
            0.0,
            far,
        );
        let middle = middle(&ratios);
        report.check(
            format!("{}: sd ratio, median", kind.name),
            middle,
            1.0 - wide,
            1.0 + wide,
        );
        report.check(
            format!("{}: worst R-hat", kind.name),
            worst_r_hat,
            0.99,
            R_HAT,
        );
        if !settings.quick {
            report.check(
                format!("{}: effective draws", kind.name),
                least,
                EFFECTIVE,
                f64::INFINITY,
            );
        }
    }
    report.tables.push(table);
    let seconds: Vec<f64> = found.iter().map(|found| found.seconds).collect();
    report.note(format!(
        "{:.0} s of sampling for a likelihood on average, one thread for each",
        mean(&seconds)
    ));
    Ok(report)
}

/// Sizes of the distances of means and the ratios of sds, each sorted.
fn of_rows(found: &McmcReport) -> (Vec<f64>, Vec<f64>) {
    let mut apart: Vec<f64> = found
        .rows
        .iter()
        .map(|r| r.mean_difference().abs())
        .collect();
    let mut ratios: Vec<f64> = found.rows.iter().map(|r| r.sd_ratio()).collect();
    apart.sort_unstable_by(f64::total_cmp);
    ratios.sort_unstable_by(f64::total_cmp);
    (apart, ratios)
}

/// The lower of two in the middle.
fn middle(sorted: &[f64]) -> f64 {
    sorted[(sorted.len() - 1) / 2]
}

fn row(name: &str, found: &McmcReport) -> Vec<String> {
    let (apart, ratios) = of_rows(found);
    let last = apart.len() - 1;
    let hypers = found.hyperparameters.iter();
    let off = hypers
        .clone()
        .map(|h| (h.fit.mean - h.sampled.mean) / h.sampled.sd);
    let wide = hypers.map(|h| h.fit.sd / h.sampled.sd);
    let farther = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
    let stretched = |a: f64, b: f64| if b.ln().abs() > a.ln().abs() { b } else { a };
    let mut cells = vec![name.to_owned()];
    cells.extend([middle(&apart), apart[last]].map(|x| format!("{x:.3}")));
    cells.extend([ratios[0], middle(&ratios), ratios[last]].map(|x| format!("{x:.3}")));
    cells.push(format!("{:+.2}", off.fold(0.0, farther)));
    cells.push(format!("{:.2}", wide.fold(1.0, stretched)));
    cells.push(format!("{:.4}", found.worst_r_hat()));
    cells.push(format!("{:.0}", found.smallest_effective_size()));
    cells.push(found.divergences.to_string());
    cells
}

fn one(kind: &Few, mut random: ChaCha8Rng, options: &McmcOptions) -> Result<McmcReport> {
    let x: Vec<f64> = (0..ROWS).map(|_| RANGE * random.random::<f64>()).collect();
    let mut f = prior(&x)?.multiply(&normals(ROWS, &mut random));
    f.iter_mut().for_each(|f| *f += kind.level);
    let rows = (kind.rows)(&f, &mut random)?;
    let table = Observations::new(Functionals::points("x", &x)?, rows)?;
    let posterior = Model::new(Kernel::se(["x"]))
        .observe(table)
        .fit(&FitOptions::default().with_threads(1))?;
    Ok(posterior.check_by_mcmc(options, &Silent)?)
}
