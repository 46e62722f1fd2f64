//! What reports of studies with one section in place of a function have in common.

use quadrat_plot::{Cell, TablePreview};
use quadrat_study::numbers::own_number;

/// Rows of a table that the report shows.
const PREVIEW: usize = 12;

/// The first rows of a table.
pub fn preview(name: &str, note: &str, text: &str) -> TablePreview {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader
        .headers()
        .map(|h| h.iter().map(str::to_owned).collect());
    let cell = |cell: &str| own_number(cell).map_or_else(|| Cell::from(cell), Cell::Number);
    let rows = reader.records().take(PREVIEW).flatten();
    TablePreview {
        name: name.to_owned(),
        file: format!("{name}.csv"),
        note: note.to_owned(),
        rows: rows.map(|row| row.iter().map(cell).collect()).collect(),
        columns: columns.unwrap_or_default(),
        total_rows: text.lines().count().saturating_sub(1),
    }
}
