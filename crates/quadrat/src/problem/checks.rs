//! What must hold before any work starts.

use crate::error::InputError;
use crate::link::Link;
use crate::parameter::Parameter;
use crate::problem::observations::Observations;
use crate::problem::pooled::is_pooled;

/// Whether the rows can tell anything about the free hyperparameters.
pub(crate) fn learnable(
    tables: &[Observations],
    parameters: &[Parameter],
) -> Result<(), InputError> {
    let rows: usize = tables.iter().map(|t| t.supports.len()).sum();
    let free: Vec<String> = parameters
        .iter()
        .filter(|p| !p.fixed)
        .map(|p| p.name.clone())
        .collect();
    if free.is_empty() {
        return Ok(());
    }
    if rows < 2 {
        return Err(InputError::TooFewRows { rows, free });
    }
    let support = tables[0].supports.rows(&[0]);
    let value = tables[0].typical().first().copied();
    let same = tables.iter().all(|t| {
        let typical = t.typical();
        (0..t.supports.len())
            .all(|i| typical.get(i).copied() == value && t.supports.rows(&[i]) == support)
    });
    if same {
        return Err(InputError::AllRowsEqual { rows, free });
    }
    Ok(())
}

/// Weights of an average add up to one but for rounding of many.
pub(crate) const AVERAGED: f64 = 1e-9;

/// Refuses sums and averages after a link where they mean nothing or cannot be had.
pub(crate) fn links(tables: &[Observations]) -> Result<(), InputError> {
    for table in tables {
        let name = table.likelihood.name();
        for row in 0..table.supports.len() {
            let size = table.supports.size(row);
            if table
                .likelihood
                .mean_link()
                .is_some_and(Link::is_probability)
                && !table.supports.is_point(row)
                && (size - 1.0).abs() > AVERAGED
            {
                return Err(InputError::Range {
                    what: format!("the total weight of the support of a `{name}` row"),
                    row,
                    value: size,
                    requirement: "1, an average: sums of probabilities are no probability",
                });
            }
        }
        if table.likelihood.mean_link().is_some() {
            let weights = table.supports.weight();
            let negative = |row: &usize| table.supports.atoms(*row).any(|a| weights[a] <= 0.0);
            if let Some(row) = (0..table.supports.len()).find(negative) {
                return Err(InputError::Range {
                    what: format!("a weight in the support of a `{name}` row"),
                    row,
                    value: table.supports.size(row),
                    requirement: "above zero, like all weights of the row: a sum after a link has no logarithm else",
                });
            }
        }
    }
    for (i, table) in tables.iter().enumerate() {
        let other = |t: &&Observations| {
            let links = (t.likelihood.link(), table.likelihood.link());
            t.output == table.output && matches!(links, (Some(a), Some(b)) if a != b)
        };
        if tables[..i].iter().any(|t| other(&t)) {
            return Err(InputError::Unavailable {
                what: "two links behind one function",
                remedy: "give counts and waiting times of one output the same link",
            });
        }
    }
    for table in tables
        .iter()
        .filter(|t| t.likelihood.has_noise_behind_link())
    {
        let is_other = |t: &Observations| t.output == table.output && t.likelihood.is_linear();
        if tables.iter().any(is_other) {
            return Err(InputError::Unavailable {
                what: "amounts behind a link beside values of the same function",
                remedy: "a function has one link: give both tables the same one, or fit them apart",
            });
        }
    }
    if tables.iter().any(is_pooled) && tables.iter().any(|t| t.likelihood.is_linear()) {
        return Err(InputError::Unavailable {
            what: "counts, waiting times or answers over boxes, regions or bags beside values of the function",
            remedy: "fit them apart, or give the counts a `gaussian` likelihood with known variance",
        });
    }
    Ok(())
}
