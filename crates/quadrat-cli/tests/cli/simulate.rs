//! `quadrat simulate`: what it writes, that its study finds the truth, what it refuses.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use crate::harness::{folder, names, quadrat, stderr, stdout};

/// Columns of a table by name.
fn columns(path: &Path) -> HashMap<String, Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut columns: HashMap<String, Vec<f64>> = HashMap::new();
    for line in lines {
        for (name, cell) in header.iter().zip(line.split(',')) {
            let column = columns.entry((*name).to_owned()).or_default();
            column.push(cell.parse().unwrap());
        }
    }
    columns
}

fn simulated(args: &[&str]) -> (tempfile::TempDir, std::process::Output) {
    let folder = folder(&[]);
    let mut all = vec!["simulate", "mixed"];
    all.extend(args);
    let output = quadrat(folder.path(), &all);
    (folder, output)
}

#[test]
fn the_study_that_is_written_finds_the_truth() {
    for (args, rows) in [
        (&["--seed", "3"][..], 101),
        (&["--dims", "2", "--grid", "15", "--seed", "4"], 225),
        (
            &[
                "--dims", "3", "--grid", "7", "--points", "40", "--low", "-1", "--high", "1",
            ],
            343,
        ),
    ] {
        let (folder, output) = simulated(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        let written = folder.path().join("quadrat-mixed");
        let all = [
            "intervals.csv",
            "ordinals.csv",
            "points.csv",
            "study.toml",
            "truth.csv",
        ];
        assert_eq!(names(&written), all);
        let study = ["run", "quadrat-mixed/study.toml", "-o", "out", "--quiet"];
        let output = quadrat(folder.path(), &study);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        let truth = columns(&written.join("truth.csv"))["value"].clone();
        let found = columns(&folder.path().join("out/function.csv"));
        assert_eq!((truth.len(), found["mean"].len()), (rows, rows));
        let inside = (0..rows)
            .filter(|&i| (found["lower"][i]..=found["upper"][i]).contains(&truth[i]))
            .count();
        // One draw: places within a lengthscale stand or fall together.
        assert!(inside >= rows * 4 / 5, "{args:?}: {inside} of {rows}");
        let errors = (0..rows).map(|i| (found["mean"][i] - truth[i]).powi(2));
        let rmse = (errors.sum::<f64>() / rows as f64).sqrt();
        let spread = (truth.iter().map(|f| f * f).sum::<f64>() / rows as f64).sqrt();
        // The prior alone, a mean of zero, has the error `spread`.
        assert!(rmse < 0.5 * spread, "{args:?}: {rmse}, {spread}");
    }
}

#[test]
fn a_seed_fixes_the_files_whatever_the_threads() {
    let of = |threads: &str, seed: &str| {
        let folder = folder(&[]);
        let output = Command::new(env!("CARGO_BIN_EXE_quadrat"))
            .args(["simulate", "mixed", "--dims", "2", "--seed", seed])
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let written = folder.path().join("quadrat-mixed");
        let read = |name: String| std::fs::read(written.join(name)).unwrap();
        names(&written).into_iter().map(read).collect::<Vec<_>>()
    };
    assert_eq!(of("1", "7"), of("4", "7"));
    assert_ne!(of("1", "7")[4], of("1", "8")[4]);
}

#[test]
fn the_study_says_how_to_draw_the_same_again() {
    let (first, output) = simulated(&["--ordinals", "7", "--lengthscale", "0.5", "-o", "a"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    for part in [
        "Mixed data in 1 dimension, seed 1",
        "lengthscale 0.5, variance 1; noise of sd 0.1",
        "7 ranks from 1 to 5",
        "15 intervals of width 0.5",
        "101 true values",
        "`quadrat run a/study.toml`",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let path = first.path().join("a/study.toml");
    let study = std::fs::read_to_string(path).unwrap();
    let line = study.lines().next().unwrap();
    let command = line.split('`').nth(1).unwrap();
    let mut args: Vec<&str> = command.split(' ').skip(1).collect();
    args.extend(["-o", "b", "--quiet"]);
    let output = quadrat(first.path(), &args);
    assert_eq!((stdout(&output), stderr(&output)), Default::default());
    for name in names(&first.path().join("a")) {
        let read = |folder: &str| std::fs::read(first.path().join(folder).join(&name)).unwrap();
        assert_eq!(read("a"), read("b"), "{name}");
    }
}

#[test]
fn kinds_without_rows_have_no_file_and_no_table() {
    let (folder, output) = simulated(&["--points", "0", "--ordinals", "0", "--intervals", "30"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let written = folder.path().join("quadrat-mixed");
    assert_eq!(
        names(&written),
        ["intervals.csv", "study.toml", "truth.csv"]
    );
    let study = ["run", "quadrat-mixed/study.toml", "-o", "out", "--quiet"];
    let output = quadrat(folder.path(), &study);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn files_that_hold_something_else_are_spared() {
    let (folder, output) = simulated(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let written = folder.path().join("quadrat-mixed");
    let before = std::fs::read(written.join("truth.csv")).unwrap();
    // The same again is no loss.
    assert!(
        quadrat(folder.path(), &["simulate", "mixed"])
            .status
            .success()
    );
    let output = quadrat(folder.path(), &["simulate", "mixed", "--seed", "2"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("truth.csv` is there already and holds something else")
            && text.contains("choose another folder with -o"),
        "{text}"
    );
    assert_eq!(std::fs::read(written.join("truth.csv")).unwrap(), before);
    std::fs::write(folder.path().join("taken"), "mine").unwrap();
    let output = quadrat(folder.path(), &["simulate", "mixed", "-o", "taken"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("it is not a folder"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn bad_options_are_refused_by_name_and_nothing_is_written() {
    #[rustfmt::skip]
    let cases: &[(&[&str], i32, &[&str])] = &[
        (&["--noise", "-1"], 1, &["`--noise` is -1; it must be a finite number above zero", "such as `--noise 0.1`"]),
        (&["--noise", "nan"], 1, &["`--noise` is NaN"]),
        (&["--width", "0"], 1, &["`--width` is 0", "such as `--width 0.5`"]),
        (&["--lengthscale", "inf"], 1, &["`--lengthscale` is inf"]),
        (&["--levels", "1"], 1, &["`--levels` is 1; it must be from 2 to 30", "such as `--levels 5`"]),
        (&["--low", "2"], 1, &["`--high` is 2; it must be finite and above low"]),
        (&["--points", "102"], 1, &["`--points` is 102; it must be at most 101, the places of the grid"]),
        (&["--dims", "3", "--grid", "47"], 1, &["`--grid` is 47", "at most 100000 places (it would have 103823)", "such as `--grid 13`"]),
        (&["--points", "0", "--intervals", "0", "--ordinals", "0"], 1, &["`--points` is 0; it must be above zero when there are no intervals"]),
        (&["--dims", "4"], 2, &["1..=3"]),
        (&["--points", "-3"], 2, &["'-3'"]),
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
    // A plain `quadrat simulate` shows what there is.
    let output = quadrat(folder(&[]).path(), &["simulate"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("mixed"));
}
