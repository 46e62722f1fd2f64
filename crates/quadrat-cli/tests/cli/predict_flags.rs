//! Exposures, trials and columns that are kept, asked of a saved model: as `[[predict]]` has them.

use std::path::Path;

use crate::harness::{done, folder, names, none, quadrat, stderr};

const STUDY: &str = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
likelihood = { KIND }
[[predict]]
name = "p"
support = { file = "ask.csv", point = ["t"] }
PREDICT
"#;
const TABLE: &str = "t,k,of\n0,3,10\n1,5,12\n2,4,9\n3,8,14\n4,7,10\n";
const ASK: &str = "place,t,people,asked,mean,no\nHere,0.5,1000,10,1,0\n\"a,b\",2,1e7,5000,1,-2\n,3.5,10,1,1,1e300\n";
const COUNTS: &str = "poisson = { count = \"k\", exposure = \"of\" }";
const SPREAD: &str = "negative_binomial = { count = \"k\", exposure = \"of\" }";
const SUCCESSES: &str = "binomial = { successes = \"k\", trials = \"of\" }";
const VALUES: &str = "gaussian = { value = \"k\" }";

/// A folder with a saved model of a kind, and the predictions of its study.
fn fitted(kind: &str, predict: &str) -> tempfile::TempDir {
    let study = STUDY.replace("KIND", kind).replace("PREDICT", predict);
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("d.csv", TABLE.as_bytes()),
        ("ask.csv", ASK.as_bytes()),
    ]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    folder
}

fn predict<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["predict", "m.quadrat", "--at", "ask.csv", "--point", "t"];
    args.extend(more);
    args
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn answers_are_those_of_the_study() {
    let cases: [(&str, &str, &[&str]); 7] = [
        (COUNTS, "exposure = \"people\"", &["--exposure", "people"]),
        (
            COUNTS,
            "exposure = \"people\"\nscale = \"observation\"\nabove = 400",
            &[
                "--exposure",
                "people",
                "--scale",
                "observation",
                "--above",
                "400",
            ],
        ),
        (
            SPREAD,
            "exposure = 2.5e4\nscale = \"observation\"",
            &["--exposure", "2.5e4", "--scale", "observation"],
        ),
        (
            COUNTS,
            "exposure = 7\ndraws = 2",
            &["--exposure", "7", "--draws", "2"],
        ),
        (
            SUCCESSES,
            "trials = \"asked\"\nscale = \"observation\"",
            &["--trials", "asked", "--scale", "observation"],
        ),
        (
            SUCCESSES,
            "trials = 30\nscale = \"observation\"",
            &["--trials", "30", "--scale", "observation"],
        ),
        (
            VALUES,
            "keep = [\"place\", \"people\"]",
            &["--keep", "place,people"],
        ),
    ];
    for (kind, keys, flags) in cases {
        let folder = fitted(kind, keys);
        let mut args = predict(flags);
        args.extend(["-o", "p.csv"]);
        done(folder.path(), &args);
        // The same numbers take the same way.
        let (study, flags) = (
            read(folder.path(), "out/p.csv"),
            read(folder.path(), "p.csv"),
        );
        assert_eq!(study, flags, "{keys}");
        if keys.contains("keep") {
            let mut lines = study.lines();
            assert!(lines.next().unwrap().starts_with("place,people,t,mean"));
            assert!(lines.next().unwrap().starts_with("Here,1000,0.5,"));
            assert!(lines.next().unwrap().starts_with("\"a,b\",1e7,2,"));
        }
    }
}

#[test]
fn what_means_nothing_is_refused_as_in_a_study() {
    let counts = fitted(COUNTS, "");
    let successes = fitted(SUCCESSES, "");
    let values = fitted(VALUES, "");
    let cases: [(&tempfile::TempDir, &[&str], &[&str]); 14] = [
        (
            &values,
            &["--exposure", "3"],
            &["`exposure` is of counts", "command line:1:", "leave it out"],
        ),
        (&successes, &["--exposure", "3"], &["among `trials`"]),
        (
            &counts,
            &["--exposure", "3", "--scale", "latent"],
            &["knows no exposure"],
        ),
        (
            &counts,
            &["--exposure", "0"],
            &["`exposure` is 0; it must be above zero"],
        ),
        (
            &counts,
            &["--exposure", "1e300"],
            &["`exposure` is 1e300; it must be above zero and at most 1e100"],
        ),
        (
            &counts,
            &["--exposure", "no"],
            &[
                "the exposure is 0",
                "ask.csv:2:20",
                "the exposure is 1e300",
                "ask.csv:4:13",
            ],
        ),
        (
            &counts,
            &["--exposure", "peple"],
            &["there is no column `peple`", "did you mean `people`"],
        ),
        (
            &counts,
            &["--trials", "3"],
            &["`trials` are of `binomial` rows"],
        ),
        (
            &successes,
            &["--trials", "3"],
            &["add `--scale observation`"],
        ),
        (
            &successes,
            &["--trials", "2.5", "--scale", "observation"],
            &["a whole number above zero"],
        ),
        (
            &counts,
            &["--exposure", "3", "--trials", "3"],
            &["both `exposure` and `trials`"],
        ),
        (
            &counts,
            &["--keep", "place,plce"],
            &["there is no column `plce`", "did you mean `place`"],
        ),
        (
            &counts,
            &["--keep", "place,place"],
            &["the column `place` is given twice"],
        ),
        (
            &counts,
            &["--keep", "mean"],
            &["two columns named `mean`", "leave it out of `--keep`"],
        ),
    ];
    let mut wrong = Vec::new();
    for (folder, flags, told) in cases {
        let before = names(folder.path());
        let output = quadrat(folder.path(), &predict(flags));
        let said = stderr(&output);
        let is_told = told.iter().all(|part| said.contains(part));
        let is_clean = output.stdout.is_empty() && names(folder.path()) == before;
        if output.status.code() != Some(1) || !is_told || !is_clean {
            wrong.push(format!("{flags:?}: {told:?}\n{said}"));
        }
    }
    none(&wrong);
}

/// Bags are no rows of a table: they have keys, and one number serves them all.
#[test]
fn bags_take_numbers_alone() {
    let study = "[latent]\nkernel = \"se(x)\"\n[[observe]]\nfile = \"d.csv\"\nsupport = { bag = { file = \"b.csv\", key = \"k\", dims = [\"x\"] } }\naggregate = \"sum\"\nlikelihood = { poisson = { count = \"n\" } }\n[inference]\nhyperparameters = \"map\"\n";
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("d.csv", b"k,n\na,3\nb,5\n"),
        ("b.csv", b"k,x,w\na,0,1\na,1,1\nb,2,1\nb,3,1\n"),
    ]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let ask = |more: &[&str]| {
        let mut args = vec!["predict", "m.quadrat", "--at", "b.csv", "--bag", "x"];
        args.extend(["--key", "k", "--aggregate", "sum"]);
        args.extend(more);
        quadrat(folder.path(), &args)
    };
    let mean = |more: &[&str]| {
        let output = ask(more);
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().nth(1).unwrap().to_owned();
        line.split(',').nth(1).unwrap().parse::<f64>().unwrap()
    };
    // One factor, one rounding.
    assert!((mean(&["--exposure", "3"]) / (3.0 * mean(&[])) - 1.0).abs() < 1e-14);
    for (flags, told) in [
        (["--exposure", "w"], "names the column `w`, but no table"),
        (
            ["--keep", "w"],
            "`keep` names a column, but there is no table",
        ),
    ] {
        let output = ask(&flags);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(told), "{}", stderr(&output));
    }
}

/// Counts and successes of any size take no longer than small ones.
#[test]
fn enormous_counts_are_predicted_at_once() {
    let ask = "t,people,asked\n0.5,1e4,1e4\n1.5,1e9,1e9\n2.5,1e15,1e15\n3.5,1e100,1e15\n";
    for (kind, flag) in [
        (COUNTS, ["--exposure", "people"]),
        (SPREAD, ["--exposure", "people"]),
        (SUCCESSES, ["--trials", "asked"]),
    ] {
        let folder = fitted(kind, "");
        std::fs::write(folder.path().join("ask.csv"), ask).unwrap();
        let start = std::time::Instant::now();
        let mut args = predict(&flag);
        args.extend(["--scale", "observation", "-o", "new.csv"]);
        done(folder.path(), &args);
        // Half a second would be long; the machine may have other work. Term by term these four
        // rows took minutes.
        assert!(start.elapsed().as_secs() < 30, "{kind}");
        let mut args = predict(&flag[..if flag[0] == "--trials" { 0 } else { 2 }]);
        args.extend(["-o", "mean.csv"]);
        done(folder.path(), &args);
        let numbers = |name: &str| -> Vec<Vec<f64>> {
            let text = read(folder.path(), name);
            let rows = text.lines().skip(1);
            rows.map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
                .collect()
        };
        let (new, rates) = (numbers("new.csv"), numbers("mean.csv"));
        for (row, (new, rate)) in new.iter().zip(&rates).enumerate() {
            let factor = match flag[0] {
                "--trials" => [1e4, 1e9, 1e15, 1e15][row],
                _ => 1.0,
            };
            // t, mean, sd, lower, median, upper: beyond a billion the count adds nothing to what
            // is not known of its mean, but for overdispersion; the roots of a billion are 3e-5 of
            // it, to the square. Quantiles of counts leave a thousandth of the weight of the
            // hyperparameters out.
            assert!(
                (new[1] / (factor * rate[1]) - 1.0).abs() < 1e-6,
                "{kind} {row}"
            );
            if row > 0 && kind != SPREAD {
                for at in 2..6 {
                    let ratio = new[at] / (factor * rate[at]);
                    let tolerance = if at == 2 { 1e-6 } else { 1e-3 };
                    assert!(
                        (ratio - 1.0).abs() < tolerance,
                        "{kind} {row} {at}: {ratio}"
                    );
                }
            }
            assert!(new[3] <= new[4] && new[4] <= new[5]);
        }
    }
}
