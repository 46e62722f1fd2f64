//! Rates of populations that lie around those of others.

use std::path::Path;

use serde_json::Value;

use crate::harness::{done, folder, quadrat, stderr};

const ASKED: [&str; 12] = [
    "ungroup",
    "d.csv",
    "--lower",
    "age",
    "--count",
    "deaths",
    "--exposure",
    "people",
    "--by",
    "district",
    "--borrow",
    "--json",
];
const AGES: [&str; 5] = ["0-19", "20-39", "40-59", "60-79", "80+"];
const PEOPLE: [u32; 5] = [4000, 5000, 4800, 3000, 600];

/// Districts by name and deaths.
fn table(districts: &[(&str, [&str; 5])]) -> String {
    let mut text = String::from("district,age,deaths,people\n");
    for (name, deaths) in districts {
        for ((age, deaths), people) in AGES.iter().zip(deaths).zip(PEOPLE) {
            text.push_str(&format!("{name},{age},{deaths},{people}\n"));
        }
    }
    text
}

const SMALL: (&str, [&str; 5]) = ("small", ["0", "1", "3", "15", "16"]);
const LARGE: (&str, [&str; 5]) = ("large", ["3", "12", "66", "290", "330"]);
const EMPTY: (&str, [&str; 5]) = ("empty", ["0", "0", "0", "0", "0"]);

fn told(folder: &Path, districts: &[(&str, [&str; 5])]) -> Value {
    std::fs::write(folder.join("d.csv"), table(districts)).unwrap();
    serde_json::from_str(&done(folder, &ASKED)).unwrap()
}

fn of<'a>(told: &'a Value, district: &str) -> &'a Value {
    let all = told["populations"].as_array().unwrap();
    let own = all.iter().find(|one| one["by"]["district"] == district);
    own.unwrap()
}

/// One of few deaths, or none, lies around the others; one of most deaths does not, and says so. A
/// row of totals is no other population.
#[test]
fn populations_borrow_from_enough_others() {
    let folder = folder(&[]);
    let path = folder.path();
    let all = told(path, &[SMALL, LARGE, EMPTY]);
    for (district, borrowed) in [("small", true), ("empty", true), ("large", false)] {
        assert_eq!(of(&all, district)["borrowed"], borrowed, "{district}");
    }
    let warnings = of(&all, "large")["warnings"].to_string();
    assert!(
        warnings.contains("fewer than five times its own"),
        "{warnings}"
    );
    // 35 and 260 deaths are not 300, and neither are they with their total.
    let other = ("other", ["1", "6", "30", "110", "113"]);
    let total = ("total", ["1", "7", "33", "125", "129"]);
    let all = told(path, &[SMALL, other, total]);
    for district in ["small", "other", "total"] {
        assert_eq!(of(&all, district)["borrowed"], false, "{district}");
    }
}

/// What is wrong with one population is its own, and what is asked wrongly is told as without.
#[test]
fn what_is_wrong_is_told_where_it_is() {
    let folder = folder(&[]);
    let path = folder.path();
    let broken = ("broken", ["0", "1.5", "3", "15", "16"]);
    std::fs::write(path.join("d.csv"), table(&[SMALL, broken, LARGE])).unwrap();
    let output = quadrat(path, &[&ASKED[..], &["-o", "o.csv"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("d.csv:8") && said.contains("1.5"), "{said}");
    let written = std::fs::read_to_string(path.join("o.csv")).unwrap();
    assert!(written.contains("small") && !written.contains("broken"));
    let output = quadrat(path, &[&ASKED[..], &["--edges", "0,18,65,130"]].concat());
    let said = stderr(&output);
    assert!(
        said.contains("--edges") && !said.contains("leave out"),
        "{said}"
    );
}
