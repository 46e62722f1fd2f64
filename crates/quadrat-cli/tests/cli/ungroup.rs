//! `quadrat ungroup`: what it writes, says and refuses.

use crate::density::rows;
use crate::harness::{done, folder, names, none, quadrat, stderr, stdout};

/// People of the United States in 2020 by ten-year bands, in thousands, the last one open.
const BANDS: &str = "from,to,people\n0,10,45578\n10,20,45125\n20,30,44748\n30,40,45697\n40,50,41580\n50,60,42845\n60,70,38869\n70,80,24108\n80,90,10057\n90,,2712\n";

const COLUMNS: [&str; 7] = [
    "t.csv", "--lower", "from", "--upper", "to", "--count", "people",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
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

/// A table, further arguments, and words of the refusal.
type Case = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const BROKEN: &[Case] = &[
    ("from,to,people\n", &[], &["no rows"]),
    ("", &[], &["empty"]),
    ("from,to,people\n0,10,5\n", &[], &["1 band", "two bands"]),
    (
        "from,to,people\n0,10,5\n10,20,x\n",
        &[],
        &["t.csv:3:7", "`x` is not a number"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,\n",
        &[],
        &["t.csv:3:7", "empty"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,-1\n",
        &[],
        &["t.csv:3:7", "the count is -1"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,nan\n",
        &[],
        &["t.csv:3:7", "not finite"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,inf\n",
        &[],
        &["t.csv:3:7", "not finite"],
    ),
    (
        "from,to,people\n0,10,0\n10,20,0\n",
        &[],
        &["all counts are zero"],
    ),
    (
        "from,to,people\n0,10,1e300\n10,20,5\n",
        &[],
        &["double precision"],
    ),
    (
        "from,to,people\n0,9,5\n10,19,5\n",
        &[],
        &["t.csv:3:1", "nothing is told from 9", "0-4 are 0 and 5"],
    ),
    (
        "from,to,people\n0,10,5\n20,30,5\n",
        &[],
        &["nothing is told from 10", "to 20"],
    ),
    (
        "from,to,people\n0,10,5\n5,15,5\n",
        &[],
        &["t.csv:3:1", "overlaps", "from 5 to 10"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,5\n0,20,10\n",
        &[],
        &["overlaps", "leave totals out"],
    ),
    (
        "from,to,people\n0,10,5\n0,10,6\n",
        &[],
        &["overlaps", "--by"],
    ),
    (
        "from,to,people\n10,0,5\n10,20,6\n",
        &[],
        &["t.csv:2:4", "begins at 10 and ends at 0"],
    ),
    (
        "from,to,people\n5,5,5\n5,20,6\n",
        &[],
        &["begins at 5 and ends at 5"],
    ),
    (
        "from,to,people\n0,,5\n10,20,6\n",
        &[],
        &["open band", "t.csv:3"],
    ),
    ("from,to,people\n,10,5\n0,5,6\n", &[], &["overlap"]),
    (
        "from,to,people\n,,5\n0,5,6\n",
        &[],
        &["no edge on either side"],
    ),
    (
        "from,to,people\nold,10,5\n10,20,6\n",
        &[],
        &["t.csv:2:1", "`old` is no edge"],
    ),
    (
        "from,to,people\n0-9,10,5\n10,20,6\n",
        &[],
        &["`0-9` is no edge", "0-4 are 0 and 5"],
    ),
    (
        "from,to,people\n0,10,5\n90+,95,6\n",
        &[],
        &["t.csv:3:5", "contradict"],
    ),
    (
        "from,to,people\n0,10,5\n10,1e999,6\n",
        &[],
        &["t.csv:3:4", "no edge"],
    ),
    (
        "from,to,people\n0,10,5\n10,nan,6\n",
        &[],
        &["t.csv:3:4", "`nan` is no edge"],
    ),
    (
        "from,to,people\n0,10,5\n10,,6\n",
        &[],
        &["open above 10", "--tail", "--last"],
    ),
    (
        "from,to,people\n-5,0,5\n0,10,4\n10,,6\n",
        &[],
        &["open above 10"],
    ),
    (
        "from,to,people\n,0,5\n0,10,4\n",
        &[],
        &["open below 0", "--first"],
    ),
    (
        "from,to,people\n0,80,5\n80,,6\n",
        &["--last", "70"],
        &["end of the last band is 70", "above 80"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--last", "30"],
        &["that band ends at 20"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--first", "-1"],
        &["that band begins at 0"],
    ),
    (
        "from,to,people\n<15,,5\n15,20,6\n",
        &["--first", "15"],
        &["below 15"],
    ),
    (
        "from,to,people\n-5,10,5\n10,20,6\n",
        &["--log"],
        &["t.csv:2:1", "logarithmic axis"],
    ),
    (
        "from,to,people\n0,80,5\n80,,6\n",
        &["--tail", "pareto"],
        &["--log"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--step", "0"],
        &["the step is 0", "above zero"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--step", "0.001"],
        &["cells are asked for", "--step"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--edges", "0,30"],
        &["30", "from 0 to 20"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--edges", "5,0"],
        &["above the one before"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--edges", "5"],
        &["two at least"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--edges", "0,inf"],
        &["from 0 to 20"],
    ),
    (
        "from,to,peple\n0,10,5\n10,20,6\n",
        &[],
        &["no column `people`", "did you mean `peple`"],
    ),
    ("from;to;people\n0;10;5\n", &[], &["separated by ';'"]),
    ("from,to,people\n0,10,5\n10,20\n", &[], &["t.csv:3"]),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["--by", "people,people", "-o", "o.csv"],
        &["two columns named `people`"],
    ),
    (
        "from,to,people,r\n0,10,5,a\n10,20,6,\n",
        &["--by", "r"],
        &["t.csv:3:9", "population of a row is empty"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["-o", "t.csv"],
        &["would replace the table"],
    ),
    (
        "from,to,people\n0,10,5\n10,20,6\n",
        &["-o", "t.csv/o.csv"],
        &["t.csv"],
    ),
];

#[test]
fn what_cannot_be_ungrouped_is_refused_with_its_place() {
    let mut wrong = Vec::new();
    for (table, more, words) in BROKEN {
        let folder = folder(&[("t.csv", table.as_bytes())]);
        let output = quadrat(folder.path(), &with(more));
        let told = stderr(&output);
        let is_fine = output.status.code() == Some(1)
            && words.iter().all(|word| told.contains(word))
            && told.contains(" = ")
            && names(folder.path()) == ["t.csv"]
            && stdout(&output).is_empty();
        if !is_fine {
            wrong.push(format!("{table:?} {more:?}: {:?}\n{told}", output.status));
        }
    }
    none(&wrong);
}
