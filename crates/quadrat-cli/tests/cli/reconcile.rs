//! `quadrat reconcile`: what it writes, says and refuses.

use serde_json::Value;

use crate::harness::{done, folder, names, quadrat, stderr};

const AREAS: &str = "area,within,people,variance\nall,,100,1\na,all,60,2\nb,all,30,2\n";

const ASKED: [&str; 10] = [
    "reconcile",
    "t.csv",
    "--area",
    "area",
    "--within",
    "within",
    "--value",
    "people",
    "--variance",
    "variance",
];

fn answer(table: &str, more: &[&str]) -> (tempfile::TempDir, String) {
    let folder = folder(&[("t.csv", table.as_bytes())]);
    let told = done(folder.path(), &[&ASKED[..], more].concat());
    (folder, told)
}

fn numbers(text: &str, column: usize) -> Vec<f64> {
    let cells = text.lines().skip(1);
    let cells = cells.map(|line| line.split(',').nth(column).unwrap().parse());
    cells.map(|cell| cell.unwrap_or(f64::NAN)).collect()
}

#[test]
fn a_gap_is_shared_by_variances() {
    let (folder, told) = answer(AREAS, &["-o", "out.csv", "--draws", "2", "--level", "0.9"]);
    let text = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
    assert!(
        text.starts_with("area,within,mean,sd,lower,median,upper,draw_1,draw_2\nall,,"),
        "{text}"
    );
    // The gap of 10 has variance 5, of which the total has a fifth.
    let close = |got: Vec<f64>, wanted: [f64; 3]| {
        let error = |(a, b): (&f64, &f64)| (a - b).abs();
        // Roundings of numbers of a hundred.
        assert!(
            got.iter().zip(&wanted).map(error).all(|e| e < 1e-12),
            "{got:?}"
        );
    };
    close(numbers(&text, 2), [98.0, 64.0, 34.0]);
    // Of a part: 2 (1 - 1/2) + 0.8 / 4.
    close(
        numbers(&text, 3),
        [0.8_f64.sqrt(), 1.2_f64.sqrt(), 1.2_f64.sqrt()],
    );
    for draw in [7, 8] {
        let drawn = numbers(&text, draw);
        assert!((drawn[1] + drawn[2] - drawn[0]).abs() < 1e-10);
    }
    for part in [
        "3 areas of t.csv",
        "chi-square 20 of 1",
        "differ more",
        "wrote out.csv",
    ] {
        assert!(told.contains(part), "no `{part}` in\n{told}");
    }
    let (_keep, json) = answer(AREAS, &["--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["areas"].as_u64(), json["degrees"].as_u64()),
        (Some(3), Some(1))
    );
    // 10^2 / 5.
    assert!((json["chi_square"].as_f64().unwrap() - 20.0).abs() < 1e-12);
}

#[test]
fn what_is_not_measured_is_what_is_left_or_empty() {
    let table = "area,within,people,variance\nall,,100,1\na,all,60,2\nb,all,,\nc,b,5,1\nd,b,,\ne,a,,\nf,a,,\n";
    let (folder, told) = answer(table, &["-o", "out.csv"]);
    let text = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
    let means = numbers(&text, 2);
    assert!(
        (means[2] - 40.0).abs() < 1e-12 && (means[4] - 35.0).abs() < 1e-12,
        "{text}"
    );
    assert!(text.contains("\ne,a,,,,,\n"), "{text}");
    assert!(told.contains("nothing tells 2 areas"), "{told}");
}

#[test]
fn every_combination_of_by_is_a_tree_and_one_variance_may_be_of_all() {
    let table = "sex,area,within,people\nw,all,,100\nw,a,all,60\nw,b,all,30\nm,all,,50\nm,a,all,20\nm,b,all,30\n";
    let folder = folder(&[("t.csv", table.as_bytes())]);
    let mut asked = ASKED.to_vec();
    asked[9] = "2";
    asked.extend(["--by", "sex", "-o", "out.csv"]);
    done(folder.path(), &asked);
    let text = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
    assert!(text.starts_with("sex,area,within,mean"), "{text}");
    let means = numbers(&text, 3);
    // Roundings.
    assert!((means[1] + means[2] - means[0]).abs() < 1e-12);
    // Those of men add up already.
    for (mean, wanted) in means[3..].iter().zip([50.0, 20.0, 30.0]) {
        assert!((mean - wanted).abs() < 1e-12, "{text}");
    }
}

#[rustfmt::skip]
const REFUSED: &[(&str, &str, &[&str], &[&str])] = &[
    ("contradiction", "area,within,people,variance\nall,,100,0\na,all,60,0\nb,all,30,0\n", &[], &["`all` is exactly 100, and its parts, which are exact too, add up to 90: `a` (t.csv:3), `b` (t.csv:4)", "t.csv:2:6 (column `people`)"]),
    ("twice", "area,within,people,variance\nall,,100,0\nall,,101,0\n", &[], &["the area is exactly 101, and by t.csv:2 exactly 100", "t.csv:3:6"]),
    ("no parent", "area,within,people,variance\nall,,100,1\na,al,60,2\n", &[], &["no row is of the area `al`; did you mean `all`?", "t.csv:3:3 (column `within`)"]),
    ("circle", "area,within,people,variance\na,b,100,1\nb,a,60,2\n", &[], &["lies within itself", "column `within`"]),
    ("itself", "area,within,people,variance\na,a,100,1\n", &[], &["`a` lies within itself"]),
    ("two parents", "area,within,people,variance\nall,,1,1\nb,all,1,1\na,all,1,1\na,b,1,1\n", &[], &["`a` lies within `b`, and by t.csv:4 within `all`", "t.csv:5:3"]),
    ("no variance", "area,within,people,variance\nall,,100,\n", &[], &["a value without a variance", "t.csv:2:10 (column `variance`)"]),
    ("negative", "area,within,people,variance\nall,,100,-1\n", &[], &["the variance is -1; it must be zero or more", "t.csv:2:10"]),
    ("text", "area,within,people,variance\nall,,many,1\n", &[], &["`many` is not a number", "t.csv:2:6"]),
    ("nothing", "area,within,people,variance\nall,,,1\n", &[], &["no area was measured"]),
    ("empty", "area,within,people,variance\n,,5,1\n", &[], &["the area of a row is empty", "t.csv:2:1"]),
    ("column", "area,within,count,variance\nall,,5,1\n", &[], &["there is no column `people`"]),
    ("draws", "area,within,people,variance\nall,,5,1\na,all,,\nb,all,,\n", &["--draws", "2"], &["nothing tells `a`, so it cannot be drawn", "t.csv:3:1"]),
    ("name", "mean,within,people,variance\nall,,5,1\n", &["--area", "mean"], &["two columns named `mean`"]),
    ("over", "area,within,people,variance\nall,,5,1\n", &["-o", "t.csv"], &["would replace the table that is read"]),
];

#[test]
fn what_cannot_be_reconciled_is_refused_with_its_rows() {
    for (name, table, more, expected) in REFUSED {
        let folder = folder(&[("t.csv", table.as_bytes())]);
        let mut asked = ASKED.to_vec();
        for pair in more.chunks(2) {
            match asked.iter().position(|word| *word == pair[0]) {
                Some(at) => asked[at + 1] = pair[1],
                None => asked.extend(pair),
            }
        }
        if !more.contains(&"-o") {
            asked.extend(["-o", "out.csv"]);
        }
        let output = quadrat(folder.path(), &asked);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {text}");
        for part in *expected {
            assert!(text.contains(part), "{name}: no `{part}` in\n{text}");
        }
        assert_eq!(names(folder.path()), ["t.csv"], "{name}");
    }
}
