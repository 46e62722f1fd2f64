//! Figures and reports for quadrat: consumes result structs, knows no mathematics.
//!
//! Whoever has results fills a [`Report`] or a [`Figure`] and chooses the form: [`html`] writes a
//! page that needs nothing else, [`svg`] and [`png`] write still images.

#![cfg_attr(test, allow(clippy::expect_used, clippy::panic, clippy::unwrap_used))]

mod error;
mod escape;
mod figure;
pub mod format;
mod page;
mod paint;
mod palette;
mod prepare;
mod report;
mod ticks;
mod vega;

pub use error::{MapError, MarkError, PlotError};
pub use figure::{
    Area, Axis, CalibrationFigure, Colours, Compared, Correlated, CorrelationFigure, Coverage,
    CurveFigure, Figure, ForestFigure, ForestRow, Heading, LeftOut, Limit, MapFigure, MapPanel,
    MapPrediction, MapRegion, MapRow, Marks, Observed, Panel, Pixel, Places, Predicted, Reference,
    Ring, Side, Spacing, Support, SurfaceFigure, Violin, ViolinFigure,
};
pub use page::html;
pub use paint::{png, svg};
pub use report::{Cell, Evidence, Fact, HyperRow, Report, TablePreview};
