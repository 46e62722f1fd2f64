//! The judge itself: broken results, wrong files and bad manners are told.

use crate::judge::{Judged, Snapshot, manners, results, table, written};
use crate::run::{End, Ran};
use crate::study::Facts;

const GOOD: &str =
    "t,mean,sd,lower,median,upper,above_1,rank_1,rank_2\n0,1.5,0.5,0.5,1.5,2.5,0.8,0.25,0.75\n";

#[test]
fn a_good_table_is_good_and_every_broken_one_is_told() {
    let facts = Facts::default();
    assert_eq!(table(GOOD, &facts), Vec::<String>::new());
    for (from, to, told) in [
        (",1.5,0.5,", ",NaN,0.5,", "mean is `NaN`"),
        (",1.5,0.5,", ",inf,0.5,", "mean is `inf`"),
        (",1.5,0.5,", ",,0.5,", "mean is ``"),
        (",1.5,0.5,", ",1.5,-0.5,", "its sd is negative"),
        (",1.5,0.5,", ",1.5,0,", "its sd is zero"),
        ("1.5,2.5", "2.6,2.5", "out of order"),
        ("0.5,1.5,2.5", "1.6,1.5,2.5", "out of order"),
        (",0.8,", ",1.2,", "a probability is none"),
        (",0.8,", ",-0.1,", "a probability is none"),
        (",0.75\n", ",0.70\n", "ranks do not add up"),
        ("median", "middle", "its columns are"),
        ("mean", "average", "there is no column `mean`"),
        ("0.25,0.75\n", "0.25\n", "found record with 8 fields"),
        (
            "0,1.5,0.5,0.5,1.5,2.5,0.8,0.25,0.75\n",
            "",
            "it has no rows",
        ),
    ] {
        assert!(GOOD.contains(from));
        let wrong = table(&GOOD.replacen(from, to, 1), &facts);
        assert!(
            wrong.iter().any(|what| what.contains(told)),
            "{to}: {wrong:?}"
        );
    }
    let known = |sd: f64| Facts {
        known: Some(("p".into(), vec![sd])),
        ..Facts::default()
    };
    assert!(table(GOOD, &known(0.5)).is_empty());
    assert!(table(GOOD, &known(0.49))[0].contains("less surely than its own report"));
    let exact = Facts {
        may_be_exact: true,
        ..Facts::default()
    };
    assert!(table(&GOOD.replace(",1.5,0.5,", ",1.5,0,"), &exact).is_empty());
}

fn ran(end: End, stderr: &str) -> Ran {
    Ran {
        end,
        stdout: String::new(),
        stderr: stderr.to_owned(),
        seconds: 0.1,
    }
}

#[test]
fn bad_manners_are_told() {
    let files = ["s.toml".to_owned(), "d.csv".to_owned()];
    let place = "error: there is no column `y`\n  --> d.csv:1\n";
    assert!(manners(&ran(End::Code(0), ""), &files, false).is_empty());
    assert!(manners(&ran(End::Code(1), place), &files, false).is_empty());
    let many = format!("{place}{}", "more\n".repeat(20_000));
    for (end, said, told) in [
        (End::Code(101), "", "Code(101)"),
        (End::Code(130), "", "Code(130)"),
        (End::Signal(6), "", "Signal(6)"),
        (End::Stopped, "", "Stopped"),
        (
            End::Code(0),
            "thread 'main' panicked at src/x.rs",
            "panicked at",
        ),
        (
            End::Code(1),
            "memory allocation of 9 bytes failed",
            "memory allocation of",
        ),
        (End::Code(1), "", "without a word"),
        (End::Code(1), "error: it does not work\n", "without a place"),
        (
            End::Code(1),
            "error: no\n --> elsewhere.csv:1\n",
            "without a place",
        ),
        (End::Code(0), "warning: \u{1b}[2J", "control character"),
        (End::Code(1), &many, "bytes"),
    ] {
        let wrong = manners(&ran(end, said), &files, false);
        assert!(
            wrong.iter().any(|what| what.contains(told)),
            "{said}: {wrong:?}"
        );
    }
}

#[test]
fn files_in_the_wrong_place_are_told() {
    let snapshot = |files: &[(&str, &str)]| -> Snapshot {
        files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
            .collect()
    };
    let before = snapshot(&[("s.toml", "x")]);
    let after = snapshot(&[("s.toml", "x"), ("out/p.csv", GOOD)]);
    assert!(written(&before, &after, true).is_empty());
    assert_eq!(written(&before, &after, false), ["it left out/p.csv"]);
    for (files, told) in [
        (snapshot(&[("s.toml", "y")]), "it changed s.toml"),
        (snapshot(&[]), "it changed s.toml"),
        (
            snapshot(&[("s.toml", "x"), ("p.csv", "x")]),
            "it left p.csv",
        ),
        (
            snapshot(&[("s.toml", "x"), ("out/.quadrat-run-1", "x")]),
            "it left out/.quadrat-run-1",
        ),
        (
            snapshot(&[("s.toml", "x"), ("out.checkpoint", "x")]),
            "it left out.checkpoint",
        ),
        (
            snapshot(&[("s.toml", "x"), ("out/fit.json", "")]),
            "out/fit.json is empty",
        ),
    ] {
        assert_eq!(written(&before, &files, true), [told]);
    }
    for (name, text, told) in [
        ("out/fit.json", "{\"a\": NaN}", "no JSON"),
        (
            "out/p.svg",
            "<path d=\"M NaN 0\"/>",
            "a number that is none",
        ),
        ("out/p.csv", "t,mean\n", "its columns"),
    ] {
        let wrong = results(&snapshot(&[(name, text)]), &Facts::default());
        assert!(wrong[0].contains(told), "{name}: {wrong:?}");
    }
}

fn snapshot_of(files: &[(&str, &str)]) -> Snapshot {
    let one = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
    files.iter().map(one).collect()
}

#[test]
fn a_broken_release_is_told() {
    const TRUE: &str = "k,n\na,3\nb,5\n";
    const GOOD: &str = "k,n,n_scale,n_variance\na,2,1,2\nb,6,1,2\n";
    let released = Judged::Released {
        columns: vec!["n".into()],
        is_whole: true,
        is_geometric: true,
        is_clipped: true,
    };
    let facts = Facts::default();
    let of = |after: &str| {
        released.results(&snapshot_of(&[("d.csv", TRUE), ("out.csv", after)]), &facts)
    };
    assert_eq!(of(GOOD), Vec::<String>::new());
    for (from, to, told) in [
        ("a,2,", "a,-2,", "n is `-2`"),
        ("a,2,", "a,2.5,", "n is `2.5`"),
        ("a,2,", "a,NaN,", "n is `NaN`"),
        (",1,2\nb", ",0,2\nb", "n_scale is `0`"),
        ("n_variance", "variance", "there is no column `n_variance`"),
        ("a,2,", "z,2,", "it changed the column `k`"),
        ("b,6,1,2\n", "", "it changed the column `k`"),
    ] {
        let wrong = of(&GOOD.replacen(from, to, 1));
        assert!(
            wrong.iter().any(|what| what.contains(told)),
            "{to}: {wrong:?}"
        );
    }
    let nothing = released.results(&snapshot_of(&[("d.csv", TRUE)]), &facts);
    assert_eq!(nothing, ["there is no out.csv"]);
}

#[test]
fn broken_artificial_data_are_told() {
    let facts = Facts::default();
    let good = [
        ("out/a/study.toml", "x"),
        ("out/a/truth.csv", "t,f\n0,1\n"),
        ("out/b/study.toml", "x"),
        ("out/b/truth.csv", "t,f\n0,1\n"),
        ("out/c/p.csv", self::GOOD),
    ];
    let with = |at: usize, text: &'static str| {
        let mut files = good;
        files[at].1 = text;
        Judged::Simulated.results(&snapshot_of(&files), &facts)
    };
    assert!(with(0, "x").is_empty());
    for (at, text, told) in [
        (3, "t,f\n0,2\n", "the same seed made other files"),
        (1, "t,f\n0,inf\n", "truth.csv holds `inf`"),
        (4, "t,mean\n0,1\n", "its columns"),
    ] {
        let wrong = with(at, text);
        assert!(
            wrong.iter().any(|what| what.contains(told)),
            "{text}: {wrong:?}"
        );
    }
    let lone = Judged::Simulated.results(&snapshot_of(&good[1..2]), &facts);
    assert_eq!(lone, ["data without a study or their truth"]);
}
