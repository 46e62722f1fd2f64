//! What a good run writes and says.

use crate::harness::{STUDY, TABLE, folder, interrupt, names, quadrat, stderr, stdout, study};

fn with_table(study: &str, table: &[u8]) -> tempfile::TempDir {
    folder(&[("s.toml", study.as_bytes()), ("ages.csv", table)])
}

#[test]
fn a_run_writes_tables_fit_and_report() {
    let folder = with_table(STUDY, TABLE.as_bytes());
    let output = quadrat(folder.path(), &["run", "s.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let out = folder.path().join("s-out");
    let written = names(&out);
    for name in ["by-year.csv", "fit.json", "report.html"] {
        assert!(written.iter().any(|n| n == name), "{written:?}");
    }
    let table = std::fs::read_to_string(out.join("by-year.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some("age_lower,age_upper,mean,sd,lower,median,upper")
    );
    assert!(lines.next().unwrap().starts_with("0,1,"));
    assert_eq!(table.lines().count(), 21);
    let text = stdout(&output);
    for part in [
        "Ages",
        "3 rows of ages.csv",
        "log evidence",
        "by-year",
        "wrote s-out",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert_eq!(names(folder.path()), ["ages.csv", "s-out", "s.toml"]);
}

#[test]
fn json_prints_fit_json_and_nothing_else() {
    let folder = with_table(STUDY, TABLE.as_bytes());
    let output = quadrat(folder.path(), &["run", "s.toml", "--json", "-o", "o"]);
    assert_eq!(
        stdout(&output),
        std::fs::read_to_string(folder.path().join("o/fit.json")).unwrap()
    );
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    for key in [
        "quadrat",
        "format",
        "title",
        "inference",
        "converged",
        "log_evidence",
        "evidence",
        "hyperparameters",
        "rows",
        "iterations",
        "seconds",
        "warnings",
    ] {
        assert!(!json[key].is_null(), "no {key}");
    }
    assert_eq!(json["format"], 1);
    assert_eq!(json["rows"], 3);
}

#[test]
fn quiet_says_nothing() {
    let folder = with_table(STUDY, TABLE.as_bytes());
    let output = quadrat(folder.path(), &["run", "s.toml", "--quiet"]);
    assert_eq!(
        (output.status.code(), stdout(&output), stderr(&output)),
        (Some(0), String::new(), String::new())
    );
}

#[test]
fn bom_crlf_quotes_and_edges_in_either_order_are_accepted() {
    let table = b"\xef\xbb\xbffrom,to,people\r\n10,0,5\r\n\"10\",20,7\r\n20,30,6\r\n";
    let study = format!("\u{feff}{STUDY}").replace('\n', "\r\n");
    let folder = with_table(&study, table);
    let output = quadrat(folder.path(), &["run", "s.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn equal_values_and_repeated_rows_work() {
    let repeated = format!("from,to,people\n{}", "0,10,5\n10,20,7\n".repeat(100));
    let cases: [(&str, &str); 2] = [
        ("equal values", "from,to,people\n0,10,5\n10,20,5\n20,30,5\n"),
        ("repeats", &repeated),
    ];
    for variance in ["", ", variance = 0", ", variance = 1"] {
        for (name, table) in cases {
            let folder = with_table(&study(", variance = 1", variance), table.as_bytes());
            let output = quadrat(folder.path(), &["run", "s.toml"]);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{name}{variance}: {}",
                stderr(&output)
            );
            let csv = std::fs::read_to_string(folder.path().join("s-out/by-year.csv")).unwrap();
            assert!(
                !csv.contains("NaN") && !csv.contains("inf"),
                "{name}{variance}"
            );
        }
    }
}

#[test]
fn one_row_or_all_rows_equal_teach_nothing_and_say_so() {
    let fixed = "[hyperparameters]\n\"se.variance\" = { value = 4, fixed = true }\n\"se.lengthscale.age\" = { value = 9, fixed = true }\n";
    for (table, expected) in [
        ("from,to,people\n0,10,5\n", "1 row cannot teach"),
        (
            "from,to,people\n0,10,5\n0,10,5\n0,10,5\n",
            "all 3 rows are equal",
        ),
    ] {
        let folder = with_table(STUDY, table.as_bytes());
        let output = quadrat(folder.path(), &["run", "s.toml"]);
        assert_eq!(output.status.code(), Some(1));
        let text = stderr(&output);
        assert!(
            text.contains(expected) && text.contains("s.toml:7:8") && text.contains("fixed = true"),
            "{text}"
        );
        assert_eq!(names(folder.path()), ["ages.csv", "s.toml"]);
        let folder = with_table(&format!("{STUDY}{fixed}"), table.as_bytes());
        let output = quadrat(folder.path(), &["run", "s.toml"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

#[test]
fn repeated_exact_rows_are_left_out_with_a_warning() {
    let table = format!("from,to,people\n{}", "0,10,5\n10,20,7\n".repeat(50_000));
    let folder = with_table(&study("variance = 1", "variance = 0"), table.as_bytes());
    let output = quadrat(folder.path(), &["run", "s.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("99998 rows repeat an earlier exact row"));
}

#[test]
fn a_model_is_saved_and_used_without_its_study() {
    let folder = with_table(STUDY, TABLE.as_bytes());
    let fit = quadrat(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    assert_eq!(fit.status.code(), Some(0), "{}", stderr(&fit));
    quadrat(folder.path(), &["run", "s.toml"]);
    std::fs::remove_file(folder.path().join("s.toml")).unwrap();
    let at = folder.path().join("s-out/by-year.csv");
    let args = [
        "predict",
        "m.quadrat",
        "--at",
        at.to_str().unwrap(),
        "--box",
        "age=age_lower,age_upper",
        "--aggregate",
        "sum",
    ];
    let output = quadrat(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), std::fs::read_to_string(&at).unwrap());
}

#[test]
fn predict_refuses_what_does_not_suit_the_model() {
    let folder = with_table(STUDY, TABLE.as_bytes());
    quadrat(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    for (args, expected) in [
        (&["--point", "from"][..], "no input `from`"),
        (
            &["--box", "age=from,too", "--aggregate", "sum"][..],
            "did you mean `to`?",
        ),
        (&["--box", "age=from,to"][..], "--aggregate"),
    ] {
        let mut all = vec!["predict", "m.quadrat", "--at", "ages.csv"];
        all.extend(args);
        let output = quadrat(folder.path(), &all);
        assert_ne!(output.status.code(), Some(0));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    std::fs::write(folder.path().join("bad.quadrat"), b"\xff\xfenonsense").unwrap();
    let output = quadrat(
        folder.path(),
        &[
            "predict",
            "bad.quadrat",
            "--at",
            "ages.csv",
            "--point",
            "age",
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("not a quadrat model"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn places_that_cannot_be_written_are_refused_before_the_fit() {
    let folder = with_table(STUDY, TABLE.as_bytes());
    std::fs::write(folder.path().join("taken"), "mine").unwrap();
    std::fs::create_dir_all(folder.path().join("out/fit.json")).unwrap();
    let before = names(folder.path());
    for (target, expected) in [
        ("taken", "cannot write into `taken`: it is not a folder"),
        (
            "taken/deep",
            "cannot write into `taken`: it is not a folder",
        ),
        ("out", "`out/fit.json` is a folder, not a file"),
    ] {
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", target]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{target}");
        assert!(
            text.contains(expected) && text.contains("choose another"),
            "{text}"
        );
    }
    assert_eq!(names(folder.path()), before);
    assert_eq!(names(&folder.path().join("out")), ["fit.json"]);
}

#[cfg(unix)]
#[test]
fn results_are_as_private_as_the_user_wants_new_files() {
    use std::os::unix::fs::PermissionsExt;
    for (mask, mode) in [("077", 0o600), ("022", 0o644)] {
        let folder = with_table(STUDY, TABLE.as_bytes());
        let done = std::process::Command::new("sh")
            .args(["-c", "umask $0; exec \"$1\" run s.toml -q -o out", mask])
            .arg(env!("CARGO_BIN_EXE_quadrat"))
            .current_dir(folder.path())
            .status()
            .unwrap();
        assert!(done.success());
        let table = std::fs::metadata(folder.path().join("out/by-year.csv")).unwrap();
        assert_eq!(table.permissions().mode() & 0o777, mode, "umask {mask}");
    }
}

#[test]
fn control_characters_of_names_do_not_reach_the_terminal() {
    let text = study("value = \"people\"", "value = \"peo\\u001B[2Jple\"")
        .replace("\"Ages\"", "\"A\\u001B[31mges\"");
    let table = TABLE.replace("people", "peo\u{1b}[2Jple");
    let folder = with_table(&text, table.as_bytes());
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "o"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stdout(&output).contains('\u{1b}'), "{}", stdout(&output));
}

#[test]
fn intervals_of_almost_no_probability_keep_their_order() {
    let text = study("name = \"by-year\"", "name = \"by-year\"\nlevel = 1e-12");
    let folder = with_table(&text, TABLE.as_bytes());
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "o"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = std::fs::read_to_string(folder.path().join("o/by-year.csv")).unwrap();
    for row in table.lines().skip(1) {
        let cells: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!(cells[4] <= cells[5] && cells[5] <= cells[6], "{row}");
    }
}

#[test]
fn outputs_never_replace_what_the_study_reads() {
    let folder = with_table(&study("by-year", "ages"), TABLE.as_bytes());
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "."]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("would replace a file that the study reads"));
    let output = quadrat(folder.path(), &["fit", "s.toml", "-o", "s.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        std::fs::read_to_string(folder.path().join("ages.csv")).unwrap(),
        TABLE
    );
}

#[test]
fn wrong_usage_is_two_and_help_and_version_are_zero() {
    let folder = folder(&[]);
    for (args, code) in [
        (&["rnu"][..], 2),
        (&["run"], 2),
        (&["--help"], 0),
        (&["--version"], 0),
        (&["run", "no.toml"], 1),
    ] {
        assert_eq!(
            quadrat(folder.path(), args).status.code(),
            Some(code),
            "{args:?}"
        );
    }
    assert!(stdout(&quadrat(folder.path(), &["--version"])).contains("quadrat 0.1.0"));
}

#[test]
fn a_reader_that_leaves_is_success() {
    use std::process::{Command, Stdio};
    let folder = with_table(STUDY, TABLE.as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_quadrat"))
        .args(["run", "s.toml"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(folder.path().join("s-out/fit.json").exists());
}

#[test]
fn the_demo_runs_lists_and_spares_changed_files() {
    let folder = folder(&[]);
    assert!(stdout(&quadrat(folder.path(), &["demo", "--list"])).starts_with("ages "));
    let output = quadrat(folder.path(), &["demo"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let written = names(&folder.path().join("quadrat-demo"));
    for name in [
        "study.toml",
        "ages.csv",
        "by-year.csv",
        "fit.json",
        "report.html",
    ] {
        assert!(written.iter().any(|n| n == name), "{written:?}");
    }
    assert_eq!(
        quadrat(folder.path(), &["demo", "ages"]).status.code(),
        Some(0)
    );
    std::fs::write(folder.path().join("quadrat-demo/study.toml"), "mine").unwrap();
    let output = quadrat(folder.path(), &["demo"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("was changed"));
    assert_eq!(
        std::fs::read_to_string(folder.path().join("quadrat-demo/study.toml")).unwrap(),
        "mine"
    );
    assert!(stderr(&quadrat(folder.path(), &["demo", "agse"])).contains("did you mean `ages`?"));
}

#[cfg(unix)]
#[test]
fn an_interruption_leaves_nothing_behind() {
    use std::process::{Command, Stdio};
    let mut table = String::from("from,to,people\n");
    for i in 0..1500 {
        table.push_str(&format!("{i},{},{}\n", i + 3, (i * 7919) % 101));
    }
    let folder = with_table(STUDY, table.as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_quadrat"))
        .args(["run", "s.toml"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(folder.path()), ["ages.csv", "s.toml"]);
}

#[test]
fn predicting_far_outside_the_data_warns() {
    let folder = with_table(&study("to = 20", "to = 900"), TABLE.as_bytes());
    let output = quadrat(folder.path(), &["run", "s.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("warning: prediction `by-year`"));
    let json = std::fs::read_to_string(folder.path().join("s-out/fit.json")).unwrap();
    assert!(json.contains("far outside the data"));
}

#[test]
fn the_number_of_threads_does_not_change_the_answer() {
    let folder = with_table(STUDY, TABLE.as_bytes());
    let table = |threads: &str| {
        let output = quadrat(folder.path(), &["run", "s.toml", "--threads", threads]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = std::fs::read_to_string(folder.path().join("s-out/by-year.csv")).unwrap();
        let cells = text.lines().skip(1).flat_map(|line| line.split(','));
        cells
            .map(|cell| cell.parse().unwrap())
            .collect::<Vec<f64>>()
    };
    for (one, four) in table("1").into_iter().zip(table("4")) {
        // What the design promises.
        assert!((one - four).abs() <= 1e-10 * one.abs().max(1.0));
    }
}
