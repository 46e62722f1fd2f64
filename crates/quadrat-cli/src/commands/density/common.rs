//! What densities of one and two columns have in common: outputs and refusals.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;
use quadrat::density::{Answer, Correction, Density as Builder, DensityError, Integration};
use serde_json::{Value, json};

use super::super::figures::drawn;
use super::super::{print, replacing};
use super::answers::Answers;
use super::rows::Rows;
use crate::args::{CorrectWord, Density, IntegrateWord};
use crate::diagnostic::{Paint, Problem, Problems};
use crate::engine::draw_name;
use crate::numbers::{beside, count};
use crate::output::{Staged, writable};

/// Probability left out at each end of a figure, where nothing is seen.
pub const UNSEEN: f64 = 1e-3;
/// Columns of the table that is written, beside those of the places.
pub const OWN: [&str; 3] = ["density", "lower", "upper"];
/// Cells of one column unless another number is asked for.
const CELLS: usize = 400;

/// How draws are mended.
pub fn correction(args: &Density) -> Correction {
    match args.correct {
        CorrectWord::Is => Correction::ImportanceSampling,
        CorrectWord::None => Correction::None,
    }
}

/// What is done with hyperparameters.
pub fn integration(args: &Density) -> Integration {
    match args.integrate {
        IntegrateWord::Auto => Integration::Auto,
        IntegrateWord::Map => Integration::Map,
        IntegrateWord::Ccd => Integration::Ccd,
    }
}

/// The builder with what is said of it on the command line.
pub fn configured<'a>(builder: Builder<'a>, args: &Density) -> Builder<'a> {
    let mut out = builder
        .cells(args.grid.map_or(CELLS, |grid| grid[0]))
        .level(args.level)
        .log(args.log)
        .seed(args.seed)
        .correct(correction(args))
        .integrate(integration(args));
    if let Some(&(lower, upper)) = args.bounds.first() {
        out = out.bounds(lower, upper);
    }
    if let Some(&(lower, upper)) = args.range.first() {
        out = out.range(lower, upper);
    }
    out
}

/// Checks the files that will be written.
pub fn outputs(args: &Density, rows: &Rows) -> Result<(), Problems> {
    if args.output.is_some() {
        no_column_twice(args, rows)?;
    }
    let outputs: Vec<PathBuf> = args.output.iter().chain(&args.plot).cloned().collect();
    let inputs: Vec<&Path> = [&args.table]
        .into_iter()
        .chain(&args.inside)
        .map(PathBuf::as_path)
        .collect();
    spare(&inputs, &outputs)?;
    writable(&outputs)
}

/// Refuses a table in which two columns would have one name.
pub fn no_column_twice(args: &Density, rows: &Rows) -> Result<(), Problems> {
    let draws = usize::from(args.draws.unwrap_or(0));
    let is_draw = |name: &str| (1..=draws).any(|draw| draw_name(draw) == name);
    let names: Vec<&String> = rows.names.iter().chain(&args.group).collect();
    let clash = names.iter().enumerate().find(|(i, name)| {
        OWN.contains(&name.as_str()) || is_draw(name) || names[..*i].contains(name)
    });
    let Some((_, name)) = clash else {
        return Ok(());
    };
    let message = format!("the table of the density would have two columns named `{name}`");
    let remedy = "rename that column in the table";
    Err(Problem::new(message).remedy(remedy).into())
}

/// Refuses to write over what is read.
fn spare(inputs: &[&Path], outputs: &[PathBuf]) -> Result<(), Problems> {
    let mut problems = Problems::default();
    for output in replacing(inputs, outputs) {
        let message = format!("the output `{}` would replace the table", output.display());
        problems.push(Problem::new(message).remedy("choose another file"));
    }
    if let [first, second] = outputs
        && first == second
    {
        let message = format!("`{}` is asked for twice", first.display());
        problems.push(Problem::new(message).remedy("give -o and --plot files of their own"));
    }
    problems.or(())
}

/// A refusal of the library, with the place of its row and the flags that mend it.
pub fn refused(rows: &Rows, error: &DensityError) -> Problems {
    refused_of(rows, None, error)
}

/// The same of one of several columns.
fn refused_of(rows: &Rows, named: Option<usize>, error: &DensityError) -> Problems {
    let column = named.unwrap_or(0);
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
            at(row, column, message, "widen --bounds, or delete the row")
        }
        DensityError::NoLogarithm { row, value } => {
            let message = format!("a logarithmic axis has no place for {value}");
            at(row, column, message, "leave --log out, or delete the row")
        }
        DensityError::Weight { row, value } => {
            let message = format!("the weight is {value}; it must be finite, zero or more");
            at(row, rows.last(), message, "mend the cell")
        }
        DensityError::Interval { row, lower, upper } => {
            let message = format!("the interval begins at {lower} and ends at {upper}");
            at(row, 0, message, "swap the two ends")
        }
        DensityError::Line { row, value } => {
            let message = format!(
                "the box begins and ends at {value}: all its values lie on a line, and a density has no lines"
            );
            at(row, column, message, "give both of its edges")
        }
        DensityError::Beyond { count: n, first } => {
            let message = format!(
                "{} outside of the polygons, the first is this",
                count(n, "row")
            );
            let remedy = "delete them, or give polygons with --inside that hold them";
            at(first, column, message, remedy)
        }
        DensityError::Column { column, ref error } => refused_of(rows, Some(column), error),
        ref other => {
            let remedy = match other {
                DensityError::Setting { .. } => "change --bounds, --range, --grid or --log",
                DensityError::OnePlace { .. } => "leave --given out",
                DensityError::TooMany { .. } => "divide the column by a constant",
                DensityError::Constant { .. } => {
                    "choose another --column, or give intervals with --interval"
                }
                _ => "look at the rows of the table",
            };
            let said = match named.and_then(|column| rows.names.get(column)) {
                Some(name) => format!("column `{name}`: {other}"),
                _ => other.to_string(),
            };
            Problem::new(said).remedy(remedy).into()
        }
    }
}

/// Writes the files that are asked for; their names.
pub fn staged(args: &Density, answers: &dyn Answers) -> Result<Vec<PathBuf>> {
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        staged.bytes(output, answers.csv()?.as_bytes())?;
    }
    if let Some(plot) = &args.plot {
        let (summary, warnings) = (answers.sentences(), answers.warnings());
        let figures = answers.figures();
        let bytes = drawn(plot, &answers.title(), summary, warnings, figures)?;
        staged.bytes(plot, &bytes)?;
    }
    staged.finish()
}

/// Prints what is asked for: JSON, nothing, or the summary with the files written.
pub fn told(args: &Density, written: &[PathBuf], answers: &dyn Answers) -> Result<()> {
    if args.json {
        return print(&pretty(&answers.json())?);
    }
    if args.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut text = answers.summary(paint);
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
}

/// JSON as text, with a newline at its end.
pub fn pretty(value: &Value) -> Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// The number with its interval. Its width over four is about a standard deviation, which says how
/// many digits are worth telling.
pub fn interval(answer: &Answer) -> String {
    let sd = (answer.upper - answer.lower) / 4.0;
    let [value, lower, upper] = [answer.value, answer.lower, answer.upper].map(|x| beside(x, sd));
    format!("{value}  ({lower} to {upper})")
}

/// The same as JSON.
pub fn as_json(answer: &Answer) -> Value {
    json!({ "value": answer.value, "lower": answer.lower, "upper": answer.upper })
}

/// A name as a cell of CSV.
pub fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", name.replace('"', "\"\""));
    }
    name.to_owned()
}
