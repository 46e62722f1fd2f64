//! Studies with `[ungroup]`: the numbers of the command, in a folder with a report.

use crate::harness::{done, fit, folder, names, quadrat, stderr};

const BANDS: &str = "place,from,to,people\nup,0,10,450\nup,10,20,440\nup,20,30,400\nup,30,,120\ndown,0,10,45\ndown,10,20,44\ndown,20,30,90\ndown,30,,12\n";
const STUDY: &str = "title = \"Two places\"\n[ungroup]\nfile = \"t.csv\"\nlower = \"from\"\nupper = \"to\"\ncount = \"people\"\nby = \"place\"\ntail = \"exponential=0.1\"\nlast = 60\ndraws = 3\n";
const FLAGS: [&str; 16] = [
    "ungroup",
    "t.csv",
    "--lower",
    "from",
    "--upper",
    "to",
    "--count",
    "people",
    "--by",
    "place",
    "--tail",
    "exponential=0.1",
    "--last",
    "60",
    "--draws",
    "3",
];
/// Deaths and people of a few bands.
pub const DEATHS: &str = "from,to,deaths,people\n0,1,50,9800\n1,15,19,140500\n15,45,235,295000\n45,75,2180,241000\n75,85,2200,41000\n85,,2400,14500\n";
pub const RATES: &str = "[ungroup]\nfile = \"d.csv\"\nlower = \"from\"\nupper = \"to\"\ncount = \"deaths\"\nexposure = \"people\"\nlife_table = true\n";

#[test]
fn a_study_tells_what_the_command_tells() {
    let folder = folder(&[("t.csv", BANDS.as_bytes()), ("s.toml", STUDY.as_bytes())]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    for part in [
        "Two places",
        "8 bands of `people`",
        "in 2 populations",
        "exponentially by 0.1 per unit, up to 60 (`tail`, `last`)",
        "wrote out/steps.csv",
        "wrote out/report.html",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let out = folder.path().join("out");
    let written = [
        "fit.json",
        "report.html",
        "steps.csv",
        "ungroup.png",
        "ungroup.svg",
    ];
    assert_eq!(names(&out), written);
    let command: Vec<&str> = FLAGS.into_iter().chain(["--json", "-o", "c.csv"]).collect();
    let json: serde_json::Value = serde_json::from_str(&done(folder.path(), &command)).unwrap();
    let read = |path| std::fs::read(folder.path().join(path)).unwrap();
    assert_eq!(read("out/steps.csv"), read("c.csv"));
    let told = fit(folder.path());
    assert_eq!(
        (&told["kind"], &told["title"]),
        (&"ungroup".into(), &"Two places".into())
    );
    assert_eq!(
        told["populations"][1]["mean"],
        json["populations"][1]["mean"]
    );
    assert_eq!(told["populations"][1]["by"]["place"], "down");
    let page = String::from_utf8(read("out/report.html")).unwrap();
    assert!(page.contains("Two places") && page.contains("Every step, with its interval"));
    // The same study, the same run; `--json` prints the same.
    let again = done(folder.path(), &["run", "s.toml", "-o", "again", "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(
        (&again["run"], &again["populations"]),
        (&told["run"], &told["populations"])
    );
}

#[test]
fn life_tables_are_written_where_they_are_asked_for() {
    let folder = folder(&[("d.csv", DEATHS.as_bytes()), ("s.toml", RATES.as_bytes())]);
    done(folder.path(), &["run", "s.toml", "-o", "out", "-q"]);
    let path = folder.path().join("out/life_table.csv");
    let table = std::fs::read_to_string(path).unwrap();
    assert!(
        table.starts_with("from,to,qx,qx_lower,qx_upper,lx,"),
        "{table}"
    );
    let flags = "ungroup d.csv --lower from --upper to --count deaths --exposure people --life-table l.csv -q";
    done(folder.path(), &flags.split(' ').collect::<Vec<&str>>());
    assert_eq!(
        table,
        std::fs::read_to_string(folder.path().join("l.csv")).unwrap()
    );
}

#[test]
fn a_population_that_fails_is_named_and_the_others_are_written() {
    let bands = format!("{BANDS}torn,0,10,5\ntorn,12,20,4\n");
    let folder = folder(&[("t.csv", bands.as_bytes()), ("s.toml", STUDY.as_bytes())]);
    let ended = quadrat(folder.path(), &["run", "s.toml", "-o", "out", "-q"]);
    assert_eq!(ended.status.code(), Some(1));
    let said = stderr(&ended);
    assert!(
        said.contains("`torn`") && said.contains("t.csv:11:"),
        "{said}"
    );
    let told = fit(folder.path());
    assert_eq!(told["failed"][0]["by"]["place"], "torn");
    assert_eq!(told["populations"].as_array().map(Vec::len), Some(2));
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    for part in [
        "8 bands of people",
        "not ungrouped: torn: nothing is told from 10",
        "down: median",
    ] {
        assert!(page.contains(part), "no `{part}`");
    }
    // Where none is left nothing is written.
    std::fs::write(
        folder.path().join("t.csv"),
        "place,from,to,people\ntorn,0,10,5\ntorn,12,20,4\n",
    )
    .unwrap();
    let ended = quadrat(folder.path(), &["run", "s.toml", "-o", "none", "-q"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(!folder.path().join("none").exists());
}

#[test]
fn what_needs_a_function_is_refused_and_words_are_those_of_the_study() {
    let folder = folder(&[("t.csv", BANDS.as_bytes()), ("s.toml", STUDY.as_bytes())]);
    let at = folder.path();
    for command in [
        &["fit", "s.toml", "-o", "m.quadrat"][..],
        &["score", "s.toml"],
        &["next", "s.toml", "--candidates", "t.csv", "--cost", "a=1"],
    ] {
        let ended = quadrat(at, command);
        let said = stderr(&ended);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(
            said.contains("this study ungroups bands"),
            "{command:?}: {said}"
        );
    }
    let ended = quadrat(at, &["run", "s.toml", "--check", "mcmc"]);
    assert!(stderr(&ended).contains("this study is of bands"));
    // The tail is gone, and the key that mends it is told.
    let without = STUDY.replace("tail = \"exponential=0.1\"\n", "");
    std::fs::write(at.join("s.toml"), without).unwrap();
    let said = stderr(&quadrat(at, &["run", "s.toml", "-o", "out"]));
    assert!(
        said.contains("give `tail`") && !said.contains("--tail"),
        "{said}"
    );
    // The study is not written over.
    let text = STUDY.replace("t.csv", "steps.csv");
    std::fs::write(at.join("s.toml"), text).unwrap();
    std::fs::write(at.join("steps.csv"), BANDS).unwrap();
    let said = stderr(&quadrat(at, &["run", "s.toml", "-o", "."]));
    assert!(said.contains("a file that the study reads"), "{said}");
    assert_eq!(
        std::fs::read_to_string(at.join("steps.csv")).unwrap(),
        BANDS
    );
}

#[test]
fn columns_may_be_named_as_the_keys_are() {
    let table = "lower,upper,count\n0,10,45\n10,20,44\n20,30,40\n";
    let study =
        "[ungroup]\nfile = \"t.csv\"\nlower = \"lower\"\nupper = \"upper\"\ncount = \"count\"\n";
    let folder = folder(&[("t.csv", table.as_bytes()), ("s.toml", study.as_bytes())]);
    done(folder.path(), &["run", "s.toml", "-o", "out", "-q"]);
    let steps = std::fs::read_to_string(folder.path().join("out/steps.csv")).unwrap();
    assert!(
        steps.starts_with("from,to,mean,sd,lower,median,upper\n0,1,"),
        "{steps}"
    );
}

#[test]
fn what_is_missing_is_placed_at_its_key() {
    let folder = folder(&[("t.csv", BANDS.as_bytes()), ("s.toml", STUDY.as_bytes())]);
    let at = folder.path();
    for (from, to, place, told) in [
        (
            "\"t.csv\"",
            "\"u.csv\"",
            "s.toml:3:8",
            "`u.csv` does not exist",
        ),
        (
            "\"people\"",
            "\"heads\"",
            "s.toml:6:9",
            "no column `heads` in t.csv",
        ),
        (
            "draws = 3",
            "step = 0.0001",
            "s.toml:10:1",
            "cells are asked for",
        ),
        (
            "draws = 3",
            "sampled = 1e-9",
            "s.toml:10:1",
            "`sampled` says that of",
        ),
        (
            "last = 60",
            "last = 20",
            "s.toml:9:1",
            "the end of the last band is 20",
        ),
    ] {
        std::fs::write(at.join("s.toml"), STUDY.replace(from, to)).unwrap();
        let ended = quadrat(at, &["run", "s.toml", "-o", "out"]);
        let said = stderr(&ended);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains(place) && said.contains(told), "{to}: {said}");
        // The arrow to a place is no flag.
        let is_flag = |word: &str| word.starts_with("--") && word != "-->";
        assert!(!said.split_whitespace().any(is_flag), "{to}: {said}");
    }
    assert!(!at.join("out").exists());
}
