//! Labels as inputs (`iid`): texts and numbers, new labels, saved models, what is refused.

use std::path::Path;

use crate::harness::{column, done, fit, folder, none, quadrat, refused, stderr};

/// Twelve values at four sites, which differ by some tens.
const VALUES: &str = "site,t,y
oslo,0,31.1
oslo,1,30.2
oslo,2,30.8
bergen,0,11.0
bergen,1,10.1
bergen,2,10.6
\"Tromsø, N\",0,52.2
\"Tromsø, N\",1,51.1
\"Tromsø, N\",2,51.9
hamar,0,21.3
hamar,1,20.2
hamar,2,20.8
";

const STUDY: &str = r#"[latent]
kernel = "iid(site)"
[[observe]]
file = "v.csv"
support = { point = ["site"] }
likelihood = { gaussian = { value = "y", variance = 0.25 } }
[[predict]]
name = "sites"
support = { file = "at.csv", point = ["site"] }
[hyperparameters]
"iid.variance" = { value = 300, fixed = true }
[inference]
hyperparameters = "map"
"#;

const AT: &str = "site\nhamar\n\"Tromsø, N\"\nalta\noslo\n";

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// A column of numbers of a table whose cells may have commas.
fn numbers(table: &str, name: &str) -> Vec<f64> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let at = reader.headers().unwrap().iter().position(|h| h == name);
    let records = reader.records().map(|record| record.unwrap());
    records.map(|r| r[at.unwrap()].parse().unwrap()).collect()
}

/// The first cells of a table, below its header.
fn first_cells(table: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let records = reader.records().map(|record| record.unwrap()[0].to_owned());
    records.collect()
}

#[test]
fn texts_are_labels_and_a_new_one_has_the_prior() {
    let folder = folder(&[
        ("s.toml", STUDY.as_bytes()),
        ("v.csv", VALUES.as_bytes()),
        ("at.csv", AT.as_bytes()),
    ]);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    for words in [
        "1 row of 4 has a label",
        "first row 3 (site = alta)",
        "a new label",
    ] {
        assert!(said.contains(words), "no `{words}` in\n{said}");
    }
    let table = text(folder.path(), "out/sites.csv");
    let labels = first_cells(&table);
    assert_eq!(labels, ["hamar", "Tromsø, N", "alta", "oslo"]);
    let (mean, sd) = (numbers(&table, "mean"), numbers(&table, "sd"));
    // n v / (n v + s^2) = 0.9997 of the way to the average of the site.
    for (row, average) in [(0, 62.3 / 3.0), (1, 155.2 / 3.0), (3, 92.1 / 3.0)] {
        assert!((mean[row] - average).abs() < 0.02, "{row}: {}", mean[row]);
        assert!((sd[row] - (0.25_f64 / 3.0).sqrt()).abs() < 0.01, "{row}");
    }
    // The level, and a new effect of variance 300 beside what is not known of the level.
    assert!((mean[2] - 28.4).abs() < 0.5, "{}", mean[2]);
    assert!((sd[2] - 375f64.sqrt()).abs() < 1.0, "{}", sd[2]);
    let report = text(folder.path(), "out/report.html");
    assert!(report.contains("alta") && report.contains("hamar"));
    assert!(fit(folder.path())["hyperparameters"]["iid.variance"].is_number());
}

/// A saved model keeps the labels; new ones of a table have none, and points far outside are told.
#[test]
fn a_saved_model_knows_its_labels() {
    let folder = folder(&[
        ("s.toml", STUDY.as_bytes()),
        ("v.csv", VALUES.as_bytes()),
        ("at.csv", AT.as_bytes()),
        ("told.csv", b"site,kind,value\nalta,v,70.1\noslo,v,30.5\n"),
    ]);
    let folder = folder.path();
    done(folder, &["run", "s.toml", "-o", "out"]);
    done(folder, &["fit", "s.toml", "-o", "m.quadrat"]);
    let ask = ["predict", "m.quadrat", "--at", "at.csv", "--point", "site"];
    let output = quadrat(folder, &ask);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(printed, text(folder, "out/sites.csv"));
    assert!(stderr(&output).contains("first row 3 (site = alta)"));
    // The label that was new is told, and no longer new.
    done(folder, &["tell", "m.quadrat", "told.csv", "--quiet"]);
    let output = quadrat(folder, &ask);
    assert!(!stderr(&output).contains("label"), "{}", stderr(&output));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let alta = printed.lines().nth(3).unwrap();
    let mean: f64 = alta.split(',').nth(1).unwrap().parse().unwrap();
    assert!(
        alta.starts_with("alta,") && (mean - 70.1).abs() < 0.2,
        "{alta}"
    );
    let wide = [
        "predict",
        "m.quadrat",
        "--at",
        "told.csv",
        "--box",
        "site=value,value",
    ];
    let output = quadrat(folder, &[&wide[..], &["--aggregate", "mean"]].concat());
    assert!(
        stderr(&output).contains("labels, which have no width"),
        "{}",
        stderr(&output)
    );
}

/// `1`, `1.0` and a second table's `1` are one label; years of a grid are labels too.
#[test]
fn numbers_are_labels() {
    let study = STUDY.replace("[[predict]]", "[[observe]]\nfile = \"w.csv\"\nsupport = { point = [\"site\"] }\nlikelihood = { gaussian = { value = \"y\", variance = 0.25 } }\n[[predict]]\nname = \"grid\"\nsupport = { grid = { site = { from = 1, to = 3, step = 1 } } }\n[[predict]]");
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("v.csv", b"site,y\n1,5.0\n1.0,5.2\n2,9.1\n2.0,9.3\n2,9.0\n"),
        ("w.csv", b"site,y\n1,4.8\n"),
        ("at.csv", b"site\n2.0\n1\n7\n"),
    ]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let labels = first_cells(&text(folder.path(), "out/sites.csv"));
    assert_eq!(labels, ["2", "1", "7"]);
    assert_eq!(
        first_cells(&text(folder.path(), "out/grid.csv")),
        ["1", "2", "3"]
    );
    let (mean, grid) = (
        column(folder.path(), "sites", "mean"),
        column(folder.path(), "grid", "mean"),
    );
    assert!((mean[1] - 5.0).abs() < 0.01 && (mean[0] - 27.4 / 3.0).abs() < 0.01);
    assert_eq!((grid[0], grid[1], grid[2]), (mean[1], mean[0], mean[2]));
}

/// A curve of its own for every site, each with a figure.
#[test]
fn a_product_is_a_curve_for_every_label() {
    let study = STUDY
        .replace("iid(site)", "se(t) * iid(site)")
        .replace("point = [\"site\"]", "point = [\"t\", \"site\"]")
        .replace(
            "\"iid.variance\" = { value = 300",
            "\"se.variance\" = { value = 300",
        );
    let at: String = ["hamar", "oslo"]
        .iter()
        .flat_map(|site| (0..9).map(move |i| format!("{site},{}\n", 0.25 * f64::from(i))))
        .collect();
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("v.csv", VALUES.as_bytes()),
        ("at.csv", format!("site,t\n{at}").as_bytes()),
    ]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let mean = column(folder.path(), "sites", "mean");
    assert!(
        (mean[4] - 20.2).abs() < 0.7 && (mean[13] - 30.2).abs() < 0.7,
        "{mean:?}"
    );
    let report = text(folder.path(), "out/report.html");
    assert!(report.contains("sites: site hamar") && report.contains("sites: site oslo"));
}

/// Counts of districts that differ more than Poisson counts do: bags of pixels beside a label of
/// their own, and the label as a column of the pixels.
#[test]
fn districts_have_effects_of_their_own() {
    let mut pixels = "district,x,people\n".to_owned();
    let mut counts = "district,cases\n".to_owned();
    let cases = [120, 310, 95, 260, 40, 505, 150, 180];
    for (district, cases) in cases.iter().enumerate() {
        for pixel in 0..4 {
            let x = district as f64 + 0.25 * f64::from(pixel);
            pixels.push_str(&format!("d{district},{x},{}\n", 250 + 10 * pixel));
        }
        counts.push_str(&format!("d{district},{cases}\n"));
    }
    let study = |bag: &str, point: &str, predict: &str, more: &str| {
        format!(
            r#"[latent]
kernel = "se(x) + iid(district)"
[[observe]]
file = "counts.csv"
support = {{ bag = {{ file = "pixels.csv", key = "district", dims = [{bag}], weight = "people" }}{point} }}
aggregate = "sum"
likelihood = {{ poisson = {{ count = "cases" }} }}
[[predict]]
name = "p"
support = {{ {predict} }}
aggregate = "sum"
[hyperparameters]
"se.variance" = {{ value = 0.1, fixed = true }}
"se.lengthscale.x" = {{ value = 3, fixed = true }}
[inference]
hyperparameters = "map"
{more}"#
        )
    };
    let beside = study(
        "\"x\"",
        ", point = [\"district\"]",
        "file = \"counts.csv\", bag = { file = \"pixels.csv\", key = \"district\", dims = [\"x\"], weight = \"people\" }, point = [\"district\"]",
        "",
    );
    let within = "bag = { file = \"pixels.csv\", key = \"district\", dims = [\"x\", \"district\"], weight = \"people\" }";
    let within = |more: &str| study("\"x\", \"district\"", "", within, more);
    let run = |study: &str| {
        let folder = folder(&[
            ("s.toml", study.as_bytes()),
            ("counts.csv", counts.as_bytes()),
            ("pixels.csv", pixels.as_bytes()),
        ]);
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        let (mean, sd) = (
            column(folder.path(), "p", "mean"),
            column(folder.path(), "p", "sd"),
        );
        (mean, sd, text(folder.path(), "out/p.csv"))
    };
    let (mean, sd, table) = run(&beside);
    // Each follows its own count: a smooth function alone could not.
    for (row, &count) in cases.iter().enumerate() {
        assert!(
            (mean[row] / f64::from(count) - 1.0).abs() < 0.08,
            "{row}: {mean:?}"
        );
        assert!(
            (sd[row] / f64::from(count).sqrt() - 1.0).abs() < 0.2,
            "{row}: {sd:?}"
        );
    }
    assert!(table.contains("d3,"), "{table}");
    let (of_pixels, _, _) = run(&within(""));
    let (sparse, sparse_sd, _) = run(&within("method = \"sparse\"\ninducing = 30\n"));
    for row in 0..cases.len() {
        assert!(
            (mean[row] - of_pixels[row]).abs() < 1e-6 * mean[row],
            "{row}"
        );
        // Variational beliefs in place of Laplace's.
        assert!(
            (mean[row] / sparse[row] - 1.0).abs() < 0.02,
            "{row}: {sparse:?}"
        );
        assert!(
            (sd[row] / sparse_sd[row] - 1.0).abs() < 0.05,
            "{row}: {sparse_sd:?}"
        );
    }
}

/// Regions keyed by the label: their key stands once in the answer, and a box of another input
/// beside the label is no box along it.
#[test]
fn regions_have_their_key_as_a_label() {
    let square = |key: &str, x: u32| {
        format!(
            r#"{{"type":"Feature","properties":{{"district":"{key}"}},"geometry":{{"type":"Polygon","coordinates":[[[{x},0],[{0},0],[{0},1],[{x},1],[{x},0]]]}}}}"#,
            x + 1
        )
    };
    let keys = ["a", "b", "c", "d", "e", "f"];
    let features: Vec<String> = keys
        .iter()
        .zip(0..)
        .map(|(key, x)| square(key, x))
        .collect();
    let map = format!(
        r#"{{"type":"FeatureCollection","features":[{}]}}"#,
        features.join(",")
    );
    let study = r#"[latent]
kernel = "se(x, y) + iid(district) + se(age)"
[[observe]]
file = "rates.csv"
support = { region = { file = "map.geojson", key = "district", dims = ["x", "y"], planar = true }, box = { age = ["from", "to"] }, point = ["district"] }
aggregate = "mean"
likelihood = { gaussian = { value = "rate", variance = 0.01 } }
[[predict]]
name = "p"
support = { file = "rates.csv", region = { file = "map.geojson", key = "district", dims = ["x", "y"], planar = true }, box = { age = ["from", "to"] }, point = ["district"] }
aggregate = "mean"
[inference]
hyperparameters = "map"
"#;
    let rates = "district,from,to,rate\na,0,9,5.1\na,9,20,6.2\nb,0,9,2.2\nb,9,20,3.1\nc,0,9,7.4\nc,9,20,8.4\nd,0,9,3.0\nd,9,20,4.1\ne,0,9,6.3\ne,9,20,7.2\nf,0,9,1.1\nf,9,20,2.3\n";
    let folder = folder(&[
        ("s.toml", study.as_bytes()),
        ("map.geojson", map.as_bytes()),
        ("rates.csv", rates.as_bytes()),
    ]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let table = text(folder.path(), "out/p.csv");
    assert!(table.starts_with("district,from,to,mean"), "{table}");
    assert_eq!(first_cells(&table)[..3], ["a", "a", "b"]);
    let mean = column(folder.path(), "p", "mean");
    for (row, rate) in [(0, 5.1), (2, 2.2), (5, 8.4), (11, 2.3)] {
        assert!((mean[row] - rate).abs() < 0.2, "{mean:?}");
    }
}

/// Covariates of names, a number that is a label too, and a box along labels.
#[test]
fn what_labels_cannot_do_is_refused_with_the_way_out() {
    let files: [(&str, &[u8]); 2] = [("v.csv", VALUES.as_bytes()), ("at.csv", AT.as_bytes())];
    let text = [
        "column `site`",
        "holds text (`oslo`, `bergen`, ",
        "`iid(site)`",
        "v.csv:2:1",
    ];
    let one = |name: &str, study: String, expected: &[&str]| {
        refused(name, &study, &files, expected).err()
    };
    let replaced = |kernel: &str| STUDY.replace("iid(site)", kernel);
    let wrong = [
        one("linear", replaced("linear(site)"), &text),
        one("se", replaced("se(site)"), &text),
        one("both", replaced("se(site) + iid(site)"), &text),
        one("mean", STUDY.replace("[[observe]]", "mean = \"linear(site)\"\n[[observe]]"), &text),
        one(
            "product",
            replaced("se(site) * iid(site)"),
            &["`se(site)` says nothing more"],
        ),
        one(
            "box",
            STUDY.replacen(
                "support = { point = [\"site\"] }",
                "support = { box = { site = [\"t\", \"y\"] } }\naggregate = \"mean\"",
                1,
            ),
            &["`site` holds labels", "no width", "`point = [\"site\"]`", "s.toml:5:"],
        ),
        one(
            "cells",
            STUDY.replace(
                "file = \"at.csv\", point = [\"site\"] }",
                "grid = { site = { from = 0, to = 2, step = 1, cells = true } } }\naggregate = \"mean\"",
            ),
            &["`site` holds labels", "no width"],
        ),
        one(
            "inducing",
            format!("{STUDY}method = \"sparse\"\ninducing = 3\n"),
            &["3 inducing points are too few for the labels", "at least 4"],
        ),
        refused(
            "no label",
            STUDY,
            &[("v.csv", b"site,y\na,1\n,2\n"), ("at.csv", AT.as_bytes())],
            &["v.csv:3:1", "empty"],
        )
        .err(),
    ];
    none(&wrong.into_iter().flatten().collect::<Vec<String>>());
}
