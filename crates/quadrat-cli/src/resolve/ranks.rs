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
        if predict.scale != Scale::Observation {
            let message =
                "ranks are what is observed, so their probabilities are those of new observations";
            check.refuse(span, message, "add `scale = \"observation\"`");
            continue;
        }
        let mut first = None;
        for asked in predictions.iter_mut().filter(|asked| asked.of == of) {
            let output = asked.places.output.clone();
            let whose = output
                .as_ref()
                .map_or_else(String::new, |o| format!(" of output `{o}`"));
            let remedy = match output {
                Some(_) => "name an output that has ranks, such as `output = \"north\"`",
                None => "leave `ranks` out; `above = 50` gives the probability of more than 50",
            };
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
            check.refuse(span, message, remedy);
            break;
        }
    }
}
