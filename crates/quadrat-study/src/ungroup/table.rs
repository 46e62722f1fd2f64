//! Tables of steps, and life tables.

use quadrat::ungroup::Column;

use super::found::All;
use super::rows::Rows;
use crate::answer::draw_name;
use crate::diagnostic::{Problem, Problems};
use crate::numbers::exact;
use crate::prediction_csv::COLUMNS;
use crate::study::ungroup::Ungroup;

/// The header of the table of steps.
///
/// # Errors
/// Where two of its columns would have one name.
pub fn header(args: &Ungroup) -> Result<Vec<String>, Problems> {
    // Without a column of upper edges, or where a column of answers has its name, there is no name
    // to give back.
    let own = |name: &str| (!COLUMNS.contains(&name)).then(|| name.to_owned());
    let lower = own(&args.lower).unwrap_or_else(|| "from".to_owned());
    let upper = args.upper.as_deref().and_then(own);
    let upper = upper.unwrap_or_else(|| match lower.as_str() {
        "to" => "until".to_owned(),
        _ => "to".to_owned(),
    });
    let mut header = args.names();
    header.extend([lower, upper]);
    header.extend(COLUMNS.map(str::to_owned));
    header.extend((1..=args.draws.unwrap_or(0)).map(|draw| draw_name(usize::from(draw))));
    let twice = (1..header.len()).find(|&i| header[..i].contains(&header[i]));
    match twice {
        None => Ok(header),
        Some(i) => {
            let message = format!("the table would have two columns named `{}`", header[i]);
            let remedy = "name each column once; where the table that is read has a column of that name, rename it there";
            Err(Problem::new(message).remedy(remedy).into())
        }
    }
}

/// Columns of a life table, each of which has two ends besides.
pub const LIFE: [&str; 5] = ["qx", "lx", "dx", "Lx", "ex"];

/// The life tables: one row per step of every population.
pub fn life_csv(edges: &[String], rows: &Rows, all: &All) -> anyhow::Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let columns = LIFE.iter().flat_map(|name| {
        let ends = ["_lower", "_upper"].map(|end| format!("{name}{end}"));
        [(*name).to_owned()].into_iter().chain(ends)
    });
    table.write_record(edges.iter().cloned().chain(columns))?;
    for found in &all.found {
        let Some(life) = &found.life else { continue };
        let name = &rows.groups[found.group].name;
        for (step, (from, to)) in life.edges.iter().enumerate() {
            let told = [&life.q, &life.l, &life.d, &life.years, &life.e];
            let told = told.into_iter().flat_map(|column: &Column| {
                [column.value[step], column.lower[step], column.upper[step]]
            });
            let numbers = [*from, *to].into_iter().chain(told).map(exact);
            table.write_record(name.iter().cloned().chain(numbers))?;
        }
    }
    Ok(table.into_inner().map_err(|error| error.into_error())?)
}

/// The table: one row per step of every population.
pub fn csv(header: &[String], rows: &Rows, all: &All) -> anyhow::Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(header)?;
    for found in &all.found {
        let name = &rows.groups[found.group].name;
        for (step, (from, to)) in found.edges.iter().enumerate() {
            let numbers = found.numbers.iter().map(|column| column[step]);
            let drawn = found.draws.iter().map(|draw| draw[step]);
            let numbers = [*from, *to].into_iter().chain(numbers).chain(drawn);
            let cells = name.iter().cloned().chain(numbers.map(exact));
            table.write_record(cells)?;
        }
    }
    Ok(table.into_inner().map_err(|error| error.into_error())?)
}
