//! A plot in Vega-Lite, and the parts that all kinds share.

use serde_json::{Value, json};

use crate::prepare::Key;
use crate::ticks::ticks;

/// Ticks of a wide axis, of a high one, and of those of maps, about.
pub(crate) const TICKS: (f64, f64, f64) = (10.0, 6.0, 4.0);

/// Pixels of a view's width that the labels of a vertical axis take.
pub(super) const INSET: u32 = 60;

/// A figure as the page embeds it.
pub(crate) struct Interactive {
    /// Views side by side or below each other.
    pub views: Vec<View>,
    /// How the page arranges them: `stack`, `maps` (three in a row, or `four`), `trio`, `square`,
    /// or `atlas` with the columns on a wide screen.
    pub arrangement: &'static str,
    /// The legend above the views.
    pub legend: Vec<Key>,
    /// Data that several views share, by name.
    pub datasets: Value,
    /// Caption with remarks.
    pub caption: String,
}

/// One Vega-Lite view; its width is that of its place on the page.
#[derive(Default)]
pub(crate) struct View {
    /// Title above the view, may be empty.
    pub title: String,
    /// Title of the vertical axis, written level above it; may be empty.
    pub y_title: String,
    /// Colour scale below the view.
    pub scale: Option<Scale>,
    /// The specification, without a width.
    pub spec: Value,
    /// Height over width, or none for the height in the specification.
    pub aspect: Option<f64>,
    /// Whether the height over the width inside of the labels is exactly that.
    pub exact: bool,
    /// Pixels of the width that labels take, for the height.
    pub inset: u32,
    /// Whether to draw on a canvas whatever the number of marks.
    pub canvas: bool,
}

/// A colour scale with labels.
pub(crate) struct Scale {
    /// Colours at equal steps.
    pub stops: Vec<String>,
    /// Labels with their place, from 0 to 1.
    pub labels: Vec<(f64, String)>,
}

/// Ticks at round numbers with the labels of still images, added to the settings of an axis. Where
/// there is no room for all labels, some are left out.
pub(crate) fn ticked(range: (f64, f64), wanted: f64, axis: Value) -> Value {
    labelled(ticks(range, wanted), axis)
}

/// Ticks with labels of their own, added to the settings of an axis.
pub(crate) fn labelled(ticks: Vec<(f64, String)>, mut axis: Value) -> Value {
    let (values, labels): (Vec<f64>, Vec<String>) = ticks.into_iter().unzip();
    if !values.is_empty() {
        // Numbers survive JSON exactly, so a tick finds its own label.
        let (places, words) = (json!(values), json!(labels));
        axis["labelExpr"] = json!(format!("{words}[indexof({places}, datum.value)]"));
        axis["values"] = places;
    }
    axis
}

/// A number for drawing, in nine significant digits to keep the page small, and more where six
/// digits of the range that it is drawn in need them.
pub(super) fn short(value: f64, (low, high): (f64, f64)) -> f64 {
    let power = |size: f64| size.abs().log10().floor();
    let needed = power(value) - power(high - low) + 6.0;
    // Infinite or no number where the value is zero or the range has no width.
    let digits = if needed > 9.0 { needed.min(17.0) } else { 9.0 } as usize;
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// A quantitative scale with fixed ends.
pub(crate) fn domain(range: (f64, f64), nice: bool) -> Value {
    json!({"domain": [range.0, range.1], "nice": nice, "zero": false})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_their_range_needs() {
        assert_eq!(short(1.0 / 3.0, (0.0, 1.0)), 0.333_333_333);
        // Six digits of a range of two: steps of 1e-5.
        let near = 1e9 + 0.327_318;
        assert!((short(near, (1e9 - 1.0, 1e9 + 1.0)) - near).abs() < 1e-5);
        assert_eq!(short(0.0, (0.0, 1.0)), 0.0);
        assert_eq!(short(1234.5, (7.0, 7.0)), 1234.5);
    }

    #[test]
    fn axes_have_the_labels_of_still_images() {
        let axis = ticked((1990.0, 2020.0), 3.0, json!({"grid": true}));
        assert_eq!(
            axis,
            json!({
                "grid": true, "values": [1990.0, 2000.0, 2010.0, 2020.0],
                "labelExpr": "[\"1990\",\"2000\",\"2010\",\"2020\"][indexof([1990.0,2000.0,2010.0,2020.0], datum.value)]",
            })
        );
        assert_eq!(ticked((f64::NAN, 1.0), 3.0, json!({})), json!({}));
    }
}
