//! Every name and key has an effect: what a study says of a hyperparameter is honoured, or refused
//! at its line.
//!
//! The names are those that the program itself reports for each model, so that a new hyperparameter
//! is tried without being listed.

use serde_json::Value;

use crate::harness::{folder, in_halves, none, quadrat, stderr};

/// Rows of a wave, with a second input, counts, grades and two outputs.
pub fn table() -> String {
    let mut text = String::from("t,u,y,n,g,site\n");
    for i in 0..16 {
        let (t, u) = (f64::from(i) / 2.0, f64::from(i * 7 % 16) / 4.0);
        // A fixed pattern in place of noise.
        let y = t.sin() + 0.5 * u.cos() + 0.3 * ((f64::from(i) * 0.618_034).fract() - 0.5);
        let grade = 1 + u8::from(y > 0.0) + u8::from(y > 0.7);
        let site = if i % 2 == 0 { "a" } else { "b" };
        let count = (4.0 + 3.0 * y).round().max(0.0);
        text.push_str(&format!("{t},{u},{y:.3},{count},{grade},{site}\n"));
    }
    text
}

/// A study of points with the most probable hyperparameters.
fn study(kernel: &str, tables: &[&str], more: &str) -> String {
    let observe = |rest: &&str| {
        format!("[[observe]]\nfile = \"d.csv\"\nsupport = {{ point = [\"t\", \"u\"] }}\n{rest}\n")
    };
    let tables: String = tables.iter().map(observe).collect();
    format!(
        "[latent]\nkernel = \"{kernel}\"\n{tables}[inference]\nhyperparameters = \"map\"\n{more}[hyperparameters]\n"
    )
}

const VALUES: &str = "likelihood = { gaussian = { value = \"y\" } }";

/// Models that have every kind of hyperparameter between them.
fn models() -> Vec<(&'static str, String)> {
    let plain = |kernel: &str| study(kernel, &[VALUES], "");
    let by_site = format!("output_column = \"site\"\n{VALUES}");
    vec![
        ("two leaves", plain("se(t) + matern12(u)")),
        ("rational quadratic", plain("rq(t) + matern52(u)")),
        ("periodic", plain("matern32(u) * periodic(t)")),
        ("straight lines", plain("linear(t, u) + constant")),
        ("one line", plain("linear(u) + se(t)")),
        ("shared", plain("se(t, u, shared = true)")),
        (
            "two noises",
            study(
                "se(t)",
                &[
                    VALUES,
                    "likelihood = { censored = { value = \"n\", upper = 6 } }",
                ],
                "",
            ),
        ),
        (
            "heavy tails",
            study(
                "se(t)",
                &["likelihood = { student_t = { value = \"y\", degrees = \"learn\" } }"],
                "",
            ),
        ),
        (
            "grades",
            study(
                "se(t)",
                &[VALUES, "likelihood = { ordinal = { rank = \"g\" } }"],
                "",
            ),
        ),
        (
            "grades alone",
            study(
                "se(t)",
                &["likelihood = { ordinal = { rank = \"g\" } }"],
                "",
            ),
        ),
        (
            "counts",
            study(
                "se(t)",
                &["likelihood = { negative_binomial = { count = \"n\" } }"],
                "",
            ),
        ),
        ("outputs", study("se(t)", &[&by_site], "")),
        (
            "varying noise",
            study("se(t)", &[VALUES], "[noise]\nkernel = \"se(t)\"\n"),
        ),
        (
            "varying noise of outputs",
            study("se(t)", &[&by_site], "[noise]\nkernel = \"se(t)\"\n"),
        ),
        (
            "varying dispersion",
            study(
                "se(t)",
                &["likelihood = { negative_binomial = { count = \"n\" } }"],
                "[dispersion]\nkernel = \"se(t)\"\n",
            ),
        ),
    ]
}

/// Exit code, `fit.json` and messages of a study that is fitted.
struct Ran {
    code: Option<i32>,
    fit: Value,
    said: String,
}

fn run(text: &str) -> Ran {
    let table = table();
    let folder = folder(&[("s.toml", text.as_bytes()), ("d.csv", table.as_bytes())]);
    let output = quadrat(
        folder.path(),
        &["fit", "s.toml", "-o", "m.quadrat", "--json"],
    );
    Ran {
        code: output.status.code(),
        fit: serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
        said: stderr(&output),
    }
}

impl Ran {
    fn value(&self, name: &str) -> Option<f64> {
        self.fit["hyperparameters"][name].as_f64()
    }

    /// Whether the last line of a study was refused as such.
    fn is_refused_at(&self, line: usize) -> bool {
        self.code == Some(1) && self.said.contains(&format!("s.toml:{line}:"))
    }
}

/// What a setting must do to the value that is found.
type Holds = Box<dyn Fn(f64) -> bool + Send + Sync>;

/// Settings for a hyperparameter that was found at `v`, each with what must then be true of it.
fn settings(v: f64, is_positive: bool) -> Vec<(String, Holds)> {
    let other = if is_positive { 2.5 * v } else { v + 1.0 };
    let (low, high) = if is_positive {
        (v / 2.0, v * 2.0)
    } else {
        (v - 0.5, v + 0.5)
    };
    let prior = match is_positive {
        true => format!("log_normal({}, 0.001)", other.ln()),
        false => format!("normal({other}, 0.001)"),
    };
    // The data move a prior of a thousandth by far less than a tenth.
    let near = move |found: f64| (found - other).abs() < 0.1 * other.abs().max(1e-3);
    vec![
        (
            format!("{{ value = {other:e}, fixed = true }}"),
            // Parameters are kept in coordinates of their own, such as logarithms: two roundings.
            Box::new(move |found| (found - other).abs() <= 1e-14 * other.abs()),
        ),
        (format!("{{ prior = \"{prior}\" }}"), Box::new(near)),
        (
            format!("{{ lower = {high:e} }}"),
            Box::new(move |found| found >= high * (1.0 - 1e-9) - 1e-9),
        ),
        (
            format!("{{ upper = {low:e} }}"),
            Box::new(move |found| found <= low + 1e-9 * low.abs() + 1e-9),
        ),
        (format!("{{ start = {other:e} }}"), Box::new(|_| true)),
        ("{ }".to_owned(), Box::new(|_| false)),
        ("{ fixed = false }".to_owned(), Box::new(|_| false)),
    ]
}

/// What is wrong with what the program makes of the settings of one model.
fn wrong_settings(model: &str, text: &str) -> Vec<String> {
    let base = run(text);
    let Some(names) = base.fit["hyperparameters"].as_object() else {
        return vec![format!("{model}: {}", base.said)];
    };
    let line = text.lines().count() + 1;
    let mut wrong = Vec::new();
    let mut tried: Vec<(String, f64)> = names
        .iter()
        .filter_map(|(name, v)| Some((name.clone(), v.as_f64()?)))
        .collect();
    // The common mean of several outputs is a name too.
    if let Some((_, v)) = tried
        .iter()
        .find(|(name, _)| name.starts_with("mean.constant."))
        .cloned()
    {
        tried.push(("mean.constant".into(), v));
    }
    for (name, v) in tried {
        let is_positive = !(name.contains("mean.constant") || name.contains(".weight."));
        for (setting, holds) in settings(v, is_positive) {
            let ran = run(&format!("{text}\"{name}\" = {setting}\n"));
            let honoured = || {
                let found = names
                    .keys()
                    .filter(|n| **n == name || n.starts_with(&format!("{name}.")));
                let values: Vec<Option<f64>> = found.map(|n| ran.value(n)).collect();
                // A fixed mean is no hyperparameter any more.
                let is_gone = setting.contains("fixed = true") && name.contains("mean.constant");
                let as_said = |v: &Option<f64>| v.map_or(is_gone, &holds);
                ran.code == Some(0)
                    && values.iter().all(as_said)
                    && ran.fit["log_evidence"].is_number()
            };
            if !ran.is_refused_at(line) && !honoured() {
                wrong.push(format!(
                    "{model}: `{name}` = {setting} from {v}: code {:?}, found {:?}, {}",
                    ran.code,
                    ran.value(&name),
                    ran.said.lines().next().unwrap_or_default()
                ));
            }
        }
    }
    wrong
}

#[test]
fn every_setting_of_every_hyperparameter_is_honoured_or_refused_at_its_line() {
    let models = models();
    let wrong = in_halves(&models, |own| {
        own.flat_map(|(name, text)| wrong_settings(name, text))
            .collect()
    });
    none(&wrong);
}

#[test]
fn a_level_of_noise_takes_a_prior_and_a_value_and_changes_the_fit() {
    let text = study("se(t)", &[VALUES], "[noise]\nkernel = \"se(t)\"\n");
    let evidence = |ran: &Ran| ran.fit["log_evidence"].as_f64().unwrap();
    let base = evidence(&run(&text));
    let mut found = Vec::new();
    for setting in [
        "{ value = 4, fixed = true }",
        "{ prior = \"normal(4, 0.001)\" }",
    ] {
        let ran = run(&format!("{text}\"noise.mean.constant\" = {setting}\n"));
        // Far from the rows the noise has a variance of 55, that of the rows is a hundredth of it.
        assert!(evidence(&ran) < base - 2.0, "{setting}: {}", ran.said);
        found.push(evidence(&ran));
    }
    // So narrow a prior is a value, to its square.
    assert!((found[0] - found[1]).abs() < 1e-3, "{found:?}");
}

#[test]
fn a_mean_that_no_function_has_is_refused_with_the_names_that_there_are() {
    let text = study("se(t)", &[VALUES], "");
    for name in [
        "noise.mean.constant",
        "dispersion.mean.constant",
        "mean.constant.north",
    ] {
        let ran = run(&format!(
            "{text}\"{name}\" = {{ value = 1, fixed = true }}\n"
        ));
        let line = text.lines().count() + 1;
        assert!(
            ran.is_refused_at(line),
            "{name}: {:?} {}",
            ran.code,
            ran.said
        );
        assert!(
            ran.said.contains("has no hyperparameter") && ran.said.contains("`mean.constant`"),
            "{}",
            ran.said
        );
    }
}

#[test]
fn a_common_mean_that_every_output_replaces_is_refused() {
    let by_site = format!("output_column = \"site\"\n{VALUES}");
    let text = study("se(t)", &[&by_site], "");
    let own = "\"mean.constant.a\" = { prior = \"normal(0, 1)\" }\n\"mean.constant.b\" = { prior = \"normal(0, 1)\" }\n";
    assert_eq!(run(&format!("{text}{own}")).code, Some(0));
    let ran = run(&format!(
        "{text}{own}\"mean.constant\" = {{ prior = \"normal(5, 1)\" }}\n"
    ));
    assert!(ran.is_refused_at(text.lines().count() + 3), "{}", ran.said);
}
