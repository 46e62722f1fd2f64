//! The noise of columns that were released, from tables that tell mechanisms: OpenDP's `summarize`.

use quadrat::privacy::Family;

use super::Files;
use crate::diagnostic::{Problem, Problems, shown};
use crate::study::Study;
use crate::study::fields::{Check, Spanned};
use crate::study::likelihood::{Given, Likelihood, Reports, Summary};
use crate::suggest;
use crate::table::{Table, parse_number};

/// Columns of the table, as OpenDP names them.
const COLUMN: &str = "column";
const AGGREGATE: &str = "aggregate";
const DISTRIBUTION: &str = "distribution";
const SCALE: &str = "scale";
const THRESHOLD: &str = "threshold";

/// Reads every table that a study names as `summary`, and puts the variances where numbers of the
/// study would stand.
///
/// # Errors
/// What is wrong with these tables.
pub(super) fn filled(study: &mut Study, warnings: &mut Vec<String>) -> Result<(), Problems> {
    let check = Check::new(&study.source);
    let files = Files::new(&check, &study.folder, &study.shown);
    let of = |likelihood: &Likelihood, warnings: &mut Vec<String>| {
        Some(variance(
            &files,
            likelihood,
            likelihood.summary()?,
            warnings,
        ))
    };
    let observe = study.observe.iter();
    let found: Vec<Option<Option<f64>>> = observe.map(|o| of(&o.likelihood, warnings)).collect();
    check.finish().or(())?;
    for (observe, found) in study.observe.iter_mut().zip(found) {
        if let (Some(Some(value)), Some(noise)) = (found, &mut observe.likelihood.noise)
            && let Some(summary) = &noise.summary
        {
            let span = summary.file.span.clone();
            noise.known = Some(Given::Number(Spanned { value, span }));
        }
    }
    Ok(())
}

/// The variance of the noise of a column.
fn variance(
    files: &Files<'_>,
    likelihood: &Likelihood,
    summary: &Summary,
    warnings: &mut Vec<String>,
) -> Option<f64> {
    let check = files.check;
    let table = files.table(&summary.file)?;
    let at = |name: &str| {
        let place = check.source.place(&summary.file.span);
        let found = table.find(name).map_err(|problem| {
            problem.at(place).remedy(
                "give the frame of OpenDP's `summarize()`, written by `write_csv`: column, aggregate, distribution, scale",
            )
        });
        found.map_err(|problem| check.add(problem)).ok()
    };
    let (names, kinds, scales) = (at(COLUMN)?, at(DISTRIBUTION)?, at(SCALE)?);
    let texts = |at: usize| {
        table
            .texts(at)
            .map_err(|problems| check.extend(problems))
            .ok()
    };
    let aggregates = match &summary.aggregate {
        Some(_) => Some(texts(at(AGGREGATE)?)?),
        None => table
            .find(AGGREGATE)
            .ok()
            .and_then(|at| table.texts(at).ok()),
    };
    let row = row(
        check,
        (&table, &texts(names)?),
        aggregates,
        likelihood,
        summary,
    )?;
    let (kind, scale) = (
        texts(kinds)?.swap_remove(row),
        texts(scales)?.swap_remove(row),
    );
    let Some(family) = Family::of_opendp(&kind) else {
        let message = format!("`{}` is no noise of a known variance", shown(&kind));
        let names = Family::ALL.map(Family::opendp);
        let remedy = format!("known are {}", suggest::list(&names));
        check.add(
            Problem::new(message)
                .at(table.place(row, kinds))
                .remedy(remedy),
        );
        return None;
    };
    let refuse = |fact: String, remedy: &str| {
        check.add(
            Problem::new(fact)
                .at(table.place(row, scales))
                .remedy(remedy.to_owned()),
        );
    };
    let number = parse_number(&scale)
        .map_err(|bad| refuse(bad.fact, bad.remedy))
        .ok()?;
    let variance = family.variance(number);
    let variance = variance
        .map_err(|error| refuse(error.to_string(), "mend the scale"))
        .ok()?;
    warnings.extend(threshold(&table, row, likelihood));
    Some(variance)
}

/// The one row that tells of the column.
fn row(
    check: &Check<'_>,
    (table, names): (&Table, &[String]),
    aggregates: Option<Vec<String>>,
    likelihood: &Likelihood,
    summary: &Summary,
) -> Option<usize> {
    let own = likelihood.value_name();
    let (wanted, span) = match &summary.column {
        Some(column) => (column.value.as_str(), &column.span),
        None => (own.as_str(), &summary.file.span),
    };
    let of_column: Vec<usize> = (0..names.len())
        .filter(|&row| names[row] == wanted)
        .collect();
    if of_column.is_empty() {
        let message = format!(
            "no row of {} is about the column `{}`",
            table.name(),
            shown(wanted)
        );
        let remedy = format!(
            "it has {}; say which by `variance = {{ summary = .., column = .. }}`",
            suggest::list(names)
        );
        check.refuse(span, message, remedy);
        return None;
    }
    let is_asked = |row: &usize| match (&summary.aggregate, &aggregates) {
        (Some(asked), Some(all)) => all[*row] == asked.value,
        _ => true,
    };
    let told = |rows: &[usize]| {
        let words = rows.iter().map(|&row| match &aggregates {
            Some(all) => format!("{} (`{}`)", table.row_address(row), shown(&all[row])),
            None => table.row_address(row),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    match of_column
        .iter()
        .copied()
        .filter(is_asked)
        .collect::<Vec<_>>()[..]
    {
        [row] => Some(row),
        [] => {
            let asked = summary.aggregate.as_ref()?;
            let message = format!(
                "no row of `{}` has the aggregate `{}`",
                shown(wanted),
                shown(&asked.value)
            );
            check.refuse(
                &asked.span,
                message,
                format!("there are {}", told(&of_column)),
            );
            None
        }
        ref several => {
            let message = format!(
                "`{}` stands in several rows: {}",
                shown(wanted),
                told(several)
            );
            let remedy = "say which by `variance = { summary = .., aggregate = .. }`";
            check.refuse(span, message, remedy);
            None
        }
    }
}

/// What to say of groups that were left out because they were small.
fn threshold(table: &Table, row: usize, likelihood: &Likelihood) -> Option<String> {
    let cell = table
        .texts(table.find(THRESHOLD).ok()?)
        .ok()?
        .swap_remove(row);
    let limit = parse_number(&cell).ok()?;
    let is_told = matches!(likelihood.reports, Reports::Truncated { .. });
    (!is_told).then(|| {
        format!(
            "{}: groups whose noisy count was below {limit} were not released; where some are missing use `truncated` with `lower = {limit}`, or all that is predicted of such groups is too high",
            table.row_address(row)
        )
    })
}
