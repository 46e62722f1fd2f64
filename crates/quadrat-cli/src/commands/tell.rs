//! `quadrat tell`: rows that were measured, added to a saved model.

mod answers;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use quadrat::model::Observations;

use self::answers::{Answered, likelihood, read};
use super::looks::{self, Asked};
use super::next::kinds::table_of;
use super::predict::load;
use super::print;
use crate::args::Tell;
use crate::diagnostic::{Problem, Problems};
use crate::engine::{self, Posterior};
use crate::functionals::functionals;
use crate::numbers::count;
use crate::output::{Staged, writable};
use crate::places::Places;
use crate::table::Table;
use crate::terminal::warn;

/// Rows of one kind: the table that they are like, whether they are intervals of its values, and
/// which rows.
type Own = BTreeMap<(usize, bool), (String, Vec<usize>)>;

/// Runs the command.
pub fn run(args: &Tell) -> Result<()> {
    let output = args.output.as_ref().unwrap_or(&args.model);
    writable(std::slice::from_ref(output))?;
    let (posterior, geographic) = load(&args.model)?;
    let table = Table::open(&args.rows, &args.rows)?;
    let asked = Asked {
        model: &args.model,
        file: &args.rows,
        words: ["tell", ""],
        looks: &args.looks,
    };
    let places = looks::places(&asked, posterior.dims(), geographic, &[])?;
    let answered = read(&table, &places)?;
    let (own, open) = kinds(args, &posterior, &table, &places, &answered)?;
    if own.is_empty() {
        let problem = Problem::new("no row has an answer").at(table.whole());
        let remedy = "fill in `value`, or `lower` and `upper`, of what was measured";
        return Err(Problems::from(problem.remedy(remedy)).into());
    }
    let told: usize = own.values().map(|(_, rows)| rows.len()).sum();
    let by_kind: Vec<String> = own
        .values()
        .map(|(kind, rows)| format!("{} {kind}", rows.len()))
        .collect();
    let posterior = conditioned(posterior, &places, &answered, own)?;
    let mut staged = Staged::new();
    staged.bytes(output, &engine::to_bytes(&posterior))?;
    staged.finish()?;
    if args.quiet {
        return Ok(());
    }
    if open > 0 {
        warn(&format!(
            "{} without an answer left out",
            count(open, "row")
        ));
    }
    print(&format!(
        "added {}: {}\nthe model has {}; hyperparameters are those of its fit\nwrote {}\n",
        count(told, "row"),
        by_kind.join(", "),
        count(posterior.summary().rows, "row"),
        output.display()
    ))
}

/// The rows with an answer by their kinds, and how many have none.
fn kinds(
    args: &Tell,
    posterior: &Posterior,
    table: &Table,
    places: &Places,
    answered: &Answered<'_>,
) -> Result<(Own, usize), Problems> {
    let named = places.labels.iter().find(|l| l.header == "kind");
    let (mut own, mut open) = (Own::new(), 0);
    let mut problems = Problems::default();
    let mut known: BTreeMap<String, Option<(usize, bool)>> = BTreeMap::new();
    for row in 0..places.len() {
        if !answered.is_told(row) {
            open += 1;
            continue;
        }
        let kind = match (&args.kind, named) {
            (Some(kind), _) => kind.clone(),
            (None, Some(named)) => named.cells[row].trim().to_owned(),
            (None, None) => {
                return Err(Problem::new("there is no column `kind`")
                    .at(table.whole())
                    .remedy("say of which kind all rows are with `--kind`, such as `--kind point`")
                    .into());
            }
        };
        let of = *known.entry(kind.clone()).or_insert_with(|| {
            let found = table_of(posterior, &kind);
            found
                .map_err(|mut problem| {
                    problem.message = format!("{}: {}", table.row_address(row), problem.message);
                    problems.push(problem);
                })
                .ok()
        });
        if let Some(of) = of {
            own.entry(of)
                .or_insert_with(|| (kind, Vec::new()))
                .1
                .push(row);
        }
    }
    problems.or((own, open))
}

/// The posterior with the rows, kind by kind.
fn conditioned(
    mut posterior: Posterior,
    places: &Places,
    answered: &Answered<'_>,
    own: Own,
) -> Result<Posterior> {
    let mut names = engine::table_names(&posterior);
    for ((table, as_interval), (kind, rows)) in own {
        let like = &posterior.observations()[table];
        let output = like.output().map(str::to_owned);
        let reported = likelihood(&posterior, (table, as_interval), answered, &rows)
            .with_context(|| format!("the rows of the kind `{kind}`"))?;
        let at = functionals(places, 0..places.len())?.rows(&rows);
        let mut more = Observations::new(at, reported)?;
        if let Some(output) = output {
            more = more.of_output(output);
        }
        names.push(names[table].clone());
        posterior = posterior
            .condition(more)
            .with_context(|| format!("the rows of the kind `{kind}` cannot be added"))?;
    }
    engine::name_tables(&mut posterior, &names)?;
    Ok(posterior)
}
