//! `--check mcmc`.

use crate::harness::{STUDY, TABLE, folder, names, quadrat, stderr, stdout, study};

#[test]
fn the_check_prints_a_table_and_goes_into_fit_json() {
    let folder = folder(&[("s.toml", STUDY.as_bytes()), ("ages.csv", TABLE.as_bytes())]);
    let output = quadrat(folder.path(), &["run", "s.toml", "--check", "mcmc"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "Check by sampling (4 chains",
        "se.lengthscale.age",
        "R-hat",
        "at worst",
        "wrote s-out",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let json = std::fs::read_to_string(folder.path().join("s-out/fit.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mcmc = &json["mcmc"];
    assert_eq!(mcmc["rows"].as_array().unwrap().len(), 3);
    assert_eq!(mcmc["hyperparameters"].as_array().unwrap().len(), 2);
    // Exact but for the hyperparameters: sampling and fit agree on the observed totals.
    for row in mcmc["rows"].as_array().unwrap() {
        let (fit, sampled) = (&row["fit"], &row["sampled"]);
        let away = fit["mean"].as_f64().unwrap() - sampled["mean"].as_f64().unwrap();
        assert!(away.abs() < 0.2 * sampled["sd"].as_f64().unwrap(), "{row}");
    }
}

#[test]
fn without_the_check_fit_json_does_not_speak_of_it() {
    let folder = folder(&[("s.toml", STUDY.as_bytes()), ("ages.csv", TABLE.as_bytes())]);
    let output = quadrat(folder.path(), &["run", "s.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(json.get("mcmc").is_none());
}

#[test]
fn a_value_without_noise_is_refused_by_its_line_and_nothing_is_written() {
    let study = study("variance = 1", "variance = \"var\"");
    let table = "from,to,people,var\n0,10,5,1\n10,20,7,0\n20,30,6,1\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("ages.csv", table.as_bytes())]);
    let output = quadrat(folder.path(), &["run", "s.toml", "--check", "mcmc"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    for part in ["ages.csv", "3", "noise variance is 0"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert_eq!(names(folder.path()), ["ages.csv", "s.toml"]);
}
