//! The kernel that studies of maps have when they name none.

use std::path::Path;

use crate::harness::{column, done, fit, folder, none, refused};

const POINTS: &str = r#"[[observe]]
file = "d.csv"
support = { point = ["height", "X", "Y"] }
likelihood = { gaussian = { value = "rain" } }
[[predict]]
name = "at"
support = { file = "d.csv", point = ["X", "Y", "height"] }
[inference]
hyperparameters = "map"
"#;

fn rain() -> String {
    let mut text = String::from("X,Y,height,rain\n");
    for i in 0..40 {
        let (x, y) = (f64::from(i % 8), f64::from(i / 8));
        let height = f64::from((i * 7) % 11);
        let rain = (0.5 * x).sin() + 0.3 * y + 0.2 * height;
        text.push_str(&format!("{x},{y},{height},{rain}\n"));
    }
    text
}

fn names(folder: &Path) -> Vec<String> {
    let json = fit(folder);
    let all = json["hyperparameters"].as_object().unwrap();
    all.keys().cloned().collect()
}

#[test]
fn points_on_a_map_have_a_matern_over_space_and_covariates_of_their_own() {
    let written = format!("[latent]\nkernel = \"matern32(X, Y) + se(height)\"\n{POINTS}");
    let run = |text: &str| {
        let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", rain().as_bytes())]);
        let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(said.contains("matern32(X, Y) + se(height)"), "{said}");
        (
            fit(folder.path())["log_evidence"].as_f64(),
            column(folder.path(), "at", "mean"),
        )
    };
    let want = run(&written);
    assert_eq!(run(POINTS), want);
    // [latent] may say other things.
    assert_eq!(
        run(&format!("[latent]\nmean = \"constant\"\n{POINTS}")),
        want
    );
}

#[test]
fn bags_and_regions_are_maps_too() {
    let bags = r#"[[observe]]
file = "cases.csv"
support = { bag = { file = "pixels.csv", key = "id", dims = ["green", "longitude", "wet", "latitude"] } }
aggregate = "sum"
likelihood = { poisson = { count = "cases" } }
[inference]
method = "sparse"
inducing = 8
hyperparameters = "map"
"#;
    let mut pixels = String::from("id,longitude,latitude,green,wet\n");
    for i in 0..48 {
        let (x, y) = (i % 8, i / 8);
        pixels.push_str(&format!(
            "{},{x},{y},{},{}\n",
            x / 2,
            (i * 5) % 7,
            (i * 3) % 11
        ));
    }
    let bags = folder(&[
        ("s.toml", bags.as_bytes()),
        ("cases.csv", b"id,cases\n0,5\n1,9\n2,3\n3,7\n"),
        ("pixels.csv", pixels.as_bytes()),
    ]);
    done(bags.path(), &["run", "s.toml", "-o", "out"]);
    let lengthscales = [
        "matern32.lengthscale.latitude",
        "matern32.lengthscale.longitude",
        "matern32.variance",
        "mean.constant",
        "se.lengthscale.green",
        "se.lengthscale.wet",
        "se.variance",
    ];
    let mut all = names(bags.path());
    all.sort();
    assert_eq!(all, lengthscales);

    let square = |x: f64| {
        format!(
            r#"{{"type":"Feature","properties":{{"id":"{x}","v":{x}}},"geometry":{{"type":"Polygon","coordinates":[[[{x},0],[{},0],[{},1],[{x},1],[{x},0]]]}}}}"#,
            x + 1.0,
            x + 1.0
        )
    };
    let geo = format!(
        r#"{{"type":"FeatureCollection","features":[{},{},{}]}}"#,
        square(0.0),
        square(1.0),
        square(2.0)
    );
    let regions = r#"[[observe]]
file = "map.geojson"
support = { region = { dims = ["here", "there"], planar = true } }
aggregate = "mean"
likelihood = { gaussian = { value = "v" } }
"#;
    let regions = folder(&[
        ("s.toml", regions.as_bytes()),
        ("map.geojson", geo.as_bytes()),
    ]);
    done(regions.path(), &["run", "s.toml", "-o", "out"]);
    assert!(names(regions.path()).contains(&"matern32.lengthscale.there".to_owned()));
}

#[test]
fn what_is_no_map_needs_a_kernel() {
    let table = rain();
    let files: &[(&str, &[u8])] = &[("d.csv", table.as_bytes())];
    let mut wrong = Vec::new();
    let text = POINTS.replace("\"X\", ", "");
    wrong.extend(
        refused(
            "one coordinate",
            &text,
            files,
            &[
                "needs `[latent]`",
                "s.toml:1:1",
                "add a section [latent] with a kernel",
                "only maps have a default",
            ],
        )
        .err(),
    );
    let text = format!("[latent]\nmean = \"zero\"\n{text}");
    let expected = [
        "[latent] needs `kernel`",
        "s.toml:1:1",
        "only maps have a default",
    ];
    wrong.extend(refused("no kernel", &text, files, &expected).err());
    // One table lacks what another gives.
    let text = format!(
        "{POINTS}[[observe]]\nfile = \"d.csv\"\nsupport = {{ point = [\"X\", \"Y\"] }}\nlikelihood = {{ gaussian = {{ value = \"rain\" }} }}\n"
    );
    wrong.extend(
        refused(
            "less",
            &text,
            files,
            &["this support lacks `height`, which the kernel uses"],
        )
        .err(),
    );
    none(&wrong);
}
