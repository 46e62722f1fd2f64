//! Pixels and cases in Parquet files (with the feature) are those of CSV files.

use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::harness::{done, folder, quadrat, stderr};

const STUDY: &str = r#"[latent]
kernel = "se(x, y, shared = true)"
[[observe]]
file = "cases.KIND"
support = { bag = { file = "pixels.KIND", key = "district", dims = ["x", "y"], weight = "people" } }
aggregate = "sum"
likelihood = { poisson = { count = "cases" } }
[[predict]]
name = "again"
support = { file = "cases.KIND", bag = { file = "pixels.KIND", key = "district", dims = ["x", "y"], weight = "people" } }
aggregate = "sum"
[inference]
hyperparameters = "map"
method = "sparse"
inducing = 9
"#;

/// Writes a column of texts and some of numbers, in two groups of rows.
fn write(path: &Path, key: &str, names: &[&str], rows: &[(String, Vec<f64>)]) {
    let numbers: Vec<String> = names
        .iter()
        .map(|name| format!("required double {name};"))
        .collect();
    let schema = format!(
        "message t {{ required binary {key} (UTF8); {} }}",
        numbers.join(" ")
    );
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let properties = Arc::new(WriterProperties::default());
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    for rows in rows.chunks(rows.len().div_ceil(2)) {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let keys: Vec<ByteArray> = rows.iter().map(|r| r.0.as_str().into()).collect();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&keys, None, None).unwrap();
        column.close().unwrap();
        for d in 0..names.len() {
            let mut column = group.next_column().unwrap().unwrap();
            let values: Vec<f64> = rows.iter().map(|r| r.1[d]).collect();
            let typed = column.typed::<DoubleType>();
            typed.write_batch(&values, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn csv(key: &str, names: &[&str], rows: &[(String, Vec<f64>)]) -> String {
    let line = |(key, values): &(String, Vec<f64>)| {
        let values: Vec<String> = values.iter().map(f64::to_string).collect();
        format!("{key},{}\n", values.join(","))
    };
    let body: String = rows.iter().map(line).collect();
    format!("{key},{}\n{body}", names.join(","))
}

/// Districts of four pixels each.
fn pixels() -> Vec<(String, Vec<f64>)> {
    (0..36)
        .map(|i| {
            let (x, y) = (f64::from(i % 6), f64::from(i / 6));
            let district = (i % 6) / 2 + 3 * (i / 12);
            let people = 1.0 + f64::from(i % 4);
            (format!("d{district}"), vec![x, y, people])
        })
        .collect()
}

#[test]
fn pixels_and_cases_may_be_parquet() {
    let cases: Vec<(String, Vec<f64>)> = [4.0, 7.0, 15.0, 3.0, 9.0, 22.0, 5.0, 12.0, 31.0]
        .iter()
        .enumerate()
        .map(|(i, n)| (format!("d{i}"), vec![*n]))
        .collect();
    let (pixel, case) = (["x", "y", "people"], ["cases"]);
    let study = |kind: &str| STUDY.replace("KIND", kind);
    let folder = folder(&[
        ("csv.toml", study("csv").as_bytes()),
        ("parquet.toml", study("parquet").as_bytes()),
        ("pixels.csv", csv("district", &pixel, &pixels()).as_bytes()),
        ("cases.csv", csv("district", &case, &cases).as_bytes()),
    ]);
    let path = folder.path();
    write(&path.join("pixels.parquet"), "district", &pixel, &pixels());
    write(&path.join("cases.parquet"), "district", &case, &cases);
    let answer = |kind: &str| {
        done(path, &["run", &format!("{kind}.toml"), "-o", kind]);
        std::fs::read_to_string(path.join(kind).join("again.csv")).unwrap()
    };
    assert_eq!(answer("parquet"), answer("csv"));
}

#[test]
fn what_is_wrong_in_pixels_is_told_with_its_row() {
    let mut broken = pixels();
    broken[20].1[0] = f64::NAN;
    let cases = vec![("d0".to_owned(), vec![4.0])];
    let study = STUDY.replace("pixels.KIND", "pixels.parquet");
    let study = study.replace("KIND", "csv");
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("cases.csv", csv("district", &["cases"], &cases).as_bytes()),
    ]);
    let names = ["x", "y", "people"];
    write(
        &folder.path().join("pixels.parquet"),
        "district",
        &names,
        &broken,
    );
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("pixels.parquet:21 (column `x`)"), "{text}");
    assert!(!folder.path().join("out").exists());
}
