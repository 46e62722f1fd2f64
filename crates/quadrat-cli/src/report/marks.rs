//! Observations as marks of a curve figure: the one place that knows how each kind is drawn.

use quadrat::likelihood::{Likelihood as Reported, Noise};
use quadrat_plot::Observed as Mark;

use crate::numbers::human;
use crate::outcome::Outcome;
use crate::resolve::{Asked, Observed};
use crate::study::Scale;
use crate::study::likelihood::{Reports, Scale as Means};
use crate::study::support::Aggregate;
use crate::words::learned_thresholds;

/// Half-width in standard deviations of an error bar.
const HALF_WIDTH: f64 = 1.96;

/// The rows of every table that belong on the scale of a prediction along one dimension.
pub fn of(outcome: &Outcome, asked: &Asked) -> Vec<Mark> {
    let tables = outcome.resolved.tables.iter().enumerate();
    tables
        .filter(|(_, table)| is_on_scale(outcome, asked, table))
        .flat_map(|(at, table)| {
            let thresholds = learned_thresholds(outcome, at);
            let rank_scale = is_rank_scale(outcome, asked);
            let rows = 0..table.places.len();
            rows.filter_map(move |row| match rank_scale {
                true => rank(table, row),
                false => mark(table, row, thresholds.as_deref()),
            })
            .collect::<Vec<_>>()
        })
        .collect()
}

/// Whether what a table reports can be drawn beside a prediction: values beside the latent function
/// or its integrals, rates beside rates, ranks beside ranks.
pub fn is_on_scale(outcome: &Outcome, asked: &Asked, table: &Observed) -> bool {
    if !table.says.is_report() {
        return false;
    }
    if is_rank_scale(outcome, asked) {
        return matches!(table.says.reports, Reports::Ordinal { .. });
    }
    let reporting = outcome.resolved.study.reporting();
    let predicted = match asked.scale {
        Scale::Latent => Some(Means::Linear),
        _ => reporting.map(|observe| observe.likelihood.scale()),
    };
    Some(table.says.scale()) == predicted
}

/// Whether new ranks are predicted, which have a scale of their own.
fn is_rank_scale(outcome: &Outcome, asked: &Asked) -> bool {
    let reporting = outcome.resolved.study.reporting();
    asked.scale == Scale::Observation
        && reporting.is_some_and(|o| matches!(o.likelihood.reports, Reports::Ordinal { .. }))
}

/// A rank itself.
fn rank(table: &Observed, row: usize) -> Option<Mark> {
    let Reported::Ordinal(ordinal) = &table.likelihood else {
        return None;
    };
    let x = table.places.dims.first()?.middle(row);
    Some(Mark::point(x, ordinal.ranks()[row] as f64))
}

/// A row on the scale of the response.
fn mark(table: &Observed, row: usize, thresholds: Option<&[f64]>) -> Option<Mark> {
    let dim = table.places.dims.first()?;
    let (x0, x1) = dim.ends(row);
    let (lower, upper) = match (table.range(row), thresholds) {
        (Some(range), _) => range,
        (None, Some(thresholds)) => between(table, row, thresholds)?,
        (None, None) => return None,
    };
    if lower < upper {
        return Some(Mark::Range {
            x: dim.middle(row),
            lower,
            upper,
            label: label(table, row),
        });
    }
    Some(match (dim.second.is_some(), table.places.aggregate) {
        (true, Some(Aggregate::Sum)) => Mark::total(x0, x1, lower * table.places.volume(row)),
        (true, _) if x0 < x1 => Mark::Level {
            x0,
            x1,
            y: lower,
            label: label(table, row),
        },
        _ => Mark::Point {
            x: x0,
            y: lower,
            error: error(table, row),
            label: label(table, row),
        },
    })
}

/// The two thresholds around the rank of a row.
fn between(table: &Observed, row: usize, thresholds: &[f64]) -> Option<(f64, f64)> {
    let Reported::Ordinal(ordinal) = &table.likelihood else {
        return None;
    };
    let rank = ordinal.ranks()[row];
    let lower = rank.checked_sub(2).and_then(|k| thresholds.get(k));
    Some((
        lower.copied().unwrap_or(f64::NEG_INFINITY),
        thresholds.get(rank - 1).copied().unwrap_or(f64::INFINITY),
    ))
}

/// Half-length of the error bar of a value whose noise is known.
fn error(table: &Observed, row: usize) -> Option<f64> {
    let known = table.likelihood.noise().and_then(Noise::known)?;
    let variance = known.get(row).copied().filter(|variance| *variance > 0.0)?;
    Some(HALF_WIDTH * variance.sqrt())
}

/// Words for the tooltip, where the height does not say everything.
fn label(table: &Observed, row: usize) -> String {
    let counted = |lower: f64, upper: f64, exposure: f64| {
        let count = match (lower == upper, upper.is_finite()) {
            (true, _) => human(lower),
            (false, true) => format!("{} to {}", human(lower), human(upper)),
            (false, false) => format!("{} or more", human(lower)),
        };
        match exposure == 1.0 {
            true => count,
            false => format!("{count} counted, exposure {}", human(exposure)),
        }
    };
    match &table.likelihood {
        Reported::Ordinal(x) => format!("rank {}", x.ranks()[row]),
        Reported::Poisson(x) => counted(x.lower()[row], x.upper()[row], x.exposure()[row]),
        Reported::NegativeBinomial(x) => counted(x.lower()[row], x.upper()[row], x.exposure()[row]),
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
