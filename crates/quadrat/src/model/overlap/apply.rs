//! Tables with rows that were made others, and without those that were left out.

use std::collections::HashMap;

use super::row::{EventRow, counts};
use crate::error::InputError;
use crate::problem::observations::Observations;
use crate::support::{Atom, Functionals};

/// The tables after some of their rows were changed or left out; `None` for one of which nothing is
/// left.
///
/// # Arguments
/// * `dims` - the dimensions that sides of rows are along
pub(super) fn apply(
    table: &Observations,
    rows: &[&EventRow],
    dims: &[String],
) -> Result<Option<Observations>, InputError> {
    let mut goes = vec![false; table.supports.len()];
    rows.iter().for_each(|row| goes[row.row] = row.goes);
    let mut changed = HashMap::new();
    let Some((lower, upper, exposure)) = counts(&table.likelihood) else {
        return Ok(Some(table.clone()));
    };
    let (mut lower, mut upper, mut exposure) = (lower.to_vec(), upper.to_vec(), exposure.to_vec());
    for row in rows.iter().filter(|row| row.is_changed && !row.goes) {
        (lower[row.row], upper[row.row]) = row.count;
        exposure[row.row] = row.exposure;
        if !row.sides.is_empty() {
            let names = table.supports.dims().iter();
            let along = names.map(|name| dims.iter().position(|dim| dim == name));
            let along: Vec<Option<usize>> = along.collect();
            changed.insert(row.row, atoms(row, &table.supports, &along));
        }
    }
    // Rows of successes are left out or stay.
    let likelihood = match table.likelihood.with_counts(lower, upper, exposure)? {
        Some(counted) => counted,
        None => table.likelihood.clone(),
    };
    let mut shares = vec![1.0; goes.len()];
    rows.iter().for_each(|row| shares[row.row] = row.share);
    let table = Observations {
        supports: table.supports.with_rows(&changed),
        likelihood,
        ..table.clone()
    };
    let table = if rows.iter().any(|row| row.share < 1.0) {
        table.in_shares(shares)?
    } else {
        table
    };
    let kept: Vec<usize> = (0..goes.len()).filter(|&row| !goes[row]).collect();
    match kept.len() {
        0 => Ok(None),
        n if n == goes.len() => Ok(Some(table)),
        _ => table.rows(&kept).map(Some),
    }
}

/// The boxes that a row is made of, with its size shared by their volumes.
///
/// # Arguments
/// * `own` - the supports of its table
/// * `along` - for every dimension of these the one of the row's sides
pub(super) fn atoms(row: &EventRow, own: &Functionals, along: &[Option<usize>]) -> Vec<Atom> {
    let like = own.atoms(row.row).start;
    let sides = own.sides_of(like).into_iter().zip(along);
    let lines: Vec<Vec<(f64, f64)>> = sides
        .map(|((lower, width), along)| match along {
            Some(d) if row.varies_along(*d) => {
                row.sides[*d].iter().map(|(a, b)| (*a, b - a)).collect()
            }
            _ => vec![(lower, width)],
        })
        .collect();
    let mut boxes: Vec<(Vec<(f64, f64)>, f64)> = vec![(Vec::new(), 1.0)];
    for line in &lines {
        let longer = |(sides, volume): &(Vec<(f64, f64)>, f64)| {
            let (sides, volume) = (sides.clone(), *volume);
            line.iter().map(move |side| {
                let width = if side.1 > 0.0 { side.1 } else { 1.0 };
                ([sides.as_slice(), &[*side]].concat(), volume * width)
            })
        };
        boxes = boxes.iter().flat_map(longer).collect();
    }
    let whole: f64 = boxes.iter().map(|(_, volume)| volume).sum();
    let atom = |(sides, volume): (Vec<(f64, f64)>, f64)| Atom {
        like,
        sides,
        weight: row.size * (volume / whole),
    };
    boxes.into_iter().map(atom).collect()
}
