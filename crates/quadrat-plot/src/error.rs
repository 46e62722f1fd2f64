//! What can go wrong when a figure is drawn.

/// A figure could not be turned into pixels.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The scale of a raster image is not usable.
    #[error("a PNG scale of {scale} cannot be drawn; give a number from 0.1 to 10, such as 2")]
    Scale {
        /// The scale asked for.
        scale: f64,
    },
    /// The raster backend refused the scene.
    #[error("the PNG could not be written: {reason}; an SVG of the same figure may work")]
    Raster {
        /// The words of the backend.
        reason: String,
    },
}
