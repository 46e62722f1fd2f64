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
    let said = "expectation propagation did not settle; the variational approximation was used";
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
        text.contains("did not settle") && text.contains("method"),
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

#[test]
fn what_cannot_vary_is_refused_with_place_and_remedy() {
    let table = table();
    let cases: [(&str, &str, &[&str]); 10] = [
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
            &["`[dispersion]` beside `[noise]`", "s.toml:18:1"],
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
