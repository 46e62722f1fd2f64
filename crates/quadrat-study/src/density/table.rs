//! The table of an estimate of two columns.

use quadrat::density::{ConditionalEstimate, Estimate2d};
use quadrat::linalg::Mat;

use super::common::own_table;
use crate::columns::Table;
use crate::diagnostic::{Problem, Problems};
use crate::study::density::Density;

/// Most draws times cells that are written.
const MOST_NUMBERS: usize = 10_000_000;

/// What is written of every cell.
pub struct Cells<'a> {
    places: [Vec<f64>; 2],
    numbers: [&'a [f64]; 3],
    draws: Box<dyn Fn(usize, u64) -> Mat<f64> + 'a>,
}

impl<'a> Cells<'a> {
    /// Of a density of two columns.
    pub fn of(estimate: &'a Estimate2d) -> Self {
        Self {
            places: [estimate.places(0), estimate.places(1)],
            numbers: [estimate.density(), estimate.lower(), estimate.upper()],
            draws: Box::new(|draws, seed| estimate.draws(draws, seed)),
        }
    }

    /// Of densities of one column given another.
    pub fn given(estimate: &'a ConditionalEstimate) -> Self {
        Self {
            places: [estimate.places(0), estimate.places(1)],
            numbers: [estimate.density(), estimate.lower(), estimate.upper()],
            draws: Box::new(|draws, seed| estimate.draws(draws, seed)),
        }
    }
}

/// One row per cell: its place, the density, its band, and draws.
pub fn table(args: &Density, names: &[String], cells: Cells<'_>) -> Result<Table, Problems> {
    let mut out = own_table(None, names, args.draws.map_or(0, usize::from));
    fill(args, &mut out, None, cells)?;
    Ok(out)
}

/// Adds these rows to a table; those of a group behind its name.
pub fn fill(
    args: &Density,
    out: &mut Table,
    group: Option<&String>,
    cells: Cells<'_>,
) -> Result<(), Problems> {
    let wanted = args.draws.map_or(0, usize::from);
    let [x, y] = &cells.places;
    let count = x.len() * y.len();
    if wanted * count > MOST_NUMBERS {
        let message =
            format!("{wanted} draws of {count} cells are more than {MOST_NUMBERS} numbers");
        return Err(Problem::new(message)
            .remedy("ask for fewer --draws, or a smaller --grid")
            .into());
    }
    let draws = (wanted > 0).then(|| (cells.draws)(wanted, args.seed));
    for cell in 0..count {
        let places = [x[cell / y.len()], y[cell % y.len()]];
        let numbers = cells.numbers.map(|numbers| numbers[cell]);
        let drawn = draws
            .iter()
            .flat_map(|d| (0..wanted).map(move |k| d[(cell, k)]));
        out.push(group, places.into_iter().chain(numbers).chain(drawn));
    }
    Ok(())
}
