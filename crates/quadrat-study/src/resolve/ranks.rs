//! Predictions of the probability of every rank.

use super::asked::{Asked, reporting};
use super::clashes::no_column_twice;
use super::observed::Observed;
use crate::diagnostic::Remedy;
use crate::study::Study;
use crate::study::fields::Check;

/// Tells predictions with `ranks = true` how many there are; refuses what has no ranks.
pub(super) fn ranked(
    check: &Check<'_>,
    study: &Study,
    tables: &[Observed],
    predictions: &mut [Asked],
) {
    for (of, predict) in study.predict.iter().enumerate() {
        let Some(span) = &predict.ranks else {
            continue;
        };
        let own = || predictions.iter().filter(|asked| asked.of == of);
        let told = own().map(|asked| {
            let table = reporting(tables, asked);
            (
                asked.places.output.as_deref(),
                table.and_then(|table| table.likelihood.rank_count()),
            )
        });
        let count = match one_count(told) {
            Ok(count) => count,
            Err((output, message)) => {
                let remedy = remedy(tables, output);
                check.refuse(span, message, remedy);
                continue;
            }
        };
        if !predict.scale.is_observed() {
            check.refuse(
                span,
                OBSERVED,
                Remedy::or_flags("add `scale = \"observation\"`", "add `--scale observation`"),
            );
            continue;
        }
        for asked in predictions.iter_mut().filter(|asked| asked.of == of) {
            asked.chances.ranks = count;
            no_column_twice(check, predict, &asked.places, &asked.chances);
        }
    }
}

/// Why ranks need the scale of observations.
pub const OBSERVED: &str =
    "ranks are what is observed, so their probabilities are those of new observations";

/// The number of ranks that some outputs share, whose probabilities are to stand in one table; else
/// an output at fault, and the fault.
pub fn one_count<'a>(
    outputs: impl Iterator<Item = (Option<&'a str>, Option<usize>)>,
) -> Result<usize, (Option<&'a str>, String)> {
    let mut first = None;
    for (output, count) in outputs {
        let whose = output.map_or_else(String::new, |name| format!(" of output `{name}`"));
        let Some(count) = count else {
            return Err((output, format!("new observations{whose} are not ranks")));
        };
        let other = *first.get_or_insert(count);
        if count != other {
            let message = format!(
                "{count} ranks are told apart{whose}, {other} of another output, and both would be in one table"
            );
            return Err((output, message));
        }
    }
    Ok(first.unwrap_or(0))
}

/// What to do where an output, or one of them, is not observed as ranks first.
fn remedy(tables: &[Observed], output: Option<&str>) -> String {
    let has_ranks = |table: &&Observed| table.likelihood.rank_count().is_some();
    let own = |table: &&Observed| table.places.output.as_deref() == output;
    if tables.iter().filter(own).any(|table| has_ranks(&table)) {
        return "name the table of the ranks with `as`".to_owned();
    }
    match tables
        .iter()
        .find(has_ranks)
        .and_then(|table| table.places.output.as_ref())
    {
        Some(ranked) => format!("name an output that has ranks: `output = \"{ranked}\"`"),
        None => "leave `ranks` out; `above = 50` gives the probability of more than 50".to_owned(),
    }
}
