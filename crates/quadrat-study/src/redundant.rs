//! Exact rows that follow from other exact rows, such as a total beside its parts, named and left
//! out.

use std::collections::HashSet;

use anyhow::Result;
use quadrat::likelihood::Noise;

use crate::engine;
use crate::numbers::{count, human};
use crate::resolve::{Observed, Resolved};

/// Rows that are named in the warning.
const NAMED: usize = 3;

/// The study without rows that follow from others, with a warning that names them; one that
/// contradicts others is refused.
pub fn distinct(mut resolved: Resolved) -> Result<Resolved> {
    if !resolved.tables.iter().any(has_exact_rows) {
        return Ok(resolved);
    }
    let model = engine::model(&resolved)?;
    let found = model
        .redundant_rows()
        .map_err(|error| engine::explain(&resolved, error))?;
    if found.is_empty() {
        return Ok(resolved);
    }
    let named = found.iter().take(NAMED).map(|row| {
        let (from, others) = (row.partner(), row.of.len() - 1);
        let address = |row| engine::address(&resolved, row);
        let others = match others {
            0 => String::new(),
            n => format!(" and {}", count(n, "other row")),
        };
        let misfit = match row.misfit {
            0.0 => String::new(),
            by => format!(" (but for {})", human(by.abs())),
        };
        format!(
            "{} from {}{others}{misfit}",
            address(row.row),
            address(from)
        )
    });
    let mut named = named.collect::<Vec<String>>().join("; ");
    if found.len() > NAMED {
        named.push_str("; ..");
    }
    let warning = format!(
        "{} from other exact rows and {} left out: {named}; {} in no leave-one-out check",
        match found.len() {
            1 => "1 exact row follows".to_owned(),
            n => format!("{n} exact rows follow"),
        },
        if found.len() == 1 { "was" } else { "were" },
        if found.len() == 1 {
            "it is"
        } else {
            "they are"
        },
    );
    resolved.warnings.push(warning);
    let goes: HashSet<usize> = found.iter().map(|row| row.row).collect();
    without(&mut resolved, &goes)?;
    resolved.whole = Some(model);
    Ok(resolved)
}

/// Leaves out some rows, counted over all tables, and a table of which nothing is left.
pub fn without(resolved: &mut Resolved, goes: &HashSet<usize>) -> Result<()> {
    let mut first = 0;
    let mut left = Vec::with_capacity(resolved.tables.len());
    let mut places = Vec::with_capacity(resolved.tables.len());
    let mut moves = Vec::with_capacity(resolved.tables.len());
    for table in std::mem::take(&mut resolved.tables) {
        let rows = table.places.len();
        let kept: Vec<usize> = (0..rows)
            .filter(|row| !goes.contains(&(first + row)))
            .collect();
        first += rows;
        places.push((!kept.is_empty()).then_some(left.len()));
        let mut moved: Vec<Result<usize, f64>> = (0..rows)
            .map(|row| Err(table.height(row).unwrap_or(f64::NAN) * table.places.volume(row)))
            .collect();
        (0..).zip(&kept).for_each(|(to, &row)| moved[row] = Ok(to));
        moves.push(moved);
        if kept.len() == rows {
            left.push(table);
        } else if !kept.is_empty() {
            left.push(table.keeping(kept)?);
        }
    }
    resolved.tables = left;
    for asked in &mut resolved.predictions {
        let rows = asked.rows.as_mut();
        if let Some((rows, table)) = rows.and_then(|rows| rows.table.map(|table| (rows, table))) {
            rows.moved(places[table], |row| moves[table][row]);
        }
        asked.table = asked.table.and_then(|table| places[table]);
    }
    Ok(())
}

/// Whether the noise variance of some row is known to be zero.
fn has_exact_rows(table: &Observed) -> bool {
    let Some(Noise::Known(known)) = table.likelihood.noise() else {
        return false;
    };
    known.contains(&0.0)
}
