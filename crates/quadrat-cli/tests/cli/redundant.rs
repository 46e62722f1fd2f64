//! Exact rows that follow from other exact rows: left out and named, or refused and named.

use std::path::Path;

use crate::harness::{done, fit, folder, quadrat, stderr};

const BINS: &str = r#"[latent]
kernel = "matern32(t)"
[[observe]]
file = "bins.csv"
support = { box = { t = ["from", "to"] } }
aggregate = "sum"
likelihood = { gaussian = { value = "y", variance = 0 } }
[[predict]]
name = "total"
support = { file = "total.csv", box = { t = ["from", "to"] } }
aggregate = "sum"
[inference]
hyperparameters = "map"
"#;

const ZONES: &str = r#"[latent]
kernel = "matern32(x, y)"
[[observe]]
file = "zones.geojson"
support = { region = { key = "zone", dims = ["x", "y"], planar = true } }
aggregate = "sum"
likelihood = { gaussian = { value = "people", variance = 0 } }
[inference]
hyperparameters = "map"
"#;

fn number(folder: &Path, name: &str) -> f64 {
    fit(folder)["hyperparameters"][name].as_f64().unwrap()
}

#[test]
fn a_total_beside_its_bins_is_left_out_and_still_predicted() {
    let table = "from,to,y\n0,4,18\n0,1,3\n1,2,5\n2,3,4\n3,4,6\n";
    let files: [(&str, &[u8]); 3] = [
        ("s.toml", BINS.as_bytes()),
        ("bins.csv", table.as_bytes()),
        ("total.csv", b"from,to\n0,4\n"),
    ];
    let folder = folder(&files);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let told = "1 exact row follows from other exact rows and was left out: bins.csv:2 from bins.csv:3 and 3 other rows";
    assert!(
        said.replace('\n', " ").contains("1 exact row follows"),
        "{said}"
    );
    let summary = fit(folder.path());
    assert!(
        summary["warnings"][0].as_str().unwrap().starts_with(told),
        "{summary}"
    );
    assert_eq!(summary["rows"], 4);
    // Computed elsewhere, to the digits given.
    assert!((number(folder.path(), "matern32.variance") - 3.113).abs() < 5e-4);
    assert!((number(folder.path(), "matern32.lengthscale.t") - 0.485).abs() < 5e-4);
    assert!((number(folder.path(), "mean.constant") - 4.5).abs() < 5e-4);
    let total = std::fs::read_to_string(folder.path().join("out/total.csv")).unwrap();
    let cells: Vec<f64> = total
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .map(|c| c.parse().unwrap())
        .collect();
    // The sum of exact rows: rounding of its mean, and of a variance the root of rounding.
    assert!((cells[2] - 18.0).abs() < 1e-6 && cells[3] < 1e-3, "{total}");
}

/// Four squares with a value each, and the second once more with a value of its own.
fn zones(again: f64) -> String {
    let square = |zone: &str, people: f64, x: u32, y: u32| {
        let (r, t) = (x + 30, y + 30);
        format!(
            r#"{{"type": "Feature", "properties": {{"zone": "{zone}", "people": {people}}}, "geometry": {{"type": "Polygon", "coordinates": [[[{x}, {y}], [{r}, {y}], [{r}, {t}], [{x}, {t}], [{x}, {y}]]]}}}}"#
        )
    };
    let features = [
        square("a", 2475.0, 0, 0),
        square("b", 3285.0, 30, 0),
        square("c", 3015.0, 0, 30),
        square("d", 3825.0, 30, 30),
        square("b2", again, 30, 0),
    ];
    format!(
        r#"{{"type": "FeatureCollection", "features": [{}]}}"#,
        features.join(",")
    )
}

#[test]
fn a_region_listed_twice_is_named_by_its_key() {
    let map = zones(3285.0);
    let agrees = folder(&[
        ("s.toml", ZONES.as_bytes()),
        ("zones.geojson", map.as_bytes()),
    ]);
    done(agrees.path(), &["run", "s.toml", "-o", "out"]);
    let summary = fit(agrees.path());
    assert_eq!(summary["rows"], 4);
    let warnings = summary["warnings"].to_string();
    for part in ["(`zone` b2)", "(`zone` b)"] {
        assert!(warnings.contains(part), "{warnings}");
    }
    let map = zones(3315.0);
    let wrong = folder(&[
        ("s.toml", ZONES.as_bytes()),
        ("zones.geojson", map.as_bytes()),
    ]);
    let output = quadrat(wrong.path(), &["run", "s.toml", "-o", "out"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output).replace('\n', " ");
    for part in ["(`zone` b2)", "(`zone` b)", "by 30;"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn margins_in_two_tables_are_named_and_smooth_rows_get_noise() {
    let other = BINS
        .split_once("[[predict]]")
        .map(|(observe, rest)| {
            let second = observe
                .split_once("[[observe]]")
                .unwrap()
                .1
                .replace("bins", "totals");
            let inference = rest.split_once("[inference]").unwrap().1;
            format!("{observe}[[observe]]{second}[inference]{inference}")
        })
        .unwrap();
    let files: [(&str, &[u8]); 3] = [
        ("s.toml", other.as_bytes()),
        ("bins.csv", b"from,to,y\n0,1,3\n1,2,5\n2,3,4\n3,4,6\n"),
        ("totals.csv", b"from,to,y\n0,2,8\n2,4,10\n0,4,18\n"),
    ];
    let two = folder(&files);
    done(two.path(), &["run", "s.toml", "-o", "out"]);
    let warnings = fit(two.path())["warnings"].to_string();
    assert!(warnings.contains("3 exact rows follow"), "{warnings}");
    assert!(
        warnings.contains("totals.csv:2 from bins.csv:2 and 1 other row;"),
        "{warnings}"
    );

    let line = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "line.csv"
support = { point = ["t"] }
likelihood = { gaussian = { value = "y", variance = 0 } }
[inference]
hyperparameters = "map"
"#;
    let smooth = folder(&[
        ("s.toml", line.as_bytes()),
        ("line.csv", b"t,y\n0,0\n1,1\n2,2\n3,3\n4,4\n5,5\n"),
    ]);
    done(smooth.path(), &["run", "s.toml", "-o", "out"]);
    let warnings = fit(smooth.path())["warnings"].to_string();
    assert!(warnings.contains("given noise of sd"), "{warnings}");
}

/// Two exact points say all of a line, and the others of the table follow; what lies among these is
/// not outside of the data.
#[test]
fn places_among_rows_that_follow_from_others_are_not_far() {
    let study = r#"[latent]
kernel = "linear(t)"
[[observe]]
file = "t.csv"
support = { point = ["t"] }
likelihood = { gaussian = { value = "y", variance = 0 } }
[[predict]]
name = "p"
support = { grid = { t = { from = 0, to = 9, step = 0.5 } } }
[inference]
hyperparameters = "map"
"#;
    let table = "t,y\n0,1\n1,3\n2,5\n3,7\n4,9\n5,11\n6,13\n7,15\n8,17\n9,19\n";
    let files: [(&str, &[u8]); 2] = [("s.toml", study.as_bytes()), ("t.csv", table.as_bytes())];
    let folder = folder(&files);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]).replace('\n', " ");
    assert!(!said.contains("far outside"), "{said}");
    assert!(said.contains("8 exact rows follow"), "{said}");
}
