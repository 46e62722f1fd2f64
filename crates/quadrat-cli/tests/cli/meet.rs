//! `meet` in `[[predict]]`: tables and draws that add up to given totals, and what is refused.

use std::path::Path;

use crate::harness::{column, done, folder, quadrat, stderr};

const SURVEY: &str = "x,income\n0.5,21\n1.5,24\n2.2,26\n3.4,25\n4.6,31\n5.5,33\n6.3,30\n7.7,28\n";
const COUNTS: &str =
    "x,cases,people\n0.5,12,1200\n1.5,15,800\n3.5,<5,600\n4.5,9,900\n6.5,11,700\n7.5,14,1000\n";
const DISTRICTS: &str = "district,province,x,people,year\nAsh,north,0.5,120,1\nBeech,north,1.5,80,2\nCedar,north,2.5,150,1\nElm,north,3.5,60,2\nFir,south,4.5,90,1\nHazel,south,5.5,110,2\nLarch,south,6.5,70,1\nMaple,south,7.5,100,2\nOak,isle,8,5,1\n";
const TOTALS: &str = "province,total\nsouth,11500\nnorth,9900\n";

/// A study of incomes, or of counts, with these keys of the prediction.
fn study(likelihood: &str, keys: &str) -> String {
    format!(
        "[latent]\nkernel = \"matern32(x)\"\n[[observe]]\nfile = \"rows.csv\"\nsupport = {{ point = [\"x\"] }}\nlikelihood = {{ {likelihood} }}\n[[predict]]\nname = \"p\"\nsupport = {{ file = \"districts.csv\", point = [\"x\"] }}\n{keys}\n[inference]\nhyperparameters = \"map\"\n"
    )
}

const INCOMES: &str = "gaussian = { value = \"income\" }";
const CASES: &str = "poisson = { count = \"cases\", exposure = \"people\" }";

fn files(study: &str, rows: &str, totals: &str) -> tempfile::TempDir {
    folder(&[
        ("s.toml", study.as_bytes()),
        ("rows.csv", rows.as_bytes()),
        ("districts.csv", DISTRICTS.as_bytes()),
        ("totals.csv", totals.as_bytes()),
    ])
}

/// What a study that is refused says.
fn refused(path: &Path) -> String {
    let output = quadrat(path, &["run", "s.toml", "-o", "out"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    stderr(&output)
}

/// The sum of some rows of a column, weighted.
fn sum(path: &Path, name: &str, rows: std::ops::Range<usize>, weights: &[f64]) -> f64 {
    let values = column(path, "p", name);
    rows.map(|row| values[row] * weights[row]).sum()
}

#[test]
fn weighted_sums_of_values_and_draws_meet_the_totals() {
    let keys = "draws = 4\nabove = 25\nmeet = { file = \"totals.csv\", by = \"province\", value = \"total\", weight = \"people\" }";
    let folder = files(&study(INCOMES, keys), SURVEY, TOTALS);
    let path = folder.path();
    let said = done(path, &["run", "s.toml", "-o", "out"]);
    assert!(
        said.contains("has no total in totals.csv") && said.contains("isle"),
        "{said}"
    );
    let people = [120.0, 80.0, 150.0, 60.0, 90.0, 110.0, 70.0, 100.0, 5.0];
    for name in ["mean", "draw_1", "draw_2", "draw_3", "draw_4"] {
        let (north, south) = (
            sum(path, name, 0..4, &people),
            sum(path, name, 4..8, &people),
        );
        // Cells of a table have ten digits or more.
        assert!((north / 9900.0 - 1.0).abs() < 1e-9, "{name} {north}");
        assert!((south / 11500.0 - 1.0).abs() < 1e-9, "{name} {south}");
    }
    let (lower, upper) = (column(path, "p", "lower"), column(path, "p", "upper"));
    let (mean, above) = (column(path, "p", "mean"), column(path, "p", "above_25"));
    for row in 0..9 {
        assert!(lower[row] < mean[row] && mean[row] < upper[row]);
        assert_eq!(above[row] > 0.5, mean[row] > 25.0);
    }
}

#[test]
fn counts_at_an_exposure_meet_totals_by_several_columns() {
    let keys = "exposure = \"people\"\ndraws = 3\nmeet = { file = \"totals.csv\", by = [\"province\", \"year\"], value = \"total\" }";
    let totals = "year,province,total\n1,north,4\n2.0,north,0\n1,south,2\n2,south,60\n";
    let folder = files(&study(CASES, keys), COUNTS, totals);
    let path = folder.path();
    let said = done(path, &["run", "s.toml", "-o", "out"]);
    assert!(
        said.contains("standard deviations from what the rows say"),
        "{said}"
    );
    let one = |rows: [usize; 2]| {
        let each = ["mean", "draw_1", "draw_2", "draw_3"];
        each.map(|name| {
            let values = column(path, "p", name);
            values[rows[0]] + values[rows[1]]
        })
    };
    for (rows, total) in [([0, 2], 4.0), ([4, 6], 2.0), ([5, 7], 60.0)] {
        let sums = one(rows);
        assert!(
            sums.iter().all(|sum| (sum / total - 1.0).abs() < 1e-9),
            "{sums:?}"
        );
    }
    assert_eq!(one([1, 3]), [0.0; 4]);
    assert_eq!(column(path, "p", "upper")[1], 0.0);
}

/// What is wrong is refused where it stands, and nothing is written.
#[test]
fn what_cannot_be_met_is_refused_at_its_place() {
    let meet = |more: &str| {
        format!("meet = {{ file = \"totals.csv\", by = \"province\", value = \"total\"{more} }}")
    };
    let plain = meet("");
    let weighted = meet(", weight = \"people\"");
    let rate = format!("exposure = \"people\"\n{plain}");
    let with = |keys: &str| format!("{keys}\n{plain}");
    let cases: Vec<(&str, String, &str, &[&str])> = vec![
        (
            CASES,
            plain.clone(),
            TOTALS,
            &["rates add up to nothing", "s.toml:10"],
        ),
        (
            INCOMES,
            with("scale = \"latent\""),
            TOTALS,
            &["`meet` is of the scale `response`"],
        ),
        (
            INCOMES,
            with("scale = \"observation\""),
            TOTALS,
            &["scatter"],
        ),
        (
            INCOMES,
            with("non_negative = true"),
            TOTALS,
            &["non_negative"],
        ),
        (
            INCOMES,
            plain.replace("value", "vale"),
            TOTALS,
            &["did you mean `value`?", "needs `value`"],
        ),
        (
            INCOMES,
            plain.replace("\"province\"", "[]"),
            TOTALS,
            &["`by` names no column"],
        ),
        (
            INCOMES,
            plain.replace("\"province\"", "\"county\""),
            TOTALS,
            &["county"],
        ),
        (
            INCOMES,
            meet(", variance = -1"),
            TOTALS,
            &["must not be negative"],
        ),
        (
            INCOMES,
            weighted.replace("people", "persons"),
            TOTALS,
            &["persons"],
        ),
        (
            INCOMES,
            plain.clone(),
            "province,total\nnorth,1\neast,2\n",
            &["no row of districts.csv is of `east`", "totals.csv:3"],
        ),
        (
            INCOMES,
            plain.clone(),
            "province,total\nnorth,1\nnorth,2\n",
            &["has a total already, at totals.csv:2", "totals.csv:3"],
        ),
        (
            INCOMES,
            plain.clone(),
            "province,total\nnorth,\n",
            &["the cell is empty", "totals.csv:2"],
        ),
        (
            CASES,
            rate.clone(),
            "province,total\nnorth,-3\n",
            &["never negative", "totals.csv:2"],
        ),
        (
            CASES,
            rate.replace("\"total\"", "\"total\", variance = 2"),
            TOTALS,
            &["without a `variance`"],
        ),
        (
            "bernoulli = { value = \"yes\" }",
            plain.clone(),
            TOTALS,
            &["probabilities meet no totals"],
        ),
        (
            "ordinal = { rank = \"rank\" }",
            plain.clone(),
            TOTALS,
            &["has no unit"],
        ),
        (
            "gaussian = { value = \"income\", variance = 0 }",
            plain.clone(),
            "province,total\nisle,20\nnorth,99\n",
            &[],
        ),
    ];
    for (likelihood, keys, totals, wanted) in cases {
        let rows = match likelihood {
            CASES => COUNTS.to_owned(),
            _ => {
                let more = |(i, line): (usize, &str)| match i {
                    0 => format!("{line},yes,rank\n"),
                    _ => format!("{line},{},{}\n", i % 2, 1 + i % 3),
                };
                SURVEY.lines().enumerate().map(more).collect()
            }
        };
        let folder = files(&study(likelihood, &keys), &rows, totals);
        if wanted.is_empty() {
            done(folder.path(), &["run", "s.toml", "-o", "out"]);
            continue;
        }
        let said = refused(folder.path());
        for part in wanted {
            assert!(said.contains(part), "{keys}\n{part}\n{said}");
        }
        assert!(!folder.path().join("out").join("p.csv").exists());
    }
}

/// Exact rows that are predicted again, in a group with another total.
#[test]
fn a_total_that_exact_rows_contradict_is_refused_with_both_numbers() {
    let keys = "meet = { file = \"totals.csv\", by = \"province\", value = \"total\" }";
    let exact = "x,income\n0.5,21\n1.5,24\n2.5,26\n3.5,25\n4.6,31\n7.7,28\n";
    let likelihood = "gaussian = { value = \"income\", variance = 0 }";
    for (likelihood, link) in [
        (likelihood.to_owned(), "no link"),
        (likelihood.replace("0 }", "0, link = \"exp\" }"), "exp"),
    ] {
        let totals = "province,total\nsouth,120\nnorth,97\n";
        let folder = files(&study(&likelihood, keys), exact, totals);
        let said = refused(folder.path());
        assert!(said.contains("`north` is given as 97"), "{link}: {said}");
        assert!(
            said.contains(": 96") && said.contains("totals.csv:3"),
            "{link}: {said}"
        );
        let folder = files(
            &study(&likelihood, keys),
            exact,
            "province,total\nnorth,96\nsouth,120\n",
        );
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        let values = column(folder.path(), "p", "mean");
        let south: f64 = values[4..8].iter().sum();
        assert!((south / 120.0 - 1.0).abs() < 1e-9, "{link}: {south}");
        assert!((values[0] - 21.0).abs() < 1e-5, "{link}: {}", values[0]);
    }
}
