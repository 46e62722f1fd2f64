//! Studies with `[density]`: what `quadrat run` writes, and what is refused.

use crate::harness::{done, folder, names, quadrat, stderr, stdout};

/// Two groups of a widening column, and weights.
fn table() -> String {
    let mut out = "x,y,who,n\n".to_owned();
    for i in 0..90_u32 {
        let p = (f64::from(i * 37 % 90) + 0.5) / 90.0;
        let x = f64::from(i) / 10.0;
        let y = 20.0 + x + (1.0 + 0.2 * x) * (p / (1.0 - p)).ln();
        let who = if i % 3 == 0 { "left" } else { "right" };
        out.push_str(&format!("{x},{y},{who},{}\n", 1 + i % 2));
    }
    out
}

/// A study writes what the command writes.
#[test]
fn a_study_gives_what_the_command_gives() {
    let cases: [(&str, &[&str]); 5] = [
        (
            "column = \"y\"\nlevel = 0.8\nbounds = [0, inf]",
            &["--column", "y", "--level", "0.8", "--bounds", "0,inf"],
        ),
        (
            "column = \"y\"\nweights = \"n\"\ngroup = \"who\"",
            &["--column", "y", "--weights", "n", "--group", "who"],
        ),
        (
            "column = [\"x\", \"y\"]\ngrid = [12, 15]\nbounds = [[0, 9], [-inf, inf]]",
            &[
                "--column", "x", "--column", "y", "--grid", "12,15", "--bounds", "0,9", "--bounds",
                "-inf,inf",
            ],
        ),
        (
            "column = \"y\"\ngiven = \"x\"\ngrid = [9, 30]\nwithin = [20, 25]",
            &[
                "--column", "y", "--given", "x", "--grid", "9,30", "--within", "20,25",
            ],
        ),
        (
            "column = \"y\"\nlog = true\ndraws = 2\nseed = 9\nrange = [5, 90]\ncorrect = \"none\"\nintegrate = \"ccd\"",
            &[
                "--column",
                "y",
                "--log",
                "--draws",
                "2",
                "--seed",
                "9",
                "--range",
                "5,90",
                "--correct",
                "none",
                "--integrate",
                "ccd",
            ],
        ),
    ];
    for (keys, flags) in cases {
        let study = format!("title = \"Widths\"\n[density]\nfile = \"data/t.csv\"\n{keys}\n");
        let folder = folder(&[("s.toml", study.as_bytes())]);
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(folder.path().join("data/t.csv"), table()).unwrap();
        let told = done(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(
            told.starts_with("Widths\n") && told.contains("density.csv"),
            "{told}"
        );
        let mut args = vec!["density", "data/t.csv", "-o", "d.csv", "--json"];
        args.extend(flags);
        let json: serde_json::Value = serde_json::from_str(&done(folder.path(), &args)).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("out/density.csv"), read("d.csv"), "{keys}");
        let fit: serde_json::Value = serde_json::from_str(&read("out/fit.json")).unwrap();
        for (key, value) in json.as_object().unwrap() {
            assert!(&fit[key] == value || key == "warnings", "{keys}: {key}");
        }
        assert_eq!(
            (&fit["format"], &fit["title"]),
            (&1.into(), &"Widths".into())
        );
        let page = read("out/report.html");
        for part in [
            "<h1>Widths</h1>",
            "data-figure=",
            "[density]",
            "density.csv",
        ] {
            assert!(page.contains(part), "{keys}: no `{part}`");
        }
        let written = names(&folder.path().join("out"));
        assert!(
            written.iter().any(|name| name.ends_with(".svg")),
            "{written:?}"
        );
    }
}

/// Remedies speak of keys, and what stands nowhere else stands at the section.
#[test]
fn refusals_stand_in_the_study() {
    let cases: [(&str, &[&str]); 13] = [
        (
            "file = \"t.csv\"\ncolumn = \"z\"",
            &["there is no column `z`", "t.csv"],
        ),
        (
            "file = \"u.csv\"",
            &["does not exist", "did you mean `t.csv`?"],
        ),
        ("column = \"y\"", &["needs `file`", "s.toml:1"]),
        (
            "file = \"t.csv\"",
            &["which column? 3 of those", "`column`"],
        ),
        (
            "file = \"t.csv\"\ncolumn = \"y\"\nbounds = [0, 9]",
            &[
                "lies outside of the bounds 0 to 9",
                "widen `bounds`",
                "t.csv:2",
            ],
        ),
        (
            "file = \"t.csv\"\ncolumn = \"y\"\nbounds = [9, 0]",
            &["`bounds` must be two numbers", "s.toml:4"],
        ),
        (
            "file = \"t.csv\"\ncolumn = \"y\"\nlevel = 1.5",
            &["`level` is 1.5", "s.toml:4"],
        ),
        (
            "file = \"t.csv\"\ncolumn = \"y\"\ngrid = 0.5",
            &["`grid` must be", "s.toml:4"],
        ),
        (
            "file = \"t.csv\"\ncolumn = \"y\"\ndraws = 0",
            &["`draws` must be a whole number from 1 to 4000", "s.toml:4"],
        ),
        (
            "file = \"t.csv\"\ncolumn = \"y\"\ncorrect = \"mcmc\"",
            &["is not a known `correct`", "s.toml:4"],
        ),
        (
            "file = \"t.csv\"\ncolumn = [\"x\", \"y\"]\nbounds = [0, 99]",
            &[
                "`bounds` has one pair for two columns",
                "[[0, inf], [-inf, inf]]",
                "s.toml:4",
            ],
        ),
        (
            "file = \"t.csv\"\nbins = [\"x\", \"y\"]",
            &["`bins` must be an array of 3 or 5 names", "s.toml:3"],
        ),
        (
            "file = \"t.csv\"\ncolumn = [\"x\", \"y\"]\ngroup = \"who\"",
            &["groups are of one column", "s.toml:3"],
        ),
    ];
    for (keys, parts) in cases {
        let study = format!("[density]\n{keys}\n");
        let folder = folder(&[("s.toml", study.as_bytes()), ("t.csv", table().as_bytes())]);
        let out = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        let said = stderr(&out);
        assert_eq!(out.status.code(), Some(1), "{keys}: {}", stdout(&out));
        for part in parts {
            assert!(said.contains(part), "{keys}: no `{part}` in\n{said}");
        }
        assert!(
            !said.contains("--column") && !said.contains("--bounds"),
            "{said}"
        );
        assert_eq!(names(folder.path()), ["s.toml", "t.csv"]);
    }
}

/// Commands of functions say what takes the study of a density.
#[test]
fn what_only_functions_have_is_refused() {
    let study = "[density]\nfile = \"t.csv\"\ncolumn = \"y\"\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("t.csv", table().as_bytes())]);
    let cases: [&[&str]; 3] = [
        &["fit", "s.toml", "-o", "m.quadrat", "--resume"],
        &[
            "next",
            "s.toml",
            "--candidates",
            "t.csv",
            "--cost",
            "point=1",
        ],
        &["run", "s.toml", "--resume"],
    ];
    for args in cases {
        let out = quadrat(folder.path(), args);
        assert_eq!(out.status.code(), Some(1), "{args:?}");
        let said = stderr(&out);
        assert!(said.contains("of a density"), "{args:?}: {said}");
        assert_eq!(names(folder.path()), ["s.toml", "t.csv"]);
    }
    let out = quadrat(folder.path(), &["run", "s.toml", "-o", ".", "--json"]);
    let fit: serde_json::Value = serde_json::from_str(&stdout(&out)).unwrap();
    assert_eq!(fit["kind"], "density");
    // The table of the study is not replaced.
    let study = "[density]\nfile = \"density.csv\"\ncolumn = \"y\"\n";
    std::fs::write(folder.path().join("r.toml"), study).unwrap();
    let before = std::fs::read(folder.path().join("density.csv")).unwrap();
    let out = quadrat(folder.path(), &["run", "r.toml", "-o", "."]);
    assert!(
        stderr(&out).contains("would replace a file that the study reads"),
        "{}",
        stderr(&out)
    );
    assert_eq!(
        std::fs::read(folder.path().join("density.csv")).unwrap(),
        before
    );
}
