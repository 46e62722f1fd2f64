//! `quadrat density --given`.

use crate::density::rows;
use crate::harness::{done, folder, quadrat, stderr};

/// A wave that widens, over 25 places, with a row that is not finite.
fn wave() -> String {
    let mut out = "place,value\nnan,3\n".to_owned();
    for i in 0..200_u32 {
        let x = f64::from(i % 25) / 4.0;
        let p = (f64::from(i * 67 % 200) + 0.5) / 200.0;
        let logistic = (p / (1.0 - p)).ln();
        let value = 10.0 + 3.0 * x.sin() + (0.2 + 0.05 * x) * logistic;
        out.push_str(&format!("{x},{value}\n"));
    }
    out
}

const COLUMNS: [&str; 6] = ["density", "t.csv", "--column", "value", "--given", "place"];

#[test]
fn a_column_given_another_becomes_a_table_a_map_and_a_picture() {
    let folder = folder(&[("t.csv", wave().as_bytes())]);
    let mut args = COLUMNS.to_vec();
    args.extend(["--grid", "12,30", "-o", "d.csv", "--plot", "d.svg"]);
    args.extend(["--within", "10,inf", "--draws", "3"]);
    let text = done(folder.path(), &args);
    for part in [
        "201 rows of `value` (up) given `place` (across), 95 % band",
        "█",
        "at each place the smallest regions",
        "median of value",
        "90 % of value",
        "probability of 10 to inf",
        "1 row of 201",
        "wrote d.csv",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (head, rows) = rows(&read("d.csv"));
    assert_eq!(head, "place,value,density,lower,upper,draw_1,draw_2,draw_3");
    assert_eq!(rows.len(), 12 * 30);
    assert!(
        rows.iter()
            .all(|r| 0.0 <= r[3] && r[3] <= r[4] && r[2] >= 0.0 && r[5] >= 0.0)
    );
    // The values run fastest.
    assert!(rows[0][0] == rows[29][0] && rows[0][0] < rows[30][0] && rows[0][1] < rows[1][1]);
    assert!(read("d.svg").contains("<svg"));
    let mut args = COLUMNS.to_vec();
    args.extend([
        "--grid", "12,40", "--json", "--bounds", "0,inf", "--plot", "d.html",
    ]);
    let value: serde_json::Value = serde_json::from_str(&done(folder.path(), &args)).unwrap();
    assert_eq!(
        (&value["given"], &value["column"]),
        (&"place".into(), &"value".into())
    );
    assert_eq!(value["density"].as_array().unwrap().len(), 12 * 40);
    assert_eq!(value["range"][0], serde_json::json!([0.0, 6.0]));
    assert_eq!(value["range"][1][0], 0.0);
    // The third of the slices, about 1.25, holds the top of the wave.
    let median = &value["quantiles"][2];
    let at = |key: &str| median[key][2].as_f64().unwrap();
    let truth = 10.0 + 3.0 * 1.25_f64.sin();
    assert!(at("lower") < truth && at("upper") > truth, "{median}");
    let sum: f64 = value["slice_totals"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|t| t.as_f64())
        .sum();
    assert_eq!(sum, 200.0);
    assert_eq!(value["told"].as_array().unwrap().len(), 5);
    let page = read("d.html");
    assert!(page.contains("Quantiles of value given place"));
}

#[test]
fn logarithms_and_weights_are_taken() {
    let mut table = "size,cost,n\n".to_owned();
    for i in 0..60_u32 {
        let x = f64::from(i % 6);
        let spread = f64::from(i * 7 % 60) / 30.0 - 1.0;
        table.push_str(&format!("{x},{},{}\n", (0.5 * x + spread).exp(), 1 + i % 3));
    }
    let folder = folder(&[("t.csv", table.as_bytes())]);
    let mut args = vec!["density", "t.csv", "--column", "cost", "--given", "size"];
    args.extend([
        "--grid",
        "6,30",
        "--log",
        "--weights",
        "n",
        "--json",
        "--correct",
        "none",
    ]);
    let value: serde_json::Value = serde_json::from_str(&done(folder.path(), &args)).unwrap();
    assert_eq!(value["total"], 120.0);
    assert!(value["range"][1][0].as_f64().unwrap() > 0.0);
    assert_eq!(value["is_weighted"], false);
}

#[test]
fn what_cannot_be_given_is_refused() {
    let table = wave().replacen("nan,3", "0,3", 1);
    let constant: String = table
        .lines()
        .map(|line| {
            format!(
                "{line},{}\n",
                if line.starts_with('p') { "same" } else { "7" }
            )
        })
        .collect();
    let folder = folder(&[("t.csv", constant.as_bytes())]);
    let two = ["--column", "value", "--given", "place"];
    let cases: [(&[&str], &[&str]); 11] = [
        (
            &["--given", "place"],
            &["which column is wanted, given `place`", "one --column"],
        ),
        (
            &["--given", "place", "--column", "place"],
            &["`place` is given twice"],
        ),
        (
            &["--given", "place", "--column", "value", "--column", "same"],
            &["--column is given 2 times"],
        ),
        (
            &["--given", "nowhere", "--column", "value"],
            &["nowhere", "t.csv"],
        ),
        (
            &["--given", "same", "--column", "value"],
            &["rows have 7 in the given column", "leave --given out"],
        ),
        (
            &["--given", "place", "--column", "same"],
            &["column `same`", "a constant has no density"],
        ),
        (
            &["--bounds", "0,inf", "--bounds", "0,inf"],
            &[
                "--bounds is given 2 times",
                "speaks of the values of --column",
            ],
        ),
        (
            &["--bounds", "9,inf"],
            &["lies outside of the bounds 9 to inf", "t.csv", "value"],
        ),
        (
            &["--grid", "400,20"],
            &["the number of cells", "from 5 to 300"],
        ),
        (&["--group", "none"], &["there is no column `none`"]),
        (
            &["--grid", "100,100", "--draws", "4000", "-o", "e.csv"],
            &["fewer --draws"],
        ),
    ];
    for (flags, parts) in cases {
        let mut args = vec!["density", "t.csv"];
        if !flags.contains(&"--given") {
            args.extend(two);
        }
        args.extend(flags);
        let out = quadrat(folder.path(), &args);
        assert!(!out.status.success(), "{args:?}");
        let said = stderr(&out);
        assert!(
            parts.iter().all(|part| said.contains(part)),
            "{args:?}: {said}"
        );
    }
}

/// Two groups of which the second rises.
#[test]
fn groups_have_densities_of_their_own_at_every_place() {
    let mut table = "place,value,side\n".to_owned();
    for i in 0..240_u32 {
        let x = f64::from(i % 40) / 4.0;
        let p = (f64::from(i * 67 % 240) + 0.5) / 240.0;
        let logistic = (p / (1.0 - p)).ln();
        let (side, value) = match i % 2 {
            0 => ("flat", 10.0 + logistic),
            _ => ("steep", 10.0 + 2.0 * x + logistic),
        };
        table.push_str(&format!("{x},{value},{side}\n"));
    }
    let folder = folder(&[("t.csv", table.as_bytes())]);
    let mut args = COLUMNS.to_vec();
    args.extend(["--group", "side", "--grid", "10,30"]);
    let base = args.clone();
    args.extend(["-o", "d.csv", "--plot", "d.html"]);
    let text = done(folder.path(), &args);
    for part in [
        "240 rows of `value` given `place` in 2 groups of `side`, 95 % intervals",
        "flat: 120 rows",
        "steep: 120 rows",
        "median of value",
        "flat less steep: median of value ",
        "wrote d.csv",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let written = read("d.csv");
    assert!(written.starts_with("side,place,value,density,lower,upper\nflat,"));
    let of = |name: &str| written.lines().filter(|l| l.starts_with(name)).count();
    assert_eq!((of("flat,"), of("steep,"), of("side,")), (300, 300, 1));
    let page = read("d.html");
    for part in [
        "data-figure=\"quantiles\"",
        "data-figure=\"density-2\"",
        "flat less steep",
    ] {
        assert!(page.contains(part), "no `{part}`");
    }
    let mut args = base;
    args.push("--json");
    let json: serde_json::Value = serde_json::from_str(&done(folder.path(), &args)).unwrap();
    assert_eq!(json["groups"][1]["group"], "steep");
    let difference = &json["differences"][0];
    let last = |key: &str| {
        difference[key]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .as_f64()
            .unwrap()
    };
    // At the last place, 9.75, medians differ by 19.5; the spread of the values is 1.8.
    assert!(
        last("lower") < -19.0 && last("upper") > -20.5 && last("larger") < 0.001,
        "{}",
        last("median")
    );
    let first = |key: &str| difference[key][0].as_f64().unwrap();
    assert!(
        first("lower") < 0.5 && first("upper") > -2.5,
        "{}",
        first("median")
    );
}
