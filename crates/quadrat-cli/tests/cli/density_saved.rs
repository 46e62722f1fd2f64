//! Densities that are saved by `quadrat fit` and asked by `quadrat predict`, and `[[predict]]` of
//! studies of densities.

use std::path::Path;

use crate::harness::{done, folder, names, quadrat, stderr};

/// Two groups of a widening column.
fn table() -> String {
    let mut out = "x,y,who\n".to_owned();
    for i in 0..90_u32 {
        let p = (f64::from(i * 37 % 90) + 0.5) / 90.0;
        let x = f64::from(i) / 10.0;
        let y = 20.0 + x + (1.0 + 0.2 * x) * (p / (1.0 - p)).ln();
        let who = if i % 3 == 0 { "left" } else { "right" };
        out.push_str(&format!("{x},{y},{who}\n"));
    }
    out
}

/// A folder with a study, its table, and a table of places.
fn study(keys: &str, places: &str) -> tempfile::TempDir {
    let study = format!("[density]\nfile = \"t.csv\"\n{keys}\n");
    folder(&[
        ("s.toml", study.as_bytes()),
        ("t.csv", table().as_bytes()),
        ("p.csv", places.as_bytes()),
    ])
}

/// The rows of a table as texts.
fn cells(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let lines = text.lines();
    lines
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

/// Points have the density of their cell as `run` writes it, to all digits; the same tables come
/// from `[[predict]]` and from the model.
#[test]
fn a_model_answers_as_the_study_does() {
    let cases: [(&str, &str, &str, &[&str]); 4] = [
        (
            "column = \"y\"\nlevel = 0.8",
            "y\n24.5\n21\n30.25\n",
            "point = [\"y\"]",
            &["--point", "y"],
        ),
        (
            "column = \"y\"\ngroup = \"who\"",
            "y\n24.5\n21\n30.25\n",
            "point = [\"y\"]",
            &["--point", "y"],
        ),
        (
            "column = [\"x\", \"y\"]\ngrid = [12, 15]",
            "x,y\n4,24.5\n1,21\n8.5,30.25\n",
            "point = [\"x\", \"y\"]",
            &["--point", "x,y"],
        ),
        (
            "column = \"y\"\ngiven = \"x\"\ngrid = [9, 30]",
            "x,y\n4,24.5\n1,21\n8.5,30.25\n",
            "point = [\"x\", \"y\"]",
            &["--point", "x,y"],
        ),
    ];
    for (keys, places, support, flags) in cases {
        let asked = format!(
            "{keys}\n[[predict]]\nname = \"at\"\nsupport = {{ file = \"p.csv\", {support} }}"
        );
        let folder = study(&asked, places);
        let folder = folder.path();
        done(folder, &["run", "s.toml", "-o", "out"]);
        let told = done(folder, &["fit", "s.toml", "-o", "m.quadrat"]);
        assert!(told.contains("wrote m.quadrat"), "{told}");
        let mut args = vec!["predict", "m.quadrat", "--at", "p.csv", "-o", "a.csv"];
        args.extend(flags);
        done(folder, &args);
        let (run, model) = (cells(folder, "out/at.csv"), cells(folder, "a.csv"));
        assert_eq!(run, model, "{keys}");
        let density = cells(folder, "out/density.csv");
        let groups = usize::from(keys.contains("group"));
        assert_eq!(model.len(), if groups == 1 { 7 } else { 4 }, "{keys}");
        let last = density[0].len() - 4;
        for row in &model[1..] {
            // The mean and the ends of the band are those of one of its cells.
            let at = row.len() - 5;
            let told = [&row[at], &row[at + 2], &row[at + 4]];
            let is_cell = |cell: &&Vec<String>| {
                told == [&cell[last + 1], &cell[last + 2], &cell[last + 3]]
                    && (groups == 0 || cell[0] == row[0])
            };
            assert!(density.iter().any(|cell| is_cell(&cell)), "{keys}: {row:?}");
        }
        assert_eq!(density[0][last + 1..], ["density", "lower", "upper"]);
        assert_eq!(model[0][model[0].len() - 5], "mean");
        // Written once more it is the same file.
        let before = std::fs::read(folder.join("m.quadrat")).unwrap();
        done(folder, &["fit", "s.toml", "-o", "n.quadrat", "--quiet"]);
        assert_eq!(std::fs::read(folder.join("n.quadrat")).unwrap(), before);
    }
}

/// Intervals have the probability that `within` tells, quantiles those of `fit.json`.
#[test]
fn boxes_are_probabilities_and_quantiles_places() {
    let places = "from,to\n20,25\n-1000,1000\n";
    let folder = study("column = \"y\"\nwithin = [20, 25]", places);
    let folder = folder.path();
    done(folder, &["fit", "s.toml", "-o", "m.quadrat", "--quiet"]);
    done(folder, &["run", "s.toml", "-o", "out", "--quiet"]);
    let fit = std::fs::read_to_string(folder.join("out/fit.json")).unwrap();
    let fit: serde_json::Value = serde_json::from_str(&fit).unwrap();
    let ask = |flags: &[&str]| {
        let mut args = vec!["predict", "m.quadrat", "-o", "a.csv", "--quiet"];
        args.extend(flags);
        done(folder, &args);
        cells(folder, "a.csv")
    };
    let at = ["--at", "p.csv", "--box", "y=from,to", "--aggregate"];
    let sum = ask(&[&at[..], &["sum", "--above", "0.5"]].concat());
    assert_eq!(
        sum[0],
        [
            "from",
            "to",
            "mean",
            "sd",
            "lower",
            "median",
            "upper",
            "above_0.5"
        ]
    );
    let number = |text: &str| text.parse::<f64>().unwrap();
    // The reader of JSON rounds the last digit in another way.
    let is_near = |told: &serde_json::Value, text: &str| {
        let (told, number) = (told.as_f64().unwrap(), number(text));
        assert!(
            (told - number).abs() <= 4.0 * f64::EPSILON * number,
            "{told} {number}"
        );
    };
    is_near(&fit["within"]["value"], &sum[1][2]);
    is_near(&fit["within"]["lower"], &sum[1][4]);
    is_near(&fit["within"]["upper"], &sum[1][6]);
    // All of it: sums of 400 probabilities.
    assert!((number(&sum[2][2]) - 1.0).abs() < 1e-12);
    let mean = ask(&[&at[..], &["mean"]].concat());
    let ratio = number(&sum[1][2]) / number(&mean[1][2]);
    assert!((ratio - 5.0).abs() < 1e-12, "{ratio}");
    let quantiles = ask(&["--quantile", "0.05,0.5,0.95"]);
    assert_eq!(quantiles[0][0], "quantile");
    for (row, told) in quantiles[1..].iter().zip([0, 2, 4]) {
        let told = &fit["quantiles"][told];
        is_near(&told["p"], &row[0]);
        is_near(&told["value"], &row[1]);
    }
    // Another level is another interval about the same number.
    let narrow = ask(&["--quantile", "0.5", "--level", "0.5"]);
    assert_eq!(narrow[1][1], quantiles[2][1]);
    assert!(number(&narrow[1][3]) > number(&quantiles[2][3]));
    let drawn = ask(&["--quantile", "0.5", "--draws", "3"]);
    assert_eq!(drawn[0][6..], ["draw_1", "draw_2", "draw_3"]);
}

/// A row that names its group is answered by that alone; else `--of` chooses.
#[test]
fn groups_answer_for_their_own_rows() {
    let places = "who,y\nright,24.5\nleft,24.5\nright,21\n";
    let folder = study("column = \"y\"\ngroup = \"who\"", places);
    let folder = folder.path();
    done(folder, &["fit", "s.toml", "-o", "m.quadrat", "--quiet"]);
    let ask = |flags: &[&str]| {
        let mut args = vec!["predict", "m.quadrat", "-o", "a.csv"];
        args.extend(flags);
        done(folder, &args);
        cells(folder, "a.csv")
    };
    let own = ask(&["--at", "p.csv", "--point", "y"]);
    let of = |name: &str| ask(&["--at", "p.csv", "--point", "y", "--of", name]);
    let (left, right) = (of("left"), of("right"));
    assert_eq!(
        own[1..],
        [right[1].clone(), left[2].clone(), right[3].clone()]
    );
    assert_eq!(own[0][..2], ["who", "y"]);
    let all = ask(&["--quantile", "0.5"]);
    assert_eq!(
        (all.len(), all[1][0].as_str(), all[2][0].as_str()),
        (3, "left", "right")
    );
    let out = quadrat(
        folder,
        &["predict", "m.quadrat", "--quantile", "0.5", "--of", "up"],
    );
    assert!(
        stderr(&out).contains("`who` has no group `up`"),
        "{}",
        stderr(&out)
    );
}

/// What a density cannot be asked is refused in words, with a place.
#[test]
fn what_makes_no_sense_is_refused() {
    let keys = "column = \"y\"\ngiven = \"x\"\ngrid = [9, 30]";
    let folder = study(keys, "x,y,a,b\n4,24,1,2\n1,21,1,2\n99,3,1,2\n");
    let folder = folder.path();
    done(folder, &["fit", "s.toml", "-o", "m.quadrat", "--quiet"]);
    let cases: [(&[&str], &str); 9] = [
        (
            &["--at", "p.csv", "--point", "y"],
            "`x`, which the density is of, is not given",
        ),
        (
            &["--at", "p.csv", "--point", "x,z"],
            "the density is not of `z`",
        ),
        (
            &["--at", "p.csv", "--point", "x,y"],
            "`x` is 99, and the densities are of",
        ),
        (
            &["--at", "p.csv", "--point", "x,y", "--quantile", "0.5"],
            "quantiles of `y` are asked",
        ),
        (
            &["--quantile", "0.5"],
            "`x`, which the density is of, is not given",
        ),
        (
            &["--at", "p.csv", "--point", "x,y", "--scale", "latent"],
            "--scale is for functions",
        ),
        (
            &["--at", "p.csv", "--point", "x,y", "--exposure", "a"],
            "--exposure is for functions",
        ),
        (
            &["--at", "p.csv", "--point", "x,y", "--of", "a"],
            "there is one density",
        ),
        (
            &[
                "--at",
                "p.csv",
                "--point",
                "y",
                "--box",
                "x=a,b",
                "--aggregate",
                "sum",
            ],
            "`x` is given: its values are places",
        ),
    ];
    for (flags, part) in cases {
        let mut args = vec!["predict", "m.quadrat", "-o", "a.csv"];
        args.extend(flags);
        let out = quadrat(folder, &args);
        assert_eq!(out.status.code(), Some(1), "{flags:?}");
        assert!(stderr(&out).contains(part), "{flags:?}: {}", stderr(&out));
    }
    let out = quadrat(folder, &["tell", "m.quadrat", "p.csv"]);
    assert!(
        stderr(&out).contains("is the model of a density"),
        "{}",
        stderr(&out)
    );
    assert_eq!(names(folder), ["m.quadrat", "p.csv", "s.toml", "t.csv"]);
    let asked = [
        ("scale = \"latent\"", "`scale` is for functions"),
        ("trials = 3", "`trials` is for functions"),
        ("quantile = 2", "it must lie between 0 and 1"),
        ("output = \"left\"", "there is one density"),
    ];
    for (key, part) in asked {
        let predict = format!(
            "{keys}\n[[predict]]\nname = \"a\"\n{key}\nsupport = {{ file = \"p.csv\", point = [\"x\", \"y\"] }}"
        );
        let text = format!("[density]\nfile = \"t.csv\"\n{predict}\n");
        std::fs::write(folder.join("s.toml"), text).unwrap();
        let out = quadrat(folder, &["run", "s.toml", "-o", "out"]);
        assert_eq!(out.status.code(), Some(1), "{key}");
        let said = stderr(&out);
        assert!(
            said.contains(part) && said.contains("s.toml:"),
            "{key}: {said}"
        );
    }
}

/// A damaged model is refused.
#[test]
fn damaged_models_are_refused() {
    let folder = study("column = \"y\"\ngrid = 40", "y\n24\n");
    let folder = folder.path();
    done(folder, &["fit", "s.toml", "-o", "m.quadrat", "--quiet"]);
    let mut bytes = std::fs::read(folder.join("m.quadrat")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(folder.join("m.quadrat"), bytes).unwrap();
    let out = quadrat(
        folder,
        &["predict", "m.quadrat", "--at", "p.csv", "--point", "y"],
    );
    assert_eq!(out.status.code(), Some(1));
    assert!(
        stderr(&out).contains("checksum does not match"),
        "{}",
        stderr(&out)
    );
}

/// Points and boxes beyond the cells, along any column, are zero, which is told.
#[test]
fn what_lies_beyond_the_cells_is_told() {
    let places = "x,y,to\n4,24.5,25\n500,21,22\n3,-400,-300\n-1e3,1e4,2e4\n";
    for (keys, support, n) in [
        ("column = \"y\"", "point = [\"y\"]", 2),
        ("column = \"y\"", "box = { y = [\"y\", \"to\"] }", 2),
        (
            "column = [\"x\", \"y\"]\ngrid = 20",
            "point = [\"x\", \"y\"]",
            3,
        ),
        ("column = [\"x\", \"y\"]\ngrid = 20", "point = [\"x\"]", 2),
    ] {
        let is_box = support.starts_with("box");
        let aggregate = if is_box { "aggregate = \"sum\"\n" } else { "" };
        let asked = format!(
            "{keys}\n[[predict]]\nname = \"at\"\n{aggregate}support = {{ file = \"p.csv\", {support} }}"
        );
        let folder = study(&asked, places);
        let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
        let told = stderr(&output);
        let says = format!("{n} rows of 4 lie beyond what the density covers, ");
        assert!(told.contains(&says), "{keys} {support}: {told}");
    }
}
