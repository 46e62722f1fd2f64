//! Counts of the same events in several rows, counted once.
//!
//! Rows of counts are independent given the function where they count different events. Rows whose
//! supports overlap count some events again: sums that grow from day to day, a total beside its
//! parts, the country beside its regions. Taken as they are they make the function far too sure.
//! A row with others within it is made what it counts beyond those,
//!
//! $$ y_{A \setminus \cup B_i} = y_A - \sum_i y_{B_i}, $$
//!
//! which is independent of them; a total of its parts is left out. Boxes along a line that have
//! parts in common, such as moving sums, count in shares (`partly`). Where nothing of this can be
//! done, rows stay as they are, and a warning says so. Values with noise are not
//! counts: a meter that is read each day reports sums that overlap, each with noise of its own.
//!
//! Successes among trials are of the same people where both numbers of a whole are the sums of
//! those of its parts: the whole is left out. All else is taken for samples of their own, which
//! surveys of a country and of its regions are.

mod apply;
mod kinds;
mod later;
mod nested;
mod partly;
mod row;
mod shared;
mod words;

pub use kinds::{Overlap, Treatment, WhyKept};
pub(super) use later::grown;
use row::{EventRows, by_output};

use super::Model;
use crate::error::InputError;
use crate::problem::observations::Observations;

/// Tables in which events are counted once, as far as that can be had.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CountedOnce {
    /// The tables, without rows that were left out; one of which nothing is left is not among them.
    pub tables: Vec<Observations>,
    /// What was found and done.
    pub overlaps: Vec<Overlap>,
}

impl CountedOnce {
    /// What people should know, a sentence or two each.
    ///
    /// # Arguments
    /// * `name` - what a row is called, counted from 0 over all tables
    #[must_use]
    pub fn warnings(&self, name: &dyn Fn(usize) -> String) -> Vec<String> {
        words::warnings(&self.overlaps, name)
    }

    /// The rows that were left out, ascending, counted from 0 over all tables.
    #[must_use]
    pub fn left_out(&self) -> Vec<usize> {
        let totals = self.overlaps.iter();
        let totals = totals.filter(|overlap| overlap.treatment == Treatment::LeftOut);
        let mut rows: Vec<usize> = totals.map(|overlap| overlap.pair.0).collect();
        rows.sort_unstable();
        rows
    }
}

/// Takes differences of rows that count events of other rows again; [`Model::fit`] does it unless
/// [`Model::with_overlapping_counts`] was asked.
///
/// Poisson and negative binomial counts over boxes, regions and bags of one output are compared, of
/// all tables, along the dimensions that all of these have, also those that no kernel uses: rows
/// that differ there count different events. Rows of one and the same place do so too. Of successes
/// among trials (binomial) a row is left out whose trials and successes are the sums of those of
/// rows that make it up.
///
/// # Arguments
/// * `tables` - all that observe one function
///
/// # Errors
/// [`InputError`] for tables that are not consistent.
///
/// # Numerics
/// O(n log n) for nested boxes; pairs of other rows that meet, up to some twenty millions, beyond
/// which nothing is said of them.
pub fn counted_once(tables: &[Observations]) -> Result<CountedOnce, InputError> {
    let mut made: Vec<Option<Observations>> = tables.iter().cloned().map(Some).collect();
    let mut overlaps = Vec::new();
    for group in by_output(tables) {
        let mut all = EventRows::new(&group)?;
        if all.rows.len() < 2 || all.dims.is_empty() {
            continue;
        }
        if !all.of_trials {
            nested::take_differences(&mut all.rows, &mut overlaps);
        }
        shared::totals_and_rest(&mut all, &mut overlaps);
        for &(number, _, table) in &group {
            let own = all.rows.iter().filter(|row| row.table == number);
            let own: Vec<&row::EventRow> = own.collect();
            if own
                .iter()
                .any(|row| row.goes || row.is_changed || row.share < 1.0)
            {
                made[number] = apply::apply(table, &own, &all.dims)?;
            }
        }
    }
    Ok(CountedOnce {
        tables: made.into_iter().flatten().collect(),
        overlaps,
    })
}

impl Model {
    /// Takes rows of counts as they are where they overlap too: as counts of different events.
    ///
    /// Without it differences are taken where one row is within another, see [`counted_once`].
    #[must_use]
    pub fn with_overlapping_counts(mut self) -> Self {
        self.keeps_overlaps = true;
        self
    }

    /// The model in which events are counted once, and what people should know of that; `None`
    /// where no rows of counts overlap.
    pub(super) fn counting_once(&self) -> Result<Option<(Self, Vec<String>)>, InputError> {
        if self.keeps_overlaps {
            return Ok(None);
        }
        let found = counted_once(&self.tables)?;
        if found.overlaps.is_empty() {
            return Ok(None);
        }
        if self.tables.iter().any(row::is_repeated) {
            return Err(InputError::Unavailable {
                what: "counts that hold those of others, of which some were seen several times",
                remedy: "take out the rows that count others again, or write repeated rows out",
            });
        }
        let told = found.warnings(&|row| format!("row {row}"));
        let mut model = self.clone().with_overlapping_counts();
        model.tables = found.tables;
        Ok(Some((model, told)))
    }
}
