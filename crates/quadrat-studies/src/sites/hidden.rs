//! Coverage of what stands behind hidden cells, values below a limit and noisy counts.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Censored, Dispersion, Likelihood, NegativeBinomial, Poisson};
use quadrat::link::Link;
use quadrat::model::{FitOptions, Model, Noise, Observations};
use quadrat::support::{Aggregate, Functionals};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};
use rayon::prelude::*;

use super::kinds::{normals, prior};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, standard_error};
use crate::steps::Steps;

/// Cells of a table along [0, 8], and cells that are added up.
const CELLS: usize = 40;
const RANGE: f64 = 8.0;
const GROUP: usize = 8;
/// Places of the function in each box.
const STEPS: usize = 8;
/// Log of the typical mean count, and how much the function moves it.
const LEVEL: f64 = 1.4;
const SPREAD: f64 = 0.7;
/// Of the logarithm of exposures.
const EXPOSURES: f64 = 0.5;
const DISPERSION: f64 = 0.3;
/// The limit and noise of values.
const LIMIT: f64 = -0.2;
const NOISE: f64 = 0.3;
/// Levels of the central intervals.
const LEVELS: [f64; 3] = [0.5, 0.8, 0.95];
/// What intervals of 95 % hold at least and at most.
const HELD: (f64, f64) = (0.93, 0.97);

/// What tables are like.
#[derive(Clone, Copy)]
enum Kind {
    /// Counts at points, of which those below so many are hidden.
    Poisson(u32),
    /// The same, of counts that vary more.
    NegativeBinomial(u32),
    /// The same over boxes.
    Boxes(u32),
    /// Values below a limit.
    Values,
}

const KINDS: [(&str, Kind); 5] = [
    ("counts, <5 hidden", Kind::Poisson(5)),
    ("counts, <10 hidden", Kind::Poisson(10)),
    ("spread counts, <5 hidden", Kind::NegativeBinomial(5)),
    ("counts in boxes, <5 hidden", Kind::Boxes(5)),
    ("values below a limit", Kind::Values),
];

/// What came of a table; shares of its hidden cells and of sums with some of these.
struct Outcome {
    /// Of places in the distribution of the truth, within every level.
    cells: [f64; 3],
    sums: [f64; 3],
    /// Held by the interval of 95 % as it is told.
    told: f64,
    told_sums: f64,
    hidden: f64,
    /// Ends of intervals that are outside what a cell allows.
    outside: f64,
}

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(2, 200);
    let mut report = Report::new("What stands behind hidden cells");
    report.setting(format!(
        "{repeats} tables each of {CELLS} cells along [0, {RANGE}]: the logarithm of the mean count is {LEVEL} plus {SPREAD} times a draw of se(x) of lengthscale 1, times exposures with a log of sd {EXPOSURES}; sums of {GROUP} neighbours, and of all"
    ));
    report.setting(
        "default fits; for counts the place of the truth in its distribution is drawn between those of the two sides of its step, as whole numbers have no intervals of 95 %; \"told\" is the share held by the 95 % interval as it is written; +- standard errors over tables",
    );
    let mut table = Table::new(
        "Coverage of hidden cells, and of sums with some of them",
        &[
            "tables",
            "hidden",
            "50 %",
            "80 %",
            "95 %",
            "told",
            "sums, 80 %",
            "sums, 95 %",
            "sums, told",
        ],
    );
    // Fits of many ranges, and of a learned dispersion, take half a minute and more.
    let is_slow = |kind: &Kind| matches!(kind, Kind::Poisson(10) | Kind::NegativeBinomial(_));
    let is_wanted =
        |(name, kind): &&(&str, Kind)| settings.wants(name) && !(settings.quick && is_slow(kind));
    let wanted = || KINDS.iter().filter(is_wanted);
    let steps = Steps::new("hidden", wanted().count() * repeats);
    for (name, kind) in wanted() {
        let outcomes = (0..repeats as u64)
            .into_par_iter()
            .map(|repeat| steps.after(one(*kind, settings.random(repeat))))
            .collect::<Result<Vec<Option<Outcome>>>>()?;
        let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
        told(name, &outcomes, &mut table, &mut report);
    }
    report.tables.push(table);
    Ok(report)
}

fn told(name: &str, outcomes: &[Outcome], table: &mut Table, report: &mut Report) {
    let of = |get: &dyn Fn(&Outcome) -> f64| {
        let all: Vec<f64> = outcomes.iter().map(get).collect();
        (mean(&all), standard_error(&all))
    };
    let cell = |(share, error): (f64, f64)| format!("{share:.3} +- {error:.3}");
    let [half, most, nearly] = [0, 1, 2].map(|level| of(&|o| o.cells[level]));
    let [sums_most, sums_nearly] = [1, 2].map(|level| of(&|o| o.sums[level]));
    table.row(vec![
        name.to_owned(),
        format!("{:.2}", of(&|o| o.hidden).0),
        cell(half),
        cell(most),
        cell(nearly),
        cell(of(&|o| o.told)),
        cell(sums_most),
        cell(sums_nearly),
        cell(of(&|o| o.told_sums)),
    ]);
    for (what, (share, error)) in [("cells", nearly), ("sums", sums_nearly)] {
        let words = format!("{name}: coverage of .95 of {what}");
        report.check(words, share, HELD.0 - 2.0 * error, HELD.1 + 2.0 * error);
    }
    let outside: f64 = outcomes.iter().map(|o| o.outside).sum();
    report.check(format!("{name}: ends outside of a cell"), outside, 0.0, 0.0);
}

/// The rows of a table, the truth behind them, and what each allows.
struct Drawn {
    at: Functionals,
    rows: Likelihood,
    truth: Vec<f64>,
    allowed: Vec<(f64, f64)>,
    is_whole: bool,
}

fn drawn(kind: Kind, random: &mut ChaCha8Rng) -> Result<Drawn> {
    let per_cell = if matches!(kind, Kind::Boxes(_)) {
        STEPS
    } else {
        1
    };
    let step = RANGE / (CELLS * per_cell) as f64;
    let x: Vec<f64> = (0..CELLS * per_cell)
        .map(|i| step * (i as f64 + 0.5))
        .collect();
    let f = prior(&x)?.multiply(&normals(x.len(), random));
    if let Kind::Values = kind {
        let noise = normals(CELLS, random);
        let truth: Vec<f64> = f.iter().zip(noise).map(|(f, e)| f + NOISE * e).collect();
        let (low, high) = (vec![LIMIT; CELLS], vec![f64::INFINITY; CELLS]);
        let rows = Censored::clipped(&truth, &low, &high, Noise::Learned)?.into();
        let allowed = truth.iter().map(|y| match *y <= LIMIT {
            true => (f64::NEG_INFINITY, LIMIT),
            false => (*y, *y),
        });
        return Ok(Drawn {
            at: Functionals::points("x", &x)?,
            rows,
            allowed: allowed.collect(),
            truth,
            is_whole: false,
        });
    }
    let exposures: Vec<f64> = normals(CELLS, random)
        .iter()
        .map(|z| (EXPOSURES * z).exp())
        .collect();
    let (Kind::Poisson(limit) | Kind::NegativeBinomial(limit) | Kind::Boxes(limit)) = kind else {
        anyhow::bail!("values have no counts");
    };
    let is_more = matches!(kind, Kind::NegativeBinomial(_));
    let spread = Gamma::new(1.0 / DISPERSION, DISPERSION)?;
    let mut truth = Vec::with_capacity(CELLS);
    for (cell, exposure) in exposures.iter().enumerate() {
        let rates = f[cell * per_cell..(cell + 1) * per_cell].iter();
        let rate = rates.map(|f| (LEVEL + SPREAD * f).exp()).sum::<f64>() / per_cell as f64;
        let more = if is_more { spread.sample(random) } else { 1.0 };
        truth.push(rand_distr::Poisson::new(exposure * rate * more)?.sample(random));
    }
    let allowed: Vec<(f64, f64)> = truth
        .iter()
        .map(|y| match *y < f64::from(limit) {
            true => (0.0, f64::from(limit - 1)),
            false => (*y, *y),
        })
        .collect();
    let (lower, upper) = allowed.iter().copied().unzip();
    let rows: Likelihood = match is_more {
        true => NegativeBinomial::ranges(lower, upper, exposures, Link::Exp, Dispersion::Learned)?
            .into(),
        false => Poisson::ranges(lower, upper, exposures, Link::Exp)?.into(),
    };
    let width = RANGE / CELLS as f64;
    let edge = |i: usize| width * i as f64;
    let boxes: Vec<(f64, f64)> = (0..CELLS).map(|i| (edge(i), edge(i + 1))).collect();
    let at = match kind {
        Kind::Boxes(_) => Functionals::intervals("x", &boxes, Aggregate::Mean)?,
        _ => Functionals::points("x", &x)?,
    };
    Ok(Drawn {
        at,
        rows,
        truth,
        allowed,
        is_whole: true,
    })
}

/// What a table showed; nothing where no cell of it is hidden.
fn one(kind: Kind, mut random: ChaCha8Rng) -> Result<Option<Outcome>> {
    let table = drawn(kind, &mut random)?;
    let is_hidden = |cell: &usize| table.allowed[*cell].0 < table.allowed[*cell].1;
    let hidden: Vec<usize> = (0..CELLS).filter(is_hidden).collect();
    if hidden.is_empty() {
        return Ok(None);
    }
    let posterior = Model::new(Kernel::se(["x"]))
        .observe(Observations::new(table.at.clone(), table.rows.clone())?)
        .fit(&FitOptions::default().with_threads(1))?;
    let behind = posterior.behind(0)?;
    let values = behind.values(&hidden)?;
    let mut places = Vec::new();
    for (i, &cell) in hidden.iter().enumerate() {
        let truth = table.truth[cell];
        let upto = values.cdf(truth)[i];
        let below = if table.is_whole {
            values.cdf(truth - 1.0)[i]
        } else {
            upto
        };
        places.push(below + random.random::<f64>() * (upto - below));
    }
    let [lower, upper] = [0.025, 0.975].map(|p| values.quantile(p));
    let [least, most] = [1e-4, 1.0 - 1e-4].map(|p| values.quantile(p));
    let held = |i: usize, cell: usize| (lower[i]..=upper[i]).contains(&table.truth[cell]);
    let is_outside = |i: usize, cell: usize| {
        let (low, high) = table.allowed[cell];
        least[i] < low || most[i] > high
    };
    let each = || hidden.iter().copied().enumerate();
    let count = |n: usize| n as f64 / hidden.len() as f64;
    let groups = (0..CELLS / GROUP).map(|g| (g * GROUP..(g + 1) * GROUP).collect::<Vec<_>>());
    let groups = groups.chain([(0..CELLS).collect::<Vec<_>>()]);
    let groups: Vec<Vec<usize>> = groups.filter(|group| group.iter().any(is_hidden)).collect();
    let sums: Vec<f64> = groups
        .iter()
        .map(|group| group.iter().map(|cell| table.truth[*cell]).sum())
        .collect();
    let totals = behind.totals(&groups, 1)?;
    let step = if table.is_whole { 1.0 } else { 0.0 };
    let limits: Vec<f64> = sums.iter().map(|sum| sum - step).collect();
    let above = [&sums, &limits].map(|at| totals.exceedance_of_each(at).unwrap_or_default());
    let sum_places: Vec<f64> = (0..groups.len())
        .map(|g| {
            let (upto, below) = (1.0 - above[0][g], 1.0 - above[1][g]);
            below + random.random::<f64>() * (upto - below)
        })
        .collect();
    let [low, high] = [0.025, 0.975].map(|p| totals.quantile(p));
    let held_sums = (0..groups.len()).filter(|&g| (low[g]..=high[g]).contains(&sums[g]));
    let within = |all: &[f64], level: f64| {
        let inside = all.iter().filter(|u| (*u - 0.5).abs() <= 0.5 * level);
        inside.count() as f64 / all.len() as f64
    };
    Ok(Some(Outcome {
        cells: LEVELS.map(|level| within(&places, level)),
        sums: LEVELS.map(|level| within(&sum_places, level)),
        told: count(each().filter(|(i, cell)| held(*i, *cell)).count()),
        told_sums: held_sums.count() as f64 / groups.len() as f64,
        hidden: hidden.len() as f64 / CELLS as f64,
        outside: each().filter(|(i, cell)| is_outside(*i, *cell)).count() as f64,
    }))
}
