//! Keys of a table looked up among those of regions or bags.

use std::collections::HashMap;

use super::files::Files;
use crate::diagnostic::{Problem, Problems, shown};
pub use crate::keys::canonical;
use crate::numbers::count;
use crate::study::fields::Spanned;
use crate::suggest;
use crate::table::Table;

/// How many rows without a partner are listed.
const LISTED: usize = 20;
/// How many shapes without a row are named.
const NAMED: usize = 5;

/// The rows of a table with their partners.
pub struct Joined {
    /// The key of every row.
    pub rows: Vec<String>,
    /// The position of its partner.
    pub of_row: Vec<usize>,
}

/// Looks the column `key` of a table up among `names`; a row without a partner is refused.
pub fn join(
    files: &Files<'_>,
    table: &Table,
    key: &Spanned<String>,
    names: &[String],
    noun: &str,
    file: &str,
) -> Option<Joined> {
    let check = files.check;
    let column = table
        .find(&key.value)
        .map_err(|problem| check.add(problem.at(check.source.place(&key.span))))
        .ok()?;
    let rows = table
        .keys(column)
        .map_err(|problems| check.extend(problems))
        .ok()?;
    let known: HashMap<&str, usize> = names.iter().map(|name| canonical(name)).zip(0..).collect();
    let mut problems = Problems::default();
    let mut of_row = Vec::with_capacity(rows.len());
    let mut missing = 0;
    for (row, name) in rows.iter().enumerate() {
        if let Some(&at) = known.get(canonical(name)) {
            of_row.push(at);
            continue;
        }
        missing += 1;
        if missing > LISTED {
            continue;
        }
        let near = near(name, names);
        let hint = near.map_or_else(String::new, |near| {
            format!("; did you mean `{}`?", shown(near))
        });
        problems.push(
            Problem::new(format!(
                "no {noun} of {file} has the key `{}`{hint}",
                shown(name)
            ))
            .at(table.place(row, column))
            .remedy(format!(
                "mend the key, or delete the row; the keys are {}",
                suggest::list(&names.iter().map(|name| shown(name)).collect::<Vec<_>>())
            )),
        );
    }
    if missing > LISTED {
        problems.push(Problem::new(format!(
            "{} has {} more rows without a {noun}",
            table.name(),
            missing - LISTED
        )));
    }
    problems
        .or(Joined { rows, of_row })
        .map_err(|problems| check.extend(problems))
        .ok()
}

/// A key that was likely meant: alike but for zeros in front, or for a slip.
fn near<'a>(key: &str, names: &'a [String]) -> Option<&'a str> {
    let bare = |text: &str| text.trim_start_matches('0').to_lowercase();
    let same = names.iter().find(|name| bare(name) == bare(key));
    // Every other key is a slip away from one of a letter or two.
    let slips = names.iter().filter(|_| key.chars().count() > 2);
    same.map(String::as_str)
        .or_else(|| suggest::nearest(key, slips.map(String::as_str)))
}

/// Warns of rows that are of a shape that an earlier row is of: after a join that went wrong they
/// would count twice.
pub fn repeated(files: &Files<'_>, keys: &[String], of_row: &[usize], noun: &str, table: &str) {
    let mut seen = std::collections::HashSet::new();
    let again: Vec<usize> = (0..of_row.len())
        .filter(|&row| !seen.insert(of_row[row]))
        .collect();
    let Some(&first) = again.first() else {
        return;
    };
    files.warn(format!(
        "{} of {table} {} of a {noun} that an earlier row is of (the first is of {}): each counts as a report of its own",
        count(again.len(), "row"),
        if again.len() == 1 { "is" } else { "are" },
        shown(&keys[first]),
    ));
}

/// Warns of shapes that no row refers to.
pub fn unused(
    files: &Files<'_>,
    names: &[String],
    of_row: &[usize],
    noun: &str,
    file: &str,
    table: &str,
) {
    let mut used = vec![false; names.len()];
    for &at in of_row {
        used[at] = true;
    }
    let lonely: Vec<&String> = names
        .iter()
        .zip(&used)
        .filter_map(|(name, used)| (!used).then_some(name))
        .collect();
    if lonely.is_empty() {
        return;
    }
    let first: Vec<String> = lonely.iter().take(NAMED).map(|name| shown(name)).collect();
    let more = if lonely.len() > NAMED { ", .." } else { "" };
    files.warn(format!(
        "{} of {file} {} no row in {table} ({}{more})",
        count(lonely.len(), noun),
        if lonely.len() == 1 { "has" } else { "have" },
        first.join(", ")
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_zeros_are_suspected_before_slips() {
        let names = ["1002".to_owned(), "01001".into()];
        assert_eq!(near("1001", &names), Some("01001"));
        assert_eq!(near("1003", &names), Some("1002"));
        assert_eq!(near("elsewhere", &names), None);
        assert_eq!(near("b", &["a".to_owned()]), None);
    }
}
