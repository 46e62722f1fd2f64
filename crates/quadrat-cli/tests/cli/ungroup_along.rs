//! Years that are ungrouped together.

use std::path::Path;

use serde_json::Value;

use crate::harness::{done, folder, quadrat, stderr};

/// Cohorts who are a year older every year, in five-year bands of forty ages.
fn people(year: usize, from: usize, to: usize) -> f64 {
    let one = |age: usize| {
        let away = (year as f64 - age as f64 - 1970.0) / 2.0;
        100.0 * (1.0 + (-0.5 * away * away).exp())
    };
    (from..to).map(one).sum()
}

/// A table of some years; those from 2002 on have wider bands.
fn table(years: &[usize], region: Option<&str>) -> String {
    let mut text = String::new();
    for &year in years {
        let width = if year < 2002 { 5 } else { 10 };
        for from in (0..40).step_by(width) {
            let count = people(year, from, from + width).round();
            let region = region.map_or(String::new(), |name| format!("{name},"));
            text.push_str(&format!("{region}{year},{from},{},{count}\n", from + width));
        }
    }
    text
}

const ASKED: [&str; 9] = [
    "ungroup", "u.csv", "--lower", "from", "--upper", "to", "--count", "people", "--along",
];

fn asked(folder: &Path, text: &str, more: &[&str]) -> String {
    std::fs::write(folder.join("u.csv"), text).unwrap();
    done(folder, &[&ASKED[..], &["year"], more].concat())
}

fn refused(folder: &Path, text: &str, more: &[&str]) -> String {
    std::fs::write(folder.join("u.csv"), text).unwrap();
    let output = quadrat(folder, &[&ASKED[..], &["year"], more].concat());
    assert!(!output.status.success(), "{more:?}");
    stderr(&output)
}

fn records(path: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut table = csv::Reader::from_path(path).unwrap();
    let header = table.headers().unwrap().iter().map(str::to_owned).collect();
    let number = |cell: &str| cell.parse().unwrap_or(f64::NAN);
    let rows = table
        .records()
        .map(|record| record.unwrap().iter().map(number).collect());
    (header, rows.collect())
}

#[test]
fn every_draw_of_every_year_meets_its_bands() {
    let folder = folder(&[]);
    let path = folder.path();
    let text = format!("year,from,to,people\n{}", table(&[2000, 2001, 2003], None));
    let told = asked(
        path,
        &text,
        &["--draws", "3", "-o", "out.csv", "--plot", "out.svg"],
    );
    assert!(
        told.contains("in one population of 3 years: 120 steps"),
        "{told}"
    );
    assert!(told.contains("years of `year` inform each other"), "{told}");
    assert!(told.contains("2003: median"), "{told}");
    let (header, rows) = records(&path.join("out.csv"));
    assert_eq!(
        header.join(","),
        "year,from,to,mean,sd,lower,median,upper,draw_1,draw_2,draw_3"
    );
    for (year, width) in [(2000, 5), (2001, 5), (2003, 10)] {
        let own: Vec<&Vec<f64>> = rows
            .iter()
            .filter(|row| row[0] == f64::from(year))
            .collect();
        assert_eq!(own.len(), 40);
        for (band, steps) in own.chunks(width).enumerate() {
            let (from, to) = (band * width, (band + 1) * width);
            let count = people(year as usize, from, to).round();
            for column in [3, 8, 9, 10] {
                let sum: f64 = steps.iter().map(|row| row[column]).sum();
                assert!((sum / count - 1.0).abs() < 1e-9, "{year} {band} {column}");
            }
        }
    }
    assert!(
        std::fs::read_to_string(path.join("out.svg"))
            .unwrap()
            .contains("2003")
    );
}

#[test]
fn a_study_and_the_command_say_the_same_of_several_populations() {
    let folder = folder(&[]);
    let path = folder.path();
    let mut text = "region,year,from,to,people\n".to_owned();
    for region in ["north", "south"] {
        text.push_str(&table(&[2000, 2001], Some(region)));
    }
    asked(
        path,
        &text,
        &["--by", "region", "--step", "5", "-o", "out.csv"],
    );
    let study = "[ungroup]\nfile = \"u.csv\"\nlower = \"from\"\nupper = \"to\"\ncount = \"people\"\nby = \"region\"\nalong = \"year\"\nstep = 5\n";
    std::fs::write(path.join("s.toml"), study).unwrap();
    done(path, &["run", "s.toml", "-o", "run"]);
    let [one, other] =
        ["out.csv", "run/steps.csv"].map(|name| std::fs::read(path.join(name)).unwrap());
    assert_eq!(one, other);
    let fit = std::fs::read_to_string(path.join("run/fit.json")).unwrap();
    let fit: Value = serde_json::from_str(&fit).unwrap();
    let all = fit["ungroup"]["populations"]
        .as_array()
        .or(fit["populations"].as_array());
    let first = &all.unwrap()[0]["by"];
    assert_eq!(
        (&first["region"], &first["year"]),
        (&"north".into(), &"2000".into())
    );
}

/// One year is what `--by` says of it.
/// A year without events, or with one band, is named; the others are ungrouped.
#[test]
fn years_that_tell_nothing_are_left_out_by_name() {
    let folder = folder(&[]);
    let path = folder.path();
    let head = "year,from,to,people\n";
    let fine = table(&[2000, 2001], None);
    let more = ["-o", "out.csv"];
    let zeros = "1999,0,5,0\n1999,5,40,0\n";
    let one = "2005,0,40,900\n";
    let text = refused(path, &format!("{head}{zeros}{fine}{one}"), &more);
    for part in [
        "`1999`: all counts are zero",
        "u.csv:2:",
        "leave the year out",
        "`2005`: there is 1 band",
        "add the bands of this year",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let written = std::fs::read_to_string(path.join("out.csv")).unwrap();
    // The numbers are those of the table without these years.
    asked(path, &format!("{head}{fine}"), &["-o", "alone.csv"]);
    let alone = std::fs::read_to_string(path.join("alone.csv")).unwrap();
    assert_eq!(written, alone);
    assert_eq!(written.lines().count(), 81);
    // Where no year is left nothing is written.
    let text = refused(path, &format!("{head}{zeros}"), &["-o", "none.csv"]);
    assert!(text.contains("`1999`: all counts are zero"), "{text}");
    assert!(!path.join("none.csv").exists());
}

#[test]
fn what_is_asked_wrongly_of_years_is_told_once() {
    let folder = folder(&[]);
    let path = folder.path();
    let head = "year,from,to,people\n";
    let fine = format!("{head}{}", table(&[2000, 2001], None));
    let text = refused(path, &fine, &["--by", "year"]);
    assert!(
        text.contains("`year` is named by --by and by --along"),
        "{text}"
    );
    let text = refused(path, &fine, &["--tail", "pareto"]);
    assert!(
        text.contains("error: a Pareto tail needs a logarithmic axis") && text.contains("--log"),
        "{text}"
    );
    let text = refused(path, &fine.replacen("2001,", ",", 1), &[]);
    assert!(text.contains("the year of a row is empty"), "{text}");
    let study = "[ungroup]\nfile = \"u.csv\"\nlower = \"from\"\nupper = \"to\"\ncount = \"people\"\nby = \"year\"\nalong = \"year\"\n";
    std::fs::write(path.join("s.toml"), study).unwrap();
    let output = quadrat(path, &["run", "s.toml", "-o", "out"]);
    let text = stderr(&output);
    assert!(
        text.contains("`year` is named by `by` and by `along`") && text.contains("s.toml:7:"),
        "{text}"
    );
}

#[test]
fn one_year_is_one_table() {
    let folder = folder(&[]);
    let path = folder.path();
    let text = format!("year,from,to,people\n{}", table(&[2000], None));
    asked(path, &text, &["--draws", "2", "-o", "along.csv"]);
    done(
        path,
        &[&ASKED[..8], &["--draws", "2", "-o", "alone.csv"]].concat(),
    );
    let (_, along) = records(&path.join("along.csv"));
    let (_, alone) = records(&path.join("alone.csv"));
    assert_eq!(along.len(), alone.len());
    for (one, other) in along.iter().zip(&alone) {
        assert_eq!(one[1..], other[..]);
    }
}

#[test]
fn what_is_wrong_with_years_is_told_at_its_place() {
    let folder = folder(&[]);
    let path = folder.path();
    let head = "year,from,to,people\n";
    let good = table(&[2000, 2001], None);
    for (text, words) in [
        (
            format!("{head}{good}2001/02,0,5,10\n2001/02,5,9,10\n"),
            &["`2001/02` is no year", "u.csv:18:1", "--by"][..],
        ),
        (
            format!("{head}{good}2002-2006,0,5,10\n2002-2006,5,9,10\n"),
            &[
                "`2002-2006` is a band of years",
                "u.csv:18:1",
                "examples/age-by-year",
                "--by",
            ],
        ),
        (
            format!("{head}{good}2001,10,15,40\n"),
            &["`2001`", "overlaps that of", "u.csv:18:6"],
        ),
        (
            format!("{head}{}", good.replace("2001,10,15", "2001,11,15")),
            &["`2001`", "nothing is told from 10", "to 11", "u.csv:12:6"],
        ),
        (
            format!("{head}{good}2001.0,0,20,40\n2001.0,20,40,40\n"),
            &["`2001.0` is the year 2001 again", "u.csv:18:1"],
        ),
        (
            format!("{head}{good}2002,0,40,40\n"),
            &["`2002`", "there is 1 band", "u.csv:18:11"],
        ),
    ] {
        let told = refused(path, &text, &[]);
        for word in words {
            assert!(told.contains(word), "{word}: {told}");
        }
    }
    let many: Vec<usize> = (1900..2060).collect();
    let told = refused(path, &format!("{head}{}", table(&many, None)), &[]);
    assert!(told.contains("160 years have"), "{told}");
    assert!(told.contains("at most 600 bands and 4000 cells"), "{told}");
    let told = refused(path, &format!("{head}{good}"), &["--exposure", "people"]);
    assert!(told.contains("--exposure"), "{told}");
}
