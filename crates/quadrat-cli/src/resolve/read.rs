//! Tables read into the columns that the study names.

use super::Observed;
use super::rows::{merge_exact, no_giants, no_negative, no_zero_width};
use crate::diagnostic::Problems;
use crate::places::Places;
use crate::study::fields::{Check, Spanned};
use crate::study::support::{Extent, Support};
use crate::study::{Observe, Study, Variance};
use crate::table::Table;

pub(super) fn open(check: &Check<'_>, study: &Study, file: &Spanned<String>) -> Option<Table> {
    match Table::open(
        &study.folder.join(&file.value),
        &study.shown.join(&file.value),
    ) {
        Ok(table) => Some(table),
        Err(mut problem) => {
            // A file that cannot be opened is the study's fault; a broken one is its own.
            if problem.place.is_none() {
                problem = problem.at(check.source.place(&file.span));
            }
            check.add(problem);
            None
        }
    }
}

/// Positions of a support's columns, dimension by dimension.
fn find(check: &Check<'_>, table: &Table, names: &[&Spanned<String>]) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for name in names {
        match table.find(&name.value) {
            Ok(at) => found.push(at),
            Err(problem) => check.add(problem.at(check.source.place(&name.span))),
        }
    }
    (found.len() == names.len()).then_some(found)
}

fn names(support: &Support) -> Vec<&Spanned<String>> {
    let columns = |dim: &'_ crate::study::support::Dim| match &dim.extent {
        Extent::Point => 1,
        Extent::Edges(..) => 2,
    };
    let mut names = Vec::with_capacity(support.dims.iter().map(columns).sum());
    for dim in &support.dims {
        match &dim.extent {
            Extent::Point => names.push(&dim.name),
            Extent::Edges(a, b) => names.extend([a, b]),
        }
    }
    names
}

pub(super) fn observed(
    check: &Check<'_>,
    study: &Study,
    observe: &Observe,
    warnings: &mut Vec<String>,
) -> Option<Observed> {
    let table = open(check, study, &observe.file)?;
    let mut wanted = names(&observe.support);
    wanted.push(&observe.value);
    if let Some(Variance::Column(column)) = &observe.variance {
        wanted.push(column);
    }
    let found = find(check, &table, &wanted)?;
    let mut columns = table
        .numbers(&found)
        .map_err(|problems| check.extend(problems))
        .ok()?;
    let mut problems = Problems::default();
    no_giants(&table, &found, &columns, &mut problems);
    let mut variance = None;
    if let Some(Variance::Column(_)) = &observe.variance {
        variance = columns.pop();
    }
    let values = columns.pop()?;
    let places = Places::from_columns(&observe.support, columns);
    no_negative(
        &table,
        found.last().copied().unwrap_or(0),
        variance.as_deref(),
        &mut problems,
    );
    no_zero_width(&table, &found, &places, &mut problems);
    if let Some(Variance::Number(number)) = &observe.variance {
        variance = Some(vec![number.value; values.len()]);
    }
    let mut read = Observed {
        table,
        places,
        values,
        known: variance,
        learned: observe.learned,
        share_noise: observe.share_noise,
        value_name: observe.value.value.clone(),
        kept: Vec::new(),
    };
    if problems.0.is_empty() {
        merge_exact(
            &mut read,
            found
                .get(wanted_value(&found, &observe.variance))
                .copied()
                .unwrap_or(0),
            &mut problems,
            warnings,
        );
    }
    if problems.0.is_empty() {
        return Some(read);
    }
    check.extend(problems);
    None
}

fn wanted_value(found: &[usize], variance: &Option<Variance>) -> usize {
    let behind = if matches!(variance, Some(Variance::Column(_))) {
        2
    } else {
        1
    };
    found.len().saturating_sub(behind)
}

/// The places of a support read from a table.
pub fn read_places(check: &Check<'_>, table: &Table, support: &Support) -> Option<Places> {
    let found = find(check, table, &names(support))?;
    let columns = table
        .numbers(&found)
        .map_err(|problems| check.extend(problems))
        .ok()?;
    let mut problems = Problems::default();
    no_giants(table, &found, &columns, &mut problems);
    let places = Places::from_columns(support, columns);
    no_zero_width(table, &found, &places, &mut problems);
    let fine = problems.0.is_empty();
    check.extend(problems);
    fine.then_some(places)
}
