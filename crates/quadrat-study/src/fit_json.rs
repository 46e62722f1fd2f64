//! `fit.json`: the result of a fit for other programs. Format 1.

use std::path::PathBuf;

use quadrat::model::Slope;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::diagnostic::Problems;
use crate::engine::{FitSummary, Hyper, McmcReport};
use crate::outcome::{Outcome, ShapeHeld};
use crate::run_id;
use crate::study::written::Written;

#[derive(Serialize)]
struct FitJson<'a> {
    quadrat: &'a str,
    format: u32,
    title: &'a str,
    run: &'a str,
    inference: &'a str,
    converged: bool,
    log_evidence: f64,
    evidence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variational_bound: Option<f64>,
    log_posterior: f64,
    hyperparameters: Values<'a>,
    hyperparameter_medians: Medians<'a>,
    hyperparameter_intervals: Intervals<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slopes: Vec<SlopeJson<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    output_correlations: &'a [quadrat::model::OutputCorrelation],
    #[serde(skip_serializing_if = "Option::is_none")]
    non_negative: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    shapes: &'a [ShapeHeld],
    #[serde(skip_serializing_if = "Option::is_none")]
    inducing: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inducing_gain: Option<f64>,
    rows: usize,
    iterations: usize,
    seconds: f64,
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    mcmc: Option<&'a McmcReport>,
}

/// The slope of a linear part.
#[derive(Serialize)]
struct SlopeJson<'a> {
    input: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    mean: f64,
    sd: f64,
    lower: f64,
    upper: f64,
}

impl<'a> SlopeJson<'a> {
    fn of(slope: &'a Slope) -> Self {
        Self {
            input: &slope.input,
            output: slope.output.as_deref(),
            mean: slope.mean,
            sd: slope.sd,
            lower: slope.lower,
            upper: slope.upper,
        }
    }
}

/// Hyperparameters by name, in the model's order.
struct Values<'a>(&'a FitSummary);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.hyperparameters.len()))?;
        for hyper in &self.0.hyperparameters {
            map.serialize_entry(&hyper.name, &hyper.value)?;
        }
        map.end()
    }
}

/// Hyperparameters that were not fixed and have an interval that is known.
fn with_intervals(summary: &FitSummary) -> impl Iterator<Item = &Hyper> {
    let all = summary.hyperparameters.iter();
    all.filter(|hyper| !hyper.fixed && hyper.lower.is_finite() && hyper.upper.is_finite())
}

/// Their medians.
struct Medians<'a>(&'a FitSummary);

impl Serialize for Medians<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for hyper in with_intervals(self.0) {
            map.serialize_entry(&hyper.name, &hyper.median)?;
        }
        map.end()
    }
}

/// Their 95 % intervals.
struct Intervals<'a>(&'a FitSummary);

impl Serialize for Intervals<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for hyper in with_intervals(self.0) {
            map.serialize_entry(&hyper.name, &[hyper.lower, hyper.upper])?;
        }
        map.end()
    }
}

/// The text of `fit.json`, with a newline at its end.
pub fn text(outcome: &Outcome) -> anyhow::Result<String> {
    let summary = outcome.summary();
    let json = FitJson {
        quadrat: crate::version::VERSION,
        format: 1,
        title: &outcome.resolved.study.title,
        run: &outcome.resolved.run,
        inference: &summary.inference,
        converged: summary.converged,
        log_evidence: summary.log_evidence,
        evidence: &summary.evidence,
        variational_bound: summary.variational_bound,
        log_posterior: summary.log_posterior,
        hyperparameters: Values(summary),
        hyperparameter_medians: Medians(summary),
        hyperparameter_intervals: Intervals(summary),
        slopes: outcome.slopes.iter().map(SlopeJson::of).collect(),
        output_correlations: &summary.correlations,
        non_negative: outcome.resolved.study.non_negative().map(|n| n.word()),
        shapes: &outcome.shapes,
        inducing: outcome
            .posterior
            .inducing()
            .map(quadrat::support::Functionals::len),
        inducing_gain: summary.inducing_gain,
        rows: summary.rows,
        iterations: summary.iterations,
        seconds: summary.seconds,
        warnings: &outcome.warnings,
        mcmc: outcome.mcmc.as_ref(),
    };
    let mut text = serde_json::to_string_pretty(&json)?;
    text.push('\n');
    Ok(text)
}

/// What every `fit.json` has and what is its own, of a study with one section in place of a
/// function.
///
/// # Errors
/// A file that can no longer be read.
pub fn of_section(
    written: &Written,
    (kind, files): (&str, Vec<PathBuf>),
    seconds: f64,
    own: Value,
) -> Result<Value, Problems> {
    let folders = (written.folder.as_path(), written.shown.as_path());
    let run = run_id::of_files(&written.source.text, folders, files)?;
    let mut out = json!({
        "quadrat": crate::version::VERSION,
        "format": 1,
        "title": written.title,
        "kind": kind,
        "run": run,
        // Where nothing was estimated there is no such file.
        "converged": true,
        "seconds": seconds,
    });
    if let (Value::Object(out), Value::Object(own)) = (&mut out, own) {
        out.extend(own);
    }
    Ok(out)
}

/// JSON as people read it.
pub fn pretty(value: &Value) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Texts in the words of the study: warnings, errors, and how a tail falls off, wherever they
/// stand.
pub fn reword(value: &mut Value, words: &impl Fn(&str) -> String) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match value {
            Value::Array(told) if key == "warnings" => told.iter_mut().for_each(|text| {
                if let Value::String(text) = text {
                    *text = words(text);
                }
            }),
            Value::String(text) if ["error", "tail"].contains(&key.as_str()) => {
                *text = words(text);
            }
            // Names of populations stay as they are.
            other if key != "by" => reword(other, words),
            _ => {}
        }),
        Value::Array(items) if items.first().is_some_and(Value::is_object) => {
            items.iter_mut().for_each(|item| reword(item, words));
        }
        _ => {}
    }
}
