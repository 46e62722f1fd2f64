//! `quadrat density` of two columns, and of groups.

use crate::density::rows;
use crate::harness::{done, folder, quadrat, stderr};

/// Two columns that hang together, by quantiles in an order that is not.
fn pairs() -> String {
    let mut out = "speed,time\n".to_owned();
    for i in 0..150_u32 {
        let p = (f64::from(i) + 0.5) / 150.0;
        let q = (f64::from(i * 67 % 150) + 0.5) / 150.0;
        let logistic = |p: f64| (p / (1.0 - p)).ln();
        let time = 10.0 - 0.8 * logistic(p) + 0.6 * logistic(q);
        out.push_str(&format!("{},{time}\n", 50.0 + 4.0 * logistic(p)));
    }
    out
}

#[test]
fn two_columns_become_a_table_a_map_and_a_picture() {
    let mut table = pairs();
    table.push_str("nan,3\n");
    let folder = folder(&[("t.csv", table.as_bytes())]);
    let columns = ["density", "t.csv", "--column", "speed", "--column", "time"];
    let mut args = columns.to_vec();
    args.extend(["--grid", "24,20", "-o", "d.csv", "--plot", "d.svg"]);
    args.extend(["--within", "-inf,50", "--within", "10,inf"]);
    let text = done(folder.path(), &args);
    for part in [
        "151 rows of `speed` (across) and `time` (up), 95 % band",
        "█",
        "mean of speed",
        "sd of time",
        "correlation",
        "probability of",
        "1 row of 151",
        "wrote d.csv",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (head, rows) = rows(&read("d.csv"));
    assert_eq!(head, "speed,time,density,lower,upper");
    assert_eq!(rows.len(), 24 * 20);
    assert!(
        rows.iter()
            .all(|r| 0.0 <= r[3] && r[3] <= r[4] && r[2] >= 0.0)
    );
    // The second column runs fastest.
    assert!(rows[0][0] == rows[19][0] && rows[0][0] < rows[20][0] && rows[0][1] < rows[1][1]);
    assert!(read("d.svg").contains("<svg"));
    let mut args = columns.to_vec();
    args.extend([
        "--grid", "20", "--json", "--bounds", "0,inf", "--bounds", "-inf,inf",
    ]);
    args.extend(["--within", "-inf,50", "--within", "10,inf"]);
    let value: serde_json::Value = serde_json::from_str(&done(folder.path(), &args)).unwrap();
    assert_eq!(value["columns"][1], "time");
    assert_eq!(value["density"].as_array().unwrap().len(), 400);
    assert_eq!(value["range"][0][0], 0.0);
    let number = |key: &str, end: &str| value[key][end].as_f64().unwrap();
    assert!(number("correlation", "upper") < -0.4);
    // Half of the rows are below 50, most of them with times above 10.
    assert!(number("within", "lower") < 0.4 && number("within", "upper") > 0.36);
}

#[test]
fn what_two_columns_cannot_be_is_refused() {
    let folder = folder(&[("t.csv", pairs().as_bytes())]);
    let two = ["--column", "speed", "--column", "time"];
    let cases: [(&[&str], &[&str]); 6] = [
        (
            &["--column", "speed", "--column", "speed"],
            &["`speed` is given twice"],
        ),
        (
            &["--column", "speed", "--grid", "20,30"],
            &["--grid speaks of two columns"],
        ),
        (
            &["--bounds", "0,inf"],
            &["--bounds is given 1 times", "in the order of the columns"],
        ),
        (
            &["--grid", "400"],
            &["the number of cells", "from 5 to 300"],
        ),
        (
            &["--bounds", "0,inf", "--bounds", "9,inf"],
            &["lies outside of the bounds 9 to inf", "t.csv", "time"],
        ),
        (
            &["--grid", "60", "--draws", "4000", "-o", "e.csv"],
            &["fewer --draws"],
        ),
    ];
    for (flags, parts) in cases {
        let mut args = vec!["density", "t.csv"];
        if !flags.contains(&"--column") {
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

#[test]
fn groups_are_told_apart() {
    let mut table = "speed,road\n".to_owned();
    for i in 0..80_u32 {
        let p = (f64::from(i) + 0.5) / 80.0;
        let logistic = (p / (1.0 - p)).ln();
        table.push_str(&format!(
            "{},old\n{},new\n",
            50.0 + 4.0 * logistic,
            60.0 + 2.0 * logistic
        ));
    }
    let folder = folder(&[("t.csv", table.as_bytes())]);
    let columns = ["density", "t.csv", "--column", "speed", "--group", "road"];
    let mut args = columns.to_vec();
    args.extend(["--grid", "50", "-o", "d.csv", "--plot", "d.svg"]);
    let text = done(folder.path(), &args);
    for part in [
        "160 rows of `speed` in 2 groups of `road`, 95 % intervals",
        "old: 80 rows, median 50",
        "new: 80 rows, median 60",
        "old less new: median -",
        "larger with probability 0.000",
        "wrote d.csv",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let table = read("d.csv");
    assert!(
        table.starts_with("road,speed,density,lower,upper\nold,"),
        "{table}"
    );
    assert_eq!(
        table
            .lines()
            .filter(|line| line.starts_with("new,"))
            .count(),
        50
    );
    // Violins side by side; a page has the difference besides.
    let svg = read("d.svg");
    for part in ["Density of speed by road", ">old<", ">new<", "Quartiles"] {
        assert!(svg.contains(part), "no `{part}`");
    }
    assert!(!svg.contains("old less new"));
    let mut args = columns.to_vec();
    args.extend(["--grid", "50", "--quiet", "--plot", "d.html"]);
    done(folder.path(), &args);
    let page = read("d.html");
    assert!(page.contains("data-figure=\"violins\"") && page.contains("old less new"));
    let mut args = columns.to_vec();
    args.push("--json");
    let value: serde_json::Value = serde_json::from_str(&done(folder.path(), &args)).unwrap();
    assert_eq!(value["groups"][1]["group"], "new");
    let difference = &value["differences"][0];
    assert_eq!(
        (&difference["of"], &difference["less"]),
        (&"old".into(), &"new".into())
    );
    // Medians differ by ten.
    let end = |end: &str| difference["median"][end].as_f64().unwrap();
    assert!(end("lower") < -10.0 && end("upper") > -10.0);
    let mut args = columns.to_vec();
    args.extend(["--column", "road"]);
    let out = quadrat(folder.path(), &args);
    assert!(!out.status.success(), "{}", stderr(&out));
    let mut args = columns.to_vec();
    args[5] = "speed";
    let out = quadrat(folder.path(), &args);
    assert!(stderr(&out).contains("has 160 groups"), "{}", stderr(&out));
}
