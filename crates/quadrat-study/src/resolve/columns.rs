//! Columns of a table that the study names.

use std::cell::RefCell;

use crate::codes::Codes;
use crate::diagnostic::{Problem, Problems, shown};
use crate::study::fields::{Check, Spanned};
use crate::table::{Reading, Table, is_missing};

/// How many names of a column are told.
const NAMED: usize = 3;

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

/// The cells of coordinates, and of columns that say how they are to be read; codes of labels. So
/// many of the columns, the first, are inputs.
pub(super) fn read_cells(
    (check, codes): (&Check<'_>, &RefCell<Codes>),
    (table, inputs): (&Table, usize),
    found: &[usize],
    readings: impl Iterator<Item = Reading>,
) -> Option<Vec<Vec<(f64, f64)>>> {
    let wanted: Vec<(usize, Reading)> = found.iter().copied().zip(readings).collect();
    let (labels, others): (Vec<_>, Vec<_>) = wanted
        .iter()
        .copied()
        .partition(|(_, reading)| *reading == Reading::Label);
    let refuse = |problems: Problems| match texts(table, &wanted[..inputs]) {
        Some(problem) => check.add(problem),
        None => check.extend(problems),
    };
    let numbers = match others.is_empty() {
        true => Vec::new(),
        false => table.cells(&others).map_err(refuse).ok()?,
    };
    let mut numbers = numbers.into_iter();
    let names = labels
        .iter()
        .map(|(at, _)| read_labels((check, codes), table, *at));
    let mut names = names.collect::<Option<Vec<_>>>()?.into_iter();
    let column = |(_, reading): &(usize, Reading)| match reading {
        Reading::Label => {
            let codes = names.next().unwrap_or_default();
            codes.into_iter().map(|code| (code, code)).collect()
        }
        _ => numbers.next().unwrap_or_default(),
    };
    Some(wanted.iter().map(column).collect())
}

/// The codes of the labels in a column, which has the name of its input.
pub(super) fn read_labels(
    (check, codes): (&Check<'_>, &RefCell<Codes>),
    table: &Table,
    at: usize,
) -> Option<Vec<f64>> {
    let keys = table.keys(at);
    let keys = keys.map_err(|problems| check.extend(problems)).ok()?;
    let dim = &table.headers()[at];
    let mut codes = codes.borrow_mut();
    Some(keys.iter().map(|key| codes.code(dim, key)).collect())
}

/// What to say of a column of names that the model takes for numbers, if there is one.
fn texts(table: &Table, wanted: &[(usize, Reading)]) -> Option<Problem> {
    let inputs = wanted
        .iter()
        .filter(|(_, reading)| *reading == Reading::Number);
    inputs.into_iter().find_map(|&(at, _)| names(table, at))
}

/// The same of one column.
pub(super) fn names(table: &Table, at: usize) -> Option<Problem> {
    let keys = table.keys(at).ok()?;
    let is_name = |key: &String| key.starts_with(char::is_alphabetic) && !is_missing(key);
    if !keys.iter().all(is_name) {
        return None;
    }
    let name = &table.headers()[at];
    let mut few: Vec<&String> = Vec::new();
    for key in &keys {
        if few.len() < NAMED && !few.contains(&key) {
            few.push(key);
        }
    }
    let few: Vec<String> = few.iter().map(|key| format!("`{}`", shown(key))).collect();
    let message = format!(
        "{}, column `{name}`: it holds text ({}), and the model takes it for numbers",
        table.name(),
        few.join(", ")
    );
    let remedy = format!(
        "let the kernel take it for labels: `iid({name})` is an effect of each, `se(t) * iid({name})` a curve of each along `t`; or give columns of 0 and 1, one for each name but one, or, where every name has a function of its own, name it as `output_column`"
    );
    Some(Problem::new(message).at(table.place(0, at)).remedy(remedy))
}
