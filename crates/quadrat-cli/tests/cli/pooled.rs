//! Counts and waiting times over boxes, regions and bags: sums after a link.

use crate::harness::{column, done, fit, folder, names, quadrat, refused, stderr, stdout};

const BANDS: &[u8] =
    b"from,to,n\n0,10,31\n10,20,58\n20,30,90\n30,40,61\n40,50,28\n50,60,9\n60,70,12\n70,80,30\n";

fn histogram(latent: &str, likelihood: &str, inference: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(age)"
{latent}
[[observe]]
file = "d.csv"
support = {{ box = {{ age = ["from", "to"] }} }}
aggregate = "sum"
likelihood = {{ {likelihood} }}
[[predict]]
name = "rate"
support = {{ grid = {{ age = {{ from = 0, to = 80, step = 5 }} }} }}
[[predict]]
name = "years"
support = {{ grid = {{ age = {{ from = 0, to = 80, step = 1, cells = true }} }} }}
aggregate = "sum"
[[predict]]
name = "bands"
support = {{ file = "d.csv", box = {{ age = ["from", "to"] }} }}
aggregate = "sum"
[[predict]]
name = "again"
support = {{ file = "d.csv", box = {{ age = ["from", "to"] }} }}
aggregate = "sum"
scale = "observation"
[inference]
{inference}
"#
    )
}

#[test]
fn a_histogram_after_every_link_runs_from_end_to_end() {
    let counts = [31.0, 58.0, 90.0, 61.0, 28.0, 9.0, 12.0, 30.0];
    for link in ["exp", "softplus", "square"] {
        let study = histogram(
            &format!("link = \"{link}\""),
            "poisson = { count = \"n\" }",
            "hyperparameters = \"map\"",
        );
        let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", BANDS)]);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(output.status.success(), "{link}: {}", stderr(&output));
        let json = fit(folder.path());
        assert_eq!(json["inference"], "laplace");
        assert_eq!(json["evidence"], "laplace");
        assert_eq!(json["rows"], 8);
        assert_eq!(json["warnings"].as_array().unwrap().len(), 0, "{json}");
        // Totals meet the counts, up to what smoothing and noise leave.
        let bands = column(folder.path(), "bands", "mean");
        for (mean, count) in bands.iter().zip(counts) {
            let z = (mean - count) / f64::sqrt(count);
            assert!(z.abs() < 1.0, "{link}: {mean} of {count}");
        }
        let years = column(folder.path(), "years", "mean");
        for (band, years) in bands.iter().zip(years.chunks(10)) {
            // Means of sums are sums of means.
            let sum: f64 = years.iter().sum();
            assert!((sum / band - 1.0).abs() < 2e-3, "{link}: {sum} {band}");
        }
        let lower = column(folder.path(), "years", "lower");
        assert!(lower.iter().all(|l| *l >= 0.0));
        // A new count varies more than its mean.
        let (sd, again) = (
            column(folder.path(), "bands", "sd"),
            column(folder.path(), "again", "sd"),
        );
        for ((sd, again), mean) in sd.iter().zip(&again).zip(&bands) {
            let want = (sd * sd + mean).sqrt();
            assert!((again / want - 1.0).abs() < 1e-3, "{link}: {again} {want}");
        }
        let report = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
        assert!(report.contains("per unit of age"));
    }
}

#[test]
fn a_saved_model_answers_over_boxes() {
    let study = histogram(
        "",
        "negative_binomial = { count = \"n\" }",
        "hyperparameters = \"map\"",
    );
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", BANDS)]);
    let run = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(run.status.success(), "{}", stderr(&run));
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let asked = quadrat(
        folder.path(),
        &[
            "predict",
            "m.quadrat",
            "--at",
            "d.csv",
            "--box",
            "age=from,to",
            "--aggregate",
            "sum",
        ],
    );
    assert!(asked.status.success(), "{}", stderr(&asked));
    let want = std::fs::read_to_string(folder.path().join("out/bands.csv")).unwrap();
    assert_eq!(stdout(&asked), want);
}

#[test]
fn bags_and_regions_add_up_after_the_link() {
    let pixels: String = std::iter::once("district,x,y,people\n".to_owned())
        .chain((0..36).map(|i| {
            let (x, y) = (i % 6, i / 6);
            format!(
                "{},{x}.5,{y}.5,{}\n",
                (y / 2) * 3 + x / 2,
                10 + (7 * i) % 11
            )
        }))
        .collect();
    let squares: Vec<String> = (0..9)
        .map(|i| {
            let (x, y) = (2 * (i % 3), 2 * (i / 3));
            format!(
                r#"{{"type":"Feature","properties":{{"district":"{i}"}},"geometry":{{"type":"Polygon","coordinates":[[[{x},{y}],[{},{y}],[{},{}],[{x},{}],[{x},{y}]]]}}}}"#,
                x + 2, x + 2, y + 2, y + 2
            )
        })
        .collect();
    let geojson = format!(
        r#"{{"type":"FeatureCollection","features":[{}]}}"#,
        squares.join(",")
    );
    let cases: String = "district,cases\n".to_owned()
        + &[4, 7, 15, 3, 9, 22, 5, 12, 31]
            .iter()
            .enumerate()
            .map(|(i, n)| format!("{i},{n}\n"))
            .collect::<String>();
    for support in [
        r#"bag = { file = "pixels.csv", key = "district", dims = ["x", "y"], weight = "people" }"#,
        r#"region = { file = "squares.geojson", key = "district", dims = ["x", "y"], planar = true }"#,
    ] {
        let study = format!(
            r#"[latent]
kernel = "se(x, y, shared = true)"
[[observe]]
file = "cases.csv"
support = {{ {support} }}
aggregate = "sum"
likelihood = {{ poisson = {{ count = "cases" }} }}
[[predict]]
name = "again"
support = {{ file = "cases.csv", {support} }}
aggregate = "sum"
[inference]
hyperparameters = "map"
"#
        );
        let folder = folder(&[
            ("s.toml", study.as_bytes()),
            ("cases.csv", cases.as_bytes()),
            ("pixels.csv", pixels.as_bytes()),
            ("squares.geojson", geojson.as_bytes()),
        ]);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(output.status.success(), "{support}: {}", stderr(&output));
        let means = column(folder.path(), "again", "mean");
        let total: f64 = means.iter().sum();
        // 108 cases; the sum is known to a tenth.
        assert!((total - 108.0).abs() < 6.0, "{support}: {means:?}");
        assert!(means[8] > means[0], "{support}: {means:?}");

        // The same through inducing points; what is saved answers the same.
        let sparse = study.replace(
            "[inference]\n",
            "[inference]\nmethod = \"sparse\"\ninducing = 20\n",
        );
        std::fs::write(folder.path().join("s.toml"), &sparse).unwrap();
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(output.status.success(), "{support}: {}", stderr(&output));
        let json = fit(folder.path());
        assert_eq!(
            (&json["inference"], &json["evidence"]),
            (&"sparse".into(), &"elbo".into())
        );
        let again = column(folder.path(), "again", "mean");
        for (a, b) in again.iter().zip(&means) {
            // Two approximations, which find other hyperparameters: well within the noise of a
            // count.
            assert!(
                (a - b).abs() < 0.8 * b.sqrt(),
                "{support}: {again:?} {means:?}"
            );
        }
        done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let table: &[(&str, &[u8])] = &[("d.csv", BANDS)];
    let mut wrong = Vec::new();
    let ep = histogram("", "poisson = { count = \"n\" }", "method = \"ep\"");
    wrong.extend(
        refused(
            "ep",
            &ep,
            table,
            &["sums after a link", "use auto, laplace or sparse"],
        )
        .err(),
    );
    let trials = histogram("", "binomial = { successes = \"n\", trials = 200 }", "");
    wrong.extend(
        refused(
            "binomial",
            &trials,
            table,
            &[
                "`aggregate = \"sum\"` adds up probabilities",
                "aggregate = \"mean\"",
            ],
        )
        .err(),
    );
    let fine = histogram("", "poisson = { count = \"n\" }", "")
        + "[hyperparameters]\n\"se.lengthscale.age\" = { value = 0.001, fixed = true }\n";
    wrong.extend(
        refused(
            "nodes",
            &fine,
            table,
            &[
                "8 rows",
                "points within the boxes",
                "4000",
                "`method = \"sparse\"`",
                "coarser bins",
            ],
        )
        .err(),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
}

#[test]
fn the_check_by_sampling_sets_rates_within_rows_beside_the_fit() {
    let study = histogram(
        "",
        "poisson = { count = \"n\" }",
        "hyperparameters = \"map\"",
    ) + "[hyperparameters]\n\"se.variance\" = { value = 1.0, fixed = true }\n\"se.lengthscale.age\" = { value = 15.0, fixed = true }\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", BANDS)]);
    let output = quadrat(
        folder.path(),
        &["run", "s.toml", "-o", "out", "--check", "mcmc"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = stdout(&output);
    assert!(printed.contains("latent values of 8 rows"), "{printed}");
    let json = fit(folder.path());
    let rows = json["mcmc"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    // Logarithms of the mean rates within the bands.
    let bands = column(folder.path(), "bands", "mean");
    for (row, band) in rows.iter().zip(bands) {
        let mean = row["sampled"]["mean"].as_f64().unwrap();
        let sd = row["sampled"]["sd"].as_f64().unwrap();
        assert!((mean - (band / 10.0).ln()).abs() < 0.3 * sd, "{row} {band}");
    }
}

#[test]
fn a_check_by_sampling_of_too_many_nodes_is_refused_and_writes_nothing() {
    let study = histogram(
        "",
        "poisson = { count = \"n\" }",
        "hyperparameters = \"map\"",
    ) + "[hyperparameters]\n\"se.lengthscale.age\" = { value = 0.1, fixed = true }\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", BANDS)]);
    let before = names(folder.path());
    let output = quadrat(
        folder.path(),
        &["run", "s.toml", "-o", "out", "--check", "mcmc"],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("at most 1000 places within rows"),
        "{}",
        stderr(&output)
    );
    assert_eq!(names(folder.path()), before);
}

#[test]
fn means_above_their_intervals_are_warned_of() {
    // Two places tell next to nothing of the variance: the mean of a rate is that of the largest
    // variances.
    let study = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
likelihood = { poisson = { count = "n" } }
[[predict]]
name = "rate"
support = { grid = { t = { from = 0, to = 4, step = 1 } } }
"#;
    let counts = b"t,n\n1,4\n1,5\n1,6\n1,5\n1,7\n3,2\n3,2\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", counts)]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let warnings = fit(folder.path())["warnings"].to_string();
    assert!(warnings.contains("use the median"), "{warnings}");
    let medians = column(folder.path(), "rate", "median");
    assert!(
        medians.iter().all(|m| (1.0..7.0).contains(m)),
        "{medians:?}"
    );
    // The two halves say it too.
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    std::fs::write(folder.path().join("at.csv"), "t\n0\n1\n2\n3\n4\n").unwrap();
    let args = ["predict", "m.quadrat", "--at", "at.csv", "--point", "t"];
    let said = stderr(&quadrat(folder.path(), &args));
    assert!(
        said.contains("warning: the mean of") && said.contains("use the median"),
        "{said}"
    );
    let quiet = quadrat(
        folder.path(),
        &[&args[..], &["--quiet", "-o", "o.csv"]].concat(),
    );
    assert_eq!(stderr(&quiet), "");
}

/// Proportions over bands: averages, expected successes, new trials, new bands and draws.
#[test]
fn proportions_over_boxes_run_from_end_to_end() {
    let asked = b"from,to,asked,yes\n18,25,120,31\n25,35,160,52\n35,50,210,88\n50,65,190,97\n65,80,110,61\n";
    for (kind, method) in [
        (
            "binomial = { successes = \"yes\", trials = \"asked\" }",
            "auto",
        ),
        (
            "binomial = { successes = \"yes\", trials = \"asked\", link = \"probit\" }",
            "laplace",
        ),
        (
            "binomial = { successes = \"yes\", trials = \"asked\" }",
            "sparse",
        ),
    ] {
        let study = format!(
            r#"[latent]
kernel = "se(age)"
[[observe]]
file = "d.csv"
support = {{ box = {{ age = ["from", "to"] }} }}
aggregate = "mean"
likelihood = {{ {kind} }}
[[predict]]
name = "bands"
support = {{ file = "d.csv", box = {{ age = ["from", "to"] }} }}
aggregate = "mean"
draws = 3
above = 0.5
[[predict]]
name = "sums"
support = {{ file = "d.csv", box = {{ age = ["from", "to"] }} }}
aggregate = "sum"
[[predict]]
name = "new"
support = {{ file = "d.csv", box = {{ age = ["from", "to"] }} }}
aggregate = "mean"
scale = "observation"
trials = 40
[[predict]]
name = "years"
support = {{ grid = {{ age = {{ from = 15, to = 85, step = 5 }} }} }}
[inference]
hyperparameters = "map"
method = "{method}"
"#
        );
        let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", asked)]);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(output.status.success(), "{kind}: {}", stderr(&output));
        assert!(stdout(&output).contains("329 successes among 790 trials"));
        let json = fit(folder.path());
        let want = if method == "sparse" {
            "sparse"
        } else {
            "laplace"
        };
        assert_eq!(json["inference"], want);
        let of = |name: &str, what: &str| column(folder.path(), name, what);
        let (means, sds) = (of("bands", "mean"), of("bands", "sd"));
        let observed = [
            31.0 / 120.0,
            52.0 / 160.0,
            88.0 / 210.0,
            97.0 / 190.0,
            61.0 / 110.0,
        ];
        for (i, share) in observed.iter().enumerate() {
            // No farther from what was seen than it is uncertain.
            assert!(
                (means[i] - share).abs() < 2.0 * sds[i],
                "{kind} {i}: {}",
                means[i]
            );
        }
        let widths = [7.0, 10.0, 15.0, 15.0, 15.0];
        for (i, sum) in of("sums", "mean").iter().enumerate() {
            // Both are rounded to some digits.
            assert!((sum / (widths[i] * means[i]) - 1.0).abs() < 1e-3);
        }
        for (i, new) in of("new", "mean").iter().enumerate() {
            assert!((new / (40.0 * means[i]) - 1.0).abs() < 1e-2);
        }
        for name in ["bands", "years"] {
            let ends = of(name, "lower").into_iter().zip(of(name, "upper"));
            for (lower, upper) in ends {
                assert!(0.0 <= lower && lower < upper && upper <= 1.0);
            }
        }
        for draw in ["draw_1", "draw_2", "draw_3", "above_0.5"] {
            assert!(of("bands", draw).iter().all(|p| (0.0..=1.0).contains(p)));
        }
        let report = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
        assert!(report.contains("probability of yes") || report.contains("probability of `yes`"));
    }
}
