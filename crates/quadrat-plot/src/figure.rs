//! What a figure shows, as plain data. Nothing here is computed: whoever fills these structs has
//! the numbers already.

mod calibration;
mod correlation;
mod curve;
mod forest;
mod map;
mod marks;
mod surface;

pub use calibration::{CalibrationFigure, Coverage, LeftOut};
pub use correlation::{Correlated, CorrelationFigure};
pub use curve::{CurveFigure, Limit, Observed, Panel, Places, Predicted, Reference};
pub use forest::{ForestFigure, ForestRow};
pub use map::{Colours, MapFigure, MapPanel, MapPrediction, MapRegion, MapRow, Ring, Spacing};
pub(crate) use marks::Seen;
pub use marks::{Marks, Side, Support};
use serde::{Deserialize, Serialize};
pub use surface::{Area, Pixel, SurfaceFigure};

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
        }
    }
}

/// The words around a figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Heading {
    /// Name of the element in the page (`data-figure`); made unique and plain by the page. May be
    /// empty.
    pub id: String,
    /// Title, in words.
    pub title: String,
    /// What the reader should see, in a sentence or two; notes on thinning are added to it.
    pub caption: String,
}

impl Heading {
    /// A heading with an id and a title.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            caption: String::new(),
        }
    }

    /// The same heading with a caption.
    #[must_use]
    pub fn with_caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }
}

/// What is measured along an axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Axis {
    /// Name of the quantity.
    pub label: String,
    /// Unit, may be empty.
    pub unit: String,
}

impl Axis {
    /// An axis without a unit.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            unit: String::new(),
        }
    }

    /// The same axis with a unit.
    #[must_use]
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// The words written at the axis: `label (unit)`.
    pub fn title(&self) -> String {
        if self.unit.is_empty() {
            self.label.clone()
        } else {
            format!("{} ({})", self.label, self.unit)
        }
    }
}
