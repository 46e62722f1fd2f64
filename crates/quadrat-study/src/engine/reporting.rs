//! What a prediction is about: the table it is like, and what that reports.

use anyhow::Result;
use quadrat::likelihood::Likelihood;
use quadrat::link::Link;
use quadrat::model::{Limits, Observations, Posterior, Scale as LibraryScale};

use crate::diagnostic::{Problem, Problems};
use crate::instrument::{Choice, has_one_noise};
use crate::limits::{Fault, Said, apart, limits};
use crate::places::Places;
use crate::study::Scale;

/// The note of a saved model with what its study said of limits of instruments.
const LIMITS: &str = "limits";

/// The note of a saved model with the names of its tables.
pub(super) const TABLES: &str = "tables";

/// Whether the mean of what was reported is a probability.
pub fn reports_probabilities(posterior: &Posterior, places: &Places, table: Option<usize>) -> bool {
    let is_one = |likelihood: &Likelihood| {
        let link = likelihood.mean_link();
        link.is_some_and(Link::is_probability)
    };
    reporting(posterior, places.output.as_deref(), table).is_some_and(is_one)
}

/// How many ranks new observations of an output may have, where they are ranks.
pub fn ranks(posterior: &Posterior, output: Option<&str>, table: Option<usize>) -> Option<usize> {
    reporting(posterior, output, table).and_then(Likelihood::rank_count)
}

/// The likelihood that a prediction is about: that of the table, else of the first that does more
/// than bound the values, where all of them answer alike.
pub fn reporting<'a>(
    posterior: &'a Posterior,
    output: Option<&str>,
    table: Option<usize>,
) -> Option<&'a Likelihood> {
    let groups = posterior.instruments(output, LibraryScale::Observation);
    let table = table.or_else(|| groups.first()?.first().copied())?;
    posterior
        .observations()
        .get(table)
        .map(Observations::likelihood)
}

/// The names of the tables of a saved model, numbered where it does not have them.
pub fn table_names(posterior: &Posterior) -> Vec<String> {
    let saved: Option<Vec<String>> = posterior
        .note(TABLES)
        .and_then(|note| serde_json::from_str(note).ok());
    let mut names = saved.unwrap_or_default();
    let count = posterior.observations().len();
    names.extend((names.len()..count).map(|table| format!("table {}", table + 1)));
    names
}

/// Names the tables of a model, which is saved with it.
pub fn name_tables(posterior: &mut Posterior, names: &[String]) -> Result<()> {
    posterior.set_note(TABLES, serde_json::to_string(names)?);
    Ok(())
}

/// Between which numbers a table of a saved model reports.
///
/// # Errors
/// A `Fault` where its reports are no numbers, or its limits not the same for all rows.
pub fn reports(posterior: &Posterior, table: usize) -> Result<Limits, Fault> {
    let said = said_limits(posterior);
    let tables = posterior.observations();
    match tables.get(table).zip(said.get(table)) {
        Some((observed, said)) => limits(*said, observed.likelihood()),
        None => Ok(Limits::none()),
    }
}

/// What the study said of the limits of every table of a saved model.
pub fn said_limits(posterior: &Posterior) -> Vec<Said> {
    let saved = posterior.note(LIMITS);
    let saved = saved.and_then(|note| serde_json::from_str::<Vec<Said>>(note).ok());
    let mut said = saved.unwrap_or_default();
    said.resize(posterior.observations().len(), Said::default());
    said
}

/// Keeps that in a model, which is saved with it.
pub fn keep_limits(posterior: &mut Posterior, said: &[Said]) -> Result<()> {
    posterior.set_note(LIMITS, serde_json::to_string(said)?);
    Ok(())
}

/// The table that a prediction by a saved model is about.
pub fn choose(
    posterior: &Posterior,
    output: Option<&str>,
    scale: Scale,
    named: Option<&str>,
) -> Result<Option<usize>> {
    let names = table_names(posterior);
    let grouped = |of| match scale {
        Scale::Report => apart(posterior.instruments(output, of), |table| {
            reports(posterior, table)
        }),
        _ => posterior.instruments(output, of),
    };
    let choice = Choice {
        names: &names,
        groups: grouped(scale.for_library()),
        observed: grouped(LibraryScale::Observation),
        scale,
        is_noisy: false,
        output,
        how: |name| match name.contains(' ') {
            true => format!("--as '{name}'"),
            false => format!("--as {name}"),
        },
    };
    let tables = posterior.observations();
    let is_known = |table: usize| has_one_noise(tables[table].likelihood());
    choice
        .table(named, is_known)
        .map_err(|fault| Problems::from(Problem::new(fault.message).remedy(fault.remedy)).into())
}
