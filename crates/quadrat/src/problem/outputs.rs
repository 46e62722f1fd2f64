//! Which output a row is of: one more coordinate of its support.

use super::observations::Observations;
use super::pooled::per_unit;
use crate::error::InputError;
use crate::kernel::Kernel;
use crate::support::Functionals;

/// Functionals as functions of the kernel's columns, of one output where the kernel has several.
///
/// Rows that name their output by its level in the kernel's own column may be of different outputs.
pub(crate) fn place(
    kernel: &Kernel,
    supports: &Functionals,
    output: Option<&str>,
) -> Result<Functionals, InputError> {
    let unknown = || InputError::Output {
        name: output.map(str::to_owned),
        known: kernel.outputs().to_vec(),
    };
    let Some(column) = kernel.output_column() else {
        return match output {
            None => without_width(kernel, supports.select(kernel.columns())?),
            Some(_) => Err(unknown()),
        };
    };
    let name = &kernel.columns()[column];
    if let Some(output) = output {
        let level = kernel.outputs().iter().position(|o| o == output);
        let level = level.ok_or_else(unknown)? as f64;
        let placed = supports
            .select(kernel.inputs())?
            .with_input(name, level)
            .select(kernel.columns())?;
        return without_width(kernel, placed);
    }
    if !supports.dims().contains(name) {
        return Err(unknown());
    }
    let placed = without_width(kernel, supports.select(kernel.columns())?)?;
    let last = kernel.outputs().len() as f64 - 1.0;
    for row in 0..placed.len() {
        let (low, high) = placed.extent(row, column);
        if low != high || low.fract() != 0.0 || !(0.0..=last).contains(&low) {
            return Err(InputError::Range {
                what: format!("the output (`{name}`)"),
                row,
                value: if low == high { low } else { high - low },
                requirement: "the number of one output, counted from 0",
            });
        }
    }
    Ok(placed)
}

/// Refuses supports that extend along labels.
fn without_width(kernel: &Kernel, placed: Functionals) -> Result<Functionals, InputError> {
    for d in kernel.label_columns() {
        let is_wide = |atom: usize| {
            let region = placed.region(atom).map(|region| &placed.regions()[region]);
            let lies_along = region.is_some_and(|region| region.columns.contains(&Some(d)));
            lies_along || placed.width(d)[atom] != 0.0
        };
        let wide = |row: &usize| placed.atoms(*row).any(is_wide);
        if let Some(row) = (0..placed.len()).find(wide) {
            let (low, high) = placed.extent(row, d);
            let name = &kernel.columns()[d];
            return Err(InputError::Range {
                what: format!("the width along `{name}`, which holds the labels of `iid({name})`,"),
                row,
                value: high - low,
                requirement: "zero: labels have no width between them; give the label as a point",
            });
        }
    }
    Ok(placed)
}

/// The tables as functions of the kernel's columns; those behind a link per unit of what they look
/// at.
pub(crate) fn restrict(
    kernel: &Kernel,
    tables: &[Observations],
) -> Result<Vec<Observations>, InputError> {
    let placed = in_columns(kernel, tables)?;
    Ok(placed.into_iter().map(per_unit).collect())
}

/// The tables as functions of the kernel's columns, sums as sums also behind a link.
pub(crate) fn in_columns(
    kernel: &Kernel,
    tables: &[Observations],
) -> Result<Vec<Observations>, InputError> {
    if tables.is_empty() {
        return Err(InputError::Empty);
    }
    tables
        .iter()
        .map(|table| {
            // It may have been deserialised.
            table.likelihood.check()?;
            Ok(Observations {
                supports: place(kernel, &table.supports, table.output.as_deref())?,
                ..table.clone()
            })
        })
        .collect()
}

/// The output of a row that was placed, by its level in the column of the outputs, if there is one.
pub(crate) fn output_of(column: Option<usize>, placed: &Functionals, row: usize) -> usize {
    let Some(column) = column else {
        return 0;
    };
    let atom = placed.atoms(row).next();
    atom.map_or(0, |a| placed.lower(column)[a] as usize)
}

/// Refuses outputs that no row is of: nothing could be said of them.
pub(crate) fn all_observed(kernel: &Kernel, placed: &[Observations]) -> Result<(), InputError> {
    let (mut seen, column) = (vec![false; kernel.outputs().len()], kernel.output_column());
    for table in placed {
        for row in 0..table.supports.len() {
            if let Some(seen) = seen.get_mut(output_of(column, &table.supports, row)) {
                *seen = true;
            }
        }
    }
    match seen.iter().position(|s| !s) {
        None => Ok(()),
        Some(missing) => Err(InputError::Unobserved {
            output: kernel.outputs()[missing].clone(),
        }),
    }
}
