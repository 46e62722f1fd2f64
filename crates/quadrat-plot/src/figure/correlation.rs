//! How alike several things are, two by two.

use serde::{Deserialize, Serialize};

use super::Heading;

/// Correlations of every pair of a few things, as a square of coloured cells with their values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CorrelationFigure {
    /// Id, title and caption.
    pub heading: Heading,
    /// Names of the things, top to bottom and left to right.
    pub names: Vec<String>,
    /// The pairs that are known; every pair is drawn on both sides of the diagonal.
    pub pairs: Vec<Correlated>,
    /// Level of the intervals.
    pub level: f64,
    /// Covariances of the things, row by row, to be told in place of their correlations, which then
    /// come from them: the pairs are not looked at. Empty where correlations are told.
    pub covariances: Vec<f64>,
}

/// The correlation of one pair of a [`CorrelationFigure`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Correlated {
    /// Place of the one in `names`, from 0.
    pub first: usize,
    /// Place of the other.
    pub second: usize,
    /// The correlation, from -1 to 1.
    pub value: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end of its interval.
    pub upper: f64,
}
