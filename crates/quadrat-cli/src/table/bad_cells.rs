//! Cells of a table that cannot be used: the first are shown, all are counted.

use std::collections::BTreeMap;

use crate::diagnostic::{Problem, Problems};
use crate::numbers::count;

/// How many bad cells of one table are shown before the rest is only counted.
pub const SHOWN_CELLS: usize = 20;

/// Problems of one reading.
#[derive(Debug, Default)]
pub struct BadCells {
    shown: Vec<Problem>,
    /// So many in every column; without a column those with whole rows.
    of_column: BTreeMap<Option<usize>, usize>,
}

impl BadCells {
    /// Adds one; `problem` says what to show, where it is among the first.
    pub fn add(&mut self, column: Option<usize>, problem: impl FnOnce() -> Problem) {
        *self.of_column.entry(column).or_default() += 1;
        if self.shown.len() < SHOWN_CELLS {
            self.shown.push(problem());
        }
    }

    /// `Ok` when nothing was found; else what is shown and, where that is not all, how many there are in every column.
    pub fn or<T>(self, name: &str, headers: &[String], value: T) -> Result<T, Problems> {
        let found: usize = self.of_column.values().sum();
        let mut problems = Problems(self.shown);
        if found > problems.0.len() {
            for (column, bad) in self.of_column {
                let header = column.and_then(|at| headers.get(at));
                let message = match header {
                    Some(header) => format!(
                        "{name}, column `{header}`: {} cannot be used",
                        count(bad, "cell")
                    ),
                    None => format!("{name}: {} cannot be used", count(bad, "row")),
                };
                problems.push(Problem::new(message).tally());
            }
        }
        problems.or(value)
    }
}
