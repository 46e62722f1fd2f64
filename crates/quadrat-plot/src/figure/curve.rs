//! Predictions along one axis.

use serde::{Deserialize, Serialize};

use super::{Axis, Heading, Marks};

/// Predictions along one axis: one panel per prediction or output, all with the same horizontal
/// axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CurveFigure {
    /// Id, title and caption.
    pub heading: Heading,
    /// The horizontal axis.
    pub x: Axis,
    /// The panels, top to bottom.
    pub panels: Vec<Panel>,
}

/// One panel of a [`CurveFigure`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Panel {
    /// Title of the panel; leave empty when there is only one.
    pub title: String,
    /// The vertical axis.
    pub y: Axis,
    /// What was observed, in the unit of the vertical axis.
    pub observed: Vec<Observed>,
    /// Legend of the observed marks; empty gives words that fit the marks.
    pub observed_label: String,
    /// Rows observed otherwise than as a number, with legends of their own.
    pub marks: Vec<Marks>,
    /// The predictions; usually one. Tooltips tell the first.
    pub predicted: Vec<Predicted>,
    /// Known true values to compare with, drawn as dots.
    pub reference: Option<Reference>,
    /// Places marked by ticks at the horizontal axis, such as inducing points.
    pub marked: Vec<f64>,
    /// What they are, for the legend.
    pub marked_label: String,
    /// Values that predictions are compared with, drawn as level lines.
    pub limits: Vec<Limit>,
    /// Ends of the vertical axis, such as 0 and 1 of probabilities; none for those of what is
    /// drawn.
    pub domain: Option<(f64, f64)>,
}

/// A value that predictions are compared with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limit {
    /// The value.
    pub value: f64,
    /// What it is, for the legend: "Limit 2".
    pub label: String,
}

/// One row observed as a number. Rows known only within limits are [`Marks`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Observed {
    /// A total over an interval: a bar from zero whose area is the total.
    Bar {
        /// Left edge.
        x0: f64,
        /// Right edge.
        x1: f64,
        /// Height: total per unit of x.
        height: f64,
        /// The total itself, told in the tooltip.
        total: Option<f64>,
        /// Words for the tooltip, may be empty.
        label: String,
    },
    /// An average over an interval: a level line.
    Level {
        /// Left edge.
        x0: f64,
        /// Right edge.
        x1: f64,
        /// The average.
        y: f64,
        /// Words for the tooltip, may be empty.
        label: String,
    },
    /// A reading at a point.
    Point {
        /// Place.
        x: f64,
        /// Reading.
        y: f64,
        /// Half-length of an error bar.
        error: Option<f64>,
        /// Words for the tooltip, may be empty.
        label: String,
    },
}

impl Observed {
    /// A bar for a total over `[x0, x1]` (edges in either order); its height is `total / |x1 -
    /// x0|`.
    pub fn total(x0: f64, x1: f64, total: f64) -> Self {
        let (x0, x1) = if x1 < x0 { (x1, x0) } else { (x0, x1) };
        Self::Bar {
            x0,
            x1,
            height: total / (x1 - x0),
            total: Some(total),
            label: String::new(),
        }
    }

    /// A reading at a point, without an error bar.
    pub fn point(x: f64, y: f64) -> Self {
        Self::Point {
            x,
            y,
            error: None,
            label: String::new(),
        }
    }
}

/// Where predictions were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Places {
    /// At points: drawn as a line.
    Points(Vec<f64>),
    /// Over cells `(from, to)`: drawn as steps.
    Cells(Vec<(f64, f64)>),
}

impl Default for Places {
    fn default() -> Self {
        Self::Points(Vec::new())
    }
}

impl Places {
    /// Number of places.
    pub fn len(&self) -> usize {
        match self {
            Self::Points(points) => points.len(),
            Self::Cells(cells) => cells.len(),
        }
    }

    /// Whether there is no place at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A predicted line with its band. All lists have the length of `at`; what is longer is ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Predicted {
    /// Legend; empty gives "Predicted mean".
    pub label: String,
    /// Where; need not be sorted.
    pub at: Places,
    /// Means.
    pub mean: Vec<f64>,
    /// Lower ends of the band; empty draws no band.
    pub lower: Vec<f64>,
    /// Upper ends of the band; empty draws no band.
    pub upper: Vec<f64>,
    /// Level of the band, such as 0.95.
    pub level: f64,
}

/// Known true values, drawn as dots.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reference {
    /// Legend, such as "True single-year counts".
    pub label: String,
    /// Places.
    pub x: Vec<f64>,
    /// Values.
    pub y: Vec<f64>,
}
