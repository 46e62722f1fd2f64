//! What each kind of rows is worth, in one to three dimensions.

use anyhow::Result;
use quadrat::error::FitError;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Gaussian, Interval, Ordinal, Thresholds};
use quadrat::model::{FitOptions, Hyper, Mean, Model, Noise, Observations, Scale};
use quadrat::simulate::{Mixed, MixedData, Row};
use quadrat::support::Functionals;
use rayon::prelude::*;

use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::sites::degenerate;
use crate::statistics::{mean, rms, standard_error};

/// Levels of the central intervals.
const LEVELS: [f64; 3] = [0.5, 0.8, 0.95];
/// Coverage may be off by this much, plus two standard errors of the simulation: as in
/// `sites-calibration`.
const SLACK: f64 = 0.04;
/// Names of the inputs.
const INPUTS: [&str; 3] = ["x", "y", "z"];
/// Rows of every kind, and places of the grid along an input, by the number of inputs.
const SIZES: [(usize, usize); 3] = [(15, 41), (20, 13), (25, 7)];

/// Which rows are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Points,
    Intervals,
    Ranks,
    All,
    /// All of them, where the ranks part being learned.
    AllLearned,
}

const USES: [Use; 5] = [
    Use::Points,
    Use::Intervals,
    Use::Ranks,
    Use::All,
    Use::AllLearned,
];

impl Use {
    fn name(self) -> &'static str {
        match self {
            Self::Points => "values",
            Self::Intervals => "intervals",
            Self::Ranks => "ranks",
            Self::All => "all",
            Self::AllLearned => "all, thresholds learned",
        }
    }
}

/// What a fit that settled found.
struct Found {
    rmse: f64,
    inside: [f64; 3],
    evidence: f64,
    at_bound: bool,
    far: bool,
    seconds: f64,
    /// True values of the thresholds' own parameters, and what was learned of them.
    thresholds: Vec<Learned>,
    curve: Vec<[f64; 4]>,
}

/// A parameter of the thresholds: standardised error, and whether its interval holds it.
struct Learned {
    z: f64,
    inside: bool,
}

/// Adds tables and checks.
pub fn add(settings: &Settings, report: &mut Report) -> Result<()> {
    let repeats = settings.repeats(4, 20) as u64;
    report.setting(format!(
        "{repeats} draws per number of inputs; {} rows of every kind in one, two and three of them, lengthscales 0.2, 0.4 and 0.8; se with one lengthscale, mean zero, one noise variance for all kinds, default fits (hyperparameters integrated); judged at every place of the grid",
        SIZES.map(|s| s.0.to_string()).join(", ")
    ));
    let mut table = Table::new(
        "Error and coverage of the function, evidence in nats, +- standard error over draws; fits at a bound of a hyperparameter, with lengthscale or noise a factor of ten off the truth, and not settled",
        &[
            "inputs",
            "rows used",
            "RMSE",
            "50 %",
            "80 %",
            "95 %",
            "log evidence",
            "at a bound",
            "far off",
            "not settled",
            "s per fit",
        ],
    );
    let mut learned = Vec::new();
    // Shares inside the 50 and 80 % intervals by draw, averaged over uses; fits that went wrong.
    let mut middle: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    let (mut fits, mut unsettled, mut bounded) = (0, 0, 0);
    for dims in 1..=3 {
        let mut points = Vec::new();
        let mut shares_by_draw = vec![Vec::new(); repeats as usize];
        for which in USES {
            let outcomes = (0..repeats)
                .into_par_iter()
                .map(|repeat| one(settings, dims, repeat, which))
                .collect::<Result<Vec<Option<Found>>>>()?;
            if dims == 1 && which == Use::All {
                report.tables.extend(outcomes.first().and_then(curve));
            }
            let open = outcomes.iter().filter(|o| o.is_none()).count();
            let found: Vec<&Found> = outcomes.iter().flatten().collect();
            let name = format!("{}, {}", inputs(dims), which.name());
            fits += outcomes.len();
            unsettled += open;
            for (shares, outcome) in shares_by_draw.iter_mut().zip(&outcomes) {
                shares.extend(outcome.iter().map(|o| o.inside));
            }
            if found.is_empty() {
                continue;
            }
            let of = |f: fn(&Found) -> f64| -> Vec<f64> { found.iter().map(|o| f(o)).collect() };
            let errors = of(|o| o.rmse);
            let mut cells = vec![dims.to_string(), which.name().to_owned(), plus(&errors)];
            for level in 0..LEVELS.len() {
                let shares: Vec<f64> = found.iter().map(|o| o.inside[level]).collect();
                cells.push(plus(&shares));
                if level == 2 {
                    covered(report, &name, LEVELS[level], &shares);
                }
            }
            let evidence = of(|o| o.evidence);
            let (bound, far) = (
                found.iter().filter(|o| o.at_bound).count(),
                found.iter().filter(|o| o.far).count(),
            );
            cells.push(format!(
                "{:.1} +- {:.1}",
                mean(&evidence),
                standard_error(&evidence)
            ));
            cells.extend([bound, far, open].map(|n| n.to_string()));
            cells.push(format!("{:.2}", mean(&of(|o| o.seconds))));
            table.row(cells);
            bounded += bound;
            match which {
                Use::Points => points = errors,
                // Twice as many rows that know less can only help, but for chance.
                Use::All if found.len() == points.len() => {
                    let ratio: Vec<f64> = errors.iter().zip(&points).map(|(a, p)| a / p).collect();
                    let name = format!("{}: RMSE of all over that of values alone", inputs(dims));
                    report.check(name, mean(&ratio), 0.0, 1.0);
                }
                _ => {}
            }
            learned.extend(outcomes.into_iter().flatten().flat_map(|o| o.thresholds));
        }
        for shares in shares_by_draw.iter().filter(|shares| !shares.is_empty()) {
            for (level, middle) in middle.iter_mut().enumerate() {
                let own: Vec<f64> = shares.iter().map(|inside| inside[level]).collect();
                middle.push(mean(&own));
            }
        }
    }
    for (shares, level) in middle.iter().zip(LEVELS) {
        covered(report, "all inputs and rows", level, shares);
    }
    let share = |n: usize| n as f64 / fits as f64;
    report.check("fits not settled", share(unsettled), 0.0, 0.02);
    report.check("fits at a bound", share(bounded), 0.0, 0.02);
    report.tables.push(table);
    thresholds(report, &learned);
    Ok(())
}

/// How well thresholds are found beside values and intervals.
fn thresholds(report: &mut Report, learned: &[Learned]) {
    let z: Vec<f64> = learned.iter().map(|l| l.z).collect();
    let inside = learned.iter().filter(|l| l.inside).count() as f64 / learned.len() as f64;
    report.setting(format!(
        "learned thresholds: {} first thresholds and gaps (in logarithms) beside values and intervals; z = (most probable value - truth) / (width of the 95 % interval / 3.92)",
        learned.len()
    ));
    // Of some 240 standardised errors that go by fours, the root mean square is known to a tenth.
    report.check(
        "learned thresholds: root mean square of z",
        rms(&z),
        0.7,
        1.3,
    );
    report.check("learned thresholds: mean of z", mean(&z), -0.3, 0.3);
    report.check(
        "learned thresholds: share inside their 95 % interval",
        inside,
        0.88,
        1.0,
    );
}

/// A check of a coverage.
fn covered(report: &mut Report, name: &str, level: f64, shares: &[f64]) {
    // Few draws do not know their own standard error.
    let few = if shares.len() < 10 { 0.06 } else { 0.0 };
    let slack = SLACK + 2.0 * standard_error(shares) + few;
    report.check(
        format!("{name}: coverage of {level}"),
        mean(shares),
        level - slack,
        level + slack,
    );
}

/// "1 input", "2 inputs".
fn inputs(dims: usize) -> String {
    format!("{dims} input{}", if dims == 1 { "" } else { "s" })
}

fn plus(values: &[f64]) -> String {
    format!("{:.3} +- {:.3}", mean(values), standard_error(values))
}

/// The first one-dimensional draw at every fifth place.
fn curve(found: &Option<Found>) -> Option<Table> {
    let mut table = Table::new(
        "The first draw of one input from all rows: truth, posterior mean and 95 % interval",
        &["x", "truth", "mean", "lower", "upper"],
    );
    for (i, row) in found.as_ref()?.curve.iter().enumerate().step_by(4) {
        let mut cells = vec![format!("{:.2}", i as f64 * 0.05)];
        cells.extend(row.map(|v| format!("{v:.3}")));
        table.row(cells);
    }
    Some(table)
}

/// One fit; none when it did not settle.
fn one(settings: &Settings, dims: usize, repeat: u64, which: Use) -> Result<Option<Found>> {
    let (rows, grid) = SIZES[dims - 1];
    let plan = Mixed {
        grid,
        points: rows,
        intervals: rows,
        ordinals: rows,
        seed: settings.seed + 1000 * repeat + 1_000_000 * dims as u64,
        ..Mixed::new(dims)
    };
    let data = plan.draw()?;
    let model = model(&data, dims, which)?;
    let parameters = model.parameters()?;
    let options = FitOptions::default()
        .with_seed(settings.seed)
        .with_threads(1);
    let posterior = match model.fit(&options) {
        Ok(posterior) => posterior,
        Err(FitError::NotConverged { .. } | FitError::NoStart { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let summary = posterior.summary();
    if !summary.converged {
        return Ok(None);
    }
    let at = places(dims, data.places.iter())?;
    let p = posterior.predict(&at, Scale::Latent)?;
    let errors: Vec<f64> = p
        .mean()
        .iter()
        .zip(&data.truth)
        .map(|(m, f)| m - f)
        .collect();
    let ends = |level: f64| {
        (
            p.quantile(0.5 * (1.0 - level)),
            p.quantile(0.5 * (1.0 + level)),
        )
    };
    let inside = LEVELS.map(|level| {
        let (lower, upper) = ends(level);
        let within = (0..p.len()).filter(|&i| (lower[i]..=upper[i]).contains(&data.truth[i]));
        within.count() as f64 / p.len() as f64
    });
    let (lower, upper) = ends(0.95);
    let truth = [
        ("se.lengthscale", plan.lengthscale),
        ("noise.variance", plan.noise * plan.noise),
    ];
    let (at_bound, far) = (
        degenerate::at_bound(&parameters, summary),
        degenerate::is_far(&truth, summary),
    );
    Ok(Some(Found {
        rmse: rms(&errors),
        inside,
        evidence: summary.log_evidence,
        at_bound,
        far,
        seconds: summary.seconds,
        thresholds: learned(&summary.hyperparameters, &data.thresholds),
        curve: (0..p.len())
            .map(|i| [data.truth[i], p.mean()[i], lower[i], upper[i]])
            .collect(),
    }))
}

fn model(data: &MixedData, dims: usize, which: Use) -> Result<Model> {
    let shared = if dims > 1 { ", shared = true" } else { "" };
    let kernel = format!("se({}{shared})", INPUTS[..dims].join(", "));
    let mut model = Model::new(Kernel::parse(&kernel)?).mean(Mean::Zero);
    let uses = |kind: Use| [kind, Use::All, Use::AllLearned].contains(&which);
    let share = |table: Observations, first: bool| if first { table } else { table.share_noise() };
    if uses(Use::Points) {
        let values = data.points.iter().map(|row| row.report).collect();
        let rows = Gaussian::new(values, Noise::Learned)?;
        model = model.observe(Observations::new(at(dims, &data.points)?, rows)?);
    }
    if uses(Use::Intervals) {
        let (lower, upper) = data.intervals.iter().map(|row| row.report).unzip();
        let rows = Interval::new(lower, upper, Noise::Learned)?;
        let table = Observations::new(at(dims, &data.intervals)?, rows)?;
        model = model.observe(share(table, which == Use::Intervals));
    }
    if uses(Use::Ranks) {
        let thresholds = match which {
            Use::AllLearned => Thresholds::Learned(data.thresholds.len() + 1),
            _ => Thresholds::Known(data.thresholds.clone()),
        };
        let ranks = data.ordinals.iter().map(|row| row.report).collect();
        let rows = Ordinal::new(ranks, thresholds, Noise::Learned)?;
        let table = Observations::new(at(dims, &data.ordinals)?, rows)?;
        model = model.observe(share(table, which == Use::Ranks));
    }
    Ok(model)
}

fn at<T>(dims: usize, rows: &[Row<T>]) -> Result<Functionals> {
    places(dims, rows.iter().map(|row| &row.place))
}

fn places<'a>(dims: usize, all: impl Iterator<Item = &'a Vec<f64>>) -> Result<Functionals> {
    let mut places = Functionals::new(INPUTS[..dims].iter().map(|&s| s.to_owned()).collect());
    for place in all {
        places.push_point(place)?;
    }
    Ok(places)
}

/// Standardised errors of the first threshold and of the logarithms of the gaps.
fn learned(hypers: &[Hyper], thresholds: &[f64]) -> Vec<Learned> {
    let of = |h: &Hyper, truth: f64, scale: fn(f64) -> f64| Learned {
        z: 3.92 * (scale(h.value) - scale(truth)) / (scale(h.upper) - scale(h.lower)),
        inside: (h.lower..=h.upper).contains(&truth),
    };
    let found = |h: &Hyper| {
        // `ordinal.threshold`, or `ordinal#3.threshold` where it is the third table.
        let (_, name) = h.name.strip_prefix("ordinal")?.split_once('.')?;
        if name == "threshold" {
            return Some(of(h, *thresholds.first()?, |t| t));
        }
        let k: usize = name.strip_prefix("gap.")?.parse().ok()?;
        let truth = thresholds.get(k - 1)? - thresholds.get(k.checked_sub(2)?)?;
        Some(of(h, truth, f64::ln))
    };
    hypers.iter().filter_map(found).collect()
}
