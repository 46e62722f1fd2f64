//! What runs of studies with one section in place of a function have in common.

use std::path::{Path, PathBuf};

use quadrat_plot::{Cell, TablePreview};
use quadrat_study::diagnostic::Problems;

use super::replaced;

/// Rows of a table that the report shows.
const PREVIEW: usize = 12;

/// Refuses to write over the study or its tables.
///
/// # Arguments
/// * `files` - the folder of the study, and the files that it names
/// * `path` - the study itself
pub fn spare(
    (folder, files): (&Path, Vec<PathBuf>),
    path: &Path,
    outputs: &[PathBuf],
) -> Result<(), Problems> {
    let files = files.into_iter().map(|file| folder.join(file));
    let inputs: Vec<PathBuf> = files.chain([path.to_owned()]).collect();
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    let told = (
        "a file that the study reads",
        "choose another output with -o",
    );
    replaced(&inputs, outputs, told).or(())
}

/// The first rows of a table.
pub fn preview(name: &str, note: &str, text: &str) -> TablePreview {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader
        .headers()
        .map(|h| h.iter().map(str::to_owned).collect());
    let cell = |cell: &str| match cell.parse::<f64>() {
        Ok(number) => Cell::Number(number),
        Err(_) => Cell::from(cell),
    };
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
