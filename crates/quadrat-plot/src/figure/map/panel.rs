//! One of several maps of the same regions: its values and their colours.

use serde::{Deserialize, Serialize};

use crate::figure::Axis;

/// One map of a [`MapFigure`](super::MapFigure): a value for each region.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MapPanel {
    /// Title above the map, such as "Observed"; also names the value in tooltips.
    pub title: String,
    /// What the colours mean, written below the title; may be empty.
    pub value: Axis,
    /// One value for each region, none where it is missing.
    pub values: Vec<Option<f64>>,
    /// Which colours.
    pub colours: Colours,
    /// How values become shares of the colour scale.
    pub spacing: Spacing,
    /// Panels that name the same scale, with the same colours and spacing, share its ends; empty
    /// shares with none.
    pub scale: String,
    /// Ends of the scale, `(low, high)`; values outside get the colours of the ends. None takes
    /// those of the values.
    pub domain: Option<(f64, f64)>,
}

/// The colours of a [`MapPanel`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Colours {
    /// From little (dark) to much (bright).
    #[default]
    Sequential,
    /// Two hues on the two sides of a value that means "neither": 0 for differences, 1 for relative
    /// risks.
    Diverging {
        /// The value without a hue.
        centre: f64,
    },
    /// From sure (light) to unsure (dark), for standard deviations.
    Spread,
}

/// How the colours of a [`MapPanel`] follow its values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Spacing {
    /// [`Spacing::Log`] when all values are positive and so skewed that most would share one
    /// colour, else [`Spacing::Linear`]. Diverging colours are linear unless [`Spacing::Log`] is
    /// asked for.
    #[default]
    Auto,
    /// Equal differences are equal steps of colour.
    Linear,
    /// Equal ratios are equal steps of colour: values must be positive.
    Log,
}
