//! Tables read into the columns that the study names.

use super::Observed;
use super::bags::bags;
use super::files::Files;
use super::regions::regions;
use super::rows::{merge_exact, no_giants, no_negative, no_zero_width, only_degrees};
use crate::diagnostic::Problems;
use crate::places::Places;
use crate::shapes::Shapes;
use crate::study::fields::{Check, Spanned};
use crate::study::shape::Shape;
use crate::study::support::{Extent, Support};
use crate::study::{Observe, Variance};
use crate::table::Table;

/// The regions or bags of the rows of a table (which has a name in the study), or all of them when
/// there is no table.
pub fn shapes(
    files: &Files<'_>,
    support: &Support,
    table: Option<(&Table, &Spanned<String>)>,
    observed: bool,
) -> Option<Option<Shapes>> {
    match &support.shape {
        None => Some(None),
        Some(Shape::Region(keys)) => regions(files, keys, table, observed).map(Some),
        Some(Shape::Bag(keys)) => {
            bags(files, keys, table.map(|(table, _)| table), observed).map(Some)
        }
    }
}

/// Positions of columns.
pub(super) fn find(
    check: &Check<'_>,
    table: &Table,
    names: &[&Spanned<String>],
) -> Option<Vec<usize>> {
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
    files: &Files<'_>,
    observe: &Observe,
    warnings: &mut Vec<String>,
) -> Option<Observed> {
    let check = files.check;
    let table = files.table(&observe.file)?;
    let shapes = shapes(files, &observe.support, Some((&table, &observe.file)), true);
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
    let geographic = files.geographic.clone();
    let places = Places::from_columns(&observe.support, columns, shapes?, geographic);
    only_degrees(&table, &found, &places, &mut problems);
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

/// The places of a support read from a table, which has a name in the study.
pub fn read_places(
    files: &Files<'_>,
    (table, file): (&Table, &Spanned<String>),
    support: &Support,
) -> Option<Places> {
    let check = files.check;
    let shapes = shapes(files, support, Some((table, file)), false);
    let found = find(check, table, &names(support))?;
    let columns = match found.is_empty() {
        true => Vec::new(),
        false => table
            .numbers(&found)
            .map_err(|problems| check.extend(problems))
            .ok()?,
    };
    let mut problems = Problems::default();
    no_giants(table, &found, &columns, &mut problems);
    let places = Places::from_columns(support, columns, shapes?, files.geographic.clone());
    only_degrees(table, &found, &places, &mut problems);
    no_zero_width(table, &found, &places, &mut problems);
    let fine = problems.0.is_empty();
    check.extend(problems);
    fine.then_some(places)
}
