//! Columns of numbers from Parquet files, without the weight of Arrow.

use std::fmt;

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::spot;
use crate::diagnostic::{Place, Problem, Problems};
use crate::table::{BadCell, BadCells};

/// A Parquet file in memory.
pub struct Parquet {
    reader: SerializedFileReader<bytes::Bytes>,
}

impl fmt::Debug for Parquet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parquet").finish_non_exhaustive()
    }
}

impl Parquet {
    /// Reads the names of the columns.
    pub fn parse(bytes: Vec<u8>, name: &str) -> Result<(Self, Vec<String>), Problem> {
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).map_err(|error| {
            Problem::new(format!("{name} is not a readable Parquet file: {error}"))
                .at(whole(name))
                .remedy("write it again, or save it as CSV")
        })?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let headers = schema
            .columns()
            .iter()
            .map(|column| column.path().string())
            .collect();
        Ok((Self { reader }, headers))
    }

    /// The wanted columns as finite numbers.
    pub fn numbers(
        &self,
        name: &str,
        headers: &[String],
        wanted: &[usize],
    ) -> Result<Vec<Vec<f64>>, Problems> {
        let mut columns = Vec::with_capacity(wanted.len());
        let mut problems = Problems::default();
        let mut bad = BadCells::default();
        for &at in wanted {
            match self.column(name, &headers[at], at, &mut bad) {
                Ok(column) => columns.push(column),
                Err(problem) => problems.push(problem),
            }
        }
        if let Err(cells) = bad.or(name, headers, ()) {
            problems.0.extend(cells.0);
        }
        problems.or(columns)
    }

    /// A column of whole numbers or texts as keys.
    pub fn keys(&self, name: &str, headers: &[String], at: usize) -> Result<Vec<String>, Problems> {
        let place = Place {
            column_name: headers.get(at).cloned(),
            ..whole(name)
        };
        let cells = self.texts(at).map_err(|error| {
            Problem::new(format!("the keys cannot be read: {error}"))
                .at(place.clone())
                .remedy("give them as texts or whole numbers, or save the table as CSV")
        })?;
        let mut bad = BadCells::default();
        let mut keys = Vec::with_capacity(cells.len());
        for (row, cell) in cells.into_iter().enumerate() {
            match cell.filter(|cell| !cell.is_empty()) {
                Some(key) => keys.push(key),
                None => {
                    let cell = BadCell {
                        fact: "the key is empty".to_owned(),
                        remedy: "fill it in, or delete the row",
                    };
                    bad.add(Some(at), cell, || Place {
                        spot: Some(spot(row)),
                        ..place.clone()
                    });
                }
            }
        }
        bad.or(name, headers, keys)
    }

    /// Every cell of a column of texts or numbers as it would be written; empty where there is
    /// none.
    pub fn written(
        &self,
        name: &str,
        headers: &[String],
        at: usize,
    ) -> Result<Vec<String>, Problems> {
        let cells = self.texts(at).map_err(|error| {
            Problem::new(format!("the column cannot be read: {error}"))
                .at(Place {
                    column_name: headers.get(at).cloned(),
                    ..whole(name)
                })
                .remedy("give it as numbers or texts, or save the table as CSV")
        })?;
        Ok(cells.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Every cell of a column of texts or numbers as text; `None` where it is empty.
    fn texts(&self, at: usize) -> ParquetResult<Vec<Option<String>>> {
        let column = self
            .reader
            .metadata()
            .file_metadata()
            .schema_descr()
            .column(at);
        if column.physical_type() != Type::BYTE_ARRAY {
            if let Some(kind) = self.unsuitable(at) {
                return Err(parquet::errors::ParquetError::General(format!(
                    "it holds {kind}"
                )));
            }
            let cells = self.cells(at)?.into_iter();
            return Ok(cells.map(|cell| cell.map(|x| x.to_string())).collect());
        }
        let mut cells = Vec::new();
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            if let ColumnReader::ByteArrayColumnReader(column) = group.get_column_reader(at)? {
                let text = |bytes: parquet::data_type::ByteArray| {
                    String::from_utf8_lossy(bytes.data()).trim().to_owned()
                };
                read(column, rows, text, &mut cells)?;
            }
        }
        Ok(cells)
    }

    fn column(
        &self,
        name: &str,
        header: &str,
        at: usize,
        bad: &mut BadCells,
    ) -> Result<Vec<f64>, Problem> {
        let place = Place {
            column_name: Some(header.to_owned()),
            ..whole(name)
        };
        if let Some(kind) = self.unsuitable(at) {
            let problem = Problem::new(format!("the column `{header}` holds {kind}, not numbers"));
            return Err(problem
                .at(place)
                .remedy("convert it to floating-point numbers"));
        }
        let cells = self.cells(at).map_err(|error| {
            let problem = Problem::new(format!("the column `{header}` cannot be read: {error}"))
                .at(place.clone());
            problem.remedy(
                "write the file again with Snappy or Zstandard compression, or save it as CSV",
            )
        })?;
        let mut column = Vec::with_capacity(cells.len());
        for (row, cell) in cells.into_iter().enumerate() {
            let fact = match cell {
                Some(value) if value.is_finite() => {
                    column.push(value);
                    continue;
                }
                Some(value) => format!("`{value}` is not finite"),
                None => "the cell is empty".to_owned(),
            };
            let remedy = "delete the row if the value is missing";
            bad.add(Some(at), BadCell { fact, remedy }, || Place {
                spot: Some(spot(row)),
                ..place.clone()
            });
        }
        Ok(column)
    }

    /// What a column holds, if it is no plain number.
    fn unsuitable(&self, at: usize) -> Option<String> {
        let column = self
            .reader
            .metadata()
            .file_metadata()
            .schema_descr()
            .column(at);
        if column.max_rep_level() > 0 {
            return Some("lists".to_owned());
        }
        match column.logical_type_ref() {
            None | Some(LogicalType::Integer { .. } | LogicalType::Unknown) => {}
            Some(other) => return Some(format!("{other:?}")),
        }
        match column.physical_type() {
            Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE => {}
            other => return Some(format!("{other}")),
        }
        match column.converted_type() {
            ConvertedType::UINT_64 => Some("unsigned 64-bit integers".to_owned()),
            ConvertedType::DECIMAL => Some("decimals".to_owned()),
            _ => None,
        }
    }

    /// Every cell of a column; `None` where it is empty.
    fn cells(&self, at: usize) -> ParquetResult<Vec<Option<f64>>> {
        let mut cells = Vec::new();
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            match group.get_column_reader(at)? {
                ColumnReader::Int32ColumnReader(column) => {
                    read(column, rows, f64::from, &mut cells)?
                }
                ColumnReader::Int64ColumnReader(column) => {
                    read(column, rows, |value| value as f64, &mut cells)?
                }
                ColumnReader::FloatColumnReader(column) => {
                    read(column, rows, f64::from, &mut cells)?
                }
                ColumnReader::DoubleColumnReader(column) => {
                    read(column, rows, |value| value, &mut cells)?
                }
                _ => {}
            }
        }
        Ok(cells)
    }
}

fn whole(name: &str) -> Place {
    Place {
        file: name.to_owned(),
        spot: None,
        column_name: None,
    }
}

fn read<T: DataType, V>(
    mut column: ColumnReaderImpl<T>,
    rows: usize,
    number: impl Fn(T::T) -> V,
    cells: &mut Vec<Option<V>>,
) -> ParquetResult<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut left = rows;
    while left > 0 {
        let (records, _, _) = column.read_records(left, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
        left -= records;
    }
    if levels.is_empty() {
        cells.extend(values.into_iter().map(|value| Some(number(value))));
        return Ok(());
    }
    // A cell is there where the definition level is the highest; nested optional columns have
    // several.
    let defined = levels.iter().copied().max().unwrap_or(0).max(1);
    let mut values = values.into_iter();
    cells.extend(levels.into_iter().map(|level| {
        if level == defined {
            values.next().map(&number)
        } else {
            None
        }
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::{DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use crate::table::Table;

    fn written(second: &[f64], levels: &[i16]) -> (tempfile::TempDir, Table) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let schema =
            parse_message_type("message t { required int64 a; optional double b; }").unwrap();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = SerializedFileWriter::new(
            file,
            Arc::new(schema),
            Arc::new(WriterProperties::default()),
        )
        .unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let first: Vec<i64> = (0..levels.len() as i64).collect();
        column
            .typed::<Int64Type>()
            .write_batch(&first, None, None)
            .unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<DoubleType>()
            .write_batch(second, Some(levels), None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let table = Table::open(&path, &path).unwrap();
        (folder, table)
    }

    #[test]
    fn numbers_of_every_type_are_read() {
        let (_keep, table) = written(&[0.5, 1.5], &[1, 1]);
        assert_eq!(table.find("b").unwrap(), 1);
        assert_eq!(
            table.numbers(&[1, 0]).unwrap(),
            [vec![0.5, 1.5], vec![0.0, 1.0]]
        );
    }

    #[test]
    fn empty_and_infinite_cells_are_refused_with_their_row() {
        let (_keep, table) = written(&[0.5, f64::NAN], &[1, 0, 1]);
        let text = table.numbers(&[1]).unwrap_err().to_string();
        assert!(
            text.contains("the cell is empty") && text.contains("t.parquet:2 (column `b`)"),
            "{text}"
        );
        assert!(
            text.contains("`NaN` is not finite") && text.contains("t.parquet:3 (column `b`)"),
            "{text}"
        );
    }

    #[test]
    fn whole_numbers_and_texts_are_keys() {
        let (_keep, table) = written(&[0.5, 2.0], &[1, 1]);
        assert_eq!(table.keys(0).unwrap(), ["0", "1"]);
        assert_eq!(table.keys(1).unwrap(), ["0.5", "2"]);
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        std::fs::write(&path, b"PAR1nonsensePAR1").unwrap();
        assert!(
            Table::open(&path, &path)
                .unwrap_err()
                .to_string()
                .contains("not a readable Parquet file")
        );
    }
}
