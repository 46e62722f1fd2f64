//! Rows that are added to those of a fit, with every event counted once.

use super::{Overlap, Treatment, counted_once, row, words};
use crate::error::InputError;
use crate::problem::observations::Observations;

/// The tables of a fit and one more, with every event counted once, and what people should know of
/// it; as they are where the rows of the fit were meant to count events of others again.
///
/// # Arguments
/// * `tables` - the last is the new one
/// * `name` - what a row is called, counted from 0 over all tables
///
/// # Errors
/// [`InputError::Unavailable`] where nothing would be left of a table of the fit, whose noise and
/// dispersion others may share, and where some rows were seen several times.
pub(in crate::model) fn grown(
    tables: Vec<Observations>,
    name: &dyn Fn(usize) -> String,
) -> Result<(Vec<Observations>, Vec<String>), InputError> {
    let Some((_, before)) = tables.split_last() else {
        return Ok((tables, Vec::new()));
    };
    let settled: usize = before.iter().map(|table| table.supports.len()).sum();
    let mut found = counted_once(&tables)?;
    let is_new = |row: &usize| *row >= settled;
    let left_out = found.left_out();
    let concerns = |o: &Overlap| {
        let mut rows = o.rows.iter().chain([&o.pair.0, &o.pair.1]);
        rows.any(is_new)
    };
    // What the rows of the fit share was told then.
    found.overlaps.retain(concerns);
    if found.overlaps.is_empty() || counts_again(before)? {
        return Ok((tables, Vec::new()));
    }
    if tables.iter().any(row::is_repeated) {
        return Err(InputError::Unavailable {
            what: "counts that hold those of others, of which some were seen several times",
            remedy: "take out the rows that count others again, or write repeated rows out",
        });
    }
    let mut first = 0;
    for table in before {
        let end = first + table.supports.len();
        if (first..end).all(|row| left_out.binary_search(&row).is_ok()) {
            return Err(InputError::Unavailable {
                what: "adding the parts of all totals in a table of the fit",
                remedy: "fit all rows together",
            });
        }
        first = end;
    }
    let told = words::warnings(&found.overlaps, name);
    Ok((found.tables, told))
}

/// Whether rows count events of others again although that could be helped.
fn counts_again(tables: &[Observations]) -> Result<bool, InputError> {
    let found = counted_once(tables)?;
    let is_in_shares = tables.iter().any(Observations::is_in_shares);
    let mut overlaps = found.overlaps.iter();
    Ok(overlaps.any(|overlap| match overlap.treatment {
        Treatment::Kept(_) => false,
        Treatment::Shares => !is_in_shares,
        Treatment::Differences | Treatment::LeftOut => true,
    }))
}
