//! Still images: one drawing, written as SVG or as PNG.

mod arrow;
mod calibration;
mod canvas;
mod correlation;
mod curve;
mod forest;
mod frame;
mod ink;
mod map;
mod marks;
mod shape;
mod surface;
mod swatch;
mod violin;

use canvas::Canvas;
pub(crate) use swatch::elements as swatch;

use crate::error::PlotError;
use crate::figure::Figure;

/// Width of a still image in pixels.
const WIDTH: f64 = 960.0;

/// A figure as an SVG image that scales to any width; text is set in the reader's sans-serif font.
pub fn svg(figure: &Figure) -> String {
    draw(figure).svg(figure.title())
}

/// A figure as a PNG image with `scale` pixels per unit of the SVG (2 is good for print).
///
/// Text is drawn with a font inside the program: no font of the machine is used.
///
/// # Errors
/// [`PlotError::Scale`] for a scale outside 0.1 to 10; [`PlotError::Raster`] if the image cannot be
/// encoded.
pub fn png(figure: &Figure, scale: f64) -> Result<Vec<u8>, PlotError> {
    if !(0.1..=10.0).contains(&scale) {
        return Err(PlotError::Scale { scale });
    }
    draw(figure).png(scale)
}

fn draw(figure: &Figure) -> Canvas {
    match figure {
        Figure::Curve(figure) => curve::draw(figure, WIDTH),
        Figure::Surface(figure) => surface::draw(figure, WIDTH),
        Figure::Calibration(figure) => calibration::draw(figure, WIDTH),
        Figure::Forest(figure) => forest::draw(figure, WIDTH),
        Figure::Map(figure) => map::draw(figure, WIDTH),
        Figure::Correlation(figure) => correlation::draw(figure, WIDTH),
        Figure::Violins(figure) => violin::draw(figure, WIDTH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{
        CalibrationFigure, CorrelationFigure, CurveFigure, ForestFigure, SurfaceFigure,
        ViolinFigure,
    };

    fn empty() -> [Figure; 6] {
        [
            Figure::Curve(CurveFigure::default()),
            Figure::Surface(SurfaceFigure::default()),
            Figure::Calibration(CalibrationFigure::default()),
            Figure::Forest(ForestFigure::default()),
            Figure::Correlation(CorrelationFigure::default()),
            Figure::Violins(ViolinFigure::default()),
        ]
    }

    #[test]
    fn empty_figures_are_images_that_say_so() {
        for figure in empty() {
            assert!(svg(&figure).contains("nothing to draw"));
            assert!(
                png(&figure, 1.0)
                    .expect("a picture")
                    .starts_with(b"\x89PNG")
            );
        }
    }

    #[test]
    fn a_scale_must_be_usable() {
        for scale in [0.0, -1.0, 11.0, f64::NAN] {
            assert!(matches!(
                png(&empty()[0], scale),
                Err(PlotError::Scale { .. })
            ));
        }
    }
}
