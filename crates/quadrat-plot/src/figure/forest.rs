//! Predictions without an axis.

use serde::{Deserialize, Serialize};

use super::{Axis, Heading, Limit};

/// A dot and an interval for each row: predictions for named things, or over more than two
/// dimensions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForestFigure {
    /// Id, title and caption.
    pub heading: Heading,
    /// What is predicted.
    pub value: Axis,
    /// The rows, top to bottom.
    pub rows: Vec<ForestRow>,
    /// Level of the intervals.
    pub level: f64,
    /// Name of the rows' `reference` values, such as "True counts".
    pub reference: String,
    /// What the dots are; empty for predicted means.
    pub label: String,
    /// Whether the axis is logarithmic, which needs means above zero.
    pub logarithmic: bool,
    /// Values that predictions are compared with, drawn as upright lines.
    pub limits: Vec<Limit>,
    /// Ends of the axis, such as 0 and 1 of probabilities; none for those of what is drawn.
    pub domain: Option<(f64, f64)>,
}

/// One row of a [`ForestFigure`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ForestRow {
    /// Name of the row.
    pub label: String,
    /// Predicted mean.
    pub mean: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
    /// What was observed for the same thing, if anything.
    pub observed: Option<f64>,
    /// A value to compare with that the model never saw, if any.
    pub reference: Option<f64>,
}
