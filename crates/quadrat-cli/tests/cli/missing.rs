//! Coordinates of pixels that are missing: refused, or filled in where the study asks for it.

use crate::harness::{column, folder, none, quadrat, refused, stderr, stdout};

/// Pixels of four districts; `GREEN` stands where a cell is missing, in the first and the last
/// district.
const PIXELS: &str = "district,x,y,green,people
a,0,0,0.2,10
a,1,0,GREEN-A,5
a,1,1,0.5,30
b,3,0,0.1,20
b,4,0,0.4,20
c,0,3,0.9,10
c,1,3,0.7,10
d,4,4,0.3,8
d,5,4,GREEN-D,12
";
const CASES: &str = "district,cases\na,6\nb,3\nc,9\nd,4\n";

fn study(missing: &str) -> String {
    let bag = format!(
        r#"bag = {{ file = "pixels.csv", key = "district", dims = ["x", "y", "green"], weight = "people"{missing} }}"#
    );
    format!(
        r#"[latent]
kernel = "se(x, y, shared = true) + se(green)"
[[observe]]
file = "cases.csv"
support = {{ {bag} }}
aggregate = "sum"
likelihood = {{ poisson = {{ count = "cases" }} }}
[[predict]]
name = "again"
support = {{ file = "cases.csv", {bag} }}
aggregate = "sum"
[inference]
hyperparameters = "map"
"#
    )
}

fn pixels(green: [&str; 2]) -> String {
    PIXELS
        .replace("GREEN-A", green[0])
        .replace("GREEN-D", green[1])
}

/// What the program says, and the folder it wrote to.
fn run(missing: &str, green: [&str; 2]) -> (String, tempfile::TempDir) {
    let folder = folder(&[
        ("s.toml", study(missing).as_bytes()),
        ("cases.csv", CASES.as_bytes()),
        ("pixels.csv", pixels(green).as_bytes()),
    ]);
    let output = quadrat(folder.path(), &["run", "s.toml", "-o", "out"]);
    assert!(output.status.success(), "{}", stderr(&output));
    (stdout(&output) + &stderr(&output), folder)
}

const MEAN: &str = ", missing = \"mean\"";

#[test]
fn what_is_filled_in_is_the_mean_of_the_bag_and_told() {
    let (said, filled) = run(MEAN, ["NA", ""]);
    let told = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("2 cells of `green` in pixels.csv were missing"),
        "{said}"
    );
    // (10 * 0.2 + 30 * 0.5) / 40, and the other pixel of `d`.
    let (said, by_hand) = run("", ["0.425", "0.3"]);
    assert!(!said.contains("missing"), "{said}");
    for of in ["mean", "sd"] {
        assert_eq!(
            column(filled.path(), "again", of),
            column(by_hand.path(), "again", of)
        );
    }
}

#[test]
fn nothing_is_filled_in_that_was_not_asked_for() {
    let case = |name: &str, missing: &str, pixels: String, expected: &[&str]| {
        let files = [
            ("cases.csv", CASES.as_bytes()),
            ("pixels.csv", pixels.as_bytes()),
        ];
        refused(name, &study(missing), &files, expected).err()
    };
    let wrong = [
        case("no key", "", pixels(["NA", ""]), &["`NA`", "green"]),
        case(
            "a word",
            MEAN,
            pixels(["often", ""]),
            &["`often` is not a number", "green"],
        ),
        case(
            "an unknown way",
            ", missing = \"median\"",
            pixels(["NA", ""]),
            &["`median` is not a known `missing`", "mean"],
        ),
        case(
            "a weight",
            MEAN,
            pixels(["0.1", "0.3"]).replace("0.9,10", "0.9,NA"),
            &["people", "`NA`"],
        ),
        case(
            "a column of nothing",
            MEAN,
            "district,x,y,green,people\na,0,0,,1\nb,1,0,,1\nc,2,0,,1\nd,3,0,NA,1\n".to_owned(),
            &["every cell of `green` in pixels.csv is missing"],
        ),
    ];
    none(&wrong.into_iter().flatten().collect::<Vec<String>>());
}
