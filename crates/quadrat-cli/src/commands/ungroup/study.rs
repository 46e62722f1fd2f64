//! The report and the summary of a study with `[ungroup]`.

use quadrat_plot::Report;
use quadrat_study::diagnostic::Paint;
use quadrat_study::ungroup::said;
use quadrat_study::ungroup::study::{UngroupOutcome, words};

use super::figure::figure;
use crate::commands::section::{self, Told, preview};
use crate::demo::Extras;

/// The page.
pub fn page(outcome: &UngroupOutcome, extras: Option<&Extras>) -> Report {
    let notes = [
        "Every step, with its interval",
        "Life tables, with their intervals",
    ];
    let UngroupOutcome { rows, all, .. } = outcome;
    let args = &outcome.study.args;
    let sentences = said::page(args, rows, all);
    let told = Told {
        sentences: sentences.iter().map(|sentence| words(sentence)).collect(),
        warnings: outcome.warnings(),
        figures: vec![figure(args, rows, all)],
        predictions: (outcome.tables.iter().zip(notes))
            .map(|(table, note)| preview(table, note))
            .collect(),
    };
    section::page(&outcome.study.written, told, extras)
}

/// The summary for a terminal.
pub fn summary(outcome: &UngroupOutcome, paint: Paint) -> String {
    let args = &outcome.study.args;
    words(&said::summary(args, &outcome.rows, &outcome.all, paint))
}
