//! The studies in small: the patterns of the papers, and what the program does without data.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::Command;

use quadrat_studies::binned::{audience, robot};
use quadrat_studies::censored::{correlation, coverage, synthetic};
use quadrat_studies::statistics::rms;
use quadrat_studies::{STUDIES, Settings};

#[test]
fn the_robot_meets_every_check() {
    let report = robot::run(&Settings::default()).unwrap();
    assert!(report.passes(), "{report}");
    assert_eq!(report.checks.len(), 8);
}

/// The ratio of the full study is about .5; that of 40 simulations has an sd of about .08.
#[test]
fn integrating_the_boxes_halves_the_error_of_the_centroid() {
    let settings = Settings {
        quick: true,
        ..Settings::default()
    };
    let outcomes = audience::simulate(&settings, 40).unwrap();
    let error = |m: usize| -> f64 {
        let errors: Vec<f64> = outcomes.iter().map(|o| o.predicted[m] - o.truth).collect();
        rms(&errors)
    };
    assert!(error(0) < 0.7 * error(1), "{} {}", error(0), error(1));
    // Repeatable, whatever the order in which threads come.
    let again = audience::simulate(&settings, 5).unwrap();
    for (a, b) in outcomes.iter().zip(&again) {
        assert_eq!((a.truth, a.predicted), (b.truth, b.predicted));
    }
}

#[test]
fn correlations_are_drawn_and_judged_by_model() {
    let settings = Settings {
        repeats: Some(2),
        only: vec!["mocgp".into()],
        ..Settings::default()
    };
    let report = correlation::run(&settings).unwrap();
    assert!(report.passes(), "{report}");
    let rows = &report.tables[0].rows;
    assert_eq!((rows.len(), &*rows[0][0]), (1, "MOCGP"));
    // A half width is above zero, and below that of what is possible.
    let width: f64 = rows[0][7].parse().unwrap();
    assert!(width > 0.0 && width < 1.0, "{report}");
}

#[test]
fn censored_studies_report_the_models_asked_for() {
    let settings = Settings {
        repeats: Some(2),
        only: vec!["cgp".into(), "ncgp".into()],
        ..Settings::default()
    };
    let report = synthetic::run(&settings).unwrap();
    assert!(report.passes(), "{report}");
    let scores = &report.tables[0].rows;
    assert_eq!(
        (scores.len(), &*scores[0][0], &*scores[1][0]),
        (2, "NCGP", "CGP")
    );
    for row in scores {
        // Models of one output see the same rows whatever is censored of the other.
        assert_eq!((&row[1], &row[5]), (&row[3], &row[7]), "{report}");
        assert_ne!(row[1], row[5], "{report}");
    }
    assert_eq!((&*scores[0][2], &*scores[1][2]), ("589.8", "88.9"));
    let gain = report
        .checks
        .iter()
        .find(|c| c.what.starts_with("CGP less NCGP"));
    // Shortfalls of 1.8 in 42 rows cost 100 nats; the draws differ by some tens.
    assert!(gain.unwrap().value < -30.0, "{report}");

    let report = coverage::run(&settings).unwrap();
    assert!(report.passes(), "{report}");
    let cells = &report.tables[0].rows;
    let first: Vec<&str> = cells.iter().map(|row| row[0].as_str()).collect();
    let ways = [
        "clipped at a threshold",
        "at random below",
        "at random below, bound known",
    ];
    // Hyperparameters most probable, then integrated.
    assert_eq!(first, ways.map(|way| [way; 2]).concat());
    let width = |row: usize| {
        cells[row][7]
            .split(' ')
            .next()
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    // A bound says more than none.
    assert!(width(4) < width(2) && width(5) < width(3), "{report}");
}

fn program(arguments: &[&str]) -> (Option<i32>, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_quadrat-studies"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

#[test]
fn the_list_names_every_study() {
    let (code, out, _) = program(&["--list"]);
    assert_eq!(code, Some(0));
    assert_eq!(out.lines().count(), STUDIES.len());
    assert!(STUDIES.iter().all(|s| out.contains(s.name)));
}

#[test]
fn without_its_data_a_study_is_skipped_with_code_2() {
    let (code, out, error) = program(&["binned-citibike", "--data", "/nowhere"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(
        error.starts_with("binned-citibike: skipped: /nowhere/binned/"),
        "{error}"
    );
    let (code, _, error) = program(&["no-such-study"]);
    assert!(code == Some(2) && error.contains("binned-robot"), "{error}");
}

#[test]
fn json_holds_what_was_found() {
    let (code, out, _) = program(&["binned-robot", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(0));
    assert_eq!(value["passes"], true);
    assert_eq!(value["report"]["checks"][0]["what"], "variance");
}
