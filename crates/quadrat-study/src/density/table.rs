//! The table of an estimate of two columns.

use quadrat::density::{ConditionalEstimate, Estimate2d};
use quadrat::linalg::Mat;

use super::common::{OWN, quoted};
use crate::answer::draw_name;
use crate::diagnostic::{Problem, Problems};
use crate::numbers::exact;
use crate::study::density::Density;

/// Most draws times cells that are written.
const MOST_NUMBERS: usize = 10_000_000;

/// What is written of every cell.
pub struct Table<'a> {
    places: [Vec<f64>; 2],
    numbers: [&'a [f64]; 3],
    draws: Box<dyn Fn(usize, u64) -> Mat<f64> + 'a>,
}

impl<'a> Table<'a> {
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
pub fn csv(args: &Density, names: &[String], table: Table<'_>) -> Result<String, Problems> {
    let wanted = args.draws.map_or(0, usize::from);
    let [x, y] = &table.places;
    let cells = x.len() * y.len();
    if wanted * cells > MOST_NUMBERS {
        let message =
            format!("{wanted} draws of {cells} cells are more than {MOST_NUMBERS} numbers");
        return Err(Problem::new(message)
            .remedy("ask for fewer --draws, or a smaller --grid")
            .into());
    }
    let draws = (wanted > 0).then(|| (table.draws)(wanted, args.seed));
    let names = names.iter().map(|name| quoted(name));
    let mut out = names.collect::<Vec<String>>().join(",");
    out.push_str(&format!(",{}", OWN.join(",")));
    (1..=wanted).for_each(|k| out.push_str(&format!(",{}", draw_name(k))));
    out.push('\n');
    for cell in 0..cells {
        let places = [x[cell / y.len()], y[cell % y.len()]];
        let numbers = table.numbers.map(|numbers| numbers[cell]);
        let drawn = draws
            .iter()
            .flat_map(|d| (0..wanted).map(move |k| d[(cell, k)]));
        let all = places.into_iter().chain(numbers).chain(drawn);
        let cells: Vec<String> = all.map(exact).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    Ok(out)
}
