//! What the program writes is what `quadrat_study` computes: of every kind of study the same files,
//! columns and model.

use std::path::Path;

use quadrat_study::simple::Simple;
use quadrat_study::{AnyOutcome, Column, Found, Options, Running, Source, Table, check, open, run};
use serde_json::Value;

use crate::broken_regions::{CASES, MAP, STUDY as REGIONS};
use crate::harness::{STUDY, TABLE, done, folder, names};
use crate::ungroup_study::{DEATHS, RATES};

const DENSITY: &str = "[density]\nfile = \"t.csv\"\ncolumn = \"y\"\ngroup = \"who\"\n[[predict]]\nname = \"half\"\nquantile = [0.5, 0.9]\n";

/// A folder with a study and its files, and the files that its run writes beside `fit.json` and the
/// report.
fn cases() -> Vec<(tempfile::TempDir, &'static [&'static str])> {
    let heights = "who,y\n1,2.5\n1,3.5\n2,2\n1,4.25\n2,7\n2,6\n1,3\n2,6.5\n";
    let of = |study: &str, files: &[(&str, &str)]| {
        let all = [&[("s.toml", study)], files].concat();
        let all: Vec<(&str, &[u8])> = all.iter().map(|(n, text)| (*n, text.as_bytes())).collect();
        folder(&all)
    };
    let regions = [("map.geojson", MAP), ("cases.csv", CASES)];
    vec![
        (of(STUDY, &[("ages.csv", TABLE)]), &["by-year.csv"]),
        (of(REGIONS, &regions), &["again.csv", "again.geojson"]),
        (
            of(DENSITY, &[("t.csv", heights)]),
            &["density.csv", "half.csv"],
        ),
        (
            of(RATES, &[("d.csv", DEATHS)]),
            &["life_table.csv", "steps.csv"],
        ),
    ]
}

/// What the library computes of the study in a folder.
fn computed(folder: &Path, options: &Options) -> AnyOutcome {
    let path = folder.join("s.toml");
    run(Source::File(&path), options, &Running::default()).unwrap()
}

/// What is wrong with the files of a run, beside those of an outcome.
fn differing(out: &Path, outcome: &AnyOutcome) -> Vec<String> {
    let is_other = |(name, write): &(String, quadrat_study::Writer<'_>)| {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        bytes.is_empty() || std::fs::read(out.join(name)).ok() != Some(bytes)
    };
    let files = outcome.files().into_iter();
    files.filter(is_other).map(|(name, _)| name).collect()
}

/// Without what a run alone knows: how long it took, and the files that it wrote.
fn fit(text: &str) -> Value {
    let mut fit: Value = serde_json::from_str(text).unwrap();
    let fields = fit.as_object_mut().unwrap();
    assert!(fields.remove("seconds").is_some());
    fields.remove("files");
    fit
}

/// Whether a table has the header and the cells of a CSV.
fn is_same(table: &Table, path: &Path) -> bool {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap();
    if !header.iter().eq(table.columns.iter().map(|(name, _)| name)) {
        return false;
    }
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut columns = table.columns.iter().enumerate();
    rows.len() == table.rows()
        && columns.all(|(at, (_, column))| {
            let cells = rows.iter().map(|row| row.get(at).unwrap());
            match column {
                Column::Numbers(all) => cells
                    .map(|c| c.parse::<f64>().unwrap())
                    .eq(all.iter().copied()),
                Column::Texts(all) => cells.eq(all.iter().map(String::as_str)),
            }
        })
}

#[test]
fn the_program_writes_what_the_library_computes() {
    for (folder, files) in cases() {
        let path = folder.path().join("s.toml");
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        let out = folder.path().join("out");
        let written = names(&out);
        let is_told = |name: &&String| name.ends_with(".csv") || name.ends_with(".geojson");
        let written: Vec<&String> = written.iter().filter(is_told).collect();
        assert_eq!(written, files);
        let checked = check(open(Source::File(&path)).unwrap(), &Options::default()).unwrap();
        let promised = checked.outputs();
        let outcome = computed(folder.path(), &Options::default());
        let own = outcome.files().into_iter();
        assert_eq!(promised, own.map(|(name, _)| name).collect::<Vec<_>>());
        assert_eq!(differing(&out, &outcome), [""; 0], "{files:?}");
        let json = std::fs::read_to_string(out.join("fit.json")).unwrap();
        assert_eq!(fit(&json), fit(&outcome.json().unwrap()));
        let found = Found::of(outcome).unwrap();
        for table in &found.tables {
            let path = out.join(format!("{}.csv", table.name));
            assert!(is_same(table, &path), "{}", table.name);
        }
        for (name, text) in &found.maps {
            let map = std::fs::read_to_string(out.join(format!("{name}.geojson")));
            assert_eq!(&map.unwrap(), text);
        }
        assert_eq!(found.tables.len() + found.maps.len(), files.len());
    }
}

/// What the command line changes of a study, options change too; and other options make other
/// files, which [`differing`] finds.
#[test]
fn flags_are_options() {
    let (folder, _) = cases().swap_remove(0);
    let flags = ["run", "s.toml", "-o", "out", "--baseline", "areal"];
    done(folder.path(), &flags);
    let out = folder.path().join("out");
    let options = Options {
        baseline: Some(vec![Simple::Areal]),
        ..Options::default()
    };
    let with = computed(folder.path(), &options);
    assert_eq!(differing(&out, &with), [""; 0]);
    let without = computed(folder.path(), &Options::default());
    assert_eq!(differing(&out, &without), ["by-year.csv"]);
    let (AnyOutcome::Function(with), AnyOutcome::Function(without)) = (with, without) else {
        panic!("the study is of a function");
    };
    assert_eq!(with.answers[0].mean, without.answers[0].mean);
}

/// A fit has the model of a run and its numbers, and no tables.
#[test]
fn a_fit_predicts_nothing() {
    let fit_only = Options {
        fit_only: true,
        ..Options::default()
    };
    for (folder, files) in cases().into_iter().take(3) {
        done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
        let saved = std::fs::read(folder.path().join("m.quadrat")).unwrap();
        let outcome = computed(folder.path(), &fit_only);
        assert_eq!(outcome.files().len(), 0);
        let whole = computed(folder.path(), &Options::default());
        let of = |outcome: &AnyOutcome| fit(&outcome.json().unwrap());
        let evidence = |outcome| of(outcome).get("log_evidence").cloned();
        assert_eq!(evidence(&outcome), evidence(&whole), "{files:?}");
        // The time that a fit took stands in the model of a function.
        if let AnyOutcome::Density(_) = outcome {
            assert_eq!(saved, outcome.model());
            assert_eq!(saved, whole.model());
        }
    }
    // Bands have no model.
    let (bands, _) = cases().remove(3);
    let path = bands.path().join("s.toml");
    let refused = check(open(Source::File(&path)).unwrap(), &fit_only)
        .err()
        .unwrap();
    let told = refused.to_string();
    assert!(told.contains("there is no model to save"), "{told}");
}
