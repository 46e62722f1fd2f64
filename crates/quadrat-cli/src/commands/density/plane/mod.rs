//! `quadrat density` of two columns.

mod contours;
mod figure;
mod picture;
mod said;

use std::io::IsTerminal;

use anyhow::Result;
use quadrat::density::Estimate2d;

use super::super::print;
use super::common::{OWN, correction, quoted, refused};
use super::rows::Rows;
use crate::args::Density;
use crate::diagnostic::{Paint, Problem, Problems};
use crate::engine::draw_name;
use crate::numbers::exact;
use crate::output::Staged;

/// Cells along each axis unless other numbers are asked for.
const CELLS: usize = 60;
/// Most draws times cells that are written.
const MOST_NUMBERS: usize = 10_000_000;

/// Runs the command.
pub fn run(args: &Density, rows: &Rows) -> Result<()> {
    let estimate = estimate(args, rows)?;
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        staged.bytes(output, csv(args, rows, &estimate)?.as_bytes())?;
    }
    if let Some(plot) = &args.plot {
        staged.bytes(plot, &figure::figure(plot, args, rows, &estimate)?)?;
    }
    let written = staged.finish()?;
    if args.json {
        return print(&said::json(args, rows, &estimate)?);
    }
    if args.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut text = said::summary(args, rows, &estimate, paint);
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
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
    let builder = rows.plane().ok_or_else(|| {
        Problem::new("two columns are needed".to_owned()).remedy("give --column twice")
    })?;
    builder
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

/// One row per cell: its place, the density, its band, and draws.
fn csv(args: &Density, rows: &Rows, estimate: &Estimate2d) -> Result<String, Problems> {
    let wanted = args.draws.map_or(0, usize::from);
    let [x, y] = [0, 1].map(|axis| estimate.places(axis));
    if wanted * x.len() * y.len() > MOST_NUMBERS {
        let message = format!(
            "{wanted} draws of {} cells are more than {MOST_NUMBERS} numbers",
            x.len() * y.len()
        );
        return Err(Problem::new(message)
            .remedy("ask for fewer --draws, or a smaller --grid")
            .into());
    }
    let draws = (wanted > 0).then(|| estimate.draws(wanted, args.seed));
    let names = rows.names.iter().map(|name| quoted(name));
    let mut out = names.collect::<Vec<String>>().join(",");
    out.push_str(&format!(",{}", OWN.join(",")));
    (1..=wanted).for_each(|k| out.push_str(&format!(",{}", draw_name(k))));
    out.push('\n');
    for cell in 0..x.len() * y.len() {
        let numbers = [
            x[cell / y.len()],
            y[cell % y.len()],
            estimate.density()[cell],
            estimate.lower()[cell],
            estimate.upper()[cell],
        ];
        let drawn = draws
            .iter()
            .flat_map(|d| (0..wanted).map(move |k| d[(cell, k)]));
        let cells: Vec<String> = numbers.into_iter().chain(drawn).map(exact).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    Ok(out)
}
