//! `[baseline]` and `quadrat run --baseline`: simple methods beside ours.

use crate::harness::{column, done, folder, quadrat, refused, stderr};

const BINS: &str = "from,to,people\n0,10,120\n10,20,180\n20,40,200\n40,60,60\n";
const STUDY: &str = r#"[latent]
kernel = "se(age)"
[[observe]]
file = "bins.csv"
support = { box = { age = ["from", "to"] } }
aggregate = "sum"
likelihood = { gaussian = { value = "people", variance = 0 } }
[[predict]]
name = "p"
support = { grid = { age = { from = 0, to = 60, step = 5, cells = true } } }
aggregate = "sum"
[inference]
hyperparameters = "map"
"#;

/// A run with further flags, and the header of its table.
fn run(study: &str, more: &[&str]) -> (tempfile::TempDir, String) {
    let folder = folder(&[("s.toml", study.as_bytes()), ("bins.csv", BINS.as_bytes())]);
    let args = ["run", "s.toml", "-o", "out"];
    let args: Vec<&str> = args.iter().chain(more).copied().collect();
    done(folder.path(), &args);
    let table = std::fs::read_to_string(folder.path().join("out/p.csv")).unwrap();
    (folder, table.lines().next().unwrap().to_owned())
}

#[test]
fn means_of_simple_methods_are_columns_and_leave_ours_alone() {
    let (plain, _) = run(STUDY, &[]);
    let study = format!("{STUDY}[baseline]\nmethod = [\"areal\", \"mono\"]\n");
    let (with, header) = run(&study, &[]);
    assert_eq!(
        header,
        "age_lower,age_upper,mean,sd,lower,median,upper,areal,mono"
    );
    let of = |folder: &tempfile::TempDir, name| column(folder.path(), "p", name);
    assert_eq!(of(&plain, "mean"), of(&with, "mean"));
    // Evenly within the bins, by hand.
    let areal = of(&with, "areal");
    for (k, height) in [(0, 60.0), (3, 90.0), (5, 50.0), (11, 15.0)] {
        assert!((areal[k] - height).abs() < 1e-9, "{k}: {}", areal[k]);
    }
    // The spline goes through the cumulated counts: every bin keeps its total.
    let mono = of(&with, "mono");
    for (cells, total) in [(0..2, 120.0), (2..4, 180.0), (4..8, 200.0), (8..12, 60.0)] {
        let sum: f64 = mono[cells].iter().sum();
        assert!((sum - total).abs() < 1e-9, "{sum}");
    }
    let report = std::fs::read_to_string(with.path().join("out/report.html")).unwrap();
    assert!(report.contains("areal") && report.contains("mono"));
}

#[test]
fn the_flag_replaces_the_section() {
    let study = format!("{STUDY}[baseline]\nmethod = \"areal\"\n");
    let (folder, header) = run(&study, &["--baseline", "constant"]);
    assert!(header.ends_with("upper,constant"), "{header}");
    // 560 people over 60 years, five years at a time.
    for told in column(folder.path(), "p", "constant") {
        assert!((told - 560.0 / 12.0).abs() < 1e-9, "{told}");
    }
}

#[test]
fn a_method_that_cannot_do_the_study_is_left_out_and_named() {
    let boxes = "box = { age = [\"from\", \"to\"] } }\naggregate = \"sum\"\n";
    let study = STUDY.replacen(boxes, "point = [\"age\"] }\n", 1);
    let points = BINS.replacen("from", "age", 1);
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("bins.csv", points.as_bytes()),
    ]);
    let args = ["run", "s.toml", "-o", "out", "--baseline", "mono,areal"];
    let said = done(folder.path(), &args);
    assert!(
        said.contains("the simple method `mono` is left out"),
        "{said}"
    );
    let table = std::fs::read_to_string(folder.path().join("out/p.csv")).unwrap();
    let header = table.lines().next().unwrap();
    assert!(header.ends_with("upper,areal"), "{header}");
    assert!(column(folder.path(), "p", "areal").iter().all(|x| *x > 0.0));
}

#[test]
fn unknown_methods_are_refused_where_they_stand() {
    let study = format!("{STUDY}[baseline]\nmethod = [\"areal\", \"monos\"]\n");
    let files: &[(&str, &[u8])] = &[("bins.csv", BINS.as_bytes())];
    let expected = [
        "there is no simple method `monos`; did you mean `mono`?",
        "s.toml:15:",
    ];
    refused("a name", &study, files, &expected).unwrap();
    let study = format!("{STUDY}[baseline]\nmethod = 3\n");
    refused("a number", &study, files, &["a name or an array of names"]).unwrap();
    let study = format!("{STUDY}[baseline]\n");
    refused("nothing", &study, files, &["`method`"]).unwrap();
    let folder = folder(&[("s.toml", STUDY.as_bytes()), ("bins.csv", BINS.as_bytes())]);
    let output = quadrat(folder.path(), &["run", "s.toml", "--baseline", "kriging"]);
    let said = stderr(&output);
    assert!(
        said.contains("--baseline: there is no method `kriging`"),
        "{said}"
    );
    assert!(!folder.path().join("s-out").exists());
}
