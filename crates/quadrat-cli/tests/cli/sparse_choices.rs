//! What can be chosen of sparse inference: inducing points of one's own, and forms of the expected
//! logarithm of a sum.

use std::path::Path;

use crate::harness::{column, done, fit, folder, none, quadrat, refused, stderr};

fn study(latent: &str, likelihood: &str, inference: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(u, v)"
{latent}
[[observe]]
file = "cases.csv"
support = {{ bag = {{ file = "pixels.csv", key = "district", dims = ["u", "v"], weight = "people" }} }}
aggregate = "sum"
likelihood = {{ {likelihood} }}
[[predict]]
name = "all"
support = {{ file = "cases.csv", bag = {{ file = "pixels.csv", key = "district", dims = ["u", "v"], weight = "people" }} }}
aggregate = "sum"
[inference]
method = "sparse"
hyperparameters = "map"
{inference}
"#
    )
}

const COUNTS: &str = "poisson = { count = \"cases\" }";

/// Sixteen districts of nine pixels.
fn tables() -> (String, String) {
    let (mut pixels, mut cases) = (
        String::from("district,u,v,people\n"),
        String::from("district,cases,some\n"),
    );
    for district in 0..16_u32 {
        let (x, y) = (f64::from(district % 4), f64::from(district / 4));
        let mut total = 0.0;
        for pixel in 0..9_u32 {
            let (u, v) = (
                x + f64::from(pixel % 3) / 3.0,
                y + f64::from(pixel / 3) / 3.0,
            );
            let people = f64::from(1 + (district * 31 + pixel * 17) % 9);
            total += people * (0.4 * (0.6 * u).sin() + 0.3 * (0.9 * v).cos() - 1.0).exp();
            pixels.push_str(&format!("{district},{u},{v},{people}\n"));
        }
        let cases_here = (total + f64::from((district * 7919) % 7) - 3.0)
            .max(0.0)
            .round();
        let some = if cases_here < 20.0 {
            "<20".to_owned()
        } else {
            cases_here.to_string()
        };
        cases.push_str(&format!("{district},{cases_here},{some}\n"));
    }
    (pixels, cases)
}

fn run(study: &str, more: &[(&str, &[u8])]) -> tempfile::TempDir {
    let (pixels, cases) = tables();
    let mut files: Vec<(&str, &[u8])> = vec![
        ("s.toml", study.as_bytes()),
        ("pixels.csv", pixels.as_bytes()),
        ("cases.csv", cases.as_bytes()),
    ];
    files.extend_from_slice(more);
    let folder = folder(&files);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    folder
}

fn evidence(folder: &Path) -> f64 {
    fit(folder)["log_evidence"].as_f64().unwrap()
}

const OWN: &str = "inducing = { file = \"own.csv\" }";

#[test]
fn points_of_ones_own_are_the_inducing_points() {
    let (pixels, _) = tables();
    // All pixels, columns in another order, one of them twice, and a column that is not asked for.
    let mut own = String::from("name,v,u\n");
    for line in pixels.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        own.push_str(&format!("a,{},{}\n", cells[2], cells[1]));
    }
    let twice = own.lines().nth(5).unwrap().to_owned();
    own.push_str(&format!("{twice}\n"));
    let given = run(&study("", COUNTS, OWN), &[("own.csv", own.as_bytes())]);
    let all = run(&study("", COUNTS, "inducing = 144"), &[]);
    assert_eq!(fit(given.path())["inducing"], 144);
    let warnings = fit(given.path())["warnings"].to_string();
    assert!(
        warnings.contains("1 row of own.csv repeats an inducing point"),
        "{warnings}"
    );
    // The same problem; searches end when a step gains less than 1e-4 nats.
    let (a, b) = (evidence(given.path()), evidence(all.path()));
    assert!((a - b).abs() < 1e-3, "{a} {b}");
    // In other places fewer points say less.
    let few = run(
        &study("", COUNTS, OWN),
        &[("own.csv", b"u,v\n0.5,0.5\n0.6,3\n")],
    );
    assert_eq!(fit(few.path())["inducing"], 2);
    let few = evidence(few.path());
    assert!(few < b - 0.5, "{few} {b}");
}

#[test]
fn every_output_has_all_points_of_ones_own() {
    let text = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
output_column = "site"
likelihood = { gaussian = { value = "y" } }
[inference]
method = "sparse"
hyperparameters = "map"
inducing = { file = "own.csv" }
"#;
    let mut table = String::from("t,site,y\n");
    for i in 0..24 {
        // Noise, without which learning it would end at a bound.
        let (t, noise) = (f64::from(i) / 4.0, 0.1 * f64::from((7 * i) % 11 - 5));
        table.push_str(&format!(
            "{t},a,{}\n{t},b,{}\n",
            t.sin() + noise,
            2.0 * t.sin() + 1.0 - 0.5 * noise
        ));
    }
    let folder = folder(&[
        ("s.toml", text.as_bytes()),
        ("d.csv", table.as_bytes()),
        ("own.csv", b"t\n0\n1\n2\n3\n4\n5\n6\n"),
    ]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert_eq!(fit(folder.path())["inducing"], 14);
}

#[test]
fn forms_of_the_expected_logarithm_differ_as_they_should() {
    for name in ["exp", "square", "softplus"] {
        let link = &format!("link = \"{name}\"");
        let of = |form: &str| {
            let inference = format!("inducing = 40\nlog_sum = \"{form}\"");
            let folder = run(&study(link, COUNTS, &inference), &[]);
            let sd = column(folder.path(), "all", "sd").iter().sum::<f64>();
            let warnings = fit(folder.path())["warnings"].to_string();
            (
                evidence(folder.path()),
                sd,
                warnings.contains("the lemma's bound"),
            )
        };
        let (matched, taylor) = (of("matched"), of("taylor"));
        let absent = run(&study(link, COUNTS, "inducing = 40"), &[]);
        // The default: the same computation.
        assert!((evidence(absent.path()) - matched.0).abs() < 1e-9);
        // Nearly the same where the function is well known, and not the same.
        let apart = (taylor.0 - matched.0).abs();
        assert!(
            (1e-4..0.2).contains(&apart),
            "{link}: {taylor:?} {matched:?}"
        );
        assert_eq!((matched.2, taylor.2), (false, false));
        if name == "softplus" {
            continue;
        }
        let lemma = of("lemma");
        // A lower bound of what the others approximate, and more certain than the data are.
        assert!(lemma.0 < matched.0 - 0.05, "{link}: {lemma:?} {matched:?}");
        assert!(lemma.1 < 0.98 * matched.1, "{link}: {lemma:?} {matched:?}");
        assert!(lemma.2);
    }
}

#[test]
fn bad_choices_are_refused_with_their_places() {
    let (pixels, cases) = tables();
    let many: String = (0..145).map(|i| format!("{i},{i}\n")).collect();
    let many = format!("u,v\n{many}");
    let own: &[(&str, &str, &[&str])] = &[
        (
            "u,w\n1,1\n",
            OWN,
            &[
                "there is no column `v` in own.csv",
                "s.toml:",
                "its columns are `u` and `w`",
            ],
        ),
        (
            "u,v\n1,1\n2,nan\n",
            OWN,
            &["own.csv:3:3 (column `v`)", "nan"],
        ),
        ("u,v\n1,\n", OWN, &["own.csv:2:3 (column `v`)"]),
        (
            "u,v\n1,1e200\n",
            OWN,
            &["1e200 is too large", "own.csv:2:3 (column `v`)"],
        ),
        ("u,v\n", OWN, &["own.csv has a header but no rows"]),
        (
            &many,
            OWN,
            &[
                "own.csv gives 145 inducing points, more than the 144 points that rows look at",
                "s.toml:16:21",
                "`inducing = 144`",
            ],
        ),
        (
            "",
            "inducing = { file = \"onw.csv\" }",
            &[
                "the file `onw.csv` does not exist",
                "s.toml:16:21",
                "did you mean `own.csv`?",
            ],
        ),
        (
            "",
            "inducing = { path = \"own.csv\" }",
            &[
                "unknown key `path` in inducing",
                "inducing needs `file`",
                "s.toml:16:",
            ],
        ),
        (
            "",
            "inducing = { file = 3 }",
            &[
                "`file` must be a text in quotes, not the number 3",
                "s.toml:16:21",
            ],
        ),
        (
            "",
            "inducing = [1, 2]",
            &[
                "`inducing` must be a whole number from 1 on, `rows`, or a table with a `file`, not an array",
                "s.toml:16:12",
            ],
        ),
        (
            "",
            "log_sum = \"lema\"",
            &[
                "`lema` is not a known `log_sum`",
                "did you mean `lemma`?",
                "s.toml:16:11",
            ],
        ),
    ];
    let mut wrong = Vec::new();
    for (table, inference, expected) in own {
        let files: [(&str, &[u8]); 3] = [
            ("pixels.csv", pixels.as_bytes()),
            ("cases.csv", cases.as_bytes()),
            ("own.csv", table.as_bytes()),
        ];
        let text = study("", COUNTS, inference);
        wrong.extend(refused(inference, &text, &files, expected).err());
    }
    let files: [(&str, &[u8]); 2] = [
        ("pixels.csv", pixels.as_bytes()),
        ("cases.csv", cases.as_bytes()),
    ];
    for (likelihood, form, expected) in [
        (
            "negative_binomial = { count = \"cases\" }",
            "lemma",
            "`log_sum = \"lemma\"` is not there for negative binomial counts, which cases.csv holds",
        ),
        (
            "poisson = { count = \"cases\", link = \"softplus\" }",
            "lemma",
            "`log_sum = \"lemma\"` is not there for sums behind `softplus`, which cases.csv holds",
        ),
        (
            "poisson = { count = \"some\" }",
            "taylor",
            "`log_sum = \"taylor\"` is not there for ranges of counts, which cases.csv holds",
        ),
        (
            "gaussian = { value = \"cases\" }",
            "taylor",
            "`log_sum` is about sums after a link, and no table has any",
        ),
    ] {
        let text = study("", likelihood, &format!("log_sum = \"{form}\""));
        wrong.extend(refused(likelihood, &text, &files, &[expected, "s.toml:16:11"]).err());
    }
    let dense = study("", COUNTS, "log_sum = \"taylor\"").replace("\"sparse\"", "\"laplace\"");
    wrong.extend(
        refused(
            "dense",
            &dense,
            &files,
            &["`log_sum` is for sparse inference only"],
        )
        .err(),
    );
    none(&wrong);
}

#[test]
fn the_inducing_points_are_not_written_over() {
    let (pixels, cases) = tables();
    let text = study("", COUNTS, "inducing = { file = \"all.csv\" }");
    let folder = folder(&[
        ("s.toml", text.as_bytes()),
        ("pixels.csv", pixels.as_bytes()),
        ("cases.csv", cases.as_bytes()),
        ("all.csv", b"u,v\n1,1\n"),
    ]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "."]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("would replace a file that the study reads"),
        "{said}"
    );
    let kept = std::fs::read(folder.path().join("all.csv")).unwrap();
    assert_eq!(kept, b"u,v\n1,1\n");
}

/// What is said of inducing points holds where the method that is chosen has any, and is told to be
/// left out where it has none.
#[test]
fn inducing_points_may_wait_for_the_choice_of_the_method() {
    const STUDY: &str = r#"[latent]
kernel = "se(u)"
mean = 0
[[observe]]
file = "seen.csv"
support = { point = ["u"] }
likelihood = { poisson = { count = "cases" } }
[[predict]]
name = "some"
support = { file = "some.csv", point = ["u"] }
[inference]
method = "auto"
hyperparameters = "map"
inducing = 9
[hyperparameters]
"se.variance" = { value = 1, fixed = true }
"se.lengthscale.u" = { value = 2, fixed = true }
"#;
    for (rows, is_sparse) in [(30_u32, false), (5_200, true)] {
        let mut seen = String::from("u,cases\n");
        for i in 0..rows {
            let u = 9.0 * f64::from(i) / f64::from(rows);
            let count = (u.sin() + 1.0).exp() + f64::from((i * 7919) % 7) / 3.0;
            seen.push_str(&format!("{u},{}\n", count.floor()));
        }
        let folder = folder(&[
            ("s.toml", STUDY.as_bytes()),
            ("seen.csv", seen.as_bytes()),
            ("some.csv", b"u\n1\n4\n8\n"),
        ]);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let json = fit(folder.path());
        let inference = json["inference"].to_string();
        assert_eq!(inference.contains("sparse"), is_sparse, "{inference}");
        assert_eq!(json["inducing"].as_u64(), is_sparse.then_some(9));
        let warnings = json["warnings"].to_string();
        assert_eq!(
            warnings.contains("do without inducing points"),
            !is_sparse,
            "{warnings}"
        );
    }
}
