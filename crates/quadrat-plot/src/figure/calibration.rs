//! How the rows were predicted.

use serde::{Deserialize, Serialize};

use super::{Axis, Heading};
use crate::format::{count, percent};

/// How rows that predictions are compared with stand to the fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// Each was predicted from the others.
    #[default]
    LeftOut,
    /// They were fitted: how well is no test.
    Fitted,
    /// They are true values that the fit never had.
    Truth,
}

/// Each row was predicted and compared with what was seen: from the others, by the fit that used
/// it, or with what is true.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CalibrationFigure {
    /// Id, title and caption.
    pub heading: Heading,
    /// What the rows report.
    pub value: Axis,
    /// How often intervals held the row, one entry per level.
    pub coverage: Vec<Coverage>,
    /// Probability integral transforms of the rows, each from 0 to 1; flat when calibrated.
    pub pit: Vec<f64>,
    /// The rows themselves.
    pub rows: Vec<LeftOut>,
    /// Level of the intervals in `rows`.
    pub level: f64,
    /// How the rows stand to the fit.
    pub compared: Compared,
}

/// How often intervals of one level held the row that was left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// Level of the intervals, such as 0.95.
    pub nominal: f64,
    /// Rows inside their interval.
    pub held: usize,
    /// Rows left out in all.
    pub total: usize,
}

impl Coverage {
    /// The share of rows inside, NaN for no rows.
    pub fn actual(&self) -> f64 {
        if self.total == 0 {
            f64::NAN
        } else {
            self.held as f64 / self.total as f64
        }
    }
}

impl CalibrationFigure {
    /// The words at the axis of the predictions.
    pub(crate) fn predicted_words(&self) -> &'static str {
        match self.compared {
            Compared::LeftOut => "predicted from the other rows",
            Compared::Fitted | Compared::Truth => "predicted",
        }
    }
}

/// One row that was left out, or fitted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeftOut {
    /// Words for the tooltip, may be empty.
    pub label: String,
    /// What was seen.
    pub observed: f64,
    /// Predicted mean.
    pub mean: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
}

impl CalibrationFigure {
    /// The figure in one sentence: "95 % intervals held 9 of 10 left-out rows."
    ///
    /// The widest level is told; a level that held no rows at all or too few says what was
    /// expected.
    pub fn reading(&self) -> String {
        let widest = self
            .coverage
            .iter()
            .filter(|c| c.total > 0)
            .max_by(|a, b| a.nominal.total_cmp(&b.nominal));
        let nothing = |what: &str| format!("No {what} could be predicted.");
        match (widest, self.compared) {
            (None, Compared::Fitted) => nothing("row"),
            (None, Compared::Truth) => nothing("true value"),
            (None, Compared::LeftOut) => "No row could be left out and predicted.".to_owned(),
            (Some(c), Compared::Fitted) => format!(
                "{} intervals hold {} of {} rows; all were fitted, so this is no test.",
                percent(c.nominal),
                count(c.held),
                count(c.total),
            ),
            (Some(c), compared) => format!(
                "{} intervals held {} of {} {} (about {} expected).",
                percent(c.nominal),
                count(c.held),
                count(c.total),
                match compared {
                    Compared::Truth => "true values",
                    _ => "left-out rows",
                },
                crate::format::number((c.nominal * c.total as f64 * 10.0).round() / 10.0),
            ),
        }
    }
}
