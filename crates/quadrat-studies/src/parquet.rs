//! Parquet tables of numbers, with the feature `parquet`.

use std::path::Path;

use anyhow::Result;

/// Names and values of all columns, in the order of the file.
///
/// # Errors
/// A file that cannot be read; a cell that is no finite number, by its row.
#[cfg(feature = "parquet")]
pub fn numbers(path: &Path) -> Result<(Vec<String>, Vec<Vec<f64>>)> {
    use anyhow::Context;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    let context = || format!("{}", path.display());
    let file = std::fs::File::open(path).with_context(context)?;
    let reader = SerializedFileReader::new(file).with_context(context)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let names = schema.columns().iter().map(|c| c.path().string());
    let names: Vec<String> = names.collect();
    let mut columns = vec![Vec::new(); names.len()];
    for (row, record) in reader.into_iter().enumerate() {
        let record = record.with_context(context)?;
        for ((_, cell), column) in record.get_column_iter().zip(&mut columns) {
            let number = match cell {
                Field::Double(x) => Some(*x),
                Field::Float(x) => Some(f64::from(*x)),
                Field::Byte(x) => Some(f64::from(*x)),
                Field::Short(x) => Some(f64::from(*x)),
                Field::Int(x) => Some(f64::from(*x)),
                Field::Long(x) => Some(*x as f64),
                _ => None,
            };
            let number = number.filter(|x| x.is_finite());
            let place = || {
                format!(
                    "{}: row {}: {cell} is not a number",
                    path.display(),
                    row + 1
                )
            };
            column.push(number.with_context(place)?);
        }
    }
    Ok((names, columns))
}

/// Some columns by their names; NaN where a cell is empty.
///
/// # Errors
/// A file or column that cannot be read; a cell that is no number.
#[cfg(feature = "parquet")]
pub fn columns(path: &Path, names: &[&str]) -> Result<Vec<Vec<f64>>> {
    use anyhow::{Context, bail};
    use parquet::file::reader::SerializedFileReader;
    use parquet::record::Field;

    let context = || format!("{}", path.display());
    let file = std::fs::File::open(path).with_context(context)?;
    let reader = SerializedFileReader::new(file).with_context(context)?;
    let mut columns = vec![Vec::new(); names.len()];
    for (row, record) in reader.into_iter().enumerate() {
        let record = record.with_context(context)?;
        for (name, column) in names.iter().zip(&mut columns) {
            let cell = record.get_column_iter().find(|(known, _)| known == name);
            let (_, cell) =
                cell.with_context(|| format!("{}: no column {name}", path.display()))?;
            column.push(match cell {
                Field::Null => f64::NAN,
                Field::Double(x) => *x,
                Field::Float(x) => f64::from(*x),
                Field::Int(x) => f64::from(*x),
                Field::Long(x) => *x as f64,
                Field::Str(text) => match text.parse() {
                    Ok(number) => number,
                    Err(_) => bail!(
                        "{}: row {}: `{text}` is not a number",
                        path.display(),
                        row + 1
                    ),
                },
                _ => bail!(
                    "{}: row {}: {cell} is not a number",
                    path.display(),
                    row + 1
                ),
            });
        }
    }
    Ok(columns)
}

/// Refuses the file.
///
/// # Errors
/// Always.
#[cfg(not(feature = "parquet"))]
pub fn columns(path: &Path, _: &[&str]) -> Result<Vec<Vec<f64>>> {
    numbers(path).map(|(_, columns)| columns)
}

/// Refuses the file.
///
/// # Errors
/// Always.
#[cfg(not(feature = "parquet"))]
pub fn numbers(path: &Path) -> Result<(Vec<String>, Vec<Vec<f64>>)> {
    anyhow::bail!(
        "{} is a Parquet file: build the studies with `--features parquet`",
        path.display()
    )
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::{DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    fn written(name: &str, values: &[f64]) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("quadrat-{name}-{}", std::process::id()));
        let schema = "message t { required double a; required int64 b; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let file = std::fs::File::create(&path).unwrap();
        let properties = Arc::new(WriterProperties::default());
        let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut a = group.next_column().unwrap().unwrap();
        a.typed::<DoubleType>()
            .write_batch(values, None, None)
            .unwrap();
        a.close().unwrap();
        let mut b = group.next_column().unwrap().unwrap();
        let counts: Vec<i64> = (0..values.len() as i64).collect();
        b.typed::<Int64Type>()
            .write_batch(&counts, None, None)
            .unwrap();
        b.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        path
    }

    #[test]
    fn parquet_columns_are_numbers_in_order() {
        let path = written("numbers", &[0.5, -2.0, 1e9]);
        let (names, columns) = numbers(&path).unwrap();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(columns, [vec![0.5, -2.0, 1e9], vec![0.0, 1.0, 2.0]]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn bad_parquet_cells_are_named() {
        let path = written("bad", &[0.5, f64::NAN]);
        let error = numbers(&path).unwrap_err().to_string();
        assert!(error.ends_with("row 2: NaN is not a number"), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}
