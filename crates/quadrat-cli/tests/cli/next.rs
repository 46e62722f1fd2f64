//! What to measure next.

use std::path::Path;

use crate::harness::{done, folder, names, none, quadrat, stderr};

const STUDY: &str = r#"[latent]
kernel = "se(x)"
[[observe]]
file = "meter.csv"
support = { point = ["x"] }
likelihood = { gaussian = { value = "ph", sd = 0.1 } }
[[observe]]
file = "strips.csv"
support = { point = ["x"] }
likelihood = { interval = { lower = "low", upper = "high", sd = 0.2 } }
[[observe]]
file = "grades.csv"
support = { point = ["x"] }
likelihood = { ordinal = { rank = "grade", thresholds = [5.2, 6.2], sd = 0.3 } }
[inference]
hyperparameters = "map"
"#;
const METER: &str = "x,ph\n0.5,5.1\n3.0,6.4\n6.5,5.8\n";
const STRIPS: &str = "x,low,high\n1.0,5,6\n2.0,5.5,6.5\n4.0,6,7\n5.0,6,7\n8.0,4.5,5.5\n";
const GRADES: &str = "x,grade\n1.5,2\n3.5,3\n7.0,2\n9.0,1\n";
const PLACES: &str = "plot,x\na,0\nb,1.5\n\"c,d\",3\ne,6\nf,9.5\n";
pub const COSTS: &str = "point=10,interval=7:0.5,ordinal=3";

/// The study with its tables, candidates, and its saved model.
pub fn field() -> tempfile::TempDir {
    let folder = folder(&[
        ("s.toml", STUDY.as_bytes()),
        ("meter.csv", METER.as_bytes()),
        ("strips.csv", STRIPS.as_bytes()),
        ("grades.csv", GRADES.as_bytes()),
        ("c.csv", PLACES.as_bytes()),
    ]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    folder
}

pub fn read(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(folder.join(name)).unwrap();
    let header = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let rows = reader
        .records()
        .map(|row| row.unwrap().iter().map(str::to_owned).collect());
    std::iter::once(header).chain(rows).collect()
}

#[test]
fn the_table_has_the_candidates_and_what_they_tell() {
    let folder = field();
    let path = folder.path();
    let asked = ["--candidates", "c.csv", "--cost", COSTS, "--batch", "3"];
    let said = done(
        path,
        &[&["next", "m.quadrat"][..], &asked, &["-o", "n.csv"]].concat(),
    );
    assert!(
        said.contains("3 measurements of 5 places x 3 kinds, by information per cost"),
        "{said}"
    );
    let rows = read(path, "n.csv");
    let own = ["kind", "information_bits", "cost", "bits_per_cost", "rank"];
    assert_eq!(rows[0], [&["plot", "x"][..], &own].concat());
    assert_eq!(rows.len(), 4);
    for (i, row) in rows[1..].iter().enumerate() {
        let number = |at: usize| row[at].parse::<f64>().unwrap();
        assert_eq!(row[6], (i + 1).to_string());
        assert!(number(3) > 0.0 && (number(3) / number(4) - number(5)).abs() < 1e-15);
    }
    // A study is fitted first, to the same answer.
    done(
        path,
        &[&["next", "s.toml"][..], &asked, &["-o", "s.csv"]].concat(),
    );
    assert_eq!(read(path, "s.csv"), rows);
    // All others stand behind them, without a rank.
    done(
        path,
        &[
            &["next", "m.quadrat"][..],
            &asked,
            &["-o", "a.csv", "--all"],
        ]
        .concat(),
    );
    let all = read(path, "a.csv");
    assert_eq!((all.len(), &all[..4]), (16, &rows[..]));
    assert!(all[4..].iter().all(|row| row[6].is_empty()));
    let json = done(
        path,
        &[&["next", "m.quadrat"][..], &asked, &["--json"]].concat(),
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let first = &json["chosen"][0];
    assert_eq!(first["kind"].as_str().unwrap(), rows[1][2]);
    assert_eq!(first["at"]["plot"].as_str().unwrap(), rows[1][0]);
}

#[test]
fn budgets_and_policies_are_kept() {
    let folder = field();
    let path = folder.path();
    for policy in [
        "information",
        "per-cost",
        "normalised",
        "pace",
        "variance",
        "variance-pace",
        "random",
        "random-kind",
    ] {
        let asked = [
            "next",
            "m.quadrat",
            "--candidates",
            "grid",
            "--cost",
            COSTS,
            "--budget",
            "40",
            "--policy",
            policy,
            "--json",
        ];
        let json: serde_json::Value = serde_json::from_str(&done(path, &asked)).unwrap();
        let cost = json["cost"].as_f64().unwrap();
        // Not even a rank is left to be paid.
        assert!(cost <= 40.0 && cost > 37.0, "{policy} {cost}");
        assert_eq!(json["policy"], policy);
        assert_eq!(json["candidates"], 201);
    }
}

#[test]
fn figures_are_drawn_along_an_input() {
    let folder = field();
    for plot in ["n.svg", "n.png", "n.html"] {
        let asked = [
            "next",
            "m.quadrat",
            "--candidates",
            "grid",
            "--cost",
            COSTS,
            "--plot",
            plot,
        ];
        done(folder.path(), &asked);
        assert!(
            folder.path().join(plot).metadata().unwrap().len() > 2000,
            "{plot}"
        );
    }
}

#[test]
fn what_cannot_be_chosen_is_refused_in_words() {
    let folder = field();
    let path = folder.path();
    std::fs::write(path.join("none.csv"), "x\n").unwrap();
    std::fs::write(path.join("other.csv"), "y\n1\n").unwrap();
    let cases: [(&[&str], &[&str]); 12] = [
        (&["c.csv", "point"], &["`point` has no cost"]),
        (
            &["c.csv", "point=0"],
            &["the cost of `point` is 0", "above zero"],
        ),
        (&["c.csv", "point=-2"], &["the cost of `point` is -2"]),
        (&["c.csv", "point=1,point=2"], &["two costs"]),
        (
            &["c.csv", "tilt=1"],
            &["cannot observe `tilt`", "the kinds are"],
        ),
        (
            &["c.csv", "interval=1:0"],
            &["the number of `interval` is 0"],
        ),
        (&["none.csv", "point=1"], &["none.csv"]),
        // What was typed, and no more; `y` is another word.
        (
            &["other.csv", "point=1"],
            &["no column `x` in other.csv\n", "other.csv --point x\n"],
        ),
        (
            &[
                "c.csv",
                "point=1",
                "--policy",
                "target",
                "--target",
                "other.csv",
            ],
            &[
                "no column `x` in other.csv\n",
                "--target other.csv --point x\n",
            ],
        ),
        (
            &["absent.csv", "point=1"],
            &["relative to where the command runs"],
        ),
        (
            &[
                "c.csv",
                "point=1",
                "--policy",
                "target",
                "--target",
                "absent.csv",
            ],
            &["relative to where the command runs"],
        ),
        (
            &["c.csv", "point=10", "--budget", "9"],
            &["pays for no measurement", "`point`, costs 10"],
        ),
    ];
    let before = names(path);
    let mut wrong = Vec::new();
    for model in ["m.quadrat", "s.toml"] {
        for (asked, words) in &cases {
            let mut args = vec!["next", model, "--candidates", asked[0], "--cost", asked[1]];
            args.extend(&asked[2..]);
            args.extend(["-o", "n.csv"]);
            let output = quadrat(path, &args);
            let text = stderr(&output);
            let code = output.status.code();
            if !matches!(code, Some(1 | 2)) || !words.iter().all(|word| text.contains(word)) {
                wrong.push(format!("{args:?}: {code:?}\n{text}"));
            }
        }
    }
    none(&wrong);
    assert_eq!(names(path), before);
}

#[test]
fn candidates_outside_the_data_are_told() {
    let folder = field();
    let path = folder.path();
    std::fs::write(path.join("far.csv"), "x\n2\n500\n").unwrap();
    let asked = [
        "next",
        "m.quadrat",
        "--candidates",
        "far.csv",
        "--cost",
        "point=1",
    ];
    let output = quadrat(path, &asked);
    assert!(output.status.success());
    let text = stderr(&output);
    assert!(
        text.contains("1 candidate of 2 lies far outside") && text.contains("x = 500"),
        "{text}"
    );
}

/// What is told of a target is no more than what is told of the function, and most beside it.
#[test]
fn measurements_are_chosen_for_a_target() {
    let folder = field();
    let path = folder.path();
    std::fs::write(path.join("t.csv"), "from,to\n8,10\n").unwrap();
    std::fs::write(path.join("p.csv"), "x\n5.0\n").unwrap();
    let next = |more: &[&str]| -> Vec<Vec<String>> {
        let asked = [
            "next",
            "m.quadrat",
            "--candidates",
            "grid",
            "--cost",
            "point=1",
        ];
        done(path, &[&asked, more, &["--all", "-o", "n.csv"]].concat());
        read(path, "n.csv")
    };
    let bits = |rows: &[Vec<String>]| -> Vec<(f64, f64)> {
        let number = |cell: &String| cell.parse::<f64>().unwrap();
        let mut all: Vec<(f64, f64)> = rows[1..]
            .iter()
            .map(|row| (number(&row[0]), number(&row[2])))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    };
    let of_function = bits(&next(&[]));
    for (more, lower, upper) in [
        (
            vec!["--target", "t.csv", "--target-box", "x=from,to"],
            8.0,
            9.5,
        ),
        (vec!["--target", "p.csv"], 4.0, 6.0),
    ] {
        let rows = next(&[&["--policy", "target"], more.as_slice()].concat());
        let first: f64 = rows[1][0].parse().unwrap();
        assert!((lower..=upper).contains(&first), "{first}");
        for ((x, of_target), (same, of_function)) in bits(&rows).iter().zip(&of_function) {
            assert_eq!(x, same);
            assert!(of_target <= of_function, "{x}: {of_target} {of_function}");
        }
    }
    let refused = |more: &[&str], word: &str| {
        let asked = [
            "next",
            "m.quadrat",
            "--candidates",
            "grid",
            "--cost",
            "point=1",
        ];
        let output = quadrat(path, &[&asked, more].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    };
    refused(&["--policy", "target"], "--target FILE");
    refused(&["--target", "p.csv"], "does not look at it");
    let elsewhere = ["--policy", "target", "--target", "t.csv"];
    refused(&elsewhere, "t.csv");
    let unknown = ["--target-box", "depth=from,to"];
    refused(&[&elsewhere[..], &unknown].concat(), "no input `depth`");
}

/// A reading that is to say where a limit is exceeded is taken where the function crosses it; what
/// all readings tell of one place is no more than one bit.
#[test]
fn measurements_are_chosen_for_a_limit() {
    let folder = field();
    let path = folder.path();
    std::fs::write(path.join("p.csv"), "x\n5.0\n").unwrap();
    let asked = [
        "next",
        "m.quadrat",
        "--candidates",
        "grid",
        "--cost",
        "point=1",
    ];
    let limit = ["--policy", "exceedance", "--above", "5.5"];
    let output = done(
        path,
        &[&asked[..], &limit, &["--batch", "2", "--json"]].concat(),
    );
    let told: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!(
        (told["policy"].as_str(), told["above"].as_f64()),
        (Some("exceedance"), Some(5.5))
    );
    let more = ["--target", "p.csv", "--batch", "20", "-o", "n.csv"];
    let said = done(path, &[&asked[..], &limit, &more].concat());
    assert!(
        said.contains("by information about what exceeds 5.5 per cost"),
        "{said}"
    );
    let rows = read(path, "n.csv");
    let bits = rows[1..].iter().map(|row| row[2].parse::<f64>().unwrap());
    let together: f64 = bits.sum();
    assert!(together > 0.0 && together <= 1.0, "{together}");
    let refused = |more: &[&str], word: &str| {
        let output = quadrat(path, &[&asked[..], more].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    };
    for (policy, what) in [("maximum", "largest"), ("minimum", "smallest")] {
        let said = done(path, &[&asked[..], &["--policy", policy]].concat());
        let rule = format!("by information about the {what} value per cost");
        assert!(said.contains(&rule), "{said}");
    }
    refused(&["--policy", "exceedance"], "--above LIMIT");
    refused(&["--above", "5"], "does not look at");
    refused(&["--policy", "exceedance", "--above", "inf"], "inf");
}
