//! Predictions over two axes.

use serde::{Deserialize, Serialize};

use super::{Axis, Heading, Ring};

/// Linked maps: what was observed, the predicted mean and, where it is known, the truth on one
/// colour scale, the standard deviation on its own.
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
    /// Observed areas, in the unit of `value` (a total divided by its area, when the predictions
    /// are densities).
    pub observed: Vec<Area>,
    /// Predicted cells.
    pub predicted: Vec<Pixel>,
    /// True values, in the unit of `value`; empty where they are not known.
    pub reference: Vec<Area>,
    /// Name of the true values, such as "True counts".
    pub reference_label: String,
    /// Places marked on the predicted maps, such as inducing points.
    pub marked: Vec<[f64; 2]>,
    /// What they are, for the legend.
    pub marked_label: String,
    /// Level of the intervals told in tooltips.
    pub level: f64,
    /// Whether one unit of x is as long as one unit of y (a map).
    pub equal_scale: bool,
    /// Whether x and y are longitude and latitude in degrees. With `equal_scale`, degrees of
    /// longitude are drawn shorter by the cosine of the middle latitude.
    pub degrees: bool,
    /// Outlines drawn over the maps, such as those of districts.
    pub borders: Vec<Ring>,
    /// Lines drawn over the maps that are not closed, such as those of quantiles.
    pub lines: Vec<Vec<[f64; 2]>>,
    /// Titles of the maps of probabilities, one for each of [`Pixel::chances`].
    pub chances: Vec<String>,
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
    /// Probabilities, drawn from 0 to 1, each on a map of its own.
    pub chances: Vec<f64>,
}
