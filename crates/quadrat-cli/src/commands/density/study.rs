//! The report and the summary of a study with `[density]`.

use quadrat_plot::Report;
use quadrat_study::density::study::{DensityOutcome, words};
use quadrat_study::diagnostic::Paint;

use super::{checked, shown};
use crate::commands::section::{self, Told, preview};
use crate::demo::Extras;

/// The page.
pub fn page(outcome: &DensityOutcome, extras: Option<&Extras>) -> Report {
    let notes = [
        "Densities per unit, with their pointwise bands",
        "Answers of the density, with their intervals",
    ];
    let tables = outcome.tables.iter().enumerate();
    let told = Told {
        sentences: outcome.estimated.answers().sentences(),
        warnings: [outcome.warnings(), outcome.noticed.clone()].concat(),
        figures: shown::figures(&outcome.estimated),
        predictions: tables
            .map(|(at, table)| preview(table, notes[at.min(1)]))
            .collect(),
    };
    section::page(&outcome.study.written, told, extras)
}

/// The summary for a terminal.
pub fn summary(outcome: &DensityOutcome, paint: Paint) -> String {
    let told = words(&shown::summary(&outcome.estimated, paint));
    told + &checked::text(&outcome.checked, paint)
}
