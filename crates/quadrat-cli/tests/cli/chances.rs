//! Probabilities of exceeding limits and of ranks, as further columns.

use crate::harness::{done, folder, quadrat, refused, stderr};

const RANKS: &[u8] = b"t,grade\n0,1\n1,1\n2,2\n3,3\n4,3\n";
const COUNTS: &[u8] = b"from,to,n\n0,1,12\n1,2,3\n2,3,<5\n3,4,9\n";

fn ranks(predict: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(t)"
mean = 0
[[observe]]
file = "d.csv"
support = {{ point = ["t"] }}
likelihood = {{ ordinal = {{ rank = "grade", thresholds = [-0.5, 0.5], variance = 0.1 }} }}
[[predict]]
name = "p"
support = {{ grid = {{ t = {{ from = 0, to = 4, step = 2 }} }} }}
{predict}
[hyperparameters]
"se.variance" = {{ value = 1, fixed = true }}
"se.lengthscale.t" = {{ value = 1, fixed = true }}
"#
    )
}

fn counts(predict: &str) -> String {
    format!(
        r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = {{ box = {{ t = ["from", "to"] }} }}
aggregate = "sum"
likelihood = {{ poisson = {{ count = "n" }} }}
[[predict]]
name = "p"
support = {{ grid = {{ t = {{ from = 0, to = 4, step = 1, cells = true }} }} }}
aggregate = "sum"
{predict}
[inference]
hyperparameters = "map"
"#
    )
}

/// Header and cells.
fn table(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let header = lines
        .next()
        .unwrap()
        .split(',')
        .map(str::to_owned)
        .collect();
    let row = |line: &str| line.split(',').map(|c| c.parse().unwrap()).collect();
    (header, lines.map(row).collect())
}

#[test]
fn ranks_have_probabilities_that_add_up() {
    let study = ranks("scale = \"observation\"\nranks = true\nabove = [1, 2.5]");
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", RANKS)]);
    done(folder.path(), &["run", "s.toml", "-o", "out"]);
    let text = std::fs::read_to_string(folder.path().join("out/p.csv")).unwrap();
    let (header, rows) = table(&text);
    assert_eq!(
        header[6..],
        ["above_1", "above_2.5", "rank_1", "rank_2", "rank_3"]
    );
    for row in &rows {
        // Sums of a few probabilities of one distribution, written with all digits.
        let [mean, above_1, above_2, one, two, three] =
            [row[1], row[6], row[7], row[8], row[9], row[10]];
        assert!((one + two + three - 1.0).abs() < 1e-12);
        assert!((above_1 - two - three).abs() < 1e-12 && (above_2 - three).abs() < 1e-12);
        // The mean of a rank is that of its probabilities.
        assert!((mean - one - 2.0 * two - 3.0 * three).abs() < 1e-12);
    }
    assert!(rows[0][8] > 0.5 && rows[2][10] > 0.5, "{text}");
    // The saved model says the same.
    done(folder.path(), &["fit", "s.toml", "-o", "m.quadrat"]);
    std::fs::write(folder.path().join("at.csv"), "t\n0\n2\n4\n").unwrap();
    let asked = [
        "predict",
        "m.quadrat",
        "--at",
        "at.csv",
        "--point",
        "t",
        "--scale",
        "observation",
    ];
    let further = ["--ranks", "--above", "1,2.5", "-o", "p.csv"];
    done(folder.path(), &[&asked[..], &further[..]].concat());
    assert_eq!(
        std::fs::read_to_string(folder.path().join("p.csv")).unwrap(),
        text
    );
    let without = [&asked[..6], &["--ranks"]].concat();
    let twice = [&asked[..], &["--above", "1,1"]].concat();
    for (args, says) in [
        (without, "--scale observation"),
        (twice, "limit 1 is given twice"),
    ] {
        let output = quadrat(folder.path(), &args);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
fn rates_and_counts_exceed_limits() {
    for (scale, is_count) in [("response", false), ("observation", true)] {
        let study = counts(&format!("scale = \"{scale}\"\nabove = [-1, 4, 4.5, 1e6]"));
        let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", COUNTS)]);
        done(folder.path(), &["run", "s.toml", "-o", "out"]);
        let text = std::fs::read_to_string(folder.path().join("out/p.csv")).unwrap();
        let (header, rows) = table(&text);
        assert_eq!(
            header[7..],
            ["above_-1", "above_4", "above_4.5", "above_1000000"]
        );
        for row in &rows {
            assert!(row[7] == 1.0 && row[10] < 1e-9, "{row:?}");
            // More than 4 is 5 or more of counts.
            assert_eq!(row[8] == row[9], is_count, "{row:?}");
            // The median is above a limit exactly when that is exceeded with more than one half.
            assert_eq!(row[5] > 4.0, row[8] > 0.5, "{row:?}");
        }
    }
}

#[test]
fn what_has_no_such_probability_is_refused() {
    let cases = [
        (
            ranks("ranks = true"),
            RANKS,
            "add `scale = \"observation\"`",
        ),
        (
            counts("scale = \"observation\"\nranks = true"),
            COUNTS,
            "are not ranks",
        ),
        (counts("above = []"), COUNTS, "`above` has no limit"),
        (
            counts("above = [3, 3.0]"),
            COUNTS,
            "the limit 3 is given twice",
        ),
        (
            counts("above = [\"3\"]"),
            COUNTS,
            "a limit of `above` must be a number",
        ),
        (
            counts("above = nan"),
            COUNTS,
            "`above` is NaN; it must be finite",
        ),
    ];
    for (study, data, says) in cases {
        refused(says, &study, &[("d.csv", data)], &[says, "s.toml:"]).unwrap();
    }
    // Properties that a prediction would write over are told of where it was asked for.
    let map = r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"v":1,"above_5":2},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}]}"#;
    let study = r#"[latent]
kernel = "se(x, y)"
[[observe]]
file = "map.geojson"
support = { region = { dims = ["x", "y"], planar = true } }
aggregate = "mean"
likelihood = { gaussian = { value = "v" } }
[[predict]]
name = "again"
support = { region = { file = "map.geojson", dims = ["x", "y"], planar = true } }
aggregate = "mean"
above = 5
"#;
    let says = ["have a property `above_5` already", "s.toml:12:9"];
    refused(
        "a property",
        study,
        &[("map.geojson", map.as_bytes())],
        &says,
    )
    .unwrap();
    // A dimension of that name.
    let study = ranks("scale = \"observation\"\nranks = true")
        .replace("\"t\"", "\"rank_2\"")
        .replace("(t)", "(rank_2)")
        .replace("{ t =", "{ rank_2 =")
        .replace(".t\"", ".rank_2\"");
    let data: &[u8] = b"rank_2,grade\n0,1\n1,2\n";
    let says = "two columns named `rank_2`";
    refused("a dimension", &study, &[("d.csv", data)], &[says]).unwrap();
}
