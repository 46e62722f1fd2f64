//! What a report says, as plain data.

use serde::{Deserialize, Serialize};

use crate::figure::{CalibrationFigure, Figure};

/// Everything on the report page, top to bottom. What is empty is left out of the page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Title of the study.
    pub title: String,
    /// Program and version, such as "quadrat 0.1.0".
    pub generated_by: String,
    /// Sentences of the opening paragraph, for people who read nothing else.
    pub summary: Vec<String>,
    /// A few key numbers beside the summary.
    pub facts: Vec<Fact>,
    /// Warnings, shown before anything else.
    pub warnings: Vec<String>,
    /// The figures, the main one first.
    pub figures: Vec<Figure>,
    /// Sentences about figures that are left out, and why.
    pub left_out: Vec<String>,
    /// Leave-one-out check; its reading is written above it.
    pub calibration: Option<CalibrationFigure>,
    /// What was learned about the model.
    pub hyperparameters: Vec<HyperRow>,
    /// How well the model explains the data and how that was computed.
    pub evidence: Option<Evidence>,
    /// First rows of each prediction table.
    pub predictions: Vec<TablePreview>,
    /// The study file, as text.
    pub study: String,
    /// Sources and remarks, one sentence each.
    pub notes: Vec<String>,
}

/// A key number with its name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fact {
    /// What it is: "People in all".
    pub label: String,
    /// The number in words, ready to print: "1,204,000".
    pub value: String,
    /// A remark in small print, may be empty: "95 %: 1,190,000 to 1,220,000".
    pub detail: String,
}

/// One hyperparameter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HyperRow {
    /// Name in the study file: `se.lengthscale.age`.
    pub name: String,
    /// Value (the MAP when integrated).
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub lower: Option<f64>,
    /// Upper end of the 95 % interval.
    pub upper: Option<f64>,
    /// Whether the study fixed it.
    pub fixed: bool,
    /// What it means, in words.
    pub meaning: String,
}

/// The evidence box.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Log evidence, in nats.
    pub log_evidence: f64,
    /// Which kind: "exact", "laplace", "ep", "elbo".
    pub kind: String,
    /// A variational lower bound of it, where there is one beside it, in nats.
    pub bound: Option<f64>,
    /// Inference method: "exact", "ep", ...
    pub inference: String,
    /// Rows of data.
    pub rows: usize,
    /// Whether hyperparameters were integrated, not just optimised.
    pub integrated: bool,
    /// Number of hyperparameter settings in the mixture (1 when not integrated).
    pub nodes: usize,
    /// Steps of the optimiser.
    pub iterations: usize,
    /// Seconds of wall clock.
    pub seconds: f64,
    /// Whether every iteration converged.
    pub converged: bool,
}

/// The first rows of a prediction table, and where the rest is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TablePreview {
    /// Name of the prediction.
    pub name: String,
    /// File with all rows: `by-year.csv`.
    pub file: String,
    /// What the numbers are: "Counts per year of age, response scale, 95 % intervals".
    pub note: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows shown; more than twelve are cut.
    pub rows: Vec<Vec<Cell>>,
    /// Rows in the file.
    pub total_rows: usize,
}

/// An entry of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number, formatted with the digits its column needs.
    Number(f64),
    /// A number and its standard deviation, which says how many digits its column needs.
    Estimate([f64; 2]),
    /// Words.
    Text(String),
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}
