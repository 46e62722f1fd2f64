//! `quadrat tell`: rows that were measured, added to a saved model.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use quadrat::model::{FitOptions, Hyper, Hyperparameters};
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::engine::{self, Posterior, Running};
use quadrat_study::functionals::functionals;
use quadrat_study::geographic::Geographic;
use quadrat_study::measure::{Record, by_kind, conditioned, read, table_of};
use quadrat_study::numbers::{count, human};
use quadrat_study::places::Places;
use quadrat_study::table::Table;

use super::looks::{self, Asked};
use super::predict::load;
use super::{print, replacing, running};
use crate::args::{Saying, Tell};
use crate::output::{Staged, writable};
use crate::progress::Bar;
use crate::terminal::warn;

/// Runs the command.
pub fn run(args: &Tell) -> Result<()> {
    let output = args.output.as_ref().unwrap_or(&args.model);
    spare(args, output)?;
    let rows = args.rows.as_deref();
    let outputs: Vec<PathBuf> = iter::once(output).chain(&args.told).cloned().collect();
    writable(&outputs)?;
    let bar = Bar::new(args.quiet);
    let saying = Saying {
        json: false,
        quiet: args.quiet,
        threads: args.threads,
    };
    let how = running(&saying, &bar)?;
    let (mut posterior, geographic) = load(&args.model)?;
    let mut said = Vec::new();
    let known = posterior.summary().warnings.clone();
    if let Some(rows) = rows {
        (posterior, said) = added(args, rows, posterior, geographic)?;
    }
    if args.relearn {
        let before = posterior.summary().hyperparameters.clone();
        posterior = relearned(&posterior, &how)?;
        bar.finish();
        said.extend(learned(&before, &posterior.summary().hyperparameters));
    } else if rows.is_some() {
        said.push("hyperparameters are those of the fit; `--relearn` learns them again".to_owned());
    }
    // What the fit said was read then.
    let told = posterior.summary().warnings.iter();
    told.filter(|warning| args.relearn || !known.contains(warning))
        .for_each(|warning| warn(warning));
    let mut staged = Staged::new();
    if rows.is_some() || args.relearn || args.output.is_some() {
        staged.bytes(output, &engine::to_bytes(&posterior))?;
    }
    let record = Record::of(&posterior);
    if let Some(told) = &args.told {
        if record.is_empty() {
            let remedy = "`quadrat tell` adds rows, and keeps them as they were written";
            let problem = Problem::new("no rows were added to this model");
            return Err(Problems::from(problem.remedy(remedy)).into());
        }
        staged.write(told, |out| record.write(out))?;
    }
    let written = staged.finish()?;
    if args.quiet {
        return Ok(());
    }
    said.extend(
        written
            .iter()
            .map(|path| format!("wrote {}", path.display())),
    );
    print(&(said.join("\n") + "\n"))
}

/// Refuses to write over what is read, and two files at one place.
fn spare(args: &Tell, output: &Path) -> Result<(), Problems> {
    let rows: Vec<&Path> = args.rows.as_deref().into_iter().collect();
    let told = args.told.as_deref();
    let outputs: Vec<&Path> = iter::once(output).chain(told).collect();
    let over = !replacing(&rows, &outputs).is_empty()
        || told.is_some_and(|told| {
            told == output || !replacing(&[&args.model, output], &[told]).is_empty()
        });
    if over {
        return Err(
            Problem::new("an output would replace a file that is read or written")
                .remedy("choose another file with -o or --told")
                .into(),
        );
    }
    Ok(())
}

/// The model with the rows of a table, and what to say of them.
fn added(
    args: &Tell,
    rows: &Path,
    posterior: Posterior,
    geographic: Option<Arc<Geographic>>,
) -> Result<(Posterior, Vec<String>)> {
    let table = Table::open(rows, rows)?;
    let asked = Asked {
        model: &args.model,
        file: rows,
        words: ["tell", ""],
        looks: &args.looks,
    };
    let known = (geographic, engine::labels(&posterior)?);
    let (places, codes) = looks::places(&asked, posterior.dims(), known, &[])?;
    let labels = places.labels.iter();
    let columns = labels.map(|l| (l.header.clone(), l.cells.clone()));
    let answered = read(&posterior, &table, columns.collect());
    let kinds = kinds(args, &table, &places)?;
    let like = |kind: &str| table_of(&posterior, kind);
    let (own, open) = by_kind(&posterior, (&table, &answered), &kinds, like)?;
    let unused = answered.unused(&posterior, &own);
    let told: usize = own.values().map(|(_, rows)| rows.len()).sum();
    let by_kind: Vec<String> = own
        .values()
        .map(|(kind, rows)| format!("{} {kind}", rows.len()))
        .collect();
    let at = functionals(&places, 0..places.len())?;
    let mut posterior = conditioned(&posterior, &at, (&table, &answered), &own)?;
    unused.iter().for_each(|told| warn(told));
    engine::keep_labels(&mut posterior, &codes)?;
    if open > 0 && !args.quiet {
        warn(&format!(
            "{} without an answer left out",
            count(open, "row")
        ));
    }
    let all = posterior.summary().rows;
    let said = [
        format!("added {}: {}", count(told, "row"), by_kind.join(", ")),
        format!("the model has {}", count(all, "row")),
    ];
    Ok((posterior, said.into()))
}

/// The model with hyperparameters learned from all of its rows.
fn relearned(posterior: &Posterior, how: &Running) -> Result<Posterior> {
    let hyperparameters = match posterior.summary().integrated {
        true => Hyperparameters::Integrate,
        false => Hyperparameters::Map,
    };
    let mut options = FitOptions::default().with_hyperparameters(hyperparameters);
    if let Some(progress) = &how.progress {
        options = options.with_progress(Arc::clone(progress));
    }
    posterior
        .relearn(&options)
        .context("the hyperparameters cannot be learned again")
}

/// What became of the hyperparameters.
fn learned(before: &[Hyper], after: &[Hyper]) -> Vec<String> {
    let mut said = vec!["learned again:".to_owned()];
    for hyper in after {
        let old = before.iter().find(|old| old.name == hyper.name);
        let old = old.map_or_else(String::new, |old| format!("{} -> ", human(old.value)));
        said.push(format!("  {}  {old}{}", hyper.name, human(hyper.value)));
    }
    said
}

/// The kind of every row: that of all, or of the column `kind`.
fn kinds(args: &Tell, table: &Table, places: &Places) -> Result<Vec<String>, Problems> {
    if let Some(kind) = &args.kind {
        return Ok(vec![kind.clone(); places.len()]);
    }
    match places.labels.iter().find(|l| l.header == "kind") {
        Some(named) => Ok(named
            .cells
            .iter()
            .map(|cell| cell.trim().to_owned())
            .collect()),
        None => Err(Problem::new("there is no column `kind`")
            .at(table.whole())
            .remedy("say of which kind all rows are with `--kind`, such as `--kind point`")
            .into()),
    }
}
