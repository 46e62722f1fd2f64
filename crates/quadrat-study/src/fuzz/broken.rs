//! Studies that are broken all over: how they are refused must not depend on how often.

/// A name, and the files of a study `s.toml`.
pub type Broken = (&'static str, Vec<(&'static str, String)>);

const POINTS: &str = r#"[latent]
kernel = "se(x)"
[[observe]]
file = "d.csv"
support = { point = ["x"] }
likelihood = { gaussian = { value = "y" } }
"#;

const MAP: &str = r#"[latent]
kernel = "se(x, y)"
[[observe]]
file = "d.geojson"
support = { region = { key = "k", dims = ["x", "y"], planar = true } }
aggregate = "mean"
likelihood = { gaussian = { value = "v" } }
"#;

const SQUARE: &str = r#""geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#;
const CROSSED: &str =
    r#""geometry":{"type":"Polygon","coordinates":[[[0,0],[4,4],[4,0],[0,3],[0,0]]]}"#;

fn lines(n: usize, row: impl Fn(usize) -> String) -> String {
    (0..n).map(row).collect()
}

fn joined(n: usize, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<String>>().join(",")
}

fn feature(properties: &str, rest: &str) -> String {
    format!("{{\"type\":\"Feature\",\"properties\":{{{properties}}},{rest}}}\n")
}

/// A table of two columns.
fn rows(study: &str, rows: String) -> Vec<(&'static str, String)> {
    vec![
        ("s.toml", study.to_owned()),
        ("d.csv", format!("x,y\n{rows}")),
    ]
}

/// A table of `n` columns.
fn columns(n: usize, name: impl Fn(usize) -> String) -> Vec<(&'static str, String)> {
    let cells = joined(n, |_| "1".into());
    let table = format!("{}\n{cells}\n", joined(n, name));
    vec![("s.toml", POINTS.to_owned()), ("d.csv", table)]
}

/// A map.
fn features(features: String) -> Vec<(&'static str, String)> {
    let text = format!("{{\"type\":\"FeatureCollection\",\"features\":[{features}]}}");
    vec![("s.toml", MAP.to_owned()), ("d.geojson", text)]
}

/// Studies with `n` rows, columns, features or hyperparameters and nothing wrong with them, to
/// compare with: the file of each that is long is `d.csv`, `d.csv`, `d.geojson` and `s.toml`.
#[must_use]
pub fn whole(n: usize) -> Vec<Broken> {
    let column = |i: usize| {
        ["x", "y"]
            .get(i)
            .map_or(format!("c{i}"), |name| (*name).into())
    };
    let map = joined(n, |i| feature(&format!("\"k\":{i},\"v\":1"), SQUARE));
    let names = lines(n, |i| format!("\"h{i}\" = {{ start = 1 }}\n"));
    let study = format!("{POINTS}[hyperparameters]\n{names}");
    vec![
        ("good rows", rows(POINTS, lines(n, |i| format!("{i},1\n")))),
        ("good columns", columns(n, column)),
        ("good features", features(map)),
        ("good study", rows(&study, "1,2\n".into())),
    ]
}

/// Studies with `n` broken rows, columns, features, properties or keys.
#[must_use]
pub fn broken_all_over(n: usize) -> Vec<Broken> {
    let reports = |likelihood: &str| POINTS.replace("gaussian = { value = \"y\" }", likelihood);
    let counts = reports("poisson = { count = \"y\" }");
    let variances = reports("gaussian = { value = \"y\", variance = \"x\" }");
    let keys = lines(n, |i| format!("key{i} = 1\n"));
    let names = lines(n, |i| format!("\"h{i}\" = {{ }}\n"));
    let tables = "[[observe]]\nfile = 1\n".repeat(n);
    let with = |i: usize, rest: &str| feature(&format!("\"k\":{i},\"v\":1"), rest);
    vec![
        ("cells", rows(POINTS, lines(n, |i| format!("{i},text\n")))),
        ("cells of two columns", rows(POINTS, "a,\n".repeat(n))),
        ("short rows", rows(POINTS, "1\n".repeat(n))),
        ("empty rows", rows(POINTS, ",\n".repeat(n))),
        ("huge numbers", rows(POINTS, "1e200,1e200\n".repeat(n))),
        (
            "negative counts",
            rows(&counts, lines(n, |i| format!("{i},-1\n"))),
        ),
        ("negative variances", rows(&variances, "-1,2\n".repeat(n))),
        ("columns twice", columns(n, |i| format!("c{}", i / 2))),
        ("other columns", columns(n, |i| format!("c{i}"))),
        (
            "numbers as features",
            features(joined(n, |i| format!("{i}\n"))),
        ),
        (
            "features of no type",
            features(joined(n, |_| "{\"type\":\"feature\"}\n".into())),
        ),
        (
            "no geometry",
            features(joined(n, |i| with(i, "\"geometry\":null"))),
        ),
        ("crossed rings", features(joined(n, |i| with(i, CROSSED)))),
        (
            "no keys",
            features(joined(n, |_| feature("\"v\":1", SQUARE))),
        ),
        ("one key", features(joined(n, |_| with(1, SQUARE)))),
        (
            "no values",
            features(joined(n, |i| feature(&format!("\"k\":{i}"), SQUARE))),
        ),
        (
            "properties",
            features(feature(&joined(n, |i| format!("\"p{i}\":1")), SQUARE)),
        ),
        (
            "keys of the study",
            rows(&format!("{keys}{POINTS}"), "1,2\n".into()),
        ),
        (
            "hyperparameters",
            rows(
                &format!("{POINTS}[hyperparameters]\n{names}"),
                "1,2\n".into(),
            ),
        ),
        (
            "tables of the study",
            rows(&format!("{POINTS}{tables}"), "1,2\n".into()),
        ),
    ]
}
