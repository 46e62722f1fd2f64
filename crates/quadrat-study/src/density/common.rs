//! What densities of one and two columns have in common: settings, tables and refusals.

use std::ops::Range;

use anyhow::Result;
use quadrat::density::{Answer, Density as Builder, DensityError};
use serde_json::{Value, json};

use super::rows::Rows;
use crate::answer::draw_name;
use crate::columns::Table;
use crate::diagnostic::{Problem, Problems};
use crate::numbers::{beside, count};
use crate::study::density::Density;

/// Probability left out at each end of a figure, where nothing is seen.
pub const UNSEEN: f64 = 1e-3;
/// Columns of the table that is written, beside those of the places.
const OWN: [&str; 3] = ["density", "lower", "upper"];
/// The name of that table.
pub const TABLE: &str = "density";
/// Cells of one column unless another number is asked for.
const CELLS: usize = 400;

/// The builder with what is said of it.
pub fn configured<'a>(builder: Builder<'a>, args: &Density) -> Builder<'a> {
    let mut out = builder
        .cells(args.grid.map_or(CELLS, |grid| grid[0]))
        .level(args.level)
        .log(args.log)
        .seed(args.seed)
        .correct(args.correct)
        .integrate(args.integrate);
    if let Some(&(lower, upper)) = args.bounds.first() {
        out = out.bounds(lower, upper);
    }
    if let Some(&(lower, upper)) = args.range.first() {
        out = out.range(lower, upper);
    }
    out
}

/// Cells within which there is something to see, of masses that sum to `all`.
pub fn seen(masses: &[f64], all: f64) -> Range<usize> {
    let (mut sum, mut first, mut last) = (0.0, 0, masses.len());
    for (j, mass) in masses.iter().enumerate() {
        if sum < UNSEEN * all {
            first = j;
        }
        sum += mass;
        if sum > (1.0 - UNSEEN) * all {
            last = j + 1;
            break;
        }
    }
    first..last
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

/// The table of a density without its rows: the group, the places, the numbers and draws.
pub fn own_table(group: Option<&str>, names: &[String], draws: usize) -> Table {
    let own = OWN.map(str::to_owned);
    let numbers = names.iter().cloned().chain(own);
    let draws = (1..=draws).map(draw_name);
    Table::new(TABLE, group.map(str::to_owned), numbers.chain(draws))
}
