//! Several outputs in one study: what is written, per output and for all.

use std::path::Path;

use crate::harness::{done, fit, folder, names, quadrat, stderr, stdout};

const NORTH: &str = "t,y\n0,0.1\n1,0.9\n2,1.0\n3,0.2\n4,-0.8\n5,-1.0\n";
const SOUTH: &str = "t,y\n0.5,5.6\n1.5,7.9\n2.5,6.1\n3.5,4.4\n4.5,3.2\n";

/// A study of tables, each given by its lines after `support`, that predicts at three points.
fn study(tables: &[(&str, &str)], more: &str) -> String {
    let mut text = "[latent]\nkernel = \"se(t)\"\n".to_owned();
    for (file, lines) in tables {
        text +=
            &format!("[[observe]]\nfile = \"{file}\"\nsupport = {{ point = [\"t\"] }}\n{lines}\n");
    }
    text + "[[predict]]\nname = \"at\"\nsupport = { grid = { t = { from = 0, to = 4, step = 2 } } }\n"
        + more
}

const MAP: &str = "[inference]\nhyperparameters = \"map\"\n";
const VALUES: &str = "likelihood = { gaussian = { value = \"y\" } }";

fn of(output: &str, likelihood: &str) -> String {
    format!("output = \"{output}\"\n{likelihood}")
}

fn run(files: &[(&str, &str)]) -> (tempfile::TempDir, String) {
    let bytes: Vec<(&str, &[u8])> = files.iter().map(|(n, t)| (*n, t.as_bytes())).collect();
    let folder = folder(&bytes);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    (folder, said)
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join("out").join(name)).unwrap()
}

/// The cells of a table without its header.
fn rows(table: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.split(',').map(str::to_owned).collect();
    table.lines().skip(1).map(cells).collect()
}

/// Output, place and mean of every row of a table of points.
fn means(table: &str) -> Vec<(String, f64, f64)> {
    let row = |r: Vec<String>| (r[0].clone(), r[1].parse().unwrap(), r[2].parse().unwrap());
    rows(table).into_iter().map(row).collect()
}

/// Two tables as one, with a column that tells them apart; rows of both alternate.
fn together() -> String {
    let mut lines: Vec<String> = Vec::new();
    let (a, b) = (NORTH.lines().skip(1), SOUTH.lines().skip(1));
    lines.extend(a.map(|line| format!("{line},north")));
    for (i, line) in b.enumerate() {
        lines.insert(2 * i + 1, format!("{line},south"));
    }
    format!("t,y,site\n{}\n", lines.join("\n"))
}

#[test]
fn one_table_with_a_column_of_outputs_is_two_tables() {
    let (a, b) = (of("north", VALUES), of("south", VALUES));
    let two = study(&[("n.csv", &a), ("s.csv", &b)], MAP);
    let (two, said) = run(&[("s.toml", &two), ("n.csv", NORTH), ("s.csv", SOUTH)]);
    let column = format!("output_column = \"site\"\n{VALUES}");
    let one = study(&[("all.csv", &column)], MAP);
    let (one, _) = run(&[("s.toml", &one), ("all.csv", &together())]);
    // The same rows in the same order: nothing but the name of the file differs.
    assert_eq!(read(one.path(), "at.csv"), read(two.path(), "at.csv"));
    let table = read(one.path(), "at.csv");
    assert_eq!(
        table.lines().next(),
        Some("output,t,mean,sd,lower,median,upper")
    );
    let order: Vec<(String, f64)> = means(&table).into_iter().map(|(o, t, _)| (o, t)).collect();
    let expected = [
        ("north", 0.0),
        ("north", 2.0),
        ("north", 4.0),
        ("south", 0.0),
        ("south", 2.0),
        ("south", 4.0),
    ];
    assert_eq!(order, expected.map(|(o, t)| (o.to_owned(), t)));
    let json = fit(two.path());
    let found = &json["output_correlations"][0];
    assert_eq!(
        (&found["first"], &found["second"]),
        (&"north".into(), &"south".into())
    );
    let number = |key: &str| found[key].as_f64().unwrap();
    assert!(
        number("value") > 0.5
            && number("lower") <= number("median")
            && number("median") <= number("upper")
    );
    // What is shown beside an interval is of the same distribution.
    let intervals = json["hyperparameter_intervals"].as_object().unwrap();
    assert!(
        intervals.keys().any(|name| name.starts_with("coregion")),
        "{json}"
    );
    for (name, interval) in intervals {
        let median = json["hyperparameter_medians"][name].as_f64().unwrap();
        let [lower, upper] = [0, 1].map(|end| interval[end].as_f64().unwrap());
        assert!(lower <= median && median <= upper, "{name}: {json}");
    }
    assert_eq!(json["output_correlations"].as_array().unwrap().len(), 1);
    for part in [
        "6 rows of n.csv (north)",
        "5 rows of s.csv (south)",
        "se(t), one latent process of rank 1 mixed into 2 outputs",
        "north and south: correlation",
        "level to which `south` returns far from the data",
        "variance of the noise on a single observation of `south`",
        "at: north",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let report = read(two.path(), "report.html");
    assert!(report.contains("data-figure=\"output-correlations\""));
    assert!(report.contains("variance that north has for itself"));
    let written = names(&two.path().join("out"));
    assert!(
        written.contains(&"output-correlations.svg".to_owned()),
        "{written:?}"
    );
}

#[test]
fn a_prediction_of_one_output_has_its_rows_only() {
    let (a, b) = (of("north", VALUES), of("south", VALUES));
    let text = study(
        &[("n.csv", &a), ("s.csv", &b)],
        "output = \"south\"\n[inference]\nhyperparameters = \"map\"\n",
    );
    let (one, _) = run(&[("s.toml", &text), ("n.csv", NORTH), ("s.csv", SOUTH)]);
    let found = means(&read(one.path(), "at.csv"));
    assert_eq!(found.len(), 3);
    assert!(
        found
            .iter()
            .all(|(output, _, mean)| output == "south" && *mean > 2.0),
        "{found:?}"
    );
}

#[test]
fn a_saved_model_predicts_one_output_or_all() {
    let (a, b) = (of("north", VALUES), of("south", VALUES));
    let text = study(&[("n.csv", &a), ("s.csv", &b)], MAP);
    let at = "t\n0\n2\n4\n";
    let (folder, _) = run(&[
        ("s.toml", &text),
        ("n.csv", NORTH),
        ("s.csv", SOUTH),
        ("at.csv", at),
    ]);
    let program = |args: &[&str]| quadrat(folder.path(), args);
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let base = ["predict", "m.quadrat", "--at", "at.csv", "--point", "t"];
    let all = stdout(&program(&base));
    let whole = read(folder.path(), "at.csv");
    assert_eq!(all.lines().next(), whole.lines().next());
    for (found, expected) in means(&all).iter().zip(means(&whole)) {
        assert_eq!((&found.0, found.1), (&expected.0, expected.1));
        // One path through the file and one not: the same to rounding.
        assert!(
            (found.2 - expected.2).abs() < 1e-9,
            "{found:?}, {expected:?}"
        );
    }
    let south = stdout(&program(&[&base[..], &["--of", "south"]].concat()));
    assert_eq!(means(&south), means(&all)[3..]);
    let unknown = program(&[&base[..], &["--of", "sout"]].concat());
    assert_eq!(unknown.status.code(), Some(1));
    let words = stderr(&unknown);
    assert!(
        words.contains("no output `sout`") && words.contains("`north` and `south`"),
        "{words}"
    );
}

#[test]
fn a_model_of_one_output_knows_none_by_name() {
    let text = study(&[("n.csv", VALUES)], MAP);
    let (folder, said) = run(&[("s.toml", &text), ("n.csv", NORTH)]);
    assert!(!said.contains("correlation"), "{said}");
    assert!(fit(folder.path()).get("output_correlations").is_none());
    assert!(!names(&folder.path().join("out")).contains(&"output-correlations.svg".to_owned()));
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let args = [
        "predict",
        "m.quadrat",
        "--at",
        "n.csv",
        "--point",
        "t",
        "--of",
        "north",
    ];
    let refused = quadrat(folder.path(), &args);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("leave `--of north` out"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn counts_stand_beside_values_of_another_output() {
    let counts = "t,n\n0,3\n1,7\n2,8\n3,4\n4,1\n5,1\n6,2\n";
    let (a, b) = (
        of("north", VALUES),
        of("south", "likelihood = { poisson = { count = \"n\" } }"),
    );
    let text = study(&[("n.csv", &a), ("c.csv", &b)], MAP);
    let (folder, said) = run(&[("s.toml", &text), ("n.csv", NORTH), ("c.csv", counts)]);
    assert!(said.contains("link exp"), "{said}");
    let found = means(&read(folder.path(), "at.csv"));
    let at = |output: &str, t: f64| {
        found
            .iter()
            .find(|(o, x, _)| o == output && *x == t)
            .unwrap()
            .2
    };
    // Values may be negative, rates may not.
    assert!(
        at("north", 4.0) < -0.4 && at("north", 2.0) > 0.6,
        "{found:?}"
    );
    assert!(
        at("south", 4.0) > 0.0 && at("south", 2.0) > 4.0,
        "{found:?}"
    );
}

#[test]
fn intervals_and_censored_values_may_be_of_different_outputs() {
    let intervals = "t,lo,hi\n0,0,0.5\n1,0.5,1\n2,0.5,1.5\n3,0,0.5\n4,-1,-0.5\n5,-1.5,-0.5\n";
    let limits = "t,y\n0.5,5.6\n1.5,>7\n2.5,6.1\n3.5,4.4\n4.5,<4\n";
    let a = of(
        "north",
        "likelihood = { interval = { lower = \"lo\", upper = \"hi\" } }",
    );
    let b = of("south", "likelihood = { censored = { value = \"y\" } }");
    let text = study(&[("i.csv", &a), ("l.csv", &b)], MAP);
    let (folder, _) = run(&[("s.toml", &text), ("i.csv", intervals), ("l.csv", limits)]);
    let found = means(&read(folder.path(), "at.csv"));
    assert_eq!(found.len(), 6);
    assert!(found[1].2 > 0.4 && found[2].2 < -0.2, "{found:?}");
    // Of the censored top and foot only one side was told.
    assert!(found[4].2 > 6.0 && found[5].2 < 4.6, "{found:?}");
}

#[test]
fn two_tables_of_one_output_are_one_function() {
    let (a, b) = (of("north", VALUES), of("south", VALUES));
    let again = "t,y\n6,-0.3\n7,0.6\n8,1.1\n";
    let wide = "[[predict]]\nname = \"far\"\noutput = \"north\"\nsupport = { grid = { t = { from = 6, to = 8, step = 1 } } }\n";
    let tables = [("n.csv", a.as_str()), ("s.csv", &b), ("more.csv", &a)];
    let shared = format!("share_noise = true\n{a}");
    let sharing = [("n.csv", a.as_str()), ("s.csv", &b), ("more.csv", &shared)];
    for (tables, noises) in [(tables, 3), (sharing, 2)] {
        let text = study(&tables, &format!("{wide}{MAP}"));
        let files = [
            ("s.toml", text.as_str()),
            ("n.csv", NORTH),
            ("s.csv", SOUTH),
            ("more.csv", again),
        ];
        let (folder, said) = run(&files);
        assert!(said.contains("3 rows of more.csv (north)"), "{said}");
        let json = fit(folder.path());
        let hypers = json["hyperparameters"].as_object().unwrap();
        let found = hypers
            .keys()
            .filter(|name| name.starts_with("noise"))
            .count();
        assert_eq!(found, noises, "{hypers:?}");
        let far = means(&read(folder.path(), "far.csv"));
        // The third table has -0.3 and 1.1 there, beyond the last row of the first.
        assert!(far[0].2 < 0.1 && far[2].2 > 0.6, "{far:?}");
    }
}

#[test]
fn a_noise_is_shared_within_an_output_before_others_in_any_order() {
    let (a, b) = (of("north", VALUES), of("south", VALUES));
    let shared = format!("share_noise = true\n{b}");
    let again = "t,y\n0.5,0.3\n1.5,1.1\n2.5,0.2\n";
    let mut orders = [("n.csv", a.as_str()), ("s.csv", &b), ("more.csv", &shared)];
    let mut found = Vec::new();
    for _ in 0..3 {
        orders.rotate_left(1);
        let files = [
            ("s.toml", study(&orders, MAP)),
            ("n.csv", NORTH.to_owned()),
            ("s.csv", SOUTH.to_owned()),
            ("more.csv", again.to_owned()),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        let (folder, _) = run(&files);
        let json = fit(folder.path());
        let own = orders
            .iter()
            .position(|(file, _)| *file == "s.csv")
            .unwrap();
        let name = match own {
            0 => "noise.variance".to_owned(),
            own => format!("noise#{}.variance", own + 1),
        };
        assert!(json["hyperparameters"][&name].is_number(), "{json}");
        found.push(json["log_evidence"].as_f64().unwrap());
    }
    // Searches over the same function end within a millionth of each other.
    assert!(
        found.iter().all(|x| (x - found[0]).abs() < 1e-4),
        "{found:?}"
    );
}

#[test]
fn a_noise_shared_by_rows_of_several_outputs_must_be_one_for_each_of_them() {
    let (a, b) = (of("north", VALUES), of("south", VALUES));
    let shared = format!("share_noise = true\noutput_column = \"site\"\n{VALUES}");
    let both = "t,y,site\n0.5,0.3,north\n1.5,1.1,south\n";
    let one = [("both.csv", shared.as_str()), ("n.csv", &a), ("s.csv", &b)];
    let two = [one[0], one[1], one[2], ("s.csv", &b)];
    let fitted = |tables: &[(&str, &str)]| {
        let text = study(tables, MAP);
        let files: [(&str, &[u8]); 4] = [
            ("s.toml", text.as_bytes()),
            ("n.csv", NORTH.as_bytes()),
            ("s.csv", SOUTH.as_bytes()),
            ("both.csv", both.as_bytes()),
        ];
        let folder = folder(&files);
        quadrat(folder.path(), &["run", "s.toml", "-o", "out"])
    };
    assert_eq!(fitted(&one).status.code(), Some(0));
    let said = stderr(&fitted(&two));
    assert!(
        said.contains("several tables learn one of their own"),
        "{said}"
    );
}

#[test]
fn two_latent_processes_have_hyperparameters_of_their_own() {
    let (a, b) = (of("north", VALUES), of("south", VALUES));
    let two = "[coregionalization]\nlatents = 2\nrank = 1\n";
    let text = study(&[("n.csv", &a), ("s.csv", &b)], &format!("{two}{MAP}"));
    let (folder, said) = run(&[("s.toml", &text), ("n.csv", NORTH), ("s.csv", SOUTH)]);
    assert!(
        said.contains("2 latent processes of rank 1 mixed into 2 outputs"),
        "{said}"
    );
    let json = fit(folder.path());
    for name in [
        "coregion.weight.north",
        "coregion#2.weight.south",
        "coregion#2.kappa.north",
        "se#2.lengthscale.t",
        "mean.constant.south",
    ] {
        assert!(json["hyperparameters"][name].is_f64(), "{name}: {json}");
    }
    // The same model, written out.
    let kernel = "coregion(o, north, south) * se(t) + coregion(o, north, south) * se(t)";
    let own = study(&[("n.csv", &a), ("s.csv", &b)], MAP).replace("se(t)", kernel);
    let (own, _) = run(&[("s.toml", &own), ("n.csv", NORTH), ("s.csv", SOUTH)]);
    assert_eq!(json["log_evidence"], fit(own.path())["log_evidence"]);
}

#[test]
fn exact_rows_of_different_outputs_do_not_contradict() {
    let table = "t,y,site\n0,1,a\n1,2,a\n0,3,b\n1,2.5,b\n2,1,a\n2,4,b\n2,1,a\n";
    let exact =
        "output_column = \"site\"\nlikelihood = { gaussian = { value = \"y\", variance = 0 } }";
    let (folder, said) = run(&[
        ("s.toml", &study(&[("d.csv", exact)], MAP)),
        ("d.csv", table),
    ]);
    assert!(
        said.contains("3 rows of d.csv (a)") && said.contains("1 row repeats"),
        "{said}"
    );
    let found = means(&read(folder.path(), "at.csv"));
    assert!(
        // What rows without noise may be missed by before they count as unsolved, in prior sds of
        // about one.
        (found[1].2 - 1.0).abs() < 1e-6 && (found[4].2 - 4.0).abs() < 1e-6,
        "{found:?}"
    );
}

#[test]
fn outputs_in_other_units_keep_their_scales() {
    let small = NORTH.replace("0.", "0.000").replace("1.0", "0.001");
    let (a, b) = (of("small", VALUES), of("large", VALUES));
    let large: String = SOUTH
        .lines()
        .map(|l| {
            if l == "t,y" {
                "t,y\n".to_owned()
            } else {
                format!("{l}e14\n")
            }
        })
        .collect();
    let text = study(&[("n.csv", &a), ("s.csv", &b)], MAP);
    let (folder, _) = run(&[("s.toml", &text), ("n.csv", &small), ("s.csv", &large)]);
    for row in rows(&read(folder.path(), "at.csv")) {
        let (mean, sd): (f64, f64) = (row[2].parse().unwrap(), row[3].parse().unwrap());
        // Values up to 0.001 with room for ten; values from 3.2e14 to 7.9e14 and their range.
        match row[0].as_str() {
            "small" => assert!(mean.abs() < 0.01 && sd < 0.01, "{row:?}"),
            _ => assert!((1e14..1e15).contains(&mean) && sd < 5e14, "{row:?}"),
        }
    }
}

#[test]
fn names_of_outputs_may_be_anything_and_stay_apart() {
    let names_of = ["a b", "a-b", "A B", "x.y", "o'neil", "ünï", "\u{1b}[31mred"];
    let mut table = "t,y,site\n".to_owned();
    for (i, name) in names_of.iter().enumerate() {
        table += &format!("{i},1.5,{name}\n{i}.5,2.5,{name}\n");
    }
    // Numbers are one key with or without a point.
    table += "0,1,7\n1,2,7.0\n";
    let text = study(
        &[("d.csv", &format!("output_column = \"site\"\n{VALUES}"))],
        MAP,
    );
    let (folder, said) = run(&[("s.toml", &text), ("d.csv", &table)]);
    assert!(!said.contains('\u{1b}'), "an escape reached the terminal");
    assert!(said.contains("2 rows of d.csv (7)"), "{said}");
    let found = means(&read(folder.path(), "at.csv"));
    assert_eq!(found.len(), 3 * (names_of.len() + 1));
}

const SQUARES: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","properties":{"id":"p"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}},
{"type":"Feature","properties":{"id":"q"},"geometry":{"type":"Polygon","coordinates":[[[1,0],[2,0],[2,1],[1,1],[1,0]]]}},
{"type":"Feature","properties":{"id":"r"},"geometry":{"type":"Polygon","coordinates":[[[2,0],[3,0],[3,1],[2,1],[2,0]]]}}]}"#;

#[test]
fn every_output_has_its_maps() {
    let region =
        "{ region = { file = \"g.geojson\", key = \"id\", dims = [\"x\", \"y\"], planar = true } }";
    let text = format!(
        "[latent]\nkernel = \"se(x, y, shared = true)\"\n[[observe]]\nfile = \"d.csv\"\nsupport = {region}\naggregate = \"mean\"\noutput_column = \"kind\"\n{VALUES}\n\
         [[predict]]\nname = \"all\"\nsupport = {region}\naggregate = \"mean\"\n\
         [[predict]]\nname = \"all-a-b\"\noutput = \"a b\"\nsupport = {region}\naggregate = \"mean\"\n{MAP}"
    );
    let table = "id,y,kind\np,1,a b\nq,2,a b\nr,3,a b\np,11,a-b\nr,14,a-b\n";
    let (folder, _) = run(&[("s.toml", &text), ("g.geojson", SQUARES), ("d.csv", table)]);
    let written = names(&folder.path().join("out"));
    let maps: Vec<&String> = written.iter().filter(|n| n.ends_with(".geojson")).collect();
    // The first asks for both, whose plain names are those of the second prediction and of each
    // other.
    assert_eq!(maps.len(), 3, "{written:?}");
    for (name, least) in [("all-a-b-2", 0.0), ("all-a-b-3", 9.0)] {
        let map: serde_json::Value =
            serde_json::from_str(&read(folder.path(), &format!("{name}.geojson"))).unwrap();
        for feature in map["features"].as_array().unwrap() {
            let mean = feature["properties"]["mean"].as_f64().unwrap();
            assert!((least..least + 7.0).contains(&mean), "{name}: {mean}");
        }
        assert!(written.contains(&format!("{name}.svg")), "{written:?}");
    }
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    let args = [
        "predict",
        "m.quadrat",
        "--at",
        "g.geojson",
        "--region",
        "x,y",
        "--planar",
        "--aggregate",
        "mean",
        "--key",
        "id",
        "-o",
        "o.geojson",
    ];
    let all = quadrat(folder.path(), &args);
    assert!(
        stderr(&all).contains("a GeoJSON file holds one output"),
        "{}",
        stderr(&all)
    );
    let one = quadrat(folder.path(), &[&args[..], &["--of", "a b"]].concat());
    assert!(one.status.success(), "{}", stderr(&one));
}

/// Values of one output beside counts of others that a column names.
const VALUES_BESIDE_COUNTS: &str = r#"
[latent]
kernel = "se(t)"
[[observe]]
file       = "levels.csv"
support    = { point = ["t"] }
output     = "level"
likelihood = { gaussian = { value = "y" } }
[[observe]]
file          = "counts.csv"
support       = { point = ["t"] }
output_column = "kind"
likelihood    = { poisson = { count = "n" } }
[inference]
hyperparameters = "map"
"#;

#[test]
fn counts_of_a_column_of_outputs_stand_beside_values_of_another() {
    let levels = b"t,y\n0,1.2\n1,1.9\n2,2.4\n3,1.1\n4,0.3\n";
    let counts = "t,kind,n\n0,fish,3\n1,fish,5\n2,eel,7\n3,eel,2\n4,fish,1\n";
    let run = |counts: &str| {
        let folder = folder(&[
            ("s.toml", VALUES_BESIDE_COUNTS.as_bytes()),
            ("levels.csv", levels.as_slice()),
            ("counts.csv", counts.as_bytes()),
        ]);
        quadrat(folder.path(), &["run", "s.toml", "--quiet"])
    };
    let output = run(counts);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // The column turns out to name the output of the values.
    let output = run(&counts.replace("eel", "level"));
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("`gaussian` beside `poisson`"), "{text}");
    assert!(text.contains("s.toml:8:"), "{text}");
}
