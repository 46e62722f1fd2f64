//! Studies that are fitted, but say less than they seem to.

use crate::harness::{done, fit, folder, quadrat, stderr};

const POINTS: &str = r#"[latent]
kernel = "se(x) * matern32(depth)"
[[observe]]
file = "t.csv"
support = { point = ["x", "depth"] }
likelihood = { gaussian = { value = "y", variance = 0.1 } }
"#;
const BOXES: &str = r#"[latent]
kernel = "se(x) * se(year)"
[[observe]]
file = "t.csv"
support = { point = ["x"], box = { year = ["from", "to"] } }
aggregate = "mean"
likelihood = { gaussian = { value = "y", variance = 0.1 } }
"#;
const PIXELS: &str = r#"[latent]
kernel = "se(u) + se(height)"
[[observe]]
file = "t.csv"
support = { bag = { file = "p.csv", key = "id", dims = ["u", "height"] } }
aggregate = "mean"
likelihood = { gaussian = { value = "y", variance = 0.1 } }
"#;

/// Warnings of a fit, which the terminal shows too.
fn warnings(study: &str, table: &str, pixels: &str) -> String {
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("t.csv", table.as_bytes()),
        ("p.csv", pixels.as_bytes()),
    ]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let warnings = fit(folder.path())["warnings"].to_string();
    let is_told = |text: &str| text.contains("is the same everywhere");
    assert_eq!(is_told(&said), is_told(&warnings), "{said}");
    warnings
}

#[test]
fn an_input_that_never_differs_is_told() {
    let table = |at: [&str; 4]| {
        let rows = (0..).zip(at).map(|(i, at)| format!("{i},{at},{}\n", i % 3));
        format!("x,depth,y\n{}", rows.collect::<String>())
    };
    let told = warnings(POINTS, &table(["5"; 4]), "");
    assert!(
        told.contains("the column `depth` of t.csv is the same everywhere"),
        "{told}"
    );
    assert!(!told.contains("`x`"), "{told}");
    let told = warnings(POINTS, &table(["5", "5", "5", "6"]), "");
    assert!(!told.contains("the same everywhere"), "{told}");
}

#[test]
fn a_number_that_may_stand_for_a_missing_one_is_told() {
    let table = "x,depth,y\n0,-999,0\n1,5,1\n2,7,99\n3,-999,0.5\n";
    let told = warnings(POINTS, table, "");
    for expected in [
        "the column `depth` of t.csv is -999 in 2 rows, far from all else",
        "what was measured in t.csv is 99 in 1 row, far from all else",
    ] {
        assert!(told.contains(expected), "{told}");
    }
    let told = warnings(POINTS, "x,depth,y\n0,5,0\n1,6,1\n", "");
    assert!(!told.contains("far from all else"), "{told}");
}

#[test]
fn edges_and_pixels_that_never_differ_are_told() {
    let table = |last: &str| format!("x,from,to,y\n0,1,2,0\n1,1,2,1\n2,1,{last},0\n");
    let told = warnings(BOXES, &table("2"), "");
    let expected = "the box of `from` and `to` of t.csv is the same everywhere";
    assert!(told.contains(expected), "{told}");
    let told = warnings(BOXES, &table("3"), "");
    assert!(!told.contains("the same everywhere"), "{told}");

    let table = "id,y\na,0\nb,1\nc,0.5\n";
    let pixels =
        |last: &str| format!("id,u,height\na,0,7\na,1,7\nb,2,7\nb,3,7\nc,4,7\nc,5,{last}\n");
    let told = warnings(PIXELS, table, &pixels("7"));
    let expected = "the column `height` of p.csv is the same everywhere";
    assert!(told.contains(expected), "{told}");
    let told = warnings(PIXELS, table, &pixels("8"));
    assert!(!told.contains("the same everywhere"), "{told}");
}

#[test]
fn bags_that_are_reported_twice_or_never_are_told() {
    let pixels = "id,u,height\na,1,1\na,2,3\nb,3,2\nb,4,5\nc,5,1\n";
    let told = warnings(PIXELS, "id,y\na,1\nb,2\n", pixels);
    assert!(
        told.contains("1 bag of p.csv has no row in t.csv (c)"),
        "{told}"
    );
    assert!(!told.contains("an earlier row"), "{told}");
    let told = warnings(PIXELS, "id,y\na,1\nb,2\nb,2\nc,1\na,3\n", pixels);
    assert!(
        told.contains("2 rows of t.csv are of a bag that an earlier row is of (the first is of b)"),
        "{told}"
    );
    assert!(!told.contains("no row in"), "{told}");
}

const BANDS: &str = r#"[latent]
kernel = "matern32('year of age')"
[[observe]]
file = "t.csv"
support = { box = { 'year of age' = ["from", "to"] } }
aggregate = "sum"
likelihood = { gaussian = { value = "people", variance = 0 } }
[[predict]]
name = "years"
support = { grid = { 'year of age' = { from = 0, to = 60, step = 1, cells = true } } }
aggregate = "sum"
[[predict]]
name = "bands"
support = { file = "t.csv", box = { 'year of age' = ["from", "to"] } }
aggregate = "sum"
[hyperparameters]
"matern32.lengthscale.year of age" = { start = 18, lower = 17, upper = 19 }
"#;

#[test]
fn years_within_bands_that_a_smooth_kernel_spans_are_told() {
    let people = [52, 55, 61, 66, 68, 67, 63, 57, 50, 45, 43, 44];
    let rows = (0..)
        .zip(people)
        .map(|(i, n)| format!("{},{},{n}\n", 5 * i, 5 * i + 5));
    let table = format!("from,to,people\n{}", rows.collect::<String>());
    let rough = BANDS.replace("')\"", "') + matern12('year of age')\"");
    for (study, told) in [(BANDS, true), (rough.as_str(), false)] {
        let folder = folder(&[("s.toml", study.as_bytes()), ("t.csv", table.as_bytes())]);
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        let warnings = fit(folder.path())["warnings"].to_string();
        assert_eq!(warnings.contains("cannot show"), told, "{warnings}");
        done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
        let cells = "from,to\n3,4\n5,10\n";
        std::fs::write(folder.path().join("cells.csv"), cells).unwrap();
        let at = ["--at", "cells.csv", "--box", "year of age=from,to"];
        let args = [&["predict", "m.quadrat"][..], &at, &["--aggregate", "sum"]].concat();
        let said = stderr(&quadrat(folder.path(), &args));
        assert_eq!(said.contains("cannot show"), told, "{said}");
        if told {
            // The bands themselves rest on their counts; the year is one of two rows.
            assert!(
                warnings.contains("prediction `years`: 60 of 60 rows are finer along year of age")
            );
            assert!(!warnings.contains("prediction `bands`"), "{warnings}");
            assert!(said.contains("1 of 2 rows is finer"), "{said}");
            assert!(said.contains("`+ matern12('year of age')`"), "{said}");
        }
    }
}

/// Noise of one beside values of millions: approximate inference keeps beliefs to 1e-5 of the
/// function, which must be told; exact inference resolves it.
#[test]
fn known_noise_too_fine_for_approximate_inference_is_told() {
    let warnings = |likelihood: &str| {
        let text = format!(
            r#"[latent]
kernel = "matern32(t)"
[[observe]]
file = "d.csv"
support = {{ point = ["t"] }}
likelihood = {{ {likelihood} }}
[inference]
hyperparameters = "map"
"#
        );
        let values = [1.2, 0.3, 2.5, 0.2, 1.9, 0.7, 2.2, 1.1];
        let row = |(t, v): (usize, f64)| format!("{t},{:.0}\n", 1e6 * v);
        let rows: String = values.into_iter().enumerate().map(row).collect();
        let folder = folder(&[
            ("s.toml", text.as_bytes()),
            ("d.csv", format!("t,y\n{rows}").as_bytes()),
        ]);
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        fit(folder.path())["warnings"].to_string()
    };
    let told = "approximate inference cannot resolve it";
    let fine = warnings("laplace = { value = \"y\", scale = 1 }");
    assert!(fine.contains(told), "{fine}");
    let coarse = warnings("laplace = { value = \"y\", scale = 1e4 }");
    assert!(!coarse.contains(told), "{coarse}");
    let exact = warnings("gaussian = { value = \"y\", variance = 2 }");
    assert!(!exact.contains(told), "{exact}");
}

#[test]
fn bands_that_are_no_partition_are_told() {
    let table = |bands: &str| format!("from,to,people\n{}", bands.replace(' ', "\n"));
    let told = |bands: &str| {
        let study = crate::harness::study("variance = 1", "variance = 0");
        let folder = folder(&[
            ("s.toml", study.as_bytes()),
            ("ages.csv", table(bands).as_bytes()),
        ]);
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        fit(folder.path())["warnings"].to_string()
    };
    let inclusive = told("0,4,50 5,9,52 10,14,49 15,19,47 20,24,50");
    assert!(
        inclusive.contains("end 1 before the next one begins"),
        "{inclusive}"
    );
    let missing = told("0,5,50 5,10,52 15,20,47 20,25,50 25,30,51");
    assert!(missing.contains("1 gap (10 to 15)"), "{missing}");
    let fine = told("0,5,50 5,10,52 10,15,49 15,20,47 20,25,50");
    assert!(!fine.contains("bands"), "{fine}");
}

#[test]
fn the_slope_of_a_linear_part_is_in_summary_and_file() {
    let study = r#"[latent]
kernel = "se(t) + linear(rain)"
[[observe]]
file = "t.csv"
support = { point = ["t", "rain"] }
likelihood = { poisson = { count = "n" } }
[inference]
hyperparameters = "map"
"#;
    let table = "t,rain,n\n0,1,3\n1,4,9\n2,2,4\n3,5,15\n4,3,6\n5,6,20\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("t.csv", table.as_bytes())]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(said.contains("slope     along rain 0.3"), "{said}");
    assert!(
        said.contains("one more multiplies the rate by 1."),
        "{said}"
    );
    let slope = &fit(folder.path())["slopes"][0];
    assert_eq!(slope["input"], "rain");
    let (lower, upper) = (
        slope["lower"].as_f64().unwrap(),
        slope["upper"].as_f64().unwrap(),
    );
    // From one to six of rain counts rise from 3 to 20: log(20 / 3) / 5 = 0.38.
    assert!(lower > 0.0 && upper < 0.7 && lower < upper, "{slope}");
}

const CENSORED: &str = r#"[latent]
kernel = "se(x)"
[[observe]]
file = "t.csv"
support = { point = ["x"] }
likelihood = { censored = { KEYS } }
[inference]
hyperparameters = "map"
"#;

/// What an export lost is not there to be missed: each way of marking tells.
#[test]
fn censored_values_of_which_none_is_marked_are_told() {
    let mut wrong = Vec::new();
    for (keys, lost, kept, told) in [
        (
            "value = \"y\", side = \"how\"",
            "none",
            "left",
            "no row is censored by its mark in `how`",
        ),
        (
            "value = \"y\", left = \"how\"",
            "0",
            "1",
            "no row is censored by its mark in `how`",
        ),
        (
            "value = \"y\", event = \"how\"",
            "1",
            "0",
            "no row is censored by its mark in `how`",
        ),
        (
            "value = \"how\"",
            "2",
            "<2",
            "no cell of `how` is written as `<` or `>` of a number",
        ),
        (
            "value = \"y\", upper = 9",
            "1",
            "1",
            "no value lies at or beyond its limits",
        ),
    ] {
        let study = CENSORED.replace("KEYS", keys);
        let table =
            |last: &str| format!("x,y,how\n0,1,{lost}\n1,2,{lost}\n2,1.5,{lost}\n3,2.5,{last}\n");
        let said = warnings(&study, &table(lost), "");
        if !said.contains(told) || !said.contains("t.csv: ") {
            wrong.push(format!("{keys}: {said}"));
        }
        let said = warnings(&study, &table(kept), "");
        if said.contains(told) != (kept == lost) {
            wrong.push(format!("{keys} where one is censored: {said}"));
        }
    }
    crate::harness::none(&wrong);
}

/// However many predictions look at it.
#[test]
fn a_feature_without_a_geometry_is_told_once() {
    let square = |id: &str, x: usize| {
        let (a, b) = (x, x + 1);
        format!(
            "{{\"type\": \"Feature\", \"properties\": {{\"k\": \"{id}\"}}, \"geometry\": {{\"type\": \"Polygon\", \"coordinates\": [[[{a}, 0], [{b}, 0], [{b}, 1], [{a}, 1], [{a}, 0]]]}}}}"
        )
    };
    let bare = "{\"type\": \"Feature\", \"properties\": {\"k\": \"sea\"}, \"geometry\": null}";
    let map = format!(
        "{{\"type\": \"FeatureCollection\", \"features\": [{}, {bare}, {}]}}",
        square("a", 0),
        square("b", 1)
    );
    let region = "region = { file = \"m.geojson\", key = \"k\", dims = [\"x\", \"y\"], planar = true, empty = \"skip\" }";
    let mut study = "[latent]\nkernel = \"se(x, y, shared = true)\"\n".to_owned();
    for _ in 0..2 {
        study.push_str(&format!("[[observe]]\nfile = \"d.csv\"\nsupport = {{ {region} }}\naggregate = \"mean\"\nlikelihood = {{ gaussian = {{ value = \"v\", variance = 1 }} }}\n"));
    }
    for i in 0..3 {
        study.push_str(&format!("[[predict]]\nname = \"p{i}\"\nsupport = {{ {region} }}\naggregate = \"mean\"\nscale = \"{}\"\n", ["latent", "response", "response"][i]));
    }
    study.push_str("[inference]\nhyperparameters = \"map\"\n");
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("d.csv", b"k,v\na,1\nsea,2\nb,3\n"),
        ("m.geojson", map.as_bytes()),
    ]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    let fit = fit(folder.path())["warnings"].to_string();
    for told in [
        "1 feature without a geometry left out",
        "1 row left out, the first at d.csv:3",
        "1 row of m.geojson not predicted",
    ] {
        assert_eq!(fit.matches(told).count(), 1, "{told}: {fit}");
    }
}

/// What a study fixes of the mean is not told as learned, and its value is told.
#[test]
fn a_fixed_mean_is_told_with_its_value() {
    let table = "t,h,y\n0,1,3.1\n1,2,3.4\n2,1,2.8\n3,4,3.0\n4,2,2.9\n";
    let fixed =
        |name: &str, value: &str| format!("\"{name}\" = {{ value = {value}, fixed = true }}\n");
    let level = fixed("mean.constant", "3");
    let slope = fixed("mean.linear.h", "-0.25");
    let noise = fixed("noise.mean.constant", "-2");
    let varying = "[noise]\nkernel = \"se(t)\"\n";
    for (mean, settings, more, told) in [
        ("constant", "", "", "with a learned constant mean;"),
        ("constant", level.as_str(), "", "with a constant mean of 3;"),
        (
            "linear(h)",
            slope.as_str(),
            "",
            "with a learned mean that is linear in h (`mean.linear.h` -0.25 fixed);",
        ),
        (
            "constant",
            noise.as_str(),
            varying,
            "with link exp (`noise.mean.constant` -2 fixed);",
        ),
    ] {
        let study = format!(
            "[latent]\nkernel = \"se(t)\"\nmean = \"{mean}\"\n[[observe]]\nfile = \"t.csv\"\nsupport = {{ point = [\"t\", \"h\"] }}\nlikelihood = {{ gaussian = {{ value = \"y\" }} }}\n[inference]\nhyperparameters = \"map\"\n{more}[hyperparameters]\n{settings}"
        );
        let study = match mean.contains("linear") {
            true => study,
            false => study.replace("[\"t\", \"h\"]", "[\"t\"]"),
        };
        let folder = folder(&[("s.toml", study.as_bytes()), ("t.csv", table.as_bytes())]);
        let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
        assert!(said.contains(told), "no `{told}` in\n{said}");
    }
}

/// Ranks that are all the highest leave open how far beyond the thresholds values are.
#[test]
fn ranks_that_are_all_outermost_are_told() {
    let study = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "t.csv"
support = { point = ["t"] }
likelihood = { ordinal = { rank = "n", thresholds = [1, 2] } }
"#;
    let told = |last: u32, rank: u32| {
        let rows = (0..12).map(|t| format!("{t},{}\n", if t == 11 { last } else { rank }));
        warnings(study, &format!("t,n\n{}", rows.collect::<String>()), "")
    };
    for (rank, side) in [(3, "above"), (1, "below")] {
        let told = told(rank, rank);
        let says = format!("only tell that values lie {side} all thresholds");
        assert!(told.contains(&says), "{told}");
    }
    for (last, rank) in [(2, 2), (2, 3), (1, 3)] {
        let told = told(last, rank);
        assert!(!told.contains("only tell"), "{last} {rank}: {told}");
    }
}
