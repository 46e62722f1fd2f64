//! Observations as marks of a curve figure: the one place that knows how each kind is drawn.

use quadrat::likelihood::{Likelihood as Reported, Noise, Outcomes, Thresholds};
use quadrat_plot::{MarkError, Marks, Observed as Mark, Side, Support};
use quadrat_study::numbers::human;
use quadrat_study::outcome::Outcome;
use quadrat_study::places::Along;
use quadrat_study::resolve::{Asked, Observed};
use quadrat_study::study::Scale;
use quadrat_study::study::likelihood::{Reports, Scale as Means};
use quadrat_study::study::support::Aggregate;
use quadrat_study::words::learned_thresholds;

use super::view::Shared;

/// Half-width in standard deviations of an error bar.
const HALF_WIDTH: f64 = 1.96;

/// The rows of every table that belong on the scale of a prediction along one dimension.
pub fn of(outcome: &Outcome, asked: &Asked, along: &str, shared: &Shared<'_>) -> Vec<Mark> {
    let rank_scale = is_rank_scale(outcome, asked);
    let tables = outcome.resolved.tables.iter();
    tables
        .filter(|table| is_on_scale(outcome, asked, table))
        .flat_map(|table| {
            let dim = table.places.dim(along).into_iter();
            let rows = dim.flat_map(move |dim| (0..table.places.len()).map(move |row| (dim, row)));
            let beside = rows.filter(move |(_, row)| shared.holds(table, *row));
            beside.filter_map(move |(dim, row)| match rank_scale {
                true => rank(table, dim, row),
                false if is_marked(table, row) => None,
                false => mark(table, dim, row),
            })
        })
        .collect()
}

/// The rows that are no single number, one set of marks per table.
pub fn otherwise(outcome: &Outcome, asked: &Asked, along: &str, shared: &Shared<'_>) -> Vec<Marks> {
    if is_rank_scale(outcome, asked) {
        return Vec::new();
    }
    let tables = outcome.resolved.tables.iter().enumerate();
    tables
        .filter(|(_, table)| is_on_scale(outcome, asked, table))
        // Rows were checked when they were read: marks that cannot be made are not to be drawn.
        .filter_map(|(at, table)| {
            let dim = table.places.dim(along)?;
            let rows = (0..table.places.len()).filter(|&row| shared.holds(table, row));
            let rows = rows.filter(|&row| is_marked(table, row)).collect();
            set(table, dim, rows, learned_thresholds(outcome, at).as_deref())?.ok()
        })
        .collect()
}

/// Whether a row is drawn by [`otherwise`].
fn is_marked(table: &Observed, row: usize) -> bool {
    match table.likelihood.outcomes() {
        Outcomes::Ranks(_) | Outcomes::Answers(_) => true,
        // A count of nobody has no rate.
        Outcomes::Counts(counts) => counts.exposure[row] > 0.0,
        Outcomes::Intervals(_) => table.range(row).is_some_and(|(lower, upper)| lower < upper),
        Outcomes::Values(_) | Outcomes::Successes { .. } | Outcomes::Bounds => false,
    }
}

/// The marks of some rows of a table along a dimension.
fn set(
    table: &Observed,
    dim: &Along,
    rows: Vec<usize>,
    thresholds: Option<&[f64]>,
) -> Option<Result<Marks, MarkError>> {
    if rows.is_empty() {
        return None;
    }
    let at = || {
        rows.iter().map(|&row| match dim.ends(row) {
            (x0, x1) if x0 < x1 => Support::Over(x0, x1),
            (x, _) => Support::At(x),
        })
    };
    let pick = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&row| all[row]).collect() };
    // Rates per unit of what a total is of.
    let counted = |lower: &[f64], upper: &[f64], exposure: &[f64]| {
        let exposure: Vec<f64> = rows
            .iter()
            .map(|&row| exposure[row] * table.places.volume(row))
            .collect();
        Marks::rates(at(), &pick(lower), &pick(upper), &exposure, 1.0)
    };
    let ends =
        || -> (Vec<f64>, Vec<f64>) { rows.iter().filter_map(|&row| table.range(row)).unzip() };
    Some(match &table.likelihood {
        Reported::Ordinal(x) => {
            let ranks: Vec<usize> = rows.iter().map(|&row| x.ranks()[row]).collect();
            let thresholds = match x.thresholds_setting() {
                Thresholds::Known(known) => Some(known.as_slice()),
                Thresholds::Learned(_) => thresholds,
            };
            Marks::ranks(at(), &ranks, thresholds?, &[])
        }
        Reported::Bernoulli(x) => {
            let yes: Vec<bool> = rows.iter().map(|&row| x.values()[row]).collect();
            Marks::signs(at(), &yes)
        }
        Reported::Poisson(x) => counted(x.lower(), x.upper(), x.exposure()),
        Reported::NegativeBinomial(x) => counted(x.lower(), x.upper(), x.exposure()),
        Reported::Censored(_) => {
            let (lower, upper) = ends();
            let limits = lower.iter().zip(&upper);
            let beyond = limits
                .clone()
                .map(|(l, u)| match (l.is_finite(), u.is_finite()) {
                    (true, false) => Some((*l, Side::Above)),
                    (false, true) => Some((*u, Side::Below)),
                    _ => None,
                });
            match beyond.collect::<Option<Vec<(f64, Side)>>>() {
                Some(beyond) => {
                    let (limit, side): (Vec<f64>, Vec<Side>) = beyond.into_iter().unzip();
                    Marks::censored(at(), &limit, &side)
                }
                None => Marks::intervals(at(), &lower, &upper),
            }
        }
        _ => {
            let (lower, upper) = ends();
            Marks::intervals(at(), &lower, &upper)
        }
    })
}

/// Whether what a table reports can be drawn beside a prediction: values beside the latent function
/// or its integrals, rates beside rates, ranks beside ranks.
pub fn is_on_scale(outcome: &Outcome, asked: &Asked, table: &Observed) -> bool {
    if !table.says.is_report() || table.places.output != asked.places.output {
        return false;
    }
    if is_rank_scale(outcome, asked) {
        return matches!(table.says.reports, Reports::Ordinal { .. });
    }
    let reporting = outcome.resolved.reporting(asked);
    let predicted = match asked.scale {
        Scale::Latent => Some(Means::Linear),
        _ => reporting.map(|table| table.says.scale()),
    };
    Some(table.says.scale()) == predicted
}

/// Whether new ranks are predicted, which have a scale of their own.
fn is_rank_scale(outcome: &Outcome, asked: &Asked) -> bool {
    let reporting = outcome.resolved.reporting(asked);
    asked.scale.is_observed()
        && reporting.is_some_and(|table| matches!(table.says.reports, Reports::Ordinal { .. }))
}

/// A rank itself.
fn rank(table: &Observed, dim: &Along, row: usize) -> Option<Mark> {
    let Reported::Ordinal(ordinal) = &table.likelihood else {
        return None;
    };
    Some(Mark::point(dim.middle(row), ordinal.ranks()[row] as f64))
}

/// A row that reports one number, on the scale of the response.
fn mark(table: &Observed, dim: &Along, row: usize) -> Option<Mark> {
    let (x0, x1) = dim.ends(row);
    let y = table.height(row)?;
    Some(match (dim.second.is_some(), table.places.aggregate) {
        (true, Some(Aggregate::Sum)) if x0 < x1 => Mark::Bar {
            x0,
            x1,
            height: y,
            total: Some(y * table.places.volume(row)),
            label: String::new(),
        },
        (true, _) if x0 < x1 => Mark::Level {
            x0,
            x1,
            y,
            label: label(table, row),
        },
        _ => Mark::Point {
            x: x0,
            y,
            error: error(table, row),
            label: label(table, row),
        },
    })
}

/// Half-length of the error bar of a value whose noise is known.
fn error(table: &Observed, row: usize) -> Option<f64> {
    let known = table.likelihood.noise().and_then(Noise::known)?;
    let variance = known.get(row).copied().filter(|variance| *variance > 0.0)?;
    Some(HALF_WIDTH * variance.sqrt())
}

/// Words for the tooltip, where the height does not say everything.
fn label(table: &Observed, row: usize) -> String {
    match &table.likelihood {
        Reported::Binomial(x) => {
            format!(
                "{} of {}",
                human(x.successes()[row]),
                human(x.trials()[row])
            )
        }
        _ => String::new(),
    }
}
