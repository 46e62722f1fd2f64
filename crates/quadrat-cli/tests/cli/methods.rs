//! Methods of inference, links, and kinds that share a function.

use crate::harness::{column, done, fit, folder, quadrat, stderr, stdout};

const COUNTS: &[u8] = b"t,n\n0,4\n1,6\n2,5\n3,9\n4,12\n5,10\n6,17\n7,20\n8,26\n";

fn counts(latent: &str, inference: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(t)"
{latent}
[[observe]]
file = "d.csv"
support = {{ point = ["t"] }}
likelihood = {{ poisson = {{ count = "n" }} }}
[[predict]]
name = "at"
support = {{ grid = {{ t = {{ from = 0, to = 8, step = 4 }} }} }}
[inference]
hyperparameters = "map"
{inference}
"#
    )
}

#[test]
fn methods_are_used_and_named_and_agree() {
    let mut first: Option<Vec<f64>> = None;
    for (method, words, evidence, named) in [
        (
            "ep",
            "expectation propagation",
            "ep",
            "by expectation propagation",
        ),
        (
            "variational",
            "variational inference",
            "elbo",
            "variational lower bound",
        ),
        (
            "laplace",
            "Laplace's method",
            "laplace",
            "by Laplace's method",
        ),
    ] {
        let text = counts("", &format!("method = \"{method}\""));
        let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", COUNTS)]);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(output.status.success(), "{method}: {}", stderr(&output));
        let summary = stdout(&output);
        assert!(
            summary.contains(words) && summary.contains(named),
            "{summary}"
        );
        let json = fit(folder.path());
        assert_eq!(
            (&json["inference"], &json["evidence"]),
            (&method.into(), &evidence.into())
        );
        let means = column(folder.path(), "at", "mean");
        // Counts of ten and more know the logarithm of a rate to 0.3 or better: methods differ by
        // parts of half its variance, 0.05.
        let close = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 0.05;
        let first = first.get_or_insert_with(|| means.clone());
        assert!(
            means.iter().zip(&*first).all(close),
            "{method}: {means:?} {first:?}"
        );
    }
}

/// Counts of two outputs, one behind `exp` and one behind `softplus`.
#[test]
fn outputs_have_links_of_their_own() {
    let table = |output: &str, link: &str| {
        format!(
            "[[observe]]\nfile = \"d.csv\"\nsupport = {{ point = [\"t\"] }}\noutput = \"{output}\"\nlikelihood = {{ poisson = {{ count = \"n\"{link} }} }}\n"
        )
    };
    let text = String::from("[latent]\nkernel = \"se(t)\"\n[coregionalization]\nrank = 0\n")
        + &table("a", "")
        + &table("b", ", link = \"softplus\"")
        + "[inference]\nmethod = \"laplace\"\nhyperparameters = \"map\"\n"
        + "[[predict]]\nname = \"latent\"\nscale = \"latent\"\nsupport = { grid = { t = { from = 0, to = 8, step = 4 } } }\n";
    let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", COUNTS)]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(
        said.contains("links exp, softplus in the order of the tables"),
        "{said}"
    );
    let latent = column(folder.path(), "latent", "mean");
    for (a, b) in latent[..3].iter().zip(&latent[3..]) {
        // The same rates: `ln(1 + e^b) = e^a`, but for priors that differ.
        let (of_a, of_b) = (a.exp(), b.exp().ln_1p());
        assert!((of_a / of_b - 1.0).abs() < 0.15, "{a} {b}");
    }
}

#[test]
fn links_change_the_latent_function_and_not_the_rates() {
    for (link, inverse) in [
        ("exp", f64::ln as fn(f64) -> f64),
        ("square", f64::sqrt),
        ("softplus", |rate: f64| rate.exp_m1().ln()),
    ] {
        let text = counts(&format!("link = \"{link}\""), "method = \"laplace\"")
            + "[[predict]]\nname = \"latent\"\nscale = \"latent\"\nsupport = { grid = { t = { from = 0, to = 8, step = 4 } } }\n";
        let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", COUNTS)]);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(output.status.success(), "{link}: {}", stderr(&output));
        assert!(stdout(&output).contains(&format!("link {link}")));
        let rates = column(folder.path(), "at", "mean");
        let latent = column(folder.path(), "latent", "mean");
        assert!(
            rates.is_sorted() && 3.0 < rates[0] && rates[2] < 30.0,
            "{link}: {rates:?}"
        );
        for (rate, f) in rates.iter().zip(&latent) {
            let expected = inverse(*rate);
            assert!(
                // The mean of a rate is above the rate of the mean: under exp by half the variance
                // of f, at most 0.1, where f is from 1.2 on; under a square by 1/4 in f^2 from 3
                // on.
                (f - expected).abs() < 0.1 * expected.abs(),
                "{link}: {f}, {expected}"
            );
        }
    }
}

#[test]
fn an_approximation_of_normal_rows_is_exact() {
    let table: &[u8] = b"t,y\n0,1.1\n1,1.9\n2,3.2\n3,4.1\n4,4.8\n5,6.2\n";
    let mut evidence = Vec::new();
    for method in ["exact", "ep"] {
        let text = counts("", &format!("method = \"{method}\""))
            .replace(
                "poisson = { count = \"n\" }",
                "gaussian = { value = \"y\" }",
            )
            .replace("to = 8", "to = 4");
        let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", table)]);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(output.status.success(), "{method}: {}", stderr(&output));
        let json = fit(folder.path());
        assert_eq!(json["inference"], method);
        evidence.push(json["log_evidence"].as_f64().unwrap());
    }
    // Both optimisers stop when the objective is flat to 1e-6.
    assert!((evidence[0] - evidence[1]).abs() < 1e-3, "{evidence:?}");
}

const SHARED: &str = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "bands.csv"
support = { box = { t = ["from", "to"] } }
aggregate = "sum"
likelihood = { gaussian = { value = "y", variance = 0.01 } }
[[observe]]
file = "signs.csv"
support = { point = ["t"] }
likelihood = { positive = {} }
[[predict]]
name = "at"
support = { grid = { t = { from = 0, to = 10, step = 0.5 } } }
[inference]
hyperparameters = "map"
"#;

#[test]
fn signs_keep_a_curve_above_zero() {
    let bands: &[u8] = b"from,to,y\n0,2,8\n2,4,0.1\n4,6,0\n6,8,0.1\n8,10,7\n";
    let signs: String = (0..=20)
        .map(|k| format!("{}\n", f64::from(k) * 0.5))
        .collect();
    let signs = format!("t\n{signs}");
    let files: &[(&str, &[u8])] = &[
        ("s.toml", SHARED.as_bytes()),
        ("bands.csv", bands),
        ("signs.csv", signs.as_bytes()),
    ];
    let with = folder(files);
    let output = quadrat(with.path(), &["run", "s.toml", "-o", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = stdout(&output);
    assert!(
        summary.contains("21 rows of signs.csv: known to be above 0 at points of t"),
        "{summary}"
    );
    let means = column(with.path(), "at", "mean");
    let lowest = means.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(lowest > -0.1, "{means:?}");
}

#[test]
fn a_saved_model_of_counts_predicts_points_and_boxes() {
    let text = counts("", "method = \"laplace\"");
    let folder = folder(&[
        ("s.toml", text.as_bytes()),
        ("d.csv", COUNTS),
        ("at.csv", b"t,to\n2,3\n7,8\n"),
    ]);
    let run = |args: &[&str]| quadrat(folder.path(), args);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let points = run(&["predict", "m.quadrat", "--at", "at.csv", "--point", "t"]);
    assert!(points.status.success(), "{}", stderr(&points));
    let rate: f64 = stdout(&points)
        .lines()
        .nth(2)
        .unwrap()
        .split(',')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    assert!((15.0..27.0).contains(&rate), "{rate}");
    let boxes = run(&[
        "predict",
        "m.quadrat",
        "--at",
        "at.csv",
        "--box",
        "t=t,to",
        "--aggregate",
        "sum",
    ]);
    assert!(boxes.status.success(), "{}", stderr(&boxes));
    // Boxes of width one about a rising rate: the total from 7 to 8 lies above the rate at 7.
    let total: f64 = stdout(&boxes)
        .lines()
        .nth(2)
        .unwrap()
        .split(',')
        .nth(2)
        .unwrap()
        .parse()
        .unwrap();
    assert!((rate..1.4 * rate).contains(&total), "{total} {rate}");
}

#[test]
fn a_saved_model_of_probabilities_has_no_observation_of_a_sum() {
    let text = counts("", "method = \"laplace\"").replace(
        "poisson = { count = \"n\" }",
        "binomial = { successes = \"n\", trials = 40 }",
    );
    let folder = folder(&[
        ("s.toml", text.as_bytes()),
        ("d.csv", COUNTS),
        ("at.csv", b"t,to\n2,3\n7,8\n"),
    ]);
    let run = |args: &[&str]| quadrat(folder.path(), args);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let args = [
        "predict",
        "m.quadrat",
        "--at",
        "at.csv",
        "--box",
        "t=t,to",
        "--aggregate",
        "sum",
        "--scale",
        "observation",
    ];
    let boxes = run(&args);
    assert_eq!(boxes.status.code(), Some(1));
    assert!(
        stderr(&boxes).contains("probabilities that were added up have no new observation"),
        "{}",
        stderr(&boxes)
    );
}

#[test]
fn new_observations_need_a_noise_that_holds_for_them_also_where_inference_is_approximate() {
    let study = |variance: &str| {
        format!(
            r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = {{ point = ["t"] }}
likelihood = {{ interval = {{ lower = "lo", upper = "hi", variance = {variance} }} }}
[[predict]]
name = "at"
scale = "observation"
support = {{ grid = {{ t = {{ from = 0, to = 4, step = 2 }} }} }}
[inference]
hyperparameters = "map"
"#
        )
    };
    let table: &[u8] = b"t,lo,hi,v\n0,0,1,0.1\n1,1,2,0.1\n2,2,3,0.2\n3,1,2,0.1\n4,0,1,0.1\n";
    let run = |variance: &str| {
        let study = study(variance);
        let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", table)]);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        (output.status.code(), stderr(&output))
    };
    // One known variance that all rows share is that of a new row.
    assert_eq!(run("0.1").0, Some(0), "{}", run("0.1").1);
    let (code, text) = run("\"v\"");
    assert_eq!(code, Some(1));
    assert!(text.contains("differs from row to row"), "{text}");
}
