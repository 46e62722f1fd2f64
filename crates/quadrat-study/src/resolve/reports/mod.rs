//! What the rows of a table reported, checked and as the library takes it.

mod cells;
mod counts;
mod noise;
mod values;

use quadrat::error::InputError;
use quadrat::likelihood::{Likelihood as Reported, Positive};
use quadrat::link::Link;

use super::Observed;
use crate::diagnostic::{Problem, Problems};
use crate::study::likelihood::{Likelihood, Limits, Reports};

pub(super) use cells::{Cells, Column};

/// Share of the largest observed value that a sign is uncertain by, unless the study says.
const SOFT: f64 = 0.01;

/// The likelihood of a table; `None` when something was refused.
pub(super) fn reported(
    cells: &Cells<'_>,
    says: &Likelihood,
    link: Link,
    problems: &mut Problems,
) -> Option<Reported> {
    let made = match &says.reports {
        Reports::Gaussian { .. }
        | Reports::Laplace { .. }
        | Reports::StudentT { .. }
        | Reports::Interval(_)
        | Reports::Censored { .. }
        | Reports::Truncated { .. }
        | Reports::Ordinal { .. } => values::reported(cells, says, link, problems),
        Reports::Positive { margin, sd } => {
            Some(Positive::new(cells.rows(), *margin, sd.unwrap_or(1.0)).map(Into::into))
        }
        _ => counts::reported(cells, says, link, problems),
    }?;
    if !problems.0.is_empty() {
        return None;
    }
    made.map_err(|error| problems.push(refused(cells, error)))
        .ok()
}

/// How many rows a preset takes for exact although they are not; 0 without such a preset.
pub(super) fn ignored(cells: &Cells<'_>, says: &Likelihood) -> usize {
    if says.ignores_limits.is_none() {
        return 0;
    }
    let rows = match &says.reports {
        Reports::Censored { value, limits } => values::beyond(cells, value, limits),
        Reports::Counts { counts, .. } => counts::beyond(cells, counts),
        _ => None,
    };
    rows.unwrap_or(0)
}

/// What to say of `censored` values of which none is.
pub(super) fn uncensored(cells: &Cells<'_>, says: &Likelihood) -> Option<String> {
    let Reports::Censored { value, limits } = &says.reports else {
        return None;
    };
    if values::beyond(cells, value, limits) != Some(0) {
        return None;
    }
    Some(match limits {
        Limits::Of(_) => "no value lies at or beyond its limits, so that none is censored; where values beyond them were never recorded, use `truncated`".to_owned(),
        Limits::Side(column) | Limits::Flag { column, .. } => format!(
            "no row is censored by its mark in `{}`, so that all values are taken for exact; see whether the marks were lost, or use `gaussian`",
            column.value
        ),
        Limits::Written => format!(
            "no cell of `{}` is written as `<` or `>` of a number, so that all values are taken for exact; see whether the marks were lost, or use `gaussian`",
            value.value
        ),
    })
}

/// What the library refuses although nothing here did, at the row it names.
fn refused(cells: &Cells<'_>, error: InputError) -> Problem {
    match error {
        InputError::NotFinite { what, row, value } => {
            Problem::new(format!("{what} is {value}; every number must be finite"))
                .at(cells.row_place(row))
        }
        InputError::Range {
            what,
            row,
            value,
            requirement,
        } => Problem::new(format!("{what} is {value}; it must be {requirement}"))
            .at(cells.row_place(row)),
        other => Problem::new(other.to_string()).at(cells.row_place(0)),
    }
}

/// Chooses how soft the signs are whose study does not say: by the size of what other tables
/// report.
pub fn soften(tables: &mut [Observed]) {
    let largest = tables
        .iter()
        .flat_map(|table| (0..table.places.len()).filter_map(|row| table.range(row)))
        .flat_map(|(lower, upper)| [lower.abs(), upper.abs()])
        .filter(|end| end.is_finite())
        .fold(0.0, f64::max);
    let largest = if largest > 0.0 { largest } else { 1.0 };
    for table in tables {
        let Reports::Positive { margin, sd: None } = table.says.reports else {
            continue;
        };
        let rows = table.places.len();
        let volumes: f64 = (0..rows).map(|row| table.places.volume(row)).sum();
        let sd = SOFT * largest * volumes / rows as f64;
        if let Ok(positive) = Positive::new(rows, margin, sd) {
            table.likelihood = positive.into();
        }
    }
}
