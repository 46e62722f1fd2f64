//! `quadrat reconcile`: noisy counts of areas within areas that add up.

mod rows;

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::Result;
use quadrat::reconcile::{Gap, Reconciled};
use quadrat::special::scalar::normal_quantile;
use quadrat_study::diagnostic::{Paint, Problem, Problems, shown};
use quadrat_study::fit_json::pretty;
use quadrat_study::numbers::{count, exact, human};
use quadrat_study::prediction_csv::COLUMNS;
use quadrat_study::reconciled::Told;
use serde_json::{Value, json};

use super::{print, replaced};
use crate::args::Reconcile;
use crate::output::{Staged, apart, writable};
use rows::Rows;

/// More numbers of draws than this are refused.
const MOST_NUMBERS: usize = 20_000_000;

/// Runs the command.
pub fn run(args: &Reconcile) -> Result<()> {
    let outputs: Vec<PathBuf> = args.output.iter().cloned().collect();
    let told = ("the table that is read", "choose another file");
    replaced(&[&args.table], &outputs, told).or(())?;
    apart(&outputs)?;
    writable(&outputs)?;
    let rows = Rows::read(args).map_err(Problems::by_flags)?;
    let header = header(args)?;
    bounded(args, rows.names.len())?;
    let tree = rows.tree()?;
    let refused = |error| Problems::from(rows.refused(&error));
    let found = tree.reconcile(&rows.measurements).map_err(refused)?;
    let draws = usize::from(args.draws.unwrap_or(0));
    let draws = found.draws(draws, args.seed);
    let draws = match args.draws {
        Some(_) => draws.map_err(refused)?,
        None => Vec::new(),
    };
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        staged.bytes(output, &csv(args, &header, (&rows, &found), &draws)?)?;
    }
    let written = staged.finish()?;
    if args.json {
        return print(&pretty(&facts(args, &rows, &found))?);
    }
    if args.quiet {
        return Ok(());
    }
    let mut text = said(&rows, &found);
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
}

/// The columns of the table.
fn header(args: &Reconcile) -> Result<Vec<String>, Problems> {
    let own = args.by.iter().chain([&args.area, &args.within]);
    let own: Vec<String> = own.cloned().collect();
    let draws = (1..=args.draws.unwrap_or(0)).map(|draw| format!("draw_{draw}"));
    let answers = COLUMNS.iter().map(|name| (*name).to_owned());
    let header: Vec<String> = own.iter().cloned().chain(answers).chain(draws).collect();
    for (at, name) in header.iter().enumerate() {
        if header[..at].contains(name) {
            let fact = format!("the table would have two columns named `{name}`");
            let remedy = "rename that column of the table";
            return Err(Problem::new(fact).remedy(remedy).into());
        }
    }
    Ok(header)
}

fn bounded(args: &Reconcile, areas: usize) -> Result<(), Problems> {
    let numbers = areas * usize::from(args.draws.unwrap_or(0));
    if numbers <= MOST_NUMBERS {
        return Ok(());
    }
    let fact = format!(
        "draws of {areas} areas would be {numbers} numbers, and at most {MOST_NUMBERS} are written"
    );
    let remedy = "ask for fewer --draws, or divide the table";
    Err(Problem::new(fact).remedy(remedy).into())
}

fn csv(
    args: &Reconcile,
    header: &[String],
    (rows, found): (&Rows, &Reconciled<'_>),
    draws: &[Vec<f64>],
) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(header)?;
    let z = normal_quantile(0.5 + 0.5 * args.level);
    for (node, name) in rows.names.iter().enumerate() {
        let around = rows.parents[node].and_then(|parent| rows.names[parent].last());
        let around = around.map_or("", String::as_str);
        let (mean, sd) = (found.mean(node), found.variance(node).sqrt());
        let numbers = [mean, sd, mean - z * sd, mean, mean + z * sd];
        // Nothing is told of what nothing tells.
        let told = |number: f64| match found.is_known(node) {
            true => exact(number),
            false => String::new(),
        };
        let drawn = draws.iter().map(|draw| exact(draw[node]));
        let cells = name.iter().cloned().chain([around.to_owned()]);
        table.write_record(cells.chain(numbers.map(told)).chain(drawn))?;
    }
    Ok(table.into_inner().map_err(|error| error.into_error())?)
}

/// The areas, and what came of them.
fn told<'a>(rows: &'a Rows, found: &'a Reconciled<'a>) -> Told<'a> {
    Told {
        areas: rows.names.len(),
        measurements: &rows.measurements,
        found,
    }
}

fn facts(args: &Reconcile, rows: &Rows, found: &Reconciled<'_>) -> Value {
    let told = told(rows, found);
    let (square, chance) = found.chi_square();
    let of_gap = |gap: &Gap| {
        json!({
            "area": rows.names[gap.node],
            "difference": gap.difference,
            "sd": gap.sd,
        })
    };
    json!({
        "areas": rows.names.len(),
        "measured": told.measured(),
        "unknown": told.unknown(),
        "level": args.level,
        "chi_square": square,
        "degrees": found.gaps().len(),
        "probability": chance,
        "far": told.far().iter().map(of_gap).collect::<Vec<_>>(),
    })
}

/// What was done, for people.
fn said(rows: &Rows, found: &Reconciled<'_>) -> String {
    let paint = Paint::on(std::io::stdout().is_terminal());
    let told = told(rows, found);
    let areas = rows.names.len();
    let mut text = format!(
        "{} of {}: {} of {}\n",
        count(areas, "area"),
        shown(rows.table()),
        count(rows.measurements.len(), "measurement"),
        human(told.measured() as f64),
    );
    let gaps = found.gaps().len();
    let (square, chance) = found.chi_square();
    if gaps > 0 {
        text.push_str(&format!(
            "before, {} and the sums of their parts differed: chi-square {} of {} (as large by chance: {})\n",
            count(gaps, "measured area"),
            human(square),
            human(gaps as f64),
            human(chance),
        ));
    }
    let named = |node| format!("`{}` ({})", shown(&rows.words(node)), rows.address(node));
    for words in told.warnings(named) {
        text.push_str(&format!("{}: {words}\n", paint.yellow("warning")));
    }
    text
}
