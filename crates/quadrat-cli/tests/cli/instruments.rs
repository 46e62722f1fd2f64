//! Several tables of one function: a new observation comes from one of them, and the order of the
//! tables decides nothing.

use std::path::Path;

use crate::harness::{column, done, folder, none, quadrat, stderr, stdout};

/// A level of ten seen by a quiet and by a loud instrument; counts of it; grades of it.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let wave = |i: u32| f64::from(i) / 2.0;
    let jitter = |i: u32, step: f64| (f64::from(i) * step).fract() - 0.5;
    let rows = |header: &str, row: &dyn Fn(u32) -> String| {
        let body: String = (0..24).map(row).collect();
        format!("{header}\n{body}").into_bytes()
    };
    let level = |t: f64| 10.0 + (t / 2.0).sin();
    vec![
        (
            "quiet.csv",
            rows("t,y", &|i| {
                format!(
                    "{},{:.3}\n",
                    wave(i),
                    level(wave(i)) + 0.5 * jitter(i, 0.618_034)
                )
            }),
        ),
        (
            "loud.csv",
            rows("t,y", &|i| {
                format!(
                    "{},{:.3}\n",
                    wave(i),
                    level(wave(i)) + 8.0 * jitter(i, 0.754_878)
                )
            }),
        ),
        (
            "grades.csv",
            rows("t,g", &|i| {
                format!(
                    "{},{}\n",
                    wave(i),
                    1 + u8::from(level(wave(i)) + jitter(i, 0.569_840) > 10.0)
                )
            }),
        ),
        (
            "counts.csv",
            rows("t,n", &|i| {
                format!(
                    "{},{}\n",
                    wave(i),
                    (level(wave(i)) + 6.0 * jitter(i, 0.618_034)).round()
                )
            }),
        ),
        (
            "more.csv",
            rows("t,n", &|i| {
                format!(
                    "{},{}\n",
                    wave(i),
                    (level(wave(i)) + 14.0 * jitter(i, 0.754_878))
                        .round()
                        .max(0.0)
                )
            }),
        ),
        ("at.csv", b"t\n5\n6\n".to_vec()),
    ]
}

fn study(tables: &[&str], predict: &str) -> String {
    let one = |table: &&str| {
        let (file, rest) = table.split_once(' ').unwrap();
        format!(
            "[[observe]]\nfile = \"{file}\"\nsupport = {{ point = [\"t\"] }}\nlikelihood = {{ {rest} }}\n"
        )
    };
    let tables: String = tables.iter().map(one).collect();
    format!(
        "[latent]\nkernel = \"se(t)\"\n{tables}[[predict]]\nname = \"new\"\nsupport = {{ file = \"at.csv\", point = [\"t\"] }}\n{predict}\n[inference]\nhyperparameters = \"map\"\n"
    )
}

fn in_folder(study: &str) -> tempfile::TempDir {
    let files = files();
    let mut all: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (*name, bytes.as_slice()))
        .collect();
    all.push(("s.toml", study.as_bytes()));
    folder(&all)
}

const QUIET: &str = "quiet.csv gaussian = { value = \"y\" }";
const LOUD: &str = "loud.csv gaussian = { value = \"y\" }";
const GRADES: &str = "grades.csv ordinal = { rank = \"g\" }";
const COUNTS: &str = "counts.csv negative_binomial = { count = \"n\" }";
const MORE: &str = "more.csv negative_binomial = { count = \"n\" }";
const OBSERVED: &str = "scale = \"observation\"";

/// Pairs of tables whose new observations differ.
fn pairs() -> Vec<(&'static str, [&'static str; 2], [&'static str; 2])> {
    vec![
        ("noises", [QUIET, LOUD], ["quiet.csv", "loud.csv"]),
        (
            "values and grades",
            [QUIET, GRADES],
            ["quiet.csv", "grades.csv"],
        ),
        ("dispersions", [COUNTS, MORE], ["counts.csv", "more.csv"]),
        (
            "known noises",
            [
                "quiet.csv gaussian = { value = \"y\", variance = 0.1 }",
                "loud.csv gaussian = { value = \"y\", variance = 9 }",
            ],
            ["quiet.csv", "loud.csv"],
        ),
        (
            "degrees",
            [
                "quiet.csv student_t = { value = \"y\", degrees = 4, variance = 1 }",
                "loud.csv student_t = { value = \"y\", degrees = 9, variance = 1 }",
            ],
            ["quiet.csv", "loud.csv"],
        ),
        (
            "thresholds",
            [
                "grades.csv ordinal = { rank = \"g\", thresholds = [10], variance = 1 }",
                "quiet.csv gaussian = { value = \"y\", variance = 1 }",
            ],
            ["grades.csv", "quiet.csv"],
        ),
    ]
}

fn answers(folder: &Path) -> Vec<f64> {
    ["mean", "sd", "lower", "median", "upper"]
        .iter()
        .flat_map(|name| column(folder, "new", name))
        .collect()
}

#[test]
fn where_tables_differ_a_new_observation_needs_the_table_it_is_like() {
    let mut wrong = Vec::new();
    for (what, [a, b], names) in pairs() {
        for tables in [[a, b], [b, a]] {
            let text = study(&tables, OBSERVED);
            let folder = in_folder(&text);
            let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
            let said = stderr(&output);
            let line = text.lines().position(|l| l == OBSERVED).unwrap() + 1;
            let told = [names[0], names[1], "as = \"", &format!("s.toml:{line}:")];
            let missing: Vec<&&str> = told.iter().filter(|part| !said.contains(**part)).collect();
            if output.status.code() != Some(1)
                || !missing.is_empty()
                || folder.path().join("out").exists()
            {
                wrong.push(format!("{what}: {missing:?} missing\n{said}"));
            }
        }
    }
    none(&wrong);
}

#[test]
fn permuting_the_tables_changes_no_answer() {
    let mut wrong = Vec::new();
    for (what, [a, b], names) in pairs() {
        let both = names.map(|name| {
            [[a, b], [b, a]].map(|tables| {
                let folder = in_folder(&study(&tables, &format!("{OBSERVED}\nas = \"{name}\"")));
                let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
                let report =
                    std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
                if !said.contains(&format!("observation of {name}"))
                    || !report.contains(&format!("New observations of {name}"))
                {
                    wrong.push(format!("{what}: {name} is not named\n{said}"));
                }
                answers(folder.path())
            })
        });
        for ([first, second], name) in both.iter().zip(names) {
            // Searches end within a millionth of each other; sums over rows run in another order.
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-4 * a.abs().max(1.0);
            if first.len() != second.len() || !first.iter().zip(second).all(close) {
                wrong.push(format!("{what}, {name}: {first:?} and {second:?}"));
            }
        }
        if both[0][0] == both[1][0] {
            wrong.push(format!("{what}: both tables say the same"));
        }
    }
    none(&wrong);
}

#[test]
fn tables_whose_new_observations_are_alike_need_no_name() {
    let shared = "loud.csv gaussian = { value = \"y\" } }\nshare_noise = true\n#";
    let alike: [(&str, Vec<&str>); 3] = [
        ("a shared noise", vec![QUIET, shared]),
        ("the same before it", vec![shared, QUIET]),
        (
            "equal known noises",
            vec![
                "quiet.csv gaussian = { value = \"y\", variance = 1 }",
                "loud.csv interval = { lower = \"y\", upper = 99, variance = 1 }",
            ],
        ),
    ];
    let mut found = Vec::new();
    for (what, tables) in alike {
        let folder = in_folder(&study(&tables, OBSERVED));
        let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(!said.contains("observation of"), "{what}: {said}");
        found.push(answers(folder.path()));
    }
    // A table that shares may stand before the one whose noise it is.
    // Both fits end where 1e-6 nats may be left, from rows in another order.
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-4 * a.abs().max(1.0);
    assert!(
        found[0].iter().zip(&found[1]).all(close),
        "{:?} and {:?}",
        found[0],
        found[1]
    );
}

#[test]
fn a_table_that_is_named_for_nothing_or_not_there_is_refused_at_its_line() {
    let cases = [
        (
            "scale = \"latent\"\nas = \"loud.csv\"",
            "naming a table has no effect at the scale `latent`",
        ),
        (
            "as = \"loud.csv\"",
            "naming a table has no effect at the scale `response`",
        ),
        (
            "scale = \"observation\"\nas = \"lout.csv\"",
            "no table is called `lout.csv`; did you mean `loud.csv`?",
        ),
    ];
    for (predict, told) in cases {
        let text = study(&[QUIET, LOUD], predict);
        let folder = in_folder(&text);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        let line = text.lines().position(|l| l.starts_with("as =")).unwrap() + 1;
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{predict}");
        assert!(
            said.contains(told) && said.contains(&format!("s.toml:{line}:")),
            "{predict}: {said}"
        );
    }
}

#[test]
fn two_tables_of_one_file_are_told_apart_by_name() {
    let twice = [
        "quiet.csv gaussian = { value = \"y\" } }\nname = \"first\"\n#",
        "quiet.csv student_t = { value = \"y\", degrees = 4 } }\nname = \"second\"\n#",
    ];
    let unnamed = [
        QUIET,
        "quiet.csv student_t = { value = \"y\", degrees = 4 }",
    ];
    let folder = in_folder(&study(&unnamed, OBSERVED));
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(
        stderr(&output).contains("give each table a `name`"),
        "{}",
        stderr(&output)
    );
    let folder = in_folder(&study(&twice, &format!("{OBSERVED}\nas = \"second\"")));
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(said.contains("observation of second"), "{said}");
    let same = twice[1].replace("second", "first");
    let folder = in_folder(&study(&[twice[0], &same], "scale = \"latent\""));
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(
        stderr(&output).contains("another table is called `first` too"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_saved_model_knows_its_tables() {
    let folder = in_folder(&study(&[QUIET, LOUD], "scale = \"latent\""));
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let predict = |more: &[&str]| {
        let mut args = vec!["predict", "m.quadrat", "--at", "at.csv", "--point", "t"];
        args.extend(more);
        quadrat(folder.path(), &args)
    };
    let open = predict(&["--scale", "observation"]);
    assert_eq!(open.status.code(), Some(1));
    let said = stderr(&open);
    assert!(
        said.contains("`--as quiet.csv` or `--as loud.csv`"),
        "{said}"
    );
    let sd = |name: &str| {
        let output = predict(&["--scale", "observation", "--as", name]);
        let text = stdout(&output);
        let row = text
            .lines()
            .nth(1)
            .unwrap_or_else(|| panic!("{}", stderr(&output)));
        row.split(',').nth(2).unwrap().parse::<f64>().unwrap()
    };
    assert!(sd("loud.csv") > 5.0 * sd("quiet.csv"));
    assert_eq!(predict(&["--as", "loud.csv"]).status.code(), Some(1));
    assert_eq!(
        predict(&["--scale", "observation", "--as", "other"])
            .status
            .code(),
        Some(1)
    );
}

#[test]
fn what_is_shared_must_be_there_and_be_one() {
    let share =
        |file: &str| format!("{file} gaussian = {{ value = \"y\" }} }}\nshare_noise = true\n#");
    let noise = "[noise]\nkernel = \"se(t)\"\n";
    let cases = [
        (
            vec![share("quiet.csv")],
            "",
            "no other table learns a noise variance",
        ),
        (
            vec![
                QUIET.to_owned(),
                LOUD.to_owned(),
                share("at.csv").replace("at.csv", "quiet.csv"),
            ],
            "",
            "several tables learn one of their own",
        ),
        (
            vec![QUIET.to_owned(), share("loud.csv")],
            noise,
            "this noise variance is a function",
        ),
    ];
    for (tables, more, told) in cases {
        let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
        let text = study(&tables, "scale = \"latent\"") + more;
        let folder = in_folder(&text);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        let line = text
            .lines()
            .position(|l| l == "share_noise = true")
            .unwrap()
            + 1;
        let said = stderr(&output);
        assert!(
            said.contains(told) && said.contains(&format!("s.toml:{line}:")),
            "{told}: {said}"
        );
    }
}
