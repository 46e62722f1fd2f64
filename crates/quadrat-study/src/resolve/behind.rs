//! Rows of an observed table that a prediction asks for: which table, which groups.

use std::collections::HashMap;

use crate::study::fields::{Check, Spanned};
use crate::suggest;
use crate::table::Table;

/// Rows of an observed table that a prediction asks for.
#[derive(Debug, Clone)]
pub struct RowsAsked {
    /// Which table of the study; none where all of its rows were left out.
    pub table: Option<usize>,
    /// Each row by its place in that table; of one that was left out, since it follows from others,
    /// its value.
    pub at: Vec<Result<usize, f64>>,
    /// The rows of every sum, as positions in `at`; none where they are asked for one by one.
    pub groups: Option<Vec<Vec<usize>>>,
}

impl RowsAsked {
    /// The same after rows of a table were left out.
    ///
    /// # Arguments
    /// * `to` - where the table is now, if it is left
    /// * `place` - where a row of it is now, or its value
    pub fn moved(&mut self, to: Option<usize>, place: impl Fn(usize) -> Result<usize, f64>) {
        self.table = to;
        for at in &mut self.at {
            *at = at.and_then(&place);
        }
    }
}

/// Which of some tables is meant by a name, or by a file that is that of one table.
///
/// # Arguments
/// * `tables` - the name by which people call each, and its file
pub(super) fn which(
    check: &Check<'_>,
    tables: &[(&str, &str)],
    name: &Spanned<String>,
) -> Option<usize> {
    let with = |pick: fn(&(&str, &str)) -> String| -> Vec<usize> {
        let own = (0..tables.len()).filter(|&of| pick(&tables[of]) == name.value);
        own.collect()
    };
    let (named, of_file) = (with(|t| t.0.to_owned()), with(|t| t.1.to_owned()));
    match (named.as_slice(), of_file.as_slice()) {
        ([only], _) | ([], [only]) => Some(*only),
        ([], []) => {
            let known: Vec<String> = tables.iter().map(|(name, _)| (*name).to_owned()).collect();
            let near = suggest::nearest(&name.value, known.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            check.refuse(
                &name.span,
                format!("no [[observe]] reads `{}`{hint}", name.value),
                format!("`rows` is {}", suggest::list(&known)),
            );
            None
        }
        _ => {
            let message = format!(
                "several [[observe]] read `{}`, and which is meant is not said",
                name.value
            );
            check.refuse(&name.span, message, "give each a `name`, and say that");
            None
        }
    }
}

/// Columns of a table, at the rows that are kept of it (all where none are named).
pub(super) fn columns(
    check: &Check<'_>,
    table: &Table,
    names: &[Spanned<String>],
    kept: &[usize],
) -> Option<Vec<Vec<String>>> {
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let at = table.find(&name.value);
        let at = at.map_err(|problem| check.add(problem.at(check.source.place(&name.span))));
        let texts = table.texts(at.ok()?);
        let texts = texts.map_err(|problems| check.extend(problems)).ok()?;
        columns.push(match kept.is_empty() {
            true => texts,
            false => kept.iter().map(|&row| texts[row].clone()).collect(),
        });
    }
    Some(columns)
}

/// Rows with the same cells in all columns, in the order in which they appear.
pub(super) fn groups(columns: &[Vec<String>], rows: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<Vec<&str>, usize> = HashMap::new();
    for row in 0..rows {
        let key: Vec<&str> = columns.iter().map(|c| c[row].as_str()).collect();
        let group = *known.entry(key).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(row);
    }
    groups
}
