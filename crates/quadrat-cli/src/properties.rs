//! Whatever bytes come in, nothing panics, and what is refused is refused with words.

use std::path::Path;

use proptest::prelude::*;

use crate::diagnostic::Problems;
use crate::geo_file::{self, GeoFile, outlines};
use crate::resolve::resolve;
use crate::study;
use crate::table::Table;

const STUDY: &str = r#"title = "Ages"
[latent]
kernel = "se(age) * periodic(year, period = 24) + linear(age)"
mean = 3.5
link = "identity"
[[observe]]
file = "a.csv"
support = { box = { age = ["from", "to"] }, point = ["year"] }
aggregate = "sum"
likelihood = { gaussian = { value = "n", variance = "v", extra = "learn" } }
share_noise = true
[[predict]]
name = "by-year"
support = { grid = { age = { from = 0, to = 100, step = 1, cells = true }, year = { from = 0, to = 1, step = 1 } } }
aggregate = "sum"
scale = "response"
level = 0.95
[hyperparameters]
"se.lengthscale.age" = { start = 10.0 }
"noise.variance" = { value = 4.0, fixed = true }
[inference]
method = "auto"
seed = 1
"#;

/// Words that the grammar knows, and some that break it.
fn fragment() -> impl Strategy<Value = String> {
    let words = [
        "{",
        "}",
        "[",
        "]",
        "[[observe]]",
        "[[predict]]",
        "\"",
        "'",
        "\"\"\"",
        "=",
        ",",
        ".",
        "#",
        "\n",
        "\r\n",
        "é",
        "\0",
        "nan",
        "inf",
        "-1",
        "0",
        "1e308",
        "1e-308",
        "9223372036854775807",
        "true",
        "1979-05-27",
        "\\",
        "\\u0041",
        "se(",
        ")",
        "box",
        "point",
        "grid",
        "from",
        "to",
        "step",
        "cells",
        "age",
        "file",
        "../x",
        "..",
        "support.box.age",
        "a.b.c = {}",
    ];
    prop_oneof![
        proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        any::<char>().prop_map(String::from)
    ]
}

/// A good text with a few pieces replaced, removed or put in.
fn broken(text: &'static str) -> impl Strategy<Value = String> {
    proptest::collection::vec((0..=text.len(), 0..12usize, fragment()), 1..6).prop_map(
        move |edits| {
            let mut broken = text.to_owned();
            for (at, remove, insert) in edits {
                let mut start = at.min(broken.len());
                while !broken.is_char_boundary(start) {
                    start -= 1;
                }
                let mut end = (start + remove).min(broken.len());
                while !broken.is_char_boundary(end) {
                    end += 1;
                }
                broken.replace_range(start..end, &insert);
            }
            broken
        },
    )
}

/// Every problem renders and says something.
fn worded(problems: &Problems) -> bool {
    !problems.0.is_empty() && problems.to_string().contains("error: ")
}

proptest! {
    #[test]
    fn any_text_is_a_study_or_is_refused(text in ".{0,300}") {
        if let Err(problems) = study::read(Path::new("s.toml"), &text) {
            prop_assert!(problems.to_string().contains("error: "));
        }
    }

    #[test]
    fn broken_studies_are_refused_in_words(text in broken(STUDY)) {
        match study::read(Path::new("s.toml"), &text) {
            Ok(study) => drop(resolve(study)),
            Err(problems) => prop_assert!(!problems.0.is_empty()),
        }
    }

    #[test]
    fn any_bytes_are_a_table_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        table(&bytes);
    }

    #[test]
    fn broken_tables_are_refused(text in broken("from,to,n\r\n0,10,5\r\n10,\"20\",7\r\n\"20\",30,6\r\n")) {
        table(text.as_bytes());
    }
}

fn table(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, bytes).unwrap();
    let table = match Table::open(&path, &path) {
        Ok(table) => table,
        Err(problems) => return assert!(worded(&problems)),
    };
    let found: Vec<usize> = ["from", "to", "n"]
        .iter()
        .filter_map(|name| table.find(name).ok())
        .collect();
    match table.numbers(&found) {
        Ok(columns) => {
            assert!(columns.iter().flatten().all(|value| value.is_finite()));
            if let Some(column) = found.first() {
                assert!(table.place(0, *column).spot.is_some());
            }
        }
        Err(problems) => assert!(worded(&problems)),
    }
}

const MAP: &str = r#"{"type": "FeatureCollection", "features": [
{"type": "Feature", "id": 1, "properties": {"n": 1.5}, "geometry": {"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,1],[0,0]]]}},
{"type": "Feature", "id": "b", "properties": null, "geometry": {"type": "MultiPolygon", "coordinates": [[[[1,0],[2,0],[2,1],[1,0]]]]}}
]}"#;

/// A map is read and written again, or refused in words.
fn map(bytes: Vec<u8>) {
    let file = match GeoFile::parse(bytes, "m.geojson") {
        Ok(file) => file,
        Err(problems) => return assert!(worded(&problems)),
    };
    if let Err(problems) = outlines(&file, true, None, false, &mut Vec::new()) {
        return assert!(worded(&problems));
    }
    let all: Vec<usize> = (0..file.features.len()).collect();
    let mut out = Vec::new();
    geo_file::write(&mut out, &file, &all, |_| {
        vec![("mean".to_owned(), 0.5.into())]
    })
    .unwrap();
    let again = GeoFile::parse(out, "m.geojson").unwrap();
    assert_eq!(again.features.len(), file.features.len());
    assert!((0..all.len()).all(
        |i| again.property(i, "mean").is_some() || file.properties.contains(&"mean".to_owned())
    ));
}

proptest! {
    #[test]
    fn any_bytes_are_a_map_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        map(bytes);
    }

    #[test]
    fn broken_maps_are_refused(text in broken(MAP)) {
        map(text.into_bytes());
    }
}

#[test]
fn the_unbroken_map_is_accepted() {
    let file = GeoFile::parse(MAP.into(), "m.geojson").unwrap();
    assert_eq!(
        outlines(&file, true, None, false, &mut Vec::new())
            .unwrap()
            .len(),
        2
    );
    map(MAP.into());
}

#[test]
fn the_unbroken_study_is_accepted() {
    study::read(Path::new("s.toml"), STUDY).unwrap();
}
