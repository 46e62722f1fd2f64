//! `quadrat simulate censored`: what it writes, that its study runs and finds the truth, what it
//! refuses.

use std::collections::HashMap;
use std::path::Path;

use crate::harness::{folder, names, quadrat, stderr, stdout};

/// Cells of a table by column.
fn columns(path: &Path) -> HashMap<String, Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut columns: HashMap<String, Vec<String>> = HashMap::new();
    for line in lines {
        for (name, cell) in header.iter().zip(line.split(',')) {
            let column = columns.entry((*name).to_owned()).or_default();
            column.push(cell.to_owned());
        }
    }
    columns
}

fn numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.parse().unwrap()).collect()
}

fn simulated(args: &[&str]) -> (tempfile::TempDir, std::process::Output) {
    let folder = folder(&[]);
    let mut all = vec!["simulate", "censored"];
    all.extend(args);
    let output = quadrat(folder.path(), &all);
    (folder, output)
}

#[test]
fn the_study_that_is_written_runs_and_finds_what_was_clipped() {
    let args = [
        "--points",
        "40",
        "--record",
        "clipped",
        "--overlap",
        "half",
        "--seed",
        "3",
    ];
    let (folder, output) = simulated(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let written = folder.path().join("quadrat-censored");
    let all = ["first.csv", "second.csv", "study.toml", "truth.csv"];
    assert_eq!(names(&written), all);
    let study = ["run", "quadrat-censored/study.toml", "-o", "out", "--quiet"];
    let output = quadrat(folder.path(), &study);
    assert!(output.status.success(), "{}", stderr(&output));
    let truth = columns(&written.join("truth.csv"));
    let found = columns(&folder.path().join("out/functions.csv"));
    let values = columns(&folder.path().join("out/values.csv"));
    for (d, name) in ["first", "second"].into_iter().enumerate() {
        let own = 40 * d..40 * (d + 1);
        assert!(found["output"][own.clone()].iter().all(|o| o == name));
        let f = numbers(&truth[&format!("{name}_latent")]);
        let y = numbers(&truth[&format!("{name}_value")]);
        let mean = numbers(&found["mean"][own.clone()]);
        let errors = mean.iter().zip(&f).map(|(m, f)| (m - f).powi(2));
        let rmse = (errors.sum::<f64>() / 40.0).sqrt();
        let spread = (f.iter().map(|f| f * f).sum::<f64>() / 40.0).sqrt();
        // The prior alone, a mean of zero, has the error `spread`.
        assert!(rmse < 0.3 * spread, "{name}: {rmse}, {spread}");
        let (lower, upper) = (
            numbers(&values["lower"][own.clone()]),
            numbers(&values["upper"][own]),
        );
        let inside = (0..40).filter(|&i| (lower[i]..=upper[i]).contains(&y[i]));
        // 95 % are expected; 80 % allow for places that stand or fall together.
        assert!(inside.count() >= 32, "{name}");
    }
}

#[test]
fn tables_hold_what_was_recorded_and_the_truth_stays_the_same() {
    let (first, output) = simulated(&["-o", "a"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    for part in [
        "Censored data, overlap none, record random, seed 1",
        "lengthscale 1.5, variance 3.24, correlation",
        "100 values, 42 of them censored",
        "100 values, none censored",
        "`quadrat run a/study.toml`",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let args = ["simulate", "censored", "--overlap", "stretch", "-o", "b"];
    assert!(quadrat(first.path(), &args).status.success());
    let read = |name: &str| std::fs::read(first.path().join(name)).unwrap();
    assert_eq!(read("a/truth.csv"), read("b/truth.csv"));
    assert_eq!(read("a/first.csv"), read("b/first.csv"));
    assert_ne!(read("a/second.csv"), read("b/second.csv"));
    let truth = columns(&first.path().join("b/truth.csv"));
    let table = columns(&first.path().join("b/second.csv"));
    let (recorded, values) = (numbers(&table["value"]), numbers(&truth["second_value"]));
    for (i, side) in table["side"].iter().enumerate() {
        let x: f64 = table["x"][i].parse().unwrap();
        assert_eq!(side == "right", (1.3..=5.5).contains(&x), "{x}");
        match side.as_str() {
            "right" => assert!(recorded[i] < values[i]),
            _ => assert_eq!(recorded[i], values[i]),
        }
    }
    // The study says how to draw the same again.
    let study = std::fs::read_to_string(first.path().join("b/study.toml")).unwrap();
    let command = study.lines().next().unwrap().split('`').nth(1).unwrap();
    let mut args: Vec<&str> = command.split(' ').skip(1).collect();
    args.extend(["-o", "c", "--quiet"]);
    let output = quadrat(first.path(), &args);
    assert_eq!((stdout(&output), stderr(&output)), Default::default());
    for name in names(&first.path().join("b")) {
        assert_eq!(read(&format!("b/{name}")), read(&format!("c/{name}")));
    }
}

#[test]
fn bad_options_are_refused_by_name_and_nothing_is_written() {
    #[rustfmt::skip]
    let cases: &[(&[&str], i32, &[&str])] = &[
        (&["--noise", "-1"], 1, &["`--noise` is -1; it must be a finite number above zero", "such as `--noise 0.25`"]),
        (&["--noise-variance", "-0.5"], 1, &["`--noise-variance` is -0.5", "such as `--noise-variance 0.49`"]),
        (&["--noise-lengthscale", "0"], 1, &["`--noise-lengthscale` is 0", "such as `--noise-lengthscale 3`"]),
        (&["--correlation", "2"], 1, &["`--correlation` is 2; it must be from 0 to 1", "such as `--correlation 0.9`"]),
        (&["--points", "5"], 1, &["`--points` is 5; it must be from 10 to 1000", "such as `--points 100`"]),
        (&["--share", "0"], 1, &["`--share` is 0", "such as `--share 0.6`"]),
        (&["--overlap", "quarter"], 2, &["none, zero, half, pieces, stretch"]),
        (&["--record", "all"], 2, &["random, clipped"]),
    ];
    for (args, code, expected) in cases {
        let (folder, output) = simulated(args);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {text}");
        for part in *expected {
            assert!(text.contains(part), "{args:?}: no `{part}` in\n{text}");
        }
        assert!(names(folder.path()).is_empty(), "{args:?}");
    }
}
