//! Tables of numbers from files; the extension tells the format.

mod bad_cells;
mod cell;
mod csv;
mod number;
pub mod open_bands;
mod parquet;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::{Place, Problem, Problems, Remedy, shown as short};
use crate::files::not_a_file;
use crate::geo_file::{GeoFile, key_text};
use crate::suggest;

pub use bad_cells::BadCells;
pub use cell::{Reading, read as read_cell};
pub use csv::NewColumn;
pub use number::BadCell;
pub use number::{is_missing, parse as parse_number};

/// A table whose header was read; columns of numbers are read when asked for.
#[derive(Debug)]
pub struct Table {
    name: String,
    headers: Vec<String>,
    format: Format,
}

#[derive(Debug)]
enum Format {
    Csv(csv::Csv),
    Parquet(parquet::Parquet),
    Geo(Arc<GeoFile>),
}

/// The column of the features' own `id`, where no property has that name.
const ID: &str = "id";

impl Table {
    /// Opens a file and reads its header. The problem has a place only when the contents are at
    /// fault. People see it under the name `shown`.
    pub fn open(path: &Path, shown: &Path) -> Result<Self, Problems> {
        let name = shown.display().to_string();
        let (format, headers) = match extension(path).as_deref() {
            Some("csv") => return Self::from_csv(read(path, &name)?, name),
            Some("parquet") => {
                let (parquet, headers) = parquet::Parquet::parse(read(path, &name)?, &name)?;
                (Format::Parquet(parquet), headers)
            }
            Some("geojson" | "json") => return Ok(Self::from_geo(open_geo(path, shown)?)),
            _ => {
                return Err(Problem::new(format!(
                    "`{name}`: the extension does not tell a known format"
                ))
                .remedy("quadrat reads `.csv` (comma-separated, one header line), `.parquet` and `.geojson`")
                .into());
            }
        };
        let table = Self {
            name,
            headers,
            format,
        };
        table.check_headers()?;
        Ok(table)
    }

    /// Reads the header of a CSV file that people see under a name.
    pub fn from_csv(bytes: Vec<u8>, name: String) -> Result<Self, Problems> {
        let (csv, headers) = csv::Csv::parse(bytes, &name)?;
        let table = Self {
            name,
            headers,
            format: Format::Csv(csv),
        };
        table.check_headers()?;
        Ok(table)
    }

    /// The properties of the features as a table, one row per feature.
    pub fn from_geo(file: Arc<GeoFile>) -> Self {
        let mut headers = file.properties.clone();
        if !headers.iter().any(|header| header == ID)
            && file.features.iter().any(|feature| feature.id.is_some())
        {
            headers.push(ID.to_owned());
        }
        Self {
            name: file.name.clone(),
            headers,
            format: Format::Geo(file),
        }
    }

    /// The features, when the table is their properties.
    pub fn geo(&self) -> Option<&Arc<GeoFile>> {
        match &self.format {
            Format::Geo(file) => Some(file),
            _ => None,
        }
    }

    /// The path as it is shown to people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// The bytes of the same table with columns replaced and added, every other byte as it was; CSV
    /// only. The replaced columns must have been read without a problem.
    pub fn rewritten(&self, new: &[NewColumn]) -> Result<Vec<u8>, Problem> {
        match &self.format {
            Format::Csv(csv) => csv.rewritten(new).map_err(|error| {
                Problem::new(format!("{} cannot be read as CSV: {error}", self.name))
                    .remedy("save it again as CSV")
            }),
            Format::Parquet(_) | Format::Geo(_) => Err(Problem::new(format!(
                "`{}`: only CSV tables can be copied column by column",
                self.name
            ))
            .remedy("save the table as CSV")),
        }
    }

    /// Position of a column by its header.
    pub fn find(&self, header: &str) -> Result<usize, Problem> {
        if let Some(at) = self.headers.iter().position(|known| known == header) {
            return Ok(at);
        }
        let mut message = format!("there is no column `{header}` in {}", self.name);
        if let Some(near) = suggest::nearest(header, self.headers.iter().map(String::as_str)) {
            message.push_str(&format!("; did you mean `{near}`?"));
        }
        let mut problem = Problem::new(message)
            .remedy(format!("its columns are {}", suggest::list(&self.headers)));
        if let Some(remedy) = self.wrong_separator() {
            problem = problem.remedy(remedy);
        } else if self.headers.first().is_some_and(|h| h.starts_with('#')) {
            problem = problem.remedy("the first line must hold the names of the columns: lines that begin with # are no comments");
        } else if !self.headers.is_empty() && self.headers.iter().all(|h| parse_number(h).is_ok()) {
            problem = problem.remedy("the first line must hold the names of the columns");
        }
        Err(problem)
    }

    /// The same of a column that a flag names: what is refused is refused in this file.
    pub fn named(&self, header: &str) -> Result<usize, Problem> {
        self.find(header)
            .map_err(|problem| problem.at(self.whole()))
    }

    /// What to do when the only header holds what other programs put between columns.
    pub fn wrong_separator(&self) -> Option<String> {
        let [only] = self.headers.as_slice() else {
            return None;
        };
        let other = [';', '\t', '|'].into_iter().find(|&c| only.contains(c))?;
        Some(format!(
            "the file seems to be separated by {other:?}; save it with commas"
        ))
    }

    /// The columns at the given positions, as finite numbers; at least one row.
    pub fn numbers(&self, wanted: &[usize]) -> Result<Vec<Vec<f64>>, Problems> {
        let columns = match &self.format {
            Format::Csv(csv) => {
                let parse = |_, cell: &str| parse_number(cell);
                csv.columns(&self.name, &self.headers, wanted, parse)?
            }
            Format::Parquet(parquet) => parquet.numbers(&self.name, &self.headers, wanted)?,
            Format::Geo(file) => self.features_as(file, wanted, |_, value| match value {
                Value::Number(number) => parse_number(&number.to_string()),
                Value::String(text) => parse_number(text),
                other => Err(number::not_a_number(&other.to_string())),
            })?,
        };
        self.has_rows(columns)
    }

    /// The columns at the given positions, each read in its own way: a lower and an upper end per
    /// cell, equal for plain numbers; at least one row.
    pub fn cells(&self, wanted: &[(usize, Reading)]) -> Result<Vec<Vec<(f64, f64)>>, Problems> {
        let positions: Vec<usize> = wanted.iter().map(|(at, _)| *at).collect();
        let parse = |i: usize, cell: &str| cell::read(wanted[i].1, cell);
        let columns = match &self.format {
            Format::Csv(csv) => csv.columns(&self.name, &self.headers, &positions, parse)?,
            Format::Geo(file) => self.features_as(file, &positions, |i, value| match value {
                Value::String(text) => parse(i, text),
                other => parse(i, &other.to_string()),
            })?,
            Format::Parquet(parquet) => {
                let mut bad = BadCells::default();
                let mut columns = Vec::with_capacity(wanted.len());
                for (i, (at, _)) in wanted.iter().enumerate() {
                    let parse = |cell: &str| parse(i, cell);
                    columns.push(self.parquet_cells(parquet, *at, parse, &mut bad)?);
                }
                bad.or(&self.name, &self.headers, columns)?
            }
        };
        self.has_rows(columns)
    }

    fn parquet_cells(
        &self,
        parquet: &parquet::Parquet,
        at: usize,
        parse: impl Fn(&str) -> Result<(f64, f64), BadCell>,
        bad: &mut BadCells,
    ) -> Result<Vec<(f64, f64)>, Problems> {
        let mut column = Vec::new();
        for (row, text) in parquet
            .written(&self.name, &self.headers, at)?
            .iter()
            .enumerate()
        {
            match parse(text) {
                Ok(cell) => column.push(cell),
                Err(cell) => bad.add(Some(at), cell, || self.place(row, at)),
            }
        }
        Ok(column)
    }

    /// Whether any cell of a column is a number: one that is not among many is a slip.
    pub fn has_numbers(&self, at: usize) -> bool {
        let is_number = |key: &String| parse_number(key).is_ok();
        self.numbers(&[at]).is_ok() || self.keys(at).is_ok_and(|keys| keys.iter().any(is_number))
    }

    /// A column as texts, as they are; an empty one where there is nothing.
    pub fn texts(&self, at: usize) -> Result<Vec<String>, Problems> {
        let columns = match &self.format {
            Format::Csv(csv) => {
                let parse = |_, cell: &str| Ok(cell.trim().to_owned());
                csv.columns(&self.name, &self.headers, &[at], parse)?
            }
            Format::Parquet(parquet) => vec![parquet.written(&self.name, &self.headers, at)?],
            Format::Geo(file) => self.features_as(file, &[at], |_, value| Ok(key_text(value)))?,
        };
        Ok(self.has_rows(columns)?.pop().unwrap_or_default())
    }

    /// A column as keys, which are texts.
    pub fn keys(&self, at: usize) -> Result<Vec<String>, Problems> {
        let columns = match &self.format {
            Format::Csv(csv) => {
                let parse = |_, cell: &str| number::key(cell);
                csv.columns(&self.name, &self.headers, &[at], parse)?
            }
            Format::Parquet(parquet) => vec![parquet.keys(&self.name, &self.headers, at)?],
            Format::Geo(file) => {
                self.features_as(file, &[at], |_, value| number::key(&key_text(value)))?
            }
        };
        Ok(self.has_rows(columns)?.pop().unwrap_or_default())
    }

    fn features_as<T>(
        &self,
        file: &GeoFile,
        wanted: &[usize],
        parse: impl Fn(usize, &Value) -> Result<T, BadCell>,
    ) -> Result<Vec<Vec<T>>, Problems> {
        let mut bad = BadCells::default();
        let mut columns = Vec::with_capacity(wanted.len());
        for (i, &at) in wanted.iter().enumerate() {
            let mut column = Vec::with_capacity(file.features.len());
            for (row, feature) in file.features.iter().enumerate() {
                let name = &self.headers[at];
                let id = || feature.id.clone().filter(|_| name == ID).map(Value::from);
                let value = file.property(row, name).or_else(id);
                // Some columns have a meaning for nothing.
                let read = value.as_ref().map(|value| parse(i, value));
                let nothing = || parse(i, &Value::from("")).ok().map(Ok);
                let cell = match read.or_else(nothing) {
                    Some(Ok(value)) => {
                        column.push(value);
                        continue;
                    }
                    Some(Err(cell)) => cell,
                    None => BadCell {
                        fact: format!("the property `{}` is missing or null", short(name)),
                        remedy: "fill it in, or remove the feature",
                    },
                };
                bad.add(Some(at), cell, || self.place(row, at));
            }
            columns.push(column);
        }
        bad.or(&self.name, &self.headers, columns)
    }

    /// The columns, when there is at least one row.
    fn has_rows<T>(&self, columns: Vec<Vec<T>>) -> Result<Vec<Vec<T>>, Problems> {
        if columns.first().is_some_and(Vec::is_empty) {
            let place = self.whole();
            return Err(
                Problem::new(format!("{} has a header but no rows", self.name))
                    .at(place)
                    .remedy("add at least one row")
                    .into(),
            );
        }
        Ok(columns)
    }

    /// The file, and no line of it.
    pub fn whole(&self) -> Place {
        Place {
            file: self.name.clone(),
            spot: None,
            column_name: None,
        }
    }

    /// Where the cell of a row (from 0) in a column stands.
    pub fn place(&self, row: usize, column: usize) -> Place {
        let spot = match &self.format {
            Format::Csv(csv) => csv.spot(row, column),
            Format::Parquet(_) => Some(parquet::spot(row)),
            Format::Geo(file) => Some(file.property_spot(row, &self.headers[column])),
        };
        Place {
            file: self.name.clone(),
            spot,
            column_name: self.headers.get(column).cloned(),
        }
    }

    /// Where a row (from 0) stands, in words: "ages.csv:7".
    pub fn row_address(&self, row: usize) -> String {
        let line = match &self.format {
            Format::Csv(csv) => csv.spot(row, 0).map_or(row + 2, |spot| spot.line),
            Format::Parquet(_) => row + 1,
            Format::Geo(file) => file.features.get(row).map_or(row + 1, |f| f.line),
        };
        format!("{}:{line}", self.name)
    }

    fn check_headers(&self) -> Result<(), Problem> {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let named = self
            .headers
            .iter()
            .enumerate()
            .filter(|(_, h)| !h.is_empty());
        for (i, header) in named {
            let first = *known.entry(header).or_insert(i);
            if first == i {
                continue;
            }
            let mut place = self.place_of_header(i);
            place.column_name = None;
            return Err(Problem::new(format!(
                "two columns are named `{header}` (number {} and {})",
                first + 1,
                i + 1
            ))
            .at(place)
            .remedy("rename one of them"));
        }
        Ok(())
    }

    fn place_of_header(&self, column: usize) -> Place {
        let spot = match &self.format {
            Format::Csv(csv) => Some(csv.header_spot(column)),
            Format::Parquet(_) | Format::Geo(_) => None,
        };
        Place {
            file: self.name.clone(),
            spot,
            column_name: None,
        }
    }
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().to_lowercase())
}

/// Whether a file is GeoJSON by its name.
pub fn is_geo(path: &Path) -> bool {
    matches!(extension(path).as_deref(), Some("geojson" | "json"))
}

/// Reads a GeoJSON file; people see it under the name `shown`.
pub fn open_geo(path: &Path, shown: &Path) -> Result<Arc<GeoFile>, Problems> {
    let name = shown.display().to_string();
    if !is_geo(path) {
        return Err(Problem::new(format!("`{name}` is not a GeoJSON file by its name"))
            .remedy("regions are read from `.geojson`; convert other formats, such as with `ogr2ogr -t_srs EPSG:4326 out.geojson in.shp`")
            .into());
    }
    Ok(Arc::new(GeoFile::parse(read(path, &name)?, &name)?))
}

fn read(path: &Path, name: &str) -> Result<Vec<u8>, Problem> {
    if let Some(problem) = not_a_file(path, name) {
        return Err(problem);
    }
    std::fs::read(path).map_err(|error| {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => format!("the file `{name}` does not exist"),
            std::io::ErrorKind::IsADirectory => format!("`{name}` is a folder, not a table"),
            _ => format!("the file `{name}` cannot be read: {error}"),
        };
        let problem = Problem::new(reason);
        match neighbour(path) {
            Some(near) => problem.remedy(format!("did you mean `{near}`?")),
            None => problem.remedy(Remedy::or_flags(
                "paths are relative to the study file",
                "paths are relative to where the command runs",
            )),
        }
    })
}

/// A file of a similar name in the same folder.
fn neighbour(path: &Path) -> Option<String> {
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .take(1000)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let wanted = path.file_name()?.to_string_lossy();
    // It may be there itself, and no file or not to be read.
    let others = names.iter().map(String::as_str).filter(|n| *n != wanted);
    suggest::nearest(&wanted, others).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn columns(bytes: &[u8], wanted: &[usize]) -> Result<Vec<Vec<f64>>, Problems> {
        let (_keep, path) = written("t.CSV", bytes);
        Table::open(&path, &path)?.numbers(wanted)
    }

    #[test]
    fn bom_crlf_quotes_and_spaces_are_read() {
        let got = columns(
            b"\xef\xbb\xbffrom, \"to\"\r\n\"0\", 10\r\n10,2e1\r\n",
            &[0, 1],
        )
        .unwrap();
        assert_eq!(got, vec![vec![0.0, 10.0], vec![10.0, 20.0]]);
    }

    #[test]
    fn properties_are_columns() {
        let text = br#"{"type": "FeatureCollection", "features": [
{"type": "Feature", "id": 7, "geometry": null, "properties": {"n": 1.5, "FIPS": 37009.0}},
{"type": "Feature", "id": 8, "geometry": null, "properties": {"n": "x", "FIPS": "01"}}]}"#;
        let (_keep, path) = written("t.geojson", text);
        let table = Table::open(&path, &path).unwrap();
        let keys = |name| table.keys(table.find(name).unwrap()).unwrap();
        assert_eq!(
            (keys("FIPS"), keys("id")),
            (
                vec!["37009".into(), "01".into()],
                vec!["7".to_owned(), "8".into()]
            )
        );
        let problems = table.numbers(&[0]).unwrap_err();
        let spot = problems.0[0].place.clone().unwrap().spot.unwrap();
        assert_eq!((spot.line, spot.width), (3, 3), "{problems}");
    }

    #[test]
    fn a_missing_column_lists_what_there_is() {
        let (_keep, path) = written("t.csv", b"from,to,people\n1,2,3\n");
        let problem = Table::open(&path, &path)
            .unwrap()
            .find("peple")
            .unwrap_err();
        assert!(problem.message.contains("did you mean `people`?"));
        assert!(
            problem.remedies[0]
                .to_string()
                .contains("`from`, `to` and `people`")
        );
    }

    #[test]
    fn a_bad_cell_is_pointed_at() {
        let problem = columns(b"a,b\n1,2\n3,\"x\"\n", &[1])
            .unwrap_err()
            .0
            .remove(0);
        let place = problem.place.unwrap();
        let spot = place.spot.unwrap();
        assert_eq!((spot.line, spot.column, spot.width), (3, 3, 3));
        assert_eq!(place.column_name.as_deref(), Some("b"));
    }

    #[test]
    fn many_bad_cells_are_counted_not_listed() {
        let mut text = String::from("a,b\n");
        text.push_str(&"x,1\n".repeat(343));
        text.push_str(&"x,nan\n".repeat(197));
        text.push_str("1\n");
        let problems = columns(text.as_bytes(), &[0, 1]).unwrap_err();
        let told: Vec<&str> = problems.0.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(told.len(), 3);
        assert!(
            told[0].ends_with(", column `a`: 540 cells cannot be used: `x` is not a number"),
            "{told:?}"
        );
        assert!(
            told[1].ends_with(", column `b`: 197 cells cannot be used: `nan` is not finite"),
            "{told:?}"
        );
        assert!(told[2].contains("this row has 1 cell"), "{told:?}");
        // Nothing of it is hidden.
        let text = problems.to_string();
        assert!(text.contains("540 cells") && !text.contains("more problems"));
    }

    #[test]
    fn few_bad_cells_are_listed_not_counted() {
        let problems = columns(b"a\nx\ny\nz\n", &[0]).unwrap_err();
        assert_eq!(problems.0.len(), 3);
    }

    #[test]
    fn a_column_of_names_is_one_problem() {
        let text = format!("zone\n{}", "trough\nfan\n".repeat(15));
        let problems = columns(text.as_bytes(), &[0]).unwrap_err();
        assert_eq!(problems.0.len(), 1, "{problems}");
        let text = problems.to_string();
        for word in [
            "30 cells",
            "`trough`",
            "`fan`",
            "a plain number",
            "t.CSV:2:1",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn a_million_rows_take_about_a_second() {
        let mut text = String::from("from,to,people\n");
        for i in 0..1_000_000 {
            text.push_str(&format!("{i},{}.5,12345.678\n", i + 1));
        }
        let start = std::time::Instant::now();
        let got = columns(text.as_bytes(), &[0, 1, 2]).unwrap();
        assert_eq!(got[2].len(), 1_000_000);
        // Ten times what it should take: only a change of order must fail here.
        assert!(start.elapsed().as_secs() < 10);
    }
}
