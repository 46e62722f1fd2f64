//! `quadrat density`: the density of a column, with its band.

mod picture;
mod rows;
mod said;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;
use quadrat::density::{Correction, DensityError, Estimate};
use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Panel, Places, Predicted, Report};

use super::print;
use crate::args::{CorrectWord, Density};
use crate::diagnostic::{Paint, Problem, Problems};
use crate::engine::draw_name;
use crate::numbers::{count, exact, percent};
use crate::output::{Staged, writable};
use rows::Rows;

/// Probability left out at each end of a figure, where nothing is seen.
const UNSEEN: f64 = 1e-3;
/// Columns of the table that is written, beside that of the places.
const OWN: [&str; 3] = ["density", "lower", "upper"];
/// Values that are drawn as ticks below the curve.
const MOST_TICKS: usize = 1000;
/// Pixels of a PNG image per unit of the SVG.
const FINE: f64 = 2.0;

/// Runs the command.
pub fn run(args: &Density) -> Result<()> {
    let rows = Rows::read(args)?;
    no_column_twice(args, &rows)?;
    let outputs: Vec<PathBuf> = args.output.iter().chain(&args.plot).cloned().collect();
    spare(&args.table, &outputs)?;
    writable(&outputs)?;
    let estimate = estimate(args, &rows)?;
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        staged.bytes(output, csv(args, &rows, &estimate).as_bytes())?;
    }
    if let Some(plot) = &args.plot {
        staged.bytes(plot, &figure(plot, &rows, &estimate)?)?;
    }
    let written = staged.finish()?;
    if args.json {
        return print(&said::json(&rows, &estimate)?);
    }
    if args.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut text = said::summary(&rows, &estimate, paint);
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
}

/// Refuses a table in which two columns would have one name.
fn no_column_twice(args: &Density, rows: &Rows) -> Result<(), Problems> {
    let draws = usize::from(args.draws.unwrap_or(0));
    let is_draw = |name: &str| (1..=draws).any(|draw| draw_name(draw) == name);
    let clashes = OWN.contains(&rows.name.as_str()) || is_draw(&rows.name);
    if args.output.is_none() || !clashes {
        return Ok(());
    }
    let message = format!(
        "the table of the density would have two columns named `{}`",
        rows.name
    );
    let remedy = "rename that column in the table";
    Err(Problem::new(message).remedy(remedy).into())
}

/// Refuses to write over the table.
fn spare(table: &Path, outputs: &[PathBuf]) -> Result<(), Problems> {
    let mut problems = Problems::default();
    let table = table.canonicalize().ok();
    for output in outputs {
        if output
            .canonicalize()
            .ok()
            .is_some_and(|real| Some(real) == table)
        {
            let message = format!("the output `{}` would replace the table", output.display());
            problems.push(Problem::new(message).remedy("choose another file"));
        }
    }
    if let [first, second] = outputs
        && first == second
    {
        let message = format!("`{}` is asked for twice", first.display());
        problems.push(Problem::new(message).remedy("give -o and --plot files of their own"));
    }
    problems.or(())
}

fn estimate(args: &Density, rows: &Rows) -> Result<Estimate, Problems> {
    let mut density = rows
        .density()
        .cells(usize::from(args.grid))
        .level(args.level)
        .log(args.log)
        .seed(args.seed)
        .correct(match args.correct {
            CorrectWord::Is => Correction::ImportanceSampling,
            CorrectWord::None => Correction::None,
        });
    if let Some((lower, upper)) = args.bounds {
        density = density.bounds(lower, upper);
    }
    if let Some((lower, upper)) = args.range {
        density = density.range(lower, upper);
    }
    density.estimate().map_err(|error| refused(rows, &error))
}

/// A refusal of the library, with the place of its row and the flags that mend it.
fn refused(rows: &Rows, error: &DensityError) -> Problems {
    let at = |row: usize, column: usize, message: String, remedy: &str| {
        let problem = Problem::new(message).remedy(remedy);
        problem.at(rows.place(row, column)).into()
    };
    // A place says which row it is.
    match *error {
        DensityError::Outside {
            row,
            value,
            lower,
            upper,
        } => {
            let message = format!("{value} lies outside of the bounds {lower} to {upper}");
            at(row, 0, message, "widen --bounds, or delete the row")
        }
        DensityError::NoLogarithm { row, value } => {
            let message = format!("a logarithmic axis has no place for {value}");
            at(row, 0, message, "leave --log out, or delete the row")
        }
        DensityError::Weight { row, value } => {
            let message = format!("the weight is {value}; it must be finite, zero or more");
            at(row, rows.last(), message, "mend the cell")
        }
        DensityError::Interval { row, lower, upper } => {
            let message = format!("the interval begins at {lower} and ends at {upper}");
            at(row, 0, message, "swap the two ends")
        }
        ref other => {
            let remedy = match other {
                DensityError::Setting { .. } => "change --bounds, --range or --log",
                DensityError::TooMany { .. } => "divide the column by a constant",
                DensityError::Constant { .. } => {
                    "choose another --column, or give intervals with --interval"
                }
                _ => "look at the rows of the table",
            };
            Problem::new(other.to_string()).remedy(remedy).into()
        }
    }
}

/// One row per cell: its place, the density, its band, and draws.
fn csv(args: &Density, rows: &Rows, estimate: &Estimate) -> String {
    let draws = args
        .draws
        .map(|n| estimate.draws(usize::from(n), args.seed));
    let count = draws.as_ref().map_or(0, quadrat::linalg::Mat::ncols);
    let mut out = format!("{},{}", quoted(&rows.name), OWN.join(","));
    (1..=count).for_each(|k| out.push_str(&format!(",{}", draw_name(k))));
    out.push('\n');
    for (j, place) in estimate.places().iter().enumerate() {
        let numbers = [
            *place,
            estimate.density()[j],
            estimate.lower()[j],
            estimate.upper()[j],
        ];
        let drawn = draws
            .iter()
            .flat_map(|d| (0..count).map(move |k| d[(j, k)]));
        let cells: Vec<String> = numbers.into_iter().chain(drawn).map(exact).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

/// A name as a cell of CSV.
fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", name.replace('"', "\"\""));
    }
    name.to_owned()
}

/// Cells within which there is something to see.
fn seen(estimate: &Estimate) -> std::ops::Range<usize> {
    let (mut sum, mut first, mut last) = (0.0, 0, estimate.masses().len());
    for (j, mass) in estimate.masses().iter().enumerate() {
        if sum < UNSEEN {
            first = j;
        }
        sum += mass;
        if sum > 1.0 - UNSEEN {
            last = j + 1;
            break;
        }
    }
    first..last
}

fn figure(path: &Path, rows: &Rows, estimate: &Estimate) -> Result<Vec<u8>> {
    let cells = seen(estimate);
    let places = estimate.places();
    let values: Vec<f64> = rows
        .values()
        .iter()
        .copied()
        .filter(|x| x.is_finite())
        .collect();
    let show = (1..=MOST_TICKS).contains(&values.len());
    let marked = if show { values } else { Vec::new() };
    let band = percent(estimate.level());
    let predicted = Predicted {
        label: "Density".to_owned(),
        at: Places::Points(places[cells.clone()].to_vec()),
        mean: estimate.density()[cells.clone()].to_vec(),
        lower: estimate.lower()[cells.clone()].to_vec(),
        upper: estimate.upper()[cells].to_vec(),
        level: estimate.level(),
    };
    let caption = format!(
        "The density of {} with its pointwise {band} band; the outermost {} of the probability are left out.",
        count(rows.len(), "row"),
        percent(2.0 * UNSEEN)
    );
    let figure = Figure::Curve(CurveFigure {
        heading: Heading::new("density", format!("Density of {}", rows.name)).with_caption(caption),
        x: Axis::new(&rows.name),
        panels: vec![Panel {
            y: Axis::new("Density"),
            predicted: vec![predicted],
            marked_label: if marked.is_empty() {
                String::new()
            } else {
                "Values".to_owned()
            },
            marked,
            ..Panel::default()
        }],
    });
    Ok(match path.extension().and_then(|e| e.to_str()) {
        Some("png") => quadrat_plot::png(&figure, FINE)?,
        Some("html") => {
            let report = Report {
                title: format!("Density of {}", rows.name),
                generated_by: format!("quadrat {}", crate::version::VERSION),
                summary: said::sentences(rows, estimate),
                warnings: said::warnings(rows, estimate),
                figures: vec![figure],
                ..Report::default()
            };
            quadrat_plot::html(&report).into_bytes()
        }
        _ => quadrat_plot::svg(&figure).into_bytes(),
    })
}
