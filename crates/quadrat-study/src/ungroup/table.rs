//! Tables of steps, and life tables.

use quadrat::ungroup::Column;

use super::found::All;
use super::rows::Rows;
use crate::answer::draw_name;
use crate::columns::Table;
use crate::diagnostic::{Problem, Problems};
use crate::prediction_csv::COLUMNS;
use crate::study::ungroup::Ungroup;

/// The table of steps, and the life tables.
pub const TABLES: [&str; 2] = ["steps", "life_table"];

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
///
/// # Arguments
/// * `header` - that of the table of steps
pub fn life_table(args: &Ungroup, header: &[String], rows: &Rows, all: &All) -> Table {
    let names = args.names().len();
    let columns = LIFE.iter().flat_map(|name| {
        let ends = ["_lower", "_upper"].map(|end| format!("{name}{end}"));
        [(*name).to_owned()].into_iter().chain(ends)
    });
    let edges = header[names..names + 2].iter().cloned();
    let texts = header[..names].iter().cloned();
    let mut table = Table::new(TABLES[1], texts, edges.chain(columns));
    for found in &all.found {
        let Some(life) = &found.life else { continue };
        let name = &rows.groups[found.group].name;
        for (step, (from, to)) in life.edges.iter().enumerate() {
            let told = [&life.q, &life.l, &life.d, &life.years, &life.e];
            let told = told.into_iter().flat_map(|column: &Column| {
                [column.value[step], column.lower[step], column.upper[step]]
            });
            table.push(name, [*from, *to].into_iter().chain(told));
        }
    }
    table
}

/// One row per step of every population.
///
/// # Arguments
/// * `header` - its [`header`]
pub fn steps(args: &Ungroup, header: &[String], rows: &Rows, all: &All) -> Table {
    let (names, numbers) = header.split_at(args.names().len());
    let mut table = Table::new(TABLES[0], names.to_vec(), numbers.to_vec());
    for found in &all.found {
        let name = &rows.groups[found.group].name;
        for (step, (from, to)) in found.edges.iter().enumerate() {
            let numbers = found.numbers.iter().map(|column| column[step]);
            let drawn = found.draws.iter().map(|draw| draw[step]);
            table.push(name, [*from, *to].into_iter().chain(numbers).chain(drawn));
        }
    }
    table
}
