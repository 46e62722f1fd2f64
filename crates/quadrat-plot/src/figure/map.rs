//! Values of regions, as choropleth maps.

mod check;
mod panel;
mod region;

use serde::{Deserialize, Serialize};

pub use panel::{Colours, MapPanel, Spacing};
pub use region::{MapRegion, MapRow, Ring};

use super::{Axis, Heading};
use crate::error::MapError;
use crate::prepare::{EXACT_WORDS, joined, settle};

/// Choropleth maps of the same regions, side by side: the region pointed at in one is outlined in
/// all.
///
/// Checked when it is made, so a map that exists can be drawn: see [`MapFigure::new`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct MapFigure {
    pub(crate) heading: Heading,
    pub(crate) regions: Vec<MapRegion>,
    pub(crate) geographic: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    pub(crate) panels: Vec<MapPanel>,
    pub(crate) rows: Vec<MapRow>,
}

/// A map figure as it is read, before it is checked.
#[derive(Deserialize)]
struct Unchecked {
    heading: Heading,
    regions: Vec<MapRegion>,
    geographic: bool,
    #[serde(default)]
    unit: Option<String>,
    panels: Vec<MapPanel>,
    #[serde(default)]
    rows: Vec<MapRow>,
}

impl TryFrom<Unchecked> for MapFigure {
    type Error = MapError;

    fn try_from(raw: Unchecked) -> Result<Self, MapError> {
        let figure = Self {
            heading: raw.heading,
            regions: raw.regions,
            geographic: raw.geographic,
            unit: raw.unit,
            panels: raw.panels,
            rows: raw.rows,
        };
        figure.check()?;
        Ok(figure)
    }
}

/// What was predicted for a region of a map.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MapPrediction {
    /// Predicted mean.
    pub mean: f64,
    /// Predicted standard deviation.
    pub sd: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
}

impl MapFigure {
    /// Maps of `regions`, one per panel.
    ///
    /// Coordinates are planar: one unit of x is drawn as long as one unit of y. For degrees see
    /// [`MapFigure::geographic`].
    ///
    /// # Errors
    /// [`MapError`] when there is no region or no panel, when a panel does not have one value per
    /// region, and when a ring has fewer than three different vertices or a number is not finite. A
    /// missing value is `None`, not NaN.
    pub fn new(
        heading: Heading,
        regions: Vec<MapRegion>,
        panels: Vec<MapPanel>,
    ) -> Result<Self, MapError> {
        let figure = Self {
            heading,
            regions,
            geographic: false,
            unit: None,
            panels,
            rows: Vec::new(),
        };
        figure.check()?;
        Ok(figure)
    }

    /// The three maps of a prediction: what was observed and the predicted mean on one scale of
    /// `value`, then the standard deviation.
    ///
    /// Each slice has one entry per region, none where there is nothing. A map without any value is
    /// left out, so `observed` may be all `None`. The interval of `level` is told in tooltips.
    /// Standard deviations below 1e-6 of the largest mean are rounding noise: they are drawn as
    /// zero, which the caption then says.
    ///
    /// # Errors
    /// As [`MapFigure::new`]; also when no region has a value at all.
    pub fn prediction(
        mut heading: Heading,
        value: &Axis,
        regions: Vec<MapRegion>,
        observed: &[Option<f64>],
        predicted: &[Option<MapPrediction>],
        level: f64,
    ) -> Result<Self, MapError> {
        let panel = |title: &str, values: Vec<Option<f64>>| MapPanel {
            title: title.to_owned(),
            value: value.clone(),
            values,
            scale: "value".to_owned(),
            ..MapPanel::default()
        };
        let of = |field: fn(&MapPrediction) -> f64| -> Vec<Option<f64>> {
            predicted.iter().map(|p| p.as_ref().map(field)).collect()
        };
        let (means, mut sds) = (of(|p| p.mean), of(|p| p.sd));
        if settle(means.iter().flatten().copied(), sds.iter_mut().flatten()) {
            heading.caption = joined(&heading.caption, &[EXACT_WORDS.to_owned()]);
        }
        let panels = [
            panel("Observed", observed.to_vec()),
            panel("Predicted mean", means),
            MapPanel {
                colours: Colours::Spread,
                scale: String::new(),
                ..panel("Standard deviation", sds)
            },
        ];
        // Kept when it is wrong in length, so that this is refused and not hidden.
        let wanted = regions.len();
        let panels = panels
            .into_iter()
            .filter(|p| p.values.len() != wanted || p.values.iter().any(Option::is_some))
            .collect();
        let ends: Vec<_> = predicted
            .iter()
            .map(|p| p.map(|p| (p.lower, p.upper)))
            .collect();
        Self::new(heading, regions, panels)?.with_row(MapRow::intervals(level, &ends))
    }

    /// The same map of coordinates that are longitude and latitude in degrees: degrees of longitude
    /// are drawn shorter, by the cosine of the middle latitude, and regions on both sides of the
    /// date line are drawn side by side.
    ///
    /// # Errors
    /// [`MapError::Latitude`] for a latitude beyond 90 degrees.
    pub fn geographic(mut self) -> Result<Self, MapError> {
        self.geographic = true;
        check::latitudes(&self.regions)?;
        Ok(self)
    }

    /// The same map of planar coordinates whose unit has a name: a bar shows how long a round
    /// number of them is. A map in degrees has a bar of kilometres without it.
    #[must_use]
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// The same maps with one more at the front, of values to compare with that the model never
    /// saw, on the scale of the first.
    ///
    /// # Errors
    /// As [`MapFigure::new`].
    pub fn with_reference(
        mut self,
        title: &str,
        values: Vec<Option<f64>>,
    ) -> Result<Self, MapError> {
        let like = self.panels.first().cloned().unwrap_or_default();
        let panel = MapPanel {
            title: title.to_owned(),
            values,
            ..like
        };
        self.panels.insert(0, panel);
        self.check()?;
        Ok(self)
    }

    /// The same maps with one more at the end, of probabilities from 0 to 1.
    ///
    /// # Errors
    /// As [`MapFigure::new`].
    pub fn with_chances(mut self, title: &str, values: Vec<Option<f64>>) -> Result<Self, MapError> {
        self.panels.push(MapPanel {
            title: title.to_owned(),
            values,
            spacing: Spacing::Linear,
            domain: Some((0.0, 1.0)),
            ..MapPanel::default()
        });
        self.check()?;
        Ok(self)
    }

    /// The same map with one more line in its tooltips.
    ///
    /// # Errors
    /// [`MapError::Length`] unless there are words for each region.
    pub fn with_row(mut self, row: MapRow) -> Result<Self, MapError> {
        check::row(&row, self.regions.len())?;
        self.rows.push(row);
        Ok(self)
    }

    fn check(&self) -> Result<(), MapError> {
        check::figure(&self.regions, &self.panels, &self.rows)?;
        match self.geographic {
            true => check::latitudes(&self.regions),
            false => Ok(()),
        }
    }

    /// Id, title and caption.
    pub fn heading(&self) -> &Heading {
        &self.heading
    }

    /// The regions.
    pub fn regions(&self) -> &[MapRegion] {
        &self.regions
    }

    /// The maps.
    pub fn panels(&self) -> &[MapPanel] {
        &self.panels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64) -> MapRegion {
        let ring = vec![[x, 0.0], [x + 1.0, 0.0], [x + 1.0, 1.0], [x, 1.0]];
        MapRegion::new(format!("r{x}"), "", vec![vec![ring]])
    }

    fn predicted(mean: f64) -> Option<MapPrediction> {
        Some(MapPrediction {
            mean,
            sd: 1.0,
            lower: f64::NEG_INFINITY,
            upper: mean + 2.0,
        })
    }

    #[test]
    fn a_prediction_becomes_three_maps_with_an_interval_in_words() {
        let regions = vec![square(0.0), square(1.0)];
        let figure = MapFigure::prediction(
            Heading::default(),
            &Axis::new("cases"),
            regions,
            &[None, Some(3.0)],
            &[predicted(2.0), None],
            0.9,
        )
        .unwrap();
        let titles: Vec<_> = figure.panels().iter().map(|p| p.title.as_str()).collect();
        assert_eq!(titles, ["Observed", "Predicted mean", "Standard deviation"]);
        assert_eq!(figure.panels()[0].scale, figure.panels()[1].scale);
        assert_eq!(figure.panels()[2].colours, Colours::Spread);
        assert_eq!(figure.rows[0].name, "90\u{a0}% interval");
        assert_eq!(figure.rows[0].words, ["up to 4", ""]);
    }

    #[test]
    fn rounding_noise_of_known_regions_is_drawn_as_zero_and_told() {
        let exact = |mean: f64, sd: f64| predicted(mean).map(|p| MapPrediction { sd, ..p });
        let figure = |predicted: &[Option<MapPrediction>]| {
            let regions = vec![square(0.0), square(1.0)];
            let (heading, value) = (Heading::default(), Axis::default());
            MapFigure::prediction(heading, &value, regions, &[None; 2], predicted, 0.95).unwrap()
        };
        let noise = figure(&[exact(-60.0, 5.9e-5), exact(2.0, 0.0)]);
        assert_eq!(noise.panels()[1].values, [Some(0.0), Some(0.0)]);
        assert_eq!(noise.heading().caption, EXACT_WORDS);
        let sure = figure(&[exact(-60.0, 6.1e-5), exact(2.0, 0.0)]);
        assert_eq!(sure.panels()[1].values, [Some(6.1e-5), Some(0.0)]);
        assert_eq!(sure.heading().caption, "");
    }

    #[test]
    fn a_prediction_without_observations_has_no_observed_map() {
        let figure = MapFigure::prediction(
            Heading::default(),
            &Axis::default(),
            vec![square(0.0)],
            &[None],
            &[predicted(1.0)],
            0.95,
        )
        .unwrap();
        assert_eq!(figure.panels().len(), 2);
        let nothing = MapFigure::prediction(
            Heading::default(),
            &Axis::default(),
            vec![square(0.0)],
            &[None],
            &[None],
            0.95,
        );
        assert_eq!(nothing, Err(MapError::NoPanels));
    }

    #[test]
    fn a_reference_comes_first_on_the_scale_of_the_values() {
        let figure = MapFigure::prediction(
            Heading::default(),
            &Axis::new("cases"),
            vec![square(0.0)],
            &[None],
            &[predicted(1.0)],
            0.95,
        )
        .unwrap();
        let with = figure
            .clone()
            .with_reference("True cases", vec![Some(3.0)])
            .unwrap();
        let titles: Vec<_> = with.panels().iter().map(|p| p.title.as_str()).collect();
        assert_eq!(
            titles,
            ["True cases", "Predicted mean", "Standard deviation"]
        );
        assert_eq!(with.panels()[0].scale, with.panels()[1].scale);
        assert_eq!(with.panels()[0].value, Axis::new("cases"));
        assert!(figure.with_reference("True cases", vec![]).is_err());
    }

    #[test]
    fn probabilities_have_a_map_from_zero_to_one() {
        let panel = MapPanel {
            values: vec![Some(3.0)],
            ..MapPanel::default()
        };
        let figure = MapFigure::new(Heading::default(), vec![square(0.0)], vec![panel]).unwrap();
        let with = figure
            .clone()
            .with_chances("P(risk > 1.2)", vec![Some(0.4)]);
        let with = with.unwrap();
        assert_eq!(with.panels()[1].title, "P(risk > 1.2)");
        assert_eq!(with.panels()[1].domain, Some((0.0, 1.0)));
        assert!(figure.with_chances("", vec![]).is_err());
    }

    #[test]
    fn what_is_read_is_checked_as_what_is_made() {
        let panel = MapPanel {
            values: vec![Some(1.0)],
            ..MapPanel::default()
        };
        let figure = MapFigure::new(Heading::default(), vec![square(0.0)], vec![panel]).unwrap();
        let text = serde_json::to_string(&figure).unwrap();
        assert_eq!(serde_json::from_str::<MapFigure>(&text).unwrap(), figure);
        let broken = text.replace("\"values\":[1.0]", "\"values\":[1.0,2.0]");
        assert_ne!(broken, text);
        let error = serde_json::from_str::<MapFigure>(&broken).unwrap_err();
        assert!(
            error.to_string().contains("2 values for 1 region"),
            "{error}"
        );
    }
}
