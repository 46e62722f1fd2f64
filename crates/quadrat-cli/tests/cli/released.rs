//! Studies of tables that others released with noise: mechanisms, and OpenDP's `summarize`.

use quadrat::privacy::Family;

use crate::harness::{done, folder, quadrat, stderr};

const TABLE: &str =
    "from,to,len,A\n0,20,131,7\n20,40,204,9\n40,60,187,8\n60,80,120,5\n80,100,22,2\n";

/// As `write_csv` of polars writes the frame.
const SUMMARY: &str = "column,aggregate,distribution,scale\nlen,Frame Length,Integer Laplace,10.0\nA,Sum,Integer Gaussian,3.0\nA,Length,Float Laplace,2.0\nB,0.5-Quantile,Gumbel Min,1.5\n";

fn study(value: &str, variance: &str) -> String {
    format!(
        "[latent]\nkernel = \"se(age)\"\n[[observe]]\nfile = \"t.csv\"\nsupport = {{ box = {{ age = [\"from\", \"to\"] }} }}\naggregate = \"sum\"\nlikelihood = {{ gaussian = {{ value = \"{value}\", variance = {variance} }} }}\n[[predict]]\nname = \"p\"\nsupport = {{ grid = {{ age = {{ from = 0, to = 100, step = 50, cells = true }} }} }}\naggregate = \"sum\"\n[inference]\nhyperparameters = \"map\"\n"
    )
}

fn files() -> tempfile::TempDir {
    folder(&[
        ("t.csv", TABLE.as_bytes()),
        ("summary.csv", SUMMARY.as_bytes()),
    ])
}

fn answer(folder: &std::path::Path, value: &str, variance: &str) -> String {
    std::fs::write(folder.join("s.toml"), study(value, variance)).unwrap();
    done(folder, &["run", "s.toml", "-o", "out"]);
    std::fs::read_to_string(folder.join("out/p.csv")).unwrap()
}

#[test]
fn a_mechanism_and_a_summary_are_the_variance_that_they_say() {
    let folder = files();
    let path = folder.path();
    let a = (-0.1f64).exp();
    let exact = Family::Geometric.variance(10.0).unwrap();
    // 1 - a = 0.095 loses a digit, its square two.
    assert!((exact * (1.0 - a).powi(2) / (2.0 * a) - 1.0).abs() < 1e-13);
    let number = answer(path, "len", &exact.to_string());
    let said = "{ mechanism = \"geometric\", scale = 10 }";
    assert_eq!(answer(path, "len", said), number);
    let read = "{ summary = \"summary.csv\" }";
    assert_eq!(answer(path, "len", read), number);
    // A table that has a column twice says which.
    let sum = "{ summary = \"summary.csv\", aggregate = \"Sum\" }";
    let length = "{ summary = \"summary.csv\", aggregate = \"Length\" }";
    assert_eq!(
        answer(path, "A", sum),
        answer(
            path,
            "A",
            "{ mechanism = \"discrete_gaussian\", scale = 3 }"
        )
    );
    assert_eq!(answer(path, "A", length), answer(path, "A", "8"));
    // Of another column.
    let other = "{ summary = \"summary.csv\", column = \"len\" }";
    assert_eq!(
        answer(path, "A", other),
        answer(path, "A", &exact.to_string())
    );
}

#[test]
fn another_summary_is_another_run() {
    let folder = files();
    let path = folder.path();
    let number = || {
        answer(path, "len", "{ summary = \"summary.csv\" }");
        let json = std::fs::read_to_string(path.join("out/fit.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        json["run"].to_string()
    };
    let first = number();
    assert_eq!(first, number());
    std::fs::write(path.join("summary.csv"), SUMMARY.replace("10.0", "12.0")).unwrap();
    assert_ne!(first, number());
}

#[test]
fn groups_below_a_threshold_are_told() {
    let folder = files();
    let path = folder.path();
    let with = "column,aggregate,distribution,scale,threshold\nlen,Frame Length,Integer Laplace,10.0,40\nA,Sum,Integer Laplace,1.0,\n";
    std::fs::write(path.join("summary.csv"), with).unwrap();
    let run = |value: &str| {
        std::fs::write(
            path.join("s.toml"),
            study(value, "{ summary = \"summary.csv\" }"),
        )
        .unwrap();
        let output = quadrat(path, &["run", "s.toml", "-o", "out"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        done(path, &["run", "s.toml", "-o", "out"]) + &stderr(&output)
    };
    let said = run("len");
    assert!(
        said.contains("below 40 were not released") && said.contains("`lower = 40`"),
        "{said}"
    );
    assert!(!run("A").contains("not released"));
}

#[test]
fn what_cannot_be_read_is_refused_at_its_place() {
    let folder = files();
    let path = folder.path();
    for (value, variance, expected) in [
        (
            "A",
            "{ summary = \"summary.csv\" }",
            &[
                "`A` stands in several rows: summary.csv:3 (`Sum`), summary.csv:4 (`Length`)",
                "s.toml:7:",
                "aggregate = ..",
            ][..],
        ),
        (
            "A",
            "{ summary = \"summary.csv\", aggregate = \"Mean\" }",
            &["no row of `A` has the aggregate `Mean`", "s.toml:7:"],
        ),
        (
            "A",
            "{ summary = \"summary.csv\", column = \"Z\" }",
            &["no row of summary.csv is about the column `Z`", "s.toml:7:"],
        ),
        (
            "A",
            "{ summary = \"summary.csv\", column = \"B\" }",
            &[
                "`Gumbel Min` is no noise of a known variance",
                "summary.csv:5:",
                "Integer Laplace",
            ],
        ),
        (
            "A",
            "{ summary = \"t.csv\" }",
            &[
                "there is no column `column` in t.csv",
                "s.toml:7:",
                "summarize()",
            ],
        ),
        (
            "A",
            "{ summary = \"none.csv\" }",
            &["none.csv", "s.toml:7:"],
        ),
        (
            "A",
            "{ mechanism = \"geometric\" }",
            &["needs `scale`", "s.toml:7:"],
        ),
        (
            "A",
            "{ mechanism = \"geometrical\", scale = 3 }",
            &["geometrical", "s.toml:7:"],
        ),
        (
            "A",
            "{ mechanism = \"laplace\", scale = -3 }",
            &[
                "the scale is -3; it must be a finite number above zero",
                "s.toml:7:",
            ],
        ),
        (
            "A",
            "{ summary = \"summary.csv\", scale = 3 }",
            &["scale", "s.toml:7:"],
        ),
    ] {
        std::fs::write(path.join("s.toml"), study(value, variance)).unwrap();
        let output = quadrat(path, &["run", "s.toml", "-o", "out"]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{variance}: {text}");
        for part in expected {
            assert!(text.contains(part), "{variance}: no `{part}` in\n{text}");
        }
    }
    std::fs::write(path.join("summary.csv"), SUMMARY.replace("10.0", "ten")).unwrap();
    std::fs::write(
        path.join("s.toml"),
        study("len", "{ summary = \"summary.csv\" }"),
    )
    .unwrap();
    let text = stderr(&quadrat(path, &["run", "s.toml", "-o", "out"]));
    assert!(
        text.contains("`ten` is not a number") && text.contains("summary.csv:2:"),
        "{text}"
    );
}

/// Counts that were cut off at zero after the noise: 0 says "0 or less".
#[test]
fn counts_that_were_raised_to_zero_are_censored() {
    let folder = files();
    let path = folder.path();
    let text = study("len", "{ mechanism = \"geometric\", scale = 10 }")
        .replace("gaussian", "censored")
        .replace("\"len\",", "\"len\", lower = 0.5,");
    std::fs::write(path.join("s.toml"), text).unwrap();
    std::fs::write(path.join("t.csv"), TABLE.replace(",22,", ",0,")).unwrap();
    let said = done(path, &["run", "s.toml", "-o", "out"]);
    assert!(
        said.contains("5 values `len` over boxes of age, 1 below their limit"),
        "{said}"
    );
}
