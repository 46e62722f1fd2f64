//! What the report shows of bags: maps, the rows beside their predictions, relevance, inducing
//! points.

use std::path::Path;

use serde_json::Value;

use crate::harness::{column, fit, folder, quadrat, stderr};

/// 144 pixels in 16 districts of nine; `u` falls with `x`, `v` is another number for every pixel.
fn pixels() -> String {
    let pixel = |i: usize| {
        let (x, y) = (i % 12, i / 12);
        let (u, v) = (30 - 2 * x, (37 * i) % 101);
        let district = (y / 3) * 4 + x / 3;
        format!("{district},{x}.5,{y}.5,{u},{v},{}\n", 1 + (5 * i) % 7)
    };
    "district,x,y,u,v,people\n".to_owned() + &(0..144).map(pixel).collect::<String>()
}

const CASES: [usize; 16] = [40, 28, 11, 4, 44, 23, 14, 6, 37, 31, 9, 3, 41, 25, 12, 5];

fn cases() -> String {
    let row = |(i, n): (usize, &usize)| format!("{i},{n},{}\n", 1 + i % 3);
    "district,cases,years\n".to_owned() + &CASES.iter().enumerate().map(row).collect::<String>()
}

fn study(aggregate: &str, likelihood: &str, method: &str) -> String {
    let bag = r#"bag = { file = "pixels.csv", key = "district", dims = ["x", "y", "u", "v"], weight = "people" }"#;
    format!(
        r#"[latent]
kernel = "se(x, y, v) + se(u)"
[[observe]]
file = "cases.csv"
support = {{ {bag} }}
aggregate = "{aggregate}"
likelihood = {{ {likelihood} }}
[[predict]]
name = "again"
support = {{ file = "cases.csv", {bag} }}
aggregate = "{aggregate}"
scale = "observation"
[[predict]]
name = "rate"
support = {{ file = "cases.csv", {bag} }}
aggregate = "{aggregate}"
[hyperparameters]
"se.lengthscale.x" = {{ value = 4, fixed = true }}
"se.lengthscale.y" = {{ value = 6, fixed = true }}
"se.lengthscale.v" = {{ value = 3000, fixed = true }}
"se#2.lengthscale.u" = {{ value = 20, fixed = true }}
[inference]
{method}
hyperparameters = "map"
"#
    )
}

fn run(study: &str) -> (tempfile::TempDir, String) {
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("cases.csv", cases().as_bytes()),
        ("pixels.csv", pixels().as_bytes()),
    ]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    (folder, report)
}

/// What a figure of a report draws.
fn figure(report: &str, id: &str) -> Value {
    let start = format!("data-figure=\"{id}\"");
    let from = report.find(&start);
    assert!(from.is_some(), "there is no figure {id}");
    let rest = &report[from.unwrap()..];
    let open = "<script type=\"application/json\">";
    let rest = &rest[rest.find(open).unwrap() + open.len()..];
    serde_json::from_str(&rest[..rest.find("</script>").unwrap()]).unwrap()
}

fn numbers(rows: &Value, field: &str) -> Vec<f64> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[field].as_f64().unwrap()).collect()
}

fn held(folder: &Path, table: &str) -> usize {
    let (lower, upper) = (
        column(folder, table, "lower"),
        column(folder, table, "upper"),
    );
    let ends = lower.iter().zip(&upper).zip(CASES);
    ends.filter(|((l, u), n)| (**l..=**u).contains(&(*n as f64)))
        .count()
}

#[test]
fn counts_over_pixels_are_drawn_as_maps_beside_their_predictions() {
    let method = "method = \"sparse\"\ninducing = 25";
    let (folder, report) = run(&study("sum", "poisson = { count = \"cases\" }", method));
    assert_eq!(fit(folder.path())["inference"], "sparse");
    assert!(report.contains("sparse variational inference (25 inducing points)"));
    assert!(report.contains("over 16 bags of x, y, u, v (pixels.csv)"));

    // Districts are squares of nine pixels: one rectangle each, with the rate per person.
    let map = figure(&report, "rate");
    let (observed, predicted) = (&map["datasets"]["observed"], &map["datasets"]["predicted"]);
    assert_eq!(observed.as_array().unwrap().len(), 16);
    assert_eq!(predicted.as_array().unwrap().len(), 16);
    assert_eq!(numbers(predicted, "x1")[..5], [3.0, 6.0, 9.0, 12.0, 3.0]);
    let people: f64 = (0..3)
        .flat_map(|y| (0..3).map(move |x| (1 + (5 * (12 * y + x)) % 7) as f64))
        .sum();
    let rate = numbers(observed, "mean")[0];
    // Drawn with nine digits.
    assert!((rate - 40.0 / people).abs() < 1e-8, "{rate} {people}");
    let mean = column(folder.path(), "rate", "mean")[0];
    assert!((numbers(predicted, "mean")[0] * people / mean - 1.0).abs() < 1e-8);
    assert_eq!(map["datasets"]["marked"].as_array().unwrap().len(), 25);
    assert!(report.contains("Observed cases per unit of people"));

    // Rows beside their predictions are those of the table on the scale of observations.
    let rows = figure(&report, "fitted-rows");
    let scatter = &rows["views"][1]["spec"]["data"]["values"];
    assert_eq!(scatter.as_array().unwrap().len(), 16);
    assert!((numbers(scatter, "m")[0] * people / mean - 1.0).abs() < 1e-6);
    let inside = held(folder.path(), "again");
    let words = format!("hold {inside} of 16 rows; all were fitted, so this is no test.");
    assert!(report.contains(&words), "{words}");
    let levels = &rows["views"][0]["spec"]["data"]["values"];
    assert_eq!(numbers(levels, "nominal"), [0.5, 0.8, 0.95]);
    assert!(numbers(levels, "actual").is_sorted());

    // Sorted by sd / lengthscale: x has 3.452 / 4 (uniform on twelve places, sd sqrt(143 / 12)), u
    // twice that over 20.
    let forest = figure(&report, "input-relevance");
    let names = &forest["views"][0]["spec"]["params"][0]["value"];
    assert_eq!(
        *names,
        serde_json::json!(["x (se)", "y (se)", "u (se#2)", "v (se)"])
    );
    let relevance = numbers(&forest["views"][0]["spec"]["data"]["values"], "mean");
    let sd = (143.0f64 / 12.0).sqrt();
    for (got, want) in relevance.iter().zip([sd / 4.0, sd / 6.0, 2.0 * sd / 20.0]) {
        // An sd over a fixed lengthscale, with all digits.
        assert!((got / want - 1.0).abs() < 1e-9, "{got} {want}");
    }
    assert!(relevance[3] < 0.02);
    for name in ["fitted-rows", "input-relevance", "rate"] {
        let size = |ending: &str| {
            let path = folder.path().join(format!("out/{name}.{ending}"));
            std::fs::metadata(path).unwrap().len()
        };
        assert!(size("svg") > 1000 && size("png") > 1000, "{name}");
    }
}

#[test]
fn averages_with_an_exposure_are_rates_per_exposure() {
    let likelihood = "poisson = { count = \"cases\", exposure = \"years\" }";
    let (folder, report) = run(&study("mean", likelihood, ""));
    let rows = figure(&report, "fitted-rows");
    let scatter = &rows["views"][1]["spec"]["data"]["values"];
    let means = column(folder.path(), "rate", "mean");
    for (i, (got, want)) in numbers(scatter, "m").iter().zip(&means).enumerate() {
        // Rows are seen as observations, which are averaged over nodes within seven sds of the
        // latent value: 3e-12 of a normal density is left out, of counts like e^f some thousand
        // times that.
        assert!((got / want - 1.0).abs() < 1e-6, "{i}: {got} {want}");
        let observed = CASES[i] as f64 / (1 + i % 3) as f64;
        // A quotient, written with all digits.
        assert!((numbers(scatter, "o")[i] - observed).abs() < 1e-9);
    }
    assert!(report.contains("cases per unit of years"));
    assert!(!report.contains("inducing point"));
}

#[test]
fn values_of_bags_with_known_noise_have_bands_of_their_own() {
    let likelihood = "gaussian = { value = \"cases\", variance = \"years\" }";
    let study = study("sum", likelihood, "").replace("scale = \"observation\"\n", "");
    let (folder, report) = run(&study);
    let (mean, sd) = (
        column(folder.path(), "again", "mean"),
        column(folder.path(), "again", "sd"),
    );
    let scatter = &figure(&report, "fitted-rows")["views"][1]["spec"]["data"]["values"];
    let (m, u) = (numbers(scatter, "m"), numbers(scatter, "u"));
    // Drawn per person; the ratio of half-width and mean does not know of that.
    for i in 0..16 {
        let want = 1.959_964 * (sd[i].powi(2) + (1 + i % 3) as f64).sqrt() / mean[i];
        assert!(((u[i] / m[i] - 1.0) - want).abs() < 1e-6, "{i}");
    }
}
