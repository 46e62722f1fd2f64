//! `quadrat density` of two columns.

mod contours;
mod figure;
pub mod picture;
pub mod said;

use anyhow::Result;
use quadrat::density::Estimate2d;

use super::common::{correction, refused, staged, told};
use super::rows::Rows;
use super::table::{Table, csv};
use crate::args::Density;
use crate::diagnostic::{Problem, Problems};

/// Cells along each axis unless other numbers are asked for.
const CELLS: usize = 60;

/// Runs the command.
pub fn run(args: &Density, rows: &Rows) -> Result<()> {
    let estimate = estimate(args, rows)?;
    let written = staged(
        args,
        || csv(args, &rows.names, Table::of(&estimate)),
        |path| figure::figure(path, args, rows, &estimate),
    )?;
    told(
        args,
        &written,
        || said::json(args, rows, &estimate),
        |paint| said::summary(args, rows, &estimate, paint),
    )
}

/// What is said of each of two axes, in their order.
fn of_axes<T: Copy>(flag: &str, given: &[T], none: T) -> Result<[T; 2], Problems> {
    match given {
        [] => Ok([none; 2]),
        [one, other] => Ok([*one, *other]),
        _ => {
            let message = format!("{flag} is given {} times for two columns", given.len());
            let remedy = format!(
                "give {flag} twice, in the order of the columns; `-inf,inf` says nothing of one"
            );
            Err(Problem::new(message).remedy(remedy).into())
        }
    }
}

fn estimate(args: &Density, rows: &Rows) -> Result<Estimate2d, Problems> {
    let open = (f64::NEG_INFINITY, f64::INFINITY);
    let [x, y] = of_axes("--bounds", &args.bounds, open)?;
    let range = of_axes("--range", &args.range, open)?;
    of_axes("--within", &args.within, open)?;
    let is_said = |range: (f64, f64)| (range != open).then_some(range);
    let [m, n] = args.grid.unwrap_or([CELLS; 2]);
    rows.plane()?
        .cells(m, n)
        .level(args.level)
        .log(args.log, args.log)
        .seed(args.seed)
        .bounds(x, y)
        .range(is_said(range[0]), is_said(range[1]))
        .correct(correction(args))
        .estimate()
        .map_err(|error| refused(rows, &error))
}
