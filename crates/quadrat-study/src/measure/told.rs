//! Rows that were measured, added to a posterior.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Context, Result};
use quadrat::model::Observations;
use quadrat::support::Functionals;

use super::answers::{Answered, Own};
use super::record::Record;
use super::reported::reported;
use crate::diagnostic::{Problem, Problems};
use crate::engine::{self, Posterior};
use crate::new_row;
use crate::table::Table;

/// The rows with an answer by their kinds, and how many have none.
///
/// # Arguments
/// * `kinds` - of every row
/// * `of` - the table of a kind, and whether rows are intervals of its values
///
/// # Errors
/// Kinds that are none, and a table without any answer.
pub fn by_kind(
    posterior: &Posterior,
    (table, answered): (&Table, &Answered<'_>),
    kinds: &[String],
    of: impl Fn(&str) -> Result<(usize, bool), Problem>,
) -> Result<(Own, usize), Problems> {
    let (mut own, mut open) = (Own::new(), 0);
    let mut problems = Problems::default();
    let mut known: BTreeMap<&str, Result<(usize, bool), Option<Problem>>> = BTreeMap::new();
    for (row, kind) in kinds.iter().enumerate() {
        let found = known.entry(kind).or_insert_with(|| of(kind).map_err(Some));
        let like = found.as_ref().ok().copied();
        let answers = like.and_then(|like| answered.like(posterior, like));
        let is_told = answers.map_or_else(|| answered.is_told(row), |own| own.is_told(row));
        match (is_told, found) {
            (false, _) => open += 1,
            (true, Ok(like)) => {
                let (_, rows) = own
                    .entry(*like)
                    .or_insert_with(|| (kind.clone(), Vec::new()));
                rows.push(row);
            }
            // Said of the first of its rows.
            (true, Err(problem)) => problems.0.extend(problem.take().map(|mut problem| {
                problem.message = format!("{}: {}", table.row_address(row), problem.message);
                problem
            })),
        }
    }
    if own.is_empty() && problems.0.is_empty() {
        problems.push(
            Problem::new("no row has an answer")
                .at(table.whole())
                .remedy("fill in `value`, or `lower` and `upper`, of what was measured"),
        );
    }
    problems.or((own, open))
}

/// A posterior with rows that were measured, kind by kind, which it keeps as they were written.
///
/// # Arguments
/// * `at` - where each row of the table looks
pub fn conditioned(
    posterior: &Posterior,
    at: &Functionals,
    (table, answered): (&Table, &Answered<'_>),
    own: &Own,
) -> Result<Posterior> {
    let mut record = Record::of(posterior);
    record.add(table, &in_order(own))?;
    let mut names = engine::table_names(posterior);
    let mut new_rows = new_row::of(posterior);
    let mut limits = engine::said_limits(posterior);
    let mut grown: Option<Posterior> = None;
    for ((like, as_interval), (kind, rows)) in own {
        let before = grown.as_ref().unwrap_or(posterior);
        let output = before.observations()[*like].output().map(str::to_owned);
        let answers = answered.like(posterior, (*like, *as_interval));
        let answers = answers.context("no table is like the rows")?;
        let (reported, times) = reported(before, *like, &answers, rows)
            .with_context(|| format!("the rows of the kind `{kind}`"))?;
        let mut more = Observations::new(at.rows(rows), reported)?;
        if let Some(times) = times {
            more = more.seen(times)?;
        }
        if let Some(output) = output {
            more = more.of_output(output);
        }
        let known = ranges(before, &names);
        let first = known.last().map_or(0, |(rows, _)| rows.end);
        // Those of the table by their lines, those of the model by their table.
        let name = |row: usize| {
            let mut known = known.iter();
            match known.find(|(rows, _)| rows.contains(&row)) {
                Some((of, name)) => format!("row {} of `{name}`", row - of.start + 1),
                None => table.row_address(rows[row - first]),
            }
        };
        let after = before
            .condition_naming(more, &name)
            .with_context(|| format!("the rows of the kind `{kind}` cannot be added"))?;
        // No table where every row follows from others.
        if after.observations().len() > before.observations().len() {
            names.push(names[*like].clone());
            new_rows.push(new_rows[*like].clone());
            limits.push(limits[*like]);
        }
        grown = Some(after);
    }
    let mut grown = grown.context("no row has an answer")?;
    engine::name_tables(&mut grown, &names)?;
    new_row::keep(&mut grown, &new_rows);
    engine::keep_limits(&mut grown, &limits)?;
    record.keep(&mut grown)?;
    Ok(grown)
}

/// The rows of every table of a model, counted over all, and its name.
fn ranges<'a>(posterior: &Posterior, names: &'a [String]) -> Vec<(Range<usize>, &'a str)> {
    let mut first = 0;
    let tables = posterior.observations().iter().zip(names);
    let each = tables.map(|(table, name)| {
        let rows = first..first + table.supports().len();
        first = rows.end;
        (rows, name.as_str())
    });
    each.collect()
}

/// Rows that are told with their kinds, in the order of the table.
fn in_order(own: &Own) -> Vec<(usize, String)> {
    let each = own.values();
    let mut all: Vec<(usize, String)> = each
        .flat_map(|(kind, rows)| rows.iter().map(|row| (*row, kind.clone())))
        .collect();
    all.sort_unstable();
    all
}
