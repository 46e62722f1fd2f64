//! Bins of household income from merged ones, and means of counties with an open last group.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use quadrat::ungroup::{Answer, Population, Ungroup};

use super::table::{HEAD, average, row};
use crate::binned::ungroup::scores::{Predicted, Scores};
use crate::data;
use crate::parquet;
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{coverage, mean, rms};

const BINS: &str = "binned/us_county_income_bins.parquet";
const TRUE: &str = "binned/us_county_income_true.csv";
/// Smaller counties are left out.
const SMALLEST: f64 = 5000.0;
/// Every so many of the others: about 100, and with `--quick` ten.
const EVERY: (usize, usize) = (16, 160);
/// One household in eight over five years.
const SAMPLED: f64 = 0.12;

/// A county: edges of its bins, of which the last is open, its households, and true numbers.
struct County {
    lower: Vec<f64>,
    households: Vec<f64>,
    mean: f64,
    median: f64,
    gini: f64,
}

/// Runs this part.
///
/// # Errors
/// When a table is not there or bands cannot be ungrouped.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let counties = read(settings)?;
    report.setting(format!(
        "{BINS}: {} counties, sampled = {SAMPLED}",
        counties.len()
    ));
    let mut table = Table::new("Closed bins of household income from merged ones", &HEAD);
    for by in [2, 3] {
        let scores: Result<Vec<Scores>> =
            counties.iter().map(|c| merged(c, by, settings)).collect();
        let scores = scores?;
        row(
            &mut table,
            &format!("15 bins by {by}"),
            "quadrat ungroup --log",
            &scores,
        );
        if !settings.quick {
            let c95 = average(&scores, |s| s.c95);
            report.check(format!("incomes, bins by {by}: c95"), c95, 0.92, 0.985);
        }
    }
    report.tables.push(table);
    let mut means = Table::new(
        "Whole counties with an open last group: error of the posterior median relative to the truth (Gini: absolute), and how often 95 % intervals hold it",
        &["open at", "number", "mean error", "rms error", "held"],
    );
    for open in [100_000.0, 200_000.0] {
        whole(&counties, open, settings, &mut means)?;
    }
    report.tables.push(means);
    Ok(())
}

fn read(settings: &Settings) -> Result<Vec<County>> {
    let path = data::find(&settings.data, BINS)?;
    let columns = parquet::columns(&path, &["fips", "households", "bin_min"])?;
    let truth = data::find(&settings.data, TRUE)?;
    let names = ["fips", "mean_true", "median_true", "gini_true"];
    let truth = data::transpose(&data::columns(&truth, &names)?);
    let truth: BTreeMap<u64, Vec<f64>> = truth.into_iter().map(|r| (r[0] as u64, r)).collect();
    let mut bins: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for ((fips, n), from) in columns[0].iter().zip(&columns[1]).zip(&columns[2]) {
        bins.entry(*fips as u64).or_default().push((*from, *n));
    }
    let every = if settings.quick { EVERY.1 } else { EVERY.0 };
    let counties = bins.into_iter().filter_map(|(fips, mut own)| {
        own.sort_by(|a, b| a.0.total_cmp(&b.0));
        let households: Vec<f64> = own.iter().map(|b| b.1).collect();
        let truth = truth.get(&fips)?;
        let is_large = households.iter().sum::<f64>() > SMALLEST && own.len() == 16;
        is_large.then(|| County {
            lower: own.iter().map(|b| b.0).collect(),
            households,
            mean: truth[1],
            median: truth[2],
            gini: truth[3],
        })
    });
    Ok(counties
        .step_by(every)
        .take(settings.repeats.unwrap_or(usize::MAX))
        .collect())
}

/// Scores of closed bins from bins merged by so many.
fn merged(county: &County, by: usize, settings: &Settings) -> Result<Scores> {
    let closed = county.lower.len() - 1;
    let cuts: Vec<usize> = (0..closed).step_by(by).chain([closed]).collect();
    let edges = |from: usize, to: usize| (county.lower[from], county.lower[to]);
    let (lower, upper): (Vec<f64>, Vec<f64>) = cuts.windows(2).map(|c| edges(c[0], c[1])).unzip();
    let counts: Vec<f64> = cuts
        .windows(2)
        .map(|c| county.households[c[0]..c[1]].iter().sum())
        .collect();
    let estimate = Ungroup::new(&lower, &upper)
        .log(true)
        .sampled(SAMPLED)
        .seed(settings.seed)
        .edges(&county.lower)
        .estimate(&counts)
        .context("a county")?;
    let (wide, half) = (estimate.intervals(0.95), estimate.intervals(0.5));
    // Bins that were merged, each beside its share of the band by width.
    let own: Vec<usize> = cuts
        .windows(2)
        .filter(|c| c[1] - c[0] > 1)
        .flat_map(|c| c[0]..c[1])
        .collect();
    let pick = |values: &[f64]| own.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let evenly: Vec<f64> = cuts
        .windows(2)
        .zip(&counts)
        .flat_map(|(c, total)| {
            let whole = county.lower[c[1]] - county.lower[c[0]];
            (c[0]..c[1]).map(move |i| total * (county.lower[i + 1] - county.lower[i]) / whole)
        })
        .collect();
    let mean = estimate.mean();
    Ok(scores(
        &pick(&county.households),
        &pick(&evenly),
        &Predicted {
            mean: pick(&mean),
            wide: Some((pick(&wide.0), pick(&wide.1))),
            half: Some((pick(&half.0), pick(&half.1))),
        },
    ))
}

/// As [`Scores::new`] for bins of different widths: `S` is about what each has by its width.
fn scores(truth: &[f64], evenly: &[f64], predicted: &Predicted) -> Scores {
    let away: Vec<f64> = truth.iter().zip(evenly).map(|(t, e)| t - e).collect();
    let s = rms(&away);
    let errors: Vec<f64> = truth
        .iter()
        .zip(&predicted.mean)
        .map(|(t, m)| t - m)
        .collect();
    let none = (Vec::new(), Vec::new());
    let (lower, upper) = predicted.wide.as_ref().unwrap_or(&none);
    let (from, to) = predicted.half.as_ref().unwrap_or(&none);
    let widths: Vec<f64> = upper.iter().zip(lower).map(|(u, l)| u - l).collect();
    let missed = truth.iter().zip(lower.iter().zip(upper));
    let missed: Vec<f64> = missed
        .map(|(t, (l, u))| (l - t).max(t - u).max(0.0))
        .collect();
    let scaled: Vec<f64> = errors
        .iter()
        .zip(&widths)
        .map(|(e, w)| 3.92 * e / w)
        .collect();
    Scores {
        c95: coverage(truth, lower, upper),
        central: f64::NAN,
        ends: f64::NAN,
        c50: coverage(truth, from, to),
        width: mean(&widths) / s,
        rmse: rms(&errors) / s,
        score: (mean(&widths) + 40.0 * mean(&missed)) / s,
        z: rms(&scaled),
    }
}

/// Mean, median and Gini coefficient of whole counties.
fn whole(counties: &[County], open: f64, settings: &Settings, table: &mut Table) -> Result<()> {
    let mut found: Vec<[(f64, Answer); 3]> = Vec::new();
    let first = counties.first().context("no county")?;
    let bins = first.lower.iter().take_while(|edge| **edge <= open).count();
    let lower = &first.lower[..bins];
    let upper: Vec<f64> = lower[1..].iter().copied().chain([f64::INFINITY]).collect();
    let counts: Vec<Vec<f64>> = counties
        .iter()
        .map(|c| {
            let rest = c.households[bins - 1..].iter().sum();
            c.households[..bins - 1]
                .iter()
                .copied()
                .chain([rest])
                .collect()
        })
        .collect();
    let populations: Vec<Population<'_>> = counts
        .iter()
        .zip(0..)
        .map(|(counts, stream)| Population { counts, stream })
        .collect();
    let builder = Ungroup::new(lower, &upper)
        .log(true)
        .sampled(SAMPLED)
        .seed(settings.seed);
    let mut failed = None;
    builder.estimate_each(&populations, |i, one| match one {
        Ok(estimate) => {
            let c = &counties[i];
            if let Some(gini) = estimate.gini() {
                found.push([
                    (c.mean, estimate.mean_value()),
                    (c.median, estimate.quantile(0.5)),
                    (c.gini, gini),
                ]);
            }
        }
        Err(error) => failed = Some(error),
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    for (at, name) in ["mean", "median", "Gini"].into_iter().enumerate() {
        let own: Vec<(f64, Answer)> = found.iter().map(|f| f[at]).collect();
        let unit = |truth: f64| if name == "Gini" { 1.0 } else { truth };
        let errors: Vec<f64> = own.iter().map(|(t, a)| (a.value - t) / unit(*t)).collect();
        let held = own
            .iter()
            .filter(|(t, a)| a.lower <= *t && *t <= a.upper)
            .count();
        table.row(vec![
            format!("{open}"),
            name.to_owned(),
            format!("{:.4}", mean(&errors)),
            format!("{:.4}", rms(&errors)),
            format!("{:.3}", held as f64 / own.len() as f64),
        ]);
    }
    Ok(())
}
