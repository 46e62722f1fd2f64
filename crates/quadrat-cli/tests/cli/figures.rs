//! Which figures a run draws, and what it says of those that it leaves out.

use std::fmt::Write;
use std::path::Path;

use crate::broken_regions::{MAP, STUDY};
use crate::harness::{done, folder};

/// Fixed hyperparameters: what is drawn does not depend on how well they are learned.
fn study(kernel: &str, fixed: &[&str], support: &str, predict: &str) -> String {
    let fixed: String = fixed.iter().fold(String::new(), |mut all, name| {
        let _ = writeln!(all, "\"{name}\" = {{ value = 1, fixed = true }}");
        all
    });
    format!(
        r#"[latent]
kernel = "{kernel}"
mean = 0
[[observe]]
file = "d.csv"
support = {{ point = [{support}] }}
likelihood = {{ gaussian = {{ value = "v", variance = 0.1 }} }}
[[predict]]
name = "p"
{predict}
[hyperparameters]
{fixed}"#
    )
}

fn svg(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(format!("out/{name}.svg"))).unwrap()
}

fn has(folder: &Path, name: &str) -> bool {
    folder.join(format!("out/{name}.svg")).exists()
}

/// Rows `x,y,v` of the points of a lattice inside a circle, 10 apart.
fn masked(more: &str) -> String {
    let inside = |&(i, j): &(i32, i32)| (i - 5).pow(2) + (j - 5).pow(2) < 30;
    let all = (0..11).flat_map(|i| (0..11).map(move |j| (i, j)));
    all.filter(inside).fold(String::new(), |mut text, (i, j)| {
        let _ = writeln!(text, "{},{}{more}", 10 * i, 10 * j);
        text
    })
}

#[test]
fn points_of_a_lattice_within_a_border_are_a_map() {
    let fixed = ["se.variance", "se.lengthscale"];
    let predict = r#"support = { file = "at.csv", point = ["x", "y"] }"#;
    let study = study("se(x, y, shared = true)", &fixed, r#""x", "y""#, predict);
    let at = format!("x,y\n{}", masked(""));
    let data = b"x,y,v\n10,20,1\n50,50,2\n70,40,1.5\n";
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("d.csv", data),
        ("at.csv", at.as_bytes()),
    ]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(!said.contains("no figure"), "{said}");
    let map = svg(folder.path(), "p");
    // Predicted means and standard deviations, beside the three observed points and the two colour
    // bars.
    let points = masked("").lines().count();
    assert!(map.matches("<rect").count() >= 2 * points, "{map}");
    assert!(map.contains("Standard deviation"));
}

#[test]
fn many_rows_that_are_no_map_are_said_not_to_be_drawn() {
    let rows = (0..70).fold("a,b,c\n".to_owned(), |mut text, i| {
        let at = |step: f64| (f64::from(i) * step).fract();
        let _ = writeln!(text, "{},{},{}", at(0.754_9), at(0.569_8), at(0.618_0));
        text
    });
    let predict = r#"support = { file = "at.csv", point = ["a", "b", "c"] }"#;
    let fixed = [
        "se.variance",
        "se.lengthscale.a",
        "se.lengthscale.b",
        "se.lengthscale.c",
    ];
    let study = study("se(a, b, c)", &fixed, r#""a", "b", "c""#, predict);
    let data = b"a,b,c,v\n0,0,0,1\n0.5,0.5,0.1,2\n0.9,0.1,0.4,1.5\n";
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("d.csv", data),
        ("at.csv", rows.as_bytes()),
    ]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let words = "its rows lie neither along one input nor on a map of two, and a list shows at most 60 rows of its 70";
    assert!(
        said.contains(&format!("no figure of `p`: {words}")),
        "{said}"
    );
    assert!(!has(folder.path(), "p"));
    let report = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(report.contains("Not drawn") && report.contains(&format!("no figure of p: {words}")));
}

#[test]
fn a_covariate_takes_no_axis_from_time_and_limits_are_drawn() {
    let rows = (0..20).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "{i},{},{}", (f64::from(i) * 0.754_9).fract(), i % 3);
        text
    });
    let fixed = ["se.variance", "se.lengthscale.t", "linear.variance"];
    let predict = "support = { file = \"d.csv\", point = [\"t\", \"rain\"] }\nabove = 1.5";
    let study = study("se(t) + linear(rain)", &fixed, r#""t", "rain""#, predict);
    let data = format!("t,rain,v\n{rows}");
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", data.as_bytes())]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let curve = svg(folder.path(), "p");
    assert!(!curve.contains("rain 0"), "{curve}");
    for words in ["Limit 1.5", "P(p &gt; 1.5)", "Observed", "Predicted mean"] {
        assert!(curve.contains(words), "{words}");
    }
}

#[test]
fn neighbours_on_an_axis_and_numbers_in_the_summary_can_be_told_apart() {
    let fixed = ["se.variance", "se.lengthscale.t"];
    let predict = "support = { grid = { t = { from = 1700000000, to = 1700000014, step = 1 } } }";
    let study = study("se(t)", &fixed, r#""t""#, predict);
    let study = study.replace("mean = 0", "mean = 1000000000");
    let data = b"t,v\n1700000000,1000000001.25\n1700000007,999999999.5\n1700000014,1000000000\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", data)]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let curve = svg(folder.path(), "p");
    for label in ["1,700,000,004", "1,700,000,008", "1,000,000,001"] {
        assert!(curve.contains(&format!(">{label}<")), "{label}: {curve}");
    }
    let row = said
        .lines()
        .find(|line| line.trim_start().starts_with("1700000000 "));
    let numbers: Vec<&str> = row.unwrap().split_whitespace().collect();
    // Mean, lower and upper end beside an sd of about 0.3.
    assert!(
        numbers[1] != numbers[3] && numbers[3] != numbers[5],
        "{numbers:?}"
    );
    assert!(numbers[1].starts_with("1,000,000,001."), "{numbers:?}");
}

/// The study of three regions with a further input of every row.
fn regions(input: &str, rows: &str) -> tempfile::TempDir {
    let study = STUDY
        .replace("se(x, y)", &format!("se(x, y) + se({input})"))
        .replace("planar = true } }", &format!("planar = true }}, point = [\"{input}\"] }}"))
        .replace(
            "support = { region = { file = \"map.geojson\", dims",
            "support = { file = \"cases.csv\", region = { file = \"map.geojson\", key = \"id\", dims",
        )
        .replace("name = \"again\"", "name = \"again\"\nabove = 5");
    let rows = format!("{input},id,cases\n{rows}");
    let files: [(&str, &[u8]); 3] = [
        ("s.toml", study.as_bytes()),
        ("map.geojson", MAP.as_bytes()),
        ("cases.csv", rows.as_bytes()),
    ];
    folder(&files)
}

#[test]
fn a_covariate_of_regions_cuts_no_map_and_years_do() {
    let covariate = regions("farming", "0.1,a,5\n0.4,b,7\n0.2,c,6\n");
    done(covariate.path(), &["run", "s.toml", "-o", "out"]);
    let map = svg(covariate.path(), "again");
    assert!(!has(covariate.path(), "again-1"));
    // Observed, mean, sd and probability of three regions each.
    assert_eq!(map.matches("<path fill-rule").count(), 12, "{map}");
    assert!(map.contains("P(again &gt; 5)"));
    let years = regions("year", "1,b,7\n1,a,5\n2,c,6\n2,a,4\n");
    done(years.path(), &["run", "s.toml", "-o", "out"]);
    assert!(svg(years.path(), "again-2").contains("again: year 2"));
    assert!(!has(years.path(), "again"));
    // A region in more years than there are maps.
    let many = (1..9).fold(String::new(), |mut text, year| {
        let _ = writeln!(text, "{year},a,5\n{year},b,6");
        text
    });
    let many = regions("year", &many);
    let said = done(many.path(), &["run", "s.toml", "-o", "out"]);
    let words =
        "no map of `again`: it would be 8 maps, and 6 are drawn at most; its rows are a list";
    assert!(said.contains(words), "{said}");
    assert!(has(many.path(), "again") && has(many.path(), "again-above_5"));
}
