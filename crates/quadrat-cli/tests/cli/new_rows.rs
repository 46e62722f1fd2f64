//! What a new row of a table is: as the same row in the table, for `tell` and for `next`.

use std::path::Path;

use crate::harness::{done, folder, none, quadrat, stderr};

/// A study of one table, whose hyperparameters are known.
fn study(file: &str, likelihood: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(x)"
mean = "zero"
[[observe]]
file = "{file}"
support = {{ point = ["x"] }}
{likelihood}
[hyperparameters]
"se.variance" = {{ value = 1.0, fixed = true }}
"se.lengthscale.x" = {{ value = 2.0, fixed = true }}
"#
    )
}

/// Mean and sd at 8 and 9.
fn predicted(path: &Path, model: &str) -> Vec<f64> {
    let asked = ["predict", model, "--at", "at.csv", "--point", "x"];
    let table = done(path, &asked);
    let rows = table.lines().skip(1);
    let cells = rows.flat_map(|row| row.split(',').skip(1).take(2).map(str::to_owned));
    cells.map(|cell| cell.parse().unwrap()).collect()
}

/// A likelihood, the table without its last row, that row, and how it is told in some ways.
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

fn cases() -> Vec<Case> {
    vec![
        (
            "likelihood = { censored = { value = \"y\", lower = 0.5, sd = 0.3 } }",
            "x,y\n0,1\n5,3\n",
            "8,0.5\n",
            &[
                "x,kind,value\n8,censored,0.5\n",
                "x,kind,value\n8,censored,0.2\n",
                "x,kind,y\n8,censored,0.5\n",
                "x,kind,value\n8,censored,<0.5\n",
                "x,kind,value,lower\n8,censored,0.4,0.5\n",
            ],
        ),
        (
            "likelihood = { censored = { value = \"y\", upper = \"cap\", sd = 0.3 } }",
            "x,y,cap\n0,1,2\n5,2,2\n6,0.5,3\n",
            "8,2.5,2.5\n",
            &[
                "x,kind,value,cap\n8,censored,2.5,2.5\n",
                "x,kind,value,upper\n8,censored,2.7,2.5\n",
                "x,kind,value\n8,censored,>2.5\n",
            ],
        ),
        (
            "likelihood = { censored = { value = \"y\", upper = \"cap\", sd = 0.3 } }",
            "x,y,cap\n0,1,2\n5,0.2,2\n",
            "8,2,2\n",
            &["x,kind,value\n8,censored,2\n"],
        ),
        (
            "likelihood = { censored = { value = \"y\", side = \"how\", sd = 0.3 } }",
            "x,y,how\n0,1,none\n5,2,right\n",
            "8,2,right\n",
            &[
                "x,kind,value,how\n8,censored,2,right\n",
                "x,kind,value,side\n8,censored,2,right\n",
            ],
        ),
        (
            "likelihood = { poisson = { count = \"n\", exposure = 100 } }",
            "x,n\n0,6\n5,9\n",
            "8,7\n",
            &[
                "x,kind,value\n8,poisson,7\n",
                "x,kind,n\n8,poisson,7\n",
                "x,kind,value,exposure\n8,poisson,7,100\n",
            ],
        ),
        (
            "likelihood = { poisson = { count = \"n\", exposure = \"people\" } }",
            "x,n,people\n0,6,100\n5,9,120\n",
            "8,<5,110\n",
            &[
                "x,kind,value,people\n8,poisson,<5,110\n",
                "x,kind,n,exposure\n8,poisson,0-4,110\n",
            ],
        ),
        (
            "likelihood = { binomial = { successes = \"n\", trials = 10 } }",
            "x,n\n0,6\n5,9\n",
            "8,7\n",
            &["x,kind,value\n8,binomial,7\n"],
        ),
        (
            "likelihood = { binomial = { successes = \"n\", trials = \"k\" } }",
            "x,n,k\n0,6,10\n5,9,12\n",
            "8,1,11\n",
            &[
                "x,kind,value,k\n8,binomial,1,11\n",
                "x,kind,value,trials\n8,binomial,1,11\n",
            ],
        ),
        (
            "likelihood = { laplace = { value = \"y\", scale = \"s\" } }",
            "x,y,s\n0,1,0.1\n5,2,0.2\n",
            "8,4,0.3\n",
            &[
                "x,kind,value,s\n8,laplace,4,0.3\n",
                "x,kind,value,scale\n8,laplace,4,0.3\n",
                "x,kind,value,variance\n8,laplace,4,0.18\n",
            ],
        ),
        (
            "likelihood = { lognormal = { value = \"y\", sd = \"s\" } }",
            "x,y,s\n0,6,0.1\n5,9,0.2\n",
            "8,4,0.3\n",
            &[
                "x,kind,value,s\n8,lognormal,4,0.3\n",
                "x,kind,value,sd\n8,lognormal,4,0.3\n",
            ],
        ),
        (
            "likelihood = { gaussian = { value = \"y\", sd = \"s\" } }",
            "x,y,s\n0,1,0.1\n5,2,0.2\n",
            "8,1,0.3\n",
            &[
                "x,kind,value,s\n8,gaussian,1,0.3\n",
                "x,kind,value,variance\n8,gaussian,1,0.09\n",
            ],
        ),
        (
            "likelihood = { gaussian = { value = \"y\", variance = 0.5 } }\ntimes = \"k\"",
            "x,y,k\n0,1,2\n5,2,1\n",
            "8,1,4\n",
            &[
                "x,kind,value,k\n8,gaussian,1,4\n",
                "x,kind,value,times\n8,gaussian,1,4\n",
            ],
        ),
        (
            "likelihood = { gaussian = { value = \"y\", variance = 0.5, link = \"exp\" } }",
            "x,y\n0,1\n5,2\n",
            "8,1.5\n",
            &["x,kind,value\n8,gaussian,1.5\n"],
        ),
        (
            "likelihood = { interval = { lower = \"a\", upper = \"b\", sd = 0.2 } }",
            "x,a,b\n0,1,2\n5,2,3\n",
            "8,1,2\n",
            &[
                "x,kind,a,b\n8,interval,1,2\n",
                "x,kind,lower,upper\n8,interval,1,2\n",
            ],
        ),
    ]
}

/// A row that is told is the row that stands in the table.
#[test]
fn told_rows_are_as_those_of_the_table() {
    let folder = folder(&[("at.csv", b"x\n8\n9\n")]);
    let path = folder.path();
    let mut wrong = Vec::new();
    for (likelihood, table, row, told) in cases() {
        for (name, rows) in [("a", table.to_owned()), ("b", format!("{table}{row}"))] {
            std::fs::write(path.join(format!("{name}.csv")), rows).unwrap();
            let text = study(&format!("{name}.csv"), likelihood);
            std::fs::write(path.join(format!("{name}.toml")), text).unwrap();
            let (study, model) = (format!("{name}.toml"), format!("{name}.quadrat"));
            done(path, &["fit", &study, "-o", &model]);
        }
        let expected = predicted(path, "b.quadrat");
        for answers in told {
            std::fs::write(path.join("t.csv"), answers).unwrap();
            let output = quadrat(path, &["tell", "a.quadrat", "t.csv", "-o", "t.quadrat"]);
            if !output.status.success() || stderr(&output).contains("left aside") {
                wrong.push(format!("{likelihood} {answers}: {}", stderr(&output)));
                continue;
            }
            let got = predicted(path, "t.quadrat");
            let pairs = got.iter().zip(&expected);
            let far = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // The same rows by the same steps, but for rounding.
            if far > 1e-9 {
                wrong.push(format!("{likelihood} {answers}: {got:?} {expected:?}"));
            }
        }
    }
    none(&wrong);
}

/// Bits of one measurement at 100, far from all rows.
fn bits(path: &Path, study: &str, cost: &str) -> f64 {
    let asked = ["next", study, "--candidates", "c.csv", "--cost", cost];
    let told = done(path, &[&asked[..], &["--json"]].concat());
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    told["information_bits"].as_f64().unwrap()
}

/// A limit is known before a row has reached it, and an exposure of all rows is that of a new one.
#[test]
fn new_rows_have_the_instrument_of_their_table() {
    let censored = "likelihood = { censored = { value = \"y\", lower = 0.9, sd = 0.3 } }";
    let of_rows = "likelihood = { censored = { value = \"y\", lower = \"low\", sd = 0.3 } }";
    let counts = "likelihood = { poisson = { count = \"n\", exposure = 100 } }";
    let people = "likelihood = { poisson = { count = \"n\", exposure = \"people\" } }";
    let files = [
        ("c.csv", "x\n100\n".to_owned()),
        ("a.csv", "x,y\n0,1\n5,3\n".to_owned()),
        ("b.csv", "x,y\n0,1\n5,3\n60,0.9\n".to_owned()),
        ("n.csv", "x,n,people\n0,6,90\n5,9,100\n".to_owned()),
        ("same.csv", "x,y,low\n0,1,0.9\n5,3,0.9\n".to_owned()),
        ("differ.csv", "x,y,low\n0,1,0.9\n5,3,0.8\n".to_owned()),
        ("a.toml", study("a.csv", censored)),
        ("b.toml", study("b.csv", censored)),
        ("same.toml", study("same.csv", of_rows)),
        ("differ.toml", study("differ.csv", of_rows)),
        ("n.toml", study("n.csv", counts)),
        ("people.toml", study("n.csv", people)),
    ];
    let files: Vec<(&str, &[u8])> = files.iter().map(|(n, t)| (*n, t.as_bytes())).collect();
    let folder = folder(&files);
    let path = folder.path();
    let reached = bits(path, "b.toml", "censored=1");
    assert!((reached - 0.6632).abs() < 1e-4, "{reached}");
    for unreached in ["a.toml", "same.toml"] {
        // Quadrature of the same mean and variance, to rounding of the fits.
        let told = bits(path, unreached, "censored=1");
        assert!(
            (told - reached).abs() < 1e-9,
            "{unreached}: {told} {reached}"
        );
    }
    let given = bits(path, "n.toml", "poisson=1:100");
    let same = bits(path, "n.toml", "poisson=1");
    assert!((same - given).abs() < 1e-12, "{same} {given}");
    for (study, cost, words) in [
        ("differ.toml", "censored=1", "the limits of a new reading"),
        ("people.toml", "poisson=1", "`poisson=COST:NUMBER`"),
    ] {
        let asked = ["next", study, "--candidates", "c.csv", "--cost", cost];
        let output = quadrat(path, &asked);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

/// What a new report would be is known after rows were told that do not show the limit.
#[test]
fn told_rows_have_the_limits_of_their_table() {
    let censored = "likelihood = { censored = { value = \"y\", lower = 0.5, sd = 0.3 } }";
    let study = study("a.csv", censored);
    let folder = folder(&[
        ("a.toml", study.as_bytes()),
        ("a.csv", b"x,y\n0,1\n5,3\n"),
        ("t.csv", b"x,value\n8,2\n"),
        ("at.csv", b"x\n8\n"),
    ]);
    let path = folder.path();
    done(path, &["fit", "a.toml", "-o", "a.quadrat"]);
    let asked = [
        "predict",
        "a.quadrat",
        "--at",
        "at.csv",
        "--point",
        "x",
        "--scale",
        "report",
    ];
    done(path, &asked);
    done(path, &["tell", "a.quadrat", "t.csv", "--kind", "censored"]);
    done(path, &asked);
}

/// What cannot be told is refused at its cell, and what is not understood is named.
#[test]
fn answers_that_cannot_be_are_refused_at_their_cells() {
    let lik =
        |name: &str, keys: &str| study(&format!("{name}.csv"), &format!("likelihood = {keys}"));
    let files = [
        (
            "o",
            lik(
                "o",
                "{ ordinal = { rank = \"g\", thresholds = [0.0, 1.0], sd = 0.3 } }",
            ),
            "x,g\n0,1\n5,3\n",
        ),
        (
            "g",
            lik("g", "{ gaussian = { value = \"y\", sd = 0.3 } }"),
            "x,y\n0,1\n5,3\n",
        ),
        (
            "b",
            lik("b", "{ binomial = { successes = \"n\", trials = 10 } }"),
            "x,n\n0,1\n5,3\n",
        ),
        (
            "p",
            lik("p", "{ poisson = { count = \"n\", exposure = \"e\" } }"),
            "x,n,e\n0,1,5\n5,3,6\n",
        ),
        (
            "l",
            lik("l", "{ laplace = { value = \"y\", scale = \"s\" } }"),
            "x,y,s\n0,1,1\n5,3,2\n",
        ),
        (
            "c",
            lik(
                "c",
                "{ censored = { value = \"y\", upper = \"cap\", sd = 0.3 } }",
            ),
            "x,y,cap\n0,1,2\n5,2,3\n",
        ),
    ];
    let folder = folder(&[]);
    let path = folder.path();
    for (name, study, table) in &files {
        std::fs::write(path.join(format!("{name}.toml")), study).unwrap();
        std::fs::write(path.join(format!("{name}.csv")), table).unwrap();
        let (study, model) = (format!("{name}.toml"), format!("{name}.quadrat"));
        done(path, &["fit", &study, "-o", &model]);
    }
    let cases: [(&str, &str, &[&str]); 9] = [
        (
            "o",
            "x,value\n1,1\n2,4\n",
            &["t.csv:3:3 (column `value`)", "the rank is 4"],
        ),
        (
            "g",
            "x,value,sd\n1,1,-1\n",
            &["t.csv:2:5 (column `sd`)", "the sd is -1"],
        ),
        (
            "g",
            "x,value,y\n1,1,2\n",
            &["t.csv:2:3", "both are the `value` of the row", "leave one"],
        ),
        (
            "b",
            "x,value\n1,11\n",
            &[
                "t.csv:2:3 (column `value`)",
                "the number of successes is 11",
            ],
        ),
        (
            "b",
            "x,value,trials\n1,7,5\n",
            &["t.csv:2", "the number of successes is 7"],
        ),
        (
            "p",
            "x,value\n1,7\n",
            &[
                "t.csv:2:3",
                "the exposure of a new row is not known",
                "column `e`",
            ],
        ),
        (
            "l",
            "x,value\n1,7\n",
            &[
                "t.csv:2:3",
                "the scale of a new row is not known",
                "column `s`",
            ],
        ),
        (
            "c",
            "x,value\n1,2\n",
            &[
                "t.csv:2:3",
                "the upper limit of this reading",
                "column `cap`",
            ],
        ),
        (
            "c",
            "x,value,cap\n1,2,much\n",
            &["t.csv:2:5 (column `cap`)", "`cap` is `much`"],
        ),
    ];
    let mut wrong = Vec::new();
    for (name, table, words) in cases {
        std::fs::write(path.join("t.csv"), table).unwrap();
        let model = format!("{name}.quadrat");
        let output = quadrat(
            path,
            &["tell", &model, "t.csv", "--kind", &format!("{name}.csv")],
        );
        let text = stderr(&output);
        if output.status.code() != Some(1) || !words.iter().all(|word| text.contains(word)) {
            wrong.push(format!("{name} {table}: {text}"));
        }
    }
    none(&wrong);
    std::fs::write(path.join("t.csv"), "x,value,exposure,by\n1,1,3,Ana\n").unwrap();
    let tell = [
        "tell",
        "g.quadrat",
        "t.csv",
        "--kind",
        "g.csv",
        "-o",
        "n.quadrat",
    ];
    let told = stderr(&quadrat(path, &tell));
    let words = "the columns `exposure` and `by` of t.csv say nothing of what was measured";
    assert!(told.contains(words), "{told}");
}

/// Columns of candidates that have names of the choice are named; a choice of before is known.
#[test]
fn columns_that_do_not_come_back_are_told() {
    let gaussian = "likelihood = { gaussian = { value = \"y\", sd = 0.3 } }";
    let files = [
        ("s.toml", study("a.csv", gaussian)),
        ("a.csv", "x,y\n0,1\n5,3\n".to_owned()),
        ("c.csv", "x,rank\n1,2\n3,4\n".to_owned()),
    ];
    let files: Vec<(&str, &[u8])> = files.iter().map(|(n, t)| (*n, t.as_bytes())).collect();
    let folder = folder(&files);
    let path = folder.path();
    let next = |candidates: &str, output: &str| {
        let asked = [
            "next",
            "s.toml",
            "--candidates",
            candidates,
            "--cost",
            "point=1",
            "-o",
            output,
        ];
        let output = quadrat(path, &asked);
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    let told = next("c.csv", "n.csv");
    assert!(
        told.contains("`rank` of c.csv will not be in the choice"),
        "{told}"
    );
    assert!(!next("n.csv", "m.csv").contains("will not be"));
    // Filled in, its other columns are no answers.
    let chosen = std::fs::read_to_string(path.join("n.csv")).unwrap();
    let (header, row) = chosen.trim_end().split_once('\n').unwrap();
    std::fs::write(path.join("t.csv"), format!("{header},y\n{row},2\n")).unwrap();
    done(path, &["fit", "s.toml", "-o", "s.quadrat"]);
    let output = quadrat(path, &["tell", "s.quadrat", "t.csv"]);
    assert!(
        output.status.success() && stderr(&output).is_empty(),
        "{}",
        stderr(&output)
    );
}
