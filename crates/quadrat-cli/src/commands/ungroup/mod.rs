//! `quadrat ungroup`: counts in bands become counts in single years, or other steps.

mod edges;
mod figure;
mod found;
mod group;
mod inclusive;
mod refused;
mod rows;
mod said;
mod whole;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;
use quadrat_study::diagnostic::{Paint, Problem, Problems};
use quadrat_study::engine::draw_name;
use quadrat_study::prediction_csv::COLUMNS;

use super::{print, replaced};
use crate::args::Ungroup;
use crate::output::{Staged, apart, writable};
use found::All;
use rows::Rows;

/// The most numbers that are written.
const MOST_NUMBERS: usize = 20_000_000;
/// The most steps that a population can have.
const MOST_STEPS: usize = 600;
/// Ages that an open band may reach.
const OLDEST: f64 = 110.0;

/// Runs the command.
pub fn run(args: &Ungroup) -> Result<()> {
    let rows = Rows::read(args)?;
    let header = header(args)?;
    outputs(args)?;
    bounded(args, &rows)?;
    let all = All::new(args, &rows)?;
    if all.found.is_empty() {
        return Ok(all.whole()?);
    }
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        staged.bytes(output, &found::csv(&header, &rows, &all)?)?;
    }
    if let Some(life) = &args.life_table {
        let edges = &header[..args.by.len() + 2];
        staged.bytes(life, &found::life_csv(edges, &rows, &all)?)?;
    }
    if let Some(plot) = &args.plot {
        staged.bytes(plot, &figure::figure(plot, args, &rows, &all)?)?;
    }
    let written = staged.finish()?;
    told(args, &rows, &all, &written)?;
    // What was ungrouped is written; the exit status tells of the rest.
    Ok(all.whole()?)
}

fn told(args: &Ungroup, rows: &Rows, all: &All, written: &[PathBuf]) -> Result<()> {
    if args.json {
        return print(&said::json(args, rows, all)?);
    }
    if args.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut text = said::summary(args, rows, all, paint);
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
}

/// The header of the table.
fn header(args: &Ungroup) -> Result<Vec<String>, Problems> {
    // Without a column of upper edges there is no name to give back.
    let upper = args
        .upper
        .clone()
        .unwrap_or_else(|| match args.lower.as_str() {
            "to" => "until".to_owned(),
            _ => "to".to_owned(),
        });
    let mut header: Vec<String> = args.by.clone();
    header.extend([args.lower.clone(), upper]);
    header.extend(COLUMNS.map(str::to_owned));
    header.extend((1..=args.draws.unwrap_or(0)).map(|draw| draw_name(usize::from(draw))));
    let twice = (1..header.len()).find(|&i| header[..i].contains(&header[i]));
    let is_written = args.output.is_some() || args.life_table.is_some();
    match twice.filter(|_| is_written) {
        None => Ok(header),
        Some(i) => {
            let message = format!("the table would have two columns named `{}`", header[i]);
            let remedy = "rename that column in the table that is read (`from` and `to` are edges that no other column is named), or name it once";
            Err(Problem::new(message).remedy(remedy).into())
        }
    }
}

/// Checks the files that will be written.
fn outputs(args: &Ungroup) -> Result<(), Problems> {
    let outputs: Vec<PathBuf> = args
        .output
        .iter()
        .chain(&args.plot)
        .chain(&args.life_table)
        .cloned()
        .collect();
    let read = [Some(&args.table), args.exposure_table.as_ref()];
    let read: Vec<&Path> = read.into_iter().flatten().map(PathBuf::as_path).collect();
    let told = ("a table that is read", "choose another file");
    replaced(&read, &outputs, told).or(())?;
    apart(&outputs)?;
    writable(&outputs)
}

/// Refuses more numbers than a table can hold, before anything is computed.
fn bounded(args: &Ungroup, rows: &Rows) -> Result<(), Problems> {
    let steps = rows.groups.iter().map(|group| steps(args, group)).max();
    let steps = steps.unwrap_or(0);
    let draws = 5 + usize::from(args.draws.unwrap_or(0));
    let numbers = rows.groups.len() * steps * draws;
    if numbers <= MOST_NUMBERS {
        return Ok(());
    }
    let message = format!(
        "{} populations with {draws} numbers for each step may be {numbers} numbers, and at most {MOST_NUMBERS} are written",
        rows.groups.len()
    );
    let remedy = "ask for fewer --draws, for --edges, or divide the table";
    Err(Problem::new(message).remedy(remedy).into())
}

/// About how many steps a population will have.
fn steps(args: &Ungroup, group: &group::Group) -> usize {
    if !args.edges.is_empty() {
        return args.edges.len() - 1;
    }
    if args.log && args.step.is_none() {
        return 5 * group.rows.len();
    }
    let finite = || {
        group
            .lower
            .iter()
            .chain(&group.upper)
            .filter(|x| x.is_finite())
    };
    let most = finite().copied().fold(f64::NEG_INFINITY, f64::max);
    let first = finite().copied().fold(f64::INFINITY, f64::min);
    let last = args.last.unwrap_or(most.max(OLDEST));
    let count = (last - first) / args.step.unwrap_or(1.0);
    match count.is_finite() {
        true => (count.max(1.0) as usize).min(MOST_STEPS),
        false => MOST_STEPS,
    }
}
