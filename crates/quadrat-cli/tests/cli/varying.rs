//! `[noise]` and `[dispersion]`.

use crate::harness::{done, folder, quadrat, stderr, stdout};

/// A wave whose noise grows from .02 to .5, by a fixed pattern.
fn table() -> String {
    let mut text = String::from("t,y,n\n");
    for i in 0..60 {
        let t = f64::from(i) / 10.0;
        // Quasi-random in (-1.7, 1.7), of mean 0 and variance 1.
        let z = 3.464 * ((f64::from(i) * 0.618_034).fract() - 0.5);
        let y = t.sin() + (0.02 + 0.08 * t) * z;
        text.push_str(&format!("{t},{y},{}\n", (5.0 + 4.0 * t.sin()).round()));
    }
    text
}

fn study(likelihood: &str, more: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = {{ point = ["t"] }}
likelihood = {likelihood}
[[predict]]
name = "new"
scale = "observation"
support = {{ grid = {{ t = {{ from = 0.5, to = 5.5, step = 5 }} }} }}
[[predict]]
name = "curve"
support = {{ grid = {{ t = {{ from = 0, to = 6, step = 0.5 }} }} }}
[inference]
hyperparameters = "map"
{more}"#
    )
}

const GAUSSIAN: &str = "{ gaussian = { value = \"y\" } }";

/// Pairs of intervals that contradict each other, under a noise that may have any size.
#[test]
fn a_fit_that_falls_back_on_the_variational_approximation_says_so() {
    let mut table = String::from("t,a,b\n");
    for i in 0..24 {
        let from = 10 * (i % 2);
        table.push_str(&format!("{},{from},{from}.1\n", 0.5 * f64::from(i / 2)));
    }
    let fixed = |(name, value): (&str, f64)| {
        format!("\"{name}\" = {{ value = {value:?}, fixed = true }}\n")
    };
    let settings = [
        ("se.variance", 1.0),
        ("se.lengthscale.t", 1.0),
        ("noise.se.variance", 50.0),
        ("noise.se.lengthscale.t", 0.3),
    ];
    let more = format!(
        "[noise]\nkernel = \"se(t)\"\n[hyperparameters]\n{}",
        settings.map(fixed).concat()
    );
    let study = study("{ interval = { lower = \"a\", upper = \"b\" } }", &more);
    let files = [("s.toml", study.as_bytes()), ("d.csv", table.as_bytes())];
    let folder = folder(&files);
    let run = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(run.status.success(), "{}", stderr(&run));
    let said = "expectation propagation did not converge; the variational approximation was used";
    assert!(
        (stdout(&run) + &stderr(&run)).contains(said),
        "{}",
        stdout(&run)
    );
    let fit = std::fs::read_to_string(folder.path().join("out/fit.json")).unwrap();
    for part in [
        "\"inference\": \"variational\"",
        "\"evidence\": \"elbo\"",
        said,
    ] {
        assert!(fit.contains(part), "{fit}");
    }
    // By name it is an error, with a way out.
    let named = study.replace("[inference]", "[inference]\nmethod = \"ep\"");
    std::fs::write(folder.path().join("e.toml"), named).unwrap();
    let run = quadrat(folder.path(), &["run", "e.toml", "-o", "other"]);
    assert!(!run.status.success());
    let text = stderr(&run);
    assert!(
        text.contains("did not converge") && text.contains("method"),
        "{text}"
    );
}

#[test]
fn bands_of_new_observations_widen_with_the_noise() {
    let table = table();
    let study = study(GAUSSIAN, "[noise]\nkernel = \"se(t)\"\n");
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", table.as_bytes())]);
    let run = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(run.status.success(), "{}", stderr(&run));
    let text = stdout(&run);
    assert!(
        text.contains("noise variance a function of its own under se(t) with link exp"),
        "{text}"
    );
    assert!(
        text.contains("noise.se.lengthscale.t") && text.contains("noise.mean.constant"),
        "{text}"
    );
    assert!(
        text.contains("(by expectation propagation); variational lower bound "),
        "{text}"
    );
    let fit = std::fs::read_to_string(folder.path().join("out/fit.json")).unwrap();
    let fit: serde_json::Value = serde_json::from_str(&fit).unwrap();
    let nats = |key: &str| fit[key].as_f64().unwrap();
    assert!(nats("variational_bound") < nats("log_evidence"), "{fit}");
    let csv = std::fs::read_to_string(folder.path().join("out/new.csv")).unwrap();
    let sds: Vec<f64> = csv
        .lines()
        .skip(1)
        .map(|l| l.split(',').nth(2).unwrap().parse().unwrap())
        .collect();
    // True noise .06 and .46.
    assert!(
        (0.03..0.12).contains(&sds[0]) && (0.3..0.7).contains(&sds[1]),
        "{sds:?}"
    );
    let report = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(report.contains("New observations"));
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let args = [
        "predict",
        "m.quadrat",
        "--at",
        "d.csv",
        "--point",
        "t",
        "--scale",
        "observation",
    ];
    let again = quadrat(folder.path(), &args);
    assert!(again.status.success(), "{}", stderr(&again));
    assert_eq!(stdout(&again).lines().count(), 61);
}

/// Values of one output and counts of another, each with a spread that grows.
#[test]
fn noise_and_dispersion_vary_in_one_study() {
    let (mut values, mut counts) = (String::from("t,y\n"), String::from("t,n\n"));
    for i in 0..40 {
        let t = 0.15 * f64::from(i);
        // Quasi-random in (-1.7, 1.7), of mean 0 and variance 1.
        let z = |i: i32| 3.464 * ((f64::from(i) * 0.618_034).fract() - 0.5);
        values.push_str(&format!("{t},{}\n", t.sin() + (0.05 + 0.1 * t) * z(i)));
        let n = (2.5 + 0.5 * t.sin() + 0.2 * t * z(2 * i + 1)).exp().round();
        counts.push_str(&format!("{t},{n}\n"));
    }
    let study = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "v.csv"
output = "level"
support = { point = ["t"] }
likelihood = { gaussian = { value = "y" } }
[[observe]]
file = "n.csv"
output = "visits"
support = { point = ["t"] }
likelihood = { negative_binomial = { count = "n" } }
[[predict]]
name = "new"
scale = "observation"
support = { grid = { t = { from = 0.5, to = 5.5, step = 5 } } }
[[predict]]
name = "curve"
support = { grid = { t = { from = 0, to = 6, step = 0.5 } } }
[inference]
hyperparameters = "map"
[noise]
kernel = "se(t)"
[dispersion]
kernel = "matern32(t)"
link = "softplus"
"#;
    let files = [("s.toml", study), ("v.csv", &values), ("n.csv", &counts)];
    let folder = folder(&files.map(|(name, text)| (name, text.as_bytes())));
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    for part in [
        "noise variance a function of its own under se(t) with link exp",
        "dispersion a function of its own under matern32(t) with link softplus",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let fit: serde_json::Value = serde_json::from_str(&read("fit.json")).unwrap();
    assert_eq!(fit["converged"], true, "{fit}");
    for name in [
        "noise.se.lengthscale.t",
        "noise.mean.constant",
        "dispersion.matern32.lengthscale.t",
        "dispersion.mean.constant",
    ] {
        let ends = &fit["hyperparameter_intervals"][name];
        assert!(ends[0].as_f64() < ends[1].as_f64(), "{name}: {fit}");
    }
    assert!(fit["variational_bound"].as_f64() < fit["log_evidence"].as_f64());
    let new = read("new.csv");
    let rows: Vec<Vec<&str>> = new.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|own| *own == name).unwrap();
    let sd = |row: &Vec<&str>| row[column("sd")].parse::<f64>().unwrap();
    for output in ["level", "visits"] {
        let of_output = rows.iter().filter(|row| row[column("output")] == output);
        let sds: Vec<f64> = of_output.map(sd).collect();
        assert!(sds.len() == 2 && sds[1] > 1.5 * sds[0], "{output}: {sds:?}");
    }
    // A band of new observations behind each response.
    let report = read("report.html");
    assert!(report.contains("New observations"), "{report}");
    // What was saved answers as the run did.
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    std::fs::write(folder.path().join("at.csv"), "t\n0.5\n5.5\n").unwrap();
    for output in ["level", "visits"] {
        let args = [
            "predict",
            "m.quadrat",
            "--at",
            "at.csv",
            "--point",
            "t",
            "--of",
            output,
            "--scale",
            "observation",
        ];
        let again = done(folder.path(), &args);
        let again: Vec<&str> = again.lines().skip(1).collect();
        let first = new.lines().filter(|line| line.contains(output));
        assert_eq!(again.len(), 2, "{again:?}");
        for (first, again) in first.zip(again) {
            let last = |line: &str| line.rsplit(',').next().map(str::to_owned);
            assert_eq!(last(first), last(again), "{output}");
        }
    }
}

#[test]
fn what_cannot_vary_is_refused_with_place_and_remedy() {
    let table = table();
    let cases: [(&str, &str, &[&str]); 11] = [
        (
            GAUSSIAN,
            "[noise]\n",
            &["[noise] needs `kernel`", "s.toml:16:1"],
        ),
        (
            GAUSSIAN,
            "[noise]\nkernel = \"se(t\"\n",
            &["in the kernel", "s.toml:17:"],
        ),
        (
            GAUSSIAN,
            "[noise]\nkernel = \"se(x)\"\n",
            &["[noise] uses `x`", "s.toml:17:10", "its inputs can be `t`"],
        ),
        (
            GAUSSIAN,
            "[noise]\nkernel = \"coregion(o, a, b) * se(t)\"\n",
            &["leave `coregion` out", "s.toml:17:10"],
        ),
        (
            GAUSSIAN,
            "[noise]\nkernel = \"se(t)\"\nlink = \"square\"\n",
            &["`link = \"square\"` is not available", "s.toml:18:8"],
        ),
        (
            GAUSSIAN,
            "[noise]\nkernel = \"se(t)\"\nlinks = \"exp\"\n",
            &["unknown key `links` in [noise]", "did you mean `link`"],
        ),
        (
            GAUSSIAN,
            "method = \"laplace\"\n[noise]\nkernel = \"se(t)\"\n",
            &[
                "cannot be used with [noise]",
                "s.toml:16:10",
                "`ep` or `variational`",
            ],
        ),
        (
            GAUSSIAN,
            "method = \"laplace\"\n[noise]\nkernel = \"se(t)\"\n[dispersion]\nkernel = \"se(t)\"\n",
            &["cannot be used with [noise]", "s.toml:16:10"],
        ),
        (
            GAUSSIAN,
            "[dispersion]\nkernel = \"se(t)\"\n",
            &[
                "no table learns a dispersion",
                "s.toml:16:1",
                "negative_binomial",
            ],
        ),
        (
            "{ gaussian = { value = \"y\", variance = 0.1 } }",
            "[noise]\nkernel = \"se(t)\"\n",
            &[
                "no table learns a noise variance",
                "s.toml:16:1",
                "extra = \"learn\"",
            ],
        ),
        (
            GAUSSIAN,
            "[noise]\nkernel = \"se(t)\"\n[dispersion]\nkernel = \"se(t)\"\n",
            &[
                "[dispersion] has nothing to act on: no table learns a dispersion",
                "s.toml:18:1",
            ],
        ),
    ];
    for (likelihood, more, wanted) in cases {
        let study = study(likelihood, more);
        let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", table.as_bytes())]);
        let run = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        let said = stderr(&run);
        assert_eq!(run.status.code(), Some(1), "{more}: {said}");
        for text in wanted {
            assert!(said.contains(text), "{more}: no `{text}` in\n{said}");
        }
        assert!(!folder.path().join("out").exists());
    }
}
