//! Regions and bags from file to file: rows joined, predictions as CSV and GeoJSON, saved
//! projections.

use std::path::Path;

use serde_json::Value;

use crate::broken_regions::{CASES, MAP, STUDY};
use crate::harness::{done, folder, names, quadrat, stderr};

fn with(study: &str, more: &[(&str, &str)]) -> tempfile::TempDir {
    let mut files: Vec<(&str, &[u8])> = vec![
        ("s.toml", study.as_bytes()),
        ("map.geojson", MAP.as_bytes()),
        ("cases.csv", CASES.as_bytes()),
    ];
    for (name, text) in more {
        files.retain(|(known, _)| known != name);
        files.push((name, text.as_bytes()));
    }
    folder(&files)
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A column of a CSV table.
fn column(table: &str, name: &str) -> Vec<String> {
    let at = table
        .lines()
        .next()
        .unwrap()
        .split(',')
        .position(|h| h == name)
        .unwrap();
    let cell = |line: &str| line.split(',').nth(at).unwrap().to_owned();
    table.lines().skip(1).map(cell).collect()
}

fn numbers(table: &str, name: &str) -> Vec<f64> {
    column(table, name)
        .iter()
        .map(|cell| cell.parse().unwrap())
        .collect()
}

fn evidence(folder: &Path) -> f64 {
    json(&read(folder, "out/fit.json"))["log_evidence"]
        .as_f64()
        .unwrap()
}

#[test]
fn regions_are_predicted_as_csv_and_geojson_in_the_order_of_the_file() {
    let folder = with(STUDY, &[]);
    let text = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(
        text.contains("totals of `cases` over 3 regions of x x y (map.geojson)"),
        "{text}"
    );
    let csv = read(folder.path(), "out/again.csv");
    assert!(
        csv.starts_with("id,mean,sd,lower,median,upper\na,"),
        "{csv}"
    );
    assert_eq!(column(&csv, "id"), ["a", "b", "c"]);
    let (before, after) = (json(MAP), json(&read(folder.path(), "out/again.geojson")));
    let means = numbers(&csv, "mean");
    for i in 0..3 {
        let (old, new) = (&before["features"][i], &after["features"][i]);
        assert_eq!(
            (&old["id"], &old["geometry"]),
            (&new["id"], &new["geometry"])
        );
        assert_eq!(old["properties"]["n"], new["properties"]["n"]);
        assert_eq!(new["properties"]["mean"].as_f64().unwrap(), means[i]);
        assert!(new["properties"]["upper"].as_f64().unwrap() > means[i]);
    }
    assert!(names(&folder.path().join("out")).contains(&"again.svg".to_owned()));
}

#[test]
fn properties_are_as_good_as_a_table() {
    let joined = with(STUDY, &[]);
    done(joined.path(), &["run", "s.toml", "-o", "out"]);
    let own = STUDY
        .replace("cases.csv", "map.geojson")
        .replace("file = \"map.geojson\", key = \"id\", ", "")
        .replace("value = \"cases\"", "value = \"n\"");
    let properties = with(&own, &[]);
    done(properties.path(), &["run", "s.toml", "-o", "out"]);
    assert_eq!(evidence(joined.path()), evidence(properties.path()));
    assert_eq!(
        read(joined.path(), "out/again.csv"),
        read(properties.path(), "out/again.csv")
    );
}

#[test]
fn rows_of_several_times_refer_to_one_region() {
    let study = STUDY
        .replace("se(x, y)", "se(x, y) * se(year)")
        .replace("planar = true } }", "planar = true }, point = [\"year\"] }")
        .replace(
            "support = { region = { file = \"map.geojson\", dims",
            "support = { file = \"cases.csv\", region = { file = \"map.geojson\", key = \"id\", dims",
        );
    let rows = "year,id,cases\n1,b,7\n1,a,5\n2,c,6\n2,a,4\n";
    let folder = with(&study, &[("cases.csv", rows)]);
    let text = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(
        text.contains("3 regions of x x y (map.geojson) and points of year"),
        "{text}"
    );
    let csv = read(folder.path(), "out/again.csv");
    assert!(csv.starts_with("id,year,mean,"), "{csv}");
    assert_eq!(column(&csv, "id"), ["b", "a", "c", "a"]);
    let after = json(&read(folder.path(), "out/again.geojson"));
    let ids: Vec<&str> = (0..4)
        .map(|i| after["features"][i]["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["b", "a", "c", "a"]);
    assert_eq!(after["features"][3]["properties"]["year"], 2.0);
}

#[test]
fn degrees_become_kilometres_for_regions_cells_and_points_alike() {
    let study = STUDY.replace(", planar = true", "")
        + r#"
[[predict]]
name = "cells"
support = { grid = { x = { from = 0, to = 3, step = 1, cells = true }, y = { from = 0, to = 1, step = 1, cells = true } } }
aggregate = "sum"

[[predict]]
name = "points"
support = { file = "at.csv", point = ["x", "y"] }
"#;
    let folder = with(&study, &[("at.csv", "x,y\n0.5,0.5\n")]);
    let text = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    for part in ["kilometres", "longitude", "`x` and `y`"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(read(folder.path(), "out/report.html").contains("kilometres"));
    // A degree is about 111 km: one cell is about 12,300 km², and its total the density times that.
    let fit = json(&read(folder.path(), "out/fit.json"));
    let lengthscale = fit["hyperparameters"]["se.lengthscale.x"].as_f64().unwrap();
    assert!(lengthscale > 10.0, "{lengthscale}");
    let regions = numbers(&read(folder.path(), "out/again.csv"), "mean");
    let cells = numbers(&read(folder.path(), "out/cells.csv"), "mean");
    for (region, cell) in regions.iter().zip(&cells) {
        // The same sets, their edges cut into pieces in the same way.
        assert!(
            (region - cell).abs() < 1e-6 * region.abs(),
            "{region} {cell}"
        );
    }
    let point = numbers(&read(folder.path(), "out/points.csv"), "mean")[0];
    let density = regions[0] / 12_300.0;
    assert!((point / density - 1.0).abs() < 0.5, "{point} {density}");
}

#[test]
fn a_saved_model_remembers_its_projection() {
    let study = STUDY.replace(", planar = true", "");
    let folder = with(&study, &[]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let at = [
        "predict",
        "m.quadrat",
        "--at",
        "map.geojson",
        "--region",
        "x,y",
        "--aggregate",
        "sum",
    ];
    assert_eq!(
        done(folder.path(), &at),
        read(folder.path(), "out/again.csv")
    );
    done(folder.path(), &[&at[..], &["-o", "p.geojson"]].concat());
    assert_eq!(
        read(folder.path(), "p.geojson"),
        read(folder.path(), "out/again.geojson")
    );
    let planar = quadrat(folder.path(), &[&at[..], &["--planar"]].concat());
    assert_eq!(planar.status.code(), Some(1));
    assert!(
        stderr(&planar).contains("leave --planar out"),
        "{}",
        stderr(&planar)
    );
}

#[test]
fn a_planar_model_asks_for_planar_regions() {
    let folder = with(STUDY, &[("points.csv", "x,y\n0.5,0.5\n")]);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let at = [
        "predict",
        "m.quadrat",
        "--at",
        "map.geojson",
        "--region",
        "x,y",
        "--aggregate",
        "mean",
    ];
    let refused = quadrat(folder.path(), &at);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("add `--planar`"),
        "{}",
        stderr(&refused)
    );
    let key = [&at[..], &["--planar", "--key", "name", "-o", "p.csv"]].concat();
    done(folder.path(), &key);
    assert_eq!(
        column(&read(folder.path(), "p.csv"), "name"),
        ["A", "B", "C"]
    );
    let table: Vec<&str> = at
        .iter()
        .map(|word| word.replace("map.geojson", "points.csv").leak() as &str)
        .collect();
    let refused = quadrat(
        folder.path(),
        &[
            &table[..],
            &["--planar", "--level", "0.5", "-o", "p.csv", "-q"],
        ]
        .concat(),
    );
    assert_eq!(refused.status.code(), Some(1));
    for part in [
        "`--region` needs a GeoJSON file; `points.csv` is none by its name",
        "quadrat predict m.quadrat --at points.csv --region x,y --planar --aggregate mean --level 0.5 -o p.csv --quiet\n",
        "write `--point`, `--box` or `--bag`",
    ] {
        assert!(
            stderr(&refused).contains(part),
            "no `{part}` in\n{}",
            stderr(&refused)
        );
    }
    assert_eq!(stderr(&refused).matches("error:").count(), 1);
    let points = [
        "predict",
        "m.quadrat",
        "--at",
        "points.csv",
        "--point",
        "x,y",
        "-o",
        "p.geojson",
    ];
    let refused = quadrat(folder.path(), &points);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("only regions can be written as GeoJSON"));
    assert!(!folder.path().join("p.geojson").exists());
}

#[test]
fn what_was_mended_or_left_over_is_said() {
    let map = MAP.replace(",[0,1],[0,0]]]", ",[0,1]]]");
    let folder = with(
        STUDY,
        &[("map.geojson", &map), ("cases.csv", "id,cases\na,5\nc,6\n")],
    );
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let warnings = json(&read(folder.path(), "out/fit.json"))["warnings"].to_string();
    for part in [
        "map.geojson:2 (the feature with id `a`): 1 ring was not closed",
        "1 region of map.geojson has no row in cases.csv (b)",
    ] {
        assert!(warnings.contains(part), "no `{part}` in {warnings}");
    }
}

const BAGS: &str = r#"[latent]
kernel = "se(x, y)"

[[observe]]
file = "cases.csv"
support = { bag = { file = "pixels.csv", key = "id", dims = ["x", "y"], weight = "people" } }
aggregate = "mean"
likelihood = { gaussian = { value = "cases", variance = 1 } }

[[predict]]
name = "bags"
support = { bag = { file = "pixels.csv", key = "id", dims = ["x", "y"], weight = "people" } }
aggregate = "mean"
"#;

#[test]
fn a_bag_of_one_point_is_the_point() {
    let pixels = "id,x,y,people\nc,3,0,2\na,0,0,1\nb,2,0,5\n";
    let bags = with(BAGS, &[("pixels.csv", pixels)]);
    done(bags.path(), &["run", "s.toml", "-o", "out"]);
    let study = BAGS
        .replace(
            "bag = { file = \"pixels.csv\", key = \"id\", dims = [\"x\", \"y\"], weight = \"people\" }",
            "point = [\"x\", \"y\"]",
        )
        .replace("aggregate = \"mean\"\n", "")
        .replace("support = { point = [\"x\", \"y\"] }\n\n", "")
        .replace("name = \"bags\"\nsupport = { ", "name = \"bags\"\nsupport = { file = \"cases.csv\", ");
    let points = with(&study, &[("cases.csv", "x,y,cases\n0,0,5\n2,0,7\n3,0,6\n")]);
    done(points.path(), &["run", "s.toml", "-o", "out"]);
    // The same covariances, by another way.
    let (a, b) = (evidence(bags.path()), evidence(points.path()));
    assert!((a - b).abs() < 1e-8, "{a} {b}");
    let bags = read(bags.path(), "out/bags.csv");
    assert_eq!(column(&bags, "id"), ["c", "a", "b"]);
    let (a, b) = (
        numbers(&bags, "mean"),
        numbers(&read(points.path(), "out/bags.csv"), "mean"),
    );
    // Both are fitted on their own, to the optimiser's tolerance.
    assert!(
        (a[1] - b[0]).abs() < 1e-4 && (a[0] - b[2]).abs() < 1e-4,
        "{a:?} {b:?}"
    );
}

#[test]
fn whole_numbers_with_and_without_a_point_are_one_key_of_bags_and_regions() {
    let rows = "id,cases\n1.0,5\n2,7\n3.00,6\n";
    let pixels = "id,x,y,people\n1,0,0,1\n1.0,1,0,3\n2.0,2,0,5\n3,3,0,1\n";
    let folder = with(BAGS, &[("pixels.csv", pixels), ("cases.csv", rows)]);
    let text = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(text.contains("over 3 bags"), "{text}");
    let bags = read(folder.path(), "out/bags.csv");
    assert_eq!(column(&bags, "id"), ["1", "2.0", "3"]);
    let map = MAP
        .replace("\"id\": \"a\"", "\"id\": 1")
        .replace("\"id\": \"b\"", "\"id\": 2.0")
        .replace("\"id\": \"c\"", "\"id\": \"3.0\"");
    let folder = with(STUDY, &[("map.geojson", &map), ("cases.csv", rows)]);
    let text = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(text.contains("over 3 regions"), "{text}");
}

#[test]
fn regions_across_greenwich_are_neighbours_on_the_map() {
    // Squares from 350 to 352 and from 5 to 7 degrees.
    let map = MAP
        .replace(
            "[[0,0],[1,0],[1,1],[0,1],[0,0]]",
            "[[350,0],[352,0],[352,2],[350,2],[350,0]]",
        )
        .replace(
            "[[1,0],[2,0],[2,1],[1,1],[1,0]]",
            "[[5,0],[7,0],[7,2],[5,2],[5,0]]",
        )
        .replace(
            "[[2,0],[3,0],[3,1],[2,1],[2,0]]",
            "[[-1,0],[1,0],[1,2],[-1,2],[-1,0]]",
        );
    let study = STUDY.replace(", planar = true", "");
    let folder = with(&study, &[("map.geojson", &map)]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let svg = read(folder.path(), "out/again.svg");
    // Two degrees of 17 in a map some 400 pixels wide: no speck, which would be a pixel or two.
    let path = svg.split("<path").nth(1).unwrap();
    let path = path.split("d=\"M").nth(1).unwrap();
    let x: Vec<f64> = path
        .split('Z')
        .next()
        .unwrap()
        .split('L')
        .map(|v| v.split(' ').next().unwrap().parse().unwrap())
        .collect();
    let wide = x
        .iter()
        .fold(0.0, |a: f64, b| a.max(b - x[0]).max(x[0] - b));
    assert!(wide > 20.0, "{path}");
}

#[test]
fn sums_of_bags_are_means_times_the_weight_and_a_saved_model_answers_for_bags() {
    let pixels = "id,x,y,people\na,0,0,1\na,1,0,3\nb,2,0,5\nc,3,0,1\nc,3,1,1\n";
    let study = format!(
        "{BAGS}\n[[predict]]\nname = \"sums\"\nsupport = {{ bag = {{ file = \"pixels.csv\", key = \"id\", dims = [\"x\", \"y\"], weight = \"people\" }} }}\naggregate = \"sum\"\n"
    );
    let folder = with(&study, &[("pixels.csv", pixels)]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let means = read(folder.path(), "out/bags.csv");
    let sums = numbers(&read(folder.path(), "out/sums.csv"), "mean");
    for ((mean, sum), weight) in numbers(&means, "mean")
        .iter()
        .zip(&sums)
        .zip([4.0, 5.0, 2.0])
    {
        // Rounding only.
        assert!(
            (mean * weight - sum).abs() < 1e-9 * sum.abs(),
            "{mean} {sum}"
        );
    }
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let args = [
        "predict",
        "m.quadrat",
        "--at",
        "pixels.csv",
        "--bag",
        "x,y",
        "--key",
        "id",
        "--weight",
        "people",
        "--aggregate",
        "mean",
    ];
    assert_eq!(done(folder.path(), &args), means);
}

#[test]
fn a_polygon_round_a_pole_is_taken_in_quarters() {
    let quarter = |west: i32| {
        let east = west + 90;
        format!("[[[{west},-90],[{east},-90],[{east},-70],[{west},-70],[{west},-90]]]")
    };
    let map = MAP
        .replace(
            "[[[[2,0],[3,0],[3,1],[2,1],[2,0]]]]",
            &format!("[{}]", [-180, -90, 0, 90].map(quarter).join(",")),
        )
        .replace(
            "[[[0,0],[1,0],[1,1],[0,1],[0,0]]]",
            "[[[0,-60],[9,-60],[9,-55],[0,-55],[0,-60]]]",
        )
        .replace(
            "[[[1,0],[2,0],[2,1],[1,1],[1,0]]]",
            "[[[9,-60],[19,-60],[19,-55],[9,-55],[9,-60]]]",
        );
    let study = STUDY.replace(", planar = true", "");
    let folder = with(&study, &[("map.geojson", &map)]);
    let text = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(text.contains("72.50° S"), "{text}");
}
