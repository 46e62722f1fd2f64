//! What tables and predictions may say besides: values that were never recorded beyond a limit,
//! rows seen several times, numbers as edges, features without a geometry, exposures and trials of
//! predictions, and the number of a run.

use std::path::Path;

use crate::harness::{column, done, fit, folder, none, refused};

/// A study of points; `OBSERVE` and `PREDICT` take more keys.
const POINTS: &str = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
likelihood = { KIND }
OBSERVE
[[predict]]
name = "p"
support = { file = "ask.csv", point = ["t"] }
PREDICT
[inference]
hyperparameters = "map"
METHOD
"#;
const ASK: &str = "t,people,asked\n0.5,1000,10\n2,25000,500\n3.5,10,1\n";

fn points(kind: &str, observe: &str, predict: &str, method: &str) -> String {
    POINTS
        .replace("KIND", kind)
        .replace("OBSERVE", observe)
        .replace("PREDICT", predict)
        .replace("METHOD", method)
}

/// The folder of a study that ran, and what was said.
fn ran(study: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, String) {
    let mut all: Vec<(&str, &[u8])> =
        vec![("s.toml", study.as_bytes()), ("ask.csv", ASK.as_bytes())];
    all.extend(files.iter().map(|(name, text)| (*name, text.as_bytes())));
    let folder = folder(&all);
    let said = done(folder.path(), &["run", "s.toml", "-o", "out"]);
    (folder, said)
}

fn evidence(folder: &Path) -> f64 {
    fit(folder)["log_evidence"].as_f64().unwrap()
}

fn close(a: &[f64], b: &[f64], relative: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a / b - 1.0).abs() < relative)
}

#[test]
fn values_that_were_never_recorded_below_a_limit() {
    // Of values about 1.2 t those below 1 are missing.
    let table = "t,y,least\n0,1.3,1\n0.4,1.1,1\n0.8,1.6,1\n1.2,1.2,1\n1.6,2.1,1\n2,2.6,1\n2.4,2.7,1\n2.8,3.5,1\n3.2,3.9,1\n3.6,4.2,1\n";
    let means = |kind: &str| {
        let (folder, said) = ran(&points(kind, "", "", ""), &[("d.csv", table)]);
        (column(folder.path(), "p", "mean"), said)
    };
    let (cut, said) = means("truncated = { value = \"y\", lower = 1, sd = 0.6 }");
    assert!(said.contains("none recorded below 1"), "{said}");
    let (all, _) = means("gaussian = { value = \"y\", sd = 0.6 }");
    // Near the limit the recorded values are too high; far above it nothing is missing.
    assert!(cut[0] < all[0] - 0.3, "{cut:?} {all:?}");
    assert!((cut[2] - all[2]).abs() < 0.1, "{cut:?} {all:?}");
    let (by_column, _) = means("truncated = { value = \"y\", lower = \"least\", sd = 0.6 }");
    assert_eq!(by_column, cut);
    // A limit that no value has reached censors nothing, and is told.
    let (_, said) = means("censored = { value = \"y\", lower = 1, sd = 0.6 }");
    assert!(said.contains("never recorded, use `truncated`"), "{said}");
}

#[test]
fn a_value_beyond_its_limits_is_refused_with_its_row() {
    let table = "t,y,most\n0,1.3,9\n1,0.2,9\n2,4,3\n";
    let files: [(&str, &[u8]); 2] = [("d.csv", table.as_bytes()), ("ask.csv", ASK.as_bytes())];
    let wrong = [
        (
            "truncated = { value = \"y\", lower = 1, upper = \"most\" }",
            vec![
                "the value is 0.2, beyond its lower limit, 1",
                "d.csv:3:3",
                "the value is 4, beyond its upper limit, 3",
                "`censored`",
            ],
        ),
        (
            "truncated = { value = \"y\" }",
            vec!["truncated needs `lower`"],
        ),
        (
            "truncated = { value = \"y\", lower = 1, upper = 1 }",
            vec!["is not above `lower`"],
        ),
        (
            "truncated = { value = \"y\", lower = 0, variance = 0 }",
            vec!["needs some noise"],
        ),
    ]
    .into_iter()
    .filter_map(|(kind, expected)| {
        refused(kind, &points(kind, "", "", ""), &files, &expected).err()
    });
    none(&wrong.collect::<Vec<String>>());
}

#[test]
fn rows_seen_several_times_are_so_many_rows() {
    let counted = "t,y,k,of,n\n0,1.0,2,5,3\n1,1.5,4,5,1\n2,0.7,1,5,0\n3,0.5,3,5,2\n4,0.4,0,5,1\n";
    let written =
        "t,y,k,of\n0,1.0,2,5\n0,1.0,2,5\n0,1.0,2,5\n1,1.5,4,5\n3,0.5,3,5\n3,0.5,3,5\n4,0.4,0,5\n";
    for (kind, method) in [
        ("gaussian = { value = \"y\" }", ""),
        ("gaussian = { value = \"y\", sd = 0.3 }", ""),
        ("poisson = { count = \"k\" }", "method = \"laplace\""),
        (
            "binomial = { successes = \"k\", trials = \"of\" }",
            "method = \"variational\"",
        ),
        (
            "negative_binomial = { count = \"k\", dispersion = 0.3 }",
            "method = \"laplace\"",
        ),
    ] {
        let (one, said) = ran(
            &points(kind, "times = \"n\"", "", method),
            &[("d.csv", counted)],
        );
        assert!(said.contains("seen 7 times together"), "{said}");
        let (many, _) = ran(&points(kind, "", "", method), &[("d.csv", written)]);
        let off = (evidence(one.path()) - evidence(many.path())).abs();
        assert!(off < 1e-3, "{kind}: {off}");
        for name in ["mean", "sd"] {
            let [a, b] = [&one, &many].map(|folder| column(folder.path(), "p", name));
            // Where the search for hyperparameters ends.
            assert!(close(&a, &b, 5e-3), "{kind}, {name}: {a:?} {b:?}");
        }
    }
}

#[test]
fn numbers_of_times_that_are_none_are_refused() {
    let study = |times: &str| points("gaussian = { value = \"y\" }", times, "", "");
    let file = |n: &str| format!("t,y,n\n0,1,1\n1,2,{n}\n2,1,3\n");
    let mut wrong = Vec::new();
    for (n, told) in [
        ("1.5", "1.5 times"),
        ("-2", "-2 times"),
        ("1e17", "times; it must be"),
    ] {
        let table = file(n);
        let files: [(&str, &[u8]); 2] = [("d.csv", table.as_bytes()), ("ask.csv", ASK.as_bytes())];
        wrong.extend(refused(n, &study("times = \"n\""), &files, &[told, "d.csv:3:5"]).err());
    }
    let table = "t,y,n\n0,1,0\n1,2,0\n";
    let files: [(&str, &[u8]); 2] = [("d.csv", table.as_bytes()), ("ask.csv", ASK.as_bytes())];
    wrong.extend(
        refused(
            "none",
            &study("times = \"n\""),
            &files,
            &["no row was seen"],
        )
        .err(),
    );
    wrong.extend(refused("0", &study("times = 0"), &files, &["`times` is 0"]).err());
    none(&wrong);
}

#[test]
fn counts_that_others_hold_are_not_repeated() {
    let study = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { box = { t = [0, "to"] } }
aggregate = "sum"
likelihood = { poisson = { count = "k" } }
times = 2
"#;
    let files: [(&str, &[u8]); 1] = [("d.csv", b"to,k\n1,3\n2,7\n3,9\n")];
    refused(
        "nested",
        study,
        &files,
        &["`times` repeats them", "leave `times` out"],
    )
    .unwrap();
}

#[test]
fn numbers_are_edges_of_boxes() {
    let study = |first: &str, asked: &str| {
        format!(
            r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = {{ box = {{ t = [{first}, "to"] }} }}
aggregate = "mean"
likelihood = {{ gaussian = {{ value = "y", sd = 0.1 }} }}
[[predict]]
name = "p"
support = {{ file = "b.csv", box = {{ t = [{asked}, 4.5] }} }}
aggregate = "mean"
[inference]
hyperparameters = "map"
"#
        )
    };
    let table = "zero,to,y\n0,1,1.0\n0,2,1.4\n0,3.5,0.6\n0,5,0.2\n";
    let files = [("d.csv", table), ("b.csv", "from\n0\n1\n3\n")];
    let (numbers, _) = ran(&study("0", "\"from\""), &files);
    let (columns, _) = ran(&study("\"zero\"", "\"from\""), &files);
    for name in ["mean", "sd"] {
        let [a, b] = [&numbers, &columns].map(|folder| column(folder.path(), "p", name));
        assert_eq!(a, b);
    }
    assert_eq!(column(numbers.path(), "p", "t_upper"), [4.5; 3]);
    let bytes: Vec<(&str, &[u8])> = files.iter().map(|(n, t)| (*n, t.as_bytes())).collect();
    let mut wrong = Vec::new();
    let both = ["all edges of the `box` are numbers", "grid"];
    wrong.extend(refused("both", &study("0", "0"), &bytes, &both).err());
    let flag = ["two names of columns, or numbers, not other values"];
    wrong.extend(refused("flag", &study("true", "0"), &bytes, &flag).err());
    wrong.extend(refused("giant", &study("1e200", "0"), &bytes, &flag).err());
    none(&wrong);
}

#[test]
fn features_without_a_geometry_are_left_out_where_that_is_asked() {
    let square = |id: &str, west: u8| {
        let east = west + 1;
        format!(
            "{{\"type\":\"Feature\",\"properties\":{{\"id\":\"{id}\"}},\"geometry\":{{\"type\":\"Polygon\",\"coordinates\":[[[{west},0],[{east},0],[{east},1],[{west},1],[{west},0]]]}}}}"
        )
    };
    let bare = |id: &str, geometry: &str| {
        format!(
            "{{\"type\":\"Feature\",\"properties\":{{\"id\":\"{id}\"}},\"geometry\":{geometry}}}"
        )
    };
    let features = [
        square("a", 0),
        bare("sea", "null"),
        square("b", 1),
        bare("lake", "{\"type\":\"Polygon\",\"coordinates\":[]}"),
        square("c", 2),
    ];
    let map = format!(
        "{{\"type\":\"FeatureCollection\",\"features\":[\n{}\n]}}",
        features.join(",\n")
    );
    let study = |empty: &str| {
        let region = format!(
            "region = {{ file = \"m.geojson\", key = \"id\", dims = [\"x\", \"y\"], planar = true{empty} }}"
        );
        format!(
            r#"[latent]
kernel = "se(x, y)"
[[observe]]
file = "d.csv"
support = {{ {region} }}
aggregate = "mean"
likelihood = {{ gaussian = {{ value = "v", variance = 0.1 }} }}
[[predict]]
name = "p"
support = {{ {region} }}
aggregate = "mean"
[inference]
hyperparameters = "map"
"#
        )
    };
    let table = "id,v\na,1\nsea,5\nb,2\nc,1.5\n";
    let files: [(&str, &[u8]); 2] = [("m.geojson", map.as_bytes()), ("d.csv", table.as_bytes())];
    let expected = [
        "the feature with id `sea` has no geometry",
        "the polygon of the feature with id `lake` is empty",
        "`empty = \"skip\"` in `region`",
    ];
    refused("bare", &study(""), &files, &expected).unwrap();
    let files = [("m.geojson", map.as_str()), ("d.csv", table)];
    let (folder, said) = ran(&study(", empty = \"skip\""), &files);
    for told in [
        "m.geojson: 2 features without a geometry left out: the feature with id `sea`, the feature with id `lake`",
        "d.csv: 1 row left out, the first at d.csv:3: their regions have no geometry",
        "2 rows of m.geojson not predicted: the regions have no geometry",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert_eq!(column(folder.path(), "p", "mean").len(), 3);
}

#[test]
fn counts_are_predicted_at_an_exposure() {
    let table = "t,k,people\n0,30,9000\n1,25,9500\n2,33,9100\n3,28,8800\n4,35,9900\n";
    let kind = "poisson = { count = \"k\", exposure = \"people\" }";
    let asked = |predict: &str| {
        let (folder, _) = ran(&points(kind, "", predict, ""), &[("d.csv", table)]);
        let of = |name: &str| column(folder.path(), "p", name);
        (of("mean"), of("sd"), of("upper"))
    };
    let (rate, sd, _) = asked("");
    let people = [1000.0, 25_000.0, 10.0];
    let (expected, spread, _) = asked("exposure = \"people\"");
    let (counts, wide, upper) = asked("exposure = \"people\"\nscale = \"observation\"");
    for row in 0..3 {
        // Products with the exposure, to rounding. Observations are averaged over nodes within
        // seven sds: 3e-12 is left out, of counts like e^f some thousand times that.
        let mean = rate[row] * people[row];
        assert!((expected[row] / mean - 1.0).abs() < 1e-9, "{expected:?}");
        assert!((spread[row] / (sd[row] * people[row]) - 1.0).abs() < 1e-9);
        assert!((counts[row] / mean - 1.0).abs() < 1e-6, "{counts:?}");
        // A count varies by its mean, and as its mean is not known.
        let variance = mean + (sd[row] * people[row]).powi(2);
        assert!(
            (wide[row].powi(2) / variance - 1.0).abs() < 1e-6,
            "{wide:?}"
        );
    }
    assert!(upper[1] > counts[1] + 1.5 * wide[1] && upper[1].fract() == 0.0);
    let (one, ..) = asked("exposure = 25000\nscale = \"observation\"");
    assert_eq!(one[1], counts[1]);
}

#[test]
fn counts_over_boxes_are_predicted_at_an_exposure() {
    let study = |predict: &str| {
        format!(
            r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = {{ box = {{ t = ["from", "to"] }} }}
aggregate = "sum"
likelihood = {{ poisson = {{ count = "k" }} }}
[[predict]]
name = "p"
support = {{ file = "d.csv", box = {{ t = ["from", "to"] }} }}
aggregate = "sum"
{predict}
[inference]
hyperparameters = "map"
"#
        )
    };
    let table = "from,to,k,people\n0,1,9,1\n1,2,14,10\n2,4,21,2\n";
    let columns = |predict: &str, names: [&str; 2]| {
        let (folder, _) = ran(&study(predict), &[("d.csv", table)]);
        names.map(|name| column(folder.path(), "p", name))
    };
    let asked = |predict: &str| columns(predict, ["mean", "sd"]);
    let [rate, sd] = asked("");
    let [mean, spread] = asked("exposure = \"people\"");
    let [count, wide] = asked("exposure = \"people\"\nscale = \"observation\"");
    let [plain, drawn] = ["draws = 2", "exposure = \"people\"\ndraws = 2"]
        .map(|predict| columns(predict, ["draw_1", "draw_2"]));
    for (row, people) in [1.0, 10.0, 2.0].into_iter().enumerate() {
        // Products with the exposure, to rounding. Observations are averaged over nodes within
        // seven sds: 3e-12 is left out, of squares of counts like e^f some thousand times that.
        assert!((mean[row] / (people * rate[row]) - 1.0).abs() < 1e-9);
        assert!((spread[row] / (people * sd[row]) - 1.0).abs() < 1e-9);
        assert!((count[row] / mean[row] - 1.0).abs() < 1e-6);
        for (one, all) in plain.iter().zip(&drawn) {
            assert!((all[row] / (people * one[row]) - 1.0).abs() < 1e-12);
        }
        let variance = mean[row] + spread[row].powi(2);
        assert!((wide[row].powi(2) / variance - 1.0).abs() < 1e-6);
    }
}

#[test]
fn successes_are_predicted_among_trials() {
    let table = "t,k,of\n0,3,10\n1,5,12\n2,4,9\n3,8,14\n4,7,10\n";
    let kind = "binomial = { successes = \"k\", trials = \"of\" }";
    let asked = |predict: &str, name: &str| {
        let (folder, _) = ran(&points(kind, "", predict, ""), &[("d.csv", table)]);
        column(folder.path(), "p", name)
    };
    let (chance, unsure) = (asked("", "mean"), asked("", "sd"));
    let predict = "trials = \"asked\"\nscale = \"observation\"";
    let (mean, sd) = (asked(predict, "mean"), asked(predict, "sd"));
    for (row, n) in [10.0, 500.0, 1.0].into_iter().enumerate() {
        let p = chance[row];
        // Averages over nodes within seven sds, of which 3e-12 is left out, n times in a variance.
        assert!((mean[row] / (n * p) - 1.0).abs() < 1e-6, "{mean:?}");
        // n E p (1 - p) + n^2 Var p.
        let v = unsure[row].powi(2);
        let variance = n * (p * (1.0 - p) - v) + n * n * v;
        assert!((sd[row].powi(2) / variance - 1.0).abs() < 1e-5, "{sd:?}");
    }
    let all = asked("trials = 500\nscale = \"observation\"", "mean");
    assert!((all[1] / mean[1] - 1.0).abs() < 1e-12);
}

#[test]
fn exposures_and_trials_of_what_has_none_are_refused() {
    let counts = "poisson = { count = \"y\" }";
    let successes = "binomial = { successes = \"y\", trials = 9 }";
    let values = "gaussian = { value = \"y\" }";
    let table = "t,y\n0,1\n1,2\n2,1\n";
    let none_there = "t,people,asked\n0.5,0,1.5\n";
    let mut wrong = Vec::new();
    for (kind, predict, ask, told) in [
        (values, "exposure = 3", ASK, "`exposure` is of counts"),
        (successes, "exposure = 3", ASK, "among `trials`"),
        (
            counts,
            "exposure = 3\nscale = \"latent\"",
            ASK,
            "knows no exposure",
        ),
        (
            counts,
            "exposure = 0",
            ASK,
            "`exposure` is 0; it must be above zero",
        ),
        (counts, "exposure = \"people\"", none_there, "ask.csv:2:5"),
        (counts, "trials = 3", ASK, "`trials` are of `binomial` rows"),
        (
            successes,
            "trials = 3",
            ASK,
            "add `scale = \"observation\"`",
        ),
        (successes, "trials = 2.5", ASK, "a whole number above zero"),
        (
            successes,
            "trials = \"asked\"\nscale = \"observation\"",
            none_there,
            "the trials is 1.5",
        ),
        (
            counts,
            "exposure = 3\ntrials = 3",
            ASK,
            "both `exposure` and `trials`",
        ),
    ] {
        let files: [(&str, &[u8]); 2] = [("d.csv", table.as_bytes()), ("ask.csv", ask.as_bytes())];
        wrong.extend(refused(predict, &points(kind, "", predict, ""), &files, &[told]).err());
    }
    none(&wrong);
}

/// Straight lines, whose continuation is known.
#[test]
fn predictions_of_what_cannot_be_are_told_with_the_way_out() {
    let study = |aggregate: &str, to: u8| {
        format!(
            r#"[latent]
kernel = "linear(t)"
[[observe]]
file = "d.csv"
support = {{ box = {{ t = ["from", "to"] }} }}
aggregate = "{aggregate}"
likelihood = {{ gaussian = {{ value = "y", sd = 0.01 }} }}
[[predict]]
name = "p"
support = {{ grid = {{ t = {{ from = 0, to = {to}, step = 1, cells = true }} }} }}
aggregate = "{aggregate}"
[inference]
hyperparameters = "map"
"#
        )
    };
    let said = |aggregate: &str, to: u8, table: &str| {
        let (folder, _) = ran(&study(aggregate, to), &[("d.csv", table)]);
        fit(folder.path())["warnings"].to_string()
    };
    let rising = "from,to,y\n0,1,0.2\n1,2,0.5\n2,3,0.8\n";
    let told = said("mean", 5, rising);
    // 1.1 and 1.4 beyond the rows.
    assert!(
        told.contains("2 means of 5 are above one (up to 1."),
        "{told}"
    );
    assert!(told.contains("`binomial`"), "{told}");
    assert!(!said("mean", 3, rising).contains("above one"));
    let falling = "from,to,y\n0,1,8\n1,2,5\n2,3,2\n";
    let told = said("sum", 5, falling);
    assert!(told.contains("2 means of 5 are below zero"), "{told}");
    assert!(
        told.contains("`poisson = { count = .. }`") || told.contains("keeps both"),
        "{told}"
    );
}

#[test]
fn files_of_one_run_carry_one_number() {
    let table = "t,y\n0,1\n1,2\n2,1\n";
    let text = points("gaussian = { value = \"y\" }", "", "", "");
    let number = |study: &str, table: &str| {
        let (folder, _) = ran(study, &[("d.csv", table)]);
        let number = fit(folder.path())["run"].as_str().unwrap().to_owned();
        let report = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
        assert!(report.contains(&number));
        done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
        let model = std::fs::read(folder.path().join("m.quadrat")).unwrap();
        let bytes = number.as_bytes();
        assert!(model.windows(bytes.len()).any(|part| part == bytes));
        number
    };
    let one = number(&text, table);
    assert_eq!(one.len(), 16);
    assert_eq!(number(&text, table), one);
    assert_ne!(number(&text, "t,y\n0,1\n1,2\n2,1.5\n"), one);
    assert_ne!(
        number(&text.replace("\"map\"", "\"map\"\nseed = 1"), table),
        one
    );
}
