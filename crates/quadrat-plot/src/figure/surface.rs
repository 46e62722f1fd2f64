//! Predictions over two axes.

use serde::{Deserialize, Serialize};

use super::{Axis, Heading};

/// Three linked maps: what was observed and the predicted mean on one colour scale, the standard deviation on its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurfaceFigure {
    /// Id, title and caption.
    pub heading: Heading,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What the colours mean.
    pub value: Axis,
    /// Observed areas, in the unit of `value` (a total divided by its area, when the predictions are densities).
    pub observed: Vec<Area>,
    /// Predicted cells.
    pub predicted: Vec<Pixel>,
    /// Level of the intervals told in tooltips.
    pub level: f64,
    /// Whether one unit of x is as long as one unit of y (a map).
    pub equal_scale: bool,
}

/// A rectangle with an observed value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Area {
    /// Left edge.
    pub x0: f64,
    /// Right edge.
    pub x1: f64,
    /// Lower edge.
    pub y0: f64,
    /// Upper edge.
    pub y1: f64,
    /// Value drawn as a colour.
    pub value: f64,
    /// Words for the tooltip (such as the total), may be empty.
    pub label: String,
}

/// A predicted cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pixel {
    /// Left edge.
    pub x0: f64,
    /// Right edge.
    pub x1: f64,
    /// Lower edge.
    pub y0: f64,
    /// Upper edge.
    pub y1: f64,
    /// Predicted mean.
    pub mean: f64,
    /// Predicted standard deviation.
    pub sd: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
}
