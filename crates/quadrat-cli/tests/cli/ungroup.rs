//! `quadrat ungroup`: what it writes, says and refuses.

use crate::density::rows;
use crate::harness::{done, folder, names, none, quadrat, stderr, stdout};

/// People of the United States in 2020 by ten-year bands, in thousands, the last one open.
const BANDS: &str = "from,to,people\n0,10,45578\n10,20,45125\n20,30,44748\n30,40,45697\n40,50,41580\n50,60,42845\n60,70,38869\n70,80,24108\n80,90,10057\n90,,2712\n";

const COLUMNS: [&str; 7] = [
    "t.csv", "--lower", "from", "--upper", "to", "--count", "people",
];

pub fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let all = ["ungroup"].into_iter().chain(COLUMNS);
    all.chain(more.iter().copied()).collect()
}

#[test]
fn bands_become_single_years() {
    let folder = folder(&[("t.csv", BANDS.as_bytes())]);
    let text = done(
        folder.path(),
        &with(&["-o", "years.csv", "--plot", "years.svg", "--draws", "20"]),
    );
    for part in [
        "10 bands of `people`",
        "110 steps",
        "above 90 counts fall as ages do (Gompertz), up to 110",
        "median",
        "mean",
        "wrote years.csv",
        "wrote years.svg",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert_eq!(names(folder.path()), ["t.csv", "years.csv", "years.svg"]);
    let read = std::fs::read_to_string(folder.path().join("years.csv")).unwrap();
    let (head, table) = rows(&read);
    let start = "from,to,mean,sd,lower,median,upper,draw_1,draw_2,";
    assert!(head.starts_with(start), "{head}");
    assert_eq!(table.len(), 110);
    let (_, bands) = rows(&BANDS.replace("90,,", "90,110,"));
    for band in bands {
        let own = || table.iter().filter(|r| r[0] >= band[0] && r[1] <= band[1]);
        for column in std::iter::once(2).chain(7..27) {
            let total: f64 = own().map(|r| r[column]).sum();
            // What every draw holds, and so their mean.
            assert!((total / band[2] - 1.0).abs() < 1e-9, "{column}: {total}");
        }
        for row in own() {
            assert!(
                0.0 <= row[4] && row[4] <= row[5] && row[5] <= row[6],
                "{row:?}"
            );
            assert!(row[7..].iter().all(|x| *x >= 0.0));
        }
    }
    // The same seed, the same numbers.
    let again = done(
        folder.path(),
        &with(&["-o", "again.csv", "--draws", "20", "-q"]),
    );
    assert!(again.is_empty());
    let again = std::fs::read_to_string(folder.path().join("again.csv")).unwrap();
    assert_eq!(read, again);
}

#[test]
fn json_has_everything_and_edges_are_those_asked_for() {
    let folder = folder(&[("t.csv", BANDS.as_bytes())]);
    let text = done(folder.path(), &with(&["--json", "--edges", "0,18,65,inf"]));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let one = &value["populations"][0];
    assert_eq!(one["from"], serde_json::json!([0.0, 18.0, 65.0]));
    assert_eq!(one["to"], serde_json::json!([18.0, 65.0, null]));
    let mean: Vec<f64> = serde_json::from_value(one["mean"].clone()).unwrap();
    assert!((mean.iter().sum::<f64>() - 341_319.0).abs() < 1e-3);
    let median = one["answers"]["median"]["value"].as_f64().unwrap();
    // Between the ages that the bands allow.
    assert!((37.0..38.5).contains(&median), "{median}");
    assert_eq!(value["failed"], serde_json::json!([]));
}

/// Two regions, the rows of which are mixed; one of them without an age band.
fn regions(is_whole: bool) -> String {
    let mut out = "region,from,to,people\n".to_owned();
    for line in BANDS.lines().skip(1) {
        let half = line.rsplit_once(',').unwrap();
        out.push_str(&format!("north,{line}\n"));
        if is_whole || !line.starts_with("30") {
            out.push_str(&format!("south,{},{}\n", half.0, half.1.len() * 100));
        }
    }
    out
}

#[test]
fn populations_are_told_apart_and_one_that_fails_is_named() {
    let whole = folder(&[("t.csv", regions(true).as_bytes())]);
    let by = ["--by", "region", "-o", "o.csv"];
    let text = done(whole.path(), &with(&by));
    assert!(
        text.contains("2 populations") && text.contains("north: median"),
        "{text}"
    );
    let read = |folder: &std::path::Path| std::fs::read_to_string(folder.join("o.csv")).unwrap();
    let both = read(whole.path());
    assert!(both.starts_with("region,from,to,mean,sd,lower,median,upper\nnorth,0,1,"));
    assert_eq!(both.lines().count(), 221);

    let broken = folder(&[("t.csv", regions(false).as_bytes())]);
    let output = quadrat(broken.path(), &with(&by));
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    assert!(told.contains("`south`: nothing is told from 30"), "{told}");
    assert!(told.contains("t.csv:10:7"), "{told}");
    assert!(
        stdout(&output).contains("1 population:"),
        "{}",
        stdout(&output)
    );
    // The rest is kept, and the same as without the other.
    let kept = read(broken.path());
    assert_eq!(kept.lines().count(), 111);
    assert!(both.starts_with(&kept));
}

#[test]
fn money_has_a_pareto_tail_and_inequality() {
    let table = "from,to,households\n0,10000,900\n10000,15000,700\n15000,25000,1500\n25000,35000,1400\n35000,50000,1900\n50000,75000,2300\n75000,100000,1400\n\"100,000 and more\",,1500\n";
    let folder = folder(&[("t.csv", table.as_bytes())]);
    let args = [
        "ungroup",
        "t.csv",
        "--lower",
        "from",
        "--upper",
        "to",
        "--count",
        "households",
        "--log",
        "--sampled",
        "0.12",
        "-o",
        "o.csv",
    ];
    let text = done(folder.path(), &args);
    for part in ["as incomes do (Pareto)", "Gini", "share of the top tenth"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let read = std::fs::read_to_string(folder.path().join("o.csv")).unwrap();
    // Five parts of every closed band, and the open one.
    assert_eq!(read.lines().count(), 37);
    let last = read.lines().last().unwrap();
    assert!(
        last.starts_with("100000,inf,1500,0,1500,1500,1500"),
        "{last}"
    );
}

#[test]
fn bands_without_upper_edges_end_where_the_next_begins() {
    let table = "age,people\n0,500\n10,480\n20,470\n30,460\n40,430\n50,400\n60,330\n70,210\n80,90\n90+,20\n";
    let folder = folder(&[("t.csv", table.as_bytes())]);
    let args = [
        "ungroup", "t.csv", "--lower", "age", "--count", "people", "-o", "o.csv",
    ];
    done(folder.path(), &args);
    let read = std::fs::read_to_string(folder.path().join("o.csv")).unwrap();
    assert!(read.starts_with("age,to,mean"), "{read}");
    assert_eq!(read.lines().count(), 111);
}

#[test]
fn heaps_are_warned_of() {
    let mut years = "from,to,people\n".to_owned();
    for age in 0..80 {
        let people = if age % 5 == 0 { 900 } else { 500 };
        years.push_str(&format!("{age},{},{people}\n", age + 1));
    }
    let folder = folder(&[("t.csv", years.as_bytes())]);
    let text = done(folder.path(), &with(&["-o", "o.csv"]));
    assert!(text.contains("warning: single years are heaped"), "{text}");
    assert!(text.contains("Whipple's index  155"), "{text}");
    // Single years are given back.
    let read = std::fs::read_to_string(folder.path().join("o.csv")).unwrap();
    assert!(read.contains("\n10,11,900,0,900,900,900\n"), "{read}");
}

/// Deaths and people by bands of age, the first year of life apart.
const DEATHS: &str = "from,to,deaths,people\n0,1,50,9800\n1,5,8,39500\n5,15,11,101000\n15,25,45,99000\n25,35,70,97000\n35,45,120,99000\n45,55,290,95000\n55,65,640,82000\n65,75,1250,64000\n75,85,2200,41000\n85,,2400,14500\n";

const EVENTS: [&str; 10] = [
    "ungroup",
    "t.csv",
    "--lower",
    "from",
    "--upper",
    "to",
    "--count",
    "deaths",
    "--exposure",
    "people",
];

#[test]
fn rates_and_a_life_table_come_from_deaths_and_people() {
    let folder = folder(&[("t.csv", DEATHS.as_bytes())]);
    let more = ["--life-table", "l.csv", "-o", "o.csv", "--plot", "o.html"];
    let args = [EVENTS.as_slice(), more.as_slice()].concat();
    let text = done(folder.path(), &args);
    assert!(text.contains("110 rates with 95 % intervals"), "{text}");
    assert!(text.contains("life expectancy"), "{text}");
    assert_eq!(names(folder.path()), ["l.csv", "o.csv", "o.html", "t.csv"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (head, rates) = rows(&read("o.csv"));
    assert_eq!(head, "from,to,mean,sd,lower,median,upper");
    // Near the rate of its band where that is one year, and in the middle of a wide one.
    for (age, rate) in [(0, 50.0 / 9800.0), (50, 290.0 / 95_000.0)] {
        let own = &rates[age];
        assert!((own[2] / rate - 1.0).abs() < 0.2, "{own:?}");
        assert!(
            own[4] > 0.0 && own[4] < own[5] && own[5] < own[6],
            "{own:?}"
        );
    }
    let (head, life) = rows(&read("l.csv"));
    let start = "from,to,qx,qx_lower,qx_upper,lx,lx_lower,lx_upper,dx,";
    assert!(
        head.starts_with(start) && head.ends_with("Lx_upper,ex,ex_lower,ex_upper"),
        "{head}"
    );
    assert_eq!((life[0][5], life[109][2]), (100_000.0, 1.0));
    for row in &life {
        for column in [2, 5, 8, 11, 14] {
            assert!(
                row[column + 1] <= row[column] && row[column] <= row[column + 2],
                "{row:?}"
            );
        }
    }
    // All columns are of one table: who die are missing among the next.
    assert!(
        life.windows(2)
            .all(|p| (p[0][5] - p[0][8] - p[1][5]).abs() < 1e-6)
    );
    // Who is alive has time left, in every draw.
    assert!(life.iter().all(|row| row[15] > 0.0));
    // Nobody lives for ever, and life expectancy does not hang on where the axis ends.
    assert!(life.iter().all(|row| row[16] < 110.0));
    let far = ["--life-table", "far.csv", "--last", "130", "-q"];
    done(folder.path(), &[EVENTS.as_slice(), far.as_slice()].concat());
    let (_, far) = rows(&read("far.csv"));
    for column in 14..17 {
        assert!(
            (far[0][column] - life[0][column]).abs() < 0.5,
            "{:?}",
            far[0]
        );
    }
    // Steps that stop short begin with the same life expectancy.
    let short = ["--life-table", "s.csv", "--edges", "15,65", "-q"];
    done(
        folder.path(),
        &[EVENTS.as_slice(), short.as_slice()].concat(),
    );
    let (_, short) = rows(&read("s.csv"));
    assert!(
        (short[0][14] - life[15][14]).abs() < 0.2,
        "{short:?} {:?}",
        life[15]
    );
}

#[test]
fn rates_that_cannot_be_are_refused() {
    let mut wrong = Vec::new();
    for (from, to, place, words) in [
        (
            "50,9800",
            "50,0",
            "t.csv:2:8",
            "events and an exposure of 0",
        ),
        ("50,9800", "50,-1", "t.csv:2:8", "the exposure is -1"),
        ("50,9800", "0.5,9800", "t.csv:2:5", "no whole number"),
        ("50,9800", "-5,9800", "t.csv:2:5", "the count is -5"),
        ("50,9800", "50,x", "t.csv:2:8", "not a number"),
        ("\n1,5,8", "\n2,5,8", "t.csv:3:1", "nothing is told from 1"),
    ] {
        let table = DEATHS.replacen(from, to, 1);
        let folder = folder(&[("t.csv", table.as_bytes())]);
        let output = quadrat(folder.path(), &EVENTS);
        let told = stderr(&output);
        if output.status.code() != Some(1) || !told.contains(place) || !told.contains(words) {
            wrong.push(format!("{to}: {told}"));
        }
    }
    none(&wrong);
    let folder = folder(&[("t.csv", DEATHS.as_bytes())]);
    let usage = quadrat(folder.path(), &with(&["--life-table", "l.csv"]));
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn one_column_of_ages_and_inclusive_edges_are_the_same_bands() {
    let labels = "age,people\n0-9,45578\n10-19,45125\n20 to 29,44748\n30\u{2013}39,45697\n40-49,41580\n50-59,42845\n60-69,38869\n70-79,24108\n80-89,10057\n90+,2712\n";
    let inclusive = BANDS.lines().map(|line| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if let Ok(to) = cells[1].parse::<f64>() {
            cells[1] = (to - 1.0).to_string();
        }
        cells.join(",") + "\n"
    });
    let inclusive: String = inclusive.collect();
    let brackets = BANDS.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let to = if cells[1].is_empty() { "Inf" } else { cells[1] };
        format!("\"[{},{to})\",{}\n", cells[0], cells[2])
    });
    let brackets: String = brackets.collect();
    let folder = folder(&[
        ("brackets.csv", format!("age,people\n{brackets}").as_bytes()),
        ("t.csv", BANDS.as_bytes()),
        ("labels.csv", labels.as_bytes()),
        ("inclusive.csv", inclusive.as_bytes()),
    ]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let body = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    done(folder.path(), &with(&["-o", "o.csv", "-q"]));
    let args = [
        "labels.csv",
        "--lower",
        "age",
        "--count",
        "people",
        "-o",
        "l.csv",
    ];
    let told = done(folder.path(), &[&["ungroup"], args.as_slice()].concat());
    let words = "upper edges are the last number inside a band: each reaches 1 further";
    assert!(told.contains(words), "{told}");
    assert!(read("l.csv").starts_with("age,to,mean,"));
    assert_eq!(body(&read("l.csv")), body(&read("o.csv")));
    let args = args.map(|arg| match arg {
        "labels.csv" => "brackets.csv",
        "l.csv" => "b.csv",
        other => other,
    });
    let told = done(folder.path(), &[&["ungroup"], args.as_slice()].concat());
    assert!(!told.contains("upper edges are"), "{told}");
    assert_eq!(body(&read("b.csv")), body(&read("o.csv")));
    let args = [
        "inclusive.csv",
        "--lower",
        "from",
        "--upper",
        "to",
        "--count",
        "people",
    ];
    let args = [&["ungroup"], args.as_slice(), &["-o", "i.csv"]].concat();
    assert!(done(folder.path(), &args).contains(words));
    assert_eq!(read("i.csv"), read("o.csv"));
}

#[test]
fn an_exposure_may_have_a_table_of_its_own() {
    let people = "from,to,people\n0,15,150300\n15,45,295000\n45,75,241000\n75,,55500\n";
    let folder = folder(&[
        ("t.csv", DEATHS.as_bytes()),
        ("p.csv", people.as_bytes()),
        ("short.csv", b"from,to,people\n0,15,150300\n15,45,295000\n"),
        ("torn.csv", b"from,to,people\n0,15,150300\n45,,295000\n"),
    ]);
    let own = |table: &'static str| [EVENTS.as_slice(), &["--exposure-table", table]].concat();
    let more = ["--life-table", "l.csv", "-o", "o.csv", "--plot", "o.svg"];
    done(
        folder.path(),
        &[own("p.csv").as_slice(), more.as_slice()].concat(),
    );
    done(
        folder.path(),
        &[EVENTS.as_slice(), &["-o", "s.csv", "-q"]].concat(),
    );
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let ((_, own_bands), (_, same)) = (rows(&read("o.csv")), rows(&read("s.csv")));
    // The same people in wider bands: the same rates within what either is sure of.
    for age in [0, 20, 50, 70] {
        let (a, b) = (&own_bands[age], &same[age]);
        assert!(a[4] < b[5] && b[5] < a[6], "{age}: {a:?} {b:?}");
    }
    for (table, place, words) in [
        (
            "short.csv",
            "t.csv:12:1",
            "told from 0 to 45, and the events from 0 to 110",
        ),
        ("torn.csv", "torn.csv:3:1", "nothing is told from 15"),
    ] {
        let output = quadrat(folder.path(), &own(table));
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1));
        assert!(told.contains(place) && told.contains(words), "{told}");
    }
}
