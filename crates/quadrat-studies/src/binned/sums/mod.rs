//! Sums of counted bins: unions, halves and cells beside long sampling; totals of simulated tables.

mod cells;
mod tables;
mod totals;

use anyhow::Result;
use quadrat::inference::mcmc::{McmcOptions, Sampled, sample_pooled};
use quadrat::model::{FitOptions, Hyperparameters, Scale};
use quadrat::progress::Silent;
use quadrat::support::{Aggregate, Functionals};

use self::cells::Cells;
use self::tables::{TABLES, Table};
use crate::report::{self, Report};
use crate::settings::Settings;
use crate::statistics::mean;

/// What is asked of means, in sds, and of sds, as parts of themselves.
const ASKED: (f64, f64) = (0.05, 0.05);
/// Independent runs whose differences say how well draws know a mean and an sd.
const RUNS: u64 = 4;

/// Runs the study.
///
/// # Errors
/// As the fits and the sampler.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Sums of counted bins");
    let draws = if settings.quick { 300 } else { 2000 };
    report.setting(format!(
        "six made-up tables of counts, Poisson, link exp, known mean and hyperparameters; the fit \
         beside {RUNS} runs of the no-U-turn sampler on cells of its own, 4 chains of {draws} draws"
    ));
    report.setting("means apart in sampled sds, and sds over sampled ones, of sums after the link");
    let mut out = report::Table::new(
        "The fit beside draws, the worst of each kind; in brackets how far single runs of the \
         sampler are from all of them",
        &[
            "table",
            "sums",
            "mean apart",
            "sd ratio, least",
            "sd ratio, largest",
            "R-hat",
        ],
    );
    for table in TABLES.iter().filter(|t| settings.wants(t.name)) {
        one(table, settings, draws, &mut out, &mut report)?;
    }
    report.tables.push(out);
    if settings.wants("totals") {
        totals::run(settings, &mut report)?;
    }
    Ok(report)
}

/// Kinds of sums that are asked for, each with its intervals.
fn sums(table: &Table) -> Vec<(&'static str, Vec<(f64, f64)>)> {
    let bins: Vec<(f64, f64)> = table.bins().collect();
    let (first, last) = (bins[0].0, bins[bins.len() - 1].1);
    let middle = bins.len() / 2;
    let halves = bins.iter().flat_map(|&(a, b)| {
        let half = 0.5 * (a + b);
        [(a, half), (half, b)]
    });
    vec![
        ("rows", bins.clone()),
        (
            "unions",
            vec![
                (first, last),
                (first, bins[middle].0),
                (bins[1].0, last),
                (bins[1].0, bins[middle].1),
            ],
        ),
        ("halves", halves.collect()),
        ("cells", table.cells().collect()),
    ]
}

fn one(
    table: &Table,
    settings: &Settings,
    draws: usize,
    out: &mut report::Table,
    report: &mut Report,
) -> Result<()> {
    let posterior = table
        .model()?
        .fit(&FitOptions::default().with_hyperparameters(Hyperparameters::Map))?;
    let cells = Cells::new(table)?;
    let runs: Vec<Sampled> = (0..RUNS)
        .map(|run| {
            let options = McmcOptions::default()
                .with_draws(draws / 4, draws)
                .with_seed(settings.seed + run);
            let theta: [f64; 0] = [];
            sample_pooled(&cells, cells.pools(), &theta, &options, &Silent)
        })
        .collect::<Result<_, _>>()?;
    let r_hat = runs
        .iter()
        .flat_map(|run| run.latents.iter().map(|z| z.r_hat));
    let r_hat = r_hat.fold(0.0, f64::max);
    for (kind, intervals) in sums(table) {
        let at = Functionals::intervals("x", &intervals, Aggregate::Sum)?;
        let fit = posterior.predict(&at, Scale::Response)?;
        let mut worst = Worst::default();
        let mut noise = Worst::default();
        for (k, &interval) in intervals.iter().enumerate() {
            let each: Vec<(f64, f64)> = runs
                .iter()
                .map(|run| cells.moments(run, interval))
                .collect();
            let all = together(&each);
            worst.add((fit.mean()[k], fit.sd()[k]), all);
            each.iter().for_each(|&one| noise.add(one, all));
        }
        out.row(vec![
            table.name.to_owned(),
            kind.to_owned(),
            format!("{:.3} [{:.3}]", worst.apart, noise.apart),
            format!("{:.3} [{:.3}]", worst.least, noise.least),
            format!("{:.3} [{:.3}]", worst.largest, noise.largest),
            format!("{r_hat:.3}"),
        ]);
        // Single runs have twice the errors of all four.
        report.check(
            format!("{}, {kind}: means apart", table.name),
            worst.apart,
            0.0,
            ASKED.0 + noise.apart,
        );
        report.check(
            format!("{}, {kind}: sd ratio, least", table.name),
            worst.least,
            1.0 - ASKED.1 - (1.0 - noise.least),
            f64::INFINITY,
        );
        report.check(
            format!("{}, {kind}: sd ratio, largest", table.name),
            worst.largest,
            0.0,
            ASKED.1 + noise.largest,
        );
    }
    Ok(())
}

/// The largest differences of any sum.
struct Worst {
    apart: f64,
    least: f64,
    largest: f64,
}

impl Default for Worst {
    fn default() -> Self {
        Self {
            apart: 0.0,
            least: f64::INFINITY,
            largest: 0.0,
        }
    }
}

impl Worst {
    fn add(&mut self, (mean, sd): (f64, f64), (want, want_sd): (f64, f64)) {
        self.apart = self.apart.max((mean - want).abs() / want_sd);
        self.least = self.least.min(sd / want_sd);
        self.largest = self.largest.max(sd / want_sd);
    }
}

/// Mean and sd over runs of equal length.
fn together(each: &[(f64, f64)]) -> (f64, f64) {
    let own: Vec<f64> = each.iter().map(|(m, _)| *m).collect();
    let centre = mean(&own);
    let squares: Vec<f64> = each
        .iter()
        .map(|(m, sd)| sd * sd + (m - centre).powi(2))
        .collect();
    (centre, mean(&squares).sqrt())
}
