//! Columns of a table that the study names.

use crate::study::fields::{Check, Spanned};
use crate::table::{Reading, Table};

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

/// The cells of coordinates, and of columns that say how they are to be read.
pub(super) fn read_cells(
    check: &Check<'_>,
    table: &Table,
    found: &[usize],
    readings: impl Iterator<Item = Reading>,
) -> Option<Vec<Vec<(f64, f64)>>> {
    if found.is_empty() {
        return Some(Vec::new());
    }
    let wanted: Vec<(usize, Reading)> = found.iter().copied().zip(readings).collect();
    table
        .cells(&wanted)
        .map_err(|problems| check.extend(problems))
        .ok()
}
