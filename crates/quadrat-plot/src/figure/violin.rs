//! Densities of groups, side by side.

use serde::{Deserialize, Serialize};

use super::{Axis, Heading};

/// Violins: the density of each group along an upright axis, mirrored at the middle of its column,
/// with its band, its median and its quartiles. All have one scale, so that their areas are equal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViolinFigure {
    /// Id, title and caption.
    pub heading: Heading,
    /// The upright axis: what has the densities.
    pub value: Axis,
    /// What tells the groups apart.
    pub group: Axis,
    /// The groups, left to right.
    pub violins: Vec<Violin>,
    /// Level of the bands and of the interval of the median.
    pub level: f64,
}

/// The density of one group of a [`ViolinFigure`]. The lists have one length; what is longer is
/// ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Violin {
    /// Name of the group.
    pub label: String,
    /// Values, in increasing order.
    pub at: Vec<f64>,
    /// The density there.
    pub density: Vec<f64>,
    /// Lower ends of its band.
    pub lower: Vec<f64>,
    /// Upper ends of its band.
    pub upper: Vec<f64>,
    /// Lower quartile, median, upper quartile.
    pub quartiles: [f64; 3],
    /// Interval of the median.
    pub median: (f64, f64),
    /// Rows of the group.
    pub rows: usize,
}
