//! What a figure shows, as plain data. Nothing here is computed: whoever fills these structs has
//! the numbers already.

mod calibration;
mod correlation;
mod curve;
mod forest;
mod heading;
mod map;
mod marks;
mod surface;
mod violin;

pub use calibration::{CalibrationFigure, Compared, Coverage, LeftOut};
pub use correlation::{Correlated, CorrelationFigure};
pub use curve::{CurveFigure, Limit, Observed, Panel, Places, Predicted, Reference};
pub use forest::{ForestFigure, ForestRow};
pub use heading::{Axis, Heading};
pub use map::{Colours, MapFigure, MapPanel, MapPrediction, MapRegion, MapRow, Ring, Spacing};
pub(crate) use marks::Seen;
pub use marks::{Marks, Side, Support};
use serde::{Deserialize, Serialize};
pub use surface::{Area, Pixel, SurfaceFigure};
pub use violin::{Violin, ViolinFigure};

/// One figure of a report, or one image of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Figure {
    /// Predictions along one axis, with a band.
    Curve(CurveFigure),
    /// Predictions over two axes, as linked maps.
    Surface(SurfaceFigure),
    /// How the left-out rows were predicted.
    Calibration(CalibrationFigure),
    /// Predictions without an axis: a dot and an interval for each row.
    Forest(ForestFigure),
    /// Values of regions, as linked choropleth maps.
    Map(MapFigure),
    /// How alike several things are, two by two.
    Correlation(CorrelationFigure),
    /// Densities of groups, side by side.
    Violins(ViolinFigure),
}

impl Figure {
    /// The id given by the caller, which may be empty.
    pub fn id(&self) -> &str {
        &self.head().id
    }

    /// The title of the figure.
    pub fn title(&self) -> &str {
        &self.head().title
    }

    /// The caption given by the caller.
    pub fn caption(&self) -> &str {
        &self.head().caption
    }

    /// Takes the title away, for a page that writes it itself.
    pub(crate) fn clear_title(&mut self) {
        let heading = match self {
            Self::Curve(figure) => &mut figure.heading,
            Self::Surface(figure) => &mut figure.heading,
            Self::Calibration(figure) => &mut figure.heading,
            Self::Forest(figure) => &mut figure.heading,
            Self::Map(figure) => &mut figure.heading,
            Self::Correlation(figure) => &mut figure.heading,
            Self::Violins(figure) => &mut figure.heading,
        };
        heading.title.clear();
    }

    fn head(&self) -> &Heading {
        match self {
            Self::Curve(figure) => &figure.heading,
            Self::Surface(figure) => &figure.heading,
            Self::Calibration(figure) => &figure.heading,
            Self::Forest(figure) => &figure.heading,
            Self::Map(figure) => &figure.heading,
            Self::Correlation(figure) => &figure.heading,
            Self::Violins(figure) => &figure.heading,
        }
    }
}
