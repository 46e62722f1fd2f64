//! Still images.

use crate::error::PlotError;
use crate::figure::Figure;

/// A figure as an SVG image.
pub fn svg(_figure: &Figure) -> String {
    String::new()
}

/// A figure as a PNG image.
pub fn png(_figure: &Figure, _scale: f64) -> Result<Vec<u8>, PlotError> {
    Ok(Vec::new())
}
