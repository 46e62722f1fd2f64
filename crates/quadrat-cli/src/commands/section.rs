//! What reports of studies with one section in place of a function have in common.

use quadrat_plot::{Cell, Figure, Report, TablePreview};
use quadrat_study::numbers::own_number;
use quadrat_study::study::written::Written;
use quadrat_study::version::VERSION;
use quadrat_study::{Column, Table};

use crate::demo::Extras;

/// Rows of a table that the report shows.
const PREVIEW: usize = 12;

/// What is told of such a study.
pub struct Told {
    pub sentences: Vec<String>,
    pub warnings: Vec<String>,
    pub figures: Vec<Figure>,
    pub predictions: Vec<TablePreview>,
}

/// The page, with what that of an example shows besides.
pub fn page(written: &Written, told: Told, extras: Option<&Extras>) -> Report {
    // Backticks are for terminals.
    let plain = |all: Vec<String>| all.iter().map(|text| text.replace('`', "")).collect();
    let notes = extras.map_or(&[][..], |extras| extras.notes);
    Report {
        title: written.title.clone(),
        generated_by: format!("quadrat {VERSION}"),
        summary: plain(told.sentences),
        warnings: plain(told.warnings),
        figures: told.figures,
        predictions: told.predictions,
        study: written.source.text.to_string(),
        notes: notes.iter().map(|&note| note.to_owned()).collect(),
        ..Report::default()
    }
}

/// The first rows of a table.
pub fn preview(table: &Table, note: &str) -> TablePreview {
    let cell = |column: &Column, row: usize| match column {
        Column::Numbers(all) => Cell::Number(all[row]),
        Column::Texts(all) => {
            let text = all[row].as_str();
            own_number(text).map_or_else(|| Cell::from(text), Cell::Number)
        }
    };
    let columns = table.columns.iter();
    let row = |row| {
        columns
            .clone()
            .map(|(_, column)| cell(column, row))
            .collect()
    };
    TablePreview {
        name: table.name.clone(),
        file: format!("{}.csv", table.name),
        note: note.to_owned(),
        columns: columns.clone().map(|(name, _)| name.clone()).collect(),
        rows: (0..table.rows().min(PREVIEW)).map(row).collect(),
        total_rows: table.rows(),
    }
}
