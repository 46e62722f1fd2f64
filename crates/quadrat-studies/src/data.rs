//! Reading the public data sets, which are not part of this repository.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A data set that is not there: the study is skipped, not failed.
#[derive(Debug)]
pub struct Missing {
    /// Where it was looked for.
    pub path: PathBuf,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} is not there; give the folder of the data sets with --data DIR",
            self.path.display()
        )
    }
}

impl std::error::Error for Missing {}

/// The file `name` below the folder of data sets.
///
/// # Errors
/// [`Missing`].
pub fn find(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    if path.is_file() {
        Ok(path)
    } else {
        Err(Missing { path }.into())
    }
}

/// The columns named, as numbers, of all rows of a CSV file; empty cells are NaN. `sex=F` is one
/// where the column `sex` says `F`, else zero.
///
/// # Errors
/// [`Missing`]; a file, column or cell that cannot be read.
pub fn columns(path: &Path, names: &[&str]) -> Result<Vec<Vec<f64>>> {
    let context = || format!("{}", path.display());
    let mut reader = csv::Reader::from_path(path).with_context(context)?;
    let header = reader.headers().with_context(context)?.clone();
    let words: Vec<Option<&str>> = names.iter().map(|n| Some(n.split_once('=')?.1)).collect();
    let place = |name: &&str| {
        let name = &name.split('=').next().unwrap_or_default();
        let at = header.iter().position(|h| h == *name);
        at.with_context(|| format!("{}: no column {name}", path.display()))
    };
    let places: Vec<usize> = names.iter().map(place).collect::<Result<_>>()?;
    let mut out = vec![Vec::new(); names.len()];
    for (row, record) in reader.records().enumerate() {
        let record = record.with_context(context)?;
        for ((column, &place), word) in out.iter_mut().zip(&places).zip(&words) {
            let cell = record.get(place).unwrap_or_default();
            let number = match (cell.trim(), word) {
                (text, Some(word)) => f64::from(u8::from(text == *word)),
                ("", None) => f64::NAN,
                (text, None) => text.parse().with_context(|| {
                    format!(
                        "{}: row {}: `{cell}` is not a number",
                        path.display(),
                        row + 1
                    )
                })?,
            };
            column.push(number);
        }
    }
    Ok(out)
}

/// The rows of columns.
#[must_use]
pub fn transpose(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows)
        .map(|row| columns.iter().map(|column| column[row]).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let error = find(Path::new("/nowhere"), "a/b.csv").unwrap_err();
        assert!(error.downcast_ref::<Missing>().is_some());
        assert!(
            error
                .to_string()
                .starts_with("/nowhere/a/b.csv is not there")
        );
    }

    #[test]
    fn bad_cells_are_named() {
        let path = std::env::temp_dir().join(format!("quadrat-studies-{}.csv", std::process::id()));
        std::fs::write(&path, "a,b\n1,2\n,x\n").unwrap();
        let a = columns(&path, &["a"]).unwrap();
        assert!(a[0][0] == 1.0 && a[0][1].is_nan());
        let error = format!("{:#}", columns(&path, &["b"]).unwrap_err());
        assert!(error.contains("row 2: `x` is not a number"), "{error}");
        assert!(
            columns(&path, &["c"])
                .unwrap_err()
                .to_string()
                .ends_with("no column c")
        );
        std::fs::remove_file(&path).unwrap();
    }
}
