//! Rows that count the events of other rows again: counted once where that can be had, and named.

use std::path::Path;

use crate::harness::{column, done, fit, folder, quadrat, stderr};

const STUDY: &str = r#"[latent]
kernel = "matern52(t)"
[[observe]]
file = "cases.csv"
support = { box = { t = ["start", "to"] } }
aggregate = "sum"
likelihood = { poisson = { count = "cases" } }
[[predict]]
name = "all"
aggregate = "sum"
support = { grid = { t = { from = 0, to = 12, step = 12, cells = true } } }
[[predict]]
name = "again"
aggregate = "sum"
support = { file = "cases.csv", box = { t = ["start", "to"] } }
[inference]
hyperparameters = "map"
"#;

const CASES: [u32; 12] = [18, 14, 22, 29, 26, 28, 25, 33, 22, 30, 30, 18];

/// The table of sums since the first day, some of which may be corrected.
fn grown(correct: impl Fn(usize, u32) -> u32) -> String {
    let mut sum = 0;
    let mut text = String::from("start,to,cases\n");
    for (day, cases) in CASES.into_iter().enumerate() {
        sum += cases;
        text.push_str(&format!("0,{},{}\n", day + 1, correct(day, sum)));
    }
    text
}

fn run(study: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
    let mut all = vec![("s.toml", study.as_bytes())];
    all.extend(files.iter().map(|(name, text)| (*name, text.as_bytes())));
    let folder = folder(&all);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    folder
}

/// What a study that is refused says.
fn refused(study: &str, files: &[(&str, &str)]) -> String {
    let mut all = vec![("s.toml", study.as_bytes())];
    all.extend(files.iter().map(|(name, text)| (*name, text.as_bytes())));
    let folder = folder(&all);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert_eq!(output.status.code(), Some(1));
    stderr(&output)
}

fn warnings(folder: &Path) -> Vec<String> {
    let found = fit(folder)["warnings"].clone();
    serde_json::from_value(found).unwrap()
}

#[test]
fn sums_that_grow_from_day_to_day_are_told_as_counts_of_every_day() {
    let folder = run(STUDY, &[("cases.csv", &grown(|_, sum| sum))]);
    let path = folder.path();
    let told = &warnings(path)[0];
    let words = "12 rows of counts, cases.csv:2 to cases.csv:13, overlap, so that the same events are counted again, such as those of cases.csv:12 in cases.csv:13: differences of rows were fitted";
    assert!(told.starts_with(words), "{told}");
    assert_eq!(fit(path)["rows"], 12);
    let mut by_day = String::from("start,to,cases\n");
    for (day, cases) in CASES.into_iter().enumerate() {
        by_day.push_str(&format!("{day},{},{cases}\n", day + 1));
    }
    let apart = run(STUDY, &[("cases.csv", &by_day)]);
    assert!(!warnings(apart.path()).iter().any(|w| w.contains("overlap")));
    for name in ["mean", "sd", "lower", "upper"] {
        assert_eq!(column(path, "all", name), column(apart.path(), "all", name));
    }
    let sd = column(path, "all", "sd")[0];
    let events = f64::from(CASES.iter().sum::<u32>());
    // The total is known to the root of its count, but for a few parts in a hundred that smoothness
    // and prior add or take.
    assert!((sd / events.sqrt() - 1.0).abs() < 0.1, "{sd}");
    // The rows of the table are predicted as they were given: sums, each known to its root.
    let (means, sds) = (column(path, "again", "mean"), column(path, "again", "sd"));
    assert!((means[11] / events - 1.0).abs() < 0.02, "{means:?}");
    assert!(means.windows(2).all(|two| two[0] < two[1]) && sds[0] < 0.5 * sds[11]);

    done(path, &["fit", "s.toml", "-o", "m.quadrat"]);
    let asked = [
        "predict",
        "m.quadrat",
        "--at",
        "cases.csv",
        "--box",
        "t=start,to",
    ];
    let told = done(path, &[&asked[..], &["--aggregate", "sum"]].concat());
    let last = told.lines().last().unwrap();
    let cells: Vec<f64> = last.split(',').map(|c| c.parse().unwrap()).collect();
    assert_eq!((cells[2], cells[3]), (means[11], sds[11]));
}

#[test]
fn moving_sums_count_no_event_more_than_once() {
    let mut table = String::from("start,to,cases\n");
    for (day, three) in CASES.windows(3).enumerate() {
        let sum: u32 = three.iter().sum();
        table.push_str(&format!("{day},{},{sum}\n", day + 3));
    }
    let folder = run(STUDY, &[("cases.csv", &table)]);
    let told: Vec<String> = warnings(folder.path());
    let told: Vec<&String> = told.iter().filter(|w| w.contains("overlap")).collect();
    let words = "10 rows of counts, cases.csv:2 to cases.csv:11, overlap, so that the same events are counted again, such as those that cases.csv:2 and cases.csv:3 have in common: of each row so small a share was counted";
    assert!(told.len() == 1 && told[0].starts_with(words), "{told:?}");
    assert_eq!(fit(folder.path())["rows"], 10);
    let sd = column(folder.path(), "all", "sd")[0];
    // Ten of twelve days are counted: no surer than the root of all events, and not much less sure.
    let events = f64::from(CASES.iter().sum::<u32>());
    assert!((0.95..1.4).contains(&(sd / events.sqrt())), "{sd}");
}

#[test]
fn sums_that_decrease_are_refused() {
    let table = grown(|day, sum| if day == 5 { sum + 40 } else { sum });
    let text = refused(STUDY, &[("cases.csv", &table)]);
    for part in [
        "cases.csv:8 counts 15 fewer than the rows within it: cases.csv:7",
        "cases.csv:8:",
        "(column `cases`)",
        "`cumulative = true`",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

/// A study with a second table of totals.
fn with_totals() -> String {
    STUDY.replace(
        "[[predict]]\nname = \"all\"",
        r#"[[observe]]
file = "total.csv"
support = { box = { t = ["start", "to"] } }
aggregate = "sum"
likelihood = { poisson = { count = "cases" } }
[[predict]]
name = "all""#,
    )
}

/// 295 cases in three parts; a range says less than a number, and contradicts nothing.
#[test]
fn totals_that_contradict_their_parts_are_refused() {
    let parts = "start,to,cases\n0,4,83\n4,8,112\n8,12,100\n";
    for (total, words) in [
        (
            "310",
            "total.csv:2 counts 15 more than its parts, which make it up: cases.csv:2 and 2 more",
        ),
        (
            "290",
            "total.csv:2 counts 5 fewer than the rows within it: cases.csv:2",
        ),
    ] {
        let total = format!("start,to,cases\n0,12,{total}\n");
        let files = [("cases.csv", parts), ("total.csv", &total)];
        let text = refused(&with_totals(), &files);
        for part in [
            words,
            "total.csv:2:",
            "(column `cases`)",
            "quadrat reconcile",
        ] {
            assert!(text.contains(part), "no `{part}` in\n{text}");
        }
    }
}

#[test]
fn a_total_of_another_file_is_left_out_and_named() {
    let parts = "start,to,cases\n0,4,83\n4,8,112\n8,12,100\n";
    let total = "start,to,cases\n0,12,295\n";
    let second = with_totals();
    let folder = run(&second, &[("cases.csv", parts), ("total.csv", total)]);
    let told = &warnings(folder.path())[0];
    let words = "1 row of counts is the total of others, which count the same events, and was left out: total.csv:2 of cases.csv:2 and 2 other rows";
    assert!(told.starts_with(words), "{told}");
    let alone = run(STUDY, &[("cases.csv", parts)]);
    assert_eq!(fit(folder.path())["rows"], 3);
    for name in ["mean", "sd"] {
        let found = column(folder.path(), "all", name);
        assert_eq!(found, column(alone.path(), "all", name));
    }
}

#[test]
fn a_column_that_the_kernel_does_not_use_tells_events_apart() {
    let table = "start,to,cases,year\n0,12,295,2019\n0,4,83,2020\n4,8,112,2020\n8,12,100,2020\n";
    let told = |study: &str| {
        let folder = run(study, &[("cases.csv", table)]);
        let found = warnings(folder.path());
        (
            found
                .iter()
                .any(|w| w.contains("overlap") || w.contains("total of others")),
            fit(folder.path())["rows"].as_u64(),
        )
    };
    assert_eq!(told(STUDY), (true, Some(3)));
    let years = STUDY.replace(
        "[\"start\", \"to\"] } }\naggregate = \"sum\"\nlikelihood",
        "[\"start\", \"to\"] }, point = [\"year\"] }\naggregate = \"sum\"\nlikelihood",
    );
    assert!(years != STUDY);
    assert_eq!(told(&years), (false, Some(4)));
}

#[test]
fn people_who_were_asked_in_a_part_and_in_the_whole_are_counted_once() {
    let study = r#"[latent]
kernel = "matern32(x)"
[[observe]]
file = "asked.csv"
support = { bag = { file = "people.csv", key = "k", dims = ["x"] } }
aggregate = "mean"
likelihood = { binomial = { successes = "yes", trials = "asked" } }
[[predict]]
name = "all"
aggregate = "mean"
support = { bag = { file = "people.csv", key = "k", dims = ["x"] } }
[inference]
hyperparameters = "map"
"#;
    let mut people = String::from("k,x\n");
    for x in 0..10 {
        people.push_str(&format!("{},{x}\nall,{x}\n", if x < 5 { "a" } else { "b" }));
    }
    let parts = "k,yes,asked\na,50,100\nb,80,100\n";
    let told = |rows: &str| {
        let folder = run(study, &[("asked.csv", rows), ("people.csv", &people)]);
        let sd = column(folder.path(), "all", "sd");
        (warnings(folder.path()), sd)
    };
    let (said, sd) = told(&format!("{parts}all,130,200\n"));
    let words = "1 row of counts is the total of others, which count the same events, and was left out: asked.csv:4 (`k` all) of asked.csv:2 (`k` a) and 1 other row";
    assert!(said.iter().any(|w| w.starts_with(words)), "{said:?}");
    assert_eq!(sd, told(parts).1);
    // Others were asked.
    let (said, _) = told(&format!("{parts}all,131,200\n"));
    assert!(said.iter().all(|w| !w.contains("left out")), "{said:?}");
}
