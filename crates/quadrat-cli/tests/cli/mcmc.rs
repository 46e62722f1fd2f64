//! `--check mcmc`.

use crate::harness::{STUDY, TABLE, done, fit, folder, names, quadrat, stderr, stdout, study};

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
        "at worst (ages.csv:",
        "wrote s-out",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let json = std::fs::read_to_string(folder.path().join("s-out/fit.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mcmc = &json["mcmc"];
    assert_eq!(mcmc["rows"].as_array().unwrap().len(), 3);
    assert_eq!(mcmc["hyperparameters"].as_array().unwrap().len(), 2);
    // Exact but for the hyperparameters: sampling and fit agree on the observed totals, of 4,000
    // draws to 0.016 sd if they were independent.
    for row in mcmc["rows"].as_array().unwrap() {
        let (fit, sampled) = (&row["fit"], &row["sampled"]);
        let away = fit["mean"].as_f64().unwrap() - sampled["mean"].as_f64().unwrap();
        assert!(away.abs() < 0.2 * sampled["sd"].as_f64().unwrap(), "{row}");
    }
}

#[test]
fn the_number_of_draws_can_be_chosen_with_the_check_alone() {
    let folder = folder(&[("s.toml", STUDY.as_bytes()), ("ages.csv", TABLE.as_bytes())]);
    let args = [
        "run", "s.toml", "--check", "mcmc", "--draws", "150", "-o", "out",
    ];
    let text = done(folder.path(), &args);
    assert!(text.contains("4 chains of 150 draws each"), "{text}");
    // After the title and what was learned, before the warnings.
    let at = |part: &str| text.find(part).unwrap();
    assert!(
        at("hyperparameter ") < at("Check by sampling") && at("Check by sampling") < at("wrote")
    );
    let refused = quadrat(folder.path(), &["run", "s.toml", "--draws", "150"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--check"), "{}", stderr(&refused));
    let few = ["run", "s.toml", "--check", "mcmc", "--draws", "3"];
    assert!(stderr(&quadrat(folder.path(), &few)).contains("100..=50000"));
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

#[test]
fn a_noise_variance_that_is_a_function_is_sampled_too() {
    let study = r#"[latent]
kernel = "se(t)"
[[observe]]
file = "d.csv"
support = { point = ["t"] }
likelihood = { censored = { value = "y" } }
[noise]
kernel = "se(t)"
[hyperparameters]
"se.variance" = { value = 1.0, fixed = true }
"se.lengthscale.t" = { value = 1.5, fixed = true }
"noise.se.variance" = { value = 0.5, fixed = true }
[inference]
hyperparameters = "integrate"
"#;
    let table = "t,y\n0,0.1\n1,0.9\n2,>0.6\n3,0.3\n4,-0.9\n5,-0.8\n6,>-0.5\n7,0.5\n";
    let folder = folder(&[("s.toml", study.as_bytes()), ("d.csv", table.as_bytes())]);
    let args = ["run", "s.toml", "--check", "mcmc", "-o", "out"];
    let text = done(folder.path(), &args);
    for part in [
        "Check by sampling (4 chains",
        "noise.se.lengthscale.t",
        "latent values of 8 rows",
        "the function behind their noise or dispersion at 8 rows",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let mcmc = &fit(folder.path())["mcmc"];
    assert_eq!(mcmc["rows"].as_array().unwrap().len(), 8);
    let varying = mcmc["varying"].as_array().unwrap();
    assert_eq!(varying.len(), 8);
    for row in varying {
        // Log variances of eight values: by mean field a fifth of an sd off at most, and the Monte
        // Carlo error.
        let (fit, sampled) = (&row["fit"], &row["sampled"]);
        let away = fit["mean"].as_f64().unwrap() - sampled["mean"].as_f64().unwrap();
        assert!(away.abs() < 0.3 * sampled["sd"].as_f64().unwrap(), "{row}");
        assert!(row["r_hat"].as_f64().unwrap() < 1.05, "{row}");
    }
}
