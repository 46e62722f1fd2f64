//! `non_negative`: predictions cut off at zero, functions held there, and what neither suits.

use std::path::Path;

use crate::harness::{done, fit, folder, quadrat, refused, stderr, stdout};

/// A histogram that runs out: the last bands were released with noise, and below zero.
const TABLE: &[u8] = b"from,to,people\n0,10,90\n10,20,60\n20,30,14\n30,40,-6\n40,50,3\n";

fn study(latent: &str, predict: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(age)"
{latent}
[[observe]]
file = "d.csv"
support = {{ box = {{ age = ["from", "to"] }} }}
aggregate = "sum"
likelihood = {{ gaussian = {{ value = "people", variance = 40 }} }}
[[predict]]
name = "p"
support = {{ grid = {{ age = {{ from = 0, to = 50, step = 5, cells = true }} }} }}
aggregate = "sum"
{predict}
[inference]
hyperparameters = "map"
"#
    )
}

fn run(text: &str) -> (tempfile::TempDir, std::process::Output) {
    let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", TABLE)]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    (folder, output)
}

/// Mean, sd, lower, median and upper end of each row.
fn rows(path: &Path) -> Vec<[f64; 5]> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<f64> = line.split(',').map(|c| c.parse().unwrap()).collect();
            cells[cells.len() - 5..].try_into().unwrap()
        })
        .collect()
}

/// Mean of a normal above zero and its probability, by the midpoint rule.
fn above_zero(mean: f64, sd: f64) -> (f64, f64) {
    let top = mean.max(0.0) + 10.0 * sd;
    let h = top / 200_000.0;
    let (mut total, mut first) = (0.0, 0.0);
    for i in 0..200_000 {
        let y = h * (f64::from(i) + 0.5);
        let p = (-0.5 * ((y - mean) / sd).powi(2)).exp() * h;
        total += p;
        first += p * y;
    }
    let whole = sd * (2.0 * std::f64::consts::PI).sqrt();
    (first / total, total / whole)
}

#[test]
fn truncated_predictions_are_the_plain_ones_above_zero() {
    let (plain, output) = run(&study("", ""));
    assert!(!stdout(&output).contains("truncated"));
    assert!(fit(plain.path()).get("non_negative").is_none());
    let plain = rows(&plain.path().join("out/p.csv"));
    assert!(plain[7][0] < 0.0 && plain[7][2] < 0.0, "{plain:?}");
    for text in [
        study("non_negative = \"truncate\"", ""),
        study("", "non_negative = true"),
    ] {
        let (folder, output) = run(&text);
        let words = stdout(&output);
        assert!(
            words.contains("p (response, 95 % interval, truncated at zero)"),
            "{words}"
        );
        let report = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
        assert!(report.contains("95 % intervals, truncated at zero"));
        let cut = rows(&folder.path().join("out/p.csv"));
        for (plain, cut) in plain.iter().zip(&cut) {
            let [mean, sd, ..] = *plain;
            let (expected, share) = above_zero(mean, sd);
            // The midpoint rule errs by less than 1e-9; the table is exact.
            assert!((cut[0] - expected).abs() < 1e-6 * sd, "{plain:?} {cut:?}");
            assert!(cut[2] >= 0.0 && cut[0] > 0.0 && cut[1] < sd * (1.0 + 1e-9));
            if share > 0.999_999 {
                assert!((cut[4] - plain[4]).abs() < 1e-4 * sd, "{plain:?} {cut:?}");
            }
        }
    }
}

#[test]
fn a_prediction_may_say_otherwise_than_the_study() {
    let (folder, _) = run(&study(
        "non_negative = \"truncate\"",
        "non_negative = false",
    ));
    let own = rows(&folder.path().join("out/p.csv"));
    let (plain, _) = run(&study("", ""));
    assert_eq!(own, rows(&plain.path().join("out/p.csv")));
    assert_eq!(fit(folder.path())["non_negative"], "truncate");
}

#[test]
fn constraints_change_the_fit_and_say_what_they_cost() {
    let (folder, output) = run(&study("non_negative = \"constrain\"", ""));
    let words = stdout(&output);
    for part in [
        "expectation propagation",
        "constrained not to be negative",
        "warning: constraints make intervals too narrow",
    ] {
        assert!(words.contains(part), "no `{part}` in\n{words}");
    }
    let json = fit(folder.path());
    assert_eq!(
        (&json["non_negative"], &json["inference"]),
        (&"constrain".into(), &"ep".into())
    );
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("truncate"), "{warnings}");
    let held = rows(&folder.path().join("out/p.csv"));
    let (cut, _) = run(&study("non_negative = \"truncate\"", ""));
    let cut = rows(&cut.path().join("out/p.csv"));
    assert!(held.iter().all(|row| row[2] >= 0.0 && row[0] > 0.0));
    // Joint constraints know more than marginals cut one by one: the tail is narrower.
    let tail = |rows: &[[f64; 5]]| rows[6..].iter().map(|row| row[4] - row[2]).sum::<f64>();
    assert!(tail(&held) < 0.8 * tail(&cut), "{held:?}\n{cut:?}");
}

#[test]
fn a_saved_model_remembers_and_a_flag_asks() {
    let save = |latent: &str| {
        let folder = folder(&[("s.toml", study(latent, "").as_bytes()), ("d.csv", TABLE)]);
        let output = quadrat(
            folder.path(),
            &["fit", "s.toml", "-o", "m.quadrat", "--quiet"],
        );
        assert!(output.status.success(), "{}", stderr(&output));
        folder
    };
    let ask = |folder: &Path, more: &[&str]| {
        let mut args = vec![
            "predict",
            "m.quadrat",
            "--at",
            "d.csv",
            "--box",
            "age=from,to",
            "--aggregate",
            "sum",
            "-o",
            "p.csv",
        ];
        args.extend(more);
        let output = quadrat(folder, &args);
        assert!(output.status.success(), "{}", stderr(&output));
        rows(&folder.join("p.csv"))
    };
    let (remembers, plain) = (save("non_negative = \"truncate\""), save(""));
    let cut = ask(remembers.path(), &[]);
    assert!(cut.iter().all(|row| row[2] >= 0.0));
    assert!(ask(plain.path(), &[]).iter().any(|row| row[2] < 0.0));
    assert_eq!(ask(plain.path(), &["--non-negative"]), cut);
}

#[test]
fn a_flag_that_would_do_nothing_is_refused() {
    let text = "[latent]\nkernel = \"se(t)\"\n[[observe]]\nfile = \"n.csv\"\nsupport = { point = [\"t\"] }\nlikelihood = { poisson = { count = \"n\" } }\n";
    let table: &[u8] = b"t,n\n0,4\n1,6\n2,5\n3,9\n4,12\n";
    let folder = folder(&[("s.toml", text.as_bytes()), ("n.csv", table)]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let ask = [
        "predict",
        "m.quadrat",
        "--at",
        "n.csv",
        "--point",
        "t",
        "--non-negative",
    ];
    let output = quadrat(folder.path(), &ask);
    assert_eq!(output.status.code(), Some(1));
    let words = stderr(&output);
    assert!(
        words.contains("`--non-negative` does nothing here") && words.contains("behind a link")
    );
}

#[test]
fn what_has_no_zero_is_refused_with_place_and_remedy() {
    let of = |latent: &str, likelihood: &str, more: &str| {
        format!(
            "[latent]\nkernel = \"se(t)\"\n{latent}\n[[observe]]\nfile = \"d.csv\"\nsupport = {{ point = [\"t\"] }}\nlikelihood = {{ {likelihood} }}\n{more}"
        )
    };
    let predict = |more: &str| {
        format!(
            "[[predict]]\nname = \"p\"\nsupport = {{ grid = {{ t = {{ from = 0, to = 2, step = 1 }} }} }}\n{more}"
        )
    };
    let (value, count) = (
        "gaussian = { value = \"y\" }",
        "poisson = { count = \"n\" }",
    );
    let heavy = "student_t = { value = \"y\", degrees = 4 }";
    #[rustfmt::skip]
    let cases: &[(&str, &str, String, &[&str])] = &[
        ("non_negative = true", value, String::new(), &["`non_negative` in [latent] must be a text in quotes, not true", "s.toml:3:16", "\"truncate\""]),
        ("non_negative = \"trunkate\"", value, String::new(), &["`trunkate` is not a known `non_negative`", "s.toml:3:16", "did you mean `truncate`?"]),
        ("non_negativ = \"truncate\"", value, String::new(), &["did you mean `non_negative`?", "s.toml:3:1"]),
        ("non_negative = \"truncate\"", count, String::new(), &["`non_negative` cannot be used with `poisson`", "above zero already, by their link", "s.toml:3:16", "leave it out"]),
        ("non_negative = \"constrain\"", "bernoulli = { value = \"n\" }", String::new(), &["`bernoulli`", "the chances are even", "s.toml:3:16"]),
        ("non_negative = \"truncate\"", "ordinal = { rank = \"n\" }", String::new(), &["`non_negative` needs a zero", "s.toml:3:16", "give the `thresholds`"]),
        ("non_negative = \"constrain\"", value, "[inference]\nmethod = \"exact\"".into(), &["which exact inference cannot take", "s.toml:3:16", "write \"truncate\", or leave `method` out"]),
        ("", value, predict("non_negative = \"yes\""), &["`non_negative` must be true or false, not the text \"yes\"", "s.toml:11:16"]),
        ("", count, predict("non_negative = true"), &["`non_negative` cannot be used with `poisson`", "s.toml:11:16"]),
        ("", heavy, predict("non_negative = true\nscale = \"observation\""), &["new observations of `student_t` have noise that is not normal", "s.toml:11:16", "leave `non_negative` out here"]),
        ("non_negative = \"truncate\"", "ordinal = { rank = \"n\", thresholds = [1] }", predict("scale = \"observation\""), &["are ranks, which start at 1", "s.toml:11:9", "write `non_negative = false` in this [[predict]]"]),
    ];
    let table: &[(&str, &[u8])] = &[("d.csv", b"t,y,n\n0,1.5,1\n1,2.5,1\n2,3.5,2\n")];
    let mut wrong = Vec::new();
    for (latent, likelihood, more, expected) in cases {
        let text = of(latent, likelihood, more);
        wrong.extend(refused(latent, &text, table, expected).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
}
