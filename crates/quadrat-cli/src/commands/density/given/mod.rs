//! `quadrat density --given`: the density of a column at every place of another.

mod figure;
mod said;

use anyhow::Result;
use quadrat::density::ConditionalEstimate;

use super::common::{correction, refused, staged, told};
use super::rows::Rows;
use super::table::{Table, csv};
use crate::args::Density;
use crate::diagnostic::{Problem, Problems};

/// Runs the command.
pub fn run(args: &Density, rows: &Rows) -> Result<()> {
    once(args)?;
    let estimate = estimate(args, rows)?;
    let told_of = said::Said::new(args, rows, &estimate);
    let written = staged(
        args,
        || csv(args, &rows.names, Table::given(&estimate)),
        |path| figure::figure(path, &told_of),
    )?;
    told(
        args,
        &written,
        || said::json(&told_of),
        |paint| said::summary(&told_of, paint),
    )
}

/// Refuses what is said twice: there is one density at each place.
fn once(args: &Density) -> Result<(), Problems> {
    let given = [
        ("--bounds", args.bounds.len()),
        ("--range", args.range.len()),
        ("--within", args.within.len()),
    ];
    let Some((flag, n)) = given.into_iter().find(|(_, n)| *n > 1) else {
        return Ok(());
    };
    let message = format!("{flag} is given {n} times");
    let remedy = format!("give {flag} once: with --given it speaks of the values of --column");
    Err(Problem::new(message).remedy(remedy).into())
}

fn estimate(args: &Density, rows: &Rows) -> Result<ConditionalEstimate, Problems> {
    let mut builder = rows
        .conditional()?
        .level(args.level)
        .log(false, args.log)
        .seed(args.seed)
        .correct(correction(args));
    if let Some([slices, cells]) = args.grid {
        builder = builder.cells(slices, cells);
    }
    if let Some(&(lower, upper)) = args.bounds.first() {
        builder = builder.bounds(lower, upper);
    }
    if let Some(&(lower, upper)) = args.range.first() {
        builder = builder.range(lower, upper);
    }
    builder.estimate().map_err(|error| refused(rows, &error))
}
