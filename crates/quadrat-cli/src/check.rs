//! `--check mcmc`: the fit beside draws from the posterior.

use anyhow::{Result, anyhow};
use quadrat::error::{FitError, InputError};
use quadrat::model::{HyperCheck, Model};
use quadrat_study::diagnostic::Paint;
use quadrat_study::engine::{self, McmcReport, RowCheck, sampling};
use quadrat_study::numbers::{count, human};
use quadrat_study::outcome::Outcome;
use quadrat_study::resolve::Resolved;
use quadrat_study::words::clean;

use crate::progress::Bar;
use crate::terminal::short;

/// Refuses what could not be sampled after the fit.
pub fn possible(resolved: &Resolved, model: &Model) -> Result<()> {
    let found = model.check_can_be_sampled();
    found.map_err(|error| explain(resolved, &error.into()))
}

/// Samples so many draws of each chain, and keeps what was found with the outcome.
pub fn by_mcmc(outcome: &mut Outcome, draws: u32, bar: &Bar) -> Result<()> {
    let seed = outcome.resolved.study.inference.seed;
    let report = outcome
        .posterior
        .check_by_mcmc(&sampling(seed, draws), bar)
        .map_err(|error| explain(&outcome.resolved, &error))?;
    outcome.warnings.extend(report.warnings());
    outcome.mcmc = Some(report);
    Ok(())
}

/// The library counts rows from 0; people look for the line.
fn explain(resolved: &Resolved, error: &FitError) -> anyhow::Error {
    match error {
        FitError::Input(InputError::Range {
            what,
            row,
            value,
            requirement,
        }) => anyhow!(
            "--check mcmc: {}: {what} is {value}; it must be {requirement}",
            engine::address(resolved, *row)
        ),
        _ => anyhow!("--check mcmc: {error}"),
    }
}

/// The comparison as a table for people.
pub fn text(resolved: &Resolved, report: &McmcReport, paint: Paint) -> String {
    let draws = (report.chains, report.draws, report.divergences);
    let mut lines = vec![paint.bold(&heading("", draws, report.seconds))];
    lines.extend(hyperparameters(&report.hyperparameters, paint));
    let of_rows = format!("latent values of {}", count(report.rows.len(), "row"));
    lines.extend(agreement(&of_rows, &report.rows, |row| {
        format!(" ({})", clean(&engine::address(resolved, row)))
    }));
    if !report.varying.is_empty() {
        let of_varying = format!(
            "the function behind their noise or dispersion at {}",
            count(report.varying.len(), "row")
        );
        lines.extend(agreement(&of_varying, &report.varying, |_| String::new()));
    }
    lines.push(trust(
        report.worst_r_hat(),
        report.smallest_effective_size(),
    ));
    lines.push(String::new());
    lines.join("\n")
}

/// What was sampled: chains, draws of all and divergences.
pub fn heading(of: &str, (chains, draws, divergences): (usize, usize, usize), s: f64) -> String {
    format!(
        "Check by sampling{of} ({} of {} each, {}, {s:.1} s)",
        count(chains, "chain"),
        count(draws / chains.max(1), "draw"),
        count(divergences, "divergence"),
    )
}

/// How well draws are known.
pub fn trust(r_hat: f64, effective: f64) -> String {
    format!("  R-hat up to {r_hat:.3}, effective draws from {effective:.0}")
}

/// Hyperparameters by the fit and by sampling; no lines where there are none.
pub fn hyperparameters(all: &[HyperCheck], paint: Paint) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![
        [
            "hyperparameter",
            "fit",
            "sd",
            "sampled",
            "sd",
            "R-hat",
            "effective",
        ]
        .map(str::to_owned),
    ];
    for hyper in all {
        // Of a logarithm, the mean is shown as the value it belongs to.
        let shown = |mean: f64| human(if hyper.logarithm { mean.exp() } else { mean });
        let sd = hyper.fit.sd;
        rows.push([
            short(&hyper.name),
            shown(hyper.fit.mean),
            if sd.is_nan() {
                "-".to_owned()
            } else {
                human(sd)
            },
            shown(hyper.sampled.mean),
            human(hyper.sampled.sd),
            format!("{:.3}", hyper.r_hat),
            format!("{:.0}", hyper.effective_size),
        ]);
    }
    let mut lines = table(&rows, paint);
    if all.iter().any(|h| h.logarithm) {
        lines.push(
            "  positive hyperparameters: geometric means, and sds of their logarithms".to_owned(),
        );
    }
    lines
}

/// How far fit and draws are apart over rows, and which of them most.
pub fn agreement(what: &str, rows: &[RowCheck], name: impl Fn(usize) -> String) -> [String; 3] {
    let differences: Vec<f64> = rows.iter().map(|r| r.mean_difference().abs()).collect();
    let ratios: Vec<f64> = rows.iter().map(RowCheck::sd_ratio).collect();
    let worst = |size: &dyn Fn(usize) -> f64| {
        let most = (0..rows.len()).max_by(|&a, &b| size(a).total_cmp(&size(b)));
        most.unwrap_or(0)
    };
    let apart = worst(&|row| differences[row]);
    let stretched = worst(&|row| ratios[row].ln().abs());
    let of = |values: &[f64], row: usize| values.get(row).copied().unwrap_or(f64::NAN);
    [
        format!("  {what}, fit against sampled:"),
        format!(
            "    means apart by {:.2} sd in the median, {:.2} sd at worst{}",
            median(&differences),
            of(&differences, apart),
            name(apart)
        ),
        format!(
            "    sd of the fit over sampled sd {:.2} in the median, {:.2} at worst{}",
            median(&ratios),
            of(&ratios, stretched),
            name(stretched)
        ),
    ]
}

fn table(rows: &[[String; 7]], paint: Paint) -> Vec<String> {
    let widths: Vec<usize> = (0..7)
        .map(|c| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0))
        .collect();
    let line = |(at, row): (usize, &[String; 7])| {
        let mut text = format!("  {:<width$}", row[0], width = widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            text.push_str(&format!("  {cell:>width$}"));
        }
        if at == 0 { paint.bold(&text) } else { text }
    };
    rows.iter().enumerate().map(line).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n => 0.5 * (sorted[n / 2] + sorted[(n - 1) / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert!(median(&[]).is_nan());
    }
}
