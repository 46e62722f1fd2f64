//! Whatever bytes come in, nothing panics, and what is refused is refused with words.

use std::path::Path;

use proptest::prelude::*;

use crate::diagnostic::LOOKED;
use crate::fuzz::{broken_all_over, map, resolved, table};
use crate::geo_file::{Bare, GeoFile, outlines};
use crate::resolve::resolve;
use crate::study;

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

const MAP: &str = r#"{"type": "FeatureCollection", "features": [
{"type": "Feature", "id": 1, "properties": {"n": 1.5}, "geometry": {"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,1],[0,0]]]}},
{"type": "Feature", "id": "b", "properties": null, "geometry": {"type": "MultiPolygon", "coordinates": [[[[1,0],[2,0],[2,1],[1,0]]]]}}
]}"#;

proptest! {
    #[test]
    fn any_bytes_are_a_map_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        map(&bytes);
    }

    #[test]
    fn broken_maps_are_refused(text in broken(MAP)) {
        map(text.as_bytes());
    }
}

#[test]
fn the_unbroken_map_is_accepted() {
    let file = GeoFile::parse(MAP.into(), "m.geojson").unwrap();
    assert_eq!(
        outlines(&file, true, None, Bare::Refused, &mut Vec::new())
            .unwrap()
            .len(),
        2
    );
    map(MAP.as_bytes());
}

#[test]
fn a_file_that_is_broken_all_over_is_looked_through_a_few_times() {
    for (name, files) in broken_all_over(3000) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.toml");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        LOOKED.set(0);
        let said = resolved(&path).unwrap_err();
        // A place is looked for where it is shown: some twenty of a kind.
        assert!(LOOKED.get() <= 60, "{name}: {} times", LOOKED.get());
        assert!(said.len() < 20_000, "{name}: {} bytes", said.len());
        assert!(said.contains(" --> "), "{name}: {said}");
    }
}

#[test]
fn the_unbroken_study_is_accepted() {
    study::read(Path::new("s.toml"), STUDY).unwrap();
}
