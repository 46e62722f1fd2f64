//! Predictions of the probability of every rank.

use super::{Asked, Observed, no_column_twice, reporting};
use crate::engine::ranks_of;
use crate::study::fields::Check;
use crate::study::{Scale, Study};

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
        let mut first = None;
        for asked in predictions.iter_mut().filter(|asked| asked.of == of) {
            let output = asked.places.output.clone();
            let whose = output
                .as_ref()
                .map_or_else(String::new, |o| format!(" of output `{o}`"));
            let Some(ranks) = reporting(tables, output.as_deref()).map(|t| ranks_of(&t.likelihood))
            else {
                continue;
            };
            let message = match (ranks, first) {
                (0, _) => format!("new observations{whose} are not ranks"),
                (n, Some(other)) if n != other => {
                    format!(
                        "{n} ranks are told apart{whose}, {other} of another output, and both would be in one table"
                    )
                }
                _ => {
                    first = Some(ranks);
                    asked.chances.ranks = ranks;
                    no_column_twice(check, predict, &asked.places, &asked.chances);
                    continue;
                }
            };
            check.refuse(span, message, remedy(tables, output.as_deref()));
            break;
        }
        if first.is_some() && predict.scale != Scale::Observation {
            let message =
                "ranks are what is observed, so their probabilities are those of new observations";
            check.refuse(span, message, "add `scale = \"observation\"`");
        }
    }
}

/// What to do where an output, or one of them, is not observed as ranks first.
fn remedy(tables: &[Observed], output: Option<&str>) -> String {
    let has_ranks = |table: &&Observed| ranks_of(&table.likelihood) > 0;
    let own = |table: &&Observed| table.places.output.as_deref() == output;
    if tables.iter().filter(own).any(|table| has_ranks(&table)) {
        return "the first table decides what a new observation is: move that of the ranks to the front".to_owned();
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
